//! Which protocols an agreement allows, and what items they compare.

use super::column_fault::ColumnFault;
use super::error::{AgreementError, AgreementFault};
use super::items::IntegerItems;
use super::limits::AUTO;
use super::table::{At, Table, unknown_word};
use super::terms::Terms;
use vesica_core::{Item, Role};
use vesica_protocols::kmrs14::Variant;
use vesica_protocols::{Auto, BoundsKept, Operation, Protocol, Security, catalogue};

/// What an agreement says about the protocol.
#[derive(Clone, Debug)]
pub(super) enum Selection {
    /// The protocol that the agreement names.
    Named(&'static Protocol),
    /// The candidates, at least one, in the catalogue's order. Sizes and network decide between
    /// them.
    Auto(Vec<&'static Protocol>),
    /// The protocol with the helper.
    Helper(Variant),
}

/// The protocols that may run, and the integers that they compare, if these take the place of
/// digests.
pub(super) fn read(
    table: &Table<'_>,
    terms: &Terms,
) -> Result<(Selection, Option<IntegerItems>), AgreementError> {
    match table.text("protocol")?.filter(|word| word.value != AUTO) {
        Some(word) => named(table, terms, word),
        None => auto(table, terms),
    }
}

fn named(
    table: &Table<'_>,
    terms: &Terms,
    word: At<&str>,
) -> Result<(Selection, Option<IntegerItems>), AgreementError> {
    let Some(row) = catalogue().iter().find(|row| row.id == word.value) else {
        let known: Vec<&str> = [AUTO].into_iter().chain(catalogue().iter().map(|r| r.id)).collect();
        return Err(unknown_word(table, word, &known));
    };
    let refuse = |fault| Err(table.error(word.span.clone(), fault));
    if computes(row, terms) && !takes_values(row, terms) {
        return refuse(AgreementFault::ValuesNotOffered {
            protocol: Some(row.id),
            of_receiver: row.wide_values,
        });
    }
    if computes(row, terms) && !sends_columns(row, terms) {
        let offering = offering(terms).map(|row| row.id).collect();
        return refuse(AgreementFault::Columns(ColumnFault::NotOffered {
            protocol: row.id,
            offering,
        }));
    }
    if !offers(row, terms) {
        let others = offering(terms).filter(|row| row.security > Security::Insecure);
        return refuse(AgreementFault::NotOffered {
            protocol: row.id,
            operation: terms.operation(),
            // Whether it would offer the operation without bounds.
            bounds: row.operations.contains(&terms.operation()),
            offering: others.map(|row| row.id).collect(),
        });
    }
    if !gives_to(row, terms) {
        return refuse(AgreementFault::IsForReceiver { protocol: Some(row.id) });
    }
    let asked = terms.security;
    if row.security < asked {
        return refuse(AgreementFault::TooWeak { protocol: row.id, offers: row.security, asked });
    }
    let integers = possible_integers(terms, row.security);
    let bits = integers.map_or(Item::BITS, IntegerItems::item_bits);
    match integers.filter(|_| row.item_bits.contains(&bits)) {
        Some(integers) => Ok((Selection::Named(row), Some(integers))),
        None if row.item_bits.contains(&Item::BITS) => Ok((Selection::Named(row), None)),
        None => refuse(AgreementFault::ItemsTooLong {
            protocol: row.id,
            most: *row.item_bits.end(),
            bits,
        }),
    }
}

fn auto(
    table: &Table<'_>,
    terms: &Terms,
) -> Result<(Selection, Option<IntegerItems>), AgreementError> {
    // An insecure protocol runs only when it is named.
    let least = terms.security.max(Security::SemiHonest);
    // What protects one-sidedly costs some times as much, and runs where that is asked for.
    let is_enough = |row: &&Protocol| {
        row.security >= least && (row.security != Security::OneSided || row.security == least)
    };
    let all: Vec<_> = offering(terms).filter(is_enough).collect();
    let enough: Vec<_> = all.iter().copied().filter(|row| gives_to(row, terms)).collect();
    // Protocols that reveal less are preferred.
    let preferred = enough.iter().copied().filter(|row| reveals_least(row, terms));
    let preferred = worth_it(&preferred.collect::<Vec<_>>());
    let enough = if preferred.is_empty() { worth_it(&enough) } else { preferred };
    let taking = |bits: u32| {
        let rows = enough.iter().copied().filter(move |row| row.item_bits.contains(&bits));
        rows.collect::<Vec<_>>()
    };
    let digests = taking(Item::BITS);
    if let Some(integers) = possible_integers(terms, least) {
        let all = taking(integers.item_bits());
        let none_is_lost = digests.iter().all(|row| all.iter().any(|other| other.id == row.id));
        if none_is_lost && !all.is_empty() {
            return Ok((Selection::Auto(all), Some(integers)));
        }
    }
    if digests.is_empty() {
        if !all.is_empty() && enough.is_empty() {
            return Err(table.error_here(AgreementFault::IsForReceiver { protocol: None }));
        }
        let rows =
            || catalogue().iter().filter(|row| computes(row, terms) && row.security >= least);
        if rows().next().is_some() && !rows().any(|row| takes_values(row, terms)) {
            let of_receiver = rows().any(|row| row.wide_values);
            let fault = AgreementFault::ValuesNotOffered { protocol: None, of_receiver };
            return Err(table.error_here(fault));
        }
        let fault = AgreementFault::NoProtocol {
            operation: terms.operation(),
            bounds: !terms.bounds.are_none(),
            security: terms.security,
            strongest: offering(terms).map(|row| row.security).max(),
        };
        return Err(table.error_here(fault));
    }
    Ok((Selection::Auto(digests), None))
}

/// The protocols among `rows` that `auto` may choose: the candidates, or if there are none the
/// protocols that it may choose alone.
fn worth_it(rows: &[&'static Protocol]) -> Vec<&'static Protocol> {
    let of = |auto: Auto| rows.iter().copied().filter(|row| row.auto == auto).collect::<Vec<_>>();
    let candidates = of(Auto::Candidate);
    if candidates.is_empty() { of(Auto::WhenAlone) } else { candidates }
}

/// Whether no party learns a number of common keys that is not part of the answer: one outside the
/// bounds, or one in addition to a sum.
fn reveals_least(row: &Protocol, terms: &Terms) -> bool {
    let within = terms.bounds.are_none() || row.bounds == BoundsKept::ByComputation;
    let no_count = terms.operation() != Operation::Sum || !row.wide_values;
    within && no_count
}

/// Whether `row` answers the question, with its bounds, values and columns if there are any.
fn offers(row: &Protocol, terms: &Terms) -> bool {
    computes(row, terms) && takes_values(row, terms) && sends_columns(row, terms)
}

fn sends_columns(row: &Protocol, terms: &Terms) -> bool {
    row.payloads || terms.columns.is_none()
}

fn computes(row: &Protocol, terms: &Terms) -> bool {
    row.operations.contains(&terms.operation())
        && (row.bounds.are_kept() || terms.bounds.are_none())
}

/// Whether `row` gives the result to the parties that receive it.
fn gives_to(row: &Protocol, terms: &Terms) -> bool {
    row.learners_of(terms.operation()).contains(&terms.learns())
}

fn takes_values(row: &Protocol, terms: &Terms) -> bool {
    terms.question.values().is_none_or(|values| {
        if row.wide_values { terms.role_of(&values.of) == Role::Sender } else { values.are_plain() }
    })
}

fn offering(terms: &Terms) -> impl Iterator<Item = &'static Protocol> {
    catalogue().iter().filter(|row| offers(row, terms))
}

/// The integers that keys can be compared as, which depend on the key column, the sizes, and
/// whether the protocols, of `security` at least, have self-check items that one party alone adds.
///
/// None with hidden sizes where a party may deviate: padding would have numbers that anyone knows,
/// and a party that enters the other's padding would match it, and so count it or reach a threshold
/// with it.
fn possible_integers(terms: &Terms, security: Security) -> Option<IntegerItems> {
    let ([key], []) = (&terms.keys[..], &terms.rules[..]) else { return None };
    if terms.hide_sizes && security.guards_sets() {
        return None;
    }
    let key_bits = key.profile.integer_bits()?;
    let check_items = u64::from(terms.self_check);
    let most_rows = terms.parties.iter().map(|party| party.max_rows).max().unwrap_or(0);
    let padding = if terms.hide_sizes { most_rows } else { 0 };
    let own = if security.guards_sets() { 0 } else { check_items };
    Some(IntegerItems::new(key_bits, check_items, own.saturating_add(padding)))
}
