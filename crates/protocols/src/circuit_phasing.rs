//! # Circuit-Phasing: hashing to bins, and a circuit that compares
//!
//! B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing: private set intersection using permutation-based hashing",
//! USENIX Security 2015, §5; auditing: Huang, Evans, Katz, NDSS 2012, §6.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of the engine: [`vesica_circuit::gmw`] or [`vesica_circuit::yao`] |
//! | receiver learns | the common items and the sender's size, or the answer to the query |
//! | sender learns | the receiver's size; with bounds whether the number of matches is inside |
//! | comparisons | β·max_β of σ' bits and s·n_x of σ bits; a comparison of w bits is w − 1 gates |
//! | depth | ⌈log σ⌉; on shares the first layers are transfers of tables |
//!
//! ```text
//!   sender: X, in both bins of each           receiver: Y, cuckoo hashed to β = 2.4·n_y bins and a stash of s
//!
//!   bin:    up to max_β remainders             one remainder
//!   stash:  all of X, whole                    one item
//!
//!              e = sum of the comparisons of a bin, or of a place of the stash
//!              audit, other queries
//!                                              e: which of Y are common
//! ```
//!
//! # Deviations
//!
//! * What is compared in a bin names the function too: without it different items match (M. Lambæk, ePrint 2016/665).
//!   With the values kept for empty bins and slots it has σ − ⌊log β⌋ + 2 bits.
//! * max_β is the least load that all bins keep but with probability 2^-40, in place of the bound in §7.1.
//! * On shares, the receiver's value is the same for all slots of a bin, and both inputs are private: so the first two
//!   layers of the comparison are transfers of tables (see [`vesica_circuit::gmw`]), which leaves a quarter
//!   of the gates at 2^20.
//! * The item 0 is reserved: it fills places of the stash that are not used.

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security};
use crate::computed::{self, Circuit, Gmw, Yao, positions_of_flags, sums_of_groups, value_bits};
use crate::{Input, Output, Traffic};
use std::sync::Arc;
use vesica_circuit::gadgets::mask;
use vesica_circuit::{Bins, Computation, InBins, Lanes, Reveal, word};
use vesica_core::{Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_hashing::{Cuckoo, Locations, Placed, ShortItems, Table, max_load};
use vesica_net::Context;

/// Most items of a set.
const MAX_ITEMS: u64 = 1 << 24;

/// The index that no function has, of the two highest bits of what is compared in a bin.
const NO_FUNCTION: u128 = 2;

/// Items that are compared with a place of the stash under one transfer.
const STASH_SLOTS: usize = Bins::MAX_SLOTS;

pub(crate) const ROW: Protocol = Protocol {
    id: "circuit_phasing",
    name: "Circuit-Phasing, on shares",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, section 5",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: "the receiver's set size; with bounds, whether the number of matches is inside",
    receiver_learns: "the common items, or the answer to the query; the sender's set size",
    flights: computed::flights::<Phasing, Gmw>,
    bytes_formula: "for each of beta * max_beta + s * n_x comparisons of w bits: about (16/4 * w - w/4) / 8 bytes of tables and 1/2 byte for each gate that joins w/4 digits; transfers besides",
    bytes: computed::bytes::<Phasing, Gmw>,
    seconds: |params| 0.05 + 1.6e-8 * computed::gates::<Phasing, Yao>(params),
    usable_set_len: None,
    named_only: true,
    item_bits: 1..=128,
    reserves_zero: true,
    bounds: BoundsKept::ByComputation,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::items(ShortItems::new(params).bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Phasing, Gmw>,
    receiver: computed::receiver::<Phasing, Gmw>,
};

pub(crate) const YAO_ROW: Protocol = Protocol {
    id: "circuit_phasing_yao",
    name: "Circuit-Phasing, garbled",
    flights: computed::flights::<Phasing, Yao>,
    bytes_formula: "32 * (beta * max_beta * (sigma' - 1) + s * n_x * (sigma - 1)); inputs and transfers besides",
    bytes: computed::bytes::<Phasing, Yao>,
    seconds: |params| 0.05 + 2.2e-8 * computed::gates::<Phasing, Yao>(params),
    sender: computed::sender::<Phasing, Yao>,
    receiver: computed::receiver::<Phasing, Yao>,
    ..ROW
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "bins",
        value: "2.4 * n_y, two functions",
        source: "Phasing, USENIX Security 2015, section 7.2",
    },
    Parameter {
        name: "stash",
        value: "12, 6, 4, 3, 2 places from 2^8, 2^12, 2^16, 2^20, 2^24 items on",
        source: "Phasing, USENIX Security 2015, Table 4",
    },
    Parameter {
        name: "slots of a bin",
        value: "such that all bins of the sender have room but with probability 2^-40",
        source: "computed; Phasing, section 7.1",
    },
];

/// The public shape of a run.
#[derive(Clone, Copy)]
struct Plan {
    items: ShortItems,
    table: Table,
    /// Slots of a bin: `parts` times `slots`, as a comparison in bins has at most so many at once.
    parts: usize,
    slots: usize,
    /// Bits of what is compared in a bin.
    bin_bits: u32,
    /// Whether remainders are so short that empty slots and empty bins need a bit to differ.
    is_widened: bool,
    n_x: usize,
}

impl Plan {
    fn new(params: &PsiParams) -> Self {
        let items = ShortItems::new(params);
        let table = Table::phasing_two_way(params.receiver_len());
        let n_x = params.sender_len();
        let load = max_load(table.functions() * n_x, table.bins()).max(1);
        let parts = load.div_ceil(Bins::MAX_SLOTS);
        let value_bits = Locations::permuted_value_bits(&table, items.bits());
        let is_widened = value_bits == 2;
        let bin_bits = value_bits + u32::from(is_widened);
        Self { items, table, parts, slots: load.div_ceil(parts), bin_bits, is_widened, n_x }
    }

    fn bins(&self) -> Bins {
        let count = self.table.bins() * self.parts;
        Bins { count, slots: self.slots, width: self.bin_bits as usize }
    }

    /// The comparisons with the stash: whole groups of items, and the rest.
    fn stash(&self) -> [Bins; 2] {
        let width = self.items.bits() as usize;
        let (groups, rest) = (self.n_x / STASH_SLOTS, self.n_x % STASH_SLOTS);
        let places = self.table.stash();
        let of_rest = if rest == 0 { 0 } else { places };
        [
            Bins { count: places * groups, slots: STASH_SLOTS, width },
            Bins { count: of_rest, slots: rest, width },
        ]
    }

    /// What fills empty slots of the sender, and empty bins of the receiver.
    fn nothing(&self, role: Role) -> u128 {
        let index = NO_FUNCTION << (self.bin_bits - 2 - u32::from(self.is_widened));
        match (role, self.is_widened) {
            (Role::Sender, _) => index,
            (_, false) => index | 1,
            (_, true) => index | 1 << (self.bin_bits - 1),
        }
    }
}

struct Phasing {
    params: PsiParams,
    plan: Plan,
    own: Option<Own>,
}

enum Own {
    Sender {
        items: Arc<Vec<Item>>,
        short: Vec<Item>,
        bins: Candidates,
        values: Option<Arc<Vec<u64>>>,
    },
    Receiver {
        items: Arc<Vec<Item>>,
        /// The position of the item in each bin, then in each place of the stash.
        positions: Vec<Option<u32>>,
        /// What is compared there.
        bins: Vec<u128>,
        stash: Vec<u128>,
        values: Option<Arc<Vec<u64>>>,
    },
}

impl Own {
    fn items(&self) -> &[Item] {
        match self {
            Own::Sender { items, .. } | Own::Receiver { items, .. } => items,
        }
    }
}

/// The sender's items by bin.
struct Candidates {
    starts: Vec<u32>,
    values: Vec<u128>,
    positions: Vec<u32>,
}

impl Candidates {
    fn new(locations: &Locations, items: &[Item]) -> Self {
        let (count, functions) = (locations.table().bins(), locations.table().functions());
        let mut starts = vec![0_u32; count + 1];
        locations.each(items, |_, place| {
            place.bins[..functions].iter().for_each(|bin| starts[*bin as usize + 1] += 1);
        });
        for bin in 0..count {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let mut values = vec![0; functions * items.len()];
        let mut positions = vec![0; functions * items.len()];
        let mut position = 0;
        locations.each(items, |_, place| {
            for (bin, value) in place.bins.iter().zip(place.values).take(functions) {
                let at = &mut next[*bin as usize];
                values[*at as usize] = value;
                positions[*at as usize] = position;
                *at += 1;
            }
            position += 1;
        });
        Self { starts, values, positions }
    }

    /// The entries of part `part` of `parts` of a bin, each of `slots`.
    fn entries(&self, plan: &Plan, bin: usize) -> std::ops::Range<usize> {
        let (bin, part) = (bin / plan.parts, bin % plan.parts);
        let (start, end) = (self.starts[bin] as usize, self.starts[bin + 1] as usize);
        (start + part * plan.slots).min(end)..(start + (part + 1) * plan.slots).min(end)
    }

    fn has_room(&self, plan: &Plan) -> bool {
        let most = (plan.parts * plan.slots) as u32;
        self.starts.windows(2).all(|pair| pair[1] - pair[0] <= most)
    }
}

impl Circuit for Phasing {
    const CHOOSER: Role = Role::Receiver;

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, plan: Plan::new(params), own: None }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        for len in [params.sender_len() as u64, params.receiver_len() as u64] {
            if len > MAX_ITEMS {
                return Err(ParameterError::SetTooLarge { len, max: MAX_ITEMS }.into());
            }
        }
        computed::check_set(params, role, input)
    }

    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let plan = Plan::new(params);
        let short = plan.items.shorten(ctx.pool(), params, input.items()).into_owned();
        if short.iter().any(|item| item.integer() == 0) {
            return Err(ParameterError::ReservedItem.into());
        }
        let locations = Locations::permuted(plan.table, params.session(), plan.items.bits());
        let values = input.values().cloned();
        let items = input.into_items();
        let own = match role {
            Role::Sender => {
                let bins = Candidates::new(&locations, &short);
                if !bins.has_room(&plan) {
                    return Err(ParameterError::HashingFailed.into());
                }
                Own::Sender { items, short, bins, values }
            }
            _ => {
                let cuckoo = Cuckoo::new(&plan.table, &locations.bins(ctx.pool(), &short))?;
                let placed: Vec<Option<Placed>> =
                    (0..plan.table.bins()).map(|bin| cuckoo.bin(bin)).collect();
                let mut bins = Vec::with_capacity(plan.table.bins() * plan.parts);
                for placed in &placed {
                    let value = placed.map_or(plan.nothing(Role::Receiver), |placed| {
                        let mut value = 0;
                        locations.each(&short[placed.position as usize..][..1], |_, place| {
                            value = place.values[usize::from(placed.function)];
                        });
                        value
                    });
                    bins.extend(std::iter::repeat_n(value, plan.parts));
                }
                let in_stash = cuckoo.stash().iter().map(|position| Some(*position));
                let in_stash: Vec<Option<u32>> =
                    in_stash.chain(std::iter::repeat(None)).take(plan.table.stash()).collect();
                let stash = in_stash
                    .iter()
                    .map(|position| {
                        position.map_or(0, |position| short[position as usize].integer())
                    })
                    .collect();
                let positions = placed.iter().map(|placed| placed.map(|placed| placed.position));
                let positions = positions.chain(in_stash).collect();
                Own::Receiver { items, positions, bins, stash, values }
            }
        };
        Ok(Self { params: *params, plan, own: Some(own) })
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let mut found = Found::default();
        self.compare_bins(c, &mut found)?;
        self.compare_stash(c, &mut found)?;
        let is_match = C::Wires::concat(&found.is_match);
        let mut values = word::concat(&found.values);
        if let Query::Sum(of) = self.params.query()
            && of.holder() == Role::Receiver
        {
            let own = match &self.own {
                Some(Own::Receiver { positions, values: Some(values), .. }) => Some(
                    positions
                        .iter()
                        .map(|position| position.map_or(0, |position| values[position as usize]))
                        .collect::<Vec<u64>>(),
                ),
                _ => None,
            };
            let bits = value_bits(own.as_deref(), of.bits());
            let all =
                c.input(Role::Receiver, bits.as_deref(), of.bits() as usize, is_match.len())?;
            values = mask(c, &is_match, &all)?;
        }
        if let Some(output) = computed::answer(c, &self.params, &is_match, &values)? {
            return Ok(output);
        }
        let revealed = c.reveal(&[is_match], Reveal::Receiver)?;
        Ok(match (revealed.as_deref(), &self.own) {
            (Some([bits]), Some(Own::Receiver { positions, .. })) => {
                let mut is_common = vec![false; self.params.receiver_len()];
                for (position, is_match) in positions.iter().zip(bits.iter()) {
                    if let Some(position) = position {
                        is_common[*position as usize] |= is_match;
                    }
                }
                positions_of_flags(&is_common)
            }
            _ => Output::Nothing,
        })
    }

    fn finish(self, ctx: &mut Context, role: Role, output: Output) -> Result<Output> {
        let items = self.own.as_ref().map_or(&[][..], Own::items);
        computed::tell_common(ctx, &self.params, role, items, output)
    }

    fn finish_bytes(params: &PsiParams) -> Traffic {
        computed::tell_common_bytes(params)
    }
}

