//! The one text form of an agreement, and its hash.

use super::parse::NEVER;
use super::{Agreement, FORMAT_VERSION, MAX_ROWS, Question, values};
use std::fmt::{self, Write};
use vesica_core::hash;

const HASH_LABEL: &str = "vesica v1 agreement";

/// Names one agreement: two agreements with the same hash say the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgreementHash([u8; AgreementHash::LEN]);

impl AgreementHash {
    /// Length in bytes.
    pub const LEN: usize = 32;

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
    /// The agreement as a text with nothing left to say: fixed order, every default written out,
    /// the version of each profile. Reads back as the same agreement.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: &dyn fmt::Display| {
            writeln!(out, "{name} = {value}").expect("a string takes any text");
        };
        line("version", &FORMAT_VERSION);
        line("title", &Quoted(&self.title));
        line("operation", &Quoted(self.operation().name()));
        line("receives", &Quoted(&self.receives.to_string()));
        line("security", &Quoted(self.security.name()));
        line("protocol", &Quoted(self.protocol_word()));
        match self.expires {
            Some(date) => line("expires", &date),
            None => line("expires", &Quoted(NEVER)),
        }
        line("self_check", &self.self_check);
        line("hide_sizes", &self.hide_sizes);
        if let Question::Threshold { min } = &self.question {
            line("threshold", min);
        }
        // Written only where there is one: older agreements have none and keep their hash.
        let bounds = [("min_matches", self.bounds.min), ("max_matches", self.bounds.max)];
        for (name, bound) in bounds {
            bound.iter().for_each(|bound| line(name, bound));
        }
        values::write(&self.question, &mut out).expect("a string takes any text");
        for key in &self.keys {
            out.push_str("\n[[key]]\n");
            let mut line = |name: &str, value: &dyn fmt::Display| {
                writeln!(out, "{name} = {value}").expect("a string takes any text");
            };
            line("name", &Quoted(&key.name));
            line("profile", &Quoted(&key.profile.name()));
            line("profile_version", &key.profile.version());
        }
        for party in &self.parties {
            writeln!(out, "\n[party.{}]", party.name).expect("a string takes any text");
            let mut line = |name: &str, value: &dyn fmt::Display| {
                writeln!(out, "{name} = {value}").expect("a string takes any text");
            };
            line("identity", &Quoted(&party.identity.to_string()));
            line("max_rows", &party.max_rows);
            line("min_rows", &party.min_rows);
        }
        out
    }

    /// The hash of the canonical form.
    pub fn hash(&self) -> AgreementHash {
        AgreementHash(hash::derive(HASH_LABEL, &[self.canonical().as_bytes()]))
    }
}

/// A TOML basic string. The parser lets no control character in, so only two need an escape.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            if matches!(c, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(c)?;
        }
        f.write_char('"')
    }
}

const _: () = assert!(MAX_ROWS <= i64::MAX as u64, "TOML integers have 64 bits with sign");
