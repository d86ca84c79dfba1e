//! Sums and products of integers with or without a sign.

use super::add::sum_of_lanes;
use crate::{Gates, Lanes};
use vesica_core::Result;

/// Bits modulo which a [`BitSum`] is known.
const MODULUS_BITS: usize = u128::BITS as usize;

/// A word that is an integer.
#[derive(Clone, Debug)]
pub struct Integer<W> {
    /// Its bits, lowest first; in two's complement if it is signed. No wires are the number zero.
    pub wires: Vec<W>,
    /// Whether the highest bit is the sign.
    pub signed: bool,
}

impl<W: Lanes> Integer<W> {
    /// Its lowest `width` bits, of `len` lanes each: the sign, or zeros, continue it.
    pub fn extended<G: Gates<Wires = W>>(&self, g: &mut G, width: usize, len: usize) -> Vec<W> {
        let above = match self.wires.last() {
            Some(sign) if self.signed => sign.clone(),
            _ => g.constant(false, len),
        };
        self.wires.iter().cloned().chain(std::iter::repeat(above)).take(width).collect()
    }
}

/// A sum of bits with weights, and a constant, modulo 2^128: an integer whose carries are not
/// computed yet, so that sums of sums compute them once.
///
/// A bit b of weight −2^i is ¬b of weight 2^i and −2^i in the constant. So a sign costs no gates.
#[derive(Clone, Debug)]
pub struct BitSum<W> {
    /// The bits of weight 2^i.
    columns: Vec<Vec<W>>,
    constant: u128,
}

impl<W: Lanes> BitSum<W> {
    /// `number` in every lane.
    pub fn constant(number: i128) -> Self {
        Self { columns: Vec::new(), constant: number as u128 }
    }

    /// The number `integer`.
    pub fn of<G: Gates<Wires = W>>(g: &G, integer: &Integer<W>) -> Self {
        let mut sum = Self::constant(0);
        for (i, bit) in integer.wires.iter().enumerate() {
            sum.push(g, bit, i, integer.is_sign(i));
        }
        sum
    }

    /// Adds 2^`weight` times `bit`, or subtracts it.
    fn push<G: Gates<Wires = W>>(&mut self, g: &G, bit: &W, weight: usize, is_negative: bool) {
        if weight >= MODULUS_BITS {
            return;
        }
        if self.columns.len() <= weight {
            self.columns.resize_with(weight + 1, Vec::new);
        }
        if is_negative {
            self.constant = self.constant.wrapping_sub(1 << weight);
        }
        self.columns[weight].push(if is_negative { g.not(bit) } else { bit.clone() });
    }

    /// Adds `factor` times `other`: as many copies of its bits as |`factor`| has ones.
    pub fn add_times<G: Gates<Wires = W>>(&mut self, g: &G, other: &Self, factor: i128) {
        for shift in (0..MODULUS_BITS).filter(|i| factor.unsigned_abs() >> i & 1 == 1) {
            for (weight, column) in other.columns.iter().enumerate() {
                column.iter().for_each(|bit| self.push(g, bit, weight + shift, factor < 0));
            }
        }
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor as u128));
    }

    /// The lowest `width` bits of the sum, at most 128, of `len` lanes each.
    ///
    /// Full adders, one gate each and all of a layer in one call, leave two bits of each weight;
    /// then the carry runs from the lowest to the highest. The sum of two words of σ bits takes σ −
    /// 1 gates. A bit of the constant counts as another bit where two have its weight, and is free
    /// in other places.
    ///
    /// # Errors
    /// Connection errors.
    pub fn word<G: Gates<Wires = W>>(&self, g: &mut G, width: usize, len: usize) -> Result<Vec<W>> {
        let mut columns: Vec<Column<W>> = (0..width)
            .map(|i| Column {
                wires: self.columns.get(i).cloned().unwrap_or_default(),
                has_one: i < MODULUS_BITS && self.constant >> i & 1 == 1,
            })
            .collect();
        while add_threes(g, &mut columns)? {}
        let mut word = Vec::with_capacity(width);
        let mut carry = Bit::Zero;
        for (i, Column { mut wires, has_one }) in columns.into_iter().enumerate() {
            let ones = usize::from(has_one) + usize::from(matches!(carry, Bit::One));
            if let Bit::Wire(carry) = carry {
                wires.push(carry);
            }
            word.push(parity(g, &wires, ones, len));
            // No carry leaves the word.
            carry = if i + 1 < width { majority(g, &wires, ones)? } else { Bit::Zero };
        }
        Ok(word)
    }

    /// The sum over all `len` lanes, of which the lowest `width` bits are right, as a number of one
    /// lane. As [`sum_of_lanes`](super::sum_of_lanes()), over all bits of all lanes.
    ///
    /// # Errors
    /// Connection errors.
    pub fn sum_of_lanes<G: Gates<Wires = W>>(
        &self,
        g: &mut G,
        width: usize,
        len: usize,
    ) -> Result<Self> {
        let none = g.constant(false, 0);
        let all = |column: &Vec<W>| match &column[..] {
            [] => none.clone(),
            wires => W::concat(wires),
        };
        let columns: Vec<W> = self.columns.iter().take(width).map(all).collect();
        let sum = sum_of_lanes(g, &columns)?;
        let columns = sum.into_iter().take(width);
        Ok(Self {
            columns: columns.map(|bit| if bit.is_empty() { vec![] } else { vec![bit] }).collect(),
            constant: self.constant.wrapping_mul(len as u128),
        })
    }
}

