//! `vectors/wire.json`: a digest of what each party sends, run by run.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use vesica_core::{Learns, Query};
use vesica_protocols::{Protocol, catalogue};
use vesica_testkit::wire::{Sizes, WireRun};

/// Which run of which row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// The row's place in the catalogue.
    place: usize,
    row: String,
    sizes: Sizes,
    operation: String,
    learns: String,
}

impl Entry {
    pub(super) fn new(row: &Protocol, run: &WireRun) -> Self {
        let operation = match run.query {
            Query::Payloads(_) => "payloads",
            query => query.operation().name(),
        };
        Self::of(row.id, run.sizes, operation, learns(run.learns))
    }

    fn of(row: &str, sizes: Sizes, operation: &str, learns: &str) -> Self {
        let place = catalogue().iter().position(|other| other.id == row).unwrap_or(usize::MAX);
        let [row, operation, learns] = [row, operation, learns].map(str::to_owned);
        Self { place, row, sizes, operation, learns }
    }
}

fn learns(learns: Learns) -> &'static str {
    match learns {
        Learns::Receiver => "receiver",
        Learns::Both => "both",
    }
}

/// The file.
pub(super) struct Recorded {
    wire_version: u64,
    /// Digests of what the sender and the receiver send.
    digests: BTreeMap<Entry, [String; 2]>,
}

impl Recorded {
    fn path() -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire.json"))
    }

    pub(super) fn read() -> Self {
        let file: Value = serde_json::from_slice(&fs::read(Self::path()).unwrap()).unwrap();
        let mut digests = BTreeMap::new();
        for (row, runs) in file["rows"].as_object().unwrap() {
            for run in runs.as_array().unwrap() {
                let text = |name: &str| run[name].as_str().unwrap();
                let size = |i: usize| run["sizes"][i].as_u64().unwrap();
                let sizes = (size(0), size(1), size(2));
                let entry = Entry::of(row, sizes, text("operation"), text("learns"));
                let both = ["sender", "receiver"].map(|role| text(role).to_owned());
                assert_eq!(digests.insert(entry, both), None, "twice");
            }
        }
        Self { wire_version: file["wire_version"].as_u64().unwrap(), digests }
    }

    /// The rows in the order of the catalogue, those that it lacks last.
    pub(super) fn rows(&self) -> Vec<&str> {
        let mut rows: Vec<&str> = self.digests.keys().map(|entry| &entry.row[..]).collect();
        rows.dedup();
        rows
    }

    /// The size of `row` other than the `small` one.
    pub(super) fn second_size(&self, row: &str, small: Sizes) -> Option<Sizes> {
        let mut sizes = self.digests.keys().filter(|entry| entry.row == row).map(|e| e.sizes);
        sizes.find(|sizes| *sizes != small)
    }

    pub(super) fn get(&self, entry: &Entry) -> Option<&[String; 2]> {
        self.digests.get(entry)
    }

    /// The record with these digests: of the next wire version where one differs, not where rows or
    /// runs are new.
    pub(super) fn followed_by(self, digests: BTreeMap<Entry, [String; 2]>) -> Self {
        let is_kept = |(entry, both): (&Entry, &[String; 2])| {
            digests.get(entry).is_none_or(|new| new == both)
        };
        let wire_version = self.wire_version + u64::from(!self.digests.iter().all(is_kept));
        Self { wire_version, digests }
    }

    /// Writes a line for each run.
    pub(super) fn write(&self) {
        let mut text = format!("{{\n  \"wire_version\": {},\n  \"rows\": {{", self.wire_version);
        let mut row = "";
        for (entry, [sender, receiver]) in &self.digests {
            let is_first = entry.row != row;
            if is_first {
                text += if row.is_empty() { "\n" } else { "\n    ],\n" };
                row = &entry.row;
                write!(text, "    \"{row}\": [").unwrap();
            }
            let Entry { sizes: (x, y, common), operation, learns, .. } = entry;
            write!(
                text,
                "{}\n      {{\"operation\": \"{operation}\", \"learns\": \"{learns}\", \
                 \"sizes\": [{x}, {y}, {common}], \"sender\": \"{sender}\", \
                 \"receiver\": \"{receiver}\"}}",
                if is_first { "" } else { "," }
            )
            .unwrap();
        }
        text += "\n    ]\n  }\n}\n";
        fs::write(Self::path(), text).unwrap();
    }
}
