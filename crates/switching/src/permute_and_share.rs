//! Permute and share: [oblivious switching](crate::oblivious) of all rows by a permutation.

use crate::Permutation;
use crate::oblivious::{self, Form, Rows, Shape};
use vesica_core::{Result, SessionId};
use vesica_net::Context;

/// The shape of a run: as many rows out as in.
pub const fn shape(len: usize, bits: u32) -> Shape {
    Shape { inputs: len, outputs: len, bits }
}

/// Holds the rows; gives this party's shares of them in the router's order.
///
/// # Errors
/// As [`oblivious::hold`].
pub fn hold(ctx: &mut Context, session: &SessionId, form: Form, rows: &Rows) -> Result<Rows> {
    oblivious::hold(ctx, session, form, rows, rows.len())
}

/// Permutes rows of `bits` bits; gives this party's shares of them: row i belongs to the holder's row
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
    let shape = shape(permutation.len(), bits);
    oblivious::route(ctx, session, form, permutation.sources(), &shape)
}
