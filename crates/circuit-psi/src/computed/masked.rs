//! Sums that leave a circuit under a mask of the sender's.
//!
//! With a mask r below 2^k, a sum S below 2^w and c, the carry of S + r mod 2^w into bit w:
//!
//! ```text
//!   bits 0 … w − 1 of S + r     r's are lanes of their own in the sum
//!   bit j from w on             r_j ⊕ (c ∧ r_w ∧ … ∧ r_{j−1})
//! ```
//!
//! The sender knows r_w ∧ … ∧ r_{j−1}, the *runs*, and so all upper bits take one call for gates,
//! however wide the mask is.

use std::iter::once;
use vesica_circuit::gadgets::{and, sum_of_lanes};
use vesica_circuit::{Computation, Gates, Lanes, word};
use vesica_core::params::ceil_log2;
use vesica_core::{Result, Role};
use vesica_ot::Bits;

/// A mask in the circuit.
struct Mask<W> {
    /// Its lowest w bits.
    low: Vec<W>,
    /// Its other bits, one in each lane.
    high: W,
    /// For each of `high`, whether all of `high` below it are set.
    runs: W,
}

/// The sum of the numbers in all lanes of `word`, plus the sender's `mask`, modulo 2^`bits`: wires
/// whose lanes, one wire after the other, are its bits from the lowest on. `bits` are enough for
/// any sum, and at most 128.
///
/// # Errors
/// Connection errors.
pub(super) fn masked_sum<C: Computation>(
    c: &mut C,
    word: &[C::Wires],
    mask: Option<u128>,
    bits: u32,
) -> Result<Vec<C::Wires>> {
    // A sum of n numbers below 2^b is below n·2^b.
    let low = word.len() + ceil_log2(word::lanes(word) as u64) as usize;
    let high = bits as usize - low;
    let own = mask.map(|r| (word::bits_of(once(r), low), high_bits(r, low, bits as usize)));
    let (own_low, own_high) = own.unzip();
    let low = c.input(Role::Sender, own_low.as_deref(), low, 1)?;
    let own_high = own_high.as_ref().map(<[Bits; 2]>::as_slice);
    let high_and_runs = c.input(Role::Sender, own_high, 2, high)?;
    let [high, runs] = [0, 1].map(|i| high_and_runs[i].clone());
    add_mask(c, word, Mask { low, high, runs })
}

/// The bits of `r` from `low` on, and the runs.
fn high_bits(r: u128, low: usize, bits: usize) -> [Bits; 2] {
    let is_set = |i: usize| r >> i & 1 == 1;
    let first_zero = (low..bits).find(|i| !is_set(*i)).unwrap_or(bits);
    [(low..bits).map(is_set).collect(), (low..bits).map(|i| i <= first_zero).collect()]
}

fn add_mask<G: Gates>(g: &mut G, word: &[G::Wires], mask: Mask<G::Wires>) -> Result<Vec<G::Wires>> {
    let lanes = |(i, r): (usize, &G::Wires)| match word.get(i) {
        Some(wires) => G::Wires::concat(&[wires.clone(), r.clone()]),
        None => r.clone(),
    };
    let columns: Vec<_> = mask.low.iter().enumerate().map(lanes).collect();
    let mut sum = sum_of_lanes(g, &columns)?;
    // S + r mod 2^w is below 2^(w+1).
    sum.truncate(columns.len() + 1);
    if let Some(carry) = sum.get(columns.len()) {
        let to_all = carry.gather(&vec![0; mask.high.len()]);
        let carried = and(g, &to_all, &mask.runs)?;
        sum[columns.len()] = g.xor(&mask.high, &carried);
    } else {
        sum.push(mask.high);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_circuit::{BitLanes, Clear};

    /// S + r as the circuit gives it, for numbers of `width` bits.
    fn masked(numbers: &[u128], width: usize, r: u128, bits: usize) -> u128 {
        let lanes = |bits: &Bits| BitLanes::from(bits);
        let word: Vec<_> =
            word::bits_of(numbers.iter().copied(), width).iter().map(lanes).collect();
        let low = width + ceil_log2(numbers.len() as u64) as usize;
        let [high, runs] = high_bits(r, low, bits).each_ref().map(lanes);
        let low = word::bits_of(once(r), low).iter().map(lanes).collect();
        let sum = add_mask(&mut Clear::default(), &word, Mask { low, high, runs }).unwrap();
        let all: Vec<bool> =
            sum.iter().flat_map(|w| Bits::from(w).iter().collect::<Vec<_>>()).collect();
        assert_eq!(all.len(), bits);
        all.iter().rev().fold(0, |number, bit| number << 1 | u128::from(*bit))
    }

    #[test]
    fn a_mask_is_added_modulo_a_power_of_two() {
        let values: Vec<u128> = (0..21).map(|i| i * i % 8).collect();
        for bits in [12, 64, 128] {
            let most = u128::MAX >> (128 - bits);
            let long_run = most ^ 1 << (bits - 2);
            let spread = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
            for r in [0, 1, most, most - 1, most - 20, most / 2, long_run, spread & most] {
                for set in 0..=21 {
                    let flags: Vec<u128> = (0..21).map(|i| u128::from(i < set)).collect();
                    let expected = r.wrapping_add(set) & most;
                    assert_eq!(masked(&flags, 1, r, bits), expected, "{set} + {r:x}, {bits} bits");
                }
                for n in 1..=21 {
                    let sum: u128 = values[..n].iter().sum();
                    let expected = r.wrapping_add(sum) & most;
                    assert_eq!(masked(&values[..n], 3, r, bits), expected, "{n}: {r:x}");
                    let most_each = vec![7; n];
                    let expected = r.wrapping_add(7 * n as u128) & most;
                    assert_eq!(masked(&most_each, 3, r, bits), expected, "{n}: {r:x}");
                }
            }
        }
    }
}
