//! # SCS: sort, compare, shuffle
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom
//! protocols?", NDSS 2012, §5; auditing: §6. The depth-optimised variant for shares: B. Pinkas, T.
//! Schneider, M. Zohner, USENIX Security 2014, as in "Phasing", USENIX Security 2015, §3.4.
//!
//! | | |
//! |---|---|
//! | security, `scs_wn`, `scs_wn_gmw`, `scs_wn_gmw_iknp`, `scs_by_count`, `scs_sort`, `scs_sort_gmw`, `scs_he`, `scs_he_3072`, `scs_he_gmw` | semi-honest |
//! | security, `scs_wn_one_sided` | one-sided |
//! | assumption, `scs_wn`, `scs_wn_one_sided`, `scs_wn_gmw`, `scs_by_count`, `scs_sort`, `scs_sort_gmw` | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `scs_wn_gmw_iknp` | gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `scs_he`, `scs_he_gmw` | regular learning parity with noise over GF(2); decisional composite residuosity for 2048 bits, of 112-bit security; gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `scs_he_3072` | regular learning parity with noise over GF(2); decisional composite residuosity for 3072 bits, of 128-bit security; gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the common items, or the answer to the query; the size of the sender's set |
//! | sender learns, `scs_wn`, `scs_wn_gmw`, `scs_wn_gmw_iknp`, `scs_sort`, `scs_sort_gmw`, `scs_he`, `scs_he_3072`, `scs_he_gmw` | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | sender learns, `scs_wn_one_sided` | the size of the receiver's set |
//! | sender learns, `scs_by_count` | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also which of its own items the receiver has |
//! | flights | 5 (`scs_wn`, `scs_by_count`, `scs_sort`), 7 (`scs_wn_one_sided`), 206 (`scs_wn_gmw`), 203 (`scs_wn_gmw_iknp`), 1407 (`scs_sort_gmw`), 9 (`scs_he`, `scs_he_3072`), 304 (`scs_he_gmw`), for 2^16 items each |
//! | engine | [`vesica_circuit::yao`] or [`vesica_circuit::gmw`]; Paillier's encryption for `scs_he` |
//! | gates | merge 2σ·n·log(2n), filter (3n − 1)·σ − n, for n items each, n a power of two; on shares a comparison takes 3σ − 2 − log σ gates in place of σ |
//! | shuffle | `scs_wn`, `scs_by_count`: σ·(n·log n − n + 1) one-sided gates; `scs_sort`: 2σ gates for each comparator of Batcher's sort; `scs_he`: a ciphertext an item |
//!
//! ```text
//!   sender: X                                        receiver: Y
//!
//!   1. sort     X, falling                           1. Y, rising
//!
//!      in the circuit:
//!      [one-sided] X falls, Y rises, no item is 0; if not, nothing matches
//!   2. merge    X ‖ Y is bitonic: n·log(2n) two-sorters; lists of different lengths by Batcher's odd-even merger
//!   3. filter   m = of three neighbours, the middle one if it is equal to another, else 0
//!   4. audit    count what the filter found, check the bounds; answer other queries
//!   5. shuffle  wn: a Waksman network that the sender sets     sort: Batcher's odd-even merge sort
//!               by_count, if both learn: n̂ rounded up, to both; then blocks are sorted, or as wn
//!               he: r' = m + r for the sender, r being masks of the receiver; it permutes [r' − r] below
//!   6. reveal                                        the m found, in an order that reveals nothing
//!
//!   [he] key, [r]            ◀──────────────
//!        π([r' − r])         ──────────────▶         6. m
//!   7. [both, not sort] which of X are common  ◀── tags ──
//! ```
//!
//! # Sizes
//!
//! Sets of any sizes are merged as they are, and nothing is padded: those of one size by the
//! paper's bitonic merger for the next power of two, without the comparators that would meet no
//! element; those of different sizes by Batcher's odd-even merger, which takes n comparators for
//! one item and n. The filter has ⌊(n_x + n_y)/2⌋ windows, and all are shuffled: they could be
//! compacted first to as many as the smaller set has items, but a network for that takes more gates
//! than it saves until the sizes differ by some dozen times. Where a set has one item, only one
//! window can have a match, so their sum is revealed, and nothing is shuffled.
//!
//! # Deviations
//!
//! * The item 0 is reserved, as in the paper: it means no match.
//! * The shuffle's network is Waksman's for any size; its permutation is drawn uniformly and
//!   routed.
//! * §5.3.1 sorts blocks of 2·n̂ items where the intersection's size n̂ is known, and proposes to
//!   compute n̂ first: `scs_by_count`, with n̂ rounded up to 2^k − 1. `scs_sort` sorts all at once.
//! * `scs_wn_one_sided`: both lists are audited, so that their order shows nothing of the other's,
//!   and items are not hashed to fewer bits, of which a party could bring one for several of its
//!   guesses.
//! * `scs_he`: masks have 40 + log n bits more than the items (the paper: 32), and permuted values
//!   are packed, as many as fit, before they are sent back.

