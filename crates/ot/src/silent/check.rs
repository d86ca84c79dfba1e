//! The consistency check of the trees, from K. Yang, C. Weng, X. Lan, J. Zhang, X. Wang, "Ferret"
//! (CCS 2020) and C. Weng, K. Yang, J. Katz, X. Wang, "Wolverine" (IEEE S&P 2021).
//!
//! The sender has the leaves v, the receiver w = v + e·Δ and the errors e. One spare VOLE is M =
//! K + s·Δ:
//!
//! ```text
//!                ◀────  seed of χ, x = ⟨χ, e⟩ + s  ────
//!                ────  hash(⟨χ, v⟩ + K + x·Δ)  ───▶  hash(⟨χ, w⟩ + M)?
//! ```
//!
//! A sender that deviates in a tree is detected unless it guessed the place of the tree's error;
//! the LPN assumption covers what it learns by not being detected. A receiver that deviates in x
//! can only compare a guess of Δ with the hash. The hash also covers the setup, the seeds of the
//! code and of the trees, and the challenge, so that the parties agree on all of them.

use super::parameters::Group;
use crate::Traffic;
use vesica_core::hash::derive;
use vesica_core::{Block, Misbehaviour, Result, Secret};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use vesica_simd::{gf128, ggm};

const LABEL: &str = "vesica ot 2026 silent check";

/// Length of the sender's response.
const RESPONSE_LEN: usize = 32;

/// Payload bytes of the check.
pub(super) const BYTES: Traffic =
    Traffic { sender_to_receiver: RESPONSE_LEN as u64, receiver_to_sender: 2 * Block::LEN as u64 };

/// χ: the weight of leaf j of tree i is μ_i·χ_j.
pub(super) struct Weights {
    leaves: Vec<Block>,
    trees: Vec<Block>,
}

impl Weights {
    /// The weights for all trees up to the last of `groups`.
    pub(super) fn new(seed: Block, groups: &[Group]) -> Self {
        let longest = groups.iter().map(Group::tree_len).max().unwrap_or(0);
        let trees = groups.iter().map(|group| group.tree + group.trees).max().unwrap_or(0);
        let mut chi = Self { leaves: vec![Block::ZERO; longest], trees: vec![Block::ZERO; trees] };
        let stream = Aes128::new(seed);
        stream.ctr(0, &mut chi.leaves);
        stream.ctr(1 << 64, &mut chi.trees);
        chi
    }

    /// The sum of the tree's leaves, weighted with χ.
    pub(super) fn sum(&self, tree: usize, leaves: &[Block]) -> Block {
        let sum = gf128::inner_product(leaves, &self.leaves[..leaves.len()]);
        gf128::mul(sum, self.trees[tree])
    }

    /// The weight of one leaf; the time does not depend on which.
    pub(super) fn leaf(&self, tree: usize, leaf: usize, tree_len: usize) -> Block {
        gf128::mul(ggm::at(&self.leaves[..tree_len], leaf), self.trees[tree])
    }
}

/// The receiver's message to the sender.
#[derive(Clone, Copy)]
pub(super) struct Challenge {
    /// The seed of χ.
    pub(super) seed: Block,
    pub(super) x: Block,
}

/// A value of the receiver, and its tag: the sender's key plus value·Δ.
#[derive(Clone, Copy)]
pub(super) struct Tagged {
    /// ⟨χ, e⟩ + s.
    pub(super) value: Block,
    /// ⟨χ, w⟩ + M.
    pub(super) tag: Block,
}

/// The common state of both parties before the check: a digest of the setup, and the seeds of the
/// codes and of the trees.
pub(super) struct Check<'a> {
    pub(super) setup: &'a [u8; 32],
    pub(super) code_seed: Block,
    pub(super) tree_seed: Block,
}

impl Check<'_> {
    /// The sender's side: receives the challenge.
    pub(super) fn receive_challenge(&self, ctx: &mut Context) -> Result<Challenge> {
        let mut challenge = [Block::ZERO; 2];
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut challenge))?;
        let [seed, x] = challenge;
        Ok(Challenge { seed, x })
    }

    /// The sender's side: sends the hash of ⟨χ, v⟩ + K + x·Δ; `key` is ⟨χ, v⟩ + K.
    pub(super) fn respond(
        &self,
        ctx: &mut Context,
        challenge: Challenge,
        key: Block,
        delta: &Secret<Block>,
    ) -> Result<()> {
        let expected = key ^ gf128::mul(challenge.x, *delta.expose());
        ctx.peer()?.send(&self.digest(challenge, expected))?;
        ctx.peer()?.flush()
    }

    /// The receiver's side: sends the challenge, and compares the response with the hash of its own
    /// values. `masked` is the sum over the trees plus the spare VOLE, without which the challenge
    /// would reveal something of the errors.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::CorrelationCheckFailed`].
    pub(super) fn verify(&self, ctx: &mut Context, seed: Block, masked: Tagged) -> Result<()> {
        let challenge = Challenge { seed, x: masked.value };
        ctx.peer()?.send(Block::as_bytes(&[challenge.seed, challenge.x]))?;
        let mut response = [0; RESPONSE_LEN];
        ctx.peer()?.recv_into(&mut response)?;
        if response != self.digest(challenge, masked.tag) {
            return Err(Misbehaviour::CorrelationCheckFailed.into());
        }
        Ok(())
    }

    fn digest(&self, Challenge { seed, x }: Challenge, sum: Block) -> [u8; RESPONSE_LEN] {
        let blocks = [self.code_seed, self.tree_seed, seed, x, sum];
        derive(LABEL, &[self.setup, Block::as_bytes(&blocks)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::run;

    const CHECK: Check<'_> =
        Check { setup: &[7; 32], code_seed: Block::new(1), tree_seed: Block::new(2) };

    fn group(tree: usize) -> Group {
        Group { tree, transfer: 0, trees: 1, depth: 3 }
    }

    /// Errors in two trees must not cancel.
    #[test]
    fn every_leaf_of_every_tree_has_a_different_weight() {
        let chi = Weights::new(Block::new(3), &[group(0), group(1)]);
        let unit = |leaf: usize| {
            let mut leaves = [Block::ZERO; 8];
            leaves[leaf] = Block::ONE;
            leaves
        };
        let mut factors: Vec<Block> = (0..16).map(|i| chi.sum(i / 8, &unit(i % 8))).collect();
        for (i, factor) in factors.iter().enumerate() {
            assert_eq!(*factor, chi.leaf(i / 8, i % 8, 8));
        }
        factors.sort_unstable();
        factors.dedup();
        assert_eq!(factors.len(), 16);
    }

    #[test]
    fn the_challenge_is_masked_and_only_the_right_response_is_accepted() {
        let [seed, x, sum, s, m] = [11, 12, 13, 14, 15].map(Block::new);
        for wrong in [Block::ZERO, Block::ONE] {
            let run = run(
                |ctx| {
                    let challenge = CHECK.receive_challenge(ctx)?;
                    assert_eq!((challenge.seed, challenge.x), (seed, x ^ s));
                    CHECK.respond(ctx, challenge, sum ^ wrong ^ m, &Secret::new(Block::ZERO))
                },
                |ctx| CHECK.verify(ctx, seed, Tagged { value: x ^ s, tag: sum ^ m }),
            );
            let expected = match wrong {
                Block::ZERO => Ok(()),
                _ => Err(Misbehaviour::CorrelationCheckFailed.into()),
            };
            assert_eq!(run.receiver, expected);
        }
    }
}
