//! Agreements: what organisations compute together, who receives the result, and with which helper, if any.
//!
//! * [`Agreement`] — a checked agreement; [`Terms`] — its fields; [`AidedAgreement`] — the view of one with a
//!   [helper](HelperTerms).
//! * [`Question`] — what is asked about the keys; [`ValueTerms`] — and about values beside them;
//!   [`MatchBounds`] — when it is answered.
//! * [`AgreementError`] — what is wrong with an agreement file, and where.
//! * [`AgreementHash`] — names one agreement; bound into every session and result.
//! * [`Difference`] — one field in which two agreements differ.
//!
//! An agreement is a small TOML file, the same for all parties: two of them, or two to sixteen with a helper.
//! Comments, the order of the fields, the order of the keys, and whether a default is written out do not change what
//! was agreed: the [canonical form](Agreement::canonical) and its hash are the same.

mod canonical;
mod checked;
mod difference;
mod error;
mod helper;
mod items;
mod parse;
mod question;
mod selection;
mod table;
mod values;

pub use canonical::AgreementHash;
pub use checked::CheckedValues;
pub use difference::{Difference, DifferenceError};
pub use error::{AgreementError, AgreementFault, TextFault};
pub use helper::{AidedAgreement, HelperTerms, MAX_HELPER_NAME_CHARS, chance};
pub use items::IntegerItems;
pub use parse::{MAX_FILE_BYTES, MAX_KEYS, MAX_NAME_CHARS, MAX_TITLE_CHARS};
pub use question::{KEY_BYTES_DEFAULT, KEY_MAX_BYTES, MatchBounds, Question, TEXT_LEN_BYTES};
pub use values::{MAX_VALUE_COLUMNS, VALUE_MAX_BITS, ValueTerms};

use crate::roles::Roles;
use jiff::civil::Date;
use selection::Selection;
use std::ops::Deref;
use vesica_core::params::MAX_SET_LEN;
use vesica_core::{Learns, PsiParams, Query, Role, SessionId, TextLen};
use vesica_link::PublicIdentity;
use vesica_protocols::{Operation, Protocol, Security};
use vesica_records::Profile;

/// Version of the agreement format.
pub const FORMAT_VERSION: u64 = 2;

/// Most rows an agreement can allow one party: the largest set of a run, less room for the
/// self-check.
pub const MAX_ROWS: u64 = MAX_SET_LEN + 1 - 2 * SELF_CHECK_MAX as u64 - 2048;

/// Fewest self-check items of each kind.
pub const SELF_CHECK_MIN: u32 = 8;
/// Most self-check items of each kind.
pub const SELF_CHECK_MAX: u32 = 1024;
/// Self-check items of each kind, by default.
pub const SELF_CHECK_DEFAULT: u32 = 16;
/// Fewest different keys that a party must have, by default.
pub const MIN_ROWS_DEFAULT: u64 = 1;

/// The set size at which figures of circuits are compared, at most.
const COMPARED_ROWS: u64 = 1 << 10;

/// A checked agreement.
///
/// Made only from text, by [`Agreement::parse`] or [`Agreement::load`], and never changed, so that every value of
/// this type is a valid agreement. Its fields are read through [`Terms`].
#[derive(Clone, Debug)]
pub struct Agreement {
    terms: Terms,
    selection: Selection,
    integers: Option<IntegerItems>,
}

/// The fields of an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terms {
    /// A title for readers; one line.
    pub title: String,
    /// What is asked about the keys.
    pub question: Question,
    /// How many keys must be in common for an answer.
    pub bounds: MatchBounds,
    /// The positions in [`Terms::parties`] of the parties that receive the result, ascending. At least one.
    pub receivers: Vec<usize>,
    /// The least security accepted; with a helper, against the helper.
    pub security: Security,
    /// The last day on which it may run, to the end of that day in UTC.
    pub expires: Option<Date>,
    /// How many self-check items of each kind (shared, and own) a side adds to its set. With a helper the
    /// [dummies](HelperTerms::check) take their place, and this is 0.
    pub self_check: u32,
    /// Whether each side pads its set with random items to its `max_rows`.
    pub hide_sizes: bool,
    /// The helper, if the parties have one.
    pub helper: Option<HelperTerms>,
    /// The columns that make up the key, sorted by name. At least one.
    pub keys: Vec<Key>,
    /// The parties, sorted by name: two, or two to sixteen with a helper. With a helper a party's position is its
    /// number in the protocol.
    pub parties: Vec<PartyTerms>,
}

/// One column of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The column's name in both files, unless a side maps it to another one.
    pub name: String,
    /// The rule that makes equal values equal even if the sides write them differently.
    pub profile: Profile,
}

/// The terms of one party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyTerms {
    /// Its name in the agreement.
    pub name: String,
    /// Its public identity.
    pub identity: PublicIdentity,
    /// Most rows its file may have.
    pub max_rows: u64,
    /// Fewest different keys it must have.
    pub min_rows: u64,
}

impl Terms {
    /// What is computed.
    pub fn operation(&self) -> Operation {
        self.question.operation()
    }