mod catalogue;
#[cfg(test)]
mod deviating;
mod held;
mod shuffle;
#[cfg(test)]
mod tests;

use self::held::{Own, Scs, Secrets};
use self::shuffle::Shuffle;
use crate::computed::{self, Audit, Circuit};
pub use catalogue::{
    BY_COUNT_ROW, HE_3072_ROW, HE_GMW_ROW, HE_ROW, SORT_GMW_ROW, SORT_ROW, WAKSMAN_GMW_IKNP_ROW,
    WAKSMAN_GMW_ROW, WAKSMAN_ONE_SIDED_ROW, WAKSMAN_ROW,
};
use std::marker::PhantomData;
use std::sync::Arc;
use vesica_circuit::gadgets::{
    Windows, mask, match_neighbours, merge_bitonic, merge_odd_even, multiplex, select_matches,
};
use vesica_circuit::{Computation, Lanes, word};
use vesica_core::{Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_hashing::ShortItems;
use vesica_net::Context;
use vesica_party::{Input, Output, Traffic};

/// Most items of both sets together: labels of 16 bytes for each of their bits are held at once.
const MAX_ITEMS: u64 = 1 << 25;

/// Both lists in one, and with an audit whether both pass.
type Merged<W> = (Vec<W>, Option<W>);

impl<S: Shuffle> Circuit for Scs<S> {
    const CHOOSER: Role = Role::Sender;

    /// Step 1.
    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let public = Self::public(params);
        let short = public.items.shorten(ctx.pool(), params, input.items());
        let mut order: Vec<u32> = (0..short.len() as u32).collect();
        order.sort_unstable_by_key(|i| short[*i as usize].integer());
        if role == Role::Sender {
            order.reverse();
        }
        let sorted: Vec<Item> = order.iter().map(|i| short[*i as usize]).collect();
        // Items differ and none is zero, unless they are hashed: then two collide with probability
        // 2^-40.
        let is_twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        if is_twice || sorted.iter().any(|item| item.integer() == 0) {
            return Err(ParameterError::HashingFailed.into());
        }
        let values =
            input.values().map(|values| order.iter().map(|i| values[*i as usize]).collect());
        let rows = public.rows();
        // What step 5 needs.
        let secret = match params.query() {
            Query::Intersection => S::draw(ctx, role, public.items.bits(), rows),
            _ => Secrets::None,
        };
        let items = Arc::clone(input.items());
        let own = Own { role, items, sorted, order, values, secret };
        Ok(Self { own: Some(own), ..public })
    }

    /// Steps 2 to 6.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        // 2. Merge X ‖ Y.
        let (merged, is_right) = self.merge(c)?;
        // 3. Filter: m = of three neighbours, the middle one if it is equal to another, else 0.
        let found = self.filter(c, &merged, is_right.as_ref())?;
        drop(merged);
        let is_right = is_right.map_or(Ok(true), |is_right| computed::tell(c, is_right))?;
        let output = self.reveal(c, found)?;
        Ok(computed::unless_refused(is_right, output))
    }

    /// Step 6 of `he`, and step 7.
    fn finish(self, ctx: &mut Context, role: Role, output: Output) -> Result<Output> {
        if self.params.query() != Query::Intersection || output == Output::OutsideBounds {
            return Ok(output);
        }
        let output = S::finish(ctx, &self, output)?;
        // 7. [both, not sort] Which of X are common.
        if !S::ORDER_HIDES_FROM_BOTH {
            let items = self.own.as_ref().map_or(&[][..], |own| &own.items);
            return computed::send_common(ctx, &self.params, role, items, output);
        }
        Ok(output)
    }

    fn public(params: &PsiParams) -> Self {
        Self {
            params: *params,
            items: compared::<S::Audit>(params),
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

    fn finish_flights(params: &PsiParams) -> u64 {
        if params.query() != Query::Intersection {
            return 0;
        }
        let tags = if S::ORDER_HIDES_FROM_BOTH { 0 } else { computed::send_common_flights(params) };
        S::FINISH_FLIGHTS + tags
    }

    fn finish_bytes(params: &PsiParams) -> Traffic {
        if params.query() != Query::Intersection {
            return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
        }
        let public = Self::public(params);
        let mut bytes = S::finish_bytes(public.items.bits(), public.rows());
        if !S::ORDER_HIDES_FROM_BOTH {
            bytes.receiver_to_sender += computed::send_common_bytes(params).receiver_to_sender;
        }
        bytes
    }
}

/// The items as they are compared.
fn compared<A: Audit>(params: &PsiParams) -> ShortItems {
    if A::IS_MADE { ShortItems::whole(params) } else { ShortItems::of_distinct(params) }
}

/// Whether the sender's list falls and the receiver's rises, and neither has an item zero: one
/// lane.
fn are_right<C: Computation>(c: &mut C, width: usize, lists: &[Vec<C::Wires>]) -> Result<C::Wires> {
    let mut passes = Vec::new();
    for (list, falls) in lists.iter().zip([true, false]) {
        let n = list.first().map_or(0, Lanes::len) as u32;
        let backwards: Vec<u32> = (0..n).rev().collect();
        passes.push(if falls {
            computed::rises(c, &word::gather(&list[..width], &backwards))?
        } else {
            computed::rises(c, &list[..width])?
        });
    }
    computed::all_lanes(c, C::Wires::concat(&passes))
}

/// What step 3 finds, a lane a window.
struct Found<W> {
    is_match: W,
    /// The matching items and zeros, for the intersection.
    items: Vec<W>,
    /// The values of the matches and zeros, where values are summed.
    values: Vec<W>,
}

impl<S: Shuffle> Scs<S> {
    /// Steps 4 to 6.
    fn reveal<C: Computation>(&self, c: &mut C, found: Found<C::Wires>) -> Result<Output> {
        // 4. Audit: Σ (m ≠ 0), bounds; answers to other queries.
        if let Some(output) = computed::answer(c, &self.params, &found.is_match, &found.values)? {
            return Ok(output);
        }
        // 5. Shuffle.  6. Reveal the m found.
        let items = match self.rows() {
            1 => found.items.iter().map(|wires| sum(c, wires)).collect(),
            _ => found.items,
        };
        S::shuffle(c, self, self.items.bits() as usize, &found.is_match, items)
    }

    /// Step 2: both lists, merged; above each item its value, where values are summed. With an
    /// audit, whether both pass.
    fn merge<C: Computation>(&self, c: &mut C) -> Result<Merged<C::Wires>> {
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
        let is_right = if S::Audit::IS_MADE { Some(are_right(c, width, &lists)?) } else { None };
        let mut merged = word::concat(&lists);
        drop(lists);
        match [params.sender_len(), params.receiver_len()] {
            // It is bitonic: n·log(2n) two-sorters.
            [n_x, n_y] if n_x == n_y => merge_bitonic(c, width, &mut merged)?,
            [n_x, _] => merge_odd_even(c, width, &mut merged, n_x)?,
        }
        Ok((merged, is_right))
    }

    /// Step 3. Nothing matches unless `is_right`.
    fn filter<C: Computation>(
        &self,
        c: &mut C,
        merged: &[C::Wires],
        is_right: Option<&C::Wires>,
    ) -> Result<Found<C::Wires>> {
        let width = self.items.bits() as usize;
        let (mut is_match, mut items, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let all = 2 * self.windows();
        let step = (c.lanes_at_once() / 2).max(1).saturating_mul(2);
        let mut first = 0;
        while first < all {
            let len = step.min(all - first);
            let mut windows = match_neighbours(c, width, merged, first, len)?;
            if let Some(is_right) = is_right {
                windows.is_match = computed::kept_if(c, is_right, &windows.is_match)?;
            }
            match self.params.query() {
                Query::Intersection => {
                    let key = Windows {
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

/// The sum of all lanes: the only one that is not zero.
fn sum<C: Computation>(c: &C, wires: &C::Wires) -> C::Wires {
    let mut sum = wires.clone();
    while sum.len() > 1 {
        let half = sum.len() / 2;
        let mut halved = c.xor(&sum.slice(0, half), &sum.slice(half, half));
        if sum.len() % 2 == 1 {
            halved = C::Wires::concat(&[halved, sum.slice(2 * half, 1)]);
        }
        sum = halved;
    }
    sum
}

/// The values of the matches of windows from lane `first` on: of the two that match, one has the
/// value and the other zero.
fn matched_values<C: Computation>(
    c: &mut C,
    values: &[C::Wires],
    middle: &[C::Wires],
    windows: &Windows<C::Wires>,
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
