//! The papers' form: two ciphertexts of 2ℓ bits per switch, on IKNP.

mod holder;
mod router;

pub(super) use holder::Holder;
pub(super) use router::Router;

use super::packing::bytes_len;
use super::pieces::{piece_len, rows_bytes};
use super::rows::{last_word_mask, words_of};
use vesica_core::{Block, SemiHonest, SessionId};
use vesica_ot::silent::pieces::Hashes;
use vesica_ot::softspoken::{FieldBits, Request, extend_bytes, setup_bytes};
use vesica_ot::{Bits, Traffic};
use vesica_simd::aes::Aes128;

const HASH_KEY: &str = "vesica switching 2026 two ciphertexts";

/// IKNP.
const FIELD_BITS: FieldBits = FieldBits::One;

/// Rows per switch on the wire: two in each ciphertext.
const ROWS: usize = 4;

/// Switches whose OTs the router stores; twice as many while it sends the choices of the next
/// window. About 2 MiB are then in flight. The queues of a connection hold them all, so the router
/// can read next even if the holder does not read, and the two never both wait to write.
const WINDOW: u64 = 1 << 16;

pub(super) fn bytes(inputs: usize, switches: u64, bits: u32) -> Traffic {
    let piece = piece_len(bits, ROWS) as u64;
    let of_rows = row_pieces(inputs, bits).map(|len| bytes_len(len, bits) as u64).sum();
    let rows = Traffic { sender_to_receiver: of_rows, receiver_to_sender: 0 };
    if switches == 0 {
        return rows;
    }
    let corrections = |len: u64| {
        let differ = Bits::bytes_len(len as usize) as u64;
        let request = Request::cots(len as usize);
        extend_bytes::<SemiHonest>(FIELD_BITS, request).receiver_to_sender + differ
    };
    let rest = switches % piece;
    let own = Traffic {
        sender_to_receiver: rows_bytes(switches, ROWS, bits),
        receiver_to_sender: switches / piece * corrections(piece)
            + if rest > 0 { corrections(rest) } else { 0 },
    };
    setup_bytes::<SemiHonest>(FIELD_BITS) + rows + own
}

pub(super) fn flights(switches: u64, bits: u32) -> u64 {
    debug_assert!(WINDOW.is_multiple_of(piece_len(bits, ROWS) as u64), "a window of whole pieces");
    let windows = switches.div_ceil(WINDOW);
    // Two windows are under way at once: their choices go together, and so do their ciphertexts.
    1 + 2 * windows.div_ceil(2)
}

/// The number of masked rows in each message.
fn row_pieces(inputs: usize, bits: u32) -> impl Iterator<Item = usize> {
    let piece = piece_len(bits, 1);
    (0..inputs).step_by(piece).map(move |first| (inputs - first).min(piece))
}

struct Pads {
    bits: u32,
    hashes: Hashes,
}

impl Pads {
    fn new(bits: u32, session: &SessionId) -> Self {
        Self { bits, hashes: Hashes::new(HASH_KEY, session) }
    }

    fn piece_len(&self) -> usize {
        piece_len(self.bits, ROWS)
    }

    /// The hashes of the next piece, one for each 128 bits of a ciphertext.
    fn next(&mut self) -> Vec<Aes128> {
        (0..words_of(self.bits)).map(|_| self.hashes.next_piece()).collect()
    }
}

/// XORs the `hashes` of each block into the ciphertext at word `offset` of its switch; a switch has
/// `stride` words.
fn add_hashed(
    hashes: &[Aes128],
    bits: u32,
    blocks: &[Block],
    hashed: &mut [Block],
    rows: &mut [u64],
    offset: usize,
    stride: usize,
) {
    let (words, mask) = (words_of(bits), last_word_mask(bits));
    for (i, hash) in hashes.iter().enumerate() {
        hashed.copy_from_slice(blocks);
        hash.mmo(hashed);
        for (row, hash) in rows.chunks_exact_mut(stride).zip(&*hashed) {
            let ciphertext = &mut row[offset..][..2 * words];
            for (j, half) in [(2 * i, hash.get() as u64), (2 * i + 1, (hash.get() >> 64) as u64)] {
                ciphertext[j] ^= if (j + 1) % words == 0 { half & mask } else { half };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choices_sent_ahead_fit_into_the_queues() {
        for bits in [1, 60, 128, 1000, 1 << 16] {
            let ahead = bytes(0, 2 * WINDOW, bits).receiver_to_sender
                - setup_bytes::<SemiHonest>(FIELD_BITS).receiver_to_sender;
            assert!(ahead <= 9 << 18, "rows of {bits} bits: {ahead} bytes");
        }
    }

    #[test]
    fn a_window_consists_of_whole_pieces() {
        for bits in (1..=300).chain([1000, 1 << 16]) {
            assert!(WINDOW.is_multiple_of(piece_len(bits, ROWS) as u64));
        }
    }

    #[test]
    fn each_two_windows_take_two_flights() {
        for (switches, expected) in [
            (1, 3),
            (WINDOW, 3),
            (2 * WINDOW, 3),
            (2 * WINDOW + 1, 5),
            (3 * WINDOW, 5),
            (4 * WINDOW, 5),
            (4 * WINDOW + 1, 7),
        ] {
            assert_eq!(flights(switches, 60), expected, "{switches} switches");
        }
    }
}
