//! How large a run is, and what it costs.

use super::packing::bytes_len;
use super::walk::Kept;
use super::{correlated, two_ciphertexts};
use vesica_core::{ParameterError, Result};
use vesica_ot::Traffic;

/// How the switches are made of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One correction of ℓ bits a switch, and one bit, on silent transfers.
    Correlated,
    /// Two ciphertexts of 2ℓ bits a switch, on IKNP: as in the papers.
    TwoCiphertexts,
}

/// The public sizes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The holder's rows, below 2^32.
    pub inputs: usize,
    /// The rows that both get shares of, at most as many.
    pub outputs: usize,
    /// ℓ, the bits of a row, from 1 to [`Shape::MAX_BITS`].
    pub bits: u32,
}

impl Shape {
    /// Longest row in bits.
    pub const MAX_BITS: u32 = 1 << 16;

    /// Number of switches: those of Waksman's network that lead to an output that is kept.
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

/// Payload bytes of a run and its setup; the holder is the transfers' sender, the router their receiver.
pub fn bytes(form: Form, shape: &Shape) -> Traffic {
    if shape.outputs == 0 {
        return Traffic::default();
    }
    let switches = shape.switches();
    match form {
        Form::Correlated => correlated::bytes(switches, shape.bits),
        Form::TwoCiphertexts => two_ciphertexts::bytes(shape.inputs, switches, shape.bits),
    }
}

/// Flights of a run and its setup, the router's last piece of corrections being sent before it takes the first
/// answer; in the form with two ciphertexts the router waits for answers where it would have to keep too much.
pub fn flights(form: Form, shape: &Shape) -> u64 {
    match (shape.outputs, shape.switches(), form) {
        (0, ..) => 0,
        (_, 0, _) => 1,
        (_, switches, Form::Correlated) => correlated::flights(switches),
        (_, switches, Form::TwoCiphertexts) => two_ciphertexts::flights(switches, shape.bits),
    }
}

/// Most bytes of a message, unless 128 switches take more.
const MESSAGE_BYTES: usize = 256 << 10;

/// Switches that are worked on together, a power of two: `rows` rows of each are one message.
pub(super) fn piece_len(bits: u32, rows: usize) -> usize {
    let fitting = 8 * MESSAGE_BYTES / (rows * bits as usize);
    1 << fitting.clamp(128, 1 << 14).ilog2()
}

/// Bytes of `rows` rows of each of `switches` switches in messages of whole pieces.
pub(super) fn rows_bytes(switches: u64, rows: usize, bits: u32) -> u64 {
    let piece = piece_len(bits, rows) as u64;
    let of = |switches: u64| bytes_len(switches as usize * rows, bits) as u64;
    switches / piece * of(piece) + of(switches % piece)
}
