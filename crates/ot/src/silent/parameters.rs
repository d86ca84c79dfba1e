//! The tables of LPN parameters and the plan of one extension.

use super::vole::Values;

/// Parameters of primal LPN with regular noise: k seeds, `trees` blocks of 2^`depth` samples with
/// one error each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// k, the length of the table that stays in the cache.
    pub(super) k: usize,
    /// t, the most trees of a step; fewer are a prefix of the same code.
    pub(super) trees: usize,
    /// Levels of a tree.
    pub(super) depth: u32,
}

impl Row {
    /// Samples under one tree.
    pub(super) const fn tree_len(self) -> usize {
        1 << self.depth
    }

    /// Samples of a whole step.
    pub(super) const fn len(self) -> usize {
        self.trees << self.depth
    }
}

/// Noise and coefficients in GF(2), row weight 10.
pub(super) const BINARY: &[Row] = &[
    Row { k: 1 << 15, trees: 620, depth: 9 },
    Row { k: 1 << 16, trees: 850, depth: 10 },
    Row { k: 1 << 17, trees: 1170, depth: 11 },
    Row { k: 1 << 18, trees: 1520, depth: 12 },
];

/// Noise and coefficients in GF(2^128), row weight 10.
pub(super) const FULL: &[Row] = &[
    Row { k: 1 << 15, trees: 620, depth: 9 },
    Row { k: 1 << 16, trees: 850, depth: 10 },
    Row { k: 1 << 17, trees: 1170, depth: 11 },
];

/// Noise in a space over GF(2^16), coefficients in GF(2^16), row weight 10.
pub(super) const SUBFIELD: &[Row] = &[
    Row { k: 5 << 14, trees: 1060, depth: 10 },
    Row { k: 5 << 15, trees: 1460, depth: 11 },
    Row { k: 5 << 16, trees: 1900, depth: 12 },
];

/// Regular noise of the dual code that makes the seeds.
pub(super) const DUAL_TREES: usize = 312;

/// Weight of the expander of the dual code.
pub(super) const EXPANDER_WEIGHT: usize = 21;

/// Up to this many correlations are taken from the extension below as they are: fewer than the
/// dual code's noise would take.
const DIRECT_MAX: usize = 512;

/// How the correlations that an extension starts with are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// By the extension below alone.
    Direct,
    /// By dual LPN with [`DUAL_TREES`] trees of this depth.
    Dual {
        /// Levels of a tree.
        depth: u32,
    },
}

/// What one extension for silent VOLE is made of; both parties compute it from public values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many correlations it gives.
    pub(super) len: usize,
    /// How the first correlations are made.
    pub(super) start: Start,
    /// How many these are: the seeds of the first step and the noise values of all; all of
    /// the result when there are no steps.
    pub(super) start_len: usize,
    /// The steps of primal LPN.
    pub(super) steps: Steps,
}

/// Steps of primal LPN, each made from the first outputs of the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// Their parameters.
    pub(super) row: Row,
    /// The trees of each step; all but the last have the row's.
    pub(super) trees: Vec<usize>,
}

impl Steps {
    pub(super) const fn none() -> Self {
        Self { row: Row { k: 0, trees: 0, depth: 1 }, trees: Vec::new() }
    }

    /// The steps that give `len` outputs by `row`.
    pub(super) fn new(row: Row, len: usize) -> Self {
        let mut trees = Vec::new();
        let mut left = len;
        while left > row.len() {
            trees.push(row.trees);
            left -= row.len() - row.k;
        }
        if left > 0 {
            trees.push(left.div_ceil(row.tree_len()));
        }
        Self { row, trees }
    }

    /// Trees of all steps.
    pub(super) fn all_trees(&self) -> usize {
        self.trees.iter().sum()
    }
}

impl Plan {
    /// The plan for `len` correlations with those values.
    pub(super) fn new(len: usize, values: Values) -> Self {
        if len <= DIRECT_MAX {
            return Self { len, start: Start::Direct, start_len: len, steps: Steps::none() };
        }
        let dual = |start_len, steps| Self {
            len,
            start: Start::Dual { depth: dual_depth(start_len) },
            start_len,
            steps,
        };
        let rows = match values {
            Values::Full => FULL,
            Values::Subfield16 { .. } => SUBFIELD,
        };
        let with_steps = rows.iter().map(|row| {
            let steps = Steps::new(*row, len);
            dual(row.k + steps.all_trees(), steps)
        });
        let plans = with_steps.chain([dual(len, Steps::none())]);
        plans.min_by_key(|plan| plan.cost(values)).expect("at least the plan without steps")
    }

