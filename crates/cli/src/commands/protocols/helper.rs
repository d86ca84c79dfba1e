//! The protocols with a helper.

use super::parameter::{self, Parameter};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::LazyLock;
use vesica_agreement::figures::grouped;
use vesica_agreement::{AidedAgreement, chance};
use vesica_protocols::kmrs14::{AidedProtocol, Check, Noun, Variant};
use vesica_protocols::{Security, TrustModel};

/// Sizes of sets for which copies and dummies are shown: 10^3 to 10^8.
const SHOWN_EXPONENTS: std::ops::RangeInclusive<u32> = 3..=8;

/// A row of the catalogue as JSON.
#[derive(Serialize)]
pub(super) struct AidedRow {
    id: &'static str,
    name: &'static str,
    source: &'static str,
    security: &'static str,
    party_security: &'static str,
    assumption: &'static str,
    operations: [&'static str; 1],
    parties: [usize; 2],
    all_receive: bool,
    helper_learns: String,
    party_learns: String,
    bytes_formula: &'static str,
    trust_model: &'static str,
    chosen_for: Vec<String>,
    checks: Vec<CheckRow>,
    parameters: Vec<Parameter>,
}

/// The copies and dummies for sets of one size.
#[derive(Clone, Serialize)]
struct CheckRow {
    keys: u64,
    copies: u32,
    dummies: u32,
    labels: u64,
    bits: f64,
}

impl From<&AidedProtocol> for AidedRow {
    fn from(row: &AidedProtocol) -> Self {
        AidedRow {
            id: row.id,
            name: row.name,
            source: row.source,
            security: row.helper_security.name(),
            party_security: row.party_security,
            assumption: row.assumption,
            operations: ["intersection"],
            parties: [*row.parties.start(), *row.parties.end()],
            all_receive: row.all_receive,
            helper_learns: row.helper_learns.words(Noun::Items),
            party_learns: row.party_learns.words(Noun::Items),
            bytes_formula: row.bytes_formula,
            trust_model: TrustModel::Helper.name(),
            chosen_for: is_chosen(row).then(|| "intersection".to_owned()).into_iter().collect(),
            checks: checks(row),
            parameters: parameter::all(row.parameters),
        }
    }
}

/// The table of copies and dummies; empty if each item is sent once.
fn checks(row: &AidedProtocol) -> Vec<CheckRow> {
    // The same for all rows that have it.
    static OF_SHOWN_SIZES: LazyLock<Vec<CheckRow>> = LazyLock::new(|| {
        SHOWN_EXPONENTS.map(|exponent| CheckRow::cheapest(10_u64.pow(exponent))).collect()
    });
    match row.variant {
        Variant::SemiHonest => Vec::new(),
        Variant::Pet => vec![CheckRow::cheapest(1)],
        _ => OF_SHOWN_SIZES.clone(),
    }
}

impl CheckRow {
    fn cheapest(keys: u64) -> Self {
        let check = Check::cheapest(keys);
        let Check { copies, dummies } = check;
        Self { keys, copies, dummies, labels: check.labels(keys), bits: check.bits(keys) }
    }
}

fn parties(row: &AidedProtocol) -> String {
    match (row.parties.start(), row.parties.end()) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// Whether an agreement with a helper that does not name a protocol can get `row`.
pub(super) fn is_chosen(row: &AidedProtocol) -> bool {
    matches!(row.variant, Variant::SemiHonest | Variant::Malicious)
}

pub(super) fn show(row: &AidedProtocol, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} ({})", row.name, row.id)?;
    let facts = [
        ("source", row.source),
        ("trust model", TrustModel::Helper.name()),
        ("helper", &format!("{}, and must not collude with any party", row.helper_security)),
        ("among parties", row.party_security),
        ("assumption", row.assumption),
        ("parties", &parties(row)),
        ("operations", "intersection"),
        ("result", if row.all_receive { "for all parties" } else { "for any of the parties" }),
        ("party learns", &row.party_learns.words(Noun::Items)),
        ("helper learns", &row.helper_learns.words(Noun::Items)),
        ("bytes", row.bytes_formula),
    ];
    writeln!(out)?;
    for (name, value) in facts {
        writeln!(out, "{name:16} {value}")?;
    }
    writeln!(out, "\nparameters")?;
    for parameter in row.parameters {
        writeln!(out, "  {}: {} [{}]", parameter.name, parameter.value, parameter.source)?;
    }
    let checks = checks(row);
    if !checks.is_empty() {
        writeln!(out, "\ncopies and dummies, if an agreement does not set them")?;
        writeln!(
            out,
            "{:>13}  {:>6}  {:>11}  {:>13}  unnoticed cheating",
            "keys", "copies", "dummies", "labels"
        )?;
    }
    for check in checks {
        writeln!(
            out,
            "{:>13}  {:>6}  {:>11}  {:>13}  {}",
            grouped(check.keys),
            check.copies,
            grouped(check.dummies.into()),
            grouped(check.labels),
            chance(check.bits),
        )?;
    }
    Ok(())
}

/// The protocol of `agreement`, on one line.
pub(super) fn in_words(agreement: AidedAgreement<'_>) -> String {
    let row = agreement.protocol();
    let security = match row.helper_security {
        Security::Malicious if !agreement.finds_cheats() => "covert".to_owned(),
        security => security.to_string(),
    };
    let check = agreement.helper().check;
    let copies =
        if check.copies == 1 { "1 copy".to_owned() } else { format!("{} copies", check.copies) };
    let dummies = grouped(check.dummies.into());
    format!("{} ({}, {security}; {copies}, {dummies} dummies of each kind)", row.name, row.id)
}
