//! Words: lists of wires with the same number of lanes, lowest bit first.

use crate::Lanes;
use vesica_core::Item;
use vesica_ot::Bits;

/// Number of lanes of `word`; 0 if it has no wires.
pub fn lanes<W: Lanes>(word: &[W]) -> usize {
    word.first().map_or(0, Lanes::len)
}

/// Applies [`Lanes::slice`] to each wire.
pub fn slice<W: Lanes>(word: &[W], first: usize, len: usize) -> Vec<W> {
    word.iter().map(|wires| wires.slice(first, len)).collect()
}

/// Applies [`Lanes::put`] to each wire.
pub fn put<W: Lanes>(word: &mut [W], first: usize, lanes: &[W]) {
    word.iter_mut().zip(lanes).for_each(|(wires, lanes)| wires.put(first, lanes));
}

/// Applies [`Lanes::halves`] to each wire.
pub fn halves<W: Lanes>(word: &[W], stride: usize) -> [Vec<W>; 2] {
    let (low, high) = word
        .iter()
        .map(|wires| {
            let [low, high] = wires.halves(stride);
            (low, high)
        })
        .unzip();
    [low, high]
}

/// Applies [`Lanes::put_halves`] to each wire.
pub fn put_halves<W: Lanes>(word: &mut [W], stride: usize, [low, high]: [&[W]; 2]) {
    for ((wires, low), high) in word.iter_mut().zip(low).zip(high) {
        wires.put_halves(stride, [low, high]);
    }
}

/// Applies [`Lanes::gather`] to each wire.
pub fn gather<W: Lanes>(word: &[W], places: &[u32]) -> Vec<W> {
    word.iter().map(|wires| wires.gather(places)).collect()
}

/// Applies [`Lanes::scatter`] to each wire.
pub fn scatter<W: Lanes>(word: &mut [W], places: &[u32], lanes: &[W]) {
    word.iter_mut().zip(lanes).for_each(|(wires, lanes)| wires.scatter(places, lanes));
}

/// Concatenates words of the same width, wire by wire.
pub fn concat<W: Lanes>(words: &[Vec<W>]) -> Vec<W> {
    let width = words.first().map_or(0, Vec::len);
    (0..width)
        .map(|i| {
            let parts: Vec<W> = words.iter().map(|word| word[i].clone()).collect();
            W::concat(&parts)
        })
        .collect()
}

/// The lowest `width` bits of numbers, bit by bit: one number per lane.
pub fn bits_of(numbers: impl ExactSizeIterator<Item = u128> + Clone, width: usize) -> Vec<Bits> {
    let bit = |i: usize| numbers.clone().map(move |number| number >> i & 1 == 1).collect();
    (0..width).map(bit).collect()
}

/// The lowest `width` bits of items, bit by bit: one item per lane.
pub fn bits_of_items(items: &[Item], width: usize) -> Vec<Bits> {
    bits_of(items.iter().map(Item::integer), width)
}

/// The number in each lane of a revealed word of up to 128 bits.
pub fn numbers(word: &[Bits]) -> Vec<u128> {
    let len = word.first().map_or(0, Bits::len);
    let mut numbers = vec![0; len];
    for (i, bits) in word.iter().enumerate() {
        numbers.iter_mut().zip(bits.iter()).for_each(|(n, bit)| *n |= u128::from(bit) << i);
    }
    numbers
}
