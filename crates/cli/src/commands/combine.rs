//! `vesica combine`.

use super::output::NamedFile;
use super::{AGREEMENT, output};
use crate::args::CombineArgs;
use crate::failure::Failure;
use crate::settings::column_choices;
use std::collections::HashMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vesica_agreement::Agreement;
use vesica_core::Item;
use vesica_engine::shares::{Combined, SharesFile, combine};
use vesica_engine::terms::{key_columns, key_items};
use vesica_records::{Extra, KeyLimits, key_values, read_keys_with};
use vesica_tables::{Origin, OutputOptions, Source, TableWriter};

pub(crate) fn run(args: &CombineArgs, out: &mut impl Write) -> Result<(), Failure> {
    // Before the files are read: nothing in them is shown.
    let output = file(args.output.as_deref(), io::stdout().is_terminal())?;
    let one = SharesFile::load(&args.one)?;
    let other = SharesFile::load(&args.other)?;
    let combined = combine(&one, &other)?;
    let names = match (&args.keys, &args.agreement) {
        (Some(keys), Some(agreement)) => Some(Names::read(args, &one, &combined, keys, agreement)?),
        _ => None,
    };
    let header = header(&combined, names.as_ref());
    let cells = |entry| cells(&combined, names.as_ref(), entry);
    let Some(path) = output else {
        let mut out = BufWriter::new(out);
        csv(&header, &mut out)?;
        for entry in 0..combined.entries() {
            csv(&cells(entry), &mut out)?;
        }
        return Ok(out.flush()?);
    };
    if let Some(agreement) = &args.agreement {
        let agreement = NamedFile { what: AGREEMENT, path: agreement };
        output::refuse_same(NamedFile { what: "output", path }, &[agreement])?;
    }
    let from: Vec<PathBuf> =
        [&args.one, &args.other].into_iter().chain(&args.keys).cloned().collect();
    let options = OutputOptions { path: path.to_owned(), force: args.force };
    let origin = match &names {
        Some(names) => Origin::FilesLike(&from, &names.source),
        None => Origin::Files(&from),
    };
    let mut table = TableWriter::create(origin, &header, &options)?;
    for entry in 0..combined.entries() {
        table.row(&cells(entry))?;
    }
    table.finish()?;
    let entries = combined.entries();
    Ok(writeln!(
        out,
        "{entries} entr{} written to {}; the file reveals what the shares kept secret",
        if entries == 1 { "y" } else { "ies" },
        path.display()
    )?)
}

/// The file for the table, `None` for standard output. The table goes to a terminal only if `-`
/// asks for it: a terminal shows, and often keeps, what the shares hid.
fn file(output: Option<&Path>, is_terminal: bool) -> Result<Option<&Path>, Failure> {
    match output {
        Some(path) if path.as_os_str() == "-" => Ok(None),
        Some(path) => Ok(Some(path)),
        None if is_terminal => Err(Failure::SecretsOnTerminal),
        None => Ok(None),
    }
}

/// The keys of one side's file, by their items.
struct Names {
    source: Source,
    columns: Vec<String>,
    keys: HashMap<Item, Vec<String>>,
}

impl Names {
    fn read(
        args: &CombineArgs,
        shares: &SharesFile,
        combined: &Combined,
        keys: &Path,
        agreement: &Path,
    ) -> Result<Self, Failure> {
        let Some(items) = &combined.keys else { return Err(Failure::NoKeysShared) };
        let agreement = Agreement::load(agreement)?;
        if agreement.hash().to_string() != shares.agreement {
            return Err(Failure::OtherAgreement);
        }
        let source = Source::open(keys, &args.form.read_options())?;
        let columns = key_columns(&agreement, None, &column_choices(&args.columns)?)?;
        let limits = KeyLimits { may_be_empty: true, ..KeyLimits::default() };
        let extra = Extra { texts: Some(usize::MAX), ..Extra::default() };
        let hash = key_items(&agreement, &columns);
        let mut go_on = |_| ControlFlow::Continue(());
        let set = read_keys_with(&source, &columns, extra, &hash, &limits, &mut go_on)?;
        let mut named = HashMap::new();
        for item in items {
            if let (Ok(at), Some(texts)) = (set.items.binary_search(item), &set.texts)
                && let Some(values) = key_values(texts.get(at), columns.len())
            {
                named.insert(*item, values.into_iter().map(str::to_owned).collect());
            }
        }
        let columns = columns.into_iter().map(|column| column.column).collect();
        Ok(Self { source, columns, keys: named })
    }
}

/// The columns: the item, the key columns if `--keys` is given, the values.
fn header(combined: &Combined, names: Option<&Names>) -> Vec<String> {
    combined.names(names.map_or(&[], |names| &names.columns))
}

fn cells(combined: &Combined, names: Option<&Names>, entry: usize) -> Vec<String> {
    let mut cells = combined.cells(entry);
    if let (Some(names), Some(items)) = (names, &combined.keys) {
        let unknown = || vec![String::new(); names.columns.len()];
        let key = names.keys.get(&items[entry]).cloned().unwrap_or_else(unknown);
        cells.splice(1..1, key);
    }
    cells
}

/// One line of CSV (RFC 4180).
fn csv(cells: &[String], out: &mut impl Write) -> Result<(), Failure> {
    let quoted = cells.iter().map(|cell| {
        if cell.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    });
    Ok(writeln!(out, "{}", quoted.collect::<Vec<_>>().join(","))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_secrets_only_where_it_is_asked_for() {
        assert!(matches!(file(None, true), Err(Failure::SecretsOnTerminal)));
        assert!(matches!(file(Some(Path::new("-")), true), Ok(None)));
        assert!(matches!(file(None, false), Ok(None)));
        let table = Path::new("common.csv");
        assert_eq!(file(Some(table), true).ok().flatten(), Some(table));
    }
}
