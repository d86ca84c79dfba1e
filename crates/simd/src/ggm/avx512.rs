//! Levels of GGM trees with VAES, four nodes to a vector.

use crate::Block;
use crate::aes::Aes128;
use crate::aes::avx512::{permute, round_keys, sigma};
use crate::lanes::{LANES, load_4, store_4};
use core::arch::x86_64::*;

/// Vectors in flight: enough to hide the latency of a round.
const VECTORS: usize = 8;

/// The sum of the lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn fold(sum: __m512i) -> Block {
    let mut lanes = [Block::ZERO; LANES];
    store_4(sum, &mut lanes);
    lanes.into_iter().fold(Block::ZERO, |sum, lane| sum ^ lane)
}

/// The children of `N` vectors of nodes: H(x) and x + H(x).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn grow<const N: usize>(keys: &[__m512i; 11], x: [__m512i; N]) -> ([__m512i; N], [__m512i; N]) {
    let (mut left, mut right) = (x, x);
    left.iter_mut().for_each(|x| *x = sigma(*x));
    let turned = left;
    permute(keys, &mut left);
    for i in 0..N {
        left[i] = _mm512_xor_si512(left[i], turned[i]);
        right[i] = _mm512_xor_si512(right[i], left[i]);
    }
    (left, right)
}

/// π(π(x) + t) + π(x) for `N` vectors; the tweaks t count up from the lanes of `tweak`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn hash<const N: usize>(
    keys: &[__m512i; 11],
    mut x: [__m512i; N],
    mut tweak: __m512i,
) -> [__m512i; N] {
    permute(keys, &mut x);
    let mut hashed = x;
    for x in &mut hashed {
        *x = _mm512_xor_si512(*x, tweak);
        tweak = _mm512_add_epi64(tweak, tweaks(0, LANES as u64));
    }
    permute(keys, &mut hashed);
    for i in 0..N {
        hashed[i] = _mm512_xor_si512(hashed[i], x[i]);
    }
    hashed
}

/// The same tweak in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn tweaks(high: u64, low: u64) -> __m512i {
    let (high, low) = (high as i64, low as i64);
    _mm512_set_epi64(high, low, high, low, high, low, high, low)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn children_of<const N: usize>(
    keys: &[__m512i; 11],
    left: &mut [[Block; LANES]; N],
    right: &mut [[Block; LANES]; N],
    sum: &mut __m512i,
) {
    let mut x = [_mm512_setzero_si512(); N];
    x.iter_mut().zip(&*left).for_each(|(x, blocks)| *x = load_4(blocks));
    let (lefts, rights) = grow(keys, x);
    for i in 0..N {
        store_4(lefts[i], &mut left[i]);
        store_4(rights[i], &mut right[i]);
        *sum = _mm512_xor_si512(*sum, lefts[i]);
    }
}