/// For each bin, then each place of the stash, whether the receiver's item is common; and with a sum of the sender's
/// values that item's value.
struct Found<W> {
    is_match: Vec<W>,
    values: Vec<Vec<W>>,
}

impl<W> Default for Found<W> {
    fn default() -> Self {
        Self { is_match: Vec::new(), values: Vec::new() }
    }
}

/// Values of the sender in the slots of bins: appends those of bin i, in the order of its candidates.
type ValuesOf<'a> = Option<&'a dyn Fn(usize, &mut Vec<u64>)>;

impl Phasing {
    fn compare_bins<C: Computation>(&self, c: &mut C, found: &mut Found<C::Wires>) -> Result<()> {
        let plan = &self.plan;
        let bins = plan.bins();
        match &self.own {
            None => self.compare(c, &bins, None, None, 0, plan.parts, found),
            Some(Own::Receiver { bins: values, .. }) => {
                self.compare(c, &bins, Some(InBins::Values(values)), None, 0, plan.parts, found)
            }
            Some(Own::Sender { bins: own, values, .. }) => {
                let candidates = |bin: usize, out: &mut Vec<u128>| {
                    out.extend_from_slice(&own.values[own.entries(plan, bin)]);
                };
                let of = |bin: usize, out: &mut Vec<u64>| {
                    let positions = &own.positions[own.entries(plan, bin)];
                    let values = values.as_ref();
                    out.extend(positions.iter().map(|i| values.map_or(0, |v| v[*i as usize])));
                };
                let mine = Some(InBins::Candidates(&candidates));
                let nothing = plan.nothing(Role::Sender);
                self.compare(c, &bins, mine, Some(&of), nothing, plan.parts, found)
            }
        }
    }

