//! # PWC: pairwise comparisons
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom protocols?", NDSS
//! 2012, §4, Algorithm 1; auditing: §6.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of the engine: [`vesica_circuit::yao`] or [`vesica_circuit::gmw`] |
//! | receiver learns | the common items and the sender's size, or the answer to the query |
//! | sender learns | the receiver's size; when both learn, the common items; with bounds whether the number of matches is inside |
//! | bytes | of the engine: σ − 1 gates for each comparison; n_x·n_y comparisons, or fewer when both learn |
//! | cost | grows with the product of the sizes, which is at most 2^28 |
//!
//! ```text
//!   sender: X, permuted                       receiver: Y, permuted
//!
//!   for some x_i and y_j not matched yet:     e_ij = (x_i = y_j)
//!                ────   e_ij for the receiver alone   ───▶
//!                ◀────   e_ij   ────                            some tiles later
//! ```
//!
//! # Early reveal
//!
//! The comparisons are made in tiles of some rows and columns. Each match is revealed as it is found, so that
//! neither of its items is compared again: what the two then compare depends on the matches found so far, and on
//! nothing else. The sender goes on while the reveals of two tiles are under way. Both parties permute first, so the
//! order says nothing.
//!
//! This tells the sender which of its items matched. So it is done only where both parties are to learn the
//! intersection, and without bounds, as these are checked at the end; all other runs make all comparisons.

#[cfg(test)]
mod tests;

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security};
use crate::computed::{
    self, Circuit, Gmw, Yao, positions_of_flags, sums_of_groups, told, value_bits,
};
use crate::{Input, Output};
use rand::seq::SliceRandom;
use std::collections::VecDeque;
use vesica_circuit::gadgets::{equal, mask};
use vesica_circuit::{Computation, Lanes, Reveal, word};
use vesica_core::{Item, Learns, Misbehaviour, ParameterError, PsiParams, Query, Result, Role};
use vesica_hashing::ShortItems;
use vesica_net::Context;
use vesica_ot::Bits;

/// Most comparisons.
const MAX_COMPARISONS: u64 = 1 << 28;

/// How the early reveal goes through the comparisons.
struct Tiles {
    rows: usize,
    columns: usize,
    /// Tiles that may be on their way before the matches of the first of them are known.
    ahead: usize,
}

impl Tiles {
    /// Where gates wait for nobody: small, as matches that are not known yet save nothing.
    fn garbled(n_x: usize, n_y: usize) -> Self {
        Self { rows: (n_x / 32).clamp(4, 32), columns: (n_y / 16).clamp(8, 64), ahead: 1 }
    }

    /// Where every layer of gates is a round, and rounds follow each other.
    const SHARED: Self = Self { rows: 256, columns: 512, ahead: 0 };
}

pub(crate) const ROW: Protocol = Protocol {
    id: "pwc",
    name: "PWC: pairwise comparisons, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 4 and 6",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: "the receiver's set size; with bounds, whether the number of matches is inside",
    receiver_learns: "the common items, or the answer to the query; the sender's set size",
    flights: computed::flights::<Pwc, Yao>,
    bytes_formula: "32 * (sigma - 1) * n_x * n_y for the gates, fewer when both learn; inputs and transfers besides",
    bytes: computed::bytes::<Pwc, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Pwc, Yao>(params),
    usable_set_len: None,
    named_only: true,
    item_bits: 1..=128,
    reserves_zero: false,
    bounds: BoundsKept::ByComputation,
    wide_values: false,
    bytes_depend_on_result: true,
    compared: |params| Compared::items(ShortItems::new(params).bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Pwc, Yao>,
    receiver: computed::receiver::<Pwc, Yao>,
};

pub(crate) const GMW_ROW: Protocol = Protocol {
    id: "pwc_gmw",
    name: "PWC: pairwise comparisons, on shares",
    flights: computed::flights::<Pwc, Gmw>,
    bytes_formula: "4 bits for each of (sigma - 1) * n_x * n_y gates, fewer when both learn; transfers besides",
    bytes: computed::bytes::<Pwc, Gmw>,
    seconds: |params| 0.02 + 5.0e-8 * computed::gates::<Pwc, Gmw>(params),
    sender: computed::sender::<Pwc, Gmw>,
    receiver: computed::receiver::<Pwc, Gmw>,
    ..ROW
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "length of compared items",
        value: "sigma, at most 40 + log n_x + log max(n_x, n_y) bits; longer ones are hashed",
        source: "Phasing, USENIX Security 2015, section 8",
    },
    Parameter {
        name: "comparisons",
        value: "n_x * n_y, at most 2^28",
        source: "NDSS 2012, section 4",
    },
];

struct Pwc {
    params: PsiParams,
    items: ShortItems,
    own: Option<Own>,
}

/// A party's set in random order.
struct Own {
    role: Role,
    order: Vec<u32>,
    bits: Vec<Bits>,
    values: Option<Vec<u64>>,
}

