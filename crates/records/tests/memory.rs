//! Memory follows the distinct keys, not the rows or their length; streaming needs none for them.
//!
//! One test in its own process: it watches the peak memory of the whole process.

#[path = "integration/common.rs"]
mod common;

use common::{Scratch, hash, key, open, open_keys, silent};
use std::convert::Infallible;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use vesica_core::Item;
use vesica_records::{KeyLimits, stream_items};
use vesica_tables::{OutputOptions, write_rows};

fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_sixteen_bytes_a_distinct_key() {
    const ROWS: u64 = 6_000_000;
    const FIXED_BYTES: u64 = 20 << 20;
    let dir = Scratch::new();
    let file = |name: &str, rows: u64, distinct: u64| {
        let mut out = BufWriter::new(File::create(dir.path(name)).unwrap());
        writeln!(out, "id,b").unwrap();
        for row in 0..rows {
            writeln!(out, "{},{}", row % distinct, "x".repeat(row as usize % 20)).unwrap();
        }
        out.flush().unwrap();
        dir.path(name)
    };
    let stream = |path: &Path, rows: u64, wanted: &[u64]| {
        let source = open(path).unwrap();
        let (columns, limits) = (key(&[("id", "exact")]), KeyLimits::default());
        let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
        let streamed =
            stream_items(&source, &columns, &hash(), &limits, &mut sink, &mut silent).unwrap();
        assert_eq!(streamed.keyed, rows);
        let options = OutputOptions { path: dir.path("out.csv"), force: true };
        write_rows(&source, rows, wanted, &options, &mut silent).unwrap();
    };
    let (few, many) = (file("few.csv", ROWS, 1000), file("many.csv", ROWS, ROWS));
    // The code of a pass and its fixed buffers stay in memory from the first pass on. They do not
    // count.
    stream(&file("tiny.csv", 64, 64), 64, &[u64::MAX]);
    let before = peak_bytes();
    let wanted = vec![u64::MAX; ROWS.div_ceil(64) as usize];
    stream(&many, ROWS, &wanted);
    let streaming = peak_bytes() - before;
    assert!(streaming < ROWS / 8 + (1 << 20), "{streaming} bytes for streaming");
    drop(wanted);
    let set = open_keys(few, &[("id", "exact")]).unwrap();
    assert_eq!((set.counts.rows, set.counts.distinct), (ROWS, 1000));
    let after_few = peak_bytes() - before;
    // Repeated keys are dropped on the way: at most the items of the first compaction remain.
    assert!(after_few < (16 << 22) + FIXED_BYTES, "{after_few} bytes for few keys");
    drop(set);
    let set = open_keys(many, &[("id", "exact")]).unwrap();
    assert_eq!(set.counts.distinct, ROWS);
    let after_many = peak_bytes() - before;
    assert!(after_many < 16 * ROWS + FIXED_BYTES, "{after_many} bytes for {ROWS} keys");
}
