//! # PWC: pairwise comparisons
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom
//! protocols?", NDSS 2012, §4, Algorithm 1; auditing: §6.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the common items, or the answer to the query; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 5 (`pwc`), 5858 (`pwc_gmw`), for 2^16 items each |
//! | engine | [`vesica_circuit::yao`] or [`vesica_circuit::gmw`] |
//! | bytes | of the engine: σ − 1 gates for each comparison; n_x·n_y comparisons, or fewer when both learn |
//! | cost | grows with the product of the sizes, which is at most 2^28 |
//!
//! ```text
//!   sender: X                                        receiver: Y
//!
//!   1. x_1 … x_n_x, X in random order                1. y_1 … y_n_y, Y in random order
//!
//!   Algorithm 1 [pwc], where both learn the intersection, without bounds; for tile after tile:
//!   2.                ── t ──▶                       matched x_i and y_j of the first t tiles are not compared again
//!   3. e_ij = (x_i = y_j) in the circuit, for some x_i and y_j that are left
//!                     ── e_ij ──▶                    which pairs match
//!   4.                ◀── e_ij ──                    some tiles later
//!   5. the matched x_i                               5. the matched y_j
//!
//!   all comparisons, otherwise:
//!   2. e_ij = (x_i = y_j) in the circuit, for all i and j
//!   3. bounds on Σ e_ij, answers to other queries than the intersection
//!   4. [both] e_i = Σ_j e_ij                         4. e_j = Σ_i e_ij
//!   5. [both] the matched x_i                        5. the matched y_j
//! ```
//!
//! # Early reveal
//!
//! Algorithm 1 reveals each match as it is found, so that neither of its items is compared again.
//! The paper has two threads: the reveals come back while the circuit continues. Here the garbler
//! sends as many tiles ahead as the network holds ([`Window`]): so the network is never idle, and
//! few comparisons are needless. Before each tile it sends the number of tiles whose matches it
//! has, so both parties always leave out the same. Which items are compared next depends on these
//! numbers, which follow from times, and on the matches of these tiles, which both parties know.
//! Both parties permute first, so the order reveals nothing.
//!
//! The sender learns which of its items matched. So Algorithm 1 runs only where both parties are to
//! learn the intersection, and without bounds, as these are checked at the end; all other runs make
//! all comparisons.
//!
//! On shares all comparisons are made in any case: most bytes are those of the transfers, which are
//! made before, and each tile would take some round trips.

mod catalogue;
#[cfg(test)]
mod tests;
mod tiles;

use crate::computed::{self, Circuit, reveal_to, sums_of_groups, value_bits};
pub use catalogue::{GMW_ROW, ROW};
use rand::seq::SliceRandom;
use tiles::{Left, Tile, Tiles};
use vesica_circuit::gadgets::{equal, mask};
use vesica_circuit::{Computation, Lanes, Reveal, word};
use vesica_core::{EarlyReveal, Item, Learns, ParameterError, PsiParams, Query, Result, Role};
use vesica_hashing::ShortItems;
use vesica_net::{Context, Window};
use vesica_ot::Bits;
use vesica_party::answer::positions_of_flags;
use vesica_party::{Input, Output};

/// Most comparisons.
const MAX_COMPARISONS: u64 = 1 << 28;

struct Pwc {
    params: PsiParams,
    items: ShortItems,
    own: Option<Own>,
}

impl Circuit for Pwc {
    const CHOOSER: Role = Role::Sender;

    /// Step 1.
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

