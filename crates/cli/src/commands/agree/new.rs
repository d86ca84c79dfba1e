//! `vesica agree new`.

use super::{AGREEMENT, output};
use crate::args::AgreeNewArgs;
use crate::failure::Failure;
use crate::settings::Excluded;
use std::io::Write;
use vesica_agreement::{Draft, FORMAT_VERSION, Quoted};
use vesica_diagnostics::words;
use vesica_link::{Identity, IdentityError};
use vesica_protocols::kmrs14::{AidedProtocol, MAX_PARTIES, Variant, find_aided};
use vesica_protocols::{Operation, Security, strongest, strongest_within_bounds};

/// The column in which the comments of a new agreement start.
const COMMENT_COLUMN: usize = 34;

/// The most rows of a party, by default.
const MAX_ROWS_DEFAULT: u64 = 1_000_000;

/// The type of a column that comes along, by default.
const TYPE_DEFAULT: &str = "text 64";

/// The helper's name, by default.
const HELPER_DEFAULT: &str = "helper";

pub(super) fn run(args: &AgreeNewArgs, out: &mut impl Write) -> Result<(), Failure> {
    let parties = parties(args)?;
    let keys = keys(args);
    let names: Vec<String> = keys.iter().map(|(name, _)| name.clone()).collect();
    if let Some(excluded) = args.never.iter().find(|excluded| !names.contains(&excluded.key)) {
        return Err(Failure::NotAKey { given: excluded.key.clone(), keys: names });
    }
    let text = draft(args, &parties, &keys);
    // Everything must be valid except identities that are not known yet.
    Draft::parse(&text)?;
    let Some(path) = &args.file else { return Ok(write!(out, "{text}")?) };
    // A lost key means a new identity, so a key file is not replaced even with --force.
    let is_key = match Identity::load(path) {
        Ok(_) => true,
        Err(error) => {
            matches!(error, IdentityError::TooOpen { .. } | IdentityError::OfAnother { .. })
        }
    };
    if is_key {
        return Err(Failure::SameFile { what: AGREEMENT, other: "key", path: path.clone() });
    }
    output::write(AGREEMENT, path, &text, args.force)?;
    let (all, each) = match args.helper {
        Some(_) => ("all parties keep", "each party's and the helper's"),
        None => ("both sides keep", "each side's"),
    };
    writeln!(out, "wrote {}; complete it, then {all} the same file", path.display())?;
    if text.contains(Draft::PLACEHOLDER) {
        writeln!(out, "missing: the identity that {each} `vesica keygen` prints")?;
    }
    Ok(writeln!(out, "next: vesica explain {}", path.display())?)
}

/// A name and its value, if one was given.
type Named = (String, Option<String>);

fn split(text: &str) -> Named {
    match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (text.to_owned(), None),
    }
}

fn keys(args: &AgreeNewArgs) -> Vec<Named> {
    match args.keys.as_slice() {
        [] => vec![("email".to_owned(), None)],
        keys => keys.iter().map(|key| split(key)).collect(),
    }
}

fn parties(args: &AgreeNewArgs) -> Result<Vec<Named>, Failure> {
    let with_helper = args.helper.is_some();
    let most = if with_helper { MAX_PARTIES } else { 2 };
    match args.parties.len() {
        0 => Ok(vec![("shop".to_owned(), None), ("publisher".to_owned(), None)]),
        found if (2..=most).contains(&found) => {
            Ok(args.parties.iter().map(|party| split(party)).collect())
        }
        found => Err(Failure::PartyCount { found, with_helper }),
    }
}

/// The text of a new agreement.
struct Text {
    text: String,
}

impl Text {
    fn line(&mut self, line: &str, comment: &str) {
        self.text += line;
        if !comment.is_empty() {
            // Comments are aligned, unless the line is too long.
            let blanks = COMMENT_COLUMN.saturating_sub(line.chars().count()).max(2);
            self.text += &format!("{:blanks$}# {comment}", "");
        }
        self.text.push('\n');
    }

    /// The head of a table.
    fn table(&mut self, head: &str, comment: &str) {
        self.line("", "");
        self.line(head, comment);
    }

    fn receives(&mut self, receives: &str) {
        let comment = "who receives the result: a name, [\"several\", \"names\"], or \"all\"";
        let names = match receives.contains(',') {
            true => list(receives.split(',').map(str::trim)),
            false => quoted(receives.trim()),
        };
        self.line(&format!("receives = {names}"), comment);
    }

    /// The security and the protocol.
    fn protocol(&mut self, args: &AgreeNewArgs, is_for_one: bool) {
        let operation = args.question.operation();
        let (strongest, accepts, suits) = match args.helper {
            Some(_) => {
                let offers = aided_row(args).map(|row| row.helper_security);
                let suits = "chosen by the security; or an id that `vesica protocols` lists";
                (offers.unwrap_or(Security::SemiHonest), "against the helper", suits)
            }
            None => {
                let bounds =
                    args.question.least_matches(most_rows(args)).or(args.question.max_matches);
                let strongest = match bounds {
                    Some(_) => strongest_within_bounds(operation, is_for_one),
                    None => strongest(operation),
                };
                let suits = "chosen by sizes and network; or an id that `vesica protocols` lists";
                (strongest, "the least security that both accept", suits)
            }
        };
        let security = args.security.as_deref().unwrap_or(strongest.name());
        self.line(&format!("security = {}", quoted(security)), accepts);
        let protocol = args.protocol.as_deref().unwrap_or("auto");
        let comment = if protocol == "auto" { suits } else { "" };
        self.line(&format!("protocol = {}", quoted(protocol)), comment);
    }

