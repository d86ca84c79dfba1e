//! Agreements: what organisations compute together, who receives the result, and with which helper,
//! if any.
//!
//! * [`Agreement`] — a checked agreement; [`Terms`] — its fields; [`AidedAgreement`] — the view of
//!   one with a [helper](HelperTerms).
//! * [`Draft`] — one in which identities are missing.
//! * [`Question`] — what is asked about the keys; [`ValueTerms`] — and about their values;
//!   [`MatchBounds`] — when it is answered.
//! * [`ColumnTerms`] — the columns of one party that come along.
//! * [`Computation`] — an expression that is computed on shares.
//! * [`AgreementError`] — what is wrong with an agreement file, and where.
//! * [`AgreementHash`] — names one agreement; bound into every session and result.
//! * [`Quoted`] — a text as it stands in an agreement.
//! * [`Difference`] — one field in which two agreements differ.
//!
//! An agreement is a small TOML file, the same for all parties: two of them, or two to sixteen with
//! a helper. Comments, the order of the fields, the order of the keys, and whether a default is
//! written out do not change what was agreed: the [canonical form](Agreement::canonical) and its
//! hash are the same.

mod canonical;
mod checked;
mod column_fault;
mod columns;
mod computation;
mod difference;
mod draft;
mod error;
mod helper;
mod items;
mod limits;
mod parse;
mod parties;
mod question;
mod rules;
mod selection;
mod table;
mod terms;
mod values;

pub use canonical::{AgreementHash, Quoted};
pub use checked::CheckedValues;
pub use column_fault::ColumnFault;
pub use columns::{ColumnTerms, MAX_COLUMNS};
pub use computation::Computation;
pub use difference::{Difference, DifferenceError};
pub use draft::Draft;
pub use error::{AgreementError, AgreementFault, TextFault};
pub use helper::{AidedAgreement, MAX_HELPER_NAME_CHARS, chance};
pub use items::IntegerItems;
pub use limits::{
    EXCLUDED_MAX_BYTES, FORMAT_VERSION, MAX_EXCLUDED, MAX_FILE_BYTES, MAX_KEYS, MAX_KEYS_OF_RULE,
    MAX_NAME_CHARS, MAX_ROWS, MAX_RULES, MAX_TITLE_CHARS, MIN_ROWS_DEFAULT, PARTITION_ROWS_MAX,
    PARTITION_ROWS_MIN, REPEATS_DEFAULT, REPEATS_MAX, SELF_CHECK_DEFAULT, SELF_CHECK_MAX,
    SELF_CHECK_MIN,
};
pub use parties::PartyTerms;
pub use question::{KEY_BYTES_DEFAULT, KEY_MAX_BYTES, MatchBounds, Question, TEXT_LEN_BYTES};
pub use terms::{HelperTerms, Key, Terms};
pub use values::{GroupTerms, MAX_SUMS, MAX_VALUE_COLUMNS, VALUE_MAX_BITS, ValueTerms};

use jiff::civil::Date;
use limits::AUTO;
use selection::Selection;
use std::ops::Deref;
use vesica_core::{EarlyReveal, PayloadLen, PsiParams, Query, Role, SessionId, TextLen};
use vesica_link::PublicIdentity;
use vesica_protocols::Protocol;

/// The set size at which figures of circuits are compared, at most.
const COMPARED_ROWS: u64 = 1 << 10;

