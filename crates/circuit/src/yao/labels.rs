//! Wire labels: one block per lane.

use crate::{BitLanes, Lanes};
use vesica_core::Block;
use vesica_simd::low_bits::low_bits;
use vesica_simd::xor;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// One label per lane: at the garbler the label of zero, at the evaluator the active label.
///
/// Wiped when dropped: both labels of one wire reveal Δ, and with it every value. So a list never
/// grows, which would leave a copy behind.
#[derive(Clone, Debug)]
pub struct Labels(Vec<Block>);

impl Zeroize for Labels {
    fn zeroize(&mut self) {
        // `Vec`'s own zeroize would wipe the spare capacity again, byte by byte.
        self.0.as_mut_slice().zeroize();
    }
}

impl Drop for Labels {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for Labels {}

impl Labels {
    /// The labels as bytes, in the form that [`crate::Computation::reveal_checked`] sends.
    pub fn as_bytes(&self) -> &[u8] {
        Block::as_bytes(&self.0)
    }

    pub(super) fn new(labels: Vec<Block>) -> Self {
        Self(labels)
    }

    pub(super) fn zeros(len: usize) -> Self {
        Self(Block::zeros(len))
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.0
    }

    pub(super) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.0
    }

    /// XORs both lists, lane by lane.
    pub(super) fn xor(&self, other: &Self) -> Self {
        assert_eq!(self.0.len(), other.0.len(), "the same number of lanes");
        Self(xor::sum(&self.0, &other.0))
    }

    /// Adds `delta` to all labels.
    pub(super) fn plus(&self, delta: Block) -> Self {
        Self(xor::sum_with(&self.0, delta))
    }

    /// The lowest bit of each label.
    pub(super) fn colours(&self) -> BitLanes {
        let (whole, rest) = self.0.as_chunks::<64>();
        let mut words = vec![0; whole.len()];
        low_bits(whole.as_flattened(), &mut words);
        words.push(rest.iter().rev().fold(0, |word, label| word << 1 | label.get() as u64 & 1));
        BitLanes::from_words(words, self.0.len())
    }

    /// Adds `delta` to the labels whose bit is one.
    ///
    /// # Panics
    /// If the numbers of bits and labels differ.
    pub(super) fn add_where(&mut self, bits: &BitLanes, delta: Block) {
        assert_eq!(self.0.len(), bits.len(), "a bit for each label");
        for (labels, bits) in self.0.chunks_mut(64).zip(bits.words()) {
            for (i, label) in labels.iter_mut().enumerate() {
                *label ^= delta & Block::mask(bits >> i & 1 == 1);
            }
        }
    }
}

impl Lanes for Labels {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn slice(&self, first: usize, len: usize) -> Self {
        Self(self.0[first..first + len].to_vec())
    }

    fn put(&mut self, first: usize, lanes: &Self) {
        self.0[first..first + lanes.0.len()].copy_from_slice(&lanes.0);
    }

    fn concat(parts: &[Self]) -> Self {
        let mut labels = Vec::with_capacity(parts.iter().map(|part| part.0.len()).sum());
        parts.iter().for_each(|part| labels.extend_from_slice(&part.0));
        Self(labels)
    }

    fn gather(&self, places: &[u32]) -> Self {
        Self(places.iter().map(|place| self.0[*place as usize]).collect())
    }

    fn scatter(&mut self, places: &[u32], lanes: &Self) {
        assert_eq!(places.len(), lanes.0.len(), "a place for each lane");
        for (place, label) in places.iter().zip(&lanes.0) {
            self.0[*place as usize] = *label;
        }
    }

    fn halves(&self, stride: usize) -> [Self; 2] {
        match stride {
            1 => split::<1>(&self.0),
            2 => split::<2>(&self.0),
            4 => split::<4>(&self.0),
            _ => split_any(&self.0, stride),
        }
    }

    fn put_halves(&mut self, stride: usize, [low, high]: [&Self; 2]) {
        assert!(stride.is_power_of_two(), "a power of two");
        let pairs = pairs(self.0.len(), stride);
        assert_eq!(
            [low.0.len(), high.0.len()],
            [pairs; 2],
            "halves of the length that `halves` returned"
        );
        match stride {
            1 => join::<1>(&mut self.0, [&low.0, &high.0]),
            2 => join::<2>(&mut self.0, [&low.0, &high.0]),
            4 => join::<4>(&mut self.0, [&low.0, &high.0]),
            _ => join_any(&mut self.0, [&low.0, &high.0], stride),
        }
    }
}

/// Number of lanes, of `len`, that have a partner `stride` lanes later.
fn pairs(len: usize, stride: usize) -> usize {
    len / (2 * stride) * stride + (len % (2 * stride)).saturating_sub(stride)
}

