//! `bench/scale` at a tiny size: it runs, and reports what it measured.

use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::{fs, str};

#[test]
fn the_script_that_measures_large_sets_runs() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/scale");
    let folder = tempfile::tempdir().unwrap();
    // The script looks for the command where `make dist` puts it.
    fs::create_dir(folder.path().join("dist")).unwrap();
    symlink(env!("CARGO_BIN_EXE_vesica"), folder.path().join("dist/vesica")).unwrap();
    let output = Command::new("python3")
        .arg(script)
        .args(["--sizes", "100,3000", "--runs", "1", "--memory", "64MiB", "--no-figure"])
        .env("CARGO_TARGET_DIR", folder.path())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let table = str::from_utf8(&output.stdout).unwrap();
    assert!(table.contains("items each") && table.contains("3,000"), "{table}");
    let json = fs::read(folder.path().join("bench/scale.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    for line in ["seconds", "memory, MB a party", "payload, MB"] {
        assert!(json["lines"][line]["3000"].as_f64().unwrap() > 0.0, "{line}: {json}");
    }
}

/// The default protocol of two parties, in eight partitions. `bench` compares every bit of the
/// result, each run has new secrets, and each round has other common items.
#[test]
#[ignore = "slow: a hundred runs of 10^7 items"]
fn a_hundred_runs_of_ten_million_items_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let common = (round * 524_287).to_string();
        let memory = if round % 2 == 0 { "1GiB" } else { "256MiB" };
        let output = Command::new(env!("CARGO_BIN_EXE_vesica"))
            .args(["bench", "rr22_malicious", "--size", "10000000", "--both", "--runs", "5"])
            .args(["--common", &common, "--memory", memory, "--scratch"])
            .arg(folder.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{common} common items: {error}");
    }
}
