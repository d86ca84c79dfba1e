//! Many transfers by the piece: how they are cut into extensions, and hashed.

use super::cot;
use crate::Traffic;
use vesica_core::hash::derive_into;
use vesica_core::{Block, SemiHonest, SessionId};
use vesica_simd::aes::Aes128;

/// Semi-honest transfers in extensions of bounded length.
#[derive(Clone, Copy, Debug)]
pub struct Extensions {
    len: u64,
    longest: u64,
}

impl Extensions {
    /// Transfers that one extension gives at most: what limits the memory of its trees.
    pub const LONGEST: u64 = 1 << 29;

    /// `len` transfers in as few extensions as [`LONGEST`](Self::LONGEST) allows.
    pub const fn of(len: u64) -> Self {
        Self::of_at_most(len, Self::LONGEST)
    }

    /// `len` transfers in extensions of at most `longest`, which lies between 1 and
    /// [`LONGEST`](Self::LONGEST); others count as the nearer one.
    pub const fn of_at_most(len: u64, longest: u64) -> Self {
        let longest = match longest {
            0 => 1,
            Self::LONGEST.. => Self::LONGEST,
            longest => longest,
        };
        Self { len, longest }
    }

    /// The length of each extension.
    pub fn lens(self) -> impl Iterator<Item = usize> {
        let Self { len, longest } = self;
        (0..len.div_ceil(longest)).map(move |i| (len - i * longest).min(longest) as usize)
    }

    /// Payload bytes of the setup and of all extensions.
    pub fn bytes(self) -> Traffic {
        let extended = self.lens().map(cot::extend_bytes::<SemiHonest>);
        extended.fold(cot::setup_bytes::<SemiHonest>(), |sum, bytes| sum + bytes)
    }

    /// Flights: one from the sender, and for each extension one from the receiver and, unless it comes from the
    /// extension below the silent ones, one from the sender.
    pub fn flights(self) -> u64 {
        let is_silent = |len| cot::extend_bytes::<SemiHonest>(len).sender_to_receiver > 0;
        1 + self.lens().map(|len| 1 + u64::from(is_silent(len))).sum::<u64>().max(1)
    }
}

/// The hashes of the pieces of a session, π(x) ⊕ x with a key of π for each.
///
/// It is correlation robust, which is enough where the inputs are those of an honest extension and do not repeat
/// under a key. What an attacker gains from many inputs under one key is bounded by few being hashed under each.
#[derive(Clone, Copy, Debug)]
pub struct Hashes {
    label: &'static str,
    session: SessionId,
    next: u64,
}

impl Hashes {
    /// The hashes of a session; `label` tells apart what the transfers are used for.
    pub const fn new(label: &'static str, session: &SessionId) -> Self {
        Self { label, session: *session, next: 0 }
    }

    /// The next hash: both parties take them in the same order.
    pub fn of_next_piece(&mut self) -> Aes128 {
        let mut key = [0; Block::LEN];
        derive_into(self.label, &[self.session.as_bytes(), &self.next.to_le_bytes()], &mut key);
        self.next += 1;
        Aes128::new(Block::from_le_bytes(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_add_up_and_none_is_longer_than_allowed() {
        for (len, longest, expected) in [
            (0, 5, vec![]),
            (5, 5, vec![5]),
            (11, 5, vec![5, 5, 1]),
            (3, 0, vec![1, 1, 1]),
            (1 << 30, u64::MAX, vec![1 << 29, 1 << 29]),
        ] {
            let lens: Vec<usize> = Extensions::of_at_most(len, longest).lens().collect();
            assert_eq!(lens, expected);
        }
    }

    #[test]
    fn no_two_hashes_are_equal() {
        let session = |byte| SessionId::from_bytes([byte; 32]);
        let mut hashes = [Hashes::new("a", &session(1)), Hashes::new("b", &session(1))];
        let [a, b] =
            hashes.each_mut().map(|hashes| hashes.of_next_piece().encrypt_block(Block::ZERO));
        let c = hashes[0].of_next_piece().encrypt_block(Block::ZERO);
        let d = Hashes::new("a", &session(2)).of_next_piece().encrypt_block(Block::ZERO);
        let mut all = vec![a, b, c, d];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
    }
}