fn split_any(labels: &[Block], stride: usize) -> [Labels; 2] {
    assert!(stride.is_power_of_two(), "a power of two");
    let pairs = pairs(labels.len(), stride);
    let mut halves = [Vec::with_capacity(pairs), Vec::with_capacity(pairs)];
    for block in labels.chunks(2 * stride) {
        let (low, high) = block.split_at(stride.min(block.len()));
        halves[0].extend_from_slice(&low[..high.len()]);
        halves[1].extend_from_slice(high);
    }
    halves.map(Labels)
}

/// Splits short blocks, with copies of a constant length.
fn split<const N: usize>(labels: &[Block]) -> [Labels; 2] {
    let (quads, _) = labels.as_chunks::<N>();
    let (whole, _) = quads.as_chunks::<2>();
    let rest = &labels[whole.len() * 2 * N..];
    let half = |i: usize| {
        let mut half: Vec<[Block; N]> = Vec::with_capacity(whole.len() + 1);
        half.extend(whole.iter().map(|pair| pair[i]));
        let mut half = half.into_flattened();
        let partners = rest.len().saturating_sub(N);
        half.extend_from_slice(&rest[(i * N).min(rest.len())..][..partners]);
        Labels(half)
    };
    [half(0), half(1)]
}

fn join_any(labels: &mut [Block], [low, high]: [&[Block]; 2], stride: usize) {
    let halves = low.chunks(stride).zip(high.chunks(stride));
    for (block, (low, high)) in labels.chunks_mut(2 * stride).zip(halves) {
        block[..low.len()].copy_from_slice(low);
        block[stride..stride + high.len()].copy_from_slice(high);
    }
}

fn join<const N: usize>(labels: &mut [Block], [low, high]: [&[Block]; 2]) {
    let ((lows, low), (highs, high)) = (low.as_chunks::<N>(), high.as_chunks::<N>());
    let whole = 2 * N * lows.len();
    let (blocks, rest) = labels.split_at_mut(whole);
    let (blocks, _) = blocks.as_chunks_mut::<N>();
    let (blocks, _) = blocks.as_chunks_mut::<2>();
    for ((block, low), high) in blocks.iter_mut().zip(lows).zip(highs) {
        *block = [*low, *high];
    }
    join_any(rest, [low, high], N);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(len: usize) -> Labels {
        Labels((0..len as u128).map(|i| Block::new(i * i + 7)).collect())
    }

    /// 17 bits of each label, as lanes.
    fn bits(labels: &Labels) -> Vec<BitLanes> {
        let bit = |k| labels.0.iter().map(|label| label.bit(k)).collect();
        (0..17).map(bit).collect()
    }

    #[test]
    fn halves_match_those_of_plain_bits_and_can_be_put_back() {
        for len in (0..40).chain([100, 257]) {
            for stride in [1, 2, 4, 8, 16, 64] {
                let labels = labels(len);
                let halves = labels.halves(stride);
                let plain: Vec<_> = bits(&labels).iter().map(|b| b.halves(stride)).collect();
                for (i, half) in halves.iter().enumerate() {
                    assert!(bits(half).iter().eq(plain.iter().map(|halves| &halves[i])));
                }
                // Swapped, and swapped back.
                let mut changed = labels.clone();
                changed.put_halves(stride, [&halves[1], &halves[0]]);
                let [low, high] = changed.halves(stride);
                assert!(low.0 == halves[1].0 && high.0 == halves[0].0, "{len}, {stride}");
                changed.put_halves(stride, [&halves[0], &halves[1]]);
                assert!(changed.0 == labels.0, "{len}, {stride}");
            }
        }
    }

    #[test]
    fn lanes_are_sliced_put_and_gathered() {
        let labels = labels(100);
        let parts = [labels.slice(0, 33), labels.slice(33, 0), labels.slice(33, 67)];
        assert!(Labels::concat(&parts).0 == labels.0);
        let places: Vec<u32> = (0..100).map(|i| i * 37 % 100).collect();
        let gathered = labels.gather(&places);
        assert!(gathered.0.iter().zip(&places).all(|(x, place)| *x == labels.0[*place as usize]));
        let mut back = Labels::zeros(100);
        back.scatter(&places, &gathered);
        assert!(back.0 == labels.0);
        back.put(10, &labels.slice(0, 5));
        assert!(back.0[10..15] == labels.0[..5] && back.0[15..] == labels.0[15..]);
    }

    #[test]
    fn delta_is_added_where_the_colour_is_one() {
        for len in [0, 1, 63, 64, 65, 127, 128, 129, 300] {
            let mut labels = labels(len);
            let colours = labels.colours();
            assert!(colours.iter().eq(labels.0.iter().map(|label| label.bit(0))), "{len}");
            labels.add_where(&colours, Block::ONE);
            assert!(labels.0.iter().all(|label| !label.bit(0)), "{len}");
        }
    }
}
