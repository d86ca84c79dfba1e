//! `vesica demo`: two made-up organisations, two processes, and one result that is checked.

mod places;
mod script;

pub(crate) use places::DemoError;

use clap::Args;
use places::{Organisation, Places, file_error};
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use vesica_agreement::figures::grouped;
use vesica_sample_data::customers;

/// The file that marks a directory as made by the demo, so that no other files are replaced.
const MARKER: &str = ".made-by-vesica-demo";

const COUNTS: customers::Counts = customers::Counts::of(customers::ROWS);

/// Match two made-up customer files of 1,000,000 rows and check the result.
///
/// Makes the files, keys and agreement of a grocer and an airline in a directory, runs both as two
/// processes over TLS on this machine, and compares the result with a plain join.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica demo --dir demo")]
pub(crate) struct DemoArgs {
    /// The directory for the demo's files; emptied first if an earlier demo made it
    #[arg(long, default_value = "demo", value_name = "DIRECTORY")]
    dir: PathBuf,
}

/// Runs the demo and prints its steps on `out`.
pub(crate) fn run(args: &DemoArgs, out: &mut impl Write) -> Result<(), DemoError> {
    let start = Instant::now();
    let places = Places {
        agreement: args.dir.join("agreement.toml"),
        grocer: Organisation::new(&args.dir, "grocer", "customers.csv"),
        airline: Organisation::new(&args.dir, "airline", "members.csv"),
    };
    prepare(&args.dir)?;
    for party in [&places.grocer, &places.airline] {
        let directory = args.dir.join(party.name);
        fs::create_dir(&directory).map_err(|error| file_error(&directory, &error))?;
    }

    let made = make_files(&places, out)?;
    script::make_keys(&places, out)?;
    script::write_agreement(&places, out)?;
    script::explain(&places, out)?;
    script::match_both(&places, out)?;
    show_result(&places.grocer, out)?;
    check(&places, &made, out)?;
    writeln!(
        out,
        "\nDone in {:.1} s. All files are in {}.",
        start.elapsed().as_secs_f64(),
        args.dir.display()
    )?;
    Ok(())
}

/// Makes an empty directory with the marker.
fn prepare(directory: &Path) -> Result<(), DemoError> {
    let marker = directory.join(MARKER);
    let failed = |error: io::Error| file_error(directory, &error);
    if marker.is_file() {
        fs::remove_dir_all(directory).map_err(failed)?;
    }
    fs::create_dir_all(directory).map_err(failed)?;
    if fs::read_dir(directory).map_err(failed)?.next().is_some() {
        return Err(DemoError::NotOurs(directory.to_path_buf()));
    }
    fs::write(&marker, "").map_err(|error| file_error(&marker, &error))
}

fn make_files(places: &Places, out: &mut impl Write) -> Result<customers::Made, DemoError> {
    let (grocer, airline) = (&places.grocer.input, &places.airline.input);
    let made =
        customers::write(COUNTS, grocer, airline).map_err(|error| file_error(grocer, &error))?;
    script::headline(out, 1, "Two customer files, each at its own organisation")?;
    for path in [grocer, airline] {
        writeln!(
            out,
            "{} ({} rows of made-up people):",
            path.display(),
            grouped(COUNTS.rows as u64)
        )?;
        show_head(path, 3, out)?;
    }
    Ok(made)
}

fn show_result(grocer: &Organisation, out: &mut impl Write) -> Result<(), DemoError> {
    script::headline(out, 6, "What the grocer got: its own rows, unchanged")?;
    writeln!(out, "{}:", grocer.output.display())?;
    show_head(&grocer.output, 5, out)?;
    let report = report(grocer)?;
    writeln!(out, "From {}:", grocer.report.display())?;
    let shown = [
        ("agreement", "/agreement/hash"),
        ("protocol", "/protocol/name"),
        ("rows read", "/input/rows"),
        ("  without a key", "/input/empty"),
        ("  refused", "/input/refused"),
        ("  with a key seen before", "/input/duplicates"),
        ("  different keys", "/input/distinct"),
        ("the airline's set", "/parties/0/keys"),
        ("keys in common", "/result/matched_keys"),
        ("rows written", "/result/rows_written"),
        ("self-check", "/result/self_check"),
        ("bytes sent", "/network/wire_sent"),
        ("bytes received", "/network/wire_received"),
        ("wall seconds", "/resources/wall_s"),
        ("CPU seconds", "/resources/cpu_s"),
        ("peak memory, bytes", "/resources/peak_rss_bytes"),
    ];
    for (words, pointer) in shown {
        let value = match report.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) if number.is_u64() => {
                grouped(number.as_u64().unwrap_or_default())
            }
            Some(Value::Number(number)) => format!("{:.2}", number.as_f64().unwrap_or_default()),
            _ => return Err(DemoError::WrongResult("the report lacks a field")),
        };
        writeln!(out, "  {words:<24} {value}")?;
    }
    Ok(())
}

