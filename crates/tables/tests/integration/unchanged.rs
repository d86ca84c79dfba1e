//! Files whose attributes change between two passes, and files whose content does.

use crate::common::{Scratch, bits_of, items, keys, open, silent};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use vesica_tables::{InputError, OutputOptions, Source, WriteError, write_rows};

const NAMES: [&str; 4] = ["a.csv", "a.csv.gz", "a.csv.zst", "a.parquet"];
const ROWS: usize = 3000;

/// A file of `ROWS` rows with the columns `k` and `other`.
fn write(dir: &Scratch, name: &str) {
    if name.ends_with(".parquet") {
        let keys: StringArray = (0..ROWS).map(|row| Some(format!("k{row}"))).collect();
        let others = Int64Array::from_iter_values((0..ROWS).map(|row| row as i64));
        let columns = [("k", Arc::new(keys) as ArrayRef), ("other", Arc::new(others))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = File::create(dir.path(name)).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    } else {
        let rows: String = (0..ROWS).map(|row| format!("k{row},{row}\n")).collect();
        dir.file(name, format!("k,other\n{rows}"));
    }
}

/// Writes the rows of two keys, after `change` between the passes.
fn written_after(
    source: &Source,
    dir: &Scratch,
    change: impl FnOnce(),
) -> Result<String, WriteError> {
    let (rows, wanted) = bits_of(source, &[("k", "exact")], &items(&["k1", "k7"])).unwrap();
    change();
    let options = OutputOptions { path: dir.path("out.csv"), force: true };
    write_rows(source, rows, &wanted, &options, &mut silent)?;
    Ok(fs::read_to_string(dir.path("out.csv")).unwrap())
}

fn wait_for_the_clock() {
    // The times of a file move on with the clock's ticks.
    std::thread::sleep(Duration::from_millis(20));
}

type Touch = fn(&Path);

/// Changes of attributes alone.
fn touches() -> [(&'static str, Touch); 4] {
    [
        ("a link of a backup", |path| {
            fs::hard_link(path, path.with_extension("backup-hidden")).unwrap();
            fs::remove_file(path.with_extension("backup-hidden")).unwrap();
        }),
        ("permissions", |path| fs::set_permissions(path, Permissions::from_mode(0o640)).unwrap()),
        ("a new time", |path| {
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_modified(SystemTime::now())
                .unwrap();
        }),
        ("the same bytes in another file", |path| {
            let copy = path.with_file_name(".copy");
            fs::copy(path, &copy).unwrap();
            fs::rename(copy, path).unwrap();
        }),
    ]
}

#[test]
fn a_file_whose_attributes_alone_changed_gives_its_result() {
    for name in NAMES {
        for (what, touch) in touches() {
            let dir = Scratch::new();
            write(&dir, name);
            let source = open(dir.path(name)).unwrap();
            let written = written_after(&source, &dir, || {
                wait_for_the_clock();
                touch(&dir.path(name));
            });
            assert_eq!(written.unwrap(), "k,other\nk1,1\nk7,7\n", "{name}: {what}");
        }
    }
}

#[test]
fn a_folder_of_which_a_file_was_touched_gives_its_result() {
    for (what, touch) in touches() {
        let dir = Scratch::new();
        fs::create_dir(dir.path("t")).unwrap();
        for name in ["t/a.csv", "t/b.csv"] {
            write(&dir, name);
        }
        let source = open(dir.path("t")).unwrap();
        let written = written_after(&source, &dir, || {
            wait_for_the_clock();
            touch(&dir.path("t/b.csv"));
        });
        let expected = "k,other\nk1,1\nk7,7\nk1,1\nk7,7\n";
        assert_eq!(written.unwrap(), expected, "{what}");
    }
}

#[test]
fn a_file_that_is_touched_before_a_pass_has_read_it_is_refused() {
    let dir = Scratch::new();
    write(&dir, "a.csv");
    let source = open(dir.path("a.csv")).unwrap();
    wait_for_the_clock();
    fs::set_permissions(dir.path("a.csv"), Permissions::from_mode(0o640)).unwrap();
    let read = keys(&source, &[("k", "exact")]);
    assert_eq!(read.unwrap_err(), InputError::Changed { path: dir.path("a.csv") });
}

#[test]
fn a_byte_that_changed_behind_the_same_attributes_is_noticed() {
    for name in NAMES {
        // Of a Parquet file the bytes of other columns than the key do not count; of its key's,
        // near the start, they do.
        for at in [12, 30] {
            let dir = Scratch::new();
            write(&dir, name);
            let path = dir.path(name);
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            let source = open(&path).unwrap();
            let written = written_after(&source, &dir, || {
                wait_for_the_clock();
                let file = File::options().read(true).write(true).open(&path).unwrap();
                let mut byte = [0];
                file.read_exact_at(&mut byte, at).unwrap();
                file.write_all_at(&[byte[0] ^ 1], at).unwrap();
                file.set_modified(modified).unwrap();
            });
            assert_eq!(written.unwrap_err(), InputError::Changed { path }.into(), "{name} {at}");
            assert!(!dir.path("out.csv").exists());
        }
    }
}
