//! Files: tables of rows, shares, and a party's folder.

use super::{Target, fresh, no_seeds, scratch};
use crate::input::Input;
use std::convert::Infallible;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_engine::fuzzing;
use vesica_engine::shares::combine;
use vesica_link::letters::Meeting;
use vesica_records::{
    Duplicates, Extra, KeyColumn, KeyItems, KeyLimits, Survey, ValueColumns, read_keys,
    read_keys_with, stream_items, survey_keys,
};
use vesica_tables::{Format, InputError, OutputOptions, Progress, ReadOptions, Source, write_rows};

pub(super) const TEXT: Target = Target {
    name: "csv",
    run: text,
    seeds: no_seeds,
    tokens: &[
        b"\"\"",
        b"\",\"",
        b"\r\n",
        b"\xef\xbb\xbf",
        b", \"",
        b"'",
        b"\xff\xfe",
        b";;",
        b"sep=;\n",
        b"\\\"",
        b"\n#",
    ],
    max_len: 2048,
};

/// Read options, then the text: read in memory, and sometimes as a file.
fn text(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let how = input.byte();
    let delimiter = [None, Some(b','), Some(b';'), Some(b'\t'), Some(b'|')][usize::from(how) % 5];
    let text = input.rest();
    if let Ok((records, cell_bytes)) = vesica_tables::fuzzing::read_text(text, delimiter) {
        assert!(records <= text.len() as u64 + 1 && cell_bytes <= text.len() as u64);
    }
    if how < 240 {
        return;
    }
    let format = [Format::Csv, Format::Tsv][usize::from(how) % 2];
    let options = ReadOptions {
        delimiter,
        skip_rows: u64::from(how & 8 == 0),
        comment: (how & 1 == 0).then_some(b'#'),
        header: how & 2 == 0,
        format: Some(format),
    };
    let is_written = how & 4 == 0;
    let name = ["a.csv", "a.csv.gz", "a.csv.zst"][usize::from(how) % 3];
    in_folder(|folder| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a small file can be written");
        exercise(&path, &options, is_written)
    });
}

pub(super) const PARQUET: Target = Target {
    name: "parquet",
    run: parquet,
    seeds: tables,
    tokens: &[b"PAR1", b"\x15\x04", b"\x19\x1c"],
    max_len: 8192,
};

/// A small table as Parquet, written by the code that writes results.
fn tables() -> Vec<Vec<u8>> {
    let written = in_folder(|folder| {
        let rows: String =
            (0..9).map(|i| format!("user{i}@ex.org,{},\u{e9}{i}\n", i % 3)).collect();
        let (from, to) = (folder.join("from.csv"), folder.join("to.parquet"));
        fs::write(&from, format!("id,b,c\n{rows}")).expect("a small file can be written");
        let source = Source::open(&from, &ReadOptions::default())?;
        let options = OutputOptions { path: to.clone(), force: true };
        let _ = write_rows(&source, 9, &[0x1ff], &options, &mut silent);
        Ok(fs::read(to).unwrap_or_default())
    });
    let bytes = written.unwrap_or_default();
    vec![[&[0], &bytes[..]].concat(), [&[1], &bytes[..]].concat()]
}

fn parquet(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let is_written = input.byte() & 1 == 1;
    in_folder(|folder| {
        let path = folder.join("a.parquet");
        fs::write(&path, input.rest()).expect("a small file can be written");
        exercise(&path, &ReadOptions::default(), is_written)
    });
}

fn in_folder<T>(work: impl FnOnce(&Path) -> Result<T, InputError>) -> Option<T> {
    let folder = scratch().path().join(format!("files-{}", fresh()));
    fs::create_dir(&folder).expect("a folder can be made");
    let done = work(&folder);
    fs::remove_dir_all(&folder).expect("a folder can be removed");
    if let Err(error) = &done {
        drop(error.to_string());
    }
    done.ok()
}

