//! # Audits: whether a set is what its party announced
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom
//! protocols?", NDSS 2012, §3: a circuit can check "that neither input set is too large". The
//! circuit takes what the parties enter, so it finds out there what an honest program makes sure of
//! before: that a list rises, and so holds no item twice, or that a vector has as many ones as its
//! party announced items.
//!
//! **What an audit reveals.** The receiver alone learns one bit: whether both sets passed. If one
//! did not, no lane matches, for any sets. The receiver knows whether its own set passes, and the
//! sender's set passes if the sender's program is unmodified. So the bit tells the receiver only
//! whether the sender deviates. The sender must not learn the bit: it can garble a circuit in which
//! the bit says something about the receiver's set. So the receiver refuses the result only after
//! the last message ([`Output::Refused`]).

use vesica_circuit::gadgets::{all, and, equal, greater, hamming_weight};
use vesica_circuit::{Computation, Gates, Lanes, Reveal};
use vesica_core::{Misbehaviour, Result};
use vesica_party::Output;

/// Whether the circuit audits both sets: a type, as rows of the catalogue hold plain functions.
pub(crate) trait Audit: Send + 'static {
    /// Whether it does.
    const IS_MADE: bool;
}

/// Both sets are audited.
pub(crate) struct Audited;

/// No set is audited.
pub(crate) struct Unaudited;

impl Audit for Audited {
    const IS_MADE: bool = true;
}

impl Audit for Unaudited {
    const IS_MADE: bool = false;
}

/// Whether the words rise from lane to lane, so that no two are equal, and none is zero: one lane.
/// n·σ gates for n words of σ bits, and n − 2 more.
pub(crate) fn rises<G: Gates>(g: &mut G, words: &[G::Wires]) -> Result<G::Wires> {
    let n = words.first().map_or(0, Lanes::len);
    let part = |first: usize, len: usize| {
        words.iter().map(|wires| wires.slice(first, len)).collect::<Vec<_>>()
    };
    let is_zero = part(0, 1).iter().map(|bit| g.not(bit)).collect();
    let is_zero = all(g, is_zero)?;
    let mut rises = vec![g.not(&is_zero)];
    if n > 1 {
        rises.push(greater(g, &part(1, n - 1), &part(0, n - 1))?);
    }
    all_lanes(g, G::Wires::concat(&rises))
}

/// Whether `len` lanes are set: one lane.
pub(crate) fn has_len<G: Gates>(g: &mut G, set: &G::Wires, len: usize) -> Result<G::Wires> {
    let count = hamming_weight(g, set)?;
    // More than there are lanes.
    if len >> count.len() != 0 {
        return Ok(g.constant(false, 1));
    }
    let len: Vec<_> = (0..count.len()).map(|i| g.constant(len >> i & 1 == 1, 1)).collect();
    equal(g, &count, &len)
}

/// Whether all lanes are set: one lane, and a gate fewer than there are lanes.
pub(crate) fn all_lanes<G: Gates>(g: &mut G, mut wires: G::Wires) -> Result<G::Wires> {
    while wires.len() > 1 {
        let half = wires.len() / 2;
        let mut joined = and(g, &wires.slice(0, half), &wires.slice(half, half))?;
        if wires.len() % 2 == 1 {
            joined = G::Wires::concat(&[joined, wires.slice(2 * half, 1)]);
        }
        wires = joined;
    }
    Ok(wires)
}

/// `wires` where `is_right`, a single lane, is set, and zeros otherwise.
pub(crate) fn kept_if<G: Gates>(
    g: &mut G,
    is_right: &G::Wires,
    wires: &G::Wires,
) -> Result<G::Wires> {
    let everywhere = is_right.gather(&vec![0; wires.len()]);
    and(g, &everywhere, wires)
}

/// Tells the receiver alone whether the sets passed, and returns it. The sender does not learn it:
/// there the result is always true.
pub(crate) fn tell<C: Computation>(c: &mut C, is_right: C::Wires) -> Result<bool> {
    let told = c.reveal(&[is_right], Reveal::Receiver)?;
    Ok(told.is_none_or(|bits| bits.first().is_some_and(|bit| bit.len() == 1 && bit.get(0))))
}

/// `output`, or refused where a set did not pass.
pub(crate) fn unless_refused(is_right: bool, output: Output) -> Output {
    if is_right {
        return output;
    }
    let (output, _) = output.split();
    Output::Refused { output: Box::new(output), why: Misbehaviour::SetRefused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_circuit::{Clear, word};
    use vesica_ot::Bits;

    fn is_set(lane: &<Clear as Gates>::Wires) -> bool {
        assert_eq!(lane.len(), 1);
        Bits::from(lane).get(0)
    }

    #[test]
    fn lists_that_rise_from_above_zero_pass_and_no_others() {
        for (list, passes) in [
            (&[1][..], true),
            (&[0], false),
            (&[1, 2, 15], true),
            (&[1, 2, 4, 7, 11], true),
            (&[0, 2, 15], false),
            (&[2, 1, 15], false),
            (&[1, 15, 2], false),
            (&[1, 1, 2], false),
            (&[1, 2, 2], false),
            (&[1, 2, 4, 3, 11], false),
            (&[1, 2, 4, 7, 7], false),
        ] {
            let mut c = Clear::default();
            let bits = word::bits_of(list.iter().map(|i| *i as u128), 4);
            let words: Vec<_> = bits.iter().map(Into::into).collect();
            assert_eq!(is_set(&rises(&mut c, &words).unwrap()), passes, "{list:?}");
        }
    }

    #[test]
    fn vectors_of_another_number_of_ones_do_not_pass() {
        for len in 1..20 {
            for ones in 0..=len {
                let bits: Bits =
                    (0..len).map(|i| (i * 7) % len < ones || len == 7 && i < ones).collect();
                let real = bits.iter().filter(|bit| *bit).count();
                for claimed in 0..=3 * len {
                    let passes = has_len(&mut Clear::default(), &(&bits).into(), claimed).unwrap();
                    assert_eq!(is_set(&passes), claimed == real, "{claimed} of {real} in {len}");
                }
            }
        }
    }
}
