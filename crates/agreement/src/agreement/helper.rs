//! The helper of an agreement: a server that all parties connect to. They need not trust it with
//! their keys.

use super::Agreement;
use super::error::{AgreementError, AgreementFault};
use super::limits::AUTO;
use super::parties::{PartyTerms, PlacedParty};
use super::question::self_check;
use super::selection::Selection;
use super::table::{At, Field, Table, check_text, identity, unknown_word};
use super::terms::{HelperTerms, Terms};
use std::ops::{Deref, Range};
use toml::de::DeValue;
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::{
    AidedProtocol, Check, MAX_COPIES, MAX_DUMMIES, PartySpec, Spec, Variant, aided,
};
use vesica_protocols::{Operation, Security};

/// Longest name of a helper, in characters.
pub const MAX_HELPER_NAME_CHARS: usize = 32;

/// The name of a helper by default.
const HELPER_NAME_DEFAULT: &str = "helper";

/// The fewest dummies: with fewer the check would be almost useless.
const MIN_DUMMIES: u32 = 2;

/// Fields of agreements without a helper.
const OTHER_FIELDS: [&str; 15] = [
    "hide_sizes",
    "partition_counts",
    "early_reveal",
    "partition_rows",
    "max_repeats",
    "threshold",
    "min_matches",
    "max_matches",
    "show_rules",
    "sum",
    "product",
    "union",
    "shares",
    "rule",
    "columns",
];

pub(super) const HELPER_FIELDS: &[Field] = &[
    Field { name: "identity", meaning: "the helper's public identity" },
    Field { name: "copies", meaning: "how often each key is sent; required with dummies" },
    Field {
        name: "dummies",
        meaning: "how many made-up keys test the answer; required with copies",
    },
];
const HELPER_FIELD_NAMES: &[&str] = &["name", "identity", "copies", "dummies"];

/// A view of an agreement with a helper. Made by [`Agreement::with_helper`].
#[derive(Clone, Copy, Debug)]
pub struct AidedAgreement<'a> {
    agreement: &'a Agreement,
    helper: &'a HelperTerms,
    variant: Variant,
}

impl Agreement {
    /// The view of an agreement with a helper; `None` if there is no helper.
    pub fn with_helper(&self) -> Option<AidedAgreement<'_>> {
        match (&self.helper, &self.selection) {
            (Some(helper), Selection::Helper(variant)) => {
                Some(AidedAgreement { agreement: self, helper, variant: *variant })
            }
            _ => None,
        }
    }
}

impl Deref for AidedAgreement<'_> {
    type Target = Agreement;

    fn deref(&self) -> &Agreement {
        self.agreement
    }
}

impl<'a> AidedAgreement<'a> {
    /// The helper.
    pub fn helper(&self) -> &'a HelperTerms {
        self.helper
    }

    /// The protocol.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The row of the catalogue.
    pub fn protocol(&self) -> &'static AidedProtocol {
        self.variant.row()
    }

    /// Whether the party at `position` receives the result.
    pub fn receives(&self, position: usize) -> bool {
        self.agreement.receivers.contains(&position)
    }

    /// Whether a wrong answer of the helper goes unnoticed with a probability of at most 2^-40.
    pub fn finds_cheats(&self) -> bool {
        finds_cheats(self.helper.check, self.most_rows())
    }

    /// −log2 of the largest probability that a wrong answer of the helper goes unnoticed by a
    /// party.
    pub fn cheating_bits(&self) -> f64 {
        self.helper.check.bits(self.most_rows())
    }

    /// The largest `max_rows` of all parties.
    pub fn most_rows(&self) -> u64 {
        most_rows(self.agreement.parties.iter())
    }

    /// What the helper learns of a run.
    pub fn spec(&self) -> Spec {
        spec(self.agreement, self.helper.check, self.variant)
    }
}