    fn compare_stash<C: Computation>(&self, c: &mut C, found: &mut Found<C::Wires>) -> Result<()> {
        let places = self.plan.table.stash();
        let mut parts = Found::default();
        let mut first_item = 0;
        for bins in self.plan.stash() {
            if bins.count == 0 {
                continue;
            }
            let groups = bins.count / places;
            match &self.own {
                None => self.compare(c, &bins, None, None, 0, groups, &mut parts)?,
                Some(Own::Receiver { stash, .. }) => {
                    let values: Vec<u128> =
                        stash.iter().flat_map(|v| std::iter::repeat_n(*v, groups)).collect();
                    let mine = Some(InBins::Values(&values));
                    self.compare(c, &bins, mine, None, 0, groups, &mut parts)?;
                }
                Some(Own::Sender { short, values, .. }) => {
                    let of_bin = |bin: usize| {
                        let first = first_item + bin % groups * bins.slots;
                        first..first + bins.slots
                    };
                    let candidates = |bin: usize, out: &mut Vec<u128>| {
                        out.extend(short[of_bin(bin)].iter().map(Item::integer));
                    };
                    let of = |bin: usize, out: &mut Vec<u64>| {
                        let values = values.as_ref();
                        out.extend(of_bin(bin).map(|i| values.map_or(0, |v| v[i])));
                    };
                    let mine = Some(InBins::Candidates(&candidates));
                    self.compare(c, &bins, mine, Some(&of), 0, groups, &mut parts)?;
                }
            }
            first_item += groups * bins.slots;
        }
        // Whole groups and the rest are of the same places; an item is in one of them.
        let mut parts_of_places = parts.is_match.into_iter();
        if let Some(first) = parts_of_places.next() {
            let sum = parts_of_places.fold(first, |sum, part| c.xor(&sum, &part));
            found.is_match.push(sum);
        }
        let mut values = parts.values.into_iter();
        if let Some(first) = values.next() {
            let sum = values
                .fold(first, |sum, part| sum.iter().zip(&part).map(|(a, b)| c.xor(a, b)).collect());
            found.values.push(sum);
        }
        Ok(())
    }