    fn helper(&mut self, helper: &str) {
        let (name, identity) = match helper.split_once('=') {
            Some((name, identity)) => (name, Some(identity).filter(|it| !it.is_empty())),
            None if helper.starts_with("vesica") => (HELPER_DEFAULT, Some(helper)),
            None => (helper, None),
        };
        self.table("[helper]", "finds the keys that all have; must not collude with any party");
        self.line(&format!("name = {}", quoted(name)), "for readers");
        self.identity(identity);
    }

    fn expires(&mut self, args: &AgreeNewArgs) {
        let comment = "the last day on which it may run (UTC)";
        match &args.expires {
            Some(day) => self.line(&format!("expires = {day}"), comment),
            None => self.line("# expires = 2027-12-31", comment),
        }
    }

    /// The tables of values. `receives` is the agreement's field, and `names` are parties.
    fn values(&mut self, args: &AgreeNewArgs, receives: &str, names: [&str; 2]) {
        for values in args.question.values(receives, names) {
            let comment = match values.table {
                "sum" => "added up",
                "product" => "multiplied and added up",
                _ if args.question.compute().is_some() => "computed with, as shares",
                _ => "shared",
            };
            self.table(&format!("[{}]", values.table), &format!("the values that are {comment}"));
            self.line(&format!("of = {}", quoted(&values.of)), "the party that has them");
            match &values.columns[..] {
                [] => {}
                [column] => {
                    let column = format!("column = {}", quoted(column));
                    self.line(&column, "the column in that party's file");
                }
                columns => {
                    let columns = list(columns.iter().map(String::as_str));
                    self.line(&format!("columns = {columns}"), "the columns in that party's file");
                }
            }
            if let Some((by, names)) = &values.groups {
                let names = list(names.iter().map(String::as_str));
                let comment = if values.columns.is_empty() {
                    "the number of rows of each group"
                } else {
                    "a sum for each group of rows"
                };
                self.line(&format!("by = {}", quoted(by)), comment);
                self.line(&format!("groups = {names}"), "what that column holds");
            }
            if values.signed {
                let comment = "bits of the value of a key, with its sign";
                self.line(&format!("bits = {}", values.bits), comment);
                self.line("signed = true", "values may be below zero");
            } else {
                self.line(&format!("bits = {}", values.bits), "the value of a key is below 2^bits");
            }
            let comment = "rows with the same key: \"sum\", \"first\" or \"refuse\"";
            self.line("duplicates = \"sum\"", comment);
            if let Some((column, bits)) = &values.times {
                self.line(&format!("times = {}", quoted(column)), "the other party's column");
                let comment = "the other party's value of a key is below 2^times_bits";
                self.line(&format!("times_bits = {bits}"), comment);
            }
            if let (Some((compute, circuit)), "shares") = (args.question.compute(), values.table) {
                self.line(&format!("compute = {}", quoted(compute)), "what each receiver gets");
                let comment = "\"garbled\": few flights; \"gmw\": fewer bytes, many flights";
                self.line(&format!("circuit = {}", quoted(circuit)), comment);
            }
            if args.question.operation() == Operation::SharedValues {
                self.line("default = 0", "the value for keys that are not common");
            }
        }
    }

    fn keys(&mut self, keys: &[Named], excluded: &[Excluded]) {
        for (name, profile) in keys {
            // A column named like a profile most likely holds such values.
            let profile = profile.as_deref().unwrap_or(match name.as_str() {
                name @ ("email" | "date" | "digits" | "hex") => name,
                _ => "trim",
            });
            self.table("[[key]]", "a column to compare; several columns make one key");
            self.line(&format!("name = {}", quoted(name)), "");
            let profile = format!("profile = {}", quoted(profile));
            self.line(&profile, "how its values are made comparable");
            let mut never = excluded.iter().filter(|excluded| excluded.key == *name).peekable();
            if never.peek().is_some() {
                let never = list(never.map(|excluded| excluded.value.as_str()));
                let comment = "values that are no keys: such rows are refused";
                self.line(&format!("never = {never}"), comment);
            }
        }
    }

    fn rules(&mut self, rules: &[String]) {
        for rule in rules {
            let columns: Vec<&str> = rule.split(',').map(str::trim).collect();
            self.table("[[rule]]", "rows match if they do under any rule");
            self.line(&format!("name = {}", quoted(&columns.join(" and "))), "");
            self.line(&format!("columns = {}", list(columns)), "all of these must be equal");
        }
    }

