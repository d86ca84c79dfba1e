//! The receiver's trees of one extension, with one error per tree.

use super::check::Weights;
use super::parameters::Group;
use super::tree::{Functions, Leaves, Punctured};
use crate::Cots;
use rayon::prelude::*;
use vesica_core::{Block, Result, Secret};
use vesica_net::{Context, Pool};
use vesica_simd::{gf128, ggm};
use zeroize::Zeroizing;

/// Punctured trees and their errors.
pub(super) struct ReceiverTrees {
    kind: Leaves,
    punctured: Vec<Punctured>,
    /// The errors; empty if the leaves are correlated, where all errors are one.
    values: Secret<Vec<Block>>,
}

impl ReceiverTrees {
    /// Receives the sender's messages for the groups' trees. `values` holds the errors and `blocks`
    /// their M; both are empty if the leaves are correlated.
    pub(super) fn receive(
        ctx: &mut Context,
        functions: &Functions,
        kind: Leaves,
        groups: &[Group],
        cots: &Cots,
        values: Vec<Block>,
        blocks: &[Block],
    ) -> Result<Self> {
        let mut punctured = Vec::with_capacity(groups.iter().map(|group| group.trees).sum());
        let mut blocks = blocks.iter();
        for group in groups {
            let (depth, message_len) = (group.depth, kind.message_len(group.depth));
            let mut message = vec![Block::ZERO; group.trees * message_len];
            ctx.peer()?.recv_into(Block::as_bytes_mut(&mut message))?;
            for (i, message) in message.chunks_exact_mut(message_len).enumerate() {
                if let Some(block) = blocks.next() {
                    message[depth - 1] ^= *block;
                }
                let transfers = group.transfer + i * depth..group.transfer + (i + 1) * depth;
                let choices = transfers.clone().map(|i| cots.choices.get(i));
                let keys = &cots.blocks[transfers];
                punctured.push(Punctured::new(functions, group.tree + i, choices, keys, message));
            }
        }
        Ok(Self { kind, punctured, values: Secret::new(values) })
    }

    /// No trees.
    pub(super) fn none(kind: Leaves) -> Self {
        Self { kind, punctured: Vec::new(), values: Secret::new(Vec::new()) }
    }

    /// Sets `leaves` to the leaves of the `i`-th tree.
    pub(super) fn leaves(&self, functions: &Functions, i: usize, leaves: &mut [Block]) {
        self.punctured[i].leaves(functions, self.kind, leaves);
    }

    /// Sets `errors` to the errors of the `i`-th tree: zero in all places but one.
    pub(super) fn errors(&self, i: usize, errors: &mut [Block]) {
        errors.fill(Block::ZERO);
        ggm::add_at(errors, self.punctured[i].alpha, self.values.expose()[i]);
    }

    /// The place of the error in the `i`-th tree.
    pub(super) fn alpha(&self, i: usize) -> usize {
        self.punctured[i].alpha
    }

    /// Errors and leaves of all trees, which must have the same number of leaves.
    pub(super) fn all(
        &self,
        pool: &Pool,
        functions: &Functions,
        tree_len: usize,
    ) -> [Vec<Block>; 2] {
        let mut columns = [(); 2].map(|()| vec![Block::ZERO; self.punctured.len() * tree_len]);
        let [errors, leaves] = &mut columns;
        pool.run(|| {
            let trees = errors.par_chunks_mut(tree_len).zip(leaves.par_chunks_mut(tree_len));
            trees.enumerate().for_each(|(i, (errors, leaves))| {
                self.errors(i, errors);
                self.leaves(functions, i, leaves);
            });
        });
        columns
    }

    /// ⟨χ, e⟩ and ⟨χ, w⟩ over all trees; `groups` lists them.
    pub(super) fn sums(
        &self,
        pool: &Pool,
        functions: &Functions,
        chi: &Weights,
        groups: &[Group],
    ) -> [Block; 2] {
        let first = groups.first().map_or(0, |group| group.tree);
        let add = |a: [Block; 2], b: [Block; 2]| [a[0] ^ b[0], a[1] ^ b[1]];
        let of_group = |group: &Group| {
            let scratch = || Zeroizing::new(vec![Block::ZERO; group.tree_len()]);
            let sums = (group.tree..group.tree + group.trees).into_par_iter().map_init(
                scratch,
                |leaves, tree| {
                    let i = tree - first;
                    self.leaves(functions, i, leaves);
                    let chi_alpha = chi.leaf(tree, self.alpha(i), group.tree_len());
                    let error = match self.kind {
                        Leaves::Correlated => chi_alpha,
                        Leaves::Hashed => gf128::mul(chi_alpha, self.values.expose()[i]),
                    };
                    [error, chi.sum(tree, leaves)]
                },
            );
            sums.reduce(|| [Block::ZERO; 2], add)
        };
        pool.run(|| groups.iter().map(of_group).fold([Block::ZERO; 2], add))
    }
}
