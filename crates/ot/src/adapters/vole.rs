//! VOLE over GF(2^128) from correlated transfers, one per bit of a value (see [`Lift`]).

use crate::softspoken::Voles;
use crate::{CotReceiver, CotSender, Lift};
use vesica_core::{Block, Result};
use vesica_net::Context;

/// Values made together; each takes one transfer per bit.
const PER_EXTENSION: usize = 1 << 13;

/// K_i of `len` correlations.
///
/// # Errors
/// As [`CotSender::extend`].
pub fn send(
    cots: &mut impl CotSender,
    ctx: &mut Context,
    len: usize,
    lift: &Lift,
) -> Result<Vec<Block>> {
    let mut blocks = Vec::with_capacity(len);
    while blocks.len() < len {
        let count = PER_EXTENSION.min(len - blocks.len());
        let columns = cots.extend(ctx, count * lift.width_bits())?;
        blocks.extend(lift.combine_each(&columns));
    }
    Ok(blocks)
}

/// u_i and M_i = K_i + lift(u_i)·Δ of `len` correlations with random u_i.
///
/// # Errors
/// As [`CotReceiver::extend`].
pub fn receive(
    cots: &mut impl CotReceiver,
    ctx: &mut Context,
    len: usize,
    lift: &Lift,
) -> Result<Voles> {
    let mut voles = Voles::default();
    while voles.blocks.len() < len {
        let count = PER_EXTENSION.min(len - voles.blocks.len());
        let cots = cots.extend(ctx, count * lift.width_bits())?;
        voles.values.extend((0..count).map(|i| lift.value_at(cots.choices.blocks(), i)));
        voles.blocks.extend(lift.combine_each(&cots.blocks));
    }
    Ok(voles)
}