    /// Whether all parties receive the result.
    pub fn all_receive(&self) -> bool {
        self.receivers.len() == self.parties.len()
    }

    /// The name of the only party that receives the result; `None` if several receive it.
    pub fn sole_receiver(&self) -> Option<&str> {
        match self.receivers[..] {
            [position] => Some(&self.parties[position].name),
            _ => None,
        }
    }

    /// The names of the parties that receive the result.
    pub fn receiver_names(&self) -> impl Iterator<Item = &str> {
        self.receivers.iter().map(|position| &*self.parties[*position].name)
    }

    /// Whether the sizes of a run of two parties decide which is the receiver: if both receive the result, and
    /// neither has values. Between parties that follow the protocol this makes no difference to who learns what.
    pub fn roles_are_open(&self) -> bool {
        self.helper.is_none() && self.all_receive() && self.question.values().is_none()
    }

    /// The role of `party` in a protocol of two parties. If one party receives the result, it is
    /// the receiver; if both do, the party with values is the sender. If [the roles are
    /// open](Terms::roles_are_open) this is the role by default, which is used unless the sizes
    /// make it more expensive: the party whose name sorts first is the receiver.
    pub fn role_of(&self, party: &str) -> Role {
        let is_receiver = match (self.sole_receiver(), self.question.values()) {
            (Some(name), _) => party == name,
            (None, Some(values)) => party != values.of,
            (None, None) => party == self.parties[0].name,
        };
        if is_receiver { Role::Receiver } else { Role::Sender }
    }
}

impl Deref for Agreement {
    type Target = Terms;

    fn deref(&self) -> &Terms {
        &self.terms
    }
}

/// Two agreements are equal when their canonical forms are.
impl PartialEq for Agreement {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms && self.protocol_word() == other.protocol_word()
    }
}

impl Eq for Agreement {}

impl Agreement {
    /// The name of the party with this identity.
    pub fn party_of(&self, identity: &PublicIdentity) -> Option<&str> {
        self.parties.iter().find(|party| party.identity == *identity).map(|party| &*party.name)
    }

    /// The terms of the party named `party`.
    ///
    /// # Panics
    /// When there is no such party; names come from [`Agreement::party_of`] or
    /// [`Terms::parties`].
    pub fn terms_of(&self, party: &str) -> &PartyTerms {
        &self.parties[self.position(party)]
    }

    /// The terms of the other of two parties than `party`.
    ///
    /// # Panics
    /// As [`Agreement::terms_of`].
    pub fn peer_of(&self, party: &str) -> &PartyTerms {
        &self.parties[1 - self.position(party)]
    }

    /// The position of the party named `party` in [`Terms::parties`].
    ///
    /// # Panics
    /// As [`Agreement::terms_of`].
    pub fn position(&self, party: &str) -> usize {
        self.parties
            .iter()
            .position(|terms| terms.name == party)
            .expect("the name comes from this agreement")
    }

    /// The party that has `role` by default.
    pub(crate) fn party_with(&self, role: Role) -> &PartyTerms {
        let first = &self.parties[0];
        if self.role_of(&first.name) == role { first } else { &self.parties[1] }
    }

    /// Who learns the result, as a parameter of the protocol.
    pub fn learns(&self) -> Learns {
        if self.all_receive() { Learns::Both } else { Learns::Receiver }
    }

    /// Whether `party` receives the result.
    pub fn is_receiver_of_result(&self, party: &str) -> bool {
        self.receiver_names().any(|name| name == party)
    }

    /// The protocols of two parties that may run: the named one, or with `auto` all that offer the
    /// operation, and the bounds if there are any, with the required security, in the catalogue's
    /// order. At least one; none with a helper.
    pub fn candidates(&self) -> &[&'static Protocol] {
        match &self.selection {
            Selection::Named(row) => std::slice::from_ref(row),
            Selection::Auto(rows) => rows,
            Selection::Helper(_) => &[],
        }
    }

