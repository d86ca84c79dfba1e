//! Comparing words.

use crate::{Gates, LaneWise};
use vesica_core::{Error, Result};

const NO_OUTPUT: Error = Error::Bug("a part of a circuit has other inputs or outputs than it says");

/// Equality: the lanes where a = b (Huang, Evans, Katz, NDSS 2012, §4).
///
/// σ − 1 gates per lane for words of σ bits, depth ⌈log σ⌉.
///
/// # Errors
/// Connection errors; [`Error::Bug`] if the words have no bits.
pub fn equal<G: Gates>(g: &mut G, a: &[G::Wires], b: &[G::Wires]) -> Result<G::Wires> {
    g.lane_wise(&Equal, &[a, b])?.pop().ok_or(NO_OUTPUT)
}

struct Equal;

impl LaneWise for Equal {
    fn evaluate<G: Gates>(&self, g: &mut G, words: &[&[G::Wires]]) -> Result<Vec<G::Wires>> {
        let [a, b] = words else { return Err(NO_OUTPUT) };
        let same = a.iter().zip(*b).map(|(a, b)| g.not(&g.xor(a, b))).collect();
        Ok(vec![all(g, same)?])
    }
}

/// The AND of all wires: one gate fewer than there are wires, depth ⌈log⌉ of their number.
///
/// # Errors
/// Connection errors; [`Error::Bug`] if there are no wires.
pub fn all<G: Gates>(g: &mut G, mut wires: Vec<G::Wires>) -> Result<G::Wires> {
    while wires.len() > 1 {
        let odd = if wires.len() % 2 == 1 { wires.pop() } else { None };
        let (pairs, _) = wires.as_chunks::<2>();
        let pairs: Vec<_> = pairs.iter().map(|[a, b]| (a, b)).collect();
        let mut next = g.and(&pairs)?;
        next.extend(odd);
        wires = next;
    }
    wires.pop().ok_or(Error::Bug("comparison of empty words"))
}

/// a ∨ b: one gate per lane.
///
/// # Errors
/// Connection errors.
pub fn or<G: Gates>(g: &mut G, a: &G::Wires, b: &G::Wires) -> Result<G::Wires> {
    let neither = and(g, &g.not(a), &g.not(b))?;
    Ok(g.not(&neither))
}

/// a ∧ b: one gate per lane.
///
/// # Errors
/// Connection errors.
pub fn and<G: Gates>(g: &mut G, a: &G::Wires, b: &G::Wires) -> Result<G::Wires> {
    g.and(&[(a, b)])?.pop().ok_or(NO_OUTPUT)
}

/// s ∧ a for each wire of `word`: one gate per lane and wire, in one call.
///
/// # Errors
/// Connection errors.
pub fn mask<G: Gates>(g: &mut G, s: &G::Wires, word: &[G::Wires]) -> Result<Vec<G::Wires>> {
    g.lane_wise(&Mask, &[std::slice::from_ref(s), word])
}

struct Mask;

impl LaneWise for Mask {
    fn evaluate<G: Gates>(&self, g: &mut G, words: &[&[G::Wires]]) -> Result<Vec<G::Wires>> {
        let [[s], word] = words else { return Err(NO_OUTPUT) };
        let pairs: Vec<_> = word.iter().map(|wires| (s, wires)).collect();
        g.and(&pairs)
    }
}

/// The lanes where a > b as numbers.
///
/// σ gates per lane in depth σ (V. Kolesnikov, A.-R. Sadeghi, T. Schneider, CANS 2009). If depth is
/// expensive, 3σ − 2 − log σ gates for σ a power of two, in depth ⌈log σ⌉ + 1 (T. Schneider, M.
/// Zohner, FC 2013).
///
/// # Errors
/// Connection errors; [`Error::Bug`] if the words have no bits.
pub fn greater<G: Gates>(g: &mut G, a: &[G::Wires], b: &[G::Wires]) -> Result<G::Wires> {
    if g.prefers_depth() { greater_by_tree(g, a, b) } else { greater_by_carry(g, a, b) }
}

/// c ← a ⊕ (a ⊕ c)(b ⊕ c), from the lowest bit.
fn greater_by_carry<G: Gates>(g: &mut G, a: &[G::Wires], b: &[G::Wires]) -> Result<G::Wires> {
    let mut carry: Option<G::Wires> = None;
    for (a, b) in a.iter().zip(b) {
        let both = match &carry {
            None => and(g, a, b)?,
            Some(carry) => and(g, &g.xor(a, carry), &g.xor(b, carry))?,
        };
        carry = Some(g.xor(a, &both));
    }
    carry.ok_or(Error::Bug("comparison of empty words"))
}

