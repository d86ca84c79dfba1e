//! The structure of the workspace matches `ARCHITECTURE.md`.
//!
//! This test reads the table under "Who may depend on whom": the crates, their order, every edge
//! between them, and which parts of the outside world each may touch.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADING: &str = "## Who may depend on whom";
const COLUMNS: [&str; 4] = ["crate", "depends on", "in tests also on", "touches"];

/// The only crates that may hold unsafe code: vector kernels, the global allocator, and what Python
/// hands over.
const UNSAFE_CRATES: [&str; 3] = ["heap", "python", "simd"];

/// Crates that only tests use.
const TEST_CRATES: [&str; 3] = ["fuzz", "test-databases", "testkit"];

/// Longest source file, in lines, without tests. The aim is about 400; this is the limit.
const FILE_MAX_LINES: usize = 600;

/// Largest crate, in lines of its `src` without tests.
const CRATE_MAX_LINES: usize = 6000;

/// Crates that are larger still, each with a limit that may only fall.
const LARGER_CRATES: [(&str, usize); 4] =
    [("cli", 6400), ("engine", 6150), ("link", 6100), ("simd", 7100)];

/// Crates of one module per protocol.
const CRATES_OF_PROTOCOLS: [&str; 5] =
    ["public-key-psi", "ot-psi", "circuit-psi", "set-operations", "server-aided"];

/// Modules of these crates that are not protocols: the list of them, and what circuits share.
const SHARED_BY_PROTOCOLS: [&str; 2] = ["lib", "computed"];

/// Longest `lib.rs`: a table of contents.
const CONTENTS_MAX_LINES: usize = 80;

/// The parts of the outside world, and the text in a source file that indicates their use. The
/// command itself may touch `everything`.
const WORLD: [(&str, &[&str]); 5] = [
    ("files", &["std::fs"]),
    ("sockets", &["std::net"]),
    ("environment", &["std::env"]),
    ("processes", &["std::process"]),
    ("clock", &["Instant::now", "SystemTime::now", "Timestamp::now"]),
];

/// One crate, from the document or from cargo.
#[derive(Debug, Default, PartialEq, Eq)]
struct Member {
    name: String,
    depends: BTreeSet<String>,
    in_tests: BTreeSet<String>,
    touches: BTreeSet<String>,
    directory: PathBuf,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace root")
}

/// The rows of the document's table.
fn documented() -> Vec<Member> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (_, section) = text.split_once(HEADING).expect("the heading of the table");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut lines = section.lines().filter(|line| line.starts_with('|')).map(cells);
    assert_eq!(lines.next().expect("a table"), COLUMNS, "the table's columns");
    assert!(lines.next().expect("a rule")[0].starts_with("---"));
    let set = |cell: &str| {
        let words = cell.split(',').map(|word| word.trim().trim_matches('`'));
        words.filter(|word| !word.is_empty() && *word != "–").map(String::from).collect()
    };
    lines
        .map(|cells| Member {
            name: cells[0].trim_matches('`').to_owned(),
            depends: set(&cells[1]),
            in_tests: set(&cells[2]),
            touches: set(&cells[3]),
            directory: PathBuf::new(),
        })
        .collect()
}

fn cells(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// The crates according to cargo.
fn built() -> Vec<Member> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages.iter().map(member).collect()
}

fn member(package: &Value) -> Member {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&package["name"]);
    let name = name.strip_prefix("vesica-").expect("crates are named vesica-…").to_owned();
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let mut member = Member {
        name,
        directory: manifest.parent().expect("a manifest has a directory").to_path_buf(),
        ..Member::default()
    };
    for dependency in package["dependencies"].as_array().expect("a list of dependencies") {
        let dependency_name = text(&dependency["name"]);
        let Some(to) = dependency_name.strip_prefix("vesica-") else { continue };
        let only_tests = dependency["kind"].as_str() == Some("dev");
        let edges = if only_tests { &mut member.in_tests } else { &mut member.depends };
        edges.insert(to.to_owned());
    }
    member
}

/// The source files of a crate with their text.
fn sources(member: &Member) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    walk(&member.directory.join("src"), &mut files);
    assert!(!files.is_empty(), "{} has no source", member.name);
    files
}

fn walk(directory: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).expect("a source directory") {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            files.push((path, text));
        }
    }
}

/// The text without the unit tests at its end.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

