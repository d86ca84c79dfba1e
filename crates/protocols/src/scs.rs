//! # SCS: sort, compare, shuffle
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom protocols?", NDSS
//! 2012, §5; auditing: §6. The depth-optimised variant for shares: B. Pinkas, T. Schneider, M. Zohner, USENIX Security
//! 2014, as in "Phasing", USENIX Security 2015, §3.4.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of the engine: [`vesica_circuit::yao`] or [`vesica_circuit::gmw`]; of Paillier's encryption for `scs_he` |
//! | receiver learns | the common items and the sender's size, or the answer to the query |
//! | sender learns | the receiver's size; with bounds whether the number of matches is inside |
//! | gates | merge 2σ·n·log(2n), filter (3n − 1)·σ − n, for n items each, n a power of two; on shares a comparison takes 3σ − 2 − log σ gates in place of σ |
//! | shuffle | `scs_wn`: σ·(n·log n − n + 1) one-sided gates; `scs_sort`: 2σ gates for each comparator of Batcher's sort; `scs_he`: a ciphertext an item |
//!
//! ```text
//!   sender: X, falling                        receiver: Y, rising
//!
//!   merge       X ‖ Y is bitonic: n·log(2n) two-sorters
//!   filter      of three neighbours, the middle one if it is equal to another, else 0
//!   audit       count what the filter found, check the bounds; answer other queries
//!   shuffle     wn: a Waksman network that the sender sets     sort: Batcher's odd-even merge sort
//!               he: the circuit adds masks r of the receiver's to all; the sender permutes [r' − r]
//!   reveal                                     the items found, in an order that says nothing
//! ```
//!
//! # Sizes
//!
//! The merger is the one for the next power of two, without the comparators that would meet no element; so
//! sets of any and of different sizes are merged as they are, and nothing is padded. The filter has ⌊(n_x + n_y)/2⌋
//! windows.
//!
//! # Deviations
//!
//! * The item 0 is reserved, as in the paper: it stands for no match.
//! * The shuffle's network is Waksman's for any size; its permutation is drawn uniformly and routed.
//! * §5.3.1 sorts blocks of 2·n̂ items where the intersection's size n̂ is known; here all is sorted at once.
//! * `scs_he`: masks have 40 + log n bits more than the items (the paper: 32), and permuted values are packed, as many as
//!   fit, before they go back.

mod shuffle;
#[cfg(test)]
mod tests;

use self::shuffle::{Homomorphic, Own, Shuffle, Sorted, Waksman};
use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security};
use crate::computed::{self, Circuit, Engine, Gmw, Yao};
use crate::{Input, Output, Traffic};
use std::marker::PhantomData;
use std::sync::Arc;
use vesica_circuit::gadgets::{mask, match_neighbours, merge_bitonic, multiplex, select_matches};
use vesica_circuit::{Computation, Lanes, word};
use vesica_core::{Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_hashing::ShortItems;
use vesica_net::Context;

/// Most items of both sets together: labels of 16 bytes for each of their bits are held at once.
const MAX_ITEMS: u64 = 1 << 25;

pub(crate) const WAKSMAN_ROW: Protocol = Protocol {
    id: "scs_wn",
    name: "SCS: sort, compare, shuffle by a Waksman network, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.3 and 6",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: "the receiver's set size; with bounds, whether the number of matches is inside",
    receiver_learns: "the common items, or the answer to the query; the sender's set size",
    flights: computed::flights::<Scs<Waksman>, Yao>,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (3n-1)*sigma - n) + 16 * sigma * (n*log n - n + 1) for n = n_x = n_y a power of two; inputs and transfers besides",
    bytes: computed::bytes::<Scs<Waksman>, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Scs<Waksman>, Yao>(params),
    usable_set_len: None,
    named_only: true,
    item_bits: 1..=128,
    reserves_zero: true,
    bounds: BoundsKept::ByComputation,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::items(ShortItems::of_distinct(params).bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Scs<Waksman>, Yao>,
    receiver: computed::receiver::<Scs<Waksman>, Yao>,
};

pub(crate) const WAKSMAN_GMW_ROW: Protocol = Protocol {
    id: "scs_wn_gmw",
    name: "SCS: sort, compare, shuffle by a Waksman network, on shares",
    source: "Pinkas, Schneider, Zohner, USENIX Security 2014; Huang, Evans, Katz, NDSS 2012, section 5",
    flights: computed::flights::<Scs<Waksman>, Gmw>,
    bytes_formula: "4 bits for each gate of the circuit of least depth, 1 bit for each one-sided gate; transfers besides",
    bytes: computed::bytes::<Scs<Waksman>, Gmw>,
    seconds: |params| 0.02 + 6.0e-8 * computed::gates::<Scs<Waksman>, Gmw>(params),
    sender: computed::sender::<Scs<Waksman>, Gmw>,
    receiver: computed::receiver::<Scs<Waksman>, Gmw>,
    ..WAKSMAN_ROW
};

pub(crate) const SORT_ROW: Protocol = Protocol {
    id: "scs_sort",
    name: "SCS: sort, compare, shuffle by sorting, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.1 and 6",
    flights: computed::flights::<Scs<Sorted>, Yao>,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (3n-1)*sigma - n + 2*sigma*((log n)^2 - log n + 4)*n/4 - 2*sigma) for n = n_x = n_y a power of two; inputs and transfers besides",
    bytes: computed::bytes::<Scs<Sorted>, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Scs<Sorted>, Yao>(params),
    sender: computed::sender::<Scs<Sorted>, Yao>,
    receiver: computed::receiver::<Scs<Sorted>, Yao>,
    ..WAKSMAN_ROW
};