/// Comparisons whose matches are not known to both yet.
struct Tile {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// At the receiver, which they are.
    found: Option<Bits>,
}

/// What both know of the matches while they compare.
struct Left {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// (row, column) of each match.
    matches: Vec<[u32; 2]>,
}

impl Circuit for Pwc {
    const CHOOSER: Role = Role::Sender;

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, items: ShortItems::new(params), own: None }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        let [n_x, n_y] = [params.sender_len(), params.receiver_len()];
        let comparisons = n_x as u64 * n_y as u64;
        if comparisons > MAX_COMPARISONS {
            let max = MAX_COMPARISONS / n_x.min(n_y) as u64;
            return Err(ParameterError::SetTooLarge { len: n_x.max(n_y) as u64, max }.into());
        }
        computed::check_set(params, role, input)
    }

    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let public = Self::public(params);
        let mut order: Vec<u32> = (0..input.items().len() as u32).collect();
        order.shuffle(ctx.rng());
        let short = public.items.shorten(ctx.pool(), params, input.items());
        let permuted: Vec<Item> = order.iter().map(|i| short[*i as usize]).collect();
        let bits = word::bits_of_items(&permuted, public.items.bits() as usize);
        let values =
            input.values().map(|values| order.iter().map(|i| values[*i as usize]).collect());
        Ok(Self { own: Some(Own { role, order, bits, values }), ..public })
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let width = self.items.bits() as usize;
        let [n_x, n_y] = [self.params.sender_len(), self.params.receiver_len()];
        let own = |role: Role| self.own.as_ref().filter(|own| own.role == role);
        let bits = |role| own(role).map(|own| &own.bits[..]);
        let x = c.input(Role::Sender, bits(Role::Sender), width, n_x)?;
        let y = c.input(Role::Receiver, bits(Role::Receiver), width, n_y)?;
        let params = &self.params;
        let reveals_early = params.learns() == Learns::Both
            && params.query() == Query::Intersection
            && params.bounds().are_none();
        if reveals_early { self.early(c, &x, &y) } else { self.all(c, &x, &y) }
    }
}

impl Pwc {
    /// Algorithm 1: matches are revealed as they are found.
    fn early<C: Computation>(&self, c: &mut C, x: &[C::Wires], y: &[C::Wires]) -> Result<Output> {
        let [n_x, n_y] = [self.params.sender_len(), self.params.receiver_len()];
        let tiles = match c.prefers_depth() {
            true => Tiles::SHARED,
            false => Tiles::garbled(n_x, n_y),
        };
        let mut left = Left {
            rows: (0..n_x as u32).collect(),
            columns: (0..n_y as u32).collect(),
            matches: Vec::new(),
        };
        let mut pending = VecDeque::new();
        for first_row in (0..n_x).step_by(tiles.rows) {
            let mut next_column = 0;
            loop {
                while pending.len() > tiles.ahead {
                    settle(c, &mut pending, &mut left)?;
                }
                let rows = between(&left.rows, first_row as u32, tiles.rows);
                let rows: Vec<u32> = rows
                    .iter()
                    .copied()
                    .take_while(|row| (*row as usize) < first_row + tiles.rows)
                    .collect();
                let columns = between(&left.columns, next_column, tiles.columns).to_vec();
                let Some(last) = columns.last().filter(|_| !rows.is_empty()) else { break };
                next_column = last + 1;
                let is_equal = self.compare(c, x, y, &rows, &columns)?;
                let found = c.reveal(&[is_equal], Reveal::Receiver)?;
                let found = found.and_then(|mut bits| bits.pop());
                if let Some(found) = &found {
                    c.send_public(found)?;
                }
                pending.push_back(Tile { rows, columns, found });
            }
            if let Some(ctx) = c.context() {
                ctx.progress((first_row + tiles.rows).min(n_x) as u64, n_x as u64);
            }
        }
        while !pending.is_empty() {
            settle(c, &mut pending, &mut left)?;
        }
        let Some(own) = &self.own else { return Ok(Output::Nothing) };
        let side = usize::from(own.role != Role::Sender);
        let position = |found: &[u32; 2]| own.order[found[side] as usize] as usize;
        let mut is_common = vec![false; own.order.len()];
        left.matches.iter().for_each(|found| is_common[position(found)] = true);
        Ok(positions_of_flags(&is_common))
    }

    /// Compares each of `rows` of x with all `columns` of y, row by row.
    fn compare<C: Computation>(
        &self,
        c: &mut C,
        x: &[C::Wires],
        y: &[C::Wires],
        rows: &[u32],
        columns: &[u32],
    ) -> Result<C::Wires> {
        if c.only_counts() {
            let any = vec![c.constant(false, rows.len() * columns.len()); x.len()];
            return equal(c, &any, &any);
        }
        let row_of = rows.iter().flat_map(|row| std::iter::repeat_n(*row, columns.len()));
        let row_of: Vec<u32> = row_of.collect();
        let column_of: Vec<u32> = rows.iter().flat_map(|_| columns.iter().copied()).collect();
        equal(c, &word::gather(x, &row_of), &word::gather(y, &column_of))
    }

