//! What both parties know of a run: its parameters, the sizes of the core, the sessions of its
//! steps.

use super::comparison;
use super::form::Form;
use vesica_core::params::ceil_log2;
use vesica_core::{Block, PsiParams, Result, Runs, SessionId, hash};
use vesica_net::Context;
use vesica_oprf::{equality, programmable};
use vesica_ot::{Bits, Traffic};
use vesica_switching::oblivious::{self, Rows, Sizes};
use zeroize::Zeroizing;

const STEP_LABEL: &str = "vesica v1 permuted characteristic";

/// A session for one step of another.
pub(super) fn step(session: &SessionId, name: &str) -> SessionId {
    SessionId::from_bytes(hash::derive(STEP_LABEL, &[session.as_bytes(), name.as_bytes()]))
}

/// A run of the core and of the operation on it.
#[derive(Clone, Copy)]
pub(super) struct CoreRun<'a> {
    pub(super) form: Form,
    pub(super) params: &'a PsiParams,
    pub(super) session: SessionId,
}

impl CoreRun<'_> {
    /// The session of one step of the core.
    pub(super) fn step(&self, name: &str) -> SessionId {
        step(&self.session, name)
    }

    /// The session of what follows the core.
    pub(super) fn payload_session(&self) -> SessionId {
        self.step("payload")
    }
}

/// The sizes of the core.
pub(super) struct CorePlan {
    form: Form,
    runs: Runs,
    pub(super) programmed: programmable::Plan,
    /// Rows of what is compared, or with [`Form::compares_first`] of the shares of one bit.
    shape: Sizes,
    /// ℓ, the bits of s_j and t_j that are compared.
    pub(super) compared_bits: u32,
    /// Bits of a share of the receiver's value that follow them; 0 but with an inner product.
    pub(super) factor_bits: u32,
}

impl CorePlan {
    /// For the sizes of `params`, none of them zero.
    pub(super) fn new(form: Form, params: &PsiParams) -> Self {
        let (n_x, n_y, runs) = (params.sender_len(), params.receiver_len(), params.runs());
        // A pseudorandom t_j equals s_j with probability 2^-λ over all of the sender's items; with
        // half of that where the comparison itself errs with the other half.
        let half = u32::from(!form.compares_first());
        let bits = runs.statistical_bits() + half + ceil_log2(n_x as u64);
        // No form that compares first offers it.
        let factor_bits = params.query().factors().map_or(0, |factors| factors.bits());
        let (oprf, hint) = (form.oprf(), form.hint());
        let programmed = programmable::Plan::new(oprf, hint, n_x, n_y, bits + factor_bits, runs);
        let row_bits = if form.compares_first() { 1 } else { bits + factor_bits };
        let shape = Sizes { inputs: programmed.bins(), outputs: n_x, bits: row_bits };
        Self { form, runs, programmed, shape, compared_bits: bits, factor_bits }
    }

    /// Leaves in each block the bits that are compared, and returns this party's shares of the
    /// receiver's values that follow them; none if there are none.
    pub(super) fn split(&self, blocks: &mut [Block]) -> Zeroizing<Vec<u64>> {
        if self.factor_bits == 0 {
            return Zeroizing::default();
        }
        let of_factor = (1 << self.factor_bits) - 1;
        let factor = |block: &Block| (block.get() >> self.compared_bits) as u64 & of_factor;
        let factors = Zeroizing::new(blocks.iter().map(factor).collect());
        let compared = Block::new(u128::MAX >> (128 - self.compared_bits));
        blocks.iter_mut().for_each(|block| *block = *block & compared);
        factors
    }

    /// Payload bytes. The receiver programs the OPRF, holds the rows that are switched, and
    /// receives the result of the comparison.
    pub(super) fn bytes(&self) -> Traffic {
        let switching = oblivious::bytes(self.form.switching(), &self.shape);
        let (bins, n_x) = (self.programmed.bins(), self.shape.outputs);
        let compared = if self.form.compares_first() {
            bytes_in_bins(bins, n_x, self.compared_bits)
        } else {
            equality::bytes(self.form.equality(), n_x, self.runs)
        };
        (self.programmed.bytes() + switching).reversed() + compared
    }

    /// Messages in a row that wait for each other, the last of them from the sender.
    pub(super) fn flights(&self) -> u64 {
        let parts =
            self.programmed.flights() + oblivious::flights(self.form.switching(), &self.shape);
        let compared = if self.form.compares_first() {
            flights_in_bins(self.programmed.bins(), self.compared_bits)
        } else {
            equality::flights(self.form.equality(), self.shape.outputs, self.runs)
        };
        // Where one part ends and the next begins, messages go the same way: once, or twice in the
        // paper's form.
        parts + compared - if self.form == Form::Paper { 2 } else { 1 }
    }

    /// Oblivious switching for the party that knows π̃: its shares of the rows, in the order of π̃.
    pub(super) fn switch_by_order(
        &self,
        ctx: &mut Context,
        run: &CoreRun<'_>,
        pi_tilde: &[u32],
    ) -> Result<Rows> {
        ctx.child("switching", |ctx| {
            let session = run.step("switching");
            oblivious::route(ctx, &session, self.form.switching(), pi_tilde, &self.shape)
        })
    }

    /// Oblivious switching for the party that has the rows: its shares of them, in the other
    /// party's order.
    pub(super) fn switch_rows(
        &self,
        ctx: &mut Context,
        run: &CoreRun<'_>,
        rows: &Rows,
    ) -> Result<Rows> {
        ctx.child("switching", |ctx| {
            let session = run.step("switching");
            oblivious::hold(ctx, &session, self.form.switching(), rows, self.shape.outputs)
        })
    }
}

/// Payload bytes of [`Form::compares_first`]: of the comparison in bins, and of step 8.
fn bytes_in_bins(bins: usize, n_x: usize, bits: u32) -> Traffic {
    let mut bytes = comparison::bytes(bins, bits);
    bytes.sender_to_receiver += Bits::bytes_len(n_x) as u64;
    bytes
}

/// Flights of them.
fn flights_in_bins(bins: usize, bits: u32) -> u64 {
    comparison::flights(bins, bits) + 1
}
