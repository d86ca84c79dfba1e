//! Measures how fast files become items, and back: rows a second and peak memory, one process a
//! line.
//!
//! Rows a second of CPU time are listed next to those of wall time: they are what an otherwise idle
//! core achieves.
//!
//! ```text
//! cargo build --release -p vesica-records --example read_speed
//! taskset -c 0 target/release/examples/read_speed DIRECTORY [ROWS]
//! ```
//!
//! Creates a CSV file of three columns (a key of 21 bytes) in the directory, its gzip, zstd and
//! Parquet versions, and measures each format and some profiles.

#![allow(clippy::print_stdout)]

use nix::sys::resource::{UsageWho, getrusage};
use std::convert::Infallible;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_records::{KeyColumn, KeyItems, KeyLimits, read_keys, stream_items};
use vesica_tables::{OutputOptions, Progress, ReadOptions, Source, write_rows};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["measure", "read", file, profile] => read(Path::new(file), profile),
        ["measure", "stream", file, profile] => stream(Path::new(file), profile),
        ["measure", "rows", file, every] => rows(Path::new(file), every.parse()?),
        [directory] => run(Path::new(directory), 10_000_000),
        [directory, rows] => run(Path::new(directory), rows.parse()?),
        _ => Err("usage: read_speed DIRECTORY [ROWS]".into()),
    }
}

fn run(directory: &Path, rows: u64) -> Outcome {
    let csv = directory.join(format!("speed-{rows}.csv"));
    if !csv.exists() {
        generate(&csv, rows)?;
    }
    let twin = |extension: &str| -> Result<PathBuf, Box<dyn Error>> {
        let path = directory.join(format!("speed-{rows}.{extension}"));
        if !path.exists() {
            copy(&csv, &path)?;
        }
        Ok(path)
    };
    let (gzip, zstd, parquet) = (twin("csv.gz")?, twin("csv.zst")?, twin("parquet")?);
    println!("{:<24} {:>12} {:>12} {:>10}", "", "rows/CPU s", "rows/wall s", "peak MiB");
    for profile in ["exact", "trim", "lower", "email", "email:google"] {
        measure(&["read", text(&csv)?, profile])?;
    }
    measure(&["read", text(&gzip)?, "exact"])?;
    measure(&["read", text(&zstd)?, "exact"])?;
    measure(&["read", text(&parquet)?, "exact"])?;
    measure(&["read", text(&parquet)?, "email"])?;
    measure(&["stream", text(&csv)?, "exact"])?;
    measure(&["stream", text(&parquet)?, "exact"])?;
    for file in [&csv, &parquet] {
        // Every row, every second, one in a thousand.
        for every in ["1", "2", "1000"] {
            measure(&["rows", text(file)?, every])?;
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<&str, Box<dyn Error>> {
    path.to_str().ok_or_else(|| "the directory's name is not UTF-8".into())
}

/// Runs one measurement in its own process, so that its peak memory is measured alone.
fn measure(args: &[&str]) -> Outcome {
    let status = Command::new(std::env::current_exe()?).arg("measure").args(args).status()?;
    if status.success() { Ok(()) } else { Err("a measurement failed".into()) }
}

/// Distinct keys in an order without pattern.
fn generate(path: &Path, rows: u64) -> Outcome {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    writeln!(out, "key,amount,city")?;
    for row in 0..rows {
        let number = row.wrapping_mul(7_640_891_569) % 10_000_000_019;
        writeln!(out, "user{number:010}@ex.org,{},town{:04}", row % 100_000, number % 10_000)?;
    }
    Ok(out.flush()?)
}

fn key(profile: &str) -> Result<Vec<KeyColumn>, Box<dyn Error>> {
    let (name, column) = ("key".to_owned(), "key".to_owned());
    Ok(vec![KeyColumn { name, column, profile: profile.parse()?, never: Vec::new() }])
}

fn silent(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The same rows in another format, written by the second pass.
fn copy(from: &Path, to: &Path) -> Outcome {
    let source = Source::open(from, &ReadOptions::default())?;
    let (hash, key) = (KeyItems::digests(ItemHash::new("read_speed", &[])), key("exact")?);
    let rows = read_keys(&source, &key, &hash, &KeyLimits::default(), &mut silent)?.counts.rows;
    let output = OutputOptions { path: to.to_path_buf(), force: false };
    let all = vec![u64::MAX; rows.div_ceil(64) as usize];
    write_rows(&source, rows, &all, &output, &mut silent)?;
    Ok(())
}

fn read(file: &Path, profile: &str) -> Outcome {
    let source = Source::open(file, &ReadOptions::default())?;
    let (hash, key) = (KeyItems::digests(ItemHash::new("read_speed", &[])), key(profile)?);
    let start = Start::now();
    let set = read_keys(&source, &key, &hash, &KeyLimits::default(), &mut silent)?;
    report("read", file, profile, set.counts.rows, start);
    Ok(())
}

fn stream(file: &Path, profile: &str) -> Outcome {
    let source = Source::open(file, &ReadOptions::default())?;
    let (hash, key) = (KeyItems::digests(ItemHash::new("read_speed", &[])), key(profile)?);
    let start = Start::now();
    let mut seen = 0;
    let mut sink = |items: &[Item]| -> Result<(), Infallible> {
        seen += items.len() as u64;
        Ok(())
    };
    let limits = KeyLimits::default();
    let streamed = stream_items(&source, &key, &hash, &limits, &mut sink, &mut silent)?;
    report("stream", file, profile, streamed.rows, start);
    assert_eq!(seen, streamed.rows);
    Ok(())
}

fn rows(file: &Path, every: u64) -> Outcome {
    let source = Source::open(file, &ReadOptions::default())?;
    let (hash, key) = (KeyItems::digests(ItemHash::new("read_speed", &[])), key("exact")?);
    let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
    let limits = KeyLimits::default();
    let rows = stream_items(&source, &key, &hash, &limits, &mut sink, &mut silent)?.rows;
    // No pattern, like the common keys of two lists.
    let mut wanted = vec![0_u64; rows.div_ceil(64) as usize];
    for row in 0..rows {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let is_wanted = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32 < (1 << 32) / every;
        wanted[row as usize / 64] |= u64::from(is_wanted) << (row % 64);
    }
    let name = file.file_name().ok_or("the file has no name")?.to_string_lossy().into_owned();
    let output = OutputOptions { path: file.with_file_name(format!("rows-{name}")), force: true };
    let start = Start::now();
    write_rows(&source, rows, &wanted, &output, &mut silent)?;
    report("rows", file, &format!("1/{every}"), rows, start);
    std::fs::remove_file(&output.path)?;
    Ok(())
}

fn report(what: &str, file: &Path, how: &str, rows: u64, start: Start) {
    let wall = start.wall.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - start.cpu_seconds;
    let extension = file.to_string_lossy();
    let extension = extension.split_once('.').map_or("", |(_, extension)| extension);
    println!(
        "{:<24} {:>12.0} {:>12.0} {:>10.0}",
        format!("{what} {extension} {how}"),
        rows as f64 / cpu,
        rows as f64 / wall,
        peak_mebibytes().unwrap_or(f64::NAN),
    );
}

struct Start {
    wall: Instant,
    cpu_seconds: f64,
}

impl Start {
    fn now() -> Self {
        Self { wall: Instant::now(), cpu_seconds: cpu_seconds() }
    }
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(f64::NAN, |usage| {
        [usage.user_time(), usage.system_time()]
            .iter()
            .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
            .sum()
    })
}

/// Linux's high-water mark of resident memory.
fn peak_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes / 1024.0)
}
