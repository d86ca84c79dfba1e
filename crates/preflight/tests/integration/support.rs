//! Agreements and tables.

use std::fs;
use std::ops::ControlFlow;
use vesica_agreement::Agreement;
use vesica_link::PublicIdentity;
use vesica_preflight::{Check, Checked, Options};
use vesica_tables::{Progress, ReadOptions, Source};

/// The terms that tests vary.
pub(crate) struct Terms {
    pub(crate) operation: &'static str,
    pub(crate) min_rows: u64,
    pub(crate) max_rows: u64,
    /// Further tables.
    pub(crate) more: &'static str,
    /// Further fields of the agreement.
    pub(crate) fields: &'static str,
}

pub(crate) const TERMS: Terms =
    Terms { operation: "intersection", min_rows: 1, max_rows: 100, more: "", fields: "" };

/// Values of party `one`.
pub(crate) const SUM: Terms = Terms {
    operation: "sum",
    more: "[sum]\nof = \"one\"\ncolumn = \"amount\"\nbits = 8\nduplicates = \"sum\"\n",
    ..TERMS
};

/// A helper; its identity is that of the third key.
pub(crate) const AIDED: Terms = Terms { more: "[helper]\n", ..TERMS };

impl Terms {
    /// An agreement of the parties `one` and `two` on the key `email`.
    pub(crate) fn agreement(&self) -> Agreement {
        let [one, two, helper] = [1, 2, 3].map(|byte| PublicIdentity::from_bytes([byte; 32]));
        let Terms { operation, min_rows, max_rows, more, fields } = self;
        let rows = format!("max_rows = {max_rows}\nmin_rows = {min_rows}");
        let (receives, more) = match more.strip_prefix("[helper]\n") {
            Some(rest) => ("all", format!("[helper]\nidentity = \"{helper}\"\n{rest}")),
            None => ("two", (*more).to_owned()),
        };
        let text = format!(
            "version = 2\ntitle = \"check\"\noperation = \"{operation}\"\nsecurity = \
             \"semi-honest\"\nreceives = \"{receives}\"\n{fields}\n[[key]]\nname = \
             \"email\"\nprofile = \"email\"\n{more}\n[party.one]\nidentity = \
             \"{one}\"\n{rows}\n[party.two]\nidentity = \"{two}\"\n{rows}\n"
        );
        Agreement::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The findings of a check of `table` for party `one`.
    pub(crate) fn check(&self, table: &str, options: &Options) -> Checked {
        self.check_with(table, Some("one"), options, &mut |_| ControlFlow::Continue(()))
    }

    pub(crate) fn check_with(
        &self,
        table: &str,
        party: Option<&str>,
        options: &Options,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Checked {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, table).unwrap();
        let source = Source::open(path, &ReadOptions::default()).unwrap();
        let agreement = self.agreement();
        Check::new(&agreement, party, options).unwrap().run(&source, progress).unwrap()
    }
}