pub(crate) const SORT_GMW_ROW: Protocol = Protocol {
    id: "scs_sort_gmw",
    name: "SCS: sort, compare, shuffle by sorting, on shares",
    flights: computed::flights::<Scs<Sorted>, Gmw>,
    bytes_formula: "4 bits for each gate of the circuit of least depth; transfers besides",
    bytes: computed::bytes::<Scs<Sorted>, Gmw>,
    seconds: |params| 0.02 + 6.0e-8 * computed::gates::<Scs<Sorted>, Gmw>(params),
    sender: computed::sender::<Scs<Sorted>, Gmw>,
    receiver: computed::receiver::<Scs<Sorted>, Gmw>,
    ..SORT_ROW
};

pub(crate) const HE_ROW: Protocol = Protocol {
    id: "scs_he",
    name: "SCS: sort, compare, homomorphic shuffle, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 5.3.2 and 6, Figure 6",
    assumption: assumptions::SILENT_AND_PAILLIER_2048,
    flights: he_flights::<false, Yao>,
    bytes_formula: "32 * (2*sigma*n*log(2n) + (3n-1)*sigma - n + (sigma+40+log n)*n) for n = n_x = n_y a power of two; 512 for each of n + n/slots ciphertexts; inputs and transfers besides",
    bytes: computed::bytes::<Scs<Homomorphic<false>>, Yao>,
    seconds: |params| {
        let windows = (params.sender_len() + params.receiver_len()) as f64 / 2.0;
        0.5 + 3.0e-3 * windows + 2.0e-8 * computed::gates::<Scs<Homomorphic<false>>, Yao>(params)
    },
    parameters: HE_PARAMETERS,
    sender: computed::sender::<Scs<Homomorphic<false>>, Yao>,
    receiver: computed::receiver::<Scs<Homomorphic<false>>, Yao>,
    ..WAKSMAN_ROW
};

pub(crate) const HE_3072_ROW: Protocol = Protocol {
    id: "scs_he_3072",
    name: "SCS: sort, compare, homomorphic shuffle with keys of 3072 bits, garbled",
    assumption: assumptions::SILENT_AND_PAILLIER_3072,
    flights: he_flights::<true, Yao>,
    bytes_formula: "as scs_he; 768 for each of n + n/slots ciphertexts",
    bytes: computed::bytes::<Scs<Homomorphic<true>>, Yao>,
    seconds: |params| {
        let windows = (params.sender_len() + params.receiver_len()) as f64 / 2.0;
        1.0 + 8.0e-3 * windows + 2.0e-8 * computed::gates::<Scs<Homomorphic<true>>, Yao>(params)
    },
    parameters: HE_3072_PARAMETERS,
    sender: computed::sender::<Scs<Homomorphic<true>>, Yao>,
    receiver: computed::receiver::<Scs<Homomorphic<true>>, Yao>,
    ..HE_ROW
};

pub(crate) const HE_GMW_ROW: Protocol = Protocol {
    id: "scs_he_gmw",
    name: "SCS: sort, compare, homomorphic shuffle, on shares",
    flights: he_flights::<false, Gmw>,
    bytes_formula: "4 bits for each gate of the circuit of least depth; 512 bytes for each of n + n/slots ciphertexts; transfers besides",
    bytes: computed::bytes::<Scs<Homomorphic<false>>, Gmw>,
    seconds: |params| {
        let windows = (params.sender_len() + params.receiver_len()) as f64 / 2.0;
        0.5 + 3.0e-3 * windows + 6.0e-8 * computed::gates::<Scs<Homomorphic<false>>, Gmw>(params)
    },
    sender: computed::sender::<Scs<Homomorphic<false>>, Gmw>,
    receiver: computed::receiver::<Scs<Homomorphic<false>>, Gmw>,
    ..HE_ROW
};