    /// Steps 2 to 5.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let width = self.items.bits() as usize;
        let [n_x, n_y] = [self.params.sender_len(), self.params.receiver_len()];
        let own = |role: Role| self.own.as_ref().filter(|own| own.role == role);
        let bits = |role| own(role).map(|own| &own.bits[..]);
        let x = c.input(Role::Sender, bits(Role::Sender), width, n_x)?;
        let y = c.input(Role::Receiver, bits(Role::Receiver), width, n_y)?;
        let is_early = !c.prefers_depth() && reveals_early(&self.params);
        if is_early { self.algorithm_1(c, &x, &y) } else { self.all(c, &x, &y) }
    }

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, items: ShortItems::new(params), own: None }
    }

    /// The matches of a tile answer what was revealed of it. A garbler that is a tile ahead waits
    /// for those of the last two at once, and the first tile goes with what comes before.
    fn public_flights(messages: u64) -> u64 {
        match messages {
            0 => 0,
            _ => (2 * messages).saturating_sub(3).max(1),
        }
    }

    /// One for each tile. No tile matches more items than it has rows or columns, and none follows
    /// where the rows or the columns are used up. A garbler that is far ahead waits for all at
    /// once.
    fn least_public_messages(params: &PsiParams, _messages: u64) -> u64 {
        if params.early_reveal() == EarlyReveal::Paced {
            return 1;
        }
        let [n_x, n_y] = [params.sender_len(), params.receiver_len()];
        let tiles = Tiles::new(n_x, n_y);
        let of_columns = n_y.div_ceil(tiles.rows.min(tiles.columns));
        n_x.div_ceil(tiles.rows).min(of_columns) as u64
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
}

impl Pwc {
    /// Algorithm 1: matches are revealed as they are found.
    fn algorithm_1<C: Computation>(
        &self,
        c: &mut C,
        x: &[C::Wires],
        y: &[C::Wires],
    ) -> Result<Output> {
        let [n_x, n_y] = [self.params.sender_len(), self.params.receiver_len()];
        let tiles = Tiles::new(n_x, n_y);
        let mut window = match self.params.early_reveal() {
            EarlyReveal::Paced if c.role() == Role::Sender => {
                Window::measured(tiles.first_ahead(x.len()))
            }
            _ => Window::fixed(1),
        };
        let mut left = Left::new(n_x, n_y);
        for first_row in (0..n_x).step_by(tiles.rows) {
            let mut next_column = 0;
            while (next_column as usize) < n_y {
                // 2. t; matched x_i and y_j of the first t tiles are not compared again
                if c.role() == Role::Receiver {
                    let t = c.receive_number()?;
                    left.settle_until(c, t)?;
                } else {
                    while left.unsettled() > window.ahead() {
                        left.settle(c, &mut window)?;
                    }
                    c.send_number(left.settled())?;
                }
                let rows = left.rows(first_row, tiles.rows);
                let columns = left.columns(next_column, tiles.columns);
                let Some(last) = columns.last().filter(|_| !rows.is_empty()) else { break };
                // A short tile is the last of its rows.
                next_column = if columns.len() < tiles.columns { n_y as u32 } else { last + 1 };
                // 3. e_ij = (x_i = y_j), for some x_i and y_j that are left; e_ij to the receiver
                let e = self.compare(c, x, y, &rows, &columns)?;
                let e = c.reveal(&[e], Reveal::Receiver)?;
                let e = e.and_then(|mut bits| bits.pop());
                // 4. e_ij back to the sender
                if let Some(e) = &e {
                    c.send_public(e)?;
                }
                if let Some(ctx) = c.context() {
                    ctx.peer()?.flush()?;
                }
                window.sent();
                left.add(Tile { rows, columns, e });
            }
            if let Some(ctx) = c.context() {
                ctx.progress((first_row + tiles.rows).min(n_x) as u64, n_x as u64);
            }
        }
        while left.unsettled() > 0 {
            left.settle(c, &mut window)?;
        }
        // 5. The matched x_i, the matched y_j.
        let Some(own) = &self.own else { return Ok(Output::Nothing) };
        let side = usize::from(own.role != Role::Sender);
        let position = |found: &[u32; 2]| own.order[found[side] as usize] as usize;
        let mut is_common = vec![false; own.order.len()];
        left.matches().iter().for_each(|found| is_common[position(found)] = true);
        Ok(positions_of_flags(&is_common))
    }