    /// The view of an agreement with a helper; `None` if there is no helper.
    pub fn with_helper(&self) -> Option<AidedAgreement<'_>> {
        match (&self.helper, &self.selection) {
            (Some(helper), Selection::Helper(variant)) => {
                Some(AidedAgreement { agreement: self, helper, variant: *variant })
            }
            _ => None,
        }
    }

    /// Whether the agreement leaves the choice of the protocol open.
    pub fn is_auto(&self) -> bool {
        matches!(self.selection, Selection::Auto(_))
    }

    /// The value of `protocol`: an id of the catalogue, or `auto`.
    pub fn protocol_word(&self) -> &'static str {
        match &self.selection {
            Selection::Named(row) => row.id,
            Selection::Auto(_) => parse::AUTO,
            Selection::Helper(variant) => variant.row().id,
        }
    }

    /// The parameters of a run in which the parties bring `sender_len` and `receiver_len` items,
    /// as announced, under `session`.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetTooLarge`].
    pub fn params(
        &self,
        session: SessionId,
        sender_len: u64,
        receiver_len: u64,
    ) -> vesica_core::Result<PsiParams> {
        let check_items = u64::from(self.self_check);
        let with = |len: u64| len.saturating_add(self.self_check_items());
        let params = PsiParams::new(session, with(sender_len), with(receiver_len), self.learns())?;
        let params = params
            .with_query(self.query()?)
            // The shared self-check items are common too.
            .with_bounds(self.bounds.shifted(check_items)?)
            .with_shared(check_items)?;
        match self.integer_items() {
            Some(integers) => params.with_item_bits(integers.item_bits()),
            None => Ok(params),
        }
    }

    /// How many self-check items a party adds that only it knows. None if all protocols that may run
    /// are secure against malicious parties: there each would be one guess above `max_rows`, and
    /// those protocols themselves look for tags that must not be there.
    pub fn own_check_items(&self) -> u32 {
        match self.candidates().iter().all(|row| row.security >= Security::Malicious) {
            true => 0,
            false => self.self_check,
        }
    }

    /// How many self-check items each party adds, shared and own together.
    pub fn self_check_items(&self) -> u64 {
        u64::from(self.self_check) + u64::from(self.own_check_items())
    }

    /// The question as a parameter of the protocol, self-check items included.
    fn query(&self) -> vesica_core::Result<Query> {
        Ok(match &self.question {
            Question::Intersection => Query::Intersection,
            Question::Cardinality => Query::Cardinality,
            Question::Threshold { min } => {
                Query::Threshold { min: min.saturating_add(u64::from(self.self_check)) }
            }
            Question::Sum(_) => Query::Sum(self.protocol_values()?),
            Question::Union { key_bytes } => {
                Query::Union(TextLen::new(key_bytes + TEXT_LEN_BYTES)?)
            }
            Question::PrivateId => Query::PrivateId,
            Question::Shares(None) => Query::Shares(None),
            Question::Shares(Some(_)) => Query::Shares(Some(self.protocol_values()?)),
            Question::SharedValues { default, .. } => {
                Query::SharedValues { values: self.protocol_values()?, default: *default as u64 }
            }
        })
    }

    /// Length of the texts of a union, in bytes.
    pub fn text_len(&self) -> Option<usize> {
        match self.question {
            Question::Union { key_bytes } => Some((key_bytes + TEXT_LEN_BYTES) as usize),
            _ => None,
        }
    }

    /// The values as the protocol takes them.
    fn protocol_values(&self) -> vesica_core::Result<vesica_core::Values> {
        let of = self.question.values().map_or("", |values| &values.of);
        let checked =
            self.checked_values().ok_or(vesica_core::Error::Bug("there are no values"))?;
        checked.values(self.role_of(of))
    }

    /// The values with room for the self-check, if there are values.
    pub fn checked_values(&self) -> Option<CheckedValues> {
        self.question.values().map(|values| CheckedValues::new(self.self_check, values))
    }

    /// The values, if `party` has them.
    pub fn values_of(&self, party: &str) -> Option<&ValueTerms> {
        self.question.values().filter(|values| values.of == party)
    }

    /// The integers that are compared in place of digests, if the whole key is one column of a
    /// small domain and every protocol that may run takes such items.
    pub fn integer_items(&self) -> Option<IntegerItems> {
        self.integers
    }

    /// The possible roles of a run in which both parties have `max_rows` items; the roles by default are among
    /// them.
    pub(crate) fn largest_roles(&self) -> Vec<Roles> {
        let lens = self.seated(|party| party.max_rows);
        Roles::allowed(self, SessionId::from_bytes([0; 32]), lens)
            .expect("MAX_ROWS leaves room for the self-check")
    }

    /// The two sizes at which the sides compare their candidates: the parties' `max_rows` and
    /// `min_rows`. Circuits count their gates for such figures, so their sizes are limited.
    pub(crate) fn compared_params(&self) -> [PsiParams; 2] {
        let plain = self.question == Question::Intersection && self.bounds.are_none();
        let most = if plain { MAX_ROWS } else { COMPARED_ROWS };
        [
            self.params_of(|party| party.max_rows.min(most)),
            self.params_of(|party| party.min_rows.min(most)),
        ]
    }

    fn params_of(&self, len: impl Fn(&PartyTerms) -> u64) -> PsiParams {
        let [sender_len, receiver_len] = self.seated(len);
        self.params(SessionId::from_bytes([0; 32]), sender_len, receiver_len)
            .expect("MAX_ROWS leaves room for the self-check")
    }

    /// The figures of the parties that are the sender and the receiver by default.
    fn seated(&self, figure: impl Fn(&PartyTerms) -> u64) -> [u64; 2] {
        [Role::Sender, Role::Receiver].map(|role| figure(self.party_with(role)))
    }

    /// Whether the last day is over, in UTC, at `now`.
    pub fn is_expired(&self, now: jiff::Timestamp) -> bool {
        is_over(self.expires, now)
    }
}

/// Whether the day `last` is over, in UTC, at `now`.
pub(crate) fn is_over(last: Option<Date>, now: jiff::Timestamp) -> bool {
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    last.is_some_and(|last| today > last)
}
