//! # Equality of two lists, place by place
//!
//! G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from
//! oblivious switching", PKC 2021, Figure 4 and section 3.4: the functionality F_bEQ, from an OPRF
//! with one input of the receiver per place.
//!
//! | | |
//! |---|---|
//! | security | that of the OPRF, semi-honest |
//! | sender learns | nothing |
//! | receiver learns | e_i = \[x_i = y_i\] for each i |
//! | flights | 5 with VOLE, 3 for short lists; 4 with KKRT16; [`flights`] |
//! | bytes | those of the OPRF, and ℓ = λ + 1 + ⌈log n⌉ bits per place from the sender |
//!
//! ```text
//!   sender: x_1, …, x_n                             receiver: y_1, …, y_n
//!
//!   F                           ◀──────────────▶    F(i‖y_i)
//!   F(i‖x_i), ℓ bits            ───────────────▶    e_i = 1 iff they agree
//! ```
//!
//! Unequal values count as equal with probability 2^-41 over the whole list: ℓ is one bit longer
//! than 2^-40 requires, so that a protocol whose values collide with probability 2^-41 is wrong
//! with probability 2^-40 in total. With VOLE in low communication the elements of the key-value
//! store are short too, ℓ bits rounded up to a multiple of 16, and add at most the same probability
//! again. In a run that is one of several for one result, λ takes the place of 40.
//!
//! **With KKRT16** place i is instance i, as in the paper. **With the VOLE OPRF** i‖y is y ⊕ π(i),
//! where π is AES under a key that the receiver draws once the values are fixed: different values
//! at one place remain different, and the inputs at two places agree with probability 2^-128.

mod form;
mod kkrt;
mod vole;

pub use form::Form;

use crate::packed::{self, VALUES_PER_MESSAGE};
use form::output_bits;
use vesica_core::hash::derive;
use vesica_core::{Block, ParameterError, Result, Runs, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};

const SESSION_LABEL: &str = "vesica v1 equality session";

/// The maximum length of a list: places are numbered with 32 bits.
pub const MAX_LEN: usize = u32::MAX as usize;

/// Exact payload bytes for lists of `len` values in each of `runs` that make one result, from the
/// sender to the receiver and back. Zero for empty lists; above [`MAX_LEN`] those of that length.
pub fn bytes(form: Form, len: usize, runs: Runs) -> Traffic {
    if len == 0 {
        return Traffic::default();
    }
    let len = len.min(MAX_LEN);
    let oprf = match form {
        Form::Vole | Form::VoleFast => {
            crate::vole::bytes::<SemiHonest>(&vole::plan(form, len, runs))
        }
        Form::Kkrt => crate::kkrt::bytes(len, kkrt::comparisons(len, runs)),
    };
    let outputs = packed::bytes_len(len, output_bits(len, runs)) as u64;
    oprf + Traffic { sender_to_receiver: outputs, receiver_to_sender: 0 }
}

/// Flights for lists of `len` values, the last of them from the sender. Zero for empty lists; above
/// [`MAX_LEN`] those of that length.
pub fn flights(form: Form, len: usize, runs: Runs) -> u64 {
    match form {
        _ if len == 0 => 0,
        // The outputs follow the OPRF.
        Form::Vole | Form::VoleFast => {
            crate::vole::flights::<SemiHonest>(&vole::plan(form, len.min(MAX_LEN), runs)) + 1
        }
        Form::Kkrt => 4,
    }
}

/// The sender's part: the receiver learns where `x` equals its own list of the same length.
///
/// `session` must be fresh, and not that of another comparison in the same direction. A session
/// derived from it is used inside, never `session` itself.
///
/// # Errors
/// [`SetTooLarge`](ParameterError::SetTooLarge) above [`MAX_LEN`]; errors of the connection and of
/// the OPRF.
pub fn send(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    runs: Runs,
    x: &[Block],
) -> Result<()> {
    check(x.len())?;
    if x.is_empty() {
        return Ok(());
    }
    let session = &inner_session(session);
    let outputs = match form {
        Form::Vole | Form::VoleFast => vole::evaluate_everywhere(ctx, session, form, runs, x)?,
        Form::Kkrt => kkrt::evaluate_everywhere(ctx, session, runs, x)?,
    };
    ctx.child("answers", |ctx| {
        let mut message = Vec::new();
        for outputs in outputs.chunks(VALUES_PER_MESSAGE) {
            message.clear();
            packed::pack(outputs, output_bits(x.len(), runs), &mut message);
            ctx.peer()?.send(&message)?;
        }
        ctx.peer()?.flush()
    })
}

/// The receiver's part: bit i states whether `y[i]` equals the sender's value at the same place.
///
/// `session` as in [`send`].
///
/// # Errors
/// As [`send`].
pub fn receive(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    runs: Runs,
    y: &[Block],
) -> Result<Bits> {
    check(y.len())?;
    if y.is_empty() {
        return Ok(Bits::default());
    }
    let session = &inner_session(session);
    let outputs = match form {
        Form::Vole | Form::VoleFast => vole::evaluate(ctx, session, form, runs, y)?,
        Form::Kkrt => kkrt::evaluate(ctx, session, runs, y)?,
    };
    ctx.child("answers", |ctx| {
        let bits = output_bits(y.len(), runs);
        let mask = Block::new(u128::MAX >> (128 - bits));
        let mut received = vec![Block::ZERO; VALUES_PER_MESSAGE.min(y.len())];
        let mut equal = vec![Block::ZERO; y.len().div_ceil(128)];
        let parts = outputs.chunks(VALUES_PER_MESSAGE);
        for (outputs, equal) in parts.zip(equal.chunks_mut(VALUES_PER_MESSAGE / 128)) {
            let received = &mut received[..outputs.len()];
            let message = ctx.peer()?.recv(packed::bytes_len(received.len(), bits))?;
            packed::unpack(message, bits, received);
            for (i, (value, output)) in received.iter().zip(outputs).enumerate() {
                let is_equal = *value == *output & mask;
                equal[i / 128] ^= Block::new(u128::from(is_equal) << (i % 128));
            }
        }
        Ok(Bits::new(equal, y.len()))
    })
}

fn check(len: usize) -> Result<()> {
    if len > MAX_LEN {
        let (len, max) = (len as u64, MAX_LEN as u64);
        return Err(ParameterError::SetTooLarge { len, max }.into());
    }
    Ok(())
}

fn inner_session(session: &SessionId) -> SessionId {
    SessionId::from_bytes(derive(SESSION_LABEL, &[session.as_bytes()]))
}