/// (greater, equal) of ever larger parts, starting from single bits.
fn greater_by_tree<G: Gates>(g: &mut G, a: &[G::Wires], b: &[G::Wires]) -> Result<G::Wires> {
    let not_b: Vec<_> = b.iter().map(|b| g.not(b)).collect();
    let pairs: Vec<_> = a.iter().zip(&not_b).collect();
    let mut greater = g.and(&pairs)?;
    let mut equal: Vec<_> = a.iter().zip(&not_b).map(|(a, not_b)| g.xor(a, not_b)).collect();
    while greater.len() > 1 {
        // The equality of the lowest part is never needed.
        let parts = greater.len() / 2;
        let mut pairs = Vec::with_capacity(2 * parts);
        for i in 0..parts {
            pairs.push((&equal[2 * i + 1], &greater[2 * i]));
        }
        for i in 1..parts {
            pairs.push((&equal[2 * i + 1], &equal[2 * i]));
        }
        // An unpaired part moves up unchanged.
        let results = g.and(&pairs)?;
        let (carried, joined) = results.split_at(parts);
        let mut next_greater: Vec<_> =
            (0..parts).map(|i| g.xor(&greater[2 * i + 1], &carried[i])).collect();
        let mut next_equal = vec![equal[0].clone()];
        next_equal.extend_from_slice(joined);
        if greater.len() % 2 == 1 {
            next_greater.extend(greater.pop());
            next_equal.extend(equal.pop());
        }
        greater = next_greater;
        equal = next_equal;
    }
    greater.pop().ok_or(Error::Bug("comparison of empty words"))
}

/// Swaps a and b in the lanes where s is set: σ gates per lane (the paper's CondSwap).
///
/// # Errors
/// Connection errors.
pub fn swap_if<G: Gates>(
    g: &mut G,
    s: &G::Wires,
    a: &[G::Wires],
    b: &[G::Wires],
) -> Result<[Vec<G::Wires>; 2]> {
    let differences: Vec<_> = a.iter().zip(b).map(|(a, b)| g.xor(a, b)).collect();
    let changes = mask(g, s, &differences)?;
    let change = |word: &[G::Wires]| word.iter().zip(&changes).map(|(w, c)| g.xor(w, c)).collect();
    Ok([change(a), change(b)])
}

/// a where s is set and b where it is not: one gate per lane and wire (the paper's MUX).
///
/// # Errors
/// Connection errors.
pub fn multiplex<G: Gates>(
    g: &mut G,
    s: &G::Wires,
    a: &[G::Wires],
    b: &[G::Wires],
) -> Result<Vec<G::Wires>> {
    let differences: Vec<_> = a.iter().zip(b).map(|(a, b)| g.xor(a, b)).collect();
    let changes = mask(g, s, &differences)?;
    Ok(b.iter().zip(&changes).map(|(b, change)| g.xor(b, change)).collect())
}

/// Orders each pair of words by their lowest `key` bits, smaller first: 2σ gates per lane for words
/// of σ bits that are all key (the paper's 2-Sorter).
///
/// # Errors
/// Connection errors.
pub fn sort_2<G: Gates>(
    g: &mut G,
    key: usize,
    a: &[G::Wires],
    b: &[G::Wires],
) -> Result<[Vec<G::Wires>; 2]> {
    let mut smaller = g.lane_wise(&Sort2 { key }, &[a, b])?;
    let larger = smaller.split_off(a.len());
    Ok([smaller, larger])
}

/// The smaller words, then the larger.
struct Sort2 {
    key: usize,
}

impl LaneWise for Sort2 {
    fn evaluate<G: Gates>(&self, g: &mut G, words: &[&[G::Wires]]) -> Result<Vec<G::Wires>> {
        let [a, b] = words else { return Err(NO_OUTPUT) };
        let is_greater = greater(g, &a[..self.key], &b[..self.key])?;
        Ok(swap_if(g, &is_greater, a, b)?.concat())
    }
}

/// The lanes where a number is at least `least`: fewer gates per lane than the word has bits.
///
/// # Errors
/// Connection errors.
pub fn at_least<G: Gates>(
    g: &mut G,
    word: &[G::Wires],
    least: u64,
    len: usize,
) -> Result<G::Wires> {
    if u32::try_from(word.len()).is_ok_and(|bits| least.checked_shr(bits).unwrap_or(0) != 0) {
        return Ok(g.constant(false, len));
    }
    // Whether the bits so far are at least those of `least`; `None` while that is certain.
    let mut holds: Option<G::Wires> = None;
    for (i, wires) in word.iter().enumerate() {
        let bit = least.checked_shr(i as u32).unwrap_or(0) & 1 == 1;
        holds = match (bit, holds) {
            (false, None) => None,
            (true, None) => Some(wires.clone()),
            (true, Some(holds)) => Some(and(g, wires, &holds)?),
            (false, Some(holds)) => Some(or(g, wires, &holds)?),
        };
    }
    Ok(match holds {
        Some(holds) => holds,
        None => g.constant(true, len),
    })
}
