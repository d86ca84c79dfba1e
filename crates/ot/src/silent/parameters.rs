//! The tables of LPN parameters, and the plan of one extension.

use super::vole::Values;
use std::ops::Range;
use vesica_core::{ParameterError, Result};

/// Parameters of primal LPN with regular noise: k seeds, and `trees` blocks of 2^`depth` samples
/// with one error each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// k, the length of the table, which stays in the cache.
    pub(super) k: usize,
    /// t, the maximum number of trees per step; fewer trees are a prefix of the same code.
    pub(super) trees: usize,
    /// Levels per tree.
    pub(super) depth: u32,
}

impl Row {
    /// Samples per tree.
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
    Row { k: 1 << 14, trees: 768, depth: 7 },
    Row { k: 1 << 15, trees: 1024, depth: 8 },
    Row { k: 1 << 16, trees: 1024, depth: 9 },
    Row { k: 1 << 17, trees: 1024, depth: 10 },
    Row { k: 1 << 18, trees: 1024, depth: 11 },
];

/// Noise and coefficients in GF(2^128), row weight 10.
pub(super) const FULL: &[Row] = &[
    Row { k: 1 << 14, trees: 1536, depth: 7 },
    Row { k: 1 << 15, trees: 1536, depth: 8 },
    Row { k: 1 << 16, trees: 1536, depth: 9 },
    Row { k: 1 << 17, trees: 1536, depth: 10 },
    Row { k: 1 << 18, trees: 1536, depth: 11 },
];

/// Noise in a space of up to 6 dimensions over GF(2^16), coefficients in GF(2^16), row weight 10.
pub(super) const SUBFIELD: &[Row] = &[
    Row { k: 1 << 14, trees: 576, depth: 7 },
    Row { k: 1 << 15, trees: 640, depth: 8 },
    Row { k: 1 << 16, trees: 640, depth: 9 },
    Row { k: 1 << 17, trees: 640, depth: 10 },
    Row { k: 1 << 18, trees: 640, depth: 11 },
];

/// Regular noise of the dual code that produces the seeds.
pub(super) const DUAL_TREES: usize = 312;

/// Weight of the expander of the dual code.
pub(super) const EXPANDER_WEIGHT: usize = 21;

/// Trees per message.
const TREES_PER_MESSAGE: usize = 512;

/// Maximum number of outputs of the dual code for which the attacks' bits were computed.
const DUAL_MAX: usize = 1 << 22;

/// Maximum number of correlations per extension.
const MAX_LEN: usize = 1 << 32;

/// Up to this number, correlations come directly from the extension below: fewer than the dual
/// code's noise would take.
const DIRECT_MAX: usize = 512;

/// # Errors
/// [`ParameterError::TooManyCorrelations`].
pub(super) fn check_len(len: usize) -> Result<()> {
    if len > MAX_LEN {
        let (len, max) = (len as u64, MAX_LEN as u64);
        return Err(ParameterError::TooManyCorrelations { len, max }.into());
    }
    Ok(())
}

/// The source of the first correlations of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The extension below alone.
    Direct,
    /// Dual LPN with [`DUAL_TREES`] trees of this depth.
    Dual {
        /// Levels per tree.
        depth: u32,
    },
}

/// The plan of one extension for silent VOLE; both parties compute it from public values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VolePlan {
    /// Number of correlations it produces.
    pub(super) len: usize,
    /// The source of the first correlations.
    pub(super) start: Start,
    /// Their number: the seeds of the first step and the noise values of all steps; the whole
    /// result if there are no steps.
    pub(super) start_len: usize,
    /// The steps of primal LPN.
    pub(super) steps: Vec<Step>,
}

/// A step of primal LPN. Its first outputs are the seeds of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Its parameters.
    pub(super) row: Row,
    /// Number of trees, at most the row's.
    pub(super) trees: usize,
}

impl Step {
    /// Number of outputs, including the next step's seeds.
    pub(super) const fn len(self) -> usize {
        self.trees << self.row.depth
    }

    /// Number of correlated transfers for its trees: one per level.
    const fn transfers(self) -> usize {
        self.trees * self.row.depth as usize
    }

