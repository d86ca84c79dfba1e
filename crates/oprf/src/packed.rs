//! Lists of short values on the wire: without gaps, the first value in the lowest bits of the first
//! byte.

use vesica_core::Block;

/// Values per message, of at most 256 KiB: a multiple of eight, so that all messages but the last
/// consist of whole bytes.
pub(crate) const VALUES_PER_MESSAGE: usize = 1 << 14;

/// Bytes beyond the end that [`unpack`] reads and ignores.
const BEYOND: usize = 17;

/// Encoded length of `len` values of `bits` bits.
pub(crate) fn bytes_len(len: usize, bits: u32) -> usize {
    // Eight values at a time, so that no length overflows.
    len / 8 * bits as usize + (len % 8 * bits as usize).div_ceil(8)
}

/// Appends the lowest `bits` bits of each of `values`.
pub(crate) fn pack(values: &[Block], bits: u32, out: &mut Vec<u8>) {
    out.reserve(bytes_len(values.len(), bits));
    let mask = u128::MAX >> (128 - bits);
    // Fewer than 64 bits wait.
    let (mut waiting, mut count) = (0_u128, 0);
    let mut push = |word: u64, bits: u32| {
        waiting |= u128::from(word) << count;
        count += bits;
        if count >= 64 {
            out.extend_from_slice(&(waiting as u64).to_le_bytes());
            waiting >>= 64;
            count -= 64;
        }
    };
    for value in values {
        let value = value.get() & mask;
        push(value as u64, bits.min(64));
        if bits > 64 {
            push((value >> 64) as u64, bits - 64);
        }
    }
    let left = count.div_ceil(8) as usize;
    out.extend_from_slice(&waiting.to_le_bytes()[..left]);
}

/// Decodes the output of [`pack`] into `values`.
///
/// # Panics
/// If there are too few bytes.
pub(crate) fn unpack(mut bytes: Vec<u8>, bits: u32, values: &mut [Block]) {
    assert!(bytes.len() >= bytes_len(values.len(), bits), "enough bytes for the values");
    bytes.resize(bytes.len() + BEYOND, 0);
    let mask = u128::MAX >> (128 - bits);
    let mut start = 0;
    for value in values {
        let (bytes, shift) = (&bytes[start / 8..][..BEYOND], start % 8);
        let (low, high) = bytes.split_at(16);
        let low = low.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte)) >> shift;
        let high = u128::from(high[0]) << 1 << (127 - shift);
        *value = Block::new((low | high) & mask);
        start += bits as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_length_survive_a_round_trip() {
        for bits in 1..=128 {
            for len in [0, 1, 2, 7, 8, 9, 100] {
                let value =
                    |i: u128| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                let values: Vec<Block> = (0..len).map(|i| Block::new(value(i))).collect();
                let mut bytes = Vec::new();
                pack(&values, bits, &mut bytes);
                assert_eq!(bytes.len(), bytes_len(values.len(), bits));
                assert_eq!(bytes.len(), (len as usize * bits as usize).div_ceil(8));
                let mut unpacked = vec![Block::ZERO; values.len()];
                unpack(bytes, bits, &mut unpacked);
                let mask = Block::new(u128::MAX >> (128 - bits));
                assert!(values.iter().zip(&unpacked).all(|(a, b)| *a & mask == *b), "{bits} bits");
            }
        }
    }
}
