//! The cheap form: one correction of ℓ bits and one bit per switch, on silent OT.

mod holder;
mod router;

pub(super) use holder::Holder;
pub(super) use router::Router;

use super::pieces::{piece_len, rows_bytes};
use super::rows::{last_word_mask, words_of};
use vesica_core::Block;
use vesica_ot::silent::pieces::{Extensions, Hashes};
use vesica_ot::{Bits, Traffic};
use vesica_simd::aes::Aes128;

const HASH_KEY: &str = "vesica switching 2026 correlated form";

/// Switches per message of choice corrections: a multiple of 64.
const ANNOUNCED: usize = 1 << 18;

pub(super) fn bytes(switches: u64, bits: u32) -> Traffic {
    let seed = Traffic { sender_to_receiver: Block::LEN as u64, receiver_to_sender: 0 };
    if switches == 0 {
        return seed;
    }
    let own = Traffic {
        sender_to_receiver: rows_bytes(switches, 1, bits),
        receiver_to_sender: Bits::bytes_len(switches as usize) as u64,
    };
    Extensions::new(switches).bytes() + seed + own
}

pub(super) fn flights(switches: u64) -> u64 {
    let setup = Extensions::new(switches).flights();
    // If the router sends the last flight of the setup, its choice corrections join that flight.
    let joins = setup.is_multiple_of(2);
    setup + 2 - u64::from(joins)
}

/// Number of 128-bit parts of a row, each with its own hash.
fn hashes_of(bits: u32) -> usize {
    words_of(bits).div_ceil(2)
}

/// The hashes of the blocks of a piece, row by row.
struct Pads {
    bits: u32,
    hashes: Hashes,
}

impl Pads {
    fn new(bits: u32, session: &vesica_core::SessionId) -> Self {
        Self { bits, hashes: Hashes::new(HASH_KEY, session) }
    }

    fn piece_len(&self) -> usize {
        piece_len(self.bits, 1)
    }

    /// The hashes of the next piece, one for each 128 bits of a row.
    fn next(&mut self) -> Vec<Aes128> {
        (0..hashes_of(self.bits)).map(|_| self.hashes.next_piece()).collect()
    }
}

/// XORs the `hashes` of each block of `blocks` into `rows`. `hashed` is scratch space of the same
/// length as `blocks`.
fn add_hashed(
    hashes: &[Aes128],
    bits: u32,
    blocks: &[Block],
    hashed: &mut [Block],
    rows: &mut [u64],
) {
    let (words, mask) = (words_of(bits), last_word_mask(bits));
    for (i, hash) in hashes.iter().enumerate() {
        hashed.copy_from_slice(blocks);
        hash.mmo(hashed);
        match words {
            1 => {
                for (row, hash) in rows.iter_mut().zip(&*hashed) {
                    *row ^= hash.get() as u64 & mask;
                }
            }
            2 => {
                for (row, hash) in rows.as_chunks_mut::<2>().0.iter_mut().zip(&*hashed) {
                    row[0] ^= hash.get() as u64;
                    row[1] ^= (hash.get() >> 64) as u64 & mask;
                }
            }
            _ => {
                for (row, hash) in rows.chunks_exact_mut(words).zip(&*hashed) {
                    let last = words - 1;
                    let halves = [hash.get() as u64, (hash.get() >> 64) as u64];
                    for (j, half) in (2 * i..words).zip(halves) {
                        row[j] ^= if j == last { half & mask } else { half };
                    }
                }
            }
        }
    }
}
