//! C: the pseudorandom code.

use super::{ROW_BLOCKS, Row};
use vesica_core::hash::derive_into;
use vesica_core::{Block, SessionId};
use vesica_simd::aes::{Aes128, encrypt_under_four};

const CODE_KEYS: &str = "vesica v1 kkrt code";

/// AES under four keys derived from the session; public.
pub(super) struct Code {
    ciphers: [Aes128; ROW_BLOCKS],
}

impl Code {
    pub(super) fn new(session: &SessionId) -> Self {
        let mut keys = [Block::ZERO; ROW_BLOCKS];
        derive_into(CODE_KEYS, &[session.as_bytes()], Block::as_bytes_mut(&mut keys));
        Self { ciphers: keys.map(Aes128::new) }
    }

    /// Sets `out` to the codewords of `inputs`, 512 bits each.
    pub(super) fn codewords(&self, inputs: &[Block], out: &mut [Row]) {
        encrypt_under_four(&self.ciphers, inputs, out);
    }
}
