//! What is wrong with an agreement with a helper, besides what can be wrong with any.

use vesica_protocols::kmrs14::{Check, MAX_PARTIES};
use vesica_protocols::{Operation, Security};

/// What is wrong with an agreement with a helper. Holds words of the file, which is no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AidedFault {
    /// A field of agreements between two parties.
    #[error("{field:?} does not go with a helper")]
    NotWithHelper {
        /// The field.
        field: &'static str,
    },
    /// Helpers find common keys, and nothing else.
    #[error("with a helper there is no {operation}")]
    OtherOperation {
        /// The operation of the agreement.
        operation: Operation,
    },
    /// Too few parties, or too many.
    #[error("there must be 2 to {MAX_PARTIES} parties, not {found}")]
    PartyCount {
        /// How many there are.
        found: usize,
    },
    /// Two of the parties and the helper have the same identity.
    #[error("{first} and {second} have the same identity")]
    SameIdentity {
        /// A name.
        first: String,
        /// The other name.
        second: String,
    },
    /// The helper is named like a party.
    #[error("the helper and a party are both named {name:?}")]
    SameName {
        /// The name.
        name: String,
    },
    /// The protocol takes fewer parties.
    #[error("the protocol {protocol:?} takes {most} parties, not {found}")]
    TooManyParties {
        /// The protocol.
        protocol: &'static str,
        /// Most parties that it takes.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// The protocol, or the only one that takes so many parties, has a helper that must follow it.
    #[error(
        "the protocol {protocol:?} is {offers} against the helper; the agreement asks for {asked}"
    )]
    TooWeak {
        /// The protocol.
        protocol: &'static str,
        /// Its security.
        offers: Security,
        /// The security asked for.
        asked: Security,
        /// How many parties there are.
        parties: usize,
    },
    /// With these copies and dummies cheating goes unnoticed too often.
    #[error(
        "{} copies and {} dummies do not make cheating as unlikely to go unnoticed as malicious security asks for",
        check.copies, check.dummies
    )]
    CheckTooWeak {
        /// The copies and dummies.
        check: Check,
    },
    /// With these copies and dummies the lists are longer than the protocol takes.
    #[error("{} copies of so many rows make longer lists than the protocol takes", check.copies)]
    ListsTooLong {
        /// The copies and dummies.
        check: Check,
        /// Labels of the longest list.
        labels: u64,
    },
    /// `self_check` beside dummies, which are the self-check.
    #[error("the dummies are the self-check, and \"self_check\" is given")]
    DummiesAreSelfCheck {
        /// The protocol.
        protocol: &'static str,
    },
    /// The protocol gives all parties the result.
    #[error("{protocol} gives all parties the result: \"receives\" must be \"all\"")]
    IsForAll {
        /// The protocol.
        protocol: &'static str,
    },
    /// `receives` is an empty list.
    #[error("\"receives\" names nobody")]
    NoReceiver,
    /// A party stands in `receives` twice.
    #[error("\"receives\" names {name:?} twice")]
    ReceiverTwice {
        /// The name.
        name: String,
    },
    /// The protocol compares one value.
    #[error("{field:?} is {found}, and {protocol} compares one value")]
    OneRow {
        /// The field's path.
        field: String,
        /// `max_rows`.
        found: u64,
        /// The protocol.
        protocol: &'static str,
    },
}
