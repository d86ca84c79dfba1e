//! The canonical text form of an agreement, and its hash.

use super::Agreement;
use super::columns::ColumnTerms;
use super::limits::{ALL, FORMAT_VERSION, MAX_ROWS, NEVER, PARTITION_ROWS_MAX, REPEATS_DEFAULT};
use super::parties::PartyTerms;
use super::question::Question;
use super::rules::canonical;
use super::terms::Key;
use super::values::GroupTerms;
use std::fmt::{self, Write};
use vesica_core::hash;
use vesica_records::{Duplicates, KeyRule};

const HASH_LABEL: &str = "vesica v1 agreement";

/// Identifies an agreement: two agreements with the same hash mean the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgreementHash([u8; AgreementHash::LEN]);

impl AgreementHash {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// The hash of an agreement with this canonical form.
    fn of(canonical: &str) -> Self {
        Self(hash::derive(HASH_LABEL, &[canonical.as_bytes()]))
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; AgreementHash::LEN] {
        &self.0
    }

    /// The first 16 hexadecimal digits, for people to compare.
    pub fn short(&self) -> String {
        let mut full = self.to_string();
        full.truncate(16);
        full
    }
}

impl fmt::Display for AgreementHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for AgreementHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgreementHash({self})")
    }
}

impl Agreement {
    /// The agreement in its canonical form: fields in a fixed order, with every default but those
    /// of `partition_counts`, `early_reveal`, `partition_rows`, `max_repeats` and `show_rules`, and
    /// the version of each profile. Parsing it gives the same agreement.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: &dyn fmt::Display| write_line(&mut out, name, value);
        line("version", &FORMAT_VERSION);
        line("title", &Quoted(&self.title));
        line("operation", &Quoted(self.operation().name()));
        line("receives", &self.receives_word());
        line("security", &Quoted(self.security.name()));
        line("protocol", &Quoted(self.protocol_word()));
        match self.expires {
            Some(date) => line("expires", &date),
            None => line("expires", &Quoted(NEVER)),
        }
        if let Some(helper) = &self.helper {
            out.push_str("\n[helper]\n");
            write_line(&mut out, "name", &Quoted(&helper.name));
            write_line(&mut out, "identity", &Quoted(&helper.identity.to_string()));
            write_line(&mut out, "copies", &helper.check.copies);
            write_line(&mut out, "dummies", &helper.check.dummies);
        } else {
            line("self_check", &self.self_check);
            line("hide_sizes", &self.hide_sizes);
            if self.partition_counts {
                line("partition_counts", &true);
            }
            if !self.early_reveal {
                line("early_reveal", &false);
            }
            if self.partition_rows != PARTITION_ROWS_MAX {
                line("partition_rows", &self.partition_rows);
            }
            if self.max_repeats != REPEATS_DEFAULT {
                line("max_repeats", &self.max_repeats);
            }
            if self.show_rules {
                line("show_rules", &true);
            }
            if let Question::Threshold { min } = &self.question {
                line("threshold", min);
            }
            let bounds = [("min_matches", self.bounds.min), ("max_matches", self.bounds.max)];
            for (name, bound) in bounds {
                bound.iter().for_each(|bound| line(name, bound));
            }
            write_question(&self.question, &mut out).expect("a string takes any text");
        }
        write_keys(&self.keys, &mut out);
        write_rules(&self.rules, &self.keys, &mut out);
        if let Some(columns) = &self.columns {
            write_columns(columns, &mut out).expect("a string takes any text");
        }
        write_parties(&self.parties, &mut out);
        out
    }

    /// `"all"`, a name, or a list of names, as written in the file.
    pub(crate) fn receives_word(&self) -> String {
        if self.all_receive() {
            return Quoted(ALL).to_string();
        }
        let names: Vec<String> =
            self.receiver_names().map(|name| Quoted(name).to_string()).collect();
        match &names[..] {
            [name] => name.clone(),
            names => format!("[{}]", names.join(", ")),
        }
    }

    /// The hash of the canonical form.
    pub fn hash(&self) -> AgreementHash {
        AgreementHash::of(&self.canonical())
    }
}

