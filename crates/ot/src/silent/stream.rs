//! The outputs of an extension, tree by tree.

use super::code::Codes;
use super::parameters::Step;
use rayon::prelude::*;
use std::sync::Arc;
use vesica_core::{Block, Error, Result};
use vesica_net::Pool;
use vesica_simd::lpn::Table;
use zeroize::Zeroize;

/// One party's errors, tree by tree.
pub(super) trait Noise<const C: usize>: Send + Sync {
    /// Sets the columns to the errors of tree `tree`, counted over all steps.
    fn fill(&self, tree: usize, columns: [&mut [Block]; C]);
}

impl<N: Noise<C>, const C: usize> Noise<C> for Arc<N> {
    fn fill(&self, tree: usize, columns: [&mut [Block]; C]) {
        (**self).fill(tree, columns);
    }
}

/// Runs the steps of primal LPN on demand; holds the tables of two steps.
pub(super) struct Stream<N, const C: usize> {
    noise: N,
    codes: Codes,
    steps: Vec<Step>,
    table: Table<C>,
    /// The next step's table, if there is a next step.
    next: Table<C>,
    step: usize,
    /// Finished trees of this step.
    done: usize,
    /// Trees of earlier steps.
    earlier: usize,
    /// Outputs that are ready, from index `taken` on.
    ready: [Vec<Block>; C],
    taken: usize,
    /// Outputs not yet taken.
    left: usize,
}

impl<N: Noise<C>, const C: usize> Stream<N, C> {
    /// The stream of `len` outputs that starts from the values `start`: the seeds of the first
    /// step, or all outputs if there are no steps.
    pub(super) fn new(
        pool: &Pool,
        noise: N,
        codes: Codes,
        steps: Vec<Step>,
        len: usize,
        start: [Vec<Block>; C],
    ) -> Self {
        let mut stream = Self {
            noise,
            codes,
            steps,
            table: Table::default(),
            next: Table::default(),
            step: 0,
            done: 0,
            earlier: 0,
            ready: std::array::from_fn(|_| Vec::new()),
            taken: 0,
            left: len,
        };
        if stream.steps.is_empty() {
            stream.ready = start;
        } else {
            stream.table = interleave(start);
            stream.enter(pool, 0);
        }
        stream
    }

    /// Number of outputs left.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Writes the next outputs to `out`.
    ///
    /// # Errors
    /// [`Error::Bug`] if fewer are left, or the columns have different lengths.
    pub(super) fn fill(&mut self, pool: &Pool, mut out: [&mut [Block]; C]) -> Result<()> {
        let len = out[0].len();
        if len > self.left || out.iter().any(|column| column.len() != len) {
            return Err(Error::Bug("a stream of correlations has too few outputs left"));
        }
        self.left -= len;
        let mut at = 0;
        while at < len {
            let ready = self.ready[0].len() - self.taken;
            if ready > 0 {
                let n = ready.min(len - at);
                for (column, ready) in out.iter_mut().zip(&self.ready) {
                    column[at..at + n].copy_from_slice(&ready[self.taken..self.taken + n]);
                }
                self.taken += n;
                at += n;
                continue;
            }
            let Step { row, trees } = self.steps[self.step];
            let trees_left = trees - self.done;
            if trees_left == 0 {
                self.earlier += self.done;
                self.table = std::mem::take(&mut self.next);
                self.enter(pool, self.step + 1);
                continue;
            }
            let tree_len = row.tree_len();
            let trees = ((len - at) / tree_len).min(trees_left);
            if trees > 0 {
                let n = trees * tree_len;
                self.expand(pool, out.each_mut().map(|column| &mut column[at..at + n]));
                at += n;
            } else {
                let trees = pool.len().min(trees_left);
                let mut ready = std::mem::replace(&mut self.ready, [const { Vec::new() }; C]);
                ready.iter_mut().for_each(|column| column.resize(trees * tree_len, Block::ZERO));
                self.expand(pool, ready.each_mut().map(|column| column.as_mut_slice()));
                self.ready = ready;
                self.taken = 0;
            }
        }
        Ok(())
    }

    /// Fills whole trees with the outputs of this step's next trees.
    fn expand(&mut self, pool: &Pool, mut columns: [&mut [Block]; C]) {
        let tree_len = self.steps[self.step].row.tree_len();
        let count = columns[0].len() / tree_len;
        let first = self.done;
        let this = &*self;
        let expand = |tree: usize, mut columns: [&mut [Block]; C]| {
            this.noise.fill(this.earlier + tree, columns.each_mut().map(|column| &mut **column));
            this.codes.add(&this.table, this.step, tree, columns);
        };
        if pool.len() == 1 || count == 1 {
            for i in 0..count {
                let tree = i * tree_len..(i + 1) * tree_len;
                expand(first + i, columns.each_mut().map(|column| &mut column[tree.clone()]));
            }
        } else {
            let mut chunks = columns.map(|column| column.chunks_mut(tree_len));
            let mut parts = Vec::with_capacity(count);
            for i in 0..count {
                let part = chunks.each_mut().map(|chunks| chunks.next().expect("whole trees"));
                parts.push((first + i, part));
            }
            pool.run(|| parts.into_par_iter().for_each(|(tree, part)| expand(tree, part)));
        }
        self.done += count;
    }

    /// Enters step `step` with its table in place; sets aside its first outputs, the next one's
    /// table.
    fn enter(&mut self, pool: &Pool, step: usize) {
        (self.step, self.done) = (step, 0);
        if let Some(next) = self.steps.get(step + 1) {
            let mut seeds = [const { Vec::new() }; C];
            seeds.iter_mut().for_each(|column| column.resize(next.row.k, Block::ZERO));
            self.expand(pool, seeds.each_mut().map(|column| column.as_mut_slice()));
            self.next = interleave(seeds);
        }
    }
}

impl<N, const C: usize> Drop for Stream<N, C> {
    fn drop(&mut self) {
        self.ready.zeroize();
    }
}

/// Interleaves the columns to a table of rows.
fn interleave<const C: usize>(mut columns: [Vec<Block>; C]) -> Table<C> {
    let table = Table::new(columns.each_ref().map(|column| column.as_slice()));
    columns.zeroize();
    table
}
