use super::code::Code;
use super::output::OutputHash;
use super::{ROW_BLOCKS, width};
use vesica_core::{Block, Result, SessionId};
use vesica_net::Context;
use vesica_ot::coded::{ReceiverSetup, rows};
use zeroize::{Zeroize, Zeroizing};

/// Instances per task of a CPU thread.
const ROWS_PER_TASK: usize = 1 << 10;

/// The party with one input per instance.
pub struct Receiver {
    rows: rows::Receiver<ROW_BLOCKS>,
    code: Code,
    hash: OutputHash,
}

impl Receiver {
    /// Finishes a setup: receives the sender's answer.
    ///
    /// `comparisons` is the number of points at which the sender will evaluate, over all instances,
    /// and over all runs that make one result; equal at both parties.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    ///
    /// # Panics
    /// As [`width()`].
    pub fn new(
        ctx: &mut Context,
        setup: ReceiverSetup,
        session: &SessionId,
        comparisons: u64,
    ) -> Result<Self> {
        let width = width(comparisons);
        let rows = rows::Receiver::new(ctx, setup, width)?;
        Ok(Self { rows, code: Code::new(session), hash: OutputHash::new(session, width) })
    }

    /// Evaluates `len` new instances. Passes F_i(x_i) to `consume` in order, in parts, with the
    /// index of the first of them in this call.
    ///
    /// `inputs(first, out)` sets `out` to the inputs of the instances from `first` on. An instance
    /// without an input takes a random one.
    ///
    /// # Errors
    /// Connection errors.
    pub fn evaluate(
        &mut self,
        ctx: &mut Context,
        len: usize,
        inputs: impl Fn(usize, &mut [Block]) + Sync,
        mut consume: impl FnMut(usize, &[Block]),
    ) -> Result<()> {
        let Receiver { rows, code, hash } = self;
        let first = rows.next_row();
        let pool = ctx.pool().clone();
        let mut outputs = Zeroizing::new(Vec::new());
        let codewords = |first: usize, out: &mut [_]| {
            let mut of_rows = vec![Block::ZERO; out.len()];
            inputs(first, &mut of_rows);
            code.codewords(&of_rows, out);
            of_rows.zeroize();
        };
        rows.extend(ctx, len, codewords, |first_of_part, part| {
            outputs.resize(part.len(), Block::ZERO);
            let first = first + first_of_part as u64;
            let number = |start: usize| move |i: usize| first + (start + i) as u64;
            if pool.len() == 1 {
                hash.outputs(part, number(0), &mut outputs);
            } else {
                let starts = (0..).step_by(ROWS_PER_TASK);
                let tasks = part.chunks(ROWS_PER_TASK).zip(outputs.chunks_mut(ROWS_PER_TASK));
                pool.for_each(starts.zip(tasks).collect(), |(start, (rows, outputs))| {
                    hash.outputs(rows, number(start), outputs);
                });
            }
            consume(first_of_part, &outputs);
        })
    }
}
