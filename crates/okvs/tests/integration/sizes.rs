//! The sizes in the document match the code.

use vesica_core::Runs;
use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs};

const DOCUMENT: &str = include_str!("../../../../docs/okvs.md");

/// The number of keys in the first cell of a row of the table of sizes.
fn keys(cell: &str) -> Option<usize> {
    let (power, less) = match cell.split_once(" − ") {
        Some((power, less)) => (power, less.parse().ok()?),
        None => (cell, 0),
    };
    let exponent: u32 = power.strip_prefix("2^")?.parse().ok()?;
    Some((1 << exponent) - less)
}

fn number(cell: &str) -> usize {
    cell.replace(',', "").parse().unwrap_or_else(|_| panic!("{cell} is not a number"))
}

fn assert_size(okvs: &dyn Okvs, n: usize, cells: &[&str]) {
    assert_eq!(okvs.cluster_count(), number(cells[0]), "{n}: clusters");
    assert_eq!(okvs.cluster_len(), number(cells[1]), "{n}: slots per cluster");
    assert_eq!(format!("{:.4}", okvs.len() as f64 / n as f64), cells[2], "{n}: slots per key");
}

#[test]
fn the_sizes_in_the_document_match_the_code() {
    for (title, runs) in [("Sizes", Runs::ONE), ("Sizes of several runs", Runs::MAX)] {
        let (_, section) = DOCUMENT.split_once(&format!("\n## {title}\n")).expect("the section");
        let section = section.split("\n## ").next().expect("its text");
        let mut rows = 0;
        for line in section.lines().filter(|line| line.starts_with("| 2^")) {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            let n = keys(cells[0]).unwrap_or_else(|| panic!("{}: how many keys?", cells[0]));
            assert_size(&ClusteredOkvs::of_runs(n, runs), n, &cells[1..4]);
            assert_size(&BandOkvs::of_runs(n, runs), n, &cells[5..8]);
            for bits in [cells[4], cells[8]] {
                let bits: f64 = bits.parse().expect("bits");
                assert!(bits >= f64::from(runs.statistical_bits()), "{n}: {bits} bits");
            }
            rows += 1;
        }
        assert_eq!(rows, 11, "from 2^12 to 2^32 keys");
    }
}
