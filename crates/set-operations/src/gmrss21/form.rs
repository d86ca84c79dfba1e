//! The forms of the protocol: which parts the steps of the figure are made of.
//!
//! | | [`Form::Silent`] | [`Form::LowCommunication`] | [`Form::Paper`] |
//! |---|---|---|---|
//! | OPRF | VOLE (RR22) at the full bins | VOLE, short | KKRT16, one instance a bin |
//! | hint | key-value store | key-value store | a polynomial for each mega-bin |
//! | switching | silent correlated transfer, ℓ + 1 bits a switch | the same, of one-bit shares of the results | IKNP, two ciphertexts of 2·ℓ bits |
//! | equality | VOLE OPRF, after switching | on shares, before switching | KKRT16, after switching |
//! | transfers | silent | silent | IKNP |

use vesica_oprf::{equality, programmable};
use vesica_switching::oblivious;

/// Which parts the protocol is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The fastest parts.
    Silent,
    /// The fewest bytes: values are compared in their bins, and shares of the results are switched.
    LowCommunication,
    /// The parts of the paper, for comparison.
    Paper,
}

impl Form {
    pub(super) fn oprf(self) -> programmable::Oprf {
        match self {
            Form::Silent => programmable::Oprf::VoleFast,
            Form::LowCommunication => programmable::Oprf::Vole,
            Form::Paper => programmable::Oprf::Kkrt,
        }
    }

    pub(super) fn hint(self) -> programmable::Hint {
        match self {
            Form::Silent | Form::LowCommunication => programmable::Hint::Store,
            Form::Paper => programmable::Hint::Polynomial,
        }
    }

    pub(super) fn switching(self) -> oblivious::Form {
        match self {
            Form::Silent | Form::LowCommunication => oblivious::Form::Correlated,
            Form::Paper => oblivious::Form::TwoCiphertexts,
        }
    }

    pub(super) fn equality(self) -> equality::Form {
        match self {
            Form::Silent => equality::Form::VoleFast,
            Form::LowCommunication => equality::Form::Vole,
            Form::Paper => equality::Form::Kkrt,
        }
    }

    /// Whether values are compared before the switching.
    pub(super) fn compares_first(self) -> bool {
        self == Form::LowCommunication
    }
}

/// Where the identifiers of private ids come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identifiers {
    /// Programmable OPRFs that are right at common items only (§4.5).
    Sloppy(Form),
    /// The OPRF of RR22, in both directions.
    Oprf(Form),
}

/// What a row of the catalogue chooses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub(super) form: Form,
    /// With private ids.
    pub(super) identifiers: Option<Identifiers>,
}
