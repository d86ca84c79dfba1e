//! Dependencies obey `deny.toml`: licences, sources, crates.
//!
//! `cargo deny check` reads the same file and also checks advisories. It takes minutes to build, so
//! this test covers everything else.

use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether `source` is cargo's name of the public registry.
fn is_registry(source: &str) -> bool {
    source.starts_with("registry+") && source.ends_with("/crates.io-index")
}

#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    wildcards: String,
    deny: Vec<Banned>,
}

#[derive(Debug, Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
    /// The crates that alone may depend on it.
    #[serde(default)]
    wrappers: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    unknown_registry: String,
    unknown_git: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace root")
}

fn rules() -> Rules {
    let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    toml::from_str(&text).expect("the rules")
}

/// All packages of the lock file, ours included, and what depends on what, by their ids.
fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").expect("tests run under cargo");
    let mut command = Command::new(cargo);
    command
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(root());
    let output = command.output().expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The packages of `metadata`.
fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().expect("a list of packages")
}

/// The names of the packages that depend on `banned`.
fn dependents<'a>(metadata: &'a Value, banned: &str) -> BTreeSet<&'a str> {
    let names: BTreeMap<&str, &str> = packages(metadata)
        .iter()
        .map(|package| (text(package, "id"), text(package, "name")))
        .collect();
    let nodes = metadata["resolve"]["nodes"].as_array().expect("the resolved dependencies");
    let depends = |node: &Value| {
        let dependencies = node["deps"].as_array().expect("a list of dependencies");
        dependencies.iter().any(|to| names.get(text(to, "pkg")) == Some(&banned))
    };
    nodes.iter().filter(|node| depends(node)).map(|node| names[text(node, "id")]).collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The violations of `rules` by a package.
fn faults(rules: &Rules, package: &Value) -> Vec<String> {
    let (name, source) = (text(package, "name"), &package["source"]);
    let mut faults = Vec::new();
    if source.as_str().is_some_and(|source| !is_registry(source)) {
        faults.push(format!("{name} comes from {source}"));
    }
    let is_banned = |banned: &&Banned| banned.name == name && banned.wrappers.is_empty();
    for banned in rules.bans.deny.iter().filter(is_banned) {
        faults.push(format!("{name} is banned: {}", banned.reason));
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        if source.is_null() && text(dependency, "req") == "*" && dependency["path"].is_null() {
            faults.push(format!("{name} takes any version of {}", text(dependency, "name")));
        }
    }
    let exceptions = rules.licenses.exceptions.iter().filter(|exception| exception.name == name);
    let allowed: BTreeSet<&String> = rules
        .licenses
        .allow
        .iter()
        .chain(exceptions.flat_map(|exception| &exception.allow))
        .collect();
    let is_allowed = |required: &LicenseReq| allowed.contains(&required.to_string());
    match Expression::parse_mode(text(package, "license"), ParseMode::LAX) {
        Ok(license) if license.evaluate(is_allowed) => {}
        Ok(license) => faults.push(format!("{name} has the licence {license}")),
        Err(error) => faults.push(format!("{name} has no licence that can be read: {error}")),
    }
    faults
}

#[test]
fn all_dependencies_obey_the_rules() {
    let (rules, metadata) = (rules(), metadata());
    let packages = packages(&metadata);
    assert!(packages.len() > 300, "{} packages", packages.len());
    let sources: BTreeSet<&str> =
        packages.iter().filter_map(|package| package["source"].as_str()).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    let faults: Vec<String> = packages.iter().flat_map(|package| faults(&rules, package)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    for exception in &rules.licenses.exceptions {
        let is_used = packages.iter().any(|package| text(package, "name") == exception.name);
        assert!(is_used, "no crate needs the exception for {}", exception.name);
    }
}

#[test]
fn what_few_crates_may_use_is_used_by_these_alone() {
    let (rules, metadata) = (rules(), metadata());
    let wrapped: Vec<_> =
        rules.bans.deny.iter().filter(|banned| !banned.wrappers.is_empty()).collect();
    assert!(wrapped.iter().any(|banned| banned.name == "tokio"), "{wrapped:?}");
    for Banned { name, reason, wrappers } in wrapped {
        let wrappers: BTreeSet<&str> = wrappers.iter().map(String::as_str).collect();
        assert_eq!(dependents(&metadata, name), wrappers, "{name}: {reason}");
    }
}

#[test]
fn violations_of_the_rules_are_found() {
    let rules = rules();
    assert_eq!(rules.bans.wildcards, "deny");
    assert_eq!((&*rules.sources.unknown_registry, &*rules.sources.unknown_git), ("deny", "deny"));
    let good = serde_json::json!({
        "name": "good",
        "source": "registry+https://example.org/crates.io-index",
        "license": "MIT/Apache-2.0",
        "dependencies": []
    });
    let with = |field: &str, value: Value| {
        let mut package = good.clone();
        package[field] = value;
        faults(&rules, &package)
    };
    assert_eq!(faults(&rules, &good), [""; 0]);
    assert_eq!(with("license", "GPL-3.0-only OR MIT".into()), [""; 0]);
    for license in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "NCSA", "our own", ""] {
        assert_eq!(with("license", license.into()).len(), 1, "{license}");
    }
    assert_eq!(with("license", Value::Null).len(), 1);
    let (git, other) = ("git+https://example.org/good", "registry+https://example.org/index");
    for source in [git, other] {
        assert_eq!(with("source", source.into()).len(), 1, "{source}");
    }
    assert_eq!(with("name", "openssl".into()).len(), 1);
    let mut ours = good.clone();
    ours["source"] = Value::Null;
    ours["dependencies"] = serde_json::json!([{ "name": "any", "req": "*", "path": null }]);
    assert_eq!(faults(&rules, &ours).len(), 1);
    ours["dependencies"][0]["path"] = "../any".into();
    assert_eq!(faults(&rules, &ours), [""; 0]);
}
