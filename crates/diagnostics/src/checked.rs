//! The results of checking a file.

use crate::input::{self, faults, kind_of, refusal, warnings};
use crate::words::list;
use crate::{Message, Speech, engine};
use serde_json::{Value, json};
use std::io::{self, Write};
use vesica_agreement::figures::{bytes, grouped};
use vesica_engine::{Bound, MemoryDefault};
use vesica_preflight::{Checked, CheckedKey, Needs, Read, Refused, RuleRead};
use vesica_records::{Faults, KeyCounts};
use vesica_tables::{InputError, Place};

/// Writes the results, with the shapes of the first `rows` rows.
///
/// # Errors
/// Those of `out`.
pub fn show(checked: &Checked, rows: u64, say: Speech, out: &mut impl Write) -> io::Result<()> {
    let Some(read) = &checked.read else { return show_faults(&checked.faults, out) };
    let rows = rows.min(read.counts.rows);
    match checked.refused {
        Some(Refused::Data(InputError::NoRows { .. })) => return Ok(()),
        // What a run would need does not matter then.
        Some(Refused::Data(_)) => {
            show_counts(read, out)?;
            return show_all_shapes(&checked.key, rows, out);
        }
        _ => {}
    }
    show_counts(read, out)?;
    show_needs(checked.needs.as_ref(), say, out)?;
    show_faults(&checked.faults, out)?;
    if read.counts.without_value > 0 {
        writeln!(
            out,
            "\nvalues\n{:>13}  with an empty value in {}, counted as 0",
            grouped(read.counts.without_value),
            match &checked.value_columns[..] {
                [column] => format!("column {column:?}"),
                columns => format!("one of the columns {}", list(columns)),
            }
        )?;
    }
    if !checked.sent_columns.is_empty() {
        let columns = list(&checked.sent_columns);
        writeln!(out, "\nsent to the other party, for common keys\n{:>13}  {columns}", "columns")?;
    }
    if read.counts.rows > 0 {
        show_all_shapes(&checked.key, rows, out)?;
    }
    Ok(())
}

/// Why a run would refuse the data, for a reader who has seen the results.
pub fn data(error: &InputError, say: Speech) -> Message {
    let mut message = input::data(error, say);
    if let InputError::NoKeys { .. } = error {
        message.hint = format!(
            "the column ({}) or the profile may be wrong: compare the profile with the reasons and \
             the shapes {}",
            say.column(),
            say.either("above", "that this check has found")
        );
    }
    message
}

/// Why a run would refuse the rows; `None` if it would take them.
pub fn why(checked: &Checked, say: Speech) -> Option<Message> {
    checked.refused.as_ref().map(|refused| match (refused, refused.error()) {
        (Refused::Data(error), _) => data(error, say),
        (_, Some(error)) => engine::error(&error, None, say),
        (_, None) => faults(&checked.faults, say),
    })
}

/// The results for programs: the fields of [`Checked`], `warnings` in words, and `why` a run
/// would refuse the rows with a `hint`, both null if it would take them.
pub fn document(checked: &Checked, say: Speech) -> Value {
    let message = why(checked, say);
    let counts = checked.read.as_ref().map(|read| &read.counts);
    let mut document = json!(checked);
    document["warnings"] = json!(counts.map_or(Vec::new(), warnings));
    document["why"] = json!(message.as_ref().map(|message| &message.error));
    document["hint"] = json!(message.as_ref().map(|message| &message.hint));
    document
}

fn show_counts(read: &Read, out: &mut impl Write) -> io::Result<()> {
    let counts = &read.counts;
    writeln!(out, "\n{:>13}  rows", grouped(counts.rows))?;
    writeln!(out, "{:>13}  without a key", grouped(counts.empty))?;
    writeln!(out, "{:>13}  refused by their profile", grouped(counts.refused))?;
    match read.distinct {
        _ if !read.rules.is_empty() => {
            writeln!(out, "{:>13}  with a key", grouped(read.keyed()))?;
            if let Some(distinct) = read.distinct {
                writeln!(out, "{:>13}  different keys under all rules", grouped(distinct))?;
            }
            show_rules(&read.rules, out)?;
        }
        Some(distinct) => {
            writeln!(out, "{:>13}  with a key seen before", grouped(counts.duplicates))?;
            writeln!(out, "{:>13}  different keys", grouped(distinct))?;
        }
        None => writeln!(out, "{:>13}  with a key", grouped(read.keyed()))?,
    }
    show_refused(counts, out)
}