    /// The step with at least `len` outputs, which must not exceed the row's.
    fn giving(row: Row, len: usize) -> Self {
        Self { row, trees: len.div_ceil(row.tree_len()) }
    }
}

/// The steps that produce some number of outputs by one row, without a list of them: large numbers
/// take many.
#[derive(Clone, Copy, Debug)]
struct StepCount {
    /// A step by a smaller row, which makes the seeds of the next.
    first: Option<Step>,
    /// The step that is repeated.
    whole: Step,
    repeats: usize,
    last: Step,
}

impl StepCount {
    /// The steps that produce `len` outputs by `row`; a step by `first` makes its seeds.
    fn new(first: Option<Row>, row: Row, len: usize) -> Self {
        // A step's outputs, without the seeds of the next.
        let outputs = row.len() - row.k;
        let repeats = len.saturating_sub(row.len()).div_ceil(outputs);
        Self {
            first: first.map(|first| Step::giving(first, row.k)),
            whole: Step { row, trees: row.trees },
            repeats,
            last: Step::giving(row, len - repeats * outputs),
        }
    }

    /// The seeds of the first step.
    fn seeds(&self) -> usize {
        self.first.unwrap_or(self.whole).row.k
    }

    /// The sum of `of` over all steps.
    fn sum(&self, of: impl Fn(Step) -> u64) -> u64 {
        self.first.map_or(0, &of) + self.repeats as u64 * of(self.whole) + of(self.last)
    }

    fn trees(&self) -> usize {
        self.sum(|step| step.trees as u64) as usize
    }

    /// Number of correlated transfers for the trees: one per level.
    fn transfers(&self) -> usize {
        self.sum(|step| step.transfers() as u64) as usize
    }

    fn list(&self) -> Vec<Step> {
        let repeated = std::iter::repeat_n(self.whole, self.repeats);
        self.first.into_iter().chain(repeated).chain([self.last]).collect()
    }
}

/// Number of trees in all steps.
pub(super) fn all_trees(steps: &[Step]) -> usize {
    steps.iter().map(|step| step.trees).sum()
}

/// Trees of the same depth that share a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The number of the first tree.
    pub(super) tree: usize,
    /// The number of its first transfer.
    pub(super) transfer: usize,
    /// Number of trees.
    pub(super) trees: usize,
    /// Levels per tree, which is also the number of transfers per tree.
    pub(super) depth: usize,
}

impl Group {
    /// The range of the transfers of all its trees.
    pub(super) fn transfers(&self) -> Range<usize> {
        self.transfer..self.transfer + self.trees * self.depth
    }

    /// Leaves per tree.
    pub(super) fn tree_len(&self) -> usize {
        1 << self.depth
    }
}

/// The trees of the steps in order; `tree` and `transfer` are the numbers of the first tree and of
/// its first transfer.
pub(super) fn groups(steps: &[Step], mut tree: usize, mut transfer: usize) -> Vec<Group> {
    let mut groups = Vec::new();
    for step in steps {
        let depth = step.row.depth as usize;
        for start in (0..step.trees).step_by(TREES_PER_MESSAGE) {
            let trees = TREES_PER_MESSAGE.min(step.trees - start);
            groups.push(Group { tree, transfer, trees, depth });
            tree += trees;
            transfer += trees * depth;
        }
    }
    groups
}

impl VolePlan {
    /// The plan for `len` correlations with these values.
    pub(super) fn new(len: usize, values: Values) -> Self {
        if len <= DIRECT_MAX {
            return Self { len, start: Start::Direct, start_len: len, steps: Vec::new() };
        }
        let rows = match values {
            Values::Full => FULL,
            Values::Subfield16 { .. } => SUBFIELD,
        };
        let in_steps = rows.iter().flat_map(|row| {
            first_rows(rows, *row).map(|first| {
                let steps = StepCount::new(first, *row, len);
                (steps.seeds() + steps.trees(), Some(steps))
            })
        });
        let plans = in_steps.chain([(len, None)]).filter(|(start_len, _)| *start_len <= DUAL_MAX);
        let (start_len, steps) = plans
            .min_by_key(|(start_len, steps)| vole_cost(values, *start_len, steps.as_ref()))
            .expect("a plan for each number up to the limit");
        Self {
            len,
            start: Start::Dual { depth: dual_depth(start_len) },
            start_len,
            steps: steps.map(|steps| steps.list()).unwrap_or_default(),
        }
    }