    /// Compares in bins, and sums each `group` of them.
    #[expect(clippy::too_many_arguments, reason = "both uses differ in each")]
    fn compare<C: Computation>(
        &self,
        c: &mut C,
        bins: &Bins,
        mine: Option<InBins<'_>>,
        values_of: ValuesOf<'_>,
        nothing: u128,
        group: usize,
        found: &mut Found<C::Wires>,
    ) -> Result<()> {
        let sum = match self.params.query() {
            Query::Sum(of) if of.holder() == Role::Sender => Some(of),
            _ => None,
        };
        let (mut matches, mut values) = (Vec::new(), Vec::new());
        c.equal_in_bins(bins, mine, nothing, &mut |c, first, is_equal| {
            matches.push(sums_of_groups(c, &is_equal, bins.slots));
            if let Some(of) = sum {
                let own = values_of.map(|values_of| {
                    let count = is_equal.len() / bins.slots;
                    let mut own = Vec::with_capacity(is_equal.len());
                    for bin in 0..count {
                        values_of(first + bin, &mut own);
                        own.resize((bin + 1) * bins.slots, 0);
                    }
                    own
                });
                let bits = value_bits(own.as_deref(), of.bits());
                let all =
                    c.input(Role::Sender, bits.as_deref(), of.bits() as usize, is_equal.len())?;
                let masked = mask(c, &is_equal, &all)?;
                let sums: Vec<_> =
                    masked.iter().map(|wires| sums_of_groups(c, wires, bins.slots)).collect();
                values.push(sums);
            }
            Ok(())
        })?;
        let is_match = C::Wires::concat(&matches);
        found.is_match.push(sums_of_groups(c, &is_match, group));
        if sum.is_some() {
            let values = word::concat(&values);
            found.values.push(values.iter().map(|wires| sums_of_groups(c, wires, group)).collect());
        }
        Ok(())
    }
}
