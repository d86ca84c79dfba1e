//! Keys of files that were written from other formats.

use crate::common::support::{bits, write_bits};
use crate::common::{Scratch, items, open, open_keys};
use proptest::prelude::*;
use vesica_tables::{InputError, Misquoted};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any cells are keys after CSV to TSV to Parquet to CSV, or refused as in single quotes.
    #[test]
    fn any_keys_survive_every_conversion(
        rows in prop::collection::vec(
            ("[a-c]{1,2}", "(?s)[^\0]{0,12}", "[,;\t\"\r\n x]{0,6}"), 1..20,
        )
    ) {
        let dir = Scratch::new();
        let mut text = String::from("id,b,c\n");
        for (id, b, c) in &rows {
            let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
            text.push_str(&format!("{},{},{}\n", quoted(id), quoted(b), quoted(c)));
        }
        dir.file("0.csv", text);
        let len = rows.len() as u64;
        let names = ["0.csv", "1.tsv", "2.parquet", "3.tsv.gz", "4.csv"];
        for pair in names.windows(2) {
            let source = open(dir.path(pair[0])).unwrap();
            write_bits(&source, len, &bits(len, |_| true), &dir.path(pair[1])).unwrap();
        }
        for (column, cells) in [
            ("b", rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>()),
            ("c", rows.iter().map(|row| row.2.as_str()).collect()),
        ] {
            let filled: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
            match open_keys(dir.path("4.csv"), &[(column, "exact")]) {
                Ok(set) => prop_assert_eq!(set.items, items(&filled)),
                // Where half of the cells or more are in single quotes, that is refused.
                Err(InputError::Misquoted { how: Misquoted::SingleQuotes, .. }) => {
                    let quoted = filled.iter().filter(|cell| cell.starts_with('\'')).count();
                    prop_assert!(2 * quoted >= filled.len());
                }
                Err(error) => {
                    prop_assert!(matches!(error, InputError::NoKeys { .. }), "{:?}", error);
                    prop_assert!(filled.is_empty());
                }
            }
        }
    }
}