    /// The columns of the party that does not receive the result, or of the second if both do.
    fn columns(&mut self, args: &AgreeNewArgs, receives: &str, names: [&str; 2]) {
        if args.columns.is_empty() {
            return;
        }
        let of = if receives == names[1] { names[0] } else { names[1] };
        let columns: Vec<Named> = args.columns.iter().map(|column| split(column)).collect();
        let all_names = list(columns.iter().map(|(name, _)| name.as_str()));
        let types = columns.iter().map(|(_, holds)| holds.as_deref().unwrap_or(TYPE_DEFAULT));
        self.table("[[columns]]", "columns that the other party gets with common keys");
        self.line(&format!("of = {}", quoted(of)), "the party that has them");
        self.line(&format!("names = {all_names}"), "");
        let comment = "\"text 24\" (at most 24 bytes), \"integer\" or \"date\"";
        self.line(&format!("types = {}", list(types)), comment);
        let comment = "rows with the same key: \"refuse\" or \"first\"";
        self.line("duplicates = \"refuse\"", comment);
    }

    fn identity(&mut self, identity: Option<&str>) {
        match identity {
            Some(identity) => self.line(&format!("identity = {}", quoted(identity)), ""),
            None => {
                let identity = format!("identity = {}", quoted(Draft::PLACEHOLDER));
                self.line(&identity, "the line that this party's `vesica keygen` prints");
            }
        }
    }

    fn parties(&mut self, parties: &[Named], max_rows: u64) {
        for (name, identity) in parties {
            let name = if is_bare(name) { name.clone() } else { quoted(name) };
            self.table(&format!("[party.{name}]"), "");
            self.identity(identity.as_deref());
            self.line(&format!("max_rows = {max_rows}"), "the most rows its file may have");
            self.line("min_rows = 1", "the fewest different keys it must have");
        }
    }
}

fn draft(args: &AgreeNewArgs, parties: &[Named], keys: &[Named]) -> String {
    let text = match args.helper {
        Some(_) => {
            "# An agreement between organisations with a helper, a server that finds what they \
             have in\n\
             # common. All of them keep the same file; `vesica explain` says in plain words what \
             it means.\n\n"
        }
        None => {
            "# An agreement between two organisations. Both sides keep the same file;\n\
             # `vesica explain` says in plain words what it means.\n\n"
        }
    };
    let operation = args.question.operation();
    let names = [&parties[0].0, &parties[1].0].map(String::as_str);
    let receives = args.receives.as_deref().unwrap_or(match args.helper {
        None if !operation.is_for_both() || args.question.compute().is_some() => {
            args.question.receiver(names)
        }
        _ => "all",
    });
    let mut draft = Text { text: text.to_owned() };
    draft.line(&format!("version = {FORMAT_VERSION}"), "");
    draft.line(&format!("title = {}", quoted(&args.title)), "");
    let words = match args.question.compute() {
        Some(_) => "what is computed on shares of the keys they have in common",
        None => words::of_operation(operation),
    };
    draft.line(&format!("operation = \"{operation}\""), words);
    draft.receives(receives);
    draft.protocol(args, names.contains(&receives));
    draft.expires(args);
    if args.helper.is_none() {
        let padded = if args.rules.is_empty() {
            "true: pads each side to its max_rows"
        } else {
            "true: pads each side to the keys that max_rows rows can have"
        };
        draft.line("hide_sizes = false", padded);
    }
    if !args.rules.is_empty() {
        draft.line("show_rules = false", "true: the result says under which rules a row matches");
    }
    if matches!(operation, Operation::Union | Operation::PrivateId) {
        draft.line("partition_counts = false", "true: splits sets above 1.5 million keys");
    }
    // With a helper most questions are not available: parsing the agreement refuses them.
    for (name, count, comment) in args.question.counts(most_rows(args)) {
        draft.line(&format!("{name} = {count}"), comment);
    }
    if let Some(bytes) = args.question.key_bytes() {
        draft.table("[union]", "the keys that are sent");
        draft.line(&format!("key_bytes = {bytes}"), "the most bytes of a key");
    }
    draft.values(args, receives, names);
    if let Some(helper) = &args.helper {
        draft.helper(helper);
    }
    draft.keys(keys, &args.never);
    draft.rules(&args.rules);
    draft.columns(args, receives, names);
    draft.parties(parties, most_rows(args));
    draft.text
}

/// The most rows of a party.
fn most_rows(args: &AgreeNewArgs) -> u64 {
    let compares_one = aided_row(args).is_some_and(|row| row.variant == Variant::Pet);
    args.max_rows.unwrap_or(if compares_one { 1 } else { MAX_ROWS_DEFAULT })
}

/// The row of the protocol with a helper that the options name.
fn aided_row(args: &AgreeNewArgs) -> Option<&'static AidedProtocol> {
    let id = args.helper.as_ref().and(args.protocol.as_deref())?;
    find_aided(id).ok()
}

fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn quoted(text: &str) -> String {
    Quoted(text).to_string()
}

fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(quoted).collect();
    format!("[{}]", texts.join(", "))
}
