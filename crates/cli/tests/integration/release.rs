//! What `make release` makes in addition to programs: the list of crates, and the checksums.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TARGET: &str = "x86_64-unknown-linux-musl";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn output(program: &str, arguments: &[&str], dist: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).env("RELEASE_DIST", dist);
    // These come from the `make` that runs the tests.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    command.output().unwrap()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with the list and the checksums, and the printed output.
fn release() -> (tempfile::TempDir, PathBuf, String) {
    let dist = tempfile::tempdir().unwrap();
    let arguments = ["--only", "sbom", "sums"];
    let printed = text(output("scripts/release", &arguments, dist.path()));
    let list = dist.path().join(format!("vesica-{}.cdx.json", env!("CARGO_PKG_VERSION")));
    (dist, list, printed)
}

/// Name and version of each crate that cargo links into the command.
fn linked() -> BTreeSet<(String, String)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe"];
    let arguments = ["tree", "--locked", "--package", "vesica-cli", "--target", TARGET];
    let listed = text(output(&cargo, &[&arguments[..], &edges].concat(), Path::new("")));
    let crates = listed.lines().filter_map(|line| line.split_once(" v"));
    let version = |rest: &str| rest.split(' ').next().unwrap().to_owned();
    crates.map(|(name, rest)| (name.to_owned(), version(rest))).collect()
}

fn checked(list: &Value, dist: &Path) -> Output {
    let file = dist.join("changed.json");
    fs::write(&file, list.to_string()).unwrap();
    output("scripts/sbom", &["--check", file.to_str().unwrap()], dist)
}

#[test]
fn the_list_of_crates_is_what_the_command_links() {
    let (dist, list, printed) = release();
    let list: Value = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
    assert_eq!((&list["bomFormat"], &list["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let components = list["components"].as_array().unwrap();
    let all = components.iter().chain([&list["metadata"]["component"]]);
    let named: Vec<(String, String)> = all
        .map(|one| ["name", "version"].map(|field| one[field].as_str().unwrap().to_owned()).into())
        .collect();
    let crates: BTreeSet<_> = named.iter().cloned().collect();
    assert_eq!((named.len(), &crates), (crates.len(), &linked()));
    let has = |name: &str| crates.iter().any(|(one, _)| one == name);
    assert!(has("vesica-cli") && has("aws-lc-sys") && has("zstd-sys"), "{crates:?}");
    // A wrapper of C compilers, a crate for macros, one for tests, and one that no feature uses.
    assert!(!["cc", "syn", "snapbox", "ring"].into_iter().any(has), "{crates:?}");
    for one in components {
        let is_ours = one["name"].as_str().unwrap().starts_with("vesica-");
        let digest = one["hashes"][0]["content"].as_str();
        assert_eq!(digest.map(str::len), (!is_ours).then_some(64), "{one}");
        let purl = one["purl"].as_str().unwrap();
        assert!(purl.starts_with(if is_ours { "pkg:generic/" } else { "pkg:cargo/" }), "{one}");
        assert!(one["licenses"][0]["expression"].is_string(), "{one}");
    }
    text(checked(&list, dist.path()));
    assert!(printed.contains("against Cargo.lock, checksum\n"), "{printed}");
    let sums = fs::read_to_string(dist.path().join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), 1, "{sums}");

    // Wrong lists are detected.
    let refused = |change: fn(&mut Value), fault: &str| {
        let mut changed = list.clone();
        change(&mut changed);
        let output = checked(&changed, dist.path());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{fault}: {complaint}");
        assert!(complaint.contains(fault), "{fault}: {complaint}");
    };
    let digest = |list: &mut Value| list["components"][0]["hashes"][0]["content"] = "0".into();
    refused(digest, "has another checksum in Cargo.lock");
    let version = |list: &mut Value| list["components"][0]["version"] = "0.0.0".into();
    refused(version, "is not in Cargo.lock");
    let purl = |list: &mut Value| list["components"][0]["purl"] = "pkg:cargo/other@1".into();
    refused(purl, "has the wrong purl");
    let licence = |list: &mut Value| list["components"][0]["licenses"] = Value::Array(vec![]);
    refused(licence, "has no licence");
    let missing = |list: &mut Value| drop(list["components"].as_array_mut().unwrap().remove(0));
    refused(missing, "its dependencies are of other crates than its components");
    let twice = |list: &mut Value| list["components"][1] = list["components"][0].clone();
    refused(twice, "is listed twice");
    refused(|list| list["specVersion"] = "1.4".into(), "it is not CycloneDX 1.5");
}

#[test]
fn make_release_makes_all_parts_and_unknown_parts_are_refused() {
    let dist = tempfile::tempdir().unwrap();
    let commands = text(output("make", &["--dry-run", "release"], dist.path()));
    assert_eq!(commands, "scripts/release\n");
    let unknown = output("scripts/release", &["--only", "sbom", "image"], dist.path());
    let complaint = String::from_utf8_lossy(&unknown.stderr);
    assert_eq!(unknown.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("no part of a release is called image"), "{complaint}");
    // There is nothing to pack, and wheels cannot go to another folder.
    for (part, fault) in [("archive", "needs dist/vesica"), ("wheels", "the wheels go to dist")] {
        let refused = output("scripts/release", &["--only", part], dist.path());
        let complaint = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(fault), "{complaint}");
    }
    assert_eq!(fs::read_dir(dist.path()).unwrap().count(), 0);
}