fn spec(agreement: &Agreement, check: Check, variant: Variant) -> Spec {
    let party = |(position, party): (usize, &PartyTerms)| PartySpec {
        identity: *party.identity.as_bytes(),
        max_rows: party.max_rows,
        min_rows: party.min_rows,
        receives: agreement.receivers.contains(&position),
    };
    Spec {
        variant,
        agreement: *agreement.hash().as_bytes(),
        parties: agreement.parties.iter().enumerate().map(party).collect(),
        copies: check.copies,
        dummies: check.dummies,
    }
}

/// Whether a wrong answer for sets of at most `rows` rows goes unnoticed with a probability of at
/// most 2^-40.
fn finds_cheats(check: Check, rows: u64) -> bool {
    check.bits(rows) >= f64::from(STATISTICAL_SECURITY_BITS)
}

fn most_rows<'p>(parties: impl Iterator<Item = &'p PartyTerms>) -> u64 {
    parties.map(|party| party.max_rows).max().unwrap_or(1)
}

/// The probability of 2 to the power of -`bits`, rounded up: `2^-28.3`.
pub fn chance(bits: f64) -> String {
    format!("2^-{:.1}", (bits * 10.0).floor() / 10.0)
}

/// Refuses the fields that agreements with a helper do not have.
pub(super) fn refuse_others(table: &Table<'_>) -> Result<(), AgreementError> {
    for field in OTHER_FIELDS {
        let Some(at) = table.any(field)? else { continue };
        // Sizes that are not hidden are the default.
        if !(field == "hide_sizes" && matches!(at.value, DeValue::Boolean(false))) {
            return Err(table.error(at.span, AgreementFault::NotWithHelper { field }));
        }
    }
    Ok(())
}

/// The helper in its table `fields`, and the protocol: the named one, or else the one that offers
/// the security.
pub(super) fn read(
    table: &Table<'_>,
    fields: &Table<'_>,
    security: &At<Security>,
    parties: &[PlacedParty],
) -> Result<(HelperTerms, Variant, Range<usize>), AgreementError> {
    let variant = variant(table, security, parties)?;
    refuse_rows(table, variant, parties)?;
    let (name, identity) = named_helper(fields, parties)?;
    let most = most_rows(parties.iter().map(|party| &party.terms));
    let (check, at) = check(table, fields, variant, most)?;
    if security.value == Security::Malicious && !finds_cheats(check, most) {
        return Err(table.error(at, AgreementFault::CheckTooWeak { check }));
    }
    Ok((HelperTerms { name, identity, check }, variant, at))
}

/// Refuses receivers that the protocol does not take.
pub(super) fn refuse_receivers(
    table: &Table<'_>,
    variant: Variant,
    terms: &Terms,
) -> Result<(), AgreementError> {
    let row = variant.row();
    if !row.all_receive || terms.all_receive() {
        return Ok(());
    }
    let at = table.required("receives", |t, name| t.any(name))?;
    Err(table.error(at.span, AgreementFault::IsForAll { protocol: row.id }))
}

/// Refuses lists that are longer than the protocol takes because of the copies `at`.
pub(super) fn refuse_long_lists(
    table: &Table<'_>,
    at: Range<usize>,
    agreement: AidedAgreement<'_>,
) -> Result<(), AgreementError> {
    let spec = agreement.spec();
    if spec.is_sound() {
        return Ok(());
    }
    let labels = spec.parties.iter().map(|party| spec.list_len(party.max_rows)).max();
    let (check, labels) = (agreement.helper.check, labels.unwrap_or_default());
    Err(table.error(at, AgreementFault::ListsTooLong { check, labels }))
}

