//! What a run with a helper came to, in a few lines.

use crate::failure::Failure;
use crate::messages::{and, counted};
use crate::progress::duration;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_engine::aided::{AidedAgreement, AidedReport, chance};
use vesica_engine::explain::{bytes, grouped};
use vesica_protocols::kmrs14::Variant;

pub(super) fn write(
    output: Option<&Path>,
    agreement: &AidedAgreement,
    report: &AidedReport,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "{}", answer(output, agreement, report))?;
    let skipped = report.input.empty + report.input.refused;
    if skipped > 0 {
        writeln!(
            out,
            "{} took no part: {} without a key, {} refused by their profile",
            counted(skipped, "row"),
            grouped(report.input.empty),
            grouped(report.input.refused),
        )?;
    }
    let check = match report.result.learned {
        true => format!("; self-check {}", report.result.self_check),
        // Nothing was told to it that it could check.
        false => String::new(),
    };
    writeln!(
        out,
        "{} with {}; {} sent, {} received{check}",
        duration(Duration::from_secs_f64(report.resources.used.wall_s.max(0.0))),
        report.protocol.name,
        bytes(report.network.wire_sent),
        bytes(report.network.wire_received),
    )?;
    if report.result.learned {
        writeln!(out, "{}", cheating(agreement))?;
    }
    Ok(writeln!(out, "agreement {}", report.agreement.hash)?)
}

/// What is said where the run was finished and its process killed before it could say so.
pub(super) fn already_finished(output: Option<&Path>) -> String {
    let result =
        output.map_or(String::new(), |path| format!("; its result is in {}", path.display()));
    format!("the run was finished before this command was given again{result}")
}

/// The answer in one line.
fn answer(output: Option<&Path>, agreement: &AidedAgreement, report: &AidedReport) -> String {
    let (Some(keys), Some(rows)) = (report.result.matched_keys, report.result.rows_written) else {
        let verb = if report.agreement.receives.len() == 1 { "receives" } else { "receive" };
        return format!("done; {} {verb} the result", and(&report.agreement.receives));
    };
    let written = output.map_or(String::new(), |path| {
        format!("; {} written to {}", counted(rows, "row"), path.display())
    });
    match (agreement.variant, agreement.parties.len()) {
        (Variant::Pet, _) if keys > 0 => format!("the values are equal{written}"),
        (Variant::Pet, _) => format!("the values differ{written}"),
        (_, 2) => format!("{} in common{written}", counted(keys, "key")),
        (_, parties) => {
            format!("{} in common to all {parties} parties{written}", counted(keys, "key"))
        }
    }
}

/// What a helper that cheats would risk.
fn cheating(agreement: &AidedAgreement) -> String {
    let helper = &agreement.helper.name;
    if agreement.variant == Variant::SemiHonest {
        return format!(
            "{helper} is trusted to follow the protocol: this check finds mishaps, not every deceit"
        );
    }
    if agreement.finds_cheats() {
        return format!(
            "a wrong answer of {helper} goes unnoticed with a chance of at most \
             2^-{STATISTICAL_SECURITY_BITS}"
        );
    }
    format!(
        "a wrong answer of {helper} goes unnoticed with a chance of at most {}",
        chance(agreement.cheating_bits())
    )
}