impl<W> Integer<W> {
    fn is_sign(&self, i: usize) -> bool {
        self.signed && i + 1 == self.wires.len()
    }
}

/// a·b: a gate for each pair of their bits, in one call.
///
/// # Errors
/// Connection errors.
pub fn product<G: Gates>(
    g: &mut G,
    a: &Integer<G::Wires>,
    b: &Integer<G::Wires>,
) -> Result<BitSum<G::Wires>> {
    let places = (0..a.wires.len()).flat_map(|i| (0..b.wires.len()).map(move |j| (i, j)));
    let pairs: Vec<_> = places.clone().map(|(i, j)| (&a.wires[i], &b.wires[j])).collect();
    let bits = if pairs.is_empty() { Vec::new() } else { g.and(&pairs)? };
    let mut sum = BitSum::constant(0);
    for ((i, j), bit) in places.zip(&bits) {
        sum.push(g, bit, i + j, a.is_sign(i) != b.is_sign(j));
    }
    Ok(sum)
}

/// a²: a gate for each two of its bits, in one call. σ·(σ − 1)/2 gates for σ bits.
///
/// # Errors
/// Connection errors.
pub fn square<G: Gates>(g: &mut G, a: &Integer<G::Wires>) -> Result<BitSum<G::Wires>> {
    let places = (0..a.wires.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let pairs: Vec<_> = places.clone().map(|(i, j)| (&a.wires[i], &a.wires[j])).collect();
    let bits = if pairs.is_empty() { Vec::new() } else { g.and(&pairs)? };
    let mut sum = BitSum::constant(0);
    for (i, bit) in a.wires.iter().enumerate() {
        sum.push(g, bit, 2 * i, false);
    }
    for ((i, j), bit) in places.zip(&bits) {
        sum.push(g, bit, i + j + 1, a.is_sign(i));
    }
    Ok(sum)
}

/// The bits of one weight, and whether the constant has one of this weight.
struct Column<W> {
    wires: Vec<W>,
    has_one: bool,
}

/// A carry.
enum Bit<W> {
    Zero,
    One,
    Wire(W),
}

/// The lowest bit of the sum of `wires` and `ones`.
fn parity<G: Gates>(g: &mut G, wires: &[G::Wires], ones: usize, len: usize) -> G::Wires {
    let is_odd = !ones.is_multiple_of(2);
    let Some((first, others)) = wires.split_first() else { return g.constant(is_odd, len) };
    let sum = others.iter().fold(first.clone(), |sum, wire| g.xor(&sum, wire));
    if is_odd { g.not(&sum) } else { sum }
}

/// The second bit of the sum of `wires` and `ones`, together at most three.
fn majority<G: Gates>(g: &mut G, wires: &[G::Wires], ones: usize) -> Result<Bit<G::Wires>> {
    Ok(match (wires, ones) {
        ([], 0 | 1) | ([_], 0) => Bit::Zero,
        ([], _) | ([_], 2..) => Bit::One,
        ([a], _) => Bit::Wire(a.clone()),
        ([a, b, ..], _) => {
            let pair = adder_inputs(g, a, b, wires.get(2), ones);
            let both = g.and(&[(&pair.0, &pair.1)])?;
            Bit::Wire(carry_of(g, a, &both[0], wires.len() + ones))
        }
    })
}

/// What a full adder of a, b and c, or of a, b and `ones`, multiplies.
fn adder_inputs<G: Gates>(
    g: &G,
    a: &G::Wires,
    b: &G::Wires,
    c: Option<&G::Wires>,
    ones: usize,
) -> (G::Wires, G::Wires) {
    match c {
        Some(c) => (g.xor(a, b), g.xor(a, c)),
        // (a ⊕ b)(a ⊕ 1), or a·b.
        None if ones > 0 => (g.xor(a, b), g.not(a)),
        None => (a.clone(), b.clone()),
    }
}

/// The carry of an adder of `count` bits.
fn carry_of<G: Gates>(g: &G, a: &G::Wires, both: &G::Wires, count: usize) -> G::Wires {
    if count == 3 { g.xor(a, both) } else { both.clone() }
}

/// Applies a full adder to each three bits of one weight, except the highest, from which no carry
/// leaves. Returns whether there were any.
fn add_threes<G: Gates>(g: &mut G, columns: &mut [Column<G::Wires>]) -> Result<bool> {
    struct Adder<W> {
        column: usize,
        wires: Vec<W>,
        ones: usize,
    }
    let mut adders = Vec::new();
    let below_top = columns.len().saturating_sub(1);
    for (i, column) in columns[..below_top].iter_mut().enumerate() {
        while column.wires.len() + usize::from(column.has_one) >= 3 {
            let ones = usize::from(std::mem::take(&mut column.has_one));
            let wires = column.wires.drain(..3 - ones).collect();
            adders.push(Adder { column: i, wires, ones });
        }
    }
    if adders.is_empty() {
        return Ok(false);
    }
    let inputs: Vec<_> = adders
        .iter()
        .map(|Adder { wires, ones, .. }| adder_inputs(g, &wires[0], &wires[1], wires.get(2), *ones))
        .collect();
    let pairs: Vec<_> = inputs.iter().map(|(a, b)| (a, b)).collect();
    for (Adder { column, wires, ones }, both) in adders.into_iter().zip(g.and(&pairs)?) {
        let len = both.len();
        let sum = parity(g, &wires, ones, len);
        columns[column].wires.push(sum);
        columns[column + 1].wires.push(carry_of(g, &wires[0], &both, 3));
    }
    Ok(true)
}
