//! `vesica agree` and `vesica explain`.

mod new;

use super::{AGREEMENT, output, protocols};
use crate::args::{AgreeArgs, AgreeCheckArgs, AgreeCommand, AgreeShowArgs, ExplainArgs};
use crate::failure::Failure;
use std::io::Write;
use vesica_agreement::{Agreement, Draft};
use vesica_diagnostics::words::and;

pub(crate) fn run(args: &AgreeArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.what {
        AgreeCommand::New(args) => new::run(args, out),
        AgreeCommand::Check(args) => check(args, out),
        AgreeCommand::Show(args) => show(args, out),
    }
}

fn check(args: &AgreeCheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    let agreement = Agreement::load(&args.agreement)?;
    let parties: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
    let receivers: Vec<&str> = agreement.receiver_names().collect();
    writeln!(out, "{} is a valid agreement", args.agreement.display())?;
    writeln!(out, "title      {}", agreement.title)?;
    writeln!(out, "parties    {}", and(&parties))?;
    if let Some(helper) = &agreement.helper {
        writeln!(out, "helper     {}, which must not collude with any party", helper.name)?;
    }
    writeln!(out, "computes   {}, received by {}", agreement.operation(), and(&receivers))?;
    writeln!(out, "protocol   {}", protocols::in_words(&agreement))?;
    if let Some(day) = agreement.expires {
        let is_expired = agreement.is_expired(jiff::Timestamp::now());
        let over = if is_expired { " (expired: it can no longer run)" } else { "" };
        writeln!(out, "last day   {day}{over}")?;
    }
    Ok(writeln!(out, "hash       {}", agreement.hash())?)
}

fn show(args: &AgreeShowArgs, out: &mut impl Write) -> Result<(), Failure> {
    let draft = Draft::load(&args.agreement)?;
    let (canonical, hash) = (draft.canonical(), draft.hash().map(|hash| hash.to_string()));
    if args.json {
        let value = serde_json::json!({ "hash": hash, "canonical": canonical });
        return Ok(writeln!(out, "{value:#}")?);
    }
    writeln!(out, "{canonical}")?;
    match hash {
        Some(hash) => writeln!(out, "# hash {hash}")?,
        None => {
            let missing: Vec<&str> = draft.missing().collect();
            writeln!(out, "# no hash yet; missing identities: {}", missing.join(", "))?;
        }
    }
    Ok(())
}

pub(crate) fn explain(args: &ExplainArgs, out: &mut impl Write) -> Result<(), Failure> {
    let explanation = vesica_explain::explain_draft(&Draft::load(&args.agreement)?);
    if args.json {
        let text = serde_json::to_string_pretty(&explanation).expect("words have a JSON form");
        return Ok(writeln!(out, "{text}")?);
    }
    if args.full {
        return Ok(write!(out, "{explanation}")?);
    }
    let file = args.agreement.display();
    Ok(writeln!(out, "{}all that it means: vesica explain {file} --full", explanation.screen())?)
}
