//! The two parties, over either form.

use super::choices::Choices;
use super::rows::Rows;
use super::walk::walk;
use super::{Form, Shape, correlated, two_ciphertexts};
use rand::Rng;
use vesica_core::{Block, Error, ParameterError, Result, SessionId};
use vesica_net::Context;

/// The party that holds the rows, after the setup of its transfers.
pub struct Holder {
    shape: Shape,
    form: HolderForm,
}

enum HolderForm {
    Correlated(correlated::Holder),
    TwoCiphertexts(two_ciphertexts::Holder),
}

impl Holder {
    /// Sets up the transfers.
    ///
    /// # Errors
    /// [`ParameterError::RowCounts`] and [`ParameterError::RowBits`] of a shape that cannot be; of the connection;
    /// [`vesica_core::Misbehaviour`] of the transfers.
    pub fn setup(
        ctx: &mut Context,
        session: &SessionId,
        form: Form,
        shape: &Shape,
    ) -> Result<Self> {
        shape.check()?;
        let (switches, bits) = (shape.switches(), shape.bits);
        let form = ctx.child("transfers", |ctx| {
            Ok::<_, Error>(match form {
                Form::Correlated => {
                    HolderForm::Correlated(correlated::Holder::setup(ctx, session, switches, bits)?)
                }
                Form::TwoCiphertexts => HolderForm::TwoCiphertexts(two_ciphertexts::Holder::setup(
                    ctx, session, switches, bits,
                )?),
            })
        })?;
        Ok(Self { shape: *shape, form })
    }

    /// Switches the rows; gives this party's shares of them in the router's order.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`] and [`ParameterError::RowBits`] of rows that do not have the shape of the
    /// setup; of the connection.
    pub fn run(self, ctx: &mut Context, rows: &Rows) -> Result<Rows> {
        let Self { shape, form } = self;
        if rows.len() != shape.inputs {
            let (expected, actual) = (shape.inputs as u64, rows.len() as u64);
            return Err(ParameterError::SetLenMismatch { expected, actual }.into());
        }
        if rows.bits() != shape.bits {
            return Err(ParameterError::RowBits { bits: rows.bits() }.into());
        }
        if shape.outputs == 0 {
            return Ok(Rows::zeros(0, shape.bits));
        }
        ctx.child("switches", |ctx| match form {
            HolderForm::Correlated(mut holder) => {
                let mut seed = [0; Block::LEN];
                ctx.rng().fill_bytes(&mut seed);
                ctx.peer()?.send(&seed)?;
                holder.hear(ctx)?;
                let outputs = through(ctx, &mut holder, &shape, rows.clone())?;
                Ok(randomised(outputs, seed))
            }
            HolderForm::TwoCiphertexts(mut holder) => {
                let masks = holder.mask(ctx, rows)?;
                through(ctx, &mut holder, &shape, masks)
            }
        })
    }
}

/// The party that chooses the order, after the setup of its transfers.
pub struct Router {
    shape: Shape,
    form: RouterForm,
}

enum RouterForm {
    Correlated(correlated::Router),
    TwoCiphertexts(two_ciphertexts::Router),
}

impl Router {
    /// Sets up the transfers.
    ///
    /// # Errors
    /// As [`Holder::setup`].
    pub fn setup(
        ctx: &mut Context,
        session: &SessionId,
        form: Form,
        shape: &Shape,
    ) -> Result<Self> {
        shape.check()?;
        let (switches, bits) = (shape.switches(), shape.bits);
        let form = ctx.child("transfers", |ctx| {
            Ok::<_, Error>(match form {
                Form::Correlated => {
                    RouterForm::Correlated(correlated::Router::setup(ctx, session, switches, bits)?)
                }
                Form::TwoCiphertexts => RouterForm::TwoCiphertexts(two_ciphertexts::Router::setup(
                    ctx, session, switches, bits,
                )?),
            })
        })?;
        Ok(Self { shape: *shape, form })
    }

    /// Switches the holder's rows; gives this party's shares: row i belongs to the holder's row `injection[i]`.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`] unless there is a place for each output;
    /// [`ParameterError::NotAnInjection`]; of the connection.
    pub fn run(self, ctx: &mut Context, injection: &[u32]) -> Result<Rows> {
        let Self { shape, form } = self;
        if injection.len() != shape.outputs {
            let (expected, actual) = (shape.outputs as u64, injection.len() as u64);
            return Err(ParameterError::SetLenMismatch { expected, actual }.into());
        }
        let choices =
            ctx.child("routing", |ctx| Choices::of(ctx.pool(), injection, shape.inputs))?;
        if shape.outputs == 0 {
            return Ok(Rows::zeros(0, shape.bits));
        }
        ctx.child("switches", |ctx| match form {
            RouterForm::Correlated(mut router) => {
                router.announce(ctx, choices)?;
                let mut seed = [0; Block::LEN];
                ctx.peer()?.recv_into(&mut seed)?;
                let zeros = Rows::zeros(shape.inputs, shape.bits);
                let outputs = through(ctx, &mut router, &shape, zeros)?;
                Ok(randomised(outputs, seed))
            }
            RouterForm::TwoCiphertexts(mut router) => {
                router.announce(ctx, choices)?;
                let masked = router.masked(ctx, shape.inputs)?;
                through(ctx, &mut router, &shape, masked)
            }
        })
    }
}

fn through(
    ctx: &mut Context,
    switches: &mut impl super::walk::Switches,
    shape: &Shape,
    rows: Rows,
) -> Result<Rows> {
    let words = rows.words_per_row();
    let mut lanes = rows;
    walk(ctx, switches, shape.network(), words, lanes.words_mut())?;
    lanes.truncate(shape.outputs);
    Ok(lanes)
}

/// Adds rows that both parties know to both their shares: see the head of the module.
fn randomised(mut shares: Rows, seed: [u8; Block::LEN]) -> Rows {
    let seed = Block::from_le_bytes(seed);
    shares.xor_with(&Rows::from_seed(seed, shares.len(), shares.bits()));
    shares
}

/// Holds the rows in a run with a setup of its own, of which `outputs` are chosen; gives this party's shares.
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
    let shape = Shape { inputs: rows.len(), outputs, bits: rows.bits() };
    Holder::setup(ctx, session, form, &shape)?.run(ctx, rows)
}

/// Chooses the order in a run with a setup of its own; gives this party's shares.
///
/// # Errors
/// As [`Router::setup`] and [`Router::run`].
pub fn route(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    injection: &[u32],
    shape: &Shape,
) -> Result<Rows> {
    Router::setup(ctx, session, form, shape)?.run(ctx, injection)
}
