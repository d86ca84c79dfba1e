//! Encryption of each block under four keys.

use super::Aes128;
use crate::Block;
use crate::backend::dispatch;

/// Keys per block.
const KEYS: usize = 4;

/// Sets `out[i][j]` to π(`xs[i]`) under `keys[j]`: a pseudorandom codeword of 512 bits for each
/// block.
///
/// # Panics
/// If `xs` and `out` differ in length.
pub fn encrypt_under_four(keys: &[Aes128; 4], xs: &[Block], out: &mut [[Block; 4]]) {
    assert_eq!(xs.len(), out.len(), "one output per block");
    dispatch!(encrypt(keys, xs, out));
}

/// Key by key; only the cipher depends on the backend.
mod portable {
    use super::{Aes128, KEYS};
    use crate::Block;
    use zeroize::Zeroize;

    /// Blocks per step.
    const PIECE: usize = 64;

    pub(super) fn encrypt(keys: &[Aes128; KEYS], xs: &[Block], out: &mut [[Block; KEYS]]) {
        let mut piece = [Block::ZERO; PIECE];
        for (xs, out) in xs.chunks(PIECE).zip(out.chunks_mut(PIECE)) {
            for (j, key) in keys.iter().enumerate() {
                let piece = &mut piece[..xs.len()];
                piece.copy_from_slice(xs);
                key.encrypt(piece);
                out.iter_mut().zip(&*piece).for_each(|(out, block)| out[j] = *block);
            }
        }
        piece.zeroize();
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Aes128, KEYS};
    use crate::Block;

    #[target_feature(enable = "avx2")]
    pub(super) fn encrypt(keys: &[Aes128; KEYS], xs: &[Block], out: &mut [[Block; KEYS]]) {
        super::portable::encrypt(keys, xs, out);
    }
}

/// One lane per key.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Aes128, KEYS};
    use crate::Block;
    use crate::aes::avx512::permute;
    use crate::lanes::{load_1, load_4, store_4};
    use core::arch::x86_64::*;

    /// Blocks in flight: enough to hide the latency of a round.
    const N: usize = 8;

    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    pub(super) fn encrypt(keys: &[Aes128; KEYS], xs: &[Block], out: &mut [[Block; KEYS]]) {
        let mut round_keys = [_mm512_setzero_si512(); 11];
        for (i, round_key) in round_keys.iter_mut().enumerate() {
            *round_key = load_4(&keys.each_ref().map(|key| key.schedule[i]));
        }
        let (batches, rest) = xs.as_chunks::<N>();
        let (out, out_of_rest) = out.as_chunks_mut::<N>();
        for (xs, out) in batches.iter().zip(out) {
            let mut lanes = [_mm512_setzero_si512(); N];
            for (lanes, x) in lanes.iter_mut().zip(xs) {
                *lanes = _mm512_broadcast_i32x4(load_1(x));
            }
            permute(&round_keys, &mut lanes);
            for (lanes, out) in lanes.iter().zip(out) {
                store_4(*lanes, out);
            }
        }
        for (x, out) in rest.iter().zip(out_of_rest) {
            let mut lanes = [_mm512_broadcast_i32x4(load_1(x))];
            permute(&round_keys, &mut lanes);
            store_4(lanes[0], out);
        }
    }
}
