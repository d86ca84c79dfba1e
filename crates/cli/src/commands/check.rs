//! `vesica check`.

use super::run::cancel_on_interrupt;
use super::{AGREEMENT, output, protocols, seat};
use crate::aided;
use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::logging;
use crate::messages::input::{kind_of, refusal, warnings};
use crate::messages::{counted, list};
use crate::progress::Teller;
use std::io::Write;
use std::ops::ControlFlow;
use vesica_engine::agreement::Agreement;
use vesica_engine::aided::AnyAgreement;
use vesica_engine::explain::{bytes, grouped};
use vesica_engine::job::{beside, key_columns, key_items, key_limits, value_columns};
use vesica_engine::{ConfigFault, Error, Event, InputFault, Observer};
use vesica_link::{CancelToken, Identity};
use vesica_records::{
    Beside, ColumnShapes, Faults, InputError, KeyColumn, KeyCounts, KeyLimits, Place, Source,
    shapes, survey_keys,
};

pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    if (args.place.listen.is_some() || args.place.connect.is_some()) && args.key.is_none() {
        return Err(Failure::NoKey);
    }
    if let Some(log) = args.talk.log_file.as_deref() {
        let key = args.key.iter().map(|key| ("key", key.as_path()));
        let read = [(AGREEMENT, args.agreement.as_path()), ("input", args.data.input.as_path())];
        output::refuse_same(("log", log), &read.into_iter().chain(key).collect::<Vec<_>>())?;
    }
    logging::start(&args.talk)?;
    match AnyAgreement::load(&args.agreement)? {
        AnyAgreement::TwoParty(agreement) => two_party(args, &agreement, out),
        AnyAgreement::Aided(agreement) => aided::check::run(args, &agreement, out),
    }
}

fn two_party(args: &CheckArgs, agreement: &Agreement, out: &mut impl Write) -> Result<(), Failure> {
    let link = args.place.link_options();
    if args.reach && link.is_none() {
        return Err(Failure::NoAddress);
    }
    let identity = args.key.as_ref().map(Identity::load).transpose()?;
    let party = seat::party(agreement, identity.as_ref(), args.party.as_deref())?;
    let source = Source::open(&args.data.input, &args.data.form.read_options())?;
    let choices = args.data.column_choices()?;
    let key = key_columns(agreement, party.as_deref(), &choices)?;
    let values = party.as_ref().and_then(|party| value_columns(agreement, party, &choices));

    let cancel = cancel_on_interrupt();
    describe(args, agreement, party.as_deref(), &source, out)?;
    let peer = party.as_ref().map_or("", |party| &agreement.peer_of(party).name);
    let teller = Teller::new(&args.talk, peer, agreement);
    let strict = args.data.strict;
    let limits = match &party {
        Some(party) => key_limits(agreement.terms_of(party), strict),
        None => KeyLimits { strict, ..KeyLimits::default() },
    };
    let read = (&*key, beside(agreement, values.as_ref()));
    let mut faults = Faults::default();
    let counts = match count(agreement, &source, read, &limits, &mut faults, &teller, &cancel) {
        Ok(counts) => counts,
        // Then the shapes tell what is wrong.
        Err(error @ InputError::NoKeys { rows, .. }) => {
            show_all_shapes(&source, &key, args.rows.min(rows), out)?;
            return Err(error.into());
        }
        Err(error) => {
            show_faults(&faults, out)?;
            return Err(error.into());
        }
    };
    show_counts(&counts, out)?;
    show_faults(&faults, out)?;
    if let Some(values) = values.as_ref().filter(|_| counts.without_value > 0) {
        writeln!(
            out,
            "\nvalues\n{:>13}  with an empty value in {}, counted as 0",
            grouped(counts.without_value),
            match &values.columns[..] {
                [column] => format!("column {column:?}"),
                columns => format!("one of the columns {}", list(columns)),
            }
        )?;
    }
    if counts.rows > 0 {
        show_all_shapes(&source, &key, args.rows.min(counts.rows), out)?;
    }
    refuse_faults(faults)?;
    if let Some(party) = &party {
        let terms = agreement.terms_of(party);
        if counts.distinct < terms.min_rows {
            let (distinct, min) = (counts.distinct, terms.min_rows);
            return Err(InputFault::TooFewKeys { distinct, min }.into());
        }
    }
    if let (Some(on), true) = (agreement.expires, agreement.is_expired(jiff::Timestamp::now())) {
        return Err(Error::Config(ConfigFault::Expired { on }).into());
    }
    if let (Some(link), Some(identity)) = (link, identity) {
        out.flush()?;
        let reached = vesica_engine::reach(agreement, &identity, &link, &teller, &cancel);
        teller.finish();
        reached.map_err(|error| Failure::of_engine(error, Some(&link.endpoint)))?;
        writeln!(out, "\n{peer} is there and holds the same agreement")?;
    }
    Ok(())
}