/// Flights with the homomorphic shuffle: the permuted items come back, where items are asked for.
fn he_flights<const IS_LONG: bool, E: Engine>(params: &PsiParams) -> u64 {
    let is_shuffled = params.query() == Query::Intersection && !params.has_empty_set();
    u64::from(is_shuffled) + computed::flights::<Scs<Homomorphic<IS_LONG>>, E>(params)
}

const LENGTH: Parameter = Parameter {
    name: "length of compared items",
    value: "sigma, at most 40 + 2 * log max(n_x, n_y) bits; longer ones are hashed",
    source: "Phasing, USENIX Security 2015, section 8",
};

const ITEMS: Parameter = Parameter {
    name: "items of both sets",
    value: "at most 2^25",
    source: "memory: 16 bytes for each bit of each item",
};

const PARAMETERS: &[Parameter] = &[LENGTH, ITEMS];

const MASKS: Parameter = Parameter {
    name: "masks",
    value: "40 + log n bits longer than the items",
    source: "statistical distance 2^-40 over all items",
};

const HE_PARAMETERS: &[Parameter] = &[
    LENGTH,
    ITEMS,
    Parameter {
        name: "Paillier modulus",
        value: "2048 bits",
        source: "NIST SP 800-57 part 1, 112 bits",
    },
    MASKS,
];

const HE_3072_PARAMETERS: &[Parameter] = &[
    LENGTH,
    ITEMS,
    Parameter {
        name: "Paillier modulus",
        value: "3072 bits",
        source: "NIST SP 800-57 part 1, 128 bits",
    },
    MASKS,
];

/// The protocol with one way to shuffle.
struct Scs<S> {
    params: PsiParams,
    items: ShortItems,
    own: Option<Own>,
    shuffle: PhantomData<fn() -> S>,
}

impl<S: Shuffle> Circuit for Scs<S> {
    const CHOOSER: Role = Role::Sender;

    fn public(params: &PsiParams) -> Self {
        Self {
            params: *params,
            items: ShortItems::of_distinct(params),
            own: None,
            shuffle: PhantomData,
        }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        let len = params.sender_len() as u64 + params.receiver_len() as u64;
        if len > MAX_ITEMS {
            return Err(ParameterError::SetTooLarge { len, max: MAX_ITEMS }.into());
        }
        computed::check_set(params, role, input)
    }

    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let public = Self::public(params);
        let short = public.items.shorten(ctx.pool(), params, input.items());
        let mut order: Vec<u32> = (0..short.len() as u32).collect();
        order.sort_unstable_by_key(|i| short[*i as usize].integer());
        if role == Role::Sender {
            order.reverse();
        }
        let sorted: Vec<Item> = order.iter().map(|i| short[*i as usize]).collect();
        // Items differ and none is zero, unless they are hashed: then two meet with probability 2^-40.
        let is_twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        if is_twice || sorted.iter().any(|item| item.integer() == 0) {
            return Err(ParameterError::HashingFailed.into());
        }
        let values =
            input.values().map(|values| order.iter().map(|i| values[*i as usize]).collect());
        let windows = public.windows();
        let secret = match params.query() {
            Query::Intersection => S::draw(ctx, role, public.items.bits(), windows),
            _ => shuffle::Secrets::None,
        };
        let items = Arc::clone(input.items());
        let own = Own { role, items, sorted, order, values, secret };
        Ok(Self { own: Some(own), ..public })
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let width = self.items.bits() as usize;
        let merged = self.merge(c)?;
        let found = self.filter(c, &merged)?;
        drop(merged);
        if let Some(output) = computed::answer(c, &self.params, &found.is_match, &found.values)? {
            return Ok(output);
        }
        S::shuffle(c, self, width, found.items)
    }

    fn finish(self, ctx: &mut Context, role: Role, output: Output) -> Result<Output> {
        if self.params.query() != Query::Intersection || output == Output::OutsideBounds {
            return Ok(output);
        }
        let output = S::finish(ctx, &self, output)?;
        if !S::ORDER_SAYS_NOTHING_TO_BOTH {
            let items = self.own.as_ref().map_or(&[][..], |own| &own.items);
            return computed::tell_common(ctx, &self.params, role, items, output);
        }
        Ok(output)
    }

    fn finish_bytes(params: &PsiParams) -> Traffic {
        if params.query() != Query::Intersection {
            return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
        }
        let public = Self::public(params);
        let mut bytes = S::finish_bytes(public.items.bits(), public.windows());
        if !S::ORDER_SAYS_NOTHING_TO_BOTH {
            bytes.receiver_to_sender += computed::tell_common_bytes(params).receiver_to_sender;
        }
        bytes
    }
}

