//! The tiles of Algorithm 1, and what is left to compare.

use std::collections::VecDeque;
use vesica_circuit::Computation;
use vesica_core::{Block, Misbehaviour, Result};
use vesica_net::Window;
use vesica_ot::Bits;

/// Gates in bytes that a garbler sends before it knows the network: what one of 50 Mbit/s and 80 ms
/// holds.
const FIRST_BYTES: usize = 512 << 10;

/// How Algorithm 1 goes through the comparisons: in small tiles, as only known matches save
/// comparisons.
pub(super) struct Tiles {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Tiles {
    pub(super) fn new(n_x: usize, n_y: usize) -> Self {
        Self { rows: (n_x / 32).clamp(4, 32), columns: (n_y / 16).clamp(8, 64) }
    }

    /// Tiles that are sent before the network is known, for items of `width` bits.
    pub(super) fn first_ahead(&self, width: usize) -> usize {
        let comparison_len = 2 * Block::LEN * width.saturating_sub(1).max(1);
        FIRST_BYTES.div_ceil(self.rows * self.columns * comparison_len)
    }
}

/// Comparisons whose matches are not settled yet.
pub(super) struct Tile {
    pub(super) rows: Vec<u32>,
    pub(super) columns: Vec<u32>,
    /// At the receiver, e of each.
    pub(super) e: Option<Bits>,
}

/// What is left to compare, the same at both parties when they begin a tile.
pub(super) struct Left {
    /// Rows and columns that are not matched in settled tiles, ascending.
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// (row, column) of each match.
    matches: Vec<[u32; 2]>,
    /// Tiles whose matches count.
    settled: u32,
    /// The tiles after them, in order.
    unsettled: VecDeque<Tile>,
}

impl Left {
    pub(super) fn new(n_x: usize, n_y: usize) -> Self {
        Self {
            rows: (0..n_x as u32).collect(),
            columns: (0..n_y as u32).collect(),
            matches: Vec::new(),
            settled: 0,
            unsettled: VecDeque::new(),
        }
    }

    /// The remaining ones of the `count` rows from `first` on.
    pub(super) fn rows(&self, first: usize, count: usize) -> Vec<u32> {
        let rows = between(&self.rows, first as u32, count);
        let end = rows.partition_point(|row| (*row as usize) < first + count);
        rows[..end].to_vec()
    }

    /// The next `count` columns that are left, from `first` on.
    pub(super) fn columns(&self, first: u32, count: usize) -> Vec<u32> {
        between(&self.columns, first, count).to_vec()
    }

    /// (row, column) of each match in the settled tiles.
    pub(super) fn matches(&self) -> &[[u32; 2]] {
        &self.matches
    }

    /// How many tiles are settled.
    pub(super) fn settled(&self) -> u32 {
        self.settled
    }

    /// How many tiles are not.
    pub(super) fn unsettled(&self) -> usize {
        self.unsettled.len()
    }

    pub(super) fn add(&mut self, tile: Tile) {
        self.unsettled.push_back(tile);
    }

    /// Settles tiles until `count` are settled, at the receiver. The sender chooses the number,
    /// within what it can have.
    pub(super) fn settle_until<C: Computation>(&mut self, c: &mut C, count: u32) -> Result<()> {
        let more = count
            .checked_sub(self.settled)
            .map(|more| more as usize)
            .filter(|more| *more <= self.unsettled.len())
            .ok_or(Misbehaviour::InvalidValue)?;
        let mut window = Window::fixed(0);
        (0..more).try_for_each(|_| self.settle(c, &mut window))
    }

    /// Step 4 of Algorithm 1: takes the matches of the oldest tile, which both parties know now.
    pub(super) fn settle<C: Computation>(&mut self, c: &mut C, window: &mut Window) -> Result<()> {
        let Some(Tile { rows, columns, e }) = self.unsettled.pop_front() else { return Ok(()) };
        self.settled += 1;
        let e = match e {
            Some(e) => e,
            None => window.answer(|| c.receive_public(rows.len() * columns.len()))?,
        };
        let before = self.matches.len();
        for (lane, _) in e.iter().enumerate().filter(|(_, is_match)| *is_match) {
            self.matches.push([rows[lane / columns.len()], columns[lane % columns.len()]]);
            // A row and a column match once.
            if self.matches.len() - before > rows.len().min(columns.len()) {
                return Err(Misbehaviour::InvalidValue.into());
            }
        }
        if self.matches.len() == before {
            return Ok(());
        }
        for (side, of) in [&mut self.rows, &mut self.columns].into_iter().enumerate() {
            let mut matched: Vec<u32> =
                self.matches[before..].iter().map(|pair| pair[side]).collect();
            matched.sort_unstable();
            let count = of.len();
            of.retain(|number| matched.binary_search(number).is_err());
            if count - of.len() != matched.len() {
                return Err(Misbehaviour::InvalidValue.into());
            }
        }
        Ok(())
    }
}

/// The next `count` of ascending numbers, from `first` on.
fn between(numbers: &[u32], first: u32, count: usize) -> &[u32] {
    let rest = &numbers[numbers.partition_point(|number| *number < first)..];
    &rest[..count.min(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_circuit::yao;

    fn tile(rows: [u32; 2], columns: [u32; 2], matches: [bool; 4]) -> Tile {
        Tile {
            rows: rows.to_vec(),
            columns: columns.to_vec(),
            e: Some(matches.into_iter().collect()),
        }
    }

    #[test]
    fn only_settled_tiles_change_what_is_left() {
        let mut left = Left::new(4, 4);
        left.add(tile([0, 1], [0, 1], [false, true, false, false]));
        left.add(tile([0, 1], [2, 3], [false, false, true, false]));
        left.settle_until(&mut yao::counting(), 0).unwrap();
        assert_eq!((left.rows(0, 2), left.columns(0, 4)), (vec![0, 1], vec![0, 1, 2, 3]));
        left.settle_until(&mut yao::counting(), 1).unwrap();
        assert_eq!((left.rows(0, 2), left.columns(0, 4)), (vec![1], vec![0, 2, 3]));
        left.settle_until(&mut yao::counting(), 2).unwrap();
        assert_eq!((left.rows(0, 2), left.columns(1, 1)), (vec![], vec![3]));
        assert_eq!(left.matches(), [[0, 1], [1, 2]]);
    }

    #[test]
    fn a_number_of_tiles_that_cannot_be_settled_is_refused() {
        let mut left = Left::new(4, 4);
        for _ in 0..3 {
            left.add(tile([0, 1], [0, 1], [false; 4]));
        }
        left.settle_until(&mut yao::counting(), 2).unwrap();
        for number in [0, 1, 4, u32::MAX] {
            let refused = left.settle_until(&mut yao::counting(), number);
            assert_eq!(refused, Err(Misbehaviour::InvalidValue.into()), "{number}");
            assert_eq!((left.settled(), left.unsettled()), (2, 1));
        }
        left.settle_until(&mut yao::counting(), 3).unwrap();
    }

    #[test]
    fn a_row_that_matches_twice_is_refused() {
        let mut left = Left::new(4, 4);
        left.add(tile([0, 1], [0, 1], [true, false, false, false]));
        left.add(tile([0, 1], [2, 3], [true, false, false, false]));
        let refused = left.settle_until(&mut yao::counting(), 2);
        assert_eq!(refused, Err(Misbehaviour::InvalidValue.into()));
    }
}
