//! `vesica agree` and `vesica explain`.

use super::{AGREEMENT, output, protocols};
use crate::args::{
    AgreeArgs, AgreeCheckArgs, AgreeCommand, AgreeNewArgs, AgreeShowArgs, ExplainArgs,
};
use crate::failure::Failure;
use std::io::Write;
use vesica_engine::agreement::Agreement;
use vesica_engine::explain;
use vesica_link::PublicIdentity;
use vesica_protocols::{Operation, Security, catalogue, strongest};

/// What stands for an identity that is still to come.
const TO_COME: &str = "vesica1...";

/// Where the comments of a new agreement begin.
const COMMENT_COLUMN: usize = 34;

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
    writeln!(out, "computes   {}, received by {}", agreement.operation(), agreement.receives)?;
    writeln!(out, "protocol   {}", protocols::in_words(&agreement))?;
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
    // Everything but identities that are still to come must be right; for them others stand in.
    let mut complete = text.clone();
    for byte in 0..2 {
        let stand_in = PublicIdentity::from_bytes([byte; PublicIdentity::LEN]).to_string();
        complete = complete.replacen(TO_COME, &stand_in, 1);
    }
    Agreement::parse(&complete)?;
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
    let both = "both".to_owned();
    let receives = args.receives.as_ref().unwrap_or(match args.question.operation() {
        operation if operation.is_for_both() => &both,
        _ => &parties[0].0,
    });
    let mut text = "# An agreement between two organisations. Both sides keep the same file;\n\
                    # `vesica explain` says in plain words what it means.\n\n"
        .to_owned();
    let mut line = |line: &str, comment: &str| {
        text += line;
        if !comment.is_empty() {
            // Comments stand below each other, unless the line is too long.
            let blanks = COMMENT_COLUMN.saturating_sub(line.chars().count()).max(2);
            text += &format!("{:blanks$}# {comment}", "");
        }
        text.push('\n');
    };
    line("version = 1", "");
    line(&format!("title = {}", quoted(&args.title)), "");
    let operation = args.question.operation();
    let comment = match operation {
        Operation::Intersection => "which rows they have in common",
        Operation::Cardinality => "how many keys they have in common, not which",
        Operation::Threshold => "whether they have as many keys in common as asked for",
        Operation::Sum => "what columns add up to over the keys they have in common",
        Operation::Union => "which keys they have between them",
        Operation::PrivateId => "a random identifier of each key they have between them",
        Operation::Shares => "one half for each of the keys they have in common",
        Operation::SharedValues => "one half for each of values of common keys, or of a default",
        _ => "",
    };
    line(&format!("operation = \"{operation}\""), comment);
    let comment = "who receives the result: a party's name, or \"both\"";
    line(&format!("receives = {}", quoted(receives)), comment);
    let security = match args.question.min_matches.or(args.question.max_matches) {
        Some(_) => strongest_within_bounds(operation),
        None => strongest(operation),
    };
    line(&format!("security = \"{security}\""), "the least that both accept");
    line("protocol = \"auto\"", "what suits sizes and network; or an id out of `vesica protocols`");
    let comment = "the last day on which it may run (UTC)";
    match &args.expires {
        Some(day) => line(&format!("expires = {day}"), comment),
        None => line("# expires = 2027-12-31", comment),
    }
    line("hide_sizes = false", "true: pads each side to its max_rows");
    for (name, count, comment) in args.question.counts() {
        line(&format!("{name} = {count}"), comment);
    }
    if let Some(bytes) = args.question.key_bytes() {
        line("", "");
        line("[union]", "the keys as they cross the network");
        line(&format!("key_bytes = {bytes}"), "most bytes of a key");
    }
    let names = [&parties[0].0, &parties[1].0].map(String::as_str);
    for values in args.question.values(receives, names) {
        line("", "");
        let comment = if values.table == "sum" { "added up" } else { "shared" };
        line(&format!("[{}]", values.table), &format!("the values that are {comment}"));
        line(&format!("of = {}", quoted(&values.of)), "the party that has them");
        match &values.columns[..] {
            [column] => line(&format!("column = {}", quoted(column)), "their column in its file"),
            columns => {
                let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
                line(&format!("columns = [{}]", columns.join(", ")), "their columns in its file");
            }
        }
        match values.signed {
            false => line(&format!("bits = {}", values.bits), "the value of a key is below 2^bits"),
            true => {
                line(&format!("bits = {}", values.bits), "of the value of a key, with its sign");
                line("signed = true", "values may be below zero");
            }
        }
        line("duplicates = \"sum\"", "rows with one key: \"sum\", \"first\" counts, or \"refuse\"");
        if operation == Operation::SharedValues {
            line("default = 0", "what stands for a value of a key that is not common");
        }
    }
    for (name, profile) in &keys {
        // A column that is called like a profile most often holds such values.
        let profile = profile.as_deref().unwrap_or(match name.as_str() {
            name @ ("email" | "date" | "digits" | "hex") => name,
            _ => "trim",
        });
        line("", "");
        line("[[key]]", "a column that is compared; several make one key");
        line(&format!("name = {}", quoted(name)), "");
        line(&format!("profile = {}", quoted(profile)), "how its values are made comparable");
    }
    for (name, identity) in &parties {
        line("", "");
        line(&format!("[party.{}]", if is_bare(name) { name.clone() } else { quoted(name) }), "");
        match identity {
            Some(identity) => line(&format!("identity = {}", quoted(identity)), ""),
            None => line(
                &format!("identity = {}", quoted(TO_COME)),
                "the line that its `vesica keygen` printed",
            ),
        }
        line(&format!("max_rows = {}", args.max_rows), "most rows it may bring");
        line("min_rows = 1", "fewest different keys it must bring");
    }
    Ok(text)
}

/// The strongest security that any protocol offers for `operation` within bounds.
fn strongest_within_bounds(operation: Operation) -> Security {
    let rows = catalogue().iter();
    let offering = rows.filter(|row| row.bounds.are_kept() && row.operations.contains(&operation));
    offering.map(|row| row.security).max().unwrap_or(Security::Insecure)
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
