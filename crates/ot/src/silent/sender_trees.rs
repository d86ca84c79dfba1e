//! The sender's trees of one extension.

use super::check::Weights;
use super::parameters::Group;
use super::tree::{Functions, Leaves, Tree, sender_leaves, sender_message};
use rayon::prelude::*;
use vesica_core::{Block, Result, Secret};
use vesica_net::{Context, Pool};
use zeroize::Zeroizing;

/// The public functions, keys and Δ of the sender's trees.
pub(super) struct SenderTrees {
    pub(super) functions: Functions,
    pub(super) kind: Leaves,
    pub(super) delta: Secret<Block>,
}

impl SenderTrees {
    /// Sends the receiver's messages for the groups' trees. `cots` holds the keys of all transfers,
    /// `noise_keys` those of the errors. `noise_keys` is empty if the leaves are correlated.
    pub(super) fn send(
        &self,
        ctx: &mut Context,
        groups: &[Group],
        cots: &[Block],
        noise_keys: &[Block],
    ) -> Result<()> {
        let mut noise_keys = noise_keys.iter().copied();
        for group in groups {
            let noise_keys: Vec<Block> =
                (0..group.trees).map(|_| noise_keys.next().unwrap_or_default()).collect();
            let message_len = self.kind.message_len(group.depth);
            let mut message = vec![Block::ZERO; group.trees * message_len];
            ctx.pool().run(|| {
                let keys = cots[group.transfers()].par_chunks(group.depth).zip(&noise_keys);
                message.par_chunks_mut(message_len).zip(keys).enumerate().for_each_init(
                    || Zeroizing::new(vec![Block::ZERO; group.tree_len()]),
                    |leaves, (i, (message, (keys, key)))| {
                        let tree = Tree { number: group.tree + i, keys, noise_key: *key };
                        self.message(tree, leaves, message);
                    },
                );
            });
            ctx.peer()?.send(Block::as_bytes(&message))?;
        }
        Ok(())
    }

    /// Like [`send`](Self::send) for one group; returns its leaves.
    pub(super) fn send_and_keep(
        &self,
        ctx: &mut Context,
        group: Group,
        cots: &[Block],
        noise_keys: &[Block],
    ) -> Result<Vec<Block>> {
        let message_len = self.kind.message_len(group.depth);
        let mut leaves = vec![Block::ZERO; group.trees * group.tree_len()];
        let mut message = vec![Block::ZERO; group.trees * message_len];
        ctx.pool().run(|| {
            let messages = message.par_chunks_mut(message_len);
            let parts = leaves.par_chunks_mut(group.tree_len()).zip(messages);
            let inputs = cots[group.transfers()].par_chunks(group.depth).zip(noise_keys);
            parts.zip(inputs).enumerate().for_each(|(i, ((leaves, message), (keys, key)))| {
                let tree = Tree { number: group.tree + i, keys, noise_key: *key };
                self.message(tree, leaves, message);
            });
        });
        ctx.peer()?.send(Block::as_bytes(&message))?;
        Ok(leaves)
    }

    fn message(&self, tree: Tree<'_>, leaves: &mut [Block], message: &mut [Block]) {
        let delta = &self.delta;
        sender_message(&self.functions, self.kind, delta, tree, leaves, message);
    }

    /// The leaves of a tree, from the key of its first transfer.
    pub(super) fn leaves(&self, tree: usize, first_key: Block, leaves: &mut [Block]) {
        let delta = &self.delta;
        sender_leaves(&self.functions, self.kind, delta, tree, first_key, leaves);
    }

    /// ⟨χ, v⟩ over the groups' trees.
    pub(super) fn sum(
        &self,
        pool: &Pool,
        chi: &Weights,
        groups: &[Group],
        cots: &[Block],
    ) -> Block {
        let of_group = |group: &Group| {
            let keys = cots[group.transfers()].par_chunks(group.depth);
            let sums = keys.enumerate().map_init(
                || Zeroizing::new(vec![Block::ZERO; group.tree_len()]),
                |leaves, (i, keys)| {
                    self.leaves(group.tree + i, keys[0], leaves);
                    chi.sum(group.tree + i, leaves)
                },
            );
            sums.reduce(|| Block::ZERO, |a, b| a ^ b)
        };
        pool.run(|| groups.iter().map(of_group).fold(Block::ZERO, |a, b| a ^ b))
    }

    /// The key of each tree's first transfer.
    pub(super) fn first_keys(groups: &[Group], cots: &[Block]) -> Secret<Vec<Block>> {
        let of_group = |group: &Group| cots[group.transfers()].iter().step_by(group.depth);
        Secret::new(groups.iter().flat_map(of_group).copied().collect())
    }
}