/// The length of each half must be a multiple of four.
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn children(node: &Aes128, left: &mut [Block], right: &mut [Block]) -> Block {
    let keys = round_keys(node.schedule());
    let (left, right) = (left.as_chunks_mut::<LANES>().0, right.as_chunks_mut::<LANES>().0);
    let mut sum = _mm512_setzero_si512();
    let (lefts, left) = left.as_chunks_mut::<VECTORS>();
    let (rights, right) = right.as_chunks_mut::<VECTORS>();
    for (left, right) in lefts.iter_mut().zip(rights) {
        children_of::<VECTORS>(&keys, left, right, &mut sum);
    }
    let (lefts, left) = left.as_chunks_mut::<4>();
    let (rights, right) = right.as_chunks_mut::<4>();
    for (left, right) in lefts.iter_mut().zip(rights) {
        children_of::<4>(&keys, left, right, &mut sum);
    }
    let (lefts, rights) = (left.as_chunks_mut::<1>().0, right.as_chunks_mut::<1>().0);
    for (left, right) in lefts.iter_mut().zip(rights) {
        children_of::<1>(&keys, left, right, &mut sum);
    }
    fold(sum)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn hashed_children_of<const N: usize>(
    node: &[__m512i; 11],
    leaf: &[__m512i; 11],
    left: &mut [[Block; LANES]; N],
    right: &mut [[Block; LANES]; N],
    tweaks: (__m512i, __m512i),
    children: &mut __m512i,
    leaves: &mut __m512i,
) {
    let mut x = [_mm512_setzero_si512(); N];
    x.iter_mut().zip(&*left).for_each(|(x, blocks)| *x = load_4(blocks));
    let (lefts, rights) = grow(node, x);
    for x in lefts {
        *children = _mm512_xor_si512(*children, x);
    }
    let (lefts, rights) = (hash(leaf, lefts, tweaks.0), hash(leaf, rights, tweaks.1));
    for i in 0..N {
        store_4(lefts[i], &mut left[i]);
        store_4(rights[i], &mut right[i]);
        *leaves = _mm512_ternarylogic_epi64::<0x96>(*leaves, lefts[i], rights[i]);
    }
}

/// The length of each half must be a multiple of four.
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn hashed_children(
    node: &Aes128,
    leaf: &Aes128,
    tree: u64,
    left: &mut [Block],
    right: &mut [Block],
) -> (Block, Block) {
    let (node, leaf) = (&round_keys(node.schedule()), &round_keys(leaf.schedule()));
    let lanes = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
    let mut tweak = _mm512_add_epi64(tweaks(tree, 0), lanes);
    let half = tweaks(0, left.len() as u64);
    let (left, right) = (left.as_chunks_mut::<LANES>().0, right.as_chunks_mut::<LANES>().0);
    let (mut children, mut leaves) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let (lefts, left) = left.as_chunks_mut::<VECTORS>();
    let (rights, right) = right.as_chunks_mut::<VECTORS>();
    for (left, right) in lefts.iter_mut().zip(rights) {
        let both = (tweak, _mm512_add_epi64(tweak, half));
        hashed_children_of(node, leaf, left, right, both, &mut children, &mut leaves);
        tweak = _mm512_add_epi64(tweak, tweaks(0, (VECTORS * LANES) as u64));
    }
    let (lefts, rights) = (left.as_chunks_mut::<1>().0, right.as_chunks_mut::<1>().0);
    for (left, right) in lefts.iter_mut().zip(rights) {
        let both = (tweak, _mm512_add_epi64(tweak, half));
        hashed_children_of(node, leaf, left, right, both, &mut children, &mut leaves);
        tweak = _mm512_add_epi64(tweak, tweaks(0, LANES as u64));
    }
    (fold(children), fold(leaves))
}

#[target_feature(enable = "avx512f")]
pub(super) fn sum(blocks: &[Block]) -> Block {
    let (vectors, rest) = blocks.as_chunks::<LANES>();
    let (batches, vectors) = vectors.as_chunks::<4>();
    let mut sums = [_mm512_setzero_si512(); 4];
    for batch in batches {
        for (sum, blocks) in sums.iter_mut().zip(batch) {
            *sum = _mm512_xor_si512(*sum, load_4(blocks));
        }
    }
    for (sum, blocks) in sums.iter_mut().zip(vectors) {
        *sum = _mm512_xor_si512(*sum, load_4(blocks));
    }
    let [a, b, c, d] = sums;
    let all = _mm512_xor_si512(_mm512_ternarylogic_epi64::<0x96>(a, b, c), d);
    rest.iter().fold(fold(all), |sum, block| sum ^ *block)
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn add_at(blocks: &mut [Block], index: usize, value: Block) {
    let value_at = |i: usize| {
        let equal = std::hint::black_box(((i ^ index) as u128).wrapping_sub(1) >> 127);
        value & Block::new(equal.wrapping_neg())
    };
    let [low, high] = [value.get() as u64 as i64, (value.get() >> 64) as u64 as i64];
    let values = _mm512_set_epi64(high, low, high, low, high, low, high, low);
    let wanted = _mm512_set1_epi64(index as i64);
    let mut indices = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    let (vectors, rest) = blocks.as_chunks_mut::<LANES>();
    let first_of_rest = LANES * vectors.len();
    for blocks in vectors {
        let old = load_4(blocks);
        let equal = _mm512_cmpeq_epi64_mask(indices, wanted);
        store_4(_mm512_mask_xor_epi64(old, equal, old, values), blocks);
        indices = _mm512_add_epi64(indices, _mm512_set1_epi64(LANES as i64));
    }
    for (i, block) in rest.iter_mut().enumerate() {
        *block ^= value_at(first_of_rest + i);
    }
}
