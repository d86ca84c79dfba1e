//! The public sizes of a run, and its cost.

use super::walk::Kept;
use super::{correlated, two_ciphertexts};
use vesica_core::{ParameterError, Result};
use vesica_ot::Traffic;

/// How OTs realise a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One correction of ℓ bits and one bit per switch, on silent OT.
    Correlated,
    /// Two ciphertexts of 2ℓ bits per switch, on IKNP: as in the papers.
    TwoCiphertexts,
}

/// The public sizes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Number of the holder's rows, below 2^32.
    pub inputs: usize,
    /// Number of rows that are shared, at most `inputs`.
    pub outputs: usize,
    /// ℓ, the bits per row, from 1 to [`Sizes::MAX_BITS`].
    pub bits: u32,
}

impl Sizes {
    /// Maximum bits per row.
    pub const MAX_BITS: u32 = 1 << 16;

    /// Number of switches of Waksman's network that lead to a selected output. A part of it from
    /// which one row is selected has a tree in place of them: one switch fewer than rows.
    pub fn switches(&self) -> u64 {
        self.network().switch_count()
    }

    /// # Errors
    /// [`ParameterError::RowCounts`], [`ParameterError::RowBits`].
    pub(super) fn check(&self) -> Result<()> {
        if self.outputs > self.inputs || u32::try_from(self.inputs).is_err() {
            let (inputs, outputs) = (self.inputs as u64, self.outputs as u64);
            return Err(ParameterError::RowCounts { inputs, outputs }.into());
        }
        if self.bits == 0 || self.bits > Self::MAX_BITS {
            return Err(ParameterError::RowBits { bits: self.bits }.into());
        }
        Ok(())
    }

    pub(super) fn network(&self) -> Kept {
        Kept { len: self.inputs, kept: self.outputs }
    }
}

/// Payload bytes of a run with its setup. The holder is the sender of the OTs, the router their
/// receiver.
pub fn bytes(form: Form, sizes: &Sizes) -> Traffic {
    if sizes.outputs == 0 {
        return Traffic::default();
    }
    let switches = sizes.switches();
    match form {
        Form::Correlated => correlated::bytes(switches, sizes.bits),
        Form::TwoCiphertexts => two_ciphertexts::bytes(sizes.inputs, switches, sizes.bits),
    }
}

/// Flights of a run with its setup. The router sends its last corrections before it reads the first
/// answer; in the form with two ciphertexts, it reads answers earlier where it would otherwise
/// store too much.
pub fn flights(form: Form, sizes: &Sizes) -> u64 {
    match (sizes.outputs, sizes.switches(), form) {
        (0, ..) => 0,
        (_, 0, _) => 1,
        (_, switches, Form::Correlated) => correlated::flights(switches),
        (_, switches, Form::TwoCiphertexts) => two_ciphertexts::flights(switches, sizes.bits),
    }
}