    /// Number of trees in all steps.
    pub(super) fn step_trees(&self) -> usize {
        all_trees(&self.steps)
    }

    /// Number of all trees; those of the dual code come first.
    pub(super) fn trees(&self) -> usize {
        self.dual_trees() + self.step_trees()
    }

    /// The dual code's trees.
    pub(super) fn dual_group(&self) -> Group {
        Group { tree: 0, transfer: 0, trees: self.dual_trees(), depth: self.dual_depth() as usize }
    }

    /// The trees of the steps in order, in groups that share a message.
    pub(super) fn groups(&self) -> Vec<Group> {
        groups(&self.steps, self.dual_trees(), self.dual_transfers())
    }

    /// Number of trees of the dual code.
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

    /// Number of correlated transfers for the dual code's trees: one per level.
    pub(super) fn dual_transfers(&self) -> usize {
        self.dual_trees() * self.dual_depth() as usize
    }

    /// Number of correlated transfers for all trees.
    pub(super) fn transfers(&self) -> usize {
        self.dual_transfers() + self.steps.iter().map(|step| step.transfers()).sum::<usize>()
    }

    /// Number of VOLEs from the extension below: the noise of the dual code, or the result.
    pub(super) fn voles(&self) -> usize {
        match self.start {
            Start::Direct => self.start_len,
            Start::Dual { .. } => DUAL_TREES,
        }
    }

    /// Number of blocks that the sender sends for its trees: one per level.
    pub(super) fn message_blocks(&self) -> usize {
        self.transfers()
    }
}

/// Estimated picoseconds of both parties' computation and communication, if the dual code makes
/// `start_len` correlations and `steps` the others. Measured on one machine; only meant for
/// choosing between plans.
fn vole_cost(values: Values, start_len: usize, steps: Option<&StepCount>) -> u64 {
    // Per byte: at 1 Gbit/s, and at 100 Mbit/s if few bytes matter.
    let byte = match values {
        Values::Full => 8_000,
        Values::Subfield16 { .. } => 80_000,
    };
    let dual_output = if start_len <= 1 << 15 { 100_000 } else { 150_000 };
    let output = |row: Row| match row.k {
        0..=0x8000 => 27_000,
        0x8001..=0x1_0000 => 28_000,
        0x1_0001..=0x2_0000 => 38_000,
        _ => 39_000,
    };
    let outputs = |steps: &StepCount| steps.sum(|step| output(step.row) * step.len() as u64);
    let dual_transfers = DUAL_TREES * dual_depth(start_len) as usize;
    let transfers = dual_transfers + steps.map_or(0, StepCount::transfers);
    dual_output * start_len as u64 + steps.map_or(0, outputs) + byte * tree_bytes(transfers)
}

/// Bytes of the sender for the trees with this number of transfers, and of the receiver for these.
fn tree_bytes(transfers: usize) -> u64 {
    (transfers * 16 + transfers * 15 / 8) as u64
}

/// The plan of one extension for silent correlated transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CotPlan {
    /// Number of transfers from the extension below: the seeds of the first step, or the result.
    pub(super) start_len: usize,
    /// The steps of primal LPN.
    pub(super) steps: Vec<Step>,
}

impl CotPlan {
    /// The plan for `len` transfers.
    pub(super) fn new(len: usize) -> Self {
        let in_steps = BINARY.iter().flat_map(|row| {
            first_rows(BINARY, *row).map(|first| {
                let steps = StepCount::new(first, *row, len);
                (steps.seeds(), Some(steps))
            })
        });
        let plans = in_steps.chain([(len, None)]);
        let (start_len, steps) = plans
            .min_by_key(|(start_len, steps)| cot_cost(*start_len, steps.as_ref()))
            .expect("the plan without steps exists");
        Self { start_len, steps: steps.map(|steps| steps.list()).unwrap_or_default() }
    }

    /// Number of transfers from the extension below.
    pub(super) fn transfers(&self) -> usize {
        self.start_len + self.steps.iter().map(|step| step.transfers()).sum::<usize>()
    }