    /// All comparisons.
    fn all<C: Computation>(&self, c: &mut C, x: &[C::Wires], y: &[C::Wires]) -> Result<Output> {
        // 2. e_ij = (x_i = y_j) for all i and j; e_i = Σ_j e_ij, e_j = Σ_i e_ij
        let Sums { e_i, e_j } = self.compare_all(c, x, y)?;
        let params = &self.params;
        let mut values = Vec::new();
        if let Query::Sum(of) = params.query() {
            let mine = self.own.as_ref().filter(|own| own.role == of.holder());
            let bits = value_bits(mine.and_then(|own| own.values.as_deref()), of.bits());
            let e = if of.holder() == Role::Sender { &e_i } else { &e_j };
            let all = c.input(of.holder(), bits.as_deref(), of.bits() as usize, e.len())?;
            values = mask(c, e, &all)?;
        }
        // 3. Bounds on Σ e_ij, answers to other queries.
        if let Some(output) = computed::answer(c, params, &e_j, &values)? {
            return Ok(output);
        }
        // 4. e_j, [both] e_i: of the own items, in the random order that the party drew itself.
        let receivers = c.reveal(&[e_j], Reveal::Receiver)?;
        let senders = if reveal_to(params).includes(Role::Sender) {
            c.reveal(&[e_i], Reveal::Sender)?
        } else {
            None
        };
        // 5. The matched y_j, [both] the matched x_i.
        let Some(own) = &self.own else { return Ok(Output::Nothing) };
        let mine = if own.role == Role::Sender { senders } else { receivers };
        let Some([e]) = mine.as_deref() else { return Ok(Output::Nothing) };
        let mut is_common = vec![false; own.order.len()];
        for (position, is_match) in own.order.iter().zip(e.iter()) {
            is_common[*position as usize] = is_match;
        }
        Ok(positions_of_flags(&is_common))
    }

    /// Step 2 of all comparisons.
    fn compare_all<C: Computation>(
        &self,
        c: &mut C,
        x: &[C::Wires],
        y: &[C::Wires],
    ) -> Result<Sums<C::Wires>> {
        let [n_x, n_y] = [self.params.sender_len(), self.params.receiver_len()];
        let mut e_j = c.constant(false, n_y);
        let mut e_i = Vec::new();
        let wide = c.lanes_at_once().max(1);
        let rows_at_once = (wide / n_y).max(1);
        if c.only_counts() {
            for (rows, in_rows) in shares_of(n_x, rows_at_once) {
                for (columns, in_columns) in shares_of(n_y, wide) {
                    let any = vec![c.constant(false, rows * columns); x.len()];
                    c.equal_parts(in_rows * in_columns, |c| equal(c, &any, &any))?;
                }
            }
            return Ok(Sums { e_i: c.constant(false, n_x), e_j });
        }
        for first in (0..n_x).step_by(rows_at_once) {
            let rows: Vec<u32> =
                (first..(first + rows_at_once).min(n_x)).map(|row| row as u32).collect();
            let mut row_matches = c.constant(false, rows.len());
            for first_column in (0..n_y).step_by(wide) {
                let columns = first_column..(first_column + wide).min(n_y);
                let len = columns.len();
                let columns: Vec<u32> = columns.map(|column| column as u32).collect();
                let e = self.compare(c, x, y, &rows, &columns)?;
                let mut sum = e_j.slice(first_column, len);
                for row in 0..rows.len() {
                    sum = c.xor(&sum, &e.slice(row * len, len));
                }
                e_j.put(first_column, &sum);
                let sums = sums_of_groups(c, &e, len);
                row_matches = c.xor(&row_matches, &sums);
            }
            e_i.push(row_matches);
            if let Some(ctx) = c.context() {
                ctx.progress((first + rows.len()) as u64, n_x as u64);
            }
        }
        Ok(Sums { e_i: C::Wires::concat(&e_i), e_j })
    }

    /// e_ij for each i of `rows` and all j of `columns`, row by row.
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
}

/// The lengths of the parts of `len` that are `most` long, but for the last one, with the number of
/// parts of each.
fn shares_of(len: usize, most: usize) -> impl Iterator<Item = (usize, u64)> {
    let parts = [(most, (len / most) as u64), (len % most, 1)];
    parts.into_iter().filter(|(len, times)| *len > 0 && *times > 0)
}

/// Whether both parties may learn the matches one after the other.
fn reveals_early(params: &PsiParams) -> bool {
    params.early_reveal() != EarlyReveal::Never
        && params.learns() == Learns::Both
        && params.query() == Query::Intersection
        && params.bounds().are_none()
}

/// Which items match.
struct Sums<W> {
    /// Of the sender.
    e_i: W,
    /// Of the receiver.
    e_j: W,
}

/// A party's set in random order.
struct Own {
    role: Role,
    order: Vec<u32>,
    bits: Vec<Bits>,
    values: Option<Vec<u64>>,
}
