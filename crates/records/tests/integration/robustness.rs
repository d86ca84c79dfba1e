//! Reading a file of arbitrary bytes ends with rows or an error.

use crate::common::support::{bits, write_bits};
use crate::common::{self, Scratch, key, open, silent};
use proptest::prelude::*;
use std::convert::Infallible;
use std::path::Path;
use vesica_core::Item;
use vesica_records::{Extra, KeyLimits, Survey, read_keys, stream_items, survey_keys};
use vesica_tables::{Format, InputError, OutputOptions, ReadOptions, Source, write_rows};

/// Runs every operation on a file.
fn exercise(path: &Path, options: &ReadOptions) -> Result<(), InputError> {
    let source = Source::open(path, options)?;
    let Some(column) = source.columns().first() else { return Ok(()) };
    let columns = key(&[(column, "email"), (column, "exact")]);
    let limits = KeyLimits::default();
    let mut survey = Survey::new(columns[..1].to_vec(), 100);
    let hash = common::hash();
    let _ = survey_keys(&source, Extra::default(), &hash, &limits, &mut survey, &mut silent);
    drop(survey.finish());
    let _ = read_keys(&source, &columns, &hash, &limits, &mut silent);
    let columns = &columns[1..];
    let set = read_keys(&source, columns, &hash, &limits, &mut silent)?;
    let mut streamed = 0;
    let mut sink = |items: &[Item]| {
        streamed += items.len() as u64;
        Ok::<_, Infallible>(())
    };
    let again = stream_items(&source, columns, &hash, &limits, &mut sink, &mut silent);
    assert_eq!(again.unwrap().rows, set.counts.rows);
    assert_eq!(streamed, set.counts.rows);
    let wanted = vec![u64::MAX; streamed.div_ceil(64) as usize];
    for name in ["out.csv", "out.parquet"] {
        let options = OutputOptions { path: path.with_file_name(name), force: true };
        if let Ok(written) = write_rows(&source, streamed, &wanted, &options, &mut silent) {
            assert_eq!(written.rows, streamed);
        }
    }
    Ok(())
}

/// A valid file in the format of `name`.
fn sample(dir: &Scratch, name: &str) -> Vec<u8> {
    let rows: String = (0..300).map(|i| format!("user{i}@ex.org,{},\u{e9}{i}\n", i % 7)).collect();
    let source = open(dir.file("sample.csv", format!("id,b,c\n{rows}"))).unwrap();
    if name.ends_with(".csv") {
        return std::fs::read(source.path()).unwrap();
    }
    let path = dir.path(name);
    write_bits(&source, 300, &bits(300, |_| true), &path).unwrap();
    std::fs::read(path).unwrap()
}

/// An unknown field: a list of 2^31 - 1 numbers of eight bytes.
const ENDLESS_LIST: [u8; 7] = [0xf9, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07];

#[test]
fn a_page_header_beyond_the_end_of_the_file_is_damage_at_once() {
    let dir = Scratch::new();
    let mut bytes = sample(&dir, "a.parquet");
    // The first page follows the file's magic bytes.
    bytes[4..11].copy_from_slice(&ENDLESS_LIST);
    let path = dir.path("b.parquet");
    std::fs::write(&path, &bytes).unwrap();
    let start = std::time::Instant::now();
    let damaged = Err(InputError::DamagedParquet { path: path.clone() });
    assert_eq!(exercise(&path, &ReadOptions::default()), damaged);
    // It took hours: a system call for each number.
    assert!(start.elapsed().as_secs() < 60);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(
        data in prop::collection::vec(
            prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), Just(b'\r'), Just(b'@'), any::<u8>()],
            0..300,
        ),
        header in any::<bool>(),
        format in prop_oneof![Just(Format::Csv), Just(Format::Tsv), Just(Format::Parquet)],
    ) {
        let dir = Scratch::new();
        let options = ReadOptions { header, format: Some(format), ..ReadOptions::default() };
        let _ = vesica_tables::fuzzing::read_text(&data, None);
        std::fs::write(dir.path("a.dat"), &data).unwrap();
        let _ = exercise(&dir.path("a.dat"), &options);
        let mut parquet = b"PAR1".to_vec();
        parquet.extend(&data);
        parquet.extend((data.len() as u32 / 2).to_le_bytes());
        parquet.extend(b"PAR1");
        std::fs::write(dir.path("a.parquet"), &parquet).unwrap();
        let _ = exercise(&dir.path("a.parquet"), &ReadOptions::default());
    }

    #[test]
    fn damaged_files_never_panic(
        name in prop_oneof![
            Just("a.csv"),
            Just("a.csv.gz"),
            Just("a.csv.zst"),
            Just("a.parquet"),
            Just("a.parquet"),
        ],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let dir = Scratch::new();
        let mut bytes = sample(&dir, name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            let len = cut.index(bytes.len());
            bytes.truncate(len);
        }
        std::fs::write(dir.path(name), &bytes).unwrap();
        let _ = exercise(&dir.path(name), &ReadOptions::default());
        prop_assert!(dir.names().iter().all(|name| !name.contains("partial")));
    }
}
