//! `vesica protocols`.

use crate::args::ProtocolsArgs;
use crate::failure::Failure;
use serde::Serialize;
use std::io::{self, Write};
use vesica_core::{Learns, PsiParams, SessionId};
use vesica_engine::agreement::Agreement;
use vesica_protocols::{Operation, Protocol, Security, catalogue};

/// A row of the catalogue for machines.
#[derive(Serialize)]
struct Row {
    id: &'static str,
    name: &'static str,
    source: &'static str,
    security: &'static str,
    assumption: &'static str,
    operations: Vec<&'static str>,
    sender_learns: &'static str,
    receiver_learns: &'static str,
    flights: u64,
    bytes_formula: &'static str,
    named_only: bool,
    small_domains: bool,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    value: &'static str,
    source: &'static str,
}

impl From<&Protocol> for Row {
    fn from(row: &Protocol) -> Self {
        let parameters = row.parameters.iter().map(|parameter| Parameter {
            name: parameter.name,
            value: parameter.value,
            source: parameter.source,
        });
        Row {
            id: row.id,
            name: row.name,
            source: row.source,
            security: row.security.name(),
            assumption: row.assumption,
            operations: row.operations.iter().map(|operation| operation.name()).collect(),
            sender_learns: row.sender_learns,
            receiver_learns: row.receiver_learns,
            flights: (row.flights)(&typical()),
            bytes_formula: row.bytes_formula,
            named_only: row.named_only,
            small_domains: row.takes_integers(),
            parameters: parameters.collect(),
        }
    }
}

pub(crate) fn run(args: &ProtocolsArgs, out: &mut impl Write) -> Result<(), Failure> {
    let rows = catalogue();
    let Some(id) = &args.id else {
        if args.json {
            return json(&rows.iter().map(Row::from).collect::<Vec<_>>(), out);
        }
        return Ok(list(rows, out)?);
    };
    let row = rows
        .iter()
        .find(|row| row.id == id)
        .ok_or_else(|| Failure::UnknownProtocol { id: id.clone() })?;
    if args.json { json(&Row::from(row), out) } else { Ok(show(row, out)?) }
}

/// Two sets of 2^16 items each, for which figures that depend on sizes are shown.
fn typical() -> PsiParams {
    let session = SessionId::from_bytes([0; 32]);
    PsiParams::new(session, 1 << 16, 1 << 16, Learns::Receiver).expect("small sets")
}

const NAMED_ONLY: &str = "only where an agreement names it; here for comparison";
const NAMED_OR_AUTO: &str = "where an agreement names it, or leaves the choice open";
const SMALL_DOMAINS: &str = "digests of 128 bits; the integers themselves where the key is one integer:<BITS> or ipv4 column";

fn json(value: &impl Serialize, out: &mut impl Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("a row has a JSON form");
    Ok(writeln!(out, "{text}")?)
}

fn list(rows: &[Protocol], out: &mut impl Write) -> io::Result<()> {
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).max("protocol".len());
    writeln!(out, "{:width$}  {:11}  {:12}  name", "protocol", "security", "operation")?;
    for row in rows {
        let operations: Vec<&str> = row.operations.iter().map(|o: &Operation| o.name()).collect();
        writeln!(
            out,
            "{:width$}  {:11}  {:12}  {}",
            row.id,
            row.security.name(),
            operations.join(", "),
            row.name
        )?;
    }
    writeln!(out, "\n`vesica protocols ID` shows one in full")
}

fn show(row: &Protocol, out: &mut impl Write) -> io::Result<()> {
    let operations: Vec<&str> = row.operations.iter().map(|o| o.name()).collect();
    writeln!(out, "{} ({})", row.name, row.id)?;
    if row.security == Security::Insecure {
        writeln!(out, "INSECURE: for measurements on made-up data only")?;
    }
    let facts = [
        ("source", row.source),
        ("security", row.security.name()),
        ("assumption", row.assumption),
        ("operations", &operations.join(", ")),
        ("receiver learns", row.receiver_learns),
        ("sender learns", row.sender_learns),
        ("flights", &(row.flights)(&typical()).to_string()),
        ("bytes", row.bytes_formula),
        ("runs", if row.named_only { NAMED_ONLY } else { NAMED_OR_AUTO }),
        ("items", if row.takes_integers() { SMALL_DOMAINS } else { "digests of 128 bits" }),
    ];
    writeln!(out)?;
    for (name, value) in facts {
        writeln!(out, "{name:16} {value}")?;
    }
    writeln!(out, "\nparameters")?;
    for parameter in row.parameters {
        writeln!(out, "  {}: {} [{}]", parameter.name, parameter.value, parameter.source)?;
    }
    Ok(())
}

/// What `agreement` says of the protocol, on one line.
pub(super) fn in_words(agreement: &Agreement) -> String {
    match agreement.candidates() {
        [row] => format!("{} ({}, {})", row.name, row.id, row.security),
        rows => {
            let each = rows.iter().map(|row| format!("{} ({})", row.id, row.security));
            let each = each.collect::<Vec<_>>().join(", ");
            format!("the one that suits sizes and network, out of {each}")
        }
    }
}
