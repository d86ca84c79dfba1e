//! AES-128 in plain 64-bit words, bit-sliced: word i holds bit i of 64 blocks.
//!
//! A batch costs the same for one block as for 64.

use super::{RCON, Schedule, mode};
use crate::Block;
use crate::transpose::portable::transpose_64;

/// Blocks per batch.
const LANES: usize = 64;

/// Bit i of every lane, for each i of a block.
type Planes = [u64; 128];

/// The S-box on eight planes, least significant first.
///
/// The circuit of Boyar and Peralta, "A depth-16 circuit for the AES S-box" (2011), with the
/// paper's names.
#[inline(always)]
fn sub_byte(byte: [u64; 8]) -> [u64; 8] {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = byte;
    // Into the tower field.
    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;
    // The inversion.
    let t2 = y12 & y15;
    let t4 = y3 & y6 ^ t2;
    let t6 = y4 & x7 ^ t2;
    let t7 = y13 & y16;
    let t9 = y5 & y1 ^ t7;
    let t11 = y2 & y7 ^ t7;
    let t12 = y9 & y11;
    let t14 = y14 & y17 ^ t12;
    let t16 = y8 & y10 ^ t12;
    let t21 = t4 ^ t14 ^ y20;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = t25 & t27 ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t33 = t31 & t30 ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ t29 & t38;
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;
    // Back, and the affine map.
    let t46 = z15 ^ z16;
    let t48 = z5 ^ z13;
    let t50 = z2 ^ z12;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = z7 ^ z8 ^ t58;
    let t63 = z9 ^ z10 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let t67 = t64 ^ t65;
    let s0 = t59 ^ t63;
    let s3 = t53 ^ t66;
    let s1 = !(t64 ^ s3);
    let s2 = !(z16 ^ z17 ^ t67);
    let s4 = z2 ^ z5 ^ t66;
    let s5 = z10 ^ z11 ^ t65;
    let s6 = !(z12 ^ t48 ^ t62);
    let s7 = !(t48 ^ t60);
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

/// The S-box on each byte of a word.
fn sub_word(word: u32) -> u32 {
    let spread = |k: u32| u64::from(word >> k & 0x0101_0101);
    let planes = sub_byte(std::array::from_fn(|k| spread(k as u32)));
    planes
        .into_iter()
        .enumerate()
        .fold(0, |word, (k, plane)| word | (plane as u32 & 0x0101_0101) << k)
}

/// The round keys of `key`.
pub(super) fn expand(key: Block) -> Schedule {
    let mut schedule = [key; 11];
    for (round, rcon) in RCON.into_iter().enumerate() {
        let key = schedule[round].get();
        let last_word = (key >> 96) as u32;
        let mut next = key;
        // Each word of the next key is the XOR of this key's words up to it.
        next ^= next << 32;
        next ^= next << 64;
        let add = u128::from(sub_word(last_word.rotate_right(8)) ^ u32::from(rcon));
        schedule[round + 1] = Block::new(next ^ (add | add << 32 | add << 64 | add << 96));
    }
    schedule
}

/// The planes of up to 64 blocks; the lanes after them are zero.
fn pack(blocks: impl Iterator<Item = Block>) -> Planes {
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    for ((block, low), high) in blocks.zip(&mut low).zip(&mut high) {
        *low = block.get() as u64;
        *high = (block.get() >> 64) as u64;
    }
    transpose_64(&mut low);
    transpose_64(&mut high);
    let mut planes = [0; 128];
    planes[..64].copy_from_slice(&low);
    planes[64..].copy_from_slice(&high);
    planes
}

/// The inverse of [`pack`].
fn unpack<'a>(planes: &Planes, blocks: impl Iterator<Item = &'a mut Block>) {
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    low.copy_from_slice(&planes[..64]);
    high.copy_from_slice(&planes[64..]);
    transpose_64(&mut low);
    transpose_64(&mut high);
    for ((block, low), high) in blocks.zip(low).zip(high) {
        *block = Block::new(u128::from(low) | u128::from(high) << 64);
    }
}

fn add_planes(state: &mut Planes, key: &Planes) {
    for (state, key) in state.iter_mut().zip(key) {
        *state ^= key;
    }
}

/// The same round key in every lane.
fn broadcast(key: Block) -> Planes {
    let key = key.get();
    std::array::from_fn(|i| ((key >> i & 1) as u64).wrapping_neg())
}

/// SubBytes and ShiftRows.
fn sub_and_shift(state: &Planes) -> Planes {
    let mut shifted = [0; 128];
    let (bytes, _) = state.as_chunks::<8>();
    for (to, out) in shifted.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let (column, row) = (to / 4, to % 4);
        *out = sub_byte(bytes[4 * ((column + row) % 4) + row]);
    }
    shifted
}

