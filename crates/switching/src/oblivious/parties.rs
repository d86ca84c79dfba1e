//! The two parties, for both forms.

use super::choices::Choices;
use super::rows::Rows;
use super::walk::{Switches, walk};
use super::{Form, Sizes, correlated, two_ciphertexts};
use rand::Rng;
use vesica_core::{Block, ParameterError, Result, SessionId};
use vesica_net::Context;

/// A party of one of the forms.
enum InForm<C, T> {
    Correlated(C),
    TwoCiphertexts(T),
}

impl<C: Switches, T: Switches> InForm<C, T> {
    fn setup(ctx: &mut Context, session: &SessionId, form: Form, sizes: &Sizes) -> Result<Self> {
        sizes.check()?;
        let (switches, bits) = (sizes.switches(), sizes.bits);
        ctx.child("transfers", |ctx| match form {
            Form::Correlated => C::setup(ctx, session, switches, bits).map(Self::Correlated),
            Form::TwoCiphertexts => {
                T::setup(ctx, session, switches, bits).map(Self::TwoCiphertexts)
            }
        })
    }
}

/// The party with the rows, after the setup of its OTs.
pub struct Holder {
    sizes: Sizes,
    form: InForm<correlated::Holder, two_ciphertexts::Holder>,
}

impl Holder {
    /// Sets up the OTs.
    ///
    /// # Errors
    /// [`ParameterError::RowCounts`] and [`ParameterError::RowBits`] for impossible sizes;
    /// connection errors; [`vesica_core::Misbehaviour`] in the OTs.
    pub fn setup(
        ctx: &mut Context,
        session: &SessionId,
        form: Form,
        sizes: &Sizes,
    ) -> Result<Self> {
        Ok(Self { sizes: *sizes, form: InForm::setup(ctx, session, form, sizes)? })
    }

    /// Switches the rows. Returns this party's shares, in the router's order.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`] and [`ParameterError::RowBits`] for rows of other sizes
    /// than the setup; connection errors.
    pub fn run(self, ctx: &mut Context, rows: &Rows) -> Result<Rows> {
        let Self { sizes, form } = self;
        if rows.len() != sizes.inputs {
            let (expected, actual) = (sizes.inputs as u64, rows.len() as u64);
            return Err(ParameterError::SetLenMismatch { expected, actual }.into());
        }
        if rows.bits() != sizes.bits {
            return Err(ParameterError::RowBits { bits: rows.bits() }.into());
        }
        if sizes.outputs == 0 {
            return Ok(Rows::zeros(0, sizes.bits));
        }
        ctx.child("switches", |ctx| match form {
            InForm::Correlated(mut holder) => {
                holder.receive_corrections(ctx)?;
                let mut seed = [0; Block::LEN];
                ctx.rng().fill_bytes(&mut seed);
                ctx.peer()?.send(&seed)?;
                let outputs = through(ctx, &mut holder, &sizes, rows.clone())?;
                Ok(randomised(outputs, seed))
            }
            InForm::TwoCiphertexts(mut holder) => {
                let masks = holder.mask(ctx, rows)?;
                through(ctx, &mut holder, &sizes, masks)
            }
        })
    }
}

/// The party that chooses the order, after the setup of its OTs.
pub struct Router {
    sizes: Sizes,
    form: InForm<correlated::Router, two_ciphertexts::Router>,
}

impl Router {
    /// Sets up the OTs.
    ///
    /// # Errors
    /// As [`Holder::setup`].
    pub fn setup(
        ctx: &mut Context,
        session: &SessionId,
        form: Form,
        sizes: &Sizes,
    ) -> Result<Self> {
        Ok(Self { sizes: *sizes, form: InForm::setup(ctx, session, form, sizes)? })
    }

    /// Switches the holder's rows. Returns this party's shares: row i shares the holder's row
    /// `injection[i]`.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`] if the injection has the wrong length;
    /// [`ParameterError::NotAnInjection`]; connection errors.
    pub fn run(self, ctx: &mut Context, injection: &[u32]) -> Result<Rows> {
        let Self { sizes, form } = self;
        if injection.len() != sizes.outputs {
            let (expected, actual) = (sizes.outputs as u64, injection.len() as u64);
            return Err(ParameterError::SetLenMismatch { expected, actual }.into());
        }
        let choices =
            ctx.child("routing", |ctx| Choices::new(ctx.pool(), injection, sizes.inputs))?;
        if sizes.outputs == 0 {
            return Ok(Rows::zeros(0, sizes.bits));
        }
        ctx.child("switches", |ctx| match form {
            InForm::Correlated(mut router) => {
                router.announce(ctx, choices)?;
                let mut seed = [0; Block::LEN];
                ctx.peer()?.recv_into(&mut seed)?;
                let zeros = Rows::zeros(sizes.inputs, sizes.bits);
                let outputs = through(ctx, &mut router, &sizes, zeros)?;
                Ok(randomised(outputs, seed))
            }
            InForm::TwoCiphertexts(mut router) => {
                router.announce(ctx, choices)?;
                let masked = router.masked(ctx, sizes.inputs)?;
                through(ctx, &mut router, &sizes, masked)
            }
        })
    }
}

fn through(
    ctx: &mut Context,
    switches: &mut impl Switches,
    sizes: &Sizes,
    rows: Rows,
) -> Result<Rows> {
    let words = rows.words_per_row();
    let mut lanes = rows;
    walk(ctx, switches, sizes.network(), words, lanes.words_mut())?;
    lanes.truncate(sizes.outputs);
    Ok(lanes)
}

/// Adds rows that both parties expand from `seed` to this party's shares: see the head of the
/// module.
fn randomised(mut shares: Rows, seed: [u8; Block::LEN]) -> Rows {
    let seed = Block::from_le_bytes(seed);
    shares.xor_with(&Rows::from_seed(seed, shares.len(), shares.bits()));
    shares
}

/// Runs the holder with its own setup; the router selects `outputs` rows. Returns this party's
/// shares.
///
/// # Errors
/// As [`Holder::setup`] and [`Holder::run`].
pub fn hold(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    rows: &Rows,
    outputs: usize,
) -> Result<Rows> {
    let sizes = Sizes { inputs: rows.len(), outputs, bits: rows.bits() };
    Holder::setup(ctx, session, form, &sizes)?.run(ctx, rows)
}

/// Runs the router with its own setup. Returns this party's shares.
///
/// # Errors
/// As [`Router::setup`] and [`Router::run`].
pub fn route(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    injection: &[u32],
    sizes: &Sizes,
) -> Result<Rows> {
    Router::setup(ctx, session, form, sizes)?.run(ctx, injection)
}