/// Appends the table of `question`, if it has one.
fn write_question(question: &Question, out: &mut String) -> fmt::Result {
    let values = match question {
        Question::Sum(values) => {
            out.push_str("\n[sum]\n");
            values
        }
        Question::InnerProduct { values, .. } => {
            out.push_str("\n[product]\n");
            values
        }
        Question::Shares(Some(values))
        | Question::Computed { values, .. }
        | Question::SharedValues { values, .. } => {
            out.push_str("\n[shares]\n");
            values
        }
        Question::Union { key_bytes } => {
            return write!(out, "\n[union]\nkey_bytes = {key_bytes}\n");
        }
        _ => return Ok(()),
    };
    let quoted = |text: &String| Quoted(text).to_string();
    writeln!(out, "of = {}", quoted(&values.of))?;
    match &values.columns[..] {
        [] => {}
        [column] => writeln!(out, "column = {}", quoted(column))?,
        columns => {
            let columns: Vec<String> = columns.iter().map(quoted).collect();
            writeln!(out, "columns = [{}]", columns.join(", "))?;
        }
    }
    if let Some(GroupTerms { by, names }) = &values.groups {
        let names: Vec<String> = names.iter().map(quoted).collect();
        writeln!(out, "by = {}", quoted(by))?;
        writeln!(out, "groups = [{}]", names.join(", "))?;
    }
    writeln!(out, "bits = {}", values.bits)?;
    if values.signed {
        writeln!(out, "signed = true")?;
    }
    if values.duplicates != Duplicates::default() {
        writeln!(out, "duplicates = \"{}\"", values.duplicates)?;
    }
    match question {
        Question::SharedValues { default, .. } => writeln!(out, "default = {default}"),
        Question::Computed { computation, .. } => {
            writeln!(out, "compute = {}", Quoted(computation.expression.text()))?;
            writeln!(out, "circuit = {}", Quoted(computation.circuit()))
        }
        Question::InnerProduct { factors, .. } => {
            writeln!(out, "times = {}", quoted(&factors.columns.concat()))?;
            writeln!(out, "times_bits = {}", factors.bits)
        }
        _ => Ok(()),
    }
}

/// Appends the tables of `keys`.
fn write_keys(keys: &[Key], out: &mut String) {
    for key in keys {
        out.push_str("\n[[key]]\n");
        write_line(out, "name", &Quoted(&key.name));
        write_line(out, "profile", &Quoted(&key.profile.name()));
        write_line(out, "profile_version", &key.profile.version());
        if !key.never.is_empty() {
            let never: Vec<String> =
                key.never.iter().map(|value| Quoted(value).to_string()).collect();
            writeln!(out, "never = [{}]", never.join(", ")).expect("a string takes any text");
        }
    }
}

/// Appends the tables of `rules`.
fn write_rules(rules: &[KeyRule], keys: &[Key], out: &mut String) {
    for rule in rules {
        let columns: Vec<String> = rule
            .columns
            .iter()
            .map(|column| Quoted(&canonical(column, keys)).to_string())
            .collect();
        out.push_str("\n[[rule]]\n");
        write_line(out, "name", &Quoted(&rule.name));
        writeln!(out, "columns = [{}]", columns.join(", ")).expect("a string takes any text");
        if rule.can_give_several() {
            write_line(out, "most", &rule.most);
        }
    }
}

/// Appends the table of `terms`.
fn write_columns(terms: &ColumnTerms, out: &mut String) -> fmt::Result {
    let names: Vec<String> =
        terms.columns.iter().map(|(name, _)| Quoted(name).to_string()).collect();
    let types: Vec<String> = terms.columns.iter().map(|(_, of)| format!("\"{of}\"")).collect();
    out.push_str("\n[[columns]]\n");
    writeln!(out, "of = {}", Quoted(&terms.of))?;
    writeln!(out, "names = [{}]", names.join(", "))?;
    writeln!(out, "types = [{}]", types.join(", "))?;
    writeln!(out, "duplicates = \"{}\"", terms.duplicates)
}

/// Appends the tables of `parties`.
fn write_parties(parties: &[PartyTerms], out: &mut String) {
    for party in parties {
        out.push_str(&format!("\n[party.{}]\n", party.name));
        write_line(out, "identity", &Quoted(&party.identity.to_string()));
        write_line(out, "max_rows", &party.max_rows);
        write_line(out, "min_rows", &party.min_rows);
    }
}

/// Appends a field.
fn write_line(out: &mut String, name: &str, value: &dyn fmt::Display) {
    writeln!(out, "{name} = {value}").expect("a string takes any text");
}

/// A text as a TOML basic string. An agreement with control characters in it is refused, also where
/// they are escaped.
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

const _: () = assert!(MAX_ROWS <= i64::MAX as u64, "TOML integers have 64 bits with sign");
