//! Both parties' sets in bins and stash.

use std::ops::Range;
use std::sync::Arc;
use vesica_circuit::Bins;
use vesica_core::{Item, ParameterError, PsiParams, Result, Role};
use vesica_hashing::{Cuckoo, Locations, Placed, ShortItems, Table, max_load};
use vesica_net::Context;
use vesica_party::Input;

/// The index that no function has, of the two highest bits of what is compared in a bin.
const NO_FUNCTION: u128 = 2;

/// Items that are compared with a place of the stash under one transfer.
const STASH_SLOTS: usize = Bins::MAX_SLOTS;

/// What both parties derive from the public sizes.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) items: ShortItems,
    pub(super) table: Table,
    /// A bin has `parts` · `slots` slots: a comparison in bins has at most [`Bins::MAX_SLOTS`] at
    /// once.
    pub(super) parts: usize,
    slots: usize,
    /// Bits of a value that is compared in a bin.
    bin_bits: u32,
    /// Whether remainders are so short that empty slots and empty bins need a bit to differ.
    is_widened: bool,
    n_x: usize,
}

impl Plan {
    pub(super) fn new(params: &PsiParams) -> Self {
        let items = ShortItems::new(params);
        let table = Table::phasing_two_way(params.receiver_len());
        let n_x = params.sender_len();
        let load = max_load(table.functions() * n_x, table.bins(), params.runs()).max(1);
        let parts = load.div_ceil(Bins::MAX_SLOTS);
        let value_bits = Locations::permuted_value_bits(&table, items.bits());
        let is_widened = value_bits == 2;
        let bin_bits = value_bits + u32::from(is_widened);
        Self { items, table, parts, slots: load.div_ceil(parts), bin_bits, is_widened, n_x }
    }

    pub(super) fn bins(&self) -> Bins {
        let count = self.table.bins() * self.parts;
        Bins { count, slots: self.slots, width: self.bin_bits as usize }
    }

    /// The comparisons with the stash: whole groups of items, and the rest.
    pub(super) fn stash(&self) -> [Bins; 2] {
        let width = self.items.bits() as usize;
        let (groups, rest) = (self.n_x / STASH_SLOTS, self.n_x % STASH_SLOTS);
        let places = self.table.stash();
        let of_rest = if rest == 0 { 0 } else { places };
        [
            Bins { count: places * groups, slots: STASH_SLOTS, width },
            Bins { count: of_rest, slots: rest, width },
        ]
    }

    /// The value in empty slots of the sender, and in empty bins of the receiver.
    pub(super) fn nothing(&self, role: Role) -> u128 {
        let index = NO_FUNCTION << (self.bin_bits - 2 - u32::from(self.is_widened));
        match (role, self.is_widened) {
            (Role::Sender, _) => index,
            (_, false) => index | 1,
            (_, true) => index | 1 << (self.bin_bits - 1),
        }
    }
}

/// A party's set in bins and stash.
pub(super) enum Own {
    Sender {
        items: Arc<Vec<Item>>,
        /// The items as they are compared with the stash.
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
    /// Step 1.
    pub(super) fn new(
        ctx: &mut Context,
        params: &PsiParams,
        plan: &Plan,
        role: Role,
        input: Input,
    ) -> Result<Self> {
        let short = plan.items.shorten(ctx.pool(), params, input.items()).into_owned();
        if short.iter().any(|item| item.integer() == 0) {
            return Err(ParameterError::ReservedItem.into());
        }
        let locations = Locations::permuted(plan.table, params.session(), plan.items.bits());
        let values = input.values().cloned();
        let items = input.into_items();
        if role == Role::Sender {
            let bins = Candidates::new(&locations, &short);
            if !bins.has_room(plan) {
                return Err(ParameterError::HashingFailed.into());
            }
            return Ok(Own::Sender { items, short, bins, values });
        }
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
            .map(|position| position.map_or(0, |position| short[position as usize].integer()))
            .collect();
        let positions = placed.iter().map(|placed| placed.map(|placed| placed.position));
        let positions = positions.chain(in_stash).collect();
        Ok(Own::Receiver { items, positions, bins, stash, values })
    }

    pub(super) fn items(&self) -> &[Item] {
        match self {
            Own::Sender { items, .. } | Own::Receiver { items, .. } => items,
        }
    }
}

/// The sender's items, bin by bin.
pub(super) struct Candidates {
    starts: Vec<u32>,
    pub(super) values: Vec<u128>,
    pub(super) positions: Vec<u32>,
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
    pub(super) fn entries(&self, plan: &Plan, bin: usize) -> Range<usize> {
        let (bin, part) = (bin / plan.parts, bin % plan.parts);
        let (start, end) = (self.starts[bin] as usize, self.starts[bin + 1] as usize);
        (start + part * plan.slots).min(end)..(start + (part + 1) * plan.slots).min(end)
    }

    fn has_room(&self, plan: &Plan) -> bool {
        let most = (plan.parts * plan.slots) as u32;
        self.starts.windows(2).all(|pair| pair[1] - pair[0] <= most)
    }
}
