//! What the parties and their helper agreed on.

mod canonical;
mod fault;
mod parse;

pub use fault::AidedFault;
pub use parse::MAX_HELPER_NAME_CHARS;

use crate::agreement::parse::HELPER;
use crate::agreement::{
    Agreement, AgreementError, AgreementFault, Key, MAX_FILE_BYTES, PartyTerms, is_over,
};
use jiff::civil::Date;
use std::ops::Deref;
use std::path::Path;
use vesica_link::PublicIdentity;
use vesica_protocols::Security;
use vesica_protocols::kmrs14::{AidedProtocol, Check, PartySpec, Spec, Variant};

/// Bits of a chance of 2^-40: from there on a helper that cheats counts as found out.
const MALICIOUS_BITS: u32 = vesica_core::params::STATISTICAL_SECURITY_BITS;

/// A checked agreement with a helper.
///
/// Made from text only, by [`AidedAgreement::parse`] or [`AidedAgreement::load`], and never changed, so that one in
/// hand is one that can run. Its fields are read through [`AidedTerms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AidedAgreement {
    terms: AidedTerms,
}

/// The fields of an agreement with a helper. The operation is always the intersection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AidedTerms {
    /// A name for people; one line.
    pub title: String,
    /// The positions in [`AidedTerms::parties`] of those who receive the result, ascending. At least one.
    pub receivers: Vec<usize>,
    /// The least security accepted against the helper.
    pub security: Security,
    /// The protocol.
    pub variant: Variant,
    /// The last day on which it may run, to the end of that day in UTC.
    pub expires: Option<Date>,
    /// The helper.
    pub helper: HelperTerms,
    /// The columns that make up the key, sorted by name. At least one.
    pub keys: Vec<Key>,
    /// The parties, sorted by name: their position is their number in the protocol. Two to sixteen.
    pub parties: Vec<PartyTerms>,
}

/// What was agreed about the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperTerms {
    /// A name for people; one line, and no party's.
    pub name: String,
    /// Its public identity.
    pub identity: PublicIdentity,
    /// How often each item is sent, and how many dummies of each kind a party adds: what shows that the helper's
    /// answer is right.
    pub check: Check,
}

impl AidedTerms {
    /// The row of the catalogue.
    pub fn protocol(&self) -> &'static AidedProtocol {
        self.variant.row()
    }

    /// Whether the party at that position receives the result.
    pub fn receives(&self, party: usize) -> bool {
        self.receivers.contains(&party)
    }

    /// Whether all parties receive the result.
    pub fn all_receive(&self) -> bool {
        self.receivers.len() == self.parties.len()
    }

    /// The position of the party with this identity.
    pub fn party_of(&self, identity: &PublicIdentity) -> Option<usize> {
        self.parties.iter().position(|party| party.identity == *identity)
    }

    /// The position of the party of that name.
    pub fn party_named(&self, name: &str) -> Option<usize> {
        self.parties.iter().position(|party| party.name == name)
    }

    /// Whether the helper may cheat unnoticed with a chance of no more than 2^-40.
    pub fn finds_cheats(&self) -> bool {
        finds_cheats(self.helper.check, self.most_rows())
    }

    /// −log2 of the largest chance with which a wrong answer of the helper goes unnoticed by a party.
    pub fn cheating_bits(&self) -> f64 {
        self.helper.check.bits(self.most_rows())
    }

    /// The largest number of rows that a party may have.
    pub(crate) fn most_rows(&self) -> u64 {
        self.parties.iter().map(|party| party.max_rows).max().unwrap_or(1)
    }

    /// Whether the last day is over, in UTC, at `now`.
    pub fn is_expired(&self, now: jiff::Timestamp) -> bool {
        is_over(self.expires, now)
    }
}

/// Whether a wrong answer for sets of at most `rows` rows goes unnoticed with a chance of no more than 2^-40.
fn finds_cheats(check: Check, rows: u64) -> bool {
    check.bits(rows) >= f64::from(MALICIOUS_BITS)
}

/// The chance of 2 to the power of -`bits`, rounded up: `2^-28.3`.
pub fn chance(bits: f64) -> String {
    format!("2^-{:.1}", (bits * 10.0).floor() / 10.0)
}

impl Deref for AidedAgreement {
    type Target = AidedTerms;

    fn deref(&self) -> &AidedTerms {
        &self.terms
    }
}

impl AidedAgreement {
    /// Reads the agreement with a helper in the file `path`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with the path.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgreementError> {
        vesica_tables::load(path.as_ref(), MAX_FILE_BYTES, Self::parse)
    }

    /// What the helper is told of a run.
    pub fn spec(&self) -> Spec {
        let party = |(position, party): (usize, &PartyTerms)| PartySpec {
            identity: *party.identity.as_bytes(),
            max_rows: party.max_rows,
            min_rows: party.min_rows,
            receives: self.receives(position),
        };
        Spec {
            variant: self.variant,
            agreement: *self.hash().as_bytes(),
            parties: self.parties.iter().enumerate().map(party).collect(),
            copies: self.helper.check.copies,
            dummies: self.helper.check.dummies,
        }
    }
}

/// An agreement of either kind; a file with a `[helper]` is one with a helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyAgreement {
    /// Between two parties alone.
    TwoParty(Box<Agreement>),
    /// With a helper.
    Aided(Box<AidedAgreement>),
}

impl AnyAgreement {
    /// Reads the agreement in the file `path`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with the path.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgreementError> {
        vesica_tables::load(path.as_ref(), MAX_FILE_BYTES, Self::parse)
    }

    /// Reads the agreement in `text`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with the place where one is known.
    pub fn parse(text: &str) -> Result<Self, AgreementError> {
        if vesica_tables::document::<AgreementFault>(text)?.get_ref().contains_key(HELPER) {
            return Ok(Self::Aided(Box::new(AidedAgreement::parse(text)?)));
        }
        Ok(Self::TwoParty(Box::new(Agreement::parse(text)?)))
    }
}