/// The text without its comments and without the unit tests at its end.
fn code(text: &str) -> String {
    let lines = without_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_test_file(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "tests")
        || path.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn every_edge_between_crates_is_in_the_table_and_no_other() {
    let documented = documented();
    let mut built = built();
    for member in &documented {
        let position = built.iter().position(|other| other.name == member.name);
        let Some(position) = position else { panic!("the table's {} is no crate", member.name) };
        let real = built.swap_remove(position);
        assert_eq!(real.depends, member.depends, "{}: what it depends on", member.name);
        assert_eq!(real.in_tests, member.in_tests, "{}: what its tests depend on", member.name);
    }
    let missing: Vec<_> = built.iter().map(|member| &member.name).collect();
    assert!(missing.is_empty(), "crates that are not in the table: {missing:?}");
}

#[test]
fn dependencies_point_downward_only() {
    let members = documented();
    for (level, member) in members.iter().enumerate() {
        let below: BTreeSet<_> =
            members[..level].iter().map(|member| member.name.clone()).collect();
        let upward: Vec<_> = member.depends.difference(&below).collect();
        assert!(upward.is_empty(), "{} depends on {upward:?}, which stands above it", member.name);
        let known = |name: &String| members.iter().any(|other| other.name == *name);
        assert!(member.in_tests.iter().all(known), "{}: {:?}", member.name, member.in_tests);
    }
}

#[test]
fn a_crate_touches_only_what_the_table_allows() {
    let documented = documented();
    for built in built() {
        let allowed =
            &documented.iter().find(|member| member.name == built.name).expect("a row").touches;
        if allowed.contains("everything") {
            continue;
        }
        let mut touched = BTreeSet::new();
        for (path, text) in sources(&built) {
            if is_test_file(&path) {
                continue;
            }
            let code = code(&text);
            for (word, signs) in WORLD {
                if signs.iter().any(|sign| code.contains(sign)) {
                    touched.insert(word.to_owned());
                    assert!(allowed.contains(word), "{} touches {word}", path.display());
                }
            }
        }
        assert_eq!(
            touched, *allowed,
            "{}: the table allows what the crate does not do",
            built.name
        );
    }
}

#[test]
fn modules_of_protocols_never_import_each_other() {
    let built = built();
    let mut protocols = BTreeSet::new();
    for name in CRATES_OF_PROTOCOLS {
        let member = built.iter().find(|member| member.name == name).expect("the crate");
        let files = sources(member);
        let module_of = |path: &Path| {
            let below = path.strip_prefix(member.directory.join("src")).expect("a source file");
            let first = below.components().next().expect("a name");
            Path::new(first.as_os_str()).file_stem().expect("a name").to_string_lossy().into_owned()
        };
        let modules: BTreeSet<String> = files
            .iter()
            .map(|(path, _)| module_of(path))
            .filter(|module| !SHARED_BY_PROTOCOLS.contains(&&**module))
            .collect();
        assert!(!modules.is_empty(), "{name} has no protocol");
        for (path, text) in &files {
            let own = module_of(path);
            if SHARED_BY_PROTOCOLS.contains(&&*own) {
                continue;
            }
            let code = code(text);
            let imported = imports_of_crate(&code);
            for other in modules.iter().filter(|other| **other != own) {
                assert!(!imported.contains(&**other), "{} imports {other}", path.display());
            }
        }
        protocols.extend(modules);
    }
    assert!(protocols.len() > 1, "{protocols:?}");
}

/// Protocols of one kind neither: only the catalogue knows all of them.
#[test]
fn crates_of_protocols_never_depend_on_each_other() {
    for member in documented() {
        if CRATES_OF_PROTOCOLS.contains(&&*member.name) {
            let others =
                CRATES_OF_PROTOCOLS.iter().filter(|other| member.depends.contains(**other));
            assert_eq!(others.count(), 0, "{} depends on another crate of protocols", member.name);
        }
    }
}

#[test]
fn a_crate_has_a_size_that_one_person_can_know() {
    for member in built() {
        let sources = sources(&member);
        let sources = sources.iter().filter(|(path, _)| !is_test_file(path));
        let lines: usize = sources.map(|(_, text)| without_tests(text).lines().count()).sum();
        let most = LARGER_CRATES.iter().find(|(name, _)| *name == member.name);
        let most = most.map_or(CRATE_MAX_LINES, |(_, most)| *most);
        assert!(lines <= most, "{} has {lines} lines", member.name);
    }
}

/// The first names after `crate::`, alone or in braces, and all other names in the braces.
fn imports_of_crate(code: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let after = code.split("crate::").skip(1);
    let names = after.flat_map(|rest| {
        let end = match rest.strip_prefix('{') {
            Some(group) => group.find(';').map_or(rest.len(), |end| end + 1),
            None => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
        };
        rest[..end].split(move |c| !is_part(c))
    });
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn imports_are_found_alone_and_in_groups() {
    let code = "use crate::one::Two;\nuse crate::{Three, four,\n    five::Six};\n\
                let x = crate::seven(eight);";
    let expected = ["Six", "Three", "five", "four", "one", "seven"];
    assert!(imports_of_crate(code).into_iter().eq(expected));
}

#[test]
fn unsafe_code_is_forbidden_in_all_crates_but_three() {
    for member in built() {
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| member.directory.join(root));
        let roots: Vec<_> = roots.iter().filter(|root| root.is_file()).collect();
        assert!(!roots.is_empty(), "{} has no crate root", member.name);
        for root in roots {
            let text = fs::read_to_string(root).expect("a crate root");
            let forbidden = text.contains("#![forbid(unsafe_code)]");
            assert_eq!(forbidden, !UNSAFE_CRATES.contains(&&*member.name), "{}", root.display());
        }
    }
}

/// A crate for tests alone may unwrap anywhere; in other crates tests may, and clippy refuses the
/// rest.
#[test]
fn nothing_is_unwrapped_outside_tests() {
    for member in built().into_iter().filter(|member| !TEST_CRATES.contains(&&*member.name)) {
        for root in ["src/lib.rs", "src/main.rs"].map(|root| member.directory.join(root)) {
            let Ok(text) = fs::read_to_string(&root) else { continue };
            let denied = text.contains("#![cfg_attr(not(test), deny(clippy::unwrap_used))]");
            assert!(denied, "{}", root.display());
        }
    }
}

/// Outside `may_fail` a failed allocation ends the program, even if the caller would handle the
/// failure.
#[test]
fn memory_that_may_be_missing_is_reserved_within_may_fail() {
    for member in built() {
        for (path, text) in sources(&member) {
            for line in code(&text).lines().filter(|line| line.contains("try_reserve")) {
                assert!(line.contains("may_fail("), "{}: {line}", path.display());
            }
        }
    }
}

/// The feature keeps scalars in memory. A crate that people build depends on no crate of tests.
#[test]
fn only_crates_of_tests_compute_repeated_group_operations_once() {
    for member in built() {
        let manifest = fs::read_to_string(member.directory.join("Cargo.toml")).unwrap();
        let enables = manifest.contains("\"repeated\"");
        assert_eq!(enables, member.name == "testkit", "{}", member.name);
        let is_of_tests = TEST_CRATES.contains(&&*member.name);
        let depends = member.depends.iter().any(|name| TEST_CRATES.contains(&&**name));
        assert!(is_of_tests || !depends, "{}", member.name);
    }
}

#[test]
fn every_library_names_its_modules() {
    for member in built() {
        let path = member.directory.join("src/lib.rs");
        let Ok(text) = fs::read_to_string(&path) else { continue };
        assert!(text.starts_with("//! "), "{} has no head", path.display());
        let head: Vec<_> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let head = head.join("\n");
        for module in text.lines().filter_map(|line| line.strip_prefix("pub mod ")) {
            // A module may be named by any of its re-exports.
            let module = module.trim_end_matches(';');
            let exports = text.split(&format!("pub use {module}::")).nth(1).unwrap_or_default();
            let exports = exports.split(';').next().unwrap_or_default();
            let words = exports.split(|c: char| !c.is_alphanumeric()).chain([module]);
            let named = words
                .filter(|word| !word.is_empty())
                .any(|word| head.contains(&format!("[`{word}`]")));
            assert!(named, "the head of {} does not name {module}", path.display());
        }
        let lines = text.lines().count();
        assert!(lines <= CONTENTS_MAX_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_file_can_be_read_in_one_sitting() {
    for member in built() {
        for (path, text) in sources(&member) {
            let lines = text.lines().count();
            let fits = lines <= FILE_MAX_LINES || is_test_file(&path);
            assert!(fits, "{} has {lines} lines", path.display());
        }
    }
}
