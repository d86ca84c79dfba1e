use super::FUNCTIONS;
use super::inputs::HintSeed;
use crate::packed::{self, VALUES_PER_MESSAGE};
use crate::{kkrt, vole};
use std::ops::Range;
use vesica_core::params::ceil_log2;
use vesica_core::{ParameterError, Result, Runs, SemiHonest};
use vesica_hashing::Table;
use vesica_okvs::{BandOkvs, Okvs, PolynomialOkvs};
use vesica_ot::Traffic;

/// Maximum number of the programmer's items: its 3·n_y keys are numbered with 32 bits.
pub const MAX_PROGRAMMER_LEN: usize = u32::MAX as usize / FUNCTIONS;

/// Maximum number of the receiver's items: bins, up to 1.42 per item, are numbered with 32 bits.
pub const MAX_RECEIVER_LEN: usize = 1 << 31;

/// The OPRF underneath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oprf {
    /// From VOLE and a key-value store, [`vole`](crate::vole), in low-communication mode: fewest
    /// bytes.
    Vole,
    /// The same in fast mode: about 12 bytes more for each item of the receiver, and least
    /// computation.
    VoleFast,
    /// From OT extension, [`kkrt`](crate::kkrt), as in GMRSS21.
    Kkrt,
}

/// The form of the programmed values on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A random-band key-value store, [`BandOkvs`].
    Store,
    /// Polynomials in mega-bins, [`PolynomialOkvs`], as in the papers; 16 bytes for values of any
    /// length.
    Polynomial,
}

/// What both parties derive from the public sizes.
pub struct Plan {
    pub(super) oprf: Oprf,
    pub(super) receiver_len: usize,
    pub(super) programmer_len: usize,
    pub(super) bits: u32,
    pub(super) hint: Box<dyn Okvs>,
    /// Bits per slot of the hint.
    pub(super) slot_bits: u32,
    runs: Runs,
}

impl Plan {
    /// For n_x = `receiver_len`, n_y = `programmer_len` and values of `bits` bits, in one of
    /// `runs` that make one result.
    ///
    /// Above [`MAX_RECEIVER_LEN`] or [`MAX_PROGRAMMER_LEN`] the plan is that of the limit, and both
    /// parties refuse to run.
    ///
    /// # Panics
    /// If `bits` is not from 1 to 128.
    pub fn new(
        oprf: Oprf,
        hint: Hint,
        receiver_len: usize,
        programmer_len: usize,
        bits: u32,
        runs: Runs,
    ) -> Self {
        assert!((1..=128).contains(&bits), "values have 1 to 128 bits");
        let keys = FUNCTIONS * programmer_len.min(MAX_PROGRAMMER_LEN);
        let (hint, slot_bits): (Box<dyn Okvs>, u32) = match hint {
            Hint::Store => (Box::new(BandOkvs::of_runs(keys, runs)), bits),
            Hint::Polynomial => (Box::new(PolynomialOkvs::of_runs(keys, runs)), 128),
        };
        Self { oprf, receiver_len, programmer_len, bits, hint, slot_bits, runs }
    }

    /// β, the number of bins of the receiver's table, and of the values that it gets.
    pub fn bins(&self) -> usize {
        self.table().bins()
    }

    /// Bits per value.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Exact payload bytes; the sender is the programmer. Zero if a set is empty.
    pub fn bytes(&self) -> Traffic {
        if self.has_empty_set() {
            return Traffic::default();
        }
        let oprf = match self.oprf {
            Oprf::Vole | Oprf::VoleFast => vole::bytes::<SemiHonest>(&self.vole()),
            Oprf::Kkrt => kkrt::bytes(self.bins(), self.comparisons()),
        };
        let hint = HintSeed::LEN as u64 + self.hint_bytes();
        oprf + Traffic { sender_to_receiver: hint, receiver_to_sender: 0 }
    }

    /// Flights, the last of them from the programmer. Zero if a set is empty.
    pub fn flights(&self) -> u64 {
        match self.oprf {
            _ if self.has_empty_set() => 0,
            // The hint follows the OPRF.
            Oprf::Vole | Oprf::VoleFast => vole::flights::<SemiHonest>(&self.vole()) + 1,
            Oprf::Kkrt => 4,
        }
    }

    pub(super) fn has_empty_set(&self) -> bool {
        self.receiver_len == 0 || self.programmer_len == 0
    }

    /// Refuses sets above the limits, and sets that differ in size from the plan.
    pub(super) fn check(&self, expected: usize, actual: usize) -> Result<()> {
        let receiver = (self.receiver_len, MAX_RECEIVER_LEN);
        let programmer = (self.programmer_len, MAX_PROGRAMMER_LEN);
        for (len, max) in [receiver, programmer] {
            if len > max {
                let (len, max) = (len as u64, max as u64);
                return Err(ParameterError::SetTooLarge { len, max }.into());
            }
        }
        if expected != actual {
            let (expected, actual) = (expected as u64, actual as u64);
            return Err(ParameterError::SetLenMismatch { expected, actual }.into());
        }
        Ok(())
    }

    pub(super) fn table(&self) -> Table {
        Table::stashless(self.receiver_len.min(MAX_RECEIVER_LEN), self.runs)
    }

    /// 3·n_y: the number of keys of the hint, and of points at which the programmer evaluates F.
    pub(super) fn keys(&self) -> usize {
        FUNCTIONS * self.programmer_len.min(MAX_PROGRAMMER_LEN)
    }

    /// Points at which the programmer evaluates F in all runs that make one result.
    pub(super) fn comparisons(&self) -> u64 {
        self.keys() as u64 * self.runs.count()
    }

    /// The shape of the VOLE OPRF. The length of its values gives the probability, 2^-λ, that the
    /// receiver knows F at any of the programmer's other points.
    pub(super) fn vole(&self) -> vole::Plan {
        let bits = self.runs.statistical_bits() + ceil_log2(self.keys() as u64);
        let len = self.receiver_len.min(MAX_RECEIVER_LEN);
        match self.oprf {
            Oprf::VoleFast => vole::Plan::fast(len, bits, self.runs),
            _ => vole::Plan::low_communication(len, bits, self.runs),
        }
    }

    /// Ones in all bits of a value.
    pub(super) fn mask(&self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }

    /// The hint's clusters, in the parts in which they are encoded: as many as fit in one message,
    /// or one cluster if it takes several.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let len = (VALUES_PER_MESSAGE / self.hint.cluster_len().max(1)).max(1);
        let count = self.hint.cluster_count();
        (0..count).step_by(len).map(move |first| first..count.min(first + len))
    }

    fn hint_bytes(&self) -> u64 {
        let bytes = |clusters: Range<usize>| {
            packed::bytes_len(clusters.len() * self.hint.cluster_len(), self.slot_bits) as u64
        };
        self.parts().map(bytes).sum()
    }
}
