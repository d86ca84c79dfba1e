//! x‖i as 128 bits, and the hash that places it in the hint.

use super::FUNCTIONS;
use vesica_core::hash::{derive, derive_into};
use vesica_core::{Block, Item, SessionId};
use vesica_simd::aes::Aes128;

const SESSION_LABEL: &str = "vesica v1 programmable oprf session";
const INPUT_LABEL: &str = "vesica v1 programmable oprf input";
const HINT_LABEL: &str = "vesica v1 programmable oprf hint";

/// The session of all steps inside. It differs from the caller's, which other steps may use.
pub(super) fn inner_session(session: &SessionId) -> SessionId {
    SessionId::from_bytes(derive(SESSION_LABEL, &[session.as_bytes()]))
}

/// x‖i for each x and i.
pub(super) struct Inputs([Block; FUNCTIONS]);

impl Inputs {
    pub(super) fn new(session: &SessionId) -> Self {
        let mut of_functions = [Block::ZERO; FUNCTIONS];
        derive_into(INPUT_LABEL, &[session.as_bytes()], Block::as_bytes_mut(&mut of_functions));
        Self(of_functions)
    }

    /// x‖i for one i.
    #[inline]
    pub(super) fn of(&self, item: &Item, function: u8) -> Block {
        Block::from_le_bytes(*item.as_bytes()) ^ self.0[usize::from(function)]
    }

    /// x‖i for every i.
    #[inline]
    pub(super) fn all(&self, item: &Item) -> [Block; FUNCTIONS] {
        self.0.map(|of_function| Block::from_le_bytes(*item.as_bytes()) ^ of_function)
    }
}

/// s, drawn by the programmer.
#[derive(Clone, Copy, Default)]
pub(super) struct HintSeed(pub(super) [u8; HintSeed::LEN]);

impl HintSeed {
    pub(super) const LEN: usize = 32;

    /// The hash from inputs to keys of the hint, π(x) ⊕ x.
    pub(super) fn hash(&self, session: &SessionId) -> Aes128 {
        let mut key = [Block::ZERO];
        let parts: [&[u8]; 2] = [session.as_bytes(), &self.0];
        derive_into(HINT_LABEL, &parts, Block::as_bytes_mut(&mut key));
        Aes128::new(key[0])
    }
}