fn silent(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Runs every operation on a table.
fn exercise(path: &Path, options: &ReadOptions, is_written: bool) -> Result<(), InputError> {
    let source = Source::open(path, options)?;
    let Some(column) = source.columns().first() else { return Ok(()) };
    let hash = KeyItems::digests(ItemHash::new("vesica fuzz 2026 items", &[]));
    let key = |profile: &str| {
        let profile = profile.parse().expect("the profile is known");
        let never = vec!["NULL".to_owned(), "a@b.de".to_owned()];
        vec![KeyColumn { name: column.clone(), column: column.clone(), profile, never }]
    };
    let mut survey = Survey::new(key("email"), 100);
    let limits = KeyLimits::default();
    let _ = survey_keys(&source, Extra::default(), &hash, &limits, &mut survey, &mut silent);
    drop(survey.finish());
    if let Some(values) = source.columns().last() {
        let duplicates = if is_written { Duplicates::Sum } else { Duplicates::First };
        let values = ValueColumns {
            columns: vec![values.clone()],
            groups: None,
            bits: 16,
            signed: true,
            duplicates,
        };
        let extra = Extra { values: Some(&values), ..Extra::default() };
        let _ = read_keys_with(&source, &key("trim"), extra, &hash, &limits, &mut silent);
    }
    let columns = key("exact");
    let set = read_keys(&source, &columns, &hash, &limits, &mut silent)?;
    assert!(set.items.len() as u64 <= set.counts.rows);
    let mut streamed = 0;
    let mut sink = |items: &[Item]| {
        streamed += items.len() as u64;
        Ok::<_, Infallible>(())
    };
    let again = stream_items(&source, &columns, &hash, &limits, &mut sink, &mut silent);
    let again = again.expect("a file that was read can be read again");
    assert_eq!((again.rows, streamed), (set.counts.rows, set.counts.rows));
    if !is_written {
        return Ok(());
    }
    let wanted = vec![u64::MAX; streamed.div_ceil(64) as usize];
    for name in ["out.csv", "out.parquet"] {
        let options = OutputOptions { path: path.with_file_name(name), force: true };
        if let Ok(written) = write_rows(&source, streamed, &wanted, &options, &mut silent) {
            assert_eq!(written.rows, streamed, "every row");
        }
    }
    Ok(())
}

pub(super) const SHARES: Target = Target {
    name: "shares_file",
    run: shares,
    seeds: no_seeds,
    tokens: &[
        b"\"format\": \"vesica-shares\"",
        b"\"version\": 1",
        b"\"entries\": 18446744073709551615",
        b"\"combine\": \"xor\"",
        b"\"combine\": \"sum mod 2^64\"",
        b"\"keys\": null",
        b"\"bits\": 64",
        b"AAAAAAAAAAAAAAAAAAAAAA==",
    ],
    max_len: 4096,
};

fn shares(bytes: &[u8]) {
    let file = match fuzzing::shares(bytes) {
        Ok(file) => file,
        Err(error) => return drop(error.to_string()),
    };
    let mut written = Vec::new();
    file.write(&mut written).expect("memory takes any text");
    assert_eq!(fuzzing::shares(&written).as_ref(), Ok(&file), "a file survives being written");
    let mut other = file.clone();
    other.share = 3 - file.share;
    if let Ok(combined) = combine(&file, &other) {
        assert_eq!(combined.entries(), file.entries);
        let columns = combined.names(&[]).len();
        for entry in 0..file.entries {
            assert_eq!(combined.cells(entry).len(), columns, "a cell for each column");
        }
    }
}

pub(super) const STATE: Target =
    Target { name: "state_folder", run: state, seeds: no_seeds, tokens: &[], max_len: 4096 };

const STATE_FILES: [&str; 15] = [
    "meeting",
    "shares",
    "rows",
    "instance",
    "said",
    "finished",
    "owner",
    "answer",
    "unfinished",
    "seen-commitments",
    "seen-toss",
    "seen-labels",
    "seen-places",
    "vesica-run.lock",
    "another",
];

/// Files of a folder: which, and their contents.
fn state(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let owner = [7; 32];
    let folder = scratch().path().join(format!("state-{}", fresh()));
    // One that others can enter is refused.
    fs::DirBuilder::new().mode(0o700).create(&folder).expect("a folder can be made");
    let write = |name: &str, body: &[u8]| {
        fs::write(folder.join(name), body).expect("a small file can be written");
    };
    let how = input.byte();
    if how & 1 == 0 {
        write("vesica-run.lock", b"");
        write("owner", &owner);
        if let (true, Ok(meeting)) = (how & 2 == 0, Meeting::new()) {
            write("meeting", &[&[3; 32], &meeting.to_bytes()[..]].concat());
        }
    }
    while !input.is_empty() {
        let name = *input.one_of(&STATE_FILES);
        write(name, input.piece());
    }
    fuzzing::reopen_state(&folder, owner);
    // It may have removed itself.
    let _ = fs::remove_dir_all(&folder);
}
