//! Permute and share: [oblivious switching](crate::oblivious) of all rows by a permutation.

use crate::Permutation;
use crate::oblivious::{self, Form, Rows, Sizes};
use vesica_core::{Result, SessionId};
use vesica_net::Context;

/// The sizes of a run with as many outputs as inputs.
pub const fn sizes(len: usize, bits: u32) -> Sizes {
    Sizes { inputs: len, outputs: len, bits }
}

/// Runs the holder of the rows. Returns its shares, in the router's order.
///
/// # Errors
/// As [`oblivious::hold`].
pub fn hold(ctx: &mut Context, session: &SessionId, form: Form, rows: &Rows) -> Result<Rows> {
    oblivious::hold(ctx, session, form, rows, rows.len())
}

/// Runs the router on rows of `bits` bits. Returns its shares: row i shares the holder's row
/// `permutation.sources()[i]`.
///
/// # Errors
/// As [`oblivious::route`].
pub fn route(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    permutation: &Permutation,
    bits: u32,
) -> Result<Rows> {
    let sizes = sizes(permutation.len(), bits);
    oblivious::route(ctx, session, form, permutation.sources(), &sizes)
}
