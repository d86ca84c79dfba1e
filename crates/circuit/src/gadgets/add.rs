//! Counting and adding lanes.

use super::compare::and;
use crate::{Gates, Lanes};
use vesica_core::{Error, Result};

/// The number of set lanes, as a word of one lane: N − wt(N) gates for N lanes, where wt(N) is the
/// Hamming weight of N (J. Boyar, R. Peralta, "The exact multiplicative complexity of the Hamming
/// weight function").
///
/// # Errors
/// Connection errors.
pub fn hamming_weight<G: Gates>(g: &mut G, wires: &G::Wires) -> Result<Vec<G::Wires>> {
    sum_of_lanes(g, std::slice::from_ref(wires))
}

/// The sum of the numbers in all lanes of `word`, as a word of one lane that is wide enough.
///
/// Uses full adders, one gate each, while a column has three bits, then half adders. The depth is
/// logarithmic plus the length of the carry chain. The wires may have different numbers of lanes:
/// lanes that a wire lacks are zero.
///
/// # Errors
/// Connection errors.
pub fn sum_of_lanes<G: Gates>(g: &mut G, word: &[G::Wires]) -> Result<Vec<G::Wires>> {
    let mut columns: Vec<G::Wires> = word.to_vec();
    if columns.iter().all(Lanes::is_empty) {
        return Ok(Vec::new());
    }
    loop {
        let full: Vec<usize> = (0..columns.len()).filter(|i| columns[*i].len() >= 3).collect();
        if !full.is_empty() {
            add_thirds(g, &mut columns, &full)?;
            continue;
        }
        // The columns below the first with two bits are final.
        let Some(first) = columns.iter().position(|column| column.len() == 2) else {
            return Ok(columns);
        };
        let (a, b) = (columns[first].slice(0, 1), columns[first].slice(1, 1));
        let carry = and(g, &a, &b)?;
        columns[first] = g.xor(&a, &b);
        carry_to(&mut columns, first + 1, carry);
    }
}

/// Applies full adders to all groups of three in each of the columns `full`.
fn add_thirds<G: Gates>(g: &mut G, columns: &mut Vec<G::Wires>, full: &[usize]) -> Result<()> {
    let mut inputs = Vec::with_capacity(full.len());
    for i in full {
        let column = &columns[*i];
        let n = column.len() / 3;
        let third = |k: usize| column.slice(k * n, n);
        let rest = column.slice(3 * n, column.len() - 3 * n);
        let (a, b, c) = (third(0), third(1), third(2));
        inputs.push((g.xor(&a, &b), g.xor(&a, &c), a, c, rest));
    }
    let pairs: Vec<_> = inputs.iter().map(|(ab, ac, ..)| (ab, ac)).collect();
    let both = g.and(&pairs)?;
    let mut carries = Vec::with_capacity(full.len());
    for ((i, both), (ab, _, a, c, rest)) in full.iter().zip(both).zip(inputs) {
        columns[*i] = G::Wires::concat(&[g.xor(&ab, &c), rest]);
        carries.push((i + 1, g.xor(&a, &both)));
    }
    carries.into_iter().for_each(|(to, carry)| carry_to(columns, to, carry));
    Ok(())
}

/// Adds the lanes of `carry` to column `to`.
fn carry_to<W: Lanes>(columns: &mut Vec<W>, to: usize, carry: W) {
    match columns.get_mut(to) {
        Some(column) => *column = W::concat(&[column.clone(), carry]),
        None => columns.push(carry),
    }
}

/// a + b for words of the same length, as a word one bit longer: one gate per bit.
///
/// # Errors
/// Connection errors; [`Error::Bug`] if the words have no bits.
pub fn add<G: Gates>(g: &mut G, a: &[G::Wires], b: &[G::Wires]) -> Result<Vec<G::Wires>> {
    let mut sum = Vec::with_capacity(a.len() + 1);
    let mut carry: Option<G::Wires> = None;
    for (a, b) in a.iter().zip(b) {
        match carry.take() {
            None => {
                sum.push(g.xor(a, b));
                carry = Some(and(g, a, b)?);
            }
            Some(c) => {
                let (ac, bc) = (g.xor(a, &c), g.xor(b, &c));
                sum.push(g.xor(&ac, b));
                let both = and(g, &ac, &bc)?;
                carry = Some(g.xor(&c, &both));
            }
        }
    }
    sum.push(carry.ok_or(Error::Bug("addition of empty words"))?);
    Ok(sum)
}
