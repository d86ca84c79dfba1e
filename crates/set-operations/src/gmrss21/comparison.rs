//! Whether private values of both parties are equal, as shares of one bit each.

use vesica_circuit::gadgets::all;
use vesica_circuit::gmw::{self, Gmw};
use vesica_circuit::{BitLanes, Cost, Gates, word};
use vesica_core::{Block, Error, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::Traffic;

/// The party that chooses in the transfers below the gates. Either would do.
const CHOOSER: Role = Role::Sender;

/// The gates of `len` comparisons of `bits` bits.
fn cost(len: usize, bits: u32) -> Cost {
    let mut counting = gmw::counting();
    let differences = |counting: &mut vesica_circuit::Counting, lanes| {
        (0..bits).map(|_| counting.constant(false, lanes)).collect()
    };
    let at_once = counting.lanes_at_once();
    for first in (0..len).step_by(at_once) {
        let differences = differences(&mut counting, at_once.min(len - first));
        // Counting does not use the network, so it cannot fail.
        let counted = are_zero(&mut counting, differences);
        debug_assert!(counted.is_ok());
    }
    counting.cost().clone()
}

/// Payload bytes of `len` comparisons of `bits` bits.
pub(super) fn bytes(len: usize, bits: u32) -> Traffic {
    gmw::bytes(&cost(len, bits), CHOOSER)
}

/// Flights of them.
pub(super) fn flights(len: usize, bits: u32) -> u64 {
    gmw::flights(&cost(len, bits), CHOOSER)
}

/// This party's share of whether each of its `values` equals the other's at the same place; only
/// the lowest `bits` bits count.
///
/// A value of one party is a share of the difference of both: nothing is sent before the first
/// gates.
pub(super) fn shares(
    ctx: &mut Context,
    session: &SessionId,
    role: Role,
    values: &[Block],
    bits: u32,
) -> Result<Vec<bool>> {
    let mut gmw = Gmw::new(ctx, session, role, CHOOSER, &cost(values.len(), bits))?;
    let mut shares = Vec::with_capacity(values.len());
    for values in values.chunks(gmw.lanes_at_once()) {
        let own = word::bits_of(values.iter().map(|value| value.get()), bits as usize);
        let differences = own.iter().map(BitLanes::from).collect();
        let share = are_zero(&mut gmw, differences)?;
        shares.extend(share.iter());
    }
    if shares.len() == values.len() {
        Ok(shares)
    } else {
        Err(Error::Bug("a comparison gave another number of bits"))
    }
}

fn are_zero<G: Gates>(g: &mut G, differences: Vec<G::Wires>) -> Result<G::Wires> {
    let same = differences.iter().map(|wires| g.not(wires)).collect();
    all(g, same)
}
