//! What a party keeps of an item between the tags and the proofs.

use vesica_core::Block;

/// Bits of a proof that are kept: more than any proof has.
const PROOF_BITS: u32 = 96;

/// The place of an item's tag among the sender's, and the proof that the item is common, in 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Below 2^32 − 1.
    pub(super) place: u32,
    /// Its low 96 bits count.
    pub(super) proof: Block,
}

impl Claim {
    /// The place and one in the low 32 bits, the proof above them. Zero stands for no claim.
    pub(super) fn to_block(self) -> Block {
        let place = u128::from(self.place) + 1;
        Block::new(self.proof.get() << (128 - PROOF_BITS) | place)
    }

    /// The claim; `None` for zero.
    pub(super) fn of_block(block: Block) -> Option<Self> {
        let place = (block.get() as u32).checked_sub(1)?;
        Some(Self { place, proof: Block::new(block.get() >> (128 - PROOF_BITS)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_reads_back_and_zero_is_none() {
        assert_eq!(Claim::of_block(Block::ZERO), None);
        for place in [0, 1, u32::MAX - 1] {
            let claim = Claim { place, proof: Block::new(u128::MAX >> 32) };
            assert_eq!(Claim::of_block(claim.to_block()), Some(claim));
        }
    }
}
