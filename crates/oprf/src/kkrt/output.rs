//! H: the hash of rows.

use super::Row;
use vesica_core::hash::derive;
use vesica_core::{Block, SessionId};
use vesica_ot::coded::rows::Width;
use vesica_simd::short_hash::{BLOCK_LEN, INPUTS, keyed_hash_16};
use zeroize::Zeroize;

const OUTPUT_KEY: &str = "vesica v1 kkrt output";

/// Bytes of an instance's number in the hash input: numbers are below 2^40.
const NUMBER_LEN: usize = 5;

const _: () = assert!(size_of::<Row>() == BLOCK_LEN);

/// BLAKE3 keyed by the session.
pub(super) struct OutputHash {
    key: [u8; 32],
    row_len: usize,
}

impl OutputHash {
    /// The hash of rows of `width`.
    ///
    /// # Panics
    /// If a row and a number do not fit into one block of the hash.
    pub(super) fn new<const K: usize>(session: &SessionId, width: Width<K>) -> Self {
        assert!(width.bytes() + NUMBER_LEN <= BLOCK_LEN, "the input fits into one block");
        Self { key: derive(OUTPUT_KEY, &[session.as_bytes()]), row_len: width.bytes() }
    }

    /// Sets `out` to H of `rows`, where row i has the number `number(i)`; the lengths must be
    /// equal.
    ///
    /// Hashes sixteen rows at a time; fewer rows take the same time as sixteen.
    #[inline]
    pub(super) fn outputs(&self, rows: &[Row], number: impl Fn(usize) -> u64, out: &mut [Block]) {
        let mut inputs = [[0; BLOCK_LEN]; INPUTS];
        let lens = [(self.row_len + NUMBER_LEN) as u8; INPUTS];
        let batches = rows.chunks(INPUTS).zip(out.chunks_mut(INPUTS));
        for (first, (rows, out)) in (0..).step_by(INPUTS).zip(batches) {
            for (i, (row, input)) in rows.iter().zip(&mut inputs).enumerate() {
                input.copy_from_slice(Block::as_bytes(row));
                let number = number(first + i).to_le_bytes();
                input[self.row_len..][..NUMBER_LEN].copy_from_slice(&number[..NUMBER_LEN]);
            }
            let digests = keyed_hash_16(&self.key, &inputs, &lens);
            for (out, digest) in out.iter_mut().zip(digests) {
                *out = Block::from_le_bytes(digest);
            }
        }
        inputs.as_flattened_mut().zeroize();
    }
}