/// Compares the result with the people that both files were generated with, and with plain joins of
/// the files.
fn check(places: &Places, made: &customers::Made, out: &mut impl Write) -> Result<(), DemoError> {
    script::headline(out, 7, "Is it right?")?;
    let result = read(&places.grocer.output)?;
    let text = |path: &Path| {
        String::from_utf8(read(path)?).map_err(|_| DemoError::WrongResult("a file is not text"))
    };
    let (grocer, airline) = (text(&places.grocer.input)?, text(&places.airline.input)?);
    let joined = customers::join(&grocer, &airline);
    let merged = customers::merge(&grocer, &airline);
    if result != made.expected {
        return Err(DemoError::WrongResult("it differs from what was put into the files"));
    }
    if result != joined.rows.as_bytes() {
        return Err(DemoError::WrongResult("it differs from the plain join"));
    }
    if result != merged.as_bytes() {
        return Err(DemoError::WrongResult("it differs from the plain sort and merge"));
    }
    let report = report(&places.grocer)?;
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
    if count("/result/matched_keys") != Some(COUNTS.common as u64)
        || count("/result/rows_written") != Some(made.expected_rows as u64)
    {
        return Err(DemoError::WrongResult("the counts in the report differ"));
    }
    if places.airline.output.exists() {
        return Err(DemoError::WrongResult("the airline got a result"));
    }
    writeln!(
        out,
        "Equal, byte for byte, to two plain joins of both files on one machine (by hashing, and \
         by\n\
         sorting and merging), and to the people that the files were made with: {} in common,\n\
         {} of them with two customer numbers.\n\
         A plain join of the unchanged cells would have found {} rows.\n\
         The airline has no result file: it learned only the size of the grocer's set.",
        grouped(COUNTS.common as u64),
        COUNTS.common_twice,
        grouped(joined.raw_matches as u64)
    )?;
    Ok(())
}

fn show_head(path: &Path, lines: usize, out: &mut impl Write) -> Result<(), DemoError> {
    let text = read(path)?;
    let text = String::from_utf8_lossy(&text);
    for line in text.lines().take(lines) {
        writeln!(out, "    {}", line.trim_start_matches('\u{feff}'))?;
    }
    Ok(writeln!(out, "    …")?)
}

fn report(organisation: &Organisation) -> Result<Value, DemoError> {
    serde_json::from_slice(&read(&organisation.report)?)
        .map_err(|_| DemoError::WrongResult("the report is not JSON"))
}

fn read(path: &Path) -> Result<Vec<u8>, DemoError> {
    fs::read(path).map_err(|error| file_error(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_join_finds_what_was_put_into_the_files() {
        let directory = tempfile::tempdir().unwrap();
        let [grocer, airline] = ["g.csv", "a.csv"].map(|name| directory.path().join(name));
        let counts = customers::Counts::of(40_000);
        let made = customers::write(counts, &grocer, &airline).unwrap();
        let [grocer, airline] = [grocer, airline].map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(grocer.lines().count(), counts.rows + 1);
        assert_eq!(airline.lines().count(), counts.rows + 1);
        let joined = customers::join(&grocer, &airline);
        assert!(joined.rows.as_bytes() == made.expected);
        assert!(customers::merge(&grocer, &airline).as_bytes() == made.expected);
        assert_eq!(made.expected_rows, counts.common + counts.common_twice);
        assert!(joined.raw_matches < made.expected_rows / 2);
    }

    #[test]
    fn a_directory_with_other_files_is_refused_and_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("agreement.toml");
        fs::write(&file, "mine").unwrap();
        assert!(matches!(prepare(directory.path()), Err(DemoError::NotOurs(_))));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }

    #[test]
    fn a_directory_of_an_earlier_demo_is_emptied() {
        let directory = tempfile::tempdir().unwrap();
        let demo = directory.path().join("demo");
        prepare(&demo).unwrap();
        fs::write(demo.join("old"), "").unwrap();
        prepare(&demo).unwrap();
        assert!(!demo.join("old").exists());
    }
}
