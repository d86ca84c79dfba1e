//! The list of refused rows.

use crate::common::{Scratch, hash, key, open, silent};
use arrow_array::{Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::convert::Infallible;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use vesica_core::Item;
use vesica_records::{
    Extra, KeyLimits, RefusedList, Survey, read_keys_with, stream_items_with, survey_items,
    survey_keys,
};
use vesica_tables::{OutputError, OutputOptions, Source};

fn to(path: &Path) -> OutputOptions {
    OutputOptions { path: path.to_path_buf(), force: false }
}

/// What every pass writes of a file's refused rows.
fn listed(dir: &Scratch, source: &Source, columns: &[(&str, &str)]) -> String {
    let (columns, limits) =
        (key(columns), KeyLimits { may_be_empty: true, ..KeyLimits::default() });
    let mut texts = Vec::new();
    for pass in 0..5 {
        let path = dir.path(&format!("refused.{pass}.csv"));
        let list = RefusedList::create(source, &to(&path)).unwrap();
        let extra = Extra { refused: Some(&list), ..Extra::default() };
        let mut survey = Survey::new(columns.clone(), 10);
        let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
        let (hash, listed) = (hash(), Some(&list));
        match pass {
            0 => drop(read_keys_with(source, &columns, extra, &hash, &limits, &mut silent)),
            1 => drop(survey_keys(source, extra, &hash, &limits, &mut survey, &mut silent)),
            2 => drop(stream_items_with(
                source,
                &columns,
                listed,
                &hash,
                &limits,
                &mut sink,
                &mut silent,
            )),
            3 => drop(survey_items(
                source,
                &hash,
                &limits,
                &mut survey,
                listed,
                &mut sink,
                &mut silent,
            )),
            // A value that is refused is a fault here, and in the list all the same.
            _ => drop(survey_items(
                source,
                &hash,
                &KeyLimits { strict: true, ..limits },
                &mut survey,
                listed,
                &mut sink,
                &mut silent,
            )),
        }
        assert!(!path.exists(), "before its end there is no file");
        list.finish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        texts.push(fs::read_to_string(&path).unwrap());
        fs::remove_file(path).unwrap();
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    texts.swap_remove(0)
}

#[test]
fn refused_rows_are_listed_by_their_place_without_a_value() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id,born\n1,2001-02-03\nx7,2001-02-03\n\n3,31.13.1985\n,\n4,?\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let text = listed(&dir, &open(path).unwrap(), &[("id", "digits"), ("born", "date")]);
    let lines: Vec<&str> = text.lines().collect();
    let [head, first, second, third] = lines[..] else { panic!("{text}") };
    assert_eq!(head, "line,column,reason");
    assert!(first.starts_with("3,id,"), "{first}");
    assert!(second.starts_with("5,born,") && third.starts_with("7,born,"), "{text}");
    assert!(!text.contains("x7") && !text.contains("31.13.1985"), "{text}");
}

#[test]
fn refused_rows_of_a_folder_and_of_parquet_have_their_places() {
    let dir = Scratch::new();
    fs::create_dir_all(dir.path("t")).unwrap();
    fs::write(dir.path("t/a.csv"), "id\n1\nx\n").unwrap();
    fs::write(dir.path("t/b.csv"), "id\ny\n2\n").unwrap();
    let text = listed(&dir, &open(dir.path("t")).unwrap(), &[("id", "digits")]);
    assert!(text.starts_with("file,line,column,reason\na.csv,3,id,"), "{text}");
    assert!(text.contains("\nb.csv,2,id,"), "{text}");

    let ids = StringArray::from(vec!["1", "x", "2"]);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as Arc<dyn Array>)]).unwrap();
    let file = File::create(dir.path("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let text = listed(&dir, &open(dir.path("a.parquet")).unwrap(), &[("id", "digits")]);
    assert!(text.starts_with("row,column,reason\n2,id,"), "{text}");
}

#[test]
fn the_list_never_replaces_the_input_nor_another_file() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id\nx\n");
    let source = open(&path).unwrap();
    let options = OutputOptions { path: path.clone(), force: true };
    let error = RefusedList::create(&source, &options).unwrap_err();
    assert_eq!(error, OutputError::SameAsInput { path });
    let taken = dir.file("b.csv", "kept");
    let error = RefusedList::create(&source, &to(&taken)).unwrap_err();
    assert_eq!(error, OutputError::Exists { path: taken });
}