fn describe(
    args: &CheckArgs,
    agreement: &Agreement,
    party: Option<&str>,
    source: &Source,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "agreement   {} ({})", agreement.title, agreement.hash().short())?;
    writeln!(out, "protocol    {}", protocols::in_words(agreement))?;
    if let Some(party) = party {
        let terms = agreement.terms_of(party);
        let receives = agreement.is_receiver_of_result(party);
        writeln!(
            out,
            "you are     {party}, {} the result; at most {}, at least {}",
            if receives { "who receives" } else { "who does not receive" },
            counted(terms.max_rows, "row"),
            counted(terms.min_rows, "different key"),
        )?;
    }
    describe_input(args, source, out)
}

pub(crate) fn describe_input(
    args: &CheckArgs,
    source: &Source,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let delimiter = source.delimiter().map_or(String::new(), |delimiter| match delimiter {
        b'\t' => ", fields separated by tabs".to_owned(),
        byte => format!(", fields separated by {:?}", char::from(byte)),
    });
    let columns = source.columns().len();
    writeln!(
        out,
        "input       {}: {}{delimiter}, {} column{}, {}",
        args.data.input.display(),
        source.format(),
        columns,
        if columns == 1 { "" } else { "s" },
        bytes(source.len_bytes()),
    )?;
    Ok(())
}

fn count(
    agreement: &Agreement,
    source: &Source,
    (key, beside): (&[KeyColumn], Beside<'_>),
    limits: &KeyLimits,
    faults: &mut Faults,
    teller: &Teller,
    cancel: &CancelToken,
) -> Result<KeyCounts, InputError> {
    let mut progress = |progress: vesica_records::Progress| {
        teller.event(&Event::Reading {
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
            rows: progress.rows,
        });
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let items = key_items(agreement, key);
    let keys = survey_keys(source, key, beside, &items, limits, faults, &mut progress);
    teller.finish();
    Ok(keys?.counts)
}

fn show_counts(counts: &KeyCounts, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "\n{:>13}  rows", grouped(counts.rows))?;
    writeln!(out, "{:>13}  without a key", grouped(counts.empty))?;
    writeln!(out, "{:>13}  refused by their profile", grouped(counts.refused))?;
    writeln!(out, "{:>13}  with a key seen before", grouped(counts.duplicates))?;
    writeln!(out, "{:>13}  different keys", grouped(counts.distinct))?;
    show_refused(counts, out)
}

pub(crate) fn show_refused(counts: &KeyCounts, out: &mut impl Write) -> Result<(), Failure> {
    if !counts.refused_by.is_empty() {
        writeln!(out, "\nrefused")?;
    }
    for row in &counts.refused_by {
        let what = format!("column {:?} {}", row.column, refusal(row.reason));
        show_places(&what, row.count, &row.first, out)?;
    }
    for warning in warnings(counts) {
        writeln!(out, "\nwarning\n{:>13}  {warning}", "")?;
    }
    Ok(())
}

/// How many rows have something, and the first of them.
fn show_places(
    what: &str,
    count: u64,
    first: &[Place],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let places: Vec<String> = first.iter().map(ToString::to_string).collect();
    let more = if count > places.len() as u64 { " and more" } else { "" };
    Ok(writeln!(out, "{:>13}  {what}: {}{more}", grouped(count), places.join(", "))?)
}

/// What is wrong with rows, by kind.
pub(crate) fn show_faults(faults: &Faults, out: &mut impl Write) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfaults")?;
    for kind in faults.kinds() {
        show_places(&kind_of(&kind.example), kind.count, &kind.first, out)?;
    }
    if faults.is_cut() {
        writeln!(out, "{:>13}  after the last of these the file cannot be read", "")?;
    }
    Ok(())
}

/// Ends a check of a file that a run would refuse.
pub(crate) fn refuse_faults(faults: Faults) -> Result<(), Failure> {
    if faults.is_empty() { Ok(()) } else { Err(Failure::Faults(Box::new(faults))) }
}

pub(crate) fn show_all_shapes(
    source: &Source,
    key: &[KeyColumn],
    rows: u64,
    out: &mut impl Write,
) -> Result<(), Failure> {
    for (key, column) in key.iter().zip(&shapes(source, key, rows)?) {
        show_shapes(key, column, rows, out)?;
    }
    Ok(())
}

fn show_shapes(
    key: &KeyColumn,
    column: &ColumnShapes,
    rows: u64,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(
        out,
        "\nkey {:?}, column {:?}, profile {}: shapes in the first {} rows",
        key.name,
        column.column,
        key.profile,
        grouped(rows)
    )?;
    for shape in &column.shapes {
        let pattern = if shape.pattern.is_empty() { "(empty)" } else { &shape.pattern };
        writeln!(out, "{:>13}  {pattern}", grouped(shape.count))?;
    }
    if column.other > 0 {
        writeln!(out, "{:>13}  other shapes", grouped(column.other))?;
    }
    Ok(())
}
