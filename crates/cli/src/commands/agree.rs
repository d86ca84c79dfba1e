//! `vesica agree` and `vesica explain`.

mod new;

use super::{AGREEMENT, output, protocols};
use crate::args::{AgreeArgs, AgreeCheckArgs, AgreeCommand, AgreeShowArgs, ExplainArgs};
use crate::failure::Failure;
use crate::messages::and;
use std::io::Write;
use vesica_engine::agreement::Agreement;
use vesica_engine::aided::{self, AidedAgreement, AnyAgreement};
use vesica_engine::explain;

pub(crate) fn run(args: &AgreeArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.what {
        AgreeCommand::New(args) => new::run(args, out),
        AgreeCommand::Check(args) => check(args, out),
        AgreeCommand::Show(args) => show(args, out),
    }
}

fn check(args: &AgreeCheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    let agreement = AnyAgreement::load(&args.agreement)?;
    writeln!(out, "{} is a valid agreement", args.agreement.display())?;
    let now = jiff::Timestamp::now();
    let (hash, expires, is_expired) = match &agreement {
        AnyAgreement::TwoParty(agreement) => {
            check_two_party(agreement, out)?;
            (agreement.hash(), agreement.expires, agreement.is_expired(now))
        }
        AnyAgreement::Aided(agreement) => {
            check_aided(agreement, out)?;
            (agreement.hash(), agreement.expires, agreement.is_expired(now))
        }
    };
    if let Some(day) = expires {
        let over = if is_expired { " (over: it can no longer run)" } else { "" };
        writeln!(out, "last day   {day}{over}")?;
    }
    Ok(writeln!(out, "hash       {hash}")?)
}

fn check_two_party(agreement: &Agreement, out: &mut impl Write) -> Result<(), Failure> {
    let [first, second] = &agreement.parties;
    writeln!(out, "title      {}", agreement.title)?;
    writeln!(out, "parties    {} and {}", first.name, second.name)?;
    writeln!(out, "computes   {}, received by {}", agreement.operation(), agreement.receives)?;
    Ok(writeln!(out, "protocol   {}", protocols::in_words(agreement))?)
}

fn check_aided(agreement: &AidedAgreement, out: &mut impl Write) -> Result<(), Failure> {
    let parties: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
    let receivers: Vec<&str> = agreement.receivers.iter().map(|party| parties[*party]).collect();
    writeln!(out, "title      {}", agreement.title)?;
    writeln!(out, "parties    {}", and(&parties))?;
    let helper = &agreement.helper.name;
    writeln!(out, "helper     {helper}, who must collude with none of them")?;
    writeln!(out, "computes   intersection, received by {}", and(&receivers))?;
    Ok(writeln!(out, "protocol   {}", protocols::aided_in_words(agreement))?)
}

fn show(args: &AgreeShowArgs, out: &mut impl Write) -> Result<(), Failure> {
    let (canonical, hash) = match AnyAgreement::load(&args.agreement)? {
        AnyAgreement::TwoParty(agreement) => (agreement.canonical(), agreement.hash()),
        AnyAgreement::Aided(agreement) => (agreement.canonical(), agreement.hash()),
    };
    let hash = hash.to_string();
    if args.json {
        let value = serde_json::json!({ "hash": hash, "canonical": canonical });
        return Ok(writeln!(out, "{value:#}")?);
    }
    Ok(write!(out, "{canonical}\n# hash {hash}\n")?)
}

pub(crate) fn explain(args: &ExplainArgs, out: &mut impl Write) -> Result<(), Failure> {
    let explanation = match AnyAgreement::load(&args.agreement)? {
        AnyAgreement::TwoParty(agreement) => explain::explain(&agreement),
        AnyAgreement::Aided(agreement) => aided::explain(&agreement),
    };
    if args.json {
        let text = serde_json::to_string_pretty(&explanation).expect("words have a JSON form");
        return Ok(writeln!(out, "{text}")?);
    }
    Ok(write!(out, "{explanation}")?)
}
