//! Many transfers in several extensions, and their hashes.

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
    /// Maximum number of transfers per extension, which limits the memory of its trees.
    pub const LONGEST: u64 = 1 << 29;

    /// `len` transfers in as few extensions as [`LONGEST`](Self::LONGEST) allows.
    pub const fn new(len: u64) -> Self {
        Self::bounded(len, Self::LONGEST)
    }

    /// `len` transfers in extensions of at most `longest`, which is clamped to 1 and
    /// [`LONGEST`](Self::LONGEST).
    pub const fn bounded(len: u64, longest: u64) -> Self {
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

    /// Flights: one from the sender, then for each extension one from the receiver and one from the
    /// sender. The latter is missing if the transfers come directly from the extension below silent
    /// transfer.
    pub fn flights(self) -> u64 {
        let is_silent = |len| cot::extend_bytes::<SemiHonest>(len).sender_to_receiver > 0;
        1 + self.lens().map(|len| 1 + u64::from(is_silent(len))).sum::<u64>().max(1)
    }
}

/// The hashes for the pieces of a session: π(x) ⊕ x, with a separate key of π for each piece.
///
/// The hash is correlation robust. That suffices if the inputs come from an honest extension and do
/// not repeat under a key. Few inputs per key bound an attacker's gain from many inputs.
#[derive(Clone, Copy, Debug)]
pub struct Hashes {
    label: &'static str,
    session: SessionId,
    next: u64,
}

impl Hashes {
    /// The hashes of a session; `label` separates different uses of transfers.
    pub const fn new(label: &'static str, session: &SessionId) -> Self {
        Self { label, session: *session, next: 0 }
    }

    /// The next hash; both parties take hashes in the same order.
    pub fn next_piece(&mut self) -> Aes128 {
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
    fn extensions_add_up_and_respect_the_limit() {
        for (len, longest, expected) in [
            (0, 5, vec![]),
            (5, 5, vec![5]),
            (11, 5, vec![5, 5, 1]),
            (3, 0, vec![1, 1, 1]),
            (1 << 30, u64::MAX, vec![1 << 29, 1 << 29]),
        ] {
            let lens: Vec<usize> = Extensions::bounded(len, longest).lens().collect();
            assert_eq!(lens, expected);
        }
    }

    #[test]
    fn all_hashes_differ() {
        let session = |byte| SessionId::from_bytes([byte; 32]);
        let mut hashes = [Hashes::new("a", &session(1)), Hashes::new("b", &session(1))];
        let [a, b] = hashes.each_mut().map(|hashes| hashes.next_piece().encrypt_block(Block::ZERO));
        let c = hashes[0].next_piece().encrypt_block(Block::ZERO);
        let d = Hashes::new("a", &session(2)).next_piece().encrypt_block(Block::ZERO);
        let mut all = vec![a, b, c, d];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
    }
}
