//! What a party keeps of an item between the tags and the proofs, in 16 bytes: the place of the
//! item's tag among the sender's and one in the low 32 bits, zero there for an item that is not
//! common; 96 bits of a proof above them.

use vesica_core::{Block, params};

/// Bits of a proof that are kept.
const PROOF_BITS: u32 = 96;

/// The longest proof, rounded to bytes: λ + log2 of the most partitions and of the largest set.
const LONGEST: u32 = (params::STATISTICAL_SECURITY_BITS + 12 + 32).next_multiple_of(8);
const _: () = assert!(LONGEST <= PROOF_BITS);

/// The place of an item's tag, and the proof that the item is common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Below 2^32 − 1.
    pub(super) place: u32,
    /// Its low 96 bits count.
    pub(super) proof: Block,
}

impl Claim {
    /// What is kept of an item with this `proof` that is not common. It differs from item to item,
    /// so that the number of values that are kept reveals nothing about how many are common.
    pub(super) fn none(proof: Block) -> Block {
        Block::new(proof.get() << (128 - PROOF_BITS))
    }

    /// The same for one that is common, or that the peer may prove to be, at this `place`.
    pub(super) fn at(none: Block, place: u32) -> Block {
        Block::new(none.get() | (u128::from(place) + 1))
    }

    /// The claim; `None` if the item is not common.
    pub(super) fn of_block(block: Block) -> Option<Self> {
        let place = (block.get() as u32).checked_sub(1)?;
        Some(Self { place, proof: Block::new(block.get() >> (128 - PROOF_BITS)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_reads_back_and_others_are_none() {
        let proof = Block::new(u128::MAX >> 32);
        let none = Claim::none(proof);
        assert_eq!(Claim::of_block(none), None);
        assert_ne!(none, Claim::none(Block::new(7)), "also those without a claim differ");
        for place in [0, 1, u32::MAX - 1] {
            assert_eq!(Claim::of_block(Claim::at(none, place)), Some(Claim { place, proof }));
        }
    }
}
