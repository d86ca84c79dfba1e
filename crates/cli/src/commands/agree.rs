//! `vesica agree` and `vesica explain`.

use super::{AGREEMENT, output};
use crate::args::{
    AgreeArgs, AgreeCheckArgs, AgreeCommand, AgreeNewArgs, AgreeShowArgs, ExplainArgs,
};
use crate::failure::Failure;
use std::io::Write;
use vesica_engine::agreement::{Agreement, AgreementFault};
use vesica_engine::explain;

/// What stands for an identity that is still to come.
const TO_COME: &str = "vesica1...";

pub(crate) fn run(args: &AgreeArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.what {
        AgreeCommand::New(args) => new(args, out),
        AgreeCommand::Check(args) => check(args, out),
        AgreeCommand::Show(args) => show(args, out),
    }
}

fn check(args: &AgreeCheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    let agreement = Agreement::load(&args.agreement)?;
    let [first, second] = &agreement.parties;
    writeln!(out, "{} is a valid agreement", args.agreement.display())?;
    writeln!(out, "title      {}", agreement.title)?;
    writeln!(out, "parties    {} and {}", first.name, second.name)?;
    writeln!(out, "computes   {}, received by {}", agreement.operation, agreement.receives)?;
    writeln!(out, "protocol   {}", agreement.protocol().row.name)?;
    if let Some(day) = agreement.expires {
        let now = jiff::Timestamp::now();
        let over = if agreement.is_expired(now) { " (over: it can no longer run)" } else { "" };
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

fn new(args: &AgreeNewArgs, out: &mut impl Write) -> Result<(), Failure> {
    let text = template(args)?;
    // Everything but identities that are still to come must be right.
    if let Err(error) = Agreement::parse(&text) {
        let to_come = matches!(*error.fault, AgreementFault::BadIdentity { .. });
        if !(to_come && text.contains(TO_COME)) {
            return Err(error.into());
        }
    }
    let Some(path) = &args.file else { return Ok(write!(out, "{text}")?) };
    output::write(AGREEMENT, path, &text, args.force)?;
    writeln!(
        out,
        "{} is written; complete it, then both sides keep the same file",
        path.display()
    )?;
    if text.contains(TO_COME) {
        writeln!(out, "still to come: the identity that each side's `vesica keygen` prints")?;
    }
    Ok(writeln!(out, "next: vesica explain {}", path.display())?)
}

fn template(args: &AgreeNewArgs) -> Result<String, Failure> {
    let split = |text: &str| match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (text.to_owned(), None),
    };
    let parties: Vec<_> = match args.parties.len() {
        0 => vec![("shop".to_owned(), None), ("publisher".to_owned(), None)],
        2 => args.parties.iter().map(|party| split(party)).collect(),
        found => return Err(Failure::PartyCount { found }),
    };
    let keys = match args.keys.as_slice() {
        [] => vec![("email".to_owned(), None)],
        keys => keys.iter().map(|key| split(key)).collect(),
    };
    let receives = args.receives.as_ref().unwrap_or(&parties[0].0);
    let expires = match &args.expires {
        Some(day) => {
            format!("expires = {day}               # the last day on which it may run (UTC)")
        }
        None => {
            "# expires = 2027-12-31             # the last day on which it may run (UTC)".to_owned()
        }
    };

    let mut text = format!(
        "# An agreement between two organisations. Both sides keep the same file;\n\
         # `vesica explain` says in plain words what it means.\n\n\
         version = 1\n\
         title = {title}\n\
         operation = \"intersection\"         # which rows they have in common\n\
         receives = {receives}    # who receives the result: a party's name, or \"both\"\n\
         security = \"semi-honest\"           # the least that both accept\n\
         protocol = \"auto\"                  # or an id out of `vesica protocols`\n\
         {expires}\n\
         hide_sizes = false                 # true: pads each side to its max_rows\n",
        title = quoted(&args.title),
        receives = quoted(receives),
    );
    for (name, profile) in &keys {
        // A column that is called like a profile most often holds such values.
        let profile = profile.as_deref().unwrap_or(match name.as_str() {
            name @ ("email" | "date" | "digits" | "hex") => name,
            _ => "trim",
        });
        text += &format!(
            "\n[[key]]                            # a column that is compared; several make one key\n\
             name = {}\n\
             profile = {}                  # how its values are made comparable\n",
            quoted(name),
            quoted(profile),
        );
    }
    for (name, identity) in &parties {
        text += &format!(
            "\n[party.{}]\n\
             identity = {}          # the line that its `vesica keygen` printed\n\
             max_rows = {}\n\
             min_rows = 1                       # fewest different keys it must bring\n",
            if is_bare(name) { name.clone() } else { quoted(name) },
            quoted(identity.as_deref().unwrap_or(TO_COME)),
            args.max_rows,
        );
    }
    Ok(text)
}

fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// A TOML string. Control characters are escaped, for the agreement's own check to refuse.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
