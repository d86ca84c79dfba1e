//! The consistency check of the trees, that of K. Yang, C. Weng, X. Lan, J. Zhang, X. Wang, "Ferret" (CCS 2020) and
//! C. Weng, K. Yang, J. Katz, X. Wang, "Wolverine" (IEEE S&P 2021).
//!
//! With leaves v at the sender, w = v + e·Δ and errors e at the receiver, and one spare
//! VOLE M = K + s·Δ:
//!
//! ```text
//!                ◀────  seed of χ, x = ⟨χ, e⟩ + s  ────
//!                ────  hash(⟨χ, v⟩ + K + x·Δ)  ───▶  hash(⟨χ, w⟩ + M)?
//! ```
//!
//! A sender that deviates in a tree is caught unless it has guessed where the tree's error is; what it
//! learns by not being caught is within the LPN assumption. A receiver that deviates in x can
//! only compare a guess of Δ with the hash. The hash also covers the setup, the seeds of the code and of the
//! trees, and the question, so that the parties agree on all of them.

use super::parameters::Group;
use vesica_core::hash::derive;
use vesica_core::{Block, Misbehaviour, Result, Secret};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use vesica_simd::{gf128, ggm};

const LABEL: &str = "vesica ot 2026 silent check";

/// Length of the sender's answer.
const ANSWER_LEN: usize = 32;

/// Payload bytes of the check, from the sender and from the receiver.
pub(super) const BYTES: (u64, u64) = (ANSWER_LEN as u64, 2 * Block::LEN as u64);

/// χ: that of leaf j of tree i is μ_i·χ_j.
pub(super) struct Challenge {
    leaves: Vec<Block>,
    trees: Vec<Block>,
}

impl Challenge {
    /// For all trees up to the last of `groups`.
    pub(super) fn new(seed: Block, groups: &[Group]) -> Self {
        let longest = groups.iter().map(Group::tree_len).max().unwrap_or(0);
        let trees = groups.iter().map(|group| group.tree + group.trees).max().unwrap_or(0);
        let mut chi = Self { leaves: vec![Block::ZERO; longest], trees: vec![Block::ZERO; trees] };
        let stream = Aes128::new(seed);
        stream.ctr(0, &mut chi.leaves);
        stream.ctr(1 << 64, &mut chi.trees);
        chi
    }

    /// The sum of the tree's leaves, each multiplied by its χ.
    pub(super) fn sum(&self, tree: usize, leaves: &[Block]) -> Block {
        let sum = gf128::inner_product(leaves, &self.leaves[..leaves.len()]);
        gf128::mul(sum, self.trees[tree])
    }

    /// χ of one leaf, in a time that does not depend on which.
    pub(super) fn leaf(&self, tree: usize, leaf: usize, tree_len: usize) -> Block {
        gf128::mul(ggm::at(&self.leaves[..tree_len], leaf), self.trees[tree])
    }
}

/// The receiver's words to the sender.
#[derive(Clone, Copy)]
pub(super) struct Question {
    /// The seed of χ.
    pub(super) seed: Block,
    pub(super) x: Block,
}

/// What both parties hold before the check: a digest of the setup, and the seeds of the codes and of the
/// trees.
pub(super) struct Check<'a> {
    pub(super) setup: &'a [u8; 32],
    pub(super) code_seed: Block,
    pub(super) tree_seed: Block,
}

impl Check<'_> {
    /// The sender's side: receives the question.
    pub(super) fn receive_question(&self, ctx: &mut Context) -> Result<Question> {
        let mut question = [Block::ZERO; 2];
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut question))?;
        let [seed, x] = question;
        Ok(Question { seed, x })
    }

    /// The sender's side: sends the hash of ⟨χ, v⟩ + K + x·Δ; `sum` is ⟨χ, v⟩, `spare` K.
    pub(super) fn answer(
        &self,
        ctx: &mut Context,
        question: Question,
        (sum, spare, delta): (Block, Block, &Secret<Block>),
    ) -> Result<()> {
        let expected = sum ^ spare ^ gf128::mul(question.x, *delta.expose());
        ctx.peer()?.send(&self.digest(question, expected))?;
        ctx.peer()?.flush()
    }

    /// The receiver's side: sends the question, and compares the answer with the hash of what it
    /// computes. `sums` are ⟨χ, e⟩ and ⟨χ, w⟩, `spare` s and M: without s the question would tell of the
    /// errors.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::CorrelationCheckFailed`].
    pub(super) fn ask(
        &self,
        ctx: &mut Context,
        seed: Block,
        sums: [Block; 2],
        spare: [Block; 2],
    ) -> Result<()> {
        let question = Question { seed, x: sums[0] ^ spare[0] };
        let expected = sums[1] ^ spare[1];
        ctx.peer()?.send(Block::as_bytes(&[question.seed, question.x]))?;
        let mut answer = [0; ANSWER_LEN];
        ctx.peer()?.recv_into(&mut answer)?;
        if answer != self.digest(question, expected) {
            return Err(Misbehaviour::CorrelationCheckFailed.into());
        }
        Ok(())
    }

    fn digest(&self, Question { seed, x }: Question, sum: Block) -> [u8; ANSWER_LEN] {
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
    fn every_leaf_of_every_tree_has_a_factor_of_its_own() {
        let chi = Challenge::new(Block::new(3), &[group(0), group(1)]);
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
    fn the_question_is_masked_and_the_right_answer_is_the_only_one() {
        let [seed, x, sum, s, m] = [11, 12, 13, 14, 15].map(Block::new);
        for wrong in [Block::ZERO, Block::ONE] {
            let run = run(
                |ctx| {
                    let question = CHECK.receive_question(ctx)?;
                    assert_eq!((question.seed, question.x), (seed, x ^ s));
                    CHECK.answer(ctx, question, (sum ^ wrong, m, &Secret::new(Block::ZERO)))
                },
                |ctx| CHECK.ask(ctx, seed, [x, sum], [s, m]),
            );
            let expected = match wrong {
                Block::ZERO => Ok(()),
                _ => Err(Misbehaviour::CorrelationCheckFailed.into()),
            };
            assert_eq!(run.receiver, expected);
        }
    }
}
