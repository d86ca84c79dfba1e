//! Columns outside the key that cannot be read are found before a run.

use crate::common::{Scratch, keys, open};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use vesica_tables::{InputError, OutputOptions, Source, WriteError, check_columns, check_output};

fn write_parquet(path: &Path, batch: &RecordBatch) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// A file of a key and a column whose first page `damage` gets to write over.
fn with_damage(path: &Path, damage: impl Fn(&mut [u8])) -> Source {
    let texts = |prefix: &str| -> ArrayRef {
        let cells = (0..100).map(|row| format!("{prefix}{row}"));
        Arc::new(StringArray::from_iter_values(cells))
    };
    let batch = RecordBatch::try_from_iter([("k", texts("key")), ("other", texts("cell"))]);
    write_parquet(path, &batch.unwrap());
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let (start, len) = reader.metadata().row_group(0).column(1).byte_range();
    let mut bytes = fs::read(path).unwrap();
    damage(&mut bytes[start as usize..(start + len) as usize]);
    fs::write(path, bytes).unwrap();
    open(path).unwrap()
}

/// What stands where a page would, to a reader without the key: its length, then noise.
fn encrypt(chunk: &mut [u8]) {
    let (len, page) = chunk.split_at_mut(4);
    len.copy_from_slice(&(page.len() as u32).to_le_bytes());
    let mut state = 1_u32;
    page.fill_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
}

#[test]
fn a_column_other_than_the_key_that_cannot_be_read_is_named_before_a_run() {
    let dir = Scratch::new();
    type Damage = fn(&mut [u8]);
    let damages: [(&str, Damage); 3] = [
        ("header", |chunk| chunk[..8].fill(0xff)),
        ("levels", |chunk| {
            let len = chunk.len();
            chunk[len / 3..].fill(0xff);
        }),
        ("encrypted", encrypt),
    ];
    for (name, damage) in damages {
        let path = dir.path(&format!("{name}.parquet"));
        let source = with_damage(&path, damage);
        assert_eq!(keys(&source, &[("k", "exact")]).unwrap().counts.distinct, 100);
        let damaged = InputError::DamagedColumn { path, column: "other".to_owned() };
        assert_eq!(check_columns(&source), Err(damaged.clone()), "{name}");
        for out in ["out.parquet", "out.csv"] {
            let options = OutputOptions { path: dir.path(out), force: false };
            let checked = check_output(&source, &options);
            assert_eq!(checked, Err(WriteError::Input(damaged.clone())), "{name}");
        }
    }
    let source = with_damage(&dir.path("whole.parquet"), |_| {});
    assert_eq!(check_columns(&source), Ok(()));
}

#[test]
fn a_column_that_cannot_be_read_in_a_later_part_is_named_with_its_file() {
    let dir = Scratch::new();
    fs::create_dir(dir.path("t")).unwrap();
    with_damage(&dir.path("t/a.parquet"), |_| {});
    let path = dir.path("t/b.parquet");
    with_damage(&path, encrypt);
    let source = open(dir.path("t")).unwrap();
    let column = "other".to_owned();
    assert_eq!(check_columns(&source), Err(InputError::DamagedColumn { path, column }));
}
