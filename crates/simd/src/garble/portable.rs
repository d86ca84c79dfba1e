//! Garbled gates with batches of re-keyed AES, piece by piece.

use super::keys::Keys;
use super::known_bits::KnownBits;
use crate::Block;
use crate::aes::encrypt_rekeyed;
use zeroize::Zeroize;

/// Gates hashed together.
const PIECE: usize = 64;

/// ω·x.
fn omega(x: Block) -> Block {
    let (left, right) = ((x.get() >> 64) as u64, x.get() as u64);
    Block::new(u128::from(left ^ right) << 64 | u128::from(left))
}

/// The colour of a label: all ones or zero.
fn colour(label: Block) -> Block {
    Block::mask(label.bit(0))
}

/// π(y) ⊕ y for `N` blocks y of each of up to [`PIECE`] gates.
///
/// Wiped on drop.
struct Hashes<const N: usize> {
    blocks: [[Block; N]; PIECE],
}

impl<const N: usize> Hashes<N> {
    fn new(keys: Keys, len: usize, inputs: impl Fn(usize) -> [Block; N]) -> Self {
        let (mut piece, mut blocks) = ([Block::ZERO; PIECE], [[Block::ZERO; N]; PIECE]);
        for i in 0..len {
            piece[i] = keys.key(i);
            blocks[i] = inputs(i);
        }
        encrypt_rekeyed(&piece[..len], N, blocks[..len].as_flattened_mut());
        for (i, blocks) in blocks[..len].iter_mut().enumerate() {
            blocks.iter_mut().zip(inputs(i)).for_each(|(block, y)| *block ^= y);
        }
        Self { blocks }
    }
}

impl<const N: usize> Drop for Hashes<N> {
    fn drop(&mut self) {
        self.blocks.as_flattened_mut().zeroize();
    }
}

/// The gates in pieces, as ranges.
fn pieces(len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..len).step_by(PIECE).map(move |first| first..len.min(first + PIECE))
}

pub(super) fn garble_and(
    keys: Keys,
    delta: Block,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    [generator, evaluator]: [&mut [Block]; 2],
) {
    for piece in pieces(a.len()) {
        let (a, b, out) = (&a[piece.clone()], &b[piece.clone()], &mut out[piece.clone()]);
        let (generator, evaluator) = (&mut generator[piece.clone()], &mut evaluator[piece.clone()]);
        let hashes = Hashes::new(keys.from(piece.start), piece.len(), |i| {
            let [a0, a1] = [a[i], a[i] ^ delta].map(omega);
            let [b0, b1] = [b[i], b[i] ^ delta].map(|b| omega(omega(b)));
            [a0, a1, b0, b1]
        });
        for (i, [a0, a1, b0, b1]) in hashes.blocks[..piece.len()].iter().copied().enumerate() {
            generator[i] = a0 ^ a1 ^ (colour(b[i]) & delta);
            evaluator[i] = b0 ^ b1 ^ a[i];
            out[i] = a0 ^ (colour(a[i]) & generator[i]) ^ b0 ^ (colour(b[i]) & (b0 ^ b1));
        }
    }
}

pub(super) fn evaluate_and(
    keys: Keys,
    [a, b]: [&[Block]; 2],
    [generator, evaluator]: [&[Block]; 2],
    out: &mut [Block],
) {
    for piece in pieces(a.len()) {
        let (a, b, out) = (&a[piece.clone()], &b[piece.clone()], &mut out[piece.clone()]);
        let (generator, evaluator) = (&generator[piece.clone()], &evaluator[piece.clone()]);
        let hashes =
            Hashes::new(keys.from(piece.start), piece.len(), |i| [omega(a[i]), omega(omega(b[i]))]);
        for (i, [of_a, of_b]) in hashes.blocks[..piece.len()].iter().copied().enumerate() {
            let sum = of_a ^ of_b ^ (colour(a[i]) & generator[i]);
            out[i] = sum ^ (colour(b[i]) & (evaluator[i] ^ a[i]));
        }
    }
}

pub(super) fn garble_known(
    keys: Keys,
    delta: Block,
    known: KnownBits<'_>,
    a: &[Block],
    out: &mut [Block],
    table: &mut [Block],
) {
    for piece in pieces(a.len()) {
        let (a, out, table) =
            (&a[piece.clone()], &mut out[piece.clone()], &mut table[piece.clone()]);
        let hashes =
            Hashes::new(keys.from(piece.start), piece.len(), |i| [a[i], a[i] ^ delta].map(omega));
        for (i, [a0, a1]) in hashes.blocks[..piece.len()].iter().copied().enumerate() {
            table[i] = a0 ^ a1 ^ (Block::mask(known.get(piece.start + i)) & delta);
            out[i] = a0 ^ (colour(a[i]) & table[i]);
        }
    }
}

pub(super) fn evaluate_known(keys: Keys, a: &[Block], table: &[Block], out: &mut [Block]) {
    for piece in pieces(a.len()) {
        let (a, out, table) = (&a[piece.clone()], &mut out[piece.clone()], &table[piece.clone()]);
        let hashes = Hashes::new(keys.from(piece.start), piece.len(), |i| [omega(a[i])]);
        for (i, [of_a]) in hashes.blocks[..piece.len()].iter().copied().enumerate() {
            out[i] = of_a ^ (colour(a[i]) & table[i]);
        }
    }
}