/// A checked agreement.
///
/// Made only from text, by [`Agreement::parse`] or [`Agreement::load`], and never changed, so that
/// every value of this type is a valid agreement. Its fields are read through [`Terms`].
#[derive(Clone, Debug)]
pub struct Agreement {
    terms: Terms,
    selection: Selection,
    integers: Option<IntegerItems>,
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
    pub fn party_with(&self, role: Role) -> &PartyTerms {
        let first = &self.parties[0];
        if self.role_of(&first.name) == role { first } else { &self.parties[1] }
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

    /// Whether the agreement leaves the choice of the protocol open.
    pub fn is_auto(&self) -> bool {
        matches!(self.selection, Selection::Auto(_))
    }

    /// The value of `protocol`: an id of the catalogue, or `auto`.
    pub fn protocol_word(&self) -> &'static str {
        match &self.selection {
            Selection::Named(row) => row.id,
            Selection::Auto(_) => AUTO,
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
            .with_shared(check_items)?
            .with_partition_counts(self.partition_counts)
            .with_partition_len(self.partition_rows)
            .with_early_reveal(if self.early_reveal {
                EarlyReveal::Paced
            } else {
                EarlyReveal::Never
            });
        match self.integer_items() {
            Some(integers) => params.with_largest_item(integers.largest()),
            None => Ok(params),
        }
    }

    /// How many self-check items a party adds that only it knows. None if all protocols that may
    /// run guard the size of a set that a party enters: there each would be one guess above
    /// `max_rows`, and those protocols themselves look for tags that must not be there.
    pub fn own_check_items(&self) -> u32 {
        if self.candidates().iter().all(|row| row.security.guards_sets()) {
            0
        } else {
            self.self_check
        }
    }

    /// How many self-check items each party adds, shared and own together.
    pub fn self_check_items(&self) -> u64 {
        u64::from(self.self_check) + u64::from(self.own_check_items())
    }

    /// The question as a parameter of the protocol, self-check items included.
    fn query(&self) -> vesica_core::Result<Query> {
        Ok(match &self.question {
            Question::Intersection => match &self.columns {
                Some(columns) => Query::Payloads(PayloadLen::new(columns.payload_len() as u32)?),
                None => Query::Intersection,
            },
            Question::Cardinality => Query::Cardinality,
            Question::Threshold { min } => {
                Query::Threshold { min: min.saturating_add(u64::from(self.self_check)) }
            }
            Question::Sum(_) => Query::Sum(self.protocol_values()?),
            Question::InnerProduct { factors, .. } => {
                let factors = CheckedValues::of_factors(self.self_check, factors);
                let holder = Role::Receiver;
                Query::InnerProduct {
                    values: self.protocol_values()?,
                    factors: factors.values(holder)?,
                }
            }
            Question::Union { key_bytes } => {
                Query::Union(TextLen::new(key_bytes + TEXT_LEN_BYTES)?)
            }
            Question::PrivateId => Query::PrivateId,
            Question::Shares(None) => Query::Shares(None),
            Question::Shares(Some(_)) | Question::Computed { .. } => {
                Query::Shares(Some(self.protocol_values()?))
            }
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

    /// The values with room for the self-check, if there are values; of an inner product the values
    /// that may be of several columns.
    pub fn checked_values(&self) -> Option<CheckedValues> {
        self.question.values().map(|values| CheckedValues::new(self.self_check, values))
    }

    /// The values of the party in `role`, with room for the self-check, if it has values.
    pub fn checked_values_of(&self, role: Role) -> Option<CheckedValues> {
        match self.question.factors() {
            Some(factors) if self.role_of(&factors.of) == role => {
                Some(CheckedValues::of_factors(self.self_check, factors))
            }
            _ => {
                let values = self.question.values()?;
                self.checked_values().filter(|_| self.role_of(&values.of) == role)
            }
        }
    }

    /// The values of `party`, if it has any.
    pub fn values_of(&self, party: &str) -> Option<&ValueTerms> {
        let both = [self.question.values(), self.question.factors()];
        both.into_iter().flatten().find(|values| values.of == party)
    }

    /// The integers that are compared in place of digests, if the whole key is one column of a
    /// small domain and every protocol that may run takes such items.
    pub fn integer_items(&self) -> Option<IntegerItems> {
        self.integers
    }

    /// The two sizes at which the sides compare their candidates: the parties' `max_rows` and
    /// `min_rows`. Circuits count their gates for such figures, so their sizes are limited.
    pub(crate) fn compared_params(&self) -> [PsiParams; 2] {
        let plain = self.question == Question::Intersection && self.bounds.are_none();
        let most = if plain { MAX_ROWS } else { COMPARED_ROWS };
        [
            self.params_of(|party| party.max_items().min(most)),
            self.params_of(|party| party.min_rows.min(most)),
        ]
    }

    fn params_of(&self, len: impl Fn(&PartyTerms) -> u64) -> PsiParams {
        let [sender_len, receiver_len] = self.seated(len);
        self.params(SessionId::from_bytes([0; 32]), sender_len, receiver_len)
            .expect("MAX_ROWS leaves room for the self-check")
    }

    /// The figures of the parties that are the sender and the receiver by default.
    pub(crate) fn seated(&self, figure: impl Fn(&PartyTerms) -> u64) -> [u64; 2] {
        [Role::Sender, Role::Receiver].map(|role| figure(self.party_with(role)))
    }

    /// Whether the last day has passed, in UTC, at `now`.
    pub fn is_expired(&self, now: jiff::Timestamp) -> bool {
        is_over(self.expires, now)
    }
}

/// Whether the day `last` has passed, in UTC, at `now`.
pub(crate) fn is_over(last: Option<Date>, now: jiff::Timestamp) -> bool {
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    last.is_some_and(|last| today > last)
}