    /// Estimated picoseconds that both parties compute and send; measured on one machine, and
    /// only meant to choose between plans.
    fn cost(&self, values: Values) -> u64 {
        // Of a byte: at 133 Mbit/s, and at 100 Mbit/s where few bytes are wanted.
        let byte = match values {
            Values::Full => 60_000,
            Values::Subfield16 { .. } => 80_000,
        };
        let start = 150_000 * self.start_len as u64;
        let table_bytes = 32 * self.steps.row.k;
        let output = if table_bytes <= 1 << 20 {
            22_000
        } else if table_bytes <= 1 << 21 {
            27_000
        } else {
            40_000
        };
        let steps = output * (self.steps.all_trees() * self.steps.row.tree_len()) as u64;
        start + steps + byte * self.tree_bytes()
    }

    /// Bytes that the sender sends for the trees and the receiver for the transfers in them.
    fn tree_bytes(&self) -> u64 {
        (self.message_blocks() * 16 + self.transfers() * 15 / 8) as u64
    }

    /// Trees of the dual code.
    pub(super) fn dual_trees(&self) -> usize {
        match self.start {
            Start::Direct => 0,
            Start::Dual { .. } => DUAL_TREES,
        }
    }

    /// Levels of a tree of the dual code.
    pub(super) fn dual_depth(&self) -> u32 {
        match self.start {
            Start::Direct => 0,
            Start::Dual { depth } => depth,
        }
    }

    /// Correlated transfers that the dual code's trees take: one a level.
    pub(super) fn dual_transfers(&self) -> usize {
        self.dual_trees() * self.dual_depth() as usize
    }

    /// Correlated transfers that all trees take.
    pub(super) fn transfers(&self) -> usize {
        self.dual_transfers() + self.steps.all_trees() * self.steps.row.depth as usize
    }

    /// VOLEs taken from the extension below: the noise of the dual code, or the result.
    pub(super) fn voles(&self) -> usize {
        match self.start {
            Start::Direct => self.start_len,
            Start::Dual { .. } => DUAL_TREES,
        }
    }

    /// Blocks that the sender sends for its trees: one a level.
    pub(super) fn message_blocks(&self) -> usize {
        self.transfers()
    }
}

/// The least depth at which the dual code has rate at most one half.
fn dual_depth(len: usize) -> u32 {
    (2 * len).div_ceil(DUAL_TREES).next_power_of_two().trailing_zeros().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [Values; 3] =
        [Values::Full, Values::Subfield16 { dim: 5 }, Values::Subfield16 { dim: 6 }];

    #[test]
    fn every_row_cuts_its_seeds_into_whole_trees() {
        for row in [BINARY, FULL, SUBFIELD].concat() {
            assert_eq!(row.k % row.tree_len(), 0, "{row:?}");
            assert!(row.k < row.len(), "{row:?}");
            assert!(row.tree_len().is_multiple_of(super::super::code::TILE), "{row:?}");
        }
    }

    #[test]
    fn steps_give_at_least_what_is_asked_and_less_than_a_tree_more() {
        for row in [BINARY, FULL, SUBFIELD].concat() {
            for len in [1, 2, row.tree_len(), row.len(), row.len() + 1, 5 * row.len(), 1 << 24] {
                let steps = Steps::new(row, len);
                let seeds = (steps.trees.len() - 1) * row.k;
                let outputs = steps.all_trees() * row.tree_len() - seeds;
                assert!(outputs >= len && outputs < len + row.tree_len(), "{row:?}, {len}");
                assert!(steps.trees.iter().all(|trees| (1..=row.trees).contains(trees)));
            }
        }
    }

    #[test]
    fn the_dual_code_has_rate_at_most_one_half() {
        for values in VALUES {
            for len in [513, 1000, 10_000, 50_000, 100_000, 1 << 20, 1 << 24] {
                let plan = Plan::new(len, values);
                assert!(DUAL_TREES << plan.dual_depth() >= 2 * plan.start_len);
                assert!(plan.start_len <= 200_000, "{plan:?}");
            }
        }
    }

    #[test]
    fn large_extensions_cost_few_bytes() {
        let bits = |len, values| 8 * Plan::new(len, values).tree_bytes() / len as u64;
        assert!(bits(1 << 24, Values::Full) < 2);
        assert!(bits(1 << 24, Values::Subfield16 { dim: 5 }) < 1);
    }
}