/// The protocol that is named, or else the one that offers the security.
fn variant(
    table: &Table<'_>,
    security: &At<Security>,
    parties: &[PlacedParty],
) -> Result<Variant, AgreementError> {
    let found = parties.len();
    let (row, span) = match table.text("protocol")?.filter(|word| word.value != AUTO) {
        Some(word) => match aided().find(|row| row.id == word.value) {
            Some(row) => (row, word.span),
            None => {
                let known: Vec<&str> = [AUTO].into_iter().chain(aided().map(|r| r.id)).collect();
                return Err(unknown_word(table, word, &known));
            }
        },
        None => {
            let chosen = match security.value {
                Security::Malicious if found == 2 => Variant::Malicious,
                _ => Variant::SemiHonest,
            };
            (chosen.row(), security.span.clone())
        }
    };
    let protocol = row.id;
    if !row.parties.contains(&found) {
        let fault = AgreementFault::TooManyParties { protocol, most: *row.parties.end(), found };
        return Err(table.error(span, fault));
    }
    let (offers, asked) = (row.helper_security, security.value);
    if offers < asked {
        let fault =
            AgreementFault::TooWeakAgainstHelper { protocol, offers, asked, parties: found };
        return Err(table.error(span, fault));
    }
    Ok(row.variant)
}

/// Refuses more rows than the protocol takes: one that compares single values takes one.
fn refuse_rows(
    table: &Table<'_>,
    variant: Variant,
    parties: &[PlacedParty],
) -> Result<(), AgreementError> {
    let too_many = |party: &&PlacedParty| party.terms.max_rows > variant.max_rows();
    let Some(PlacedParty { terms, max_rows, .. }) = parties.iter().find(too_many) else {
        return Ok(());
    };
    let field = format!("party.{}.max_rows", terms.name);
    let protocol = variant.row().id;
    let fault = AgreementFault::OneRow { field, found: terms.max_rows, protocol };
    Err(table.error(max_rows.clone(), fault))
}

fn named_helper(
    fields: &Table<'_>,
    parties: &[PlacedParty],
) -> Result<(String, PublicIdentity), AgreementError> {
    fields.refuse_unknown(HELPER_FIELD_NAMES)?;
    let (name, span) = match fields.text("name")? {
        Some(name) => {
            check_text(fields, &name, MAX_HELPER_NAME_CHARS)?;
            (name.value.to_owned(), name.span)
        }
        None => (HELPER_NAME_DEFAULT.to_owned(), fields.span()),
    };
    if parties.iter().any(|party| party.terms.name == name) {
        return Err(fields.error(span, AgreementFault::SameName { name }));
    }
    let identity = identity(fields)?;
    if let Some(party) = parties.iter().find(|party| party.terms.identity == identity.value) {
        let fault = AgreementFault::SameIdentity { first: name, second: party.terms.name.clone() };
        return Err(fields.error(identity.span, fault));
    }
    Ok((name, identity.value))
}

/// How often each item is sent, how many dummies there are, and the place of these fields.
fn check(
    table: &Table<'_>,
    fields: &Table<'_>,
    variant: Variant,
    most_rows: u64,
) -> Result<(Check, Range<usize>), AgreementError> {
    let copies = fields.number("copies", 1..=MAX_COPIES.into())?;
    let dummies = fields.number("dummies", MIN_DUMMIES.into()..=MAX_DUMMIES.into())?;
    let is_given = copies.is_some() || dummies.is_some();
    if let (true, Some(at)) = (is_given || variant != Variant::SemiHonest, table.any("self_check")?)
    {
        let fault = AgreementFault::DummiesAreSelfCheck { protocol: variant.row().id };
        return Err(table.error(at.span, fault));
    }
    if is_given {
        let copies = fields.required("copies", |_, _| Ok(copies))?;
        let dummies = fields.required("dummies", |_, _| Ok(dummies))?;
        // Both are at most 2^24.
        let check = Check { copies: copies.value as u32, dummies: dummies.value as u32 };
        return Ok((check, copies.span));
    }
    let check = match variant {
        Variant::SemiHonest => {
            Check { copies: 1, dummies: self_check(table, Operation::Intersection)? }
        }
        _ => Check::cheapest(most_rows),
    };
    Ok((check, fields.span()))
}
