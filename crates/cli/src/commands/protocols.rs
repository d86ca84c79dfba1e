//! `vesica protocols`.

mod helper;
mod list;
mod parameter;
mod unnamed;

use crate::args::ProtocolsArgs;
use crate::failure::Failure;
use helper::AidedRow;
use parameter::Parameter;
use serde::Serialize;
use std::io::{self, Write};
use vesica_agreement::Agreement;
use vesica_core::{Item, Learns, PsiParams, Query, Role, SessionId, TextLen, Values};
use vesica_protocols::{BoundsKept, Operation, Protocol, Row, Security, TrustModel};

/// A row of the catalogue as JSON.
#[derive(Serialize)]
struct TwoPartyRow {
    id: &'static str,
    name: &'static str,
    source: &'static str,
    security: &'static str,
    assumption: &'static str,
    operations: Vec<&'static str>,
    sender_learns: String,
    receiver_learns: String,
    flights: u64,
    bytes_formula: &'static str,
    named_only: bool,
    chosen_for: Vec<String>,
    small_domains: bool,
    item_bits: [u32; 2],
    bounds: bool,
    bounds_kept: &'static str,
    wide_values: bool,
    bytes_depend_on_result: bool,
    partitions: &'static str,
    trust_model: &'static str,
    parameters: Vec<Parameter>,
}

/// A row of the catalogue; `trust_model` shows its kind.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonRow {
    TwoParties(Box<TwoPartyRow>),
    Helper(Box<AidedRow>),
}

impl From<Row> for JsonRow {
    fn from(row: Row) -> Self {
        match row {
            Row::TwoParties(row) => JsonRow::TwoParties(Box::new(row.into())),
            Row::Helper(row) => JsonRow::Helper(Box::new(row.into())),
        }
    }
}

impl From<&Protocol> for TwoPartyRow {
    fn from(row: &Protocol) -> Self {
        let chosen_for = unnamed::names(row, &unnamed::questions(row));
        TwoPartyRow {
            id: row.id,
            name: row.name,
            source: row.source,
            security: row.security.name(),
            assumption: row.assumption,
            operations: row.operations.iter().map(|operation| operation.name()).collect(),
            sender_learns: row.sender_learns(),
            receiver_learns: row.receiver_learns(),
            flights: (row.flights)(&typical(row, SHOWN_LEN)),
            bytes_formula: row.bytes_formula,
            named_only: chosen_for.is_empty(),
            chosen_for,
            small_domains: row.takes_integers(),
            item_bits: [*row.item_bits.start(), *row.item_bits.end()],
            bounds: row.bounds.are_kept(),
            bounds_kept: match row.bounds {
                BoundsKept::No => "no",
                BoundsKept::ByComputation => "by-computation",
                BoundsKept::ByReceiver => "by-receiver",
            },
            wide_values: row.wide_values,
            bytes_depend_on_result: row.bytes_depend_on_result,
            partitions: row.partitions.name(),
            trust_model: TrustModel::TwoParties.name(),
            parameters: parameter::all(row.parameters),
        }
    }
}

pub(crate) fn run(args: &ProtocolsArgs, out: &mut impl Write) -> Result<(), Failure> {
    let Some(id) = &args.id else {
        if args.json {
            return json(&Row::all().map(JsonRow::from).collect::<Vec<_>>(), out);
        }
        return Ok(list::write(args.all, out)?);
    };
    let row = Row::find(id).ok_or_else(|| Failure::UnknownProtocol { id: id.clone() })?;
    match row {
        row if args.json => json(&JsonRow::from(row), out),
        Row::TwoParties(row) => Ok(show(row, out)?),
        Row::Helper(row) => Ok(helper::show(row, out)?),
    }
}

/// A run of the row's first operation on two sets of `len` items each.
fn typical(row: &Protocol, len: u64) -> PsiParams {
    let session = SessionId::from_bytes([0; 32]);
    let values = Values::new(Role::Sender, 32).expect("a value of 32 bits");
    let query = match row.operations.first() {
        Some(Operation::Cardinality) => Query::Cardinality,
        Some(Operation::Threshold) => Query::Threshold { min: len / 2 },
        Some(Operation::Sum) => Query::Sum(values),
        Some(Operation::InnerProduct) => {
            let factors = Values::new(Role::Receiver, 16).expect("a value of 16 bits");
            Query::InnerProduct { values, factors }
        }
        Some(Operation::Union) => Query::Union(TextLen::new(66).expect("a text of 66 bytes")),
        Some(Operation::PrivateId) => Query::PrivateId,
        Some(Operation::Shares) => Query::Shares(None),
        Some(Operation::SharedValues) => Query::SharedValues { values, default: 0 },
        _ => Query::Intersection,
    };
    let learns = if query.operation().is_for_both() { Learns::Both } else { Learns::Receiver };
    PsiParams::new(session, len, len, learns)
        .and_then(|params| params.with_item_bits(*row.item_bits.end()))
        .expect("small sets")
        .with_query(query)
}

