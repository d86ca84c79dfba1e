//! Deterministic sets with a known intersection.

use vesica_core::{Item, hash};

const LABEL: &str = "vesica testkit item";

/// The items `range.start`, …, `range.end - 1` of one fixed universe.
pub fn items(range: std::ops::Range<u64>) -> Vec<Item> {
    range
        .map(|i| {
            let mut bytes = [0; Item::LEN];
            bytes.copy_from_slice(&hash::derive(LABEL, &[&i.to_le_bytes()])[..Item::LEN]);
            Item::from_bytes(bytes)
        })
        .collect()
}

/// A sender's set of `sender_len` and a receiver's of `receiver_len` items with `common` in both,
/// spread over either list.
pub fn overlapping(sender_len: u64, receiver_len: u64, common: u64) -> (Vec<Item>, Vec<Item>) {
    assert!(common <= sender_len.min(receiver_len), "more in common than a set holds");
    let x = items(0..sender_len);
    let mut y = items(0..common);
    y.extend(items(sender_len..sender_len + receiver_len - common));
    // Sorting by digest mixes the common items with the others.
    y.sort_unstable();
    (x, y)
}

/// Integers of `bits` bits in place of the items `range.start`, … of a universe of 2^`bits` − 1:
/// none is zero.
pub fn integers(bits: u32, range: std::ops::Range<u64>) -> Vec<Item> {
    assert!(u128::from(range.end) < 1 << bits, "the domain has as many items");
    // An odd factor permutes the domain and maps zero to itself.
    let spread = |i: u64| u128::from(i + 1) * 0x9e37_79b9_7f4a_7c15 % (1 << bits);
    range.map(|i| Item::from_integer(spread(i))).collect()
}

/// Positions in `own` of the items that `other` has too: the answer every protocol must return.
pub fn plain_intersection(own: &[Item], other: &[Item]) -> Vec<usize> {
    let other: std::collections::HashSet<&Item> = other.iter().collect();
    (0..own.len()).filter(|i| other.contains(&own[*i])).collect()
}