fn mix_columns(state: &mut Planes) {
    let (columns, _) = state.as_chunks_mut::<32>();
    for column in columns {
        let old = *column;
        for k in 0..8 {
            let sum = old[k] ^ old[8 + k] ^ old[16 + k] ^ old[24 + k];
            for row in 0..4 {
                let next = 8 * ((row + 1) % 4);
                let pair = |k: usize| old[8 * row + k] ^ old[next + k];
                // Twice the sum of two neighbours, modulo X^8 + X^4 + X^3 + X + 1.
                let mut doubled = if k == 0 { 0 } else { pair(k - 1) };
                if matches!(k, 0 | 1 | 3 | 4) {
                    doubled ^= pair(7);
                }
                column[8 * row + k] = old[8 * row + k] ^ sum ^ doubled;
            }
        }
    }
}

/// Encrypts every lane; `key(r)` is the round key r.
fn permute(state: &mut Planes, key: impl Fn(usize) -> Planes) {
    add_planes(state, &key(0));
    for round in 1..10 {
        *state = sub_and_shift(state);
        mix_columns(state);
        add_planes(state, &key(round));
    }
    *state = sub_and_shift(state);
    add_planes(state, &key(10));
}

fn sigma(block: Block) -> Block {
    let (left, right) = ((block.get() >> 64) as u64, block.get() as u64);
    Block::new(u128::from(left ^ right) << 64 | u128::from(left))
}

/// Applies the mode to all blocks; `first + i` must not carry out of its low half.
pub(super) fn run<const MODE: u8>(schedule: &Schedule, blocks: &mut [Block], first: u128) {
    let keys = schedule.map(broadcast);
    let permute = |blocks: &mut [Block]| {
        let mut state = pack(blocks.iter().copied());
        permute(&mut state, |round| keys[round]);
        unpack(&state, blocks.iter_mut());
    };
    let mut tweak = first;
    for blocks in blocks.chunks_mut(LANES) {
        let mut saved = [Block::ZERO; LANES];
        let saved = &mut saved[..blocks.len()];
        match MODE {
            mode::CCR => blocks.iter_mut().for_each(|block| *block = sigma(*block)),
            mode::TCCR => permute(blocks),
            _ => {}
        }
        saved.copy_from_slice(blocks);
        for block in &mut *blocks {
            match MODE {
                mode::TCCR => *block ^= Block::new(tweak),
                mode::CTR => *block = Block::new(tweak),
                _ => {}
            }
            tweak = tweak.wrapping_add(1);
        }
        permute(blocks);
        if matches!(MODE, mode::MMO | mode::CCR | mode::TCCR) {
            blocks.iter_mut().zip(saved).for_each(|(block, saved)| *block ^= *saved);
        }
    }
}

/// The round keys of 64 keys at once.
fn expand_lanes(keys: &[Block]) -> [Planes; 11] {
    let mut schedule = [pack(keys.iter().copied()); 11];
    for (round, rcon) in RCON.into_iter().enumerate() {
        let mut next = schedule[round];
        for row in 0..4 {
            let (bytes, _) = schedule[round].as_chunks::<8>();
            let mut sum = sub_byte(bytes[12 + (row + 1) % 4]);
            if row == 0 {
                let rcon = broadcast(Block::new(u128::from(rcon)));
                sum.iter_mut().zip(rcon).for_each(|(sum, rcon)| *sum ^= rcon);
            }
            for column in 0..4 {
                for k in 0..8 {
                    next[8 * (4 * column + row) + k] ^= sum[k];
                    sum[k] = next[8 * (4 * column + row) + k];
                }
            }
        }
        schedule[round + 1] = next;
    }
    schedule
}

/// See [`super::encrypt_rekeyed`]; `per_key` is not zero.
pub(super) fn encrypt_rekeyed(keys: &[Block], per_key: usize, blocks: &mut [Block]) {
    let batches_per_key = keys.len() * per_key.div_ceil(LANES);
    let batches_across = keys.len().div_ceil(LANES) * per_key;
    if batches_per_key < batches_across {
        for (key, blocks) in keys.iter().zip(blocks.chunks_exact_mut(per_key)) {
            run::<{ mode::ENCRYPT }>(&expand(*key), blocks, 0);
        }
        return;
    }
    for (keys, blocks) in keys.chunks(LANES).zip(blocks.chunks_mut(LANES * per_key)) {
        let schedule = expand_lanes(keys);
        for place in 0..per_key {
            let mut state = pack(blocks.iter().skip(place).step_by(per_key).copied());
            permute(&mut state, |round| schedule[round]);
            unpack(&state, blocks.iter_mut().skip(place).step_by(per_key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sub_word;

    /// Multiplication in GF(2)[X]/(X^8 + X^4 + X^3 + X + 1), from the definition.
    fn mul(a: u8, b: u8) -> u8 {
        (0..8).rev().fold(0, |sum: u8, i| {
            let carry = if sum >> 7 == 1 { 0x1b } else { 0 };
            sum << 1 ^ carry ^ if b >> i & 1 == 1 { a } else { 0 }
        })
    }

    #[test]
    fn s_box_is_the_affine_map_of_the_inverse() {
        for x in 0..=255u8 {
            let inverse = (0..254).fold(1, |power, _| mul(power, x));
            let expected = (0..5).fold(0x63, |sum, i| sum ^ inverse.rotate_left(i));
            let word = u32::from_le_bytes([x, 0, x, 0xff]);
            assert_eq!(sub_word(word).to_le_bytes(), [expected, 0x63, expected, 0x16]);
        }
    }
}