/// The set size for which figures that depend on sizes are shown: 2^16 items.
const SHOWN_LEN: u64 = 1 << 16;

fn flights(row: &Protocol) -> String {
    let [shown, other] = [SHOWN_LEN, SHOWN_LEN >> 8].map(|len| (row.flights)(&typical(row, len)));
    if shown == other {
        shown.to_string()
    } else {
        format!("{shown} for 2^16 items each, {other} for 2^8")
    }
}

fn bounds(row: &Protocol) -> &'static str {
    match row.bounds {
        BoundsKept::No => "no",
        BoundsKept::ByComputation => {
            "min_matches and max_matches, enforced by the computation: neither party learns the \
             number"
        }
        BoundsKept::ByReceiver => {
            "min_matches and max_matches, enforced by the receiver's program, which learns the \
             number; outside the bounds it reports only that and ends"
        }
    }
}

/// Which values a protocol takes.
fn values(row: &Protocol) -> &'static str {
    if row.operations.contains(&Operation::InnerProduct) {
        return "several columns of the sender, with or without a sign, up to 64 bits, and one of \
                the receiver, whole numbers from 0, up to 32 bits";
    }
    if row.wide_values {
        "several columns of the sender, with or without a sign, up to 64 bits"
    } else {
        "one column of either side, whole numbers from 0, up to 40 bits"
    }
}

fn takes_values(row: &Protocol) -> bool {
    const OF_VALUES: [Operation; 4] =
        [Operation::Sum, Operation::InnerProduct, Operation::Shares, Operation::SharedValues];
    row.operations.iter().any(|operation| OF_VALUES.contains(operation))
}

/// Which items a protocol takes.
fn items(row: &Protocol) -> String {
    let (least, most) = (*row.item_bits.start(), *row.item_bits.end());
    let integers = "if the key is one integer:<BITS> or ipv4 column";
    match (row.takes_integers(), most) {
        (false, _) => "digests of 128 bits".to_owned(),
        (true, Item::BITS) if least == 1 => {
            format!("digests of 128 bits; the integers themselves {integers}")
        }
        (true, Item::BITS) => format!(
            "digests of 128 bits; the integers themselves, of {least} bits or more, {integers}"
        ),
        (true, most) => {
            format!("integers of {least} to {most} bits, two more than the key has, {integers}")
        }
    }
}

fn json(value: &impl Serialize, out: &mut impl Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("a row has a JSON form");
    Ok(writeln!(out, "{text}")?)
}

fn show(row: &Protocol, out: &mut impl Write) -> io::Result<()> {
    let operations: Vec<&str> = row.operations.iter().map(|o| o.name()).collect();
    writeln!(out, "{} ({})", row.name, row.id)?;
    if row.security == Security::Insecure {
        writeln!(out, "INSECURE: for measurements on made-up data only")?;
    }
    let facts = [
        ("source", row.source),
        ("trust model", TrustModel::TwoParties.name()),
        ("security", row.security.name()),
        ("assumption", row.assumption),
        ("operations", &operations.join(", ")),
        ("receiver learns", &row.receiver_learns()),
        ("sender learns", &row.sender_learns()),
        ("flights", &flights(row)),
        ("bytes", row.bytes_formula),
        ("runs", &unnamed::words(row)),
        ("items", &items(row)),
        ("bounds", bounds(row)),
        ("partitions", row.partitions.words()),
    ];
    let values = takes_values(row).then(|| ("values", values(row)));
    writeln!(out)?;
    for (name, value) in facts.into_iter().chain(values) {
        writeln!(out, "{name:16} {value}")?;
    }
    writeln!(out, "\nparameters")?;
    for parameter in row.parameters {
        writeln!(out, "  {}: {} [{}]", parameter.name, parameter.value, parameter.source)?;
    }
    Ok(())
}

/// The protocol of `agreement`, on one line.
pub(super) fn in_words(agreement: &Agreement) -> String {
    if let Some(aided) = agreement.with_helper() {
        return helper::in_words(aided);
    }
    match agreement.candidates() {
        [row] => format!("{} ({}, {})", row.name, row.id, row.security),
        rows => {
            let each = rows
                .iter()
                .map(|row| format!("{} ({})", row.id, row.security))
                .collect::<Vec<_>>()
                .join(", ");
            format!("chosen by sizes and network out of {each}")
        }
    }
}
