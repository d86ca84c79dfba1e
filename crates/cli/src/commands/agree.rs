//! `vesica agree` and `vesica explain`.

mod new;

use super::{AGREEMENT, output, protocols};
use crate::args::{AgreeArgs, AgreeCheckArgs, AgreeCommand, AgreeShowArgs, ExplainArgs};
use crate::failure::Failure;
use std::io::Write;
use vesica_agreement::Agreement;
use vesica_agreement::explain;
use vesica_messages::words::and;

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
    let agreement = Agreement::load(&args.agreement)?;
    let (canonical, hash) = (agreement.canonical(), agreement.hash().to_string());
    if args.json {
        let value = serde_json::json!({ "hash": hash, "canonical": canonical });
        return Ok(writeln!(out, "{value:#}")?);
    }
    Ok(write!(out, "{canonical}\n# hash {hash}\n")?)
}

pub(crate) fn explain(args: &ExplainArgs, out: &mut impl Write) -> Result<(), Failure> {
    let explanation = explain::explain(&Agreement::load(&args.agreement)?);
    if args.json {
        let text = serde_json::to_string_pretty(&explanation).expect("words have a JSON form");
        return Ok(writeln!(out, "{text}")?);
    }
    Ok(write!(out, "{explanation}")?)
}