/// How many rows can use each rule, and how unique their keys are.
fn show_rules(rules: &[RuleRead], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nrows with a key under each rule")?;
    for RuleRead { name, rows, too_many, not_taken, distinct, repeated } in rules {
        write!(out, "{:>13}  {name}", grouped(*rows))?;
        if let (Some(distinct), Some(repeated)) = (distinct, repeated) {
            let (distinct, repeated) = (grouped(*distinct), grouped(*repeated));
            write!(out, ": {distinct} different keys, {repeated} of more than one row")?;
        }
        if *too_many > 0 {
            write!(out, "; {} more rows have too many keys", grouped(*too_many))?;
        }
        if *not_taken > 0 {
            let rows = grouped(*not_taken);
            write!(out, "; {rows} more rows have a value that a transform does not take")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What a run takes of the machine, if it needs disk or much memory.
fn show_needs(needs: Option<&Needs>, say: Speech, out: &mut impl Write) -> io::Result<()> {
    let Some(needs) = needs.filter(|needs| needs.disk_bytes > 0 || needs.is_large) else {
        return Ok(());
    };
    writeln!(out, "\na run takes")?;
    match needs.least_memory_bytes {
        Some(least) => writeln!(
            out,
            "{:>13}  of memory at most ({}); {} is enough",
            bytes(needs.memory_bytes),
            say.memory(),
            bytes(least),
        )?,
        None => writeln!(out, "{:>13}  memory for all keys at once", "")?,
    }
    match needs.disk_bytes {
        0 => writeln!(out, "{:>13}  disk", "no")?,
        disk => writeln!(
            out,
            "{:>13}  of disk at most in {} ({}), where {} is free",
            bytes(disk),
            needs.folder.display(),
            say.scratch(),
            bytes(needs.free_bytes),
        )?,
    }
    Ok(())
}

/// The default memory of a run, if a limit of this machine or container reduces it.
///
/// # Errors
/// Those of `out`.
pub fn show_memory_default(
    default: &MemoryDefault,
    say: Speech,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(limit) = default.limit else { return Ok(()) };
    let whose = match limit.bound {
        Bound::ControlGroup => "this container or control group",
        Bound::Machine => "this machine",
    };
    writeln!(
        out,
        "memory      {}, half of what {whose} has; {} gives another amount",
        bytes(default.bytes),
        say.memory(),
    )
}

fn show_refused(counts: &KeyCounts, out: &mut impl Write) -> io::Result<()> {
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

/// How many rows `what` is true of, and the first of them.
fn show_places(what: &str, count: u64, first: &[Place], out: &mut impl Write) -> io::Result<()> {
    let places: Vec<String> = first.iter().map(ToString::to_string).collect();
    let more = if count > places.len() as u64 { " and more" } else { "" };
    writeln!(out, "{:>13}  {what}: {}{more}", grouped(count), places.join(", "))
}

/// What is wrong with rows, by kind.
fn show_faults(faults: &Faults, out: &mut impl Write) -> io::Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfaults")?;
    for kind in faults.kinds() {
        show_places(&kind_of(&kind.example), kind.count, &kind.first, out)?;
    }
    if faults.is_cut() {
        writeln!(out, "{:>13}  the file cannot be read beyond the last of these", "")?;
    }
    Ok(())
}

fn show_all_shapes(key: &[CheckedKey], rows: u64, out: &mut impl Write) -> io::Result<()> {
    key.iter().try_for_each(|key| show_shapes(key, rows, out))
}

fn show_shapes(key: &CheckedKey, rows: u64, out: &mut impl Write) -> io::Result<()> {
    let column = &key.shapes;
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
