//! The summary of a run, in a few lines.

use crate::failure::Failure;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use vesica_agreement::figures::{bytes, grouped};
use vesica_agreement::{Agreement, AidedAgreement, chance};
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_diagnostics::words::{self, counted, duration, marked, not_received};
use vesica_engine::Report;
use vesica_protocols::kmrs14::Variant;

pub(super) fn write(
    output: Option<&Path>,
    agreement: &Agreement,
    report: &Report,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let aided = agreement.with_helper();
    match aided {
        Some(aided) => writeln!(out, "{}", answer_of_helper(output, aided, report))?,
        None => writeln!(out, "{}", answer(output, report))?,
    }
    if !is_outside(report) && report.result.within_bounds.is_some() && !report.result.learned {
        writeln!(out, "the number of common keys is within the agreed bounds")?;
    }
    let skipped = report.input.empty + report.input.refused;
    if skipped > 0 {
        writeln!(
            out,
            "{} skipped: {} without a key, {} refused by their profile",
            counted(skipped, "row"),
            grouped(report.input.empty),
            grouped(report.input.refused),
        )?;
    }
    if report.input.without_value > 0 {
        let rows = counted(report.input.without_value, "row");
        let effect = match report.agreement.groups {
            Some(_) => "an empty value, counted as 0, or an empty group, counted in none",
            None => "an empty value, counted as 0",
        };
        writeln!(out, "{rows} with {effect}")?;
    }
    let check = match report.result.self_check {
        "passed" => "; self-check passed",
        // This party received no answer to check.
        _ if aided.is_some() => "",
        _ => "; no self-check",
    };
    writeln!(
        out,
        "{} with {}; {} sent, {} received{check}",
        duration(Duration::from_secs_f64(report.resources.used.wall_s.max(0.0))),
        report.protocol.name,
        bytes(report.network.wire_sent),
        bytes(report.network.wire_received),
    )?;
    if let (Some(aided), true) = (aided, report.result.learned) {
        writeln!(out, "{}", cheating(aided))?;
    }
    Ok(writeln!(out, "agreement {}", report.agreement.hash)?)
}

/// The summary of a finished run whose process was killed before it could report the result.
pub(super) fn already_finished(output: Option<&Path>) -> String {
    let result =
        output.map_or(String::new(), |path| format!("; its result is in {}", path.display()));
    format!("the run had already finished before this command was repeated{result}")
}

/// Whether there is no answer because of the agreed bounds.
pub(super) fn is_outside(report: &Report) -> bool {
    report.result.within_bounds == Some(false)
}

/// The answer of a run between two parties, in one line.
fn answer(output: Option<&Path>, report: &Report) -> String {
    if is_outside(report) {
        return "outside the agreed bounds: nothing was computed".to_owned();
    }
    let result = &report.result;
    let agreed = &report.agreement;
    let written = output.map(|path| format!("written to {}", path.display()));
    let rows = result.rows_written.map_or(String::new(), |rows| counted(rows, "row") + " ");
    let and_written =
        written.map_or(String::new(), |written| format!("; {rows}{written}{}", marked(report)));
    let figures = match (&result.sums, &result.answers) {
        (Some(sums), _) => Some(sums.iter().map(|one| words::sum(agreed, one)).collect()),
        (None, answers) => answers.as_ref().map(|all| all.iter().map(words::answer).collect()),
    };
    if let Some(figures) = figures {
        let count = result.matched_keys.map(|keys| format!("{} in common", counted(keys, "key")));
        let lines: Vec<String> = count.into_iter().chain::<Vec<String>>(figures).collect();
        return lines.join("\n") + &and_written;
    }
    if let (Some(keys), Some(new)) = (result.union_keys, result.new_keys) {
        return format!("{} in the union, {} new{and_written}", counted(keys, "key"), grouped(new));
    }
    if let Some(ids) = result.union_keys {
        return format!("{} in the list{and_written}", counted(ids, "identifier"));
    }
    if let Some(entries) = result.shared_entries {
        let entries = match entries {
            1 => "1 entry".to_owned(),
            entries => format!("{} entries", grouped(entries)),
        };
        return format!("shares of {entries}{and_written}");
    }
    if let Some(keys) = result.matched_keys {
        return format!("{} in common{and_written}", counted(keys, "key"));
    }
    if let (Some(threshold), Some(reached)) = (agreed.threshold, result.threshold_reached) {
        let reached = if reached { "yes" } else { "no" };
        let keys = counted(threshold, "key");
        return format!("at least {keys} in common: {reached}{and_written}");
    }
    not_received(report)
}

/// The answer of a run with a helper, in one line.
fn answer_of_helper(
    output: Option<&Path>,
    agreement: AidedAgreement<'_>,
    report: &Report,
) -> String {
    let (Some(keys), Some(rows)) = (report.result.matched_keys, report.result.rows_written) else {
        return not_received(report);
    };
    let written = output.map_or(String::new(), |path| {
        format!("; {} written to {}{}", counted(rows, "row"), path.display(), marked(report))
    });
    match (agreement.variant(), agreement.parties.len()) {
        (Variant::Pet, _) if keys > 0 => format!("the values are equal{written}"),
        (Variant::Pet, _) => format!("the values differ{written}"),
        (_, 2) => format!("{} in common{written}", counted(keys, "key")),
        (_, parties) => {
            format!("{} common to all {parties} parties{written}", counted(keys, "key"))
        }
    }
}

/// How likely it is that a cheating helper goes unnoticed.
fn cheating(agreement: AidedAgreement<'_>) -> String {
    let helper = &agreement.helper().name;
    if agreement.variant() == Variant::SemiHonest {
        return format!(
            "{helper} is trusted to follow the protocol: the self-check finds errors, but not \
             every kind of cheating"
        );
    }
    if agreement.finds_cheats() {
        return format!(
            "a wrong answer from {helper} goes unnoticed with probability at most \
             2^-{STATISTICAL_SECURITY_BITS}"
        );
    }
    format!(
        "a wrong answer from {helper} goes unnoticed with probability at most {}",
        chance(agreement.cheating_bits())
    )
}