    /// All comparisons, and what is told of all matches together.
    fn all<C: Computation>(&self, c: &mut C, x: &[C::Wires], y: &[C::Wires]) -> Result<Output> {
        let params = &self.params;
        let [n_x, n_y] = [params.sender_len(), params.receiver_len()];
        let mut of_y = c.constant(false, n_y);
        let mut of_x = Vec::new();
        let wide = c.lanes_at_once().max(1);
        let rows_at_once = (wide / n_y).max(1);
        for first in (0..n_x).step_by(rows_at_once) {
            let rows: Vec<u32> =
                (first..(first + rows_at_once).min(n_x)).map(|row| row as u32).collect();
            let mut row_matches = c.constant(false, rows.len());
            for first_column in (0..n_y).step_by(wide) {
                let columns = first_column..(first_column + wide).min(n_y);
                let len = columns.len();
                let columns: Vec<u32> = columns.map(|column| column as u32).collect();
                let is_equal = self.compare(c, x, y, &rows, &columns)?;
                let mut sum = of_y.slice(first_column, len);
                for row in 0..if c.only_counts() { 0 } else { rows.len() } {
                    sum = c.xor(&sum, &is_equal.slice(row * len, len));
                }
                of_y.put(first_column, &sum);
                if !c.only_counts() {
                    let sums = sums_of_groups(c, &is_equal, len);
                    row_matches = c.xor(&row_matches, &sums);
                }
            }
            of_x.push(row_matches);
            if let Some(ctx) = c.context() {
                ctx.progress((first + rows.len()) as u64, n_x as u64);
            }
        }
        let of_x = C::Wires::concat(&of_x);
        let mut values = Vec::new();
        if let Query::Sum(of) = params.query() {
            let mine = self.own.as_ref().filter(|own| own.role == of.holder());
            let bits = value_bits(mine.and_then(|own| own.values.as_deref()), of.bits());
            let matches = if of.holder() == Role::Sender { &of_x } else { &of_y };
            let all = c.input(of.holder(), bits.as_deref(), of.bits() as usize, matches.len())?;
            values = mask(c, matches, &all)?;
        }
        if let Some(output) = computed::answer(c, params, &of_y, &values)? {
            return Ok(output);
        }
        // Each is told of its own items, in the order that it made random itself.
        let receivers = c.reveal(&[of_y], Reveal::Receiver)?;
        let senders = match told(params).includes(Role::Sender) {
            true => c.reveal(&[of_x], Reveal::Sender)?,
            false => None,
        };
        let Some(own) = &self.own else { return Ok(Output::Nothing) };
        let mine = if own.role == Role::Sender { senders } else { receivers };
        let Some([bits]) = mine.as_deref() else { return Ok(Output::Nothing) };
        let mut is_common = vec![false; own.order.len()];
        for (position, is_match) in own.order.iter().zip(bits.iter()) {
            is_common[*position as usize] = is_match;
        }
        Ok(positions_of_flags(&is_common))
    }
}

/// The next `count` of ascending numbers, from `first` on.
fn between(numbers: &[u32], first: u32, count: usize) -> &[u32] {
    let rest = &numbers[numbers.partition_point(|number| *number < first)..];
    &rest[..count.min(rest.len())]
}

/// Takes the matches of the oldest tile, which both parties know now.
fn settle<C: Computation>(c: &mut C, pending: &mut VecDeque<Tile>, left: &mut Left) -> Result<()> {
    let Some(Tile { rows, columns, found }) = pending.pop_front() else { return Ok(()) };
    let found = match found {
        Some(found) => found,
        None => c.receive_public(rows.len() * columns.len())?,
    };
    let before = left.matches.len();
    for (lane, _) in found.iter().enumerate().filter(|(_, is_match)| *is_match) {
        left.matches.push([rows[lane / columns.len()], columns[lane % columns.len()]]);
        // A row and a column match once.
        if left.matches.len() - before > rows.len().min(columns.len()) {
            return Err(Misbehaviour::InvalidValue.into());
        }
    }
    if left.matches.len() == before {
        return Ok(());
    }
    for (side, of) in [&mut left.rows, &mut left.columns].into_iter().enumerate() {
        let mut matched: Vec<u32> = left.matches[before..].iter().map(|pair| pair[side]).collect();
        matched.sort_unstable();
        let count = of.len();
        of.retain(|number| matched.binary_search(number).is_err());
        if count - of.len() != matched.len() {
            return Err(Misbehaviour::InvalidValue.into());
        }
    }
    Ok(())
}
