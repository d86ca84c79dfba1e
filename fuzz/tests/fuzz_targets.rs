//! The fuzz targets: every decoder has one, the stored inputs pass, and a failure is reported with
//! its input.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use vesica_fuzz::{TARGETS, inputs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn fuzz(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vesica-fuzz")).args(arguments).output().unwrap()
}

/// The rows of the table of decoders: file, function, and targets.
fn listed() -> Vec<(String, String, Vec<String>)> {
    let text = fs::read_to_string(root().join("fuzz/README.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let names = |cell: &str| -> Vec<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        (names(cells[0]).remove(0), names(cells[1]).join(" "), names(cells[2]))
    })
    .collect()
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            out.push(path);
        }
    }
}

/// The code of a file without its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

#[test]
fn every_target_reads_a_decoder_and_every_decoder_has_a_target() {
    let listed = listed();
    assert!(listed.len() > 30, "{}", listed.len());
    let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(known.len(), TARGETS.len(), "names are different");
    let mut named = BTreeSet::new();
    for (file, functions, targets) in &listed {
        let path = root().join("crates").join(file);
        let code = code(&path);
        for function in functions.split(' ') {
            let is_there = code.contains(&format!("fn {function}"));
            assert!(is_there, "fuzz/README.md lists {function}, which is not in {file}");
        }
        assert!(!targets.is_empty(), "{file} has no target");
        for target in targets {
            assert!(known.contains(&**target), "fuzz/README.md names {target}, which is no target");
            named.insert(target.as_str());
        }
    }
    assert_eq!(named, known, "a target of no decoder that fuzz/README.md lists");
}

/// Typical names of decoders. Decoders with other names are found by readers of the list.
const SIGNS: [&str; 6] =
    ["fn decode(", "fn parse(", "fn parse<", "fn from_bytes(", "fn from_code(", "fn read_head("];

/// Files with such a function that cannot fail.
const OF_OUR_OWN: [&str; 2] = [
    // Bytes of any value are valid, and lengths are in the type.
    "core/src/item.rs",
    "core/src/params.rs",
];

#[test]
fn functions_named_like_decoders_are_in_the_list() {
    let listed: BTreeSet<String> = listed().into_iter().map(|(file, ..)| file).collect();
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    let crates = root().join("crates");
    let mut missing = Vec::new();
    for path in files {
        let name = path.strip_prefix(&crates).unwrap().to_str().unwrap().to_owned();
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || path.file_stem().is_some_and(|stem| stem == "tests" || stem == "fuzzing");
        if is_test || OF_OUR_OWN.contains(&&*name) || listed.contains(&name) {
            continue;
        }
        let code = code(&path);
        if SIGNS.iter().any(|sign| code.contains(sign)) {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "decoders that are not in fuzz/README.md: {missing:?}");
}

#[test]
fn stored_inputs_are_small_and_have_a_target() {
    let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    for dir in [inputs::corpus(), inputs::regressions()] {
        for entry in fs::read_dir(&dir).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap();
            if folder.is_dir() {
                assert!(known.contains(name), "{} is of no target", folder.display());
                for (path, bytes) in inputs::files(&folder).unwrap() {
                    assert!(bytes.len() <= 8192, "{} is large", path.display());
                }
            }
        }
    }
    for target in TARGETS {
        let all = inputs::all(target).unwrap();
        assert!(all.len() > 1, "{} has nothing to begin with", target.name);
    }
}

#[test]
fn all_stored_inputs_pass() {
    let output = fuzz(&["--seconds", "0"]);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
    for target in TARGETS {
        let line = report.lines().find(|line| line.starts_with(target.name));
        assert!(line.is_some_and(|line| line.contains("inputs in")), "{}: {report}", target.name);
    }
}

#[test]
fn a_failing_input_is_reported_in_hexadecimal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("input");
    for (input, expected) in [
        (&b"panic"[..], "as asked"),
        (b"another thread", "as asked"),
        (b"exit", "FAILED"),
        (b"memory", "FAILED"),
    ] {
        fs::write(&path, input).unwrap();
        let output = fuzz(&["--input", path.to_str().unwrap(), "self_test"]);
        let report = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{report}");
        let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(report.contains(&hex) && report.contains(expected), "{report}");
    }
    fs::write(&path, "fine").unwrap();
    assert!(fuzz(&["--input", path.to_str().unwrap(), "self_test"]).status.success());
}

#[test]
fn inputs_depend_only_on_the_seed() {
    let of = |seed| {
        let mut inputs = vesica_fuzz::driver::inputs(&TARGETS[0], seed);
        (0..50).map(|_| inputs.next().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn wrong_command_lines_are_refused_with_a_reason() {
    for (arguments, expected) in [
        (&["--seconds"][..], "needs a value"),
        (&["--seconds", "ten"], "no number"),
        (&["--fast"], "no option"),
        (&["no-such-target"], "no target no-such-target"),
        (&["--input", "x"], "needs the one target"),
    ] {
        let output = fuzz(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(expected), "{arguments:?}");
    }
    let names = String::from_utf8(fuzz(&["--list"]).stdout).unwrap();
    assert_eq!(names.lines().count(), TARGETS.len());
}
