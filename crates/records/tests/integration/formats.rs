//! The same rows have the same keys and counts in every format.

use crate::common::{Scratch, batch, frame, keys, open, open_keys, write_parquet};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, LargeStringArray, StringArray, StringViewArray,
};
use std::fs;
use std::sync::Arc;
use vesica_records::KeyCounts;
use vesica_tables::Place;

#[test]
fn every_format_gives_the_same_keys_and_counts() {
    let dir = Scratch::new();
    let rows: Vec<(String, String)> = (0..5000)
        .map(|i| match i % 10 {
            0 => (String::new(), format!("{i}")),
            1 => (format!("  User{}@Example.org ", i % 700), "x,\"y\"\n".into()),
            2 => ("nobody".into(), "z;\tz".into()),
            _ => (format!("user{i}@m\u{fc}nchen.de"), format!("{}", i % 3)),
        })
        .collect();
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let text = |delimiter: char, end: &str| -> String {
        let line =
            |(mail, b): &(String, String)| format!("{}{delimiter}{}{end}", quoted(mail), quoted(b));
        format!("mail{delimiter}b{end}{}", rows.iter().map(line).collect::<String>())
    };
    let columns = [("mail", "email"), ("b", "exact")];
    let expected = open_keys(dir.file("a.csv", text(',', "\n")), &columns).unwrap();
    let KeyCounts { rows: count, empty, refused, duplicates, distinct, .. } = expected.counts;
    assert_eq!([count, empty, refused, duplicates, distinct], [5000, 500, 500, 430, 3570]);
    for (name, delimiter, end) in [
        ("b.csv", ';', "\r\n"),
        ("c.csv", '|', "\r"),
        ("d.tsv", '\t', "\n"),
        ("e.csv.gz", ',', "\r\n"),
        ("f.tsv.zst", '\t', "\r"),
        ("G.TXT.GZ", ',', "\n"),
    ] {
        // The helper compresses by lower-case names.
        let path = dir.file(&name.to_lowercase(), text(delimiter, end));
        fs::rename(path, dir.path(name)).unwrap();
        let set = open_keys(dir.path(name), &columns).unwrap();
        assert_eq!((&set.items, &set.counts), (&expected.items, &expected.counts), "{name}");
    }

    // The rows of tables have other places.
    let mut in_tables = expected.counts.clone();
    in_tables.refused_by[0].first = [3, 13, 23, 33, 43].map(Place::Row).to_vec();
    let mails: StringArray =
        rows.iter().map(|(mail, _)| Some(mail).filter(|mail| !mail.is_empty())).collect();
    let b = StringArray::from_iter_values(rows.iter().map(|(_, b)| b));
    let arrays: [ArrayRef; 5] = [
        Arc::new(mails.clone()),
        Arc::new(mails.iter().collect::<StringViewArray>()),
        Arc::new(mails.iter().collect::<LargeStringArray>()),
        Arc::new(mails.iter().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(mails.iter().map(|mail| mail.map(str::as_bytes)).collect::<BinaryArray>()),
    ];
    for (index, mail) in arrays.into_iter().enumerate() {
        // The key columns are not in the agreement's order.
        let whole = batch(vec![("b", Arc::new(b.clone())), ("mail", mail)]);
        write_parquet(&dir.path("a.parquet"), &whole);
        // Slices begin within a byte of the bitmap, and one is empty.
        let slices = [(0, 1), (1, 20), (21, 0), (21, 4096), (4117, 883)];
        let sliced = slices.map(|(from, len)| whole.slice(from, len)).to_vec();
        for source in [open(dir.path("a.parquet")).unwrap(), frame(vec![whole]), frame(sliced)] {
            let set = keys(&source, &columns).unwrap();
            assert_eq!((&set.items, &set.counts), (&expected.items, &in_tables), "array {index}");
        }
    }
}
