//! Results with keys list the party's own rows of each key.

use crate::support::{Place, TERMS, Terms};
use std::collections::BTreeMap;

/// Rows with a key, without a key, repeated in several spellings, with line ends in cells, and
/// after blank lines.
const ONE: &str = "id,email,rows\n1,Ann@Example.org ,x\n2,,x\n3,\"bob@example.org\",\"x\ny\"\n\n\
                   4,ann@example.org,x\n5,nobody,x\n6,cid@example.org,x\n\
                   7,\u{a0}ANN@example.org,x\n";
const TWO: &str = "email\ndan@example.org\nbob@example.org\n";

fn run(operation: &'static str, more: &str) -> [Vec<Vec<String>>; 2] {
    let place = Place::new();
    place.write("one.csv", ONE);
    place.write("two.csv", TWO);
    let terms = Terms { operation, receives: "all", more, max_rows: 12, ..TERMS };
    place.agreement("agreement.toml", &terms);
    let one = place.run("agreement.toml", "one", "one.csv", Some("o1.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", Some("o2.csv"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    ["o1.csv", "o2.csv"].map(|file| place.read(file).lines().map(cells).collect())
}

/// The rows of each of the party's own keys. The key is in column `key`, the rows in the last one.
fn rows_of(table: &[Vec<String>], key: usize) -> BTreeMap<&str, &str> {
    let named = table[1..].iter().filter(|row| !row.last().unwrap().is_empty());
    named.map(|row| (&*row[key], &**row.last().unwrap())).collect()
}

fn own() -> [BTreeMap<&'static str, &'static str>; 2] {
    [
        BTreeMap::from([
            ("ann@example.org", "1 4 7"),
            ("bob@example.org", "3"),
            ("cid@example.org", "6"),
        ]),
        BTreeMap::from([("dan@example.org", "1"), ("bob@example.org", "2")]),
    ]
}

#[test]
fn private_ids_name_the_own_rows_of_every_own_key() {
    for (more, len) in [("", 4), ("hide_sizes = true", 23)] {
        let tables = run("private-id", more);
        for (table, own) in tables.iter().zip(own()) {
            assert_eq!(table[0], ["id", "email", "rows"]);
            assert_eq!(rows_of(table, 1), own);
            let without = table[1..].iter().filter(|row| row[1].is_empty());
            assert!(without.clone().all(|row| row[2].is_empty()));
            // With hidden sizes the table includes the identifiers of padding.
            assert_eq!(table.len() - 1, len, "{table:?}");
        }
    }
}

#[test]
fn a_union_names_the_own_rows_of_every_own_key() {
    for (table, own) in run("union", "").iter().zip(own()) {
        assert_eq!(table[0], ["email", "new", "rows"]);
        assert_eq!(rows_of(table, 0), own);
        assert_eq!(table.len(), 5);
        for row in &table[1..] {
            assert_eq!(row[1] == "yes", row[2].is_empty(), "{row:?}");
        }
    }
}

#[test]
fn a_key_column_called_rows_keeps_its_name() {
    let place = Place::new();
    place.write("one.csv", "rows\na\nb\na\n");
    place.write("two.csv", "rows\nb\n");
    let terms =
        Terms { operation: "union", receives: "all", key: "rows", profile: "trim", ..TERMS };
    place.agreement("agreement.toml", &terms);
    let one = place.run("agreement.toml", "one", "one.csv", Some("o1.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", Some("o2.csv"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("o1.csv"), "rows,new,rows_\na,no,1 3\nb,no,2\n");
    assert_eq!(place.read("o2.csv"), "rows,new,rows_\na,yes,\nb,no,1\n");
}