    /// All trees, in groups that share a message.
    pub(super) fn groups(&self) -> Vec<Group> {
        groups(&self.steps, 0, self.start_len)
    }
}

/// As [`vole_cost`], for `start_len` transfers from the extension below.
fn cot_cost(start_len: usize, steps: Option<&StepCount>) -> u64 {
    let of_trees = steps.map_or(0, StepCount::transfers);
    let transfers = start_len + of_trees;
    let bytes = (16 * of_trees + transfers * 15 / 8) as u64;
    let output = |row: Row| if row.k <= 0x1_0000 { 15_000 } else { 20_000 };
    let outputs = |steps: &StepCount| steps.sum(|step| output(step.row) * step.len() as u64);
    8_000 * bytes + steps.map_or(0, outputs) + 30_000 * transfers as u64
}

/// No step, or a step by a smaller row that makes the seeds of a step by `row`.
fn first_rows(rows: &'static [Row], row: Row) -> impl Iterator<Item = Option<Row>> {
    let smaller = rows.iter().filter(move |first| first.k < row.k && row.k <= first.len());
    std::iter::once(None).chain(smaller.copied().map(Some))
}

/// The smallest depth at which the dual code has rate at most one half.
fn dual_depth(len: usize) -> u32 {
    (2 * len).div_ceil(DUAL_TREES).next_power_of_two().trailing_zeros().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [Values; 3] =
        [Values::Full, Values::Subfield16 { dim: 5 }, Values::Subfield16 { dim: 6 }];

    #[test]
    fn seeds_and_tiles_of_every_row_are_whole_trees() {
        for rows in [BINARY, FULL, SUBFIELD] {
            for (row, larger) in rows.iter().zip(rows.iter().skip(1)) {
                assert!(row.k < larger.k && larger.k.is_multiple_of(row.tree_len()));
            }
            for row in rows {
                assert!(row.k < row.len(), "{row:?}");
                assert!(row.tree_len().is_multiple_of(vesica_simd::lpn::TILE), "{row:?}");
            }
        }
    }

    #[test]
    fn steps_produce_the_requested_number_and_less_than_a_tree_more() {
        for row in [BINARY, FULL, SUBFIELD].concat() {
            for len in [1, 2, row.tree_len(), row.len(), row.len() + 1, 5 * row.len(), 1 << 24] {
                for first in [None, Some(FULL[1])] {
                    let steps = StepCount::new(first, row, len).list();
                    let seeds: usize = steps[1..].iter().map(|step| step.row.k).sum();
                    let outputs = steps.iter().map(|step| step.len()).sum::<usize>() - seeds;
                    assert!(outputs >= len && outputs < len + row.tree_len(), "{row:?}, {len}");
                    assert!(steps.iter().all(|step| (1..=step.row.trees).contains(&step.trees)));
                }
            }
        }
    }

    #[test]
    fn the_dual_code_has_rate_at_most_one_half() {
        for values in VALUES {
            for len in [513, 1000, 10_000, 50_000, 100_000, 1 << 20, 1 << 24] {
                let plan = VolePlan::new(len, values);
                assert!(DUAL_TREES << plan.dual_depth() >= 2 * plan.start_len);
            }
        }
    }

    #[test]
    fn every_number_up_to_the_limit_has_a_plan_and_larger_ones_do_not() {
        for values in VALUES {
            for len in (0..=32).flat_map(|log| [(1 << log) - 1, 1 << log, (3 << log) / 2]) {
                let len = MAX_LEN.min(len);
                assert_eq!(check_len(len), Ok(()));
                assert!(VolePlan::new(len, values).start_len <= DUAL_MAX, "{len}, {values:?}");
            }
        }
        let refused = ParameterError::TooManyCorrelations { len: (1 << 32) + 1, max: 1 << 32 };
        assert_eq!(check_len(MAX_LEN + 1), Err(refused.into()));
    }

    #[test]
    fn large_extensions_cost_few_bytes() {
        let bits =
            |len, values| 8 * tree_bytes(VolePlan::new(len, values).transfers()) / len as u64;
        assert!(bits(1 << 24, Values::Full) <= 3);
        assert!(bits(1 << 24, Values::Subfield16 { dim: 5 }) <= 1);
    }
}