/// What the filter finds, a lane a window.
struct Found<W> {
    is_match: W,
    /// The matching items and zeros, where they are asked for.
    items: Vec<W>,
    /// The values of the matches and zeros, where they are summed.
    values: Vec<W>,
}

impl<S: Shuffle> Scs<S> {
    /// Windows of the filter.
    fn windows(&self) -> usize {
        (self.params.sender_len() + self.params.receiver_len()) / 2
    }

    /// Both lists, merged; above each item its value, where values are summed.
    fn merge<C: Computation>(&self, c: &mut C) -> Result<Vec<C::Wires>> {
        let params = &self.params;
        let width = self.items.bits() as usize;
        let own = |role: Role| self.own.as_ref().filter(|own| own.role == role);
        let mut lists = Vec::new();
        for (role, len) in
            [(Role::Sender, params.sender_len()), (Role::Receiver, params.receiver_len())]
        {
            let bits = own(role).map(|own| word::bits_of_items(&own.sorted, width));
            let mut list = c.input(role, bits.as_deref(), width, len)?;
            if let Query::Sum(of) = params.query() {
                let bits = of.bits() as usize;
                list.extend(if of.holder() == role {
                    let values = own(role).and_then(|own| own.values.as_deref());
                    let values = computed::value_bits(values, of.bits());
                    c.input(role, values.as_deref(), bits, len)?
                } else {
                    vec![c.constant(false, len); bits]
                });
            }
            lists.push(list);
        }
        let mut merged = word::concat(&lists);
        drop(lists);
        merge_bitonic(c, width, &mut merged)?;
        Ok(merged)
    }

    fn filter<C: Computation>(&self, c: &mut C, merged: &[C::Wires]) -> Result<Found<C::Wires>> {
        let width = self.items.bits() as usize;
        let (mut is_match, mut items, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let all = 2 * self.windows();
        let step = (c.lanes_at_once() / 2).max(1).saturating_mul(2);
        let mut first = 0;
        while first < all {
            let len = step.min(all - first);
            let windows = match_neighbours(c, width, merged, first, len)?;
            match self.params.query() {
                Query::Intersection => {
                    let key = vesica_circuit::gadgets::Windows {
                        middle: windows.middle[..width].to_vec(),
                        is_match: windows.is_match.clone(),
                        before: windows.before.clone(),
                    };
                    items.push(select_matches(c, &key)?);
                }
                Query::Sum(_) => {
                    let (above, middle) = (&merged[width..], &windows.middle[width..]);
                    values.push(matched_values(c, above, middle, &windows, first)?);
                }
                _ => {}
            }
            is_match.push(windows.is_match);
            first += len;
        }
        Ok(Found {
            is_match: C::Wires::concat(&is_match),
            items: word::concat(&items),
            values: word::concat(&values),
        })
    }
}

/// The values of the matches of windows from lane `first` on: of the two that match one has the value, the other zero.
fn matched_values<C: Computation>(
    c: &mut C,
    values: &[C::Wires],
    middle: &[C::Wires],
    windows: &vesica_circuit::gadgets::Windows<C::Wires>,
    first: usize,
) -> Result<Vec<C::Wires>> {
    let count = windows.is_match.len();
    let all = word::lanes(values);
    let place = |lane: usize| move |i: usize| (first + 2 * i + lane) as u32;
    let before: Vec<u32> = (0..count).map(place(0)).collect();
    let after: Vec<u32> = (0..count).map(place(2)).filter(|i| (*i as usize) < all).collect();
    let before = word::gather(values, &before);
    let mut padded = vec![c.constant(false, count); values.len()];
    word::put(&mut padded, 0, &word::gather(values, &after));
    let partner = multiplex(c, &windows.before, &before, &padded)?;
    let sums: Vec<C::Wires> =
        partner.iter().zip(middle).map(|(partner, middle)| c.xor(partner, middle)).collect();
    mask(c, &windows.is_match, &sums)
}
