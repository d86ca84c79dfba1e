//! The documents are true: command lines parse, links lead somewhere, and every protocol, profile,
//! field of the agreement and field of the report has its place.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_helper::{Settings, SettingsFault};
use vesica_link::Identity;
use vesica_records::{Normalised, Profile};
use vesica_strict_toml::TableFault;

const VESICA: &str = env!("CARGO_BIN_EXE_vesica");

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All documents, by their path from the root.
fn documents() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for directory in ["", "docs", "docs/protocols", "docs/security", "docs/wire"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    assert!(files.len() >= 11, "{} documents", files.len());
    files
}

/// The contents of the fenced blocks of `text` in the language `language`.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let bodies = text.split(&fence).skip(1);
    bodies.map(|body| body.split("\n```").next().unwrap()).collect()
}

/// The words of a command line; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (' ', None) => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(c),
        }
    }
    assert!(quote.is_none(), "an open quote in {line}");
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn vesica(arguments: &[&str], directory: &Path) -> Output {
    Command::new(VESICA)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn every_command_line_in_the_documents_parses() {
    let directory = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for (path, text) in documents() {
        for block in blocks(&text, "console") {
            for line in block.lines().filter_map(|line| line.strip_prefix("$ vesica ")) {
                let mut words = words(line);
                // `--help` parses the words before it and runs nothing.
                words.push("--help".to_owned());
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let output = vesica(&words, directory.path());
                let complaint = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: {line}\n{complaint}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 15, "{seen} command lines");
    assert!(fs::read_dir(directory.path()).unwrap().next().is_none(), "a command was run");
}

/// Commands that need neither a file of the reader nor another party.
#[test]
fn every_command_in_the_documents_that_needs_nothing_else_succeeds() {
    const ALONE: [&str; 3] = ["keygen ", "agree new ", "protocols"];
    let mut seen = 0;
    for (path, text) in documents() {
        for block in blocks(&text, "console") {
            let directory = tempfile::tempdir().unwrap();
            let lines = block.lines().filter_map(|line| line.strip_prefix("$ vesica "));
            for line in lines.filter(|line| ALONE.iter().any(|start| line.starts_with(start))) {
                let words = words(line);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let output = vesica(&words, directory.path());
                let complaint = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: {line}\n{complaint}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 12, "{seen} commands");
}

/// The package is on no public index: installing it by name would get a stranger's package.
#[test]
fn no_document_installs_the_package_by_its_name_alone() {
    for (path, text) in documents() {
        for line in text.lines() {
            let install = ["pip install", "uv add", "cargo install"].map(|it| line.find(it));
            let Some(at) = install.into_iter().flatten().min() else { continue };
            let bare = line[at..]
                .split([' ', '\'', '"', '`'])
                .any(|word| word.split(['[', '=']).next() == Some("vesica"));
            let is_bare = bare && !line[at..].contains(" @ file:");
            assert!(!is_bare, "{}: {line}", path.display());
        }
    }
}

#[test]
fn a_wrong_command_line_would_be_noticed() {
    let directory = tempfile::tempdir().unwrap();
    for line in ["run a.toml --no-such-option --help", "no-such-command --help"] {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(!vesica(&words, directory.path()).status.success(), "{line}");
    }
}

#[test]
fn every_target_in_the_documents_is_in_the_makefile() {
    let makefile = page("Makefile");
    for (path, text) in documents() {
        for block in blocks(&text, "console") {
            for target in block.lines().filter_map(|line| line.strip_prefix("$ make ")) {
                let known = makefile.contains(&format!("\n{target}:"));
                assert!(known, "{}: make {target}", path.display());
            }
        }
    }
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let anchors: BTreeMap<PathBuf, BTreeSet<String>> = documents()
        .iter()
        .map(|(path, text)| (path.canonicalize().unwrap(), anchors(text)))
        .collect();
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            if target.starts_with("https://") {
                continue;
            }
            let target = match target {
                "" => path.clone(),
                target => path.parent().unwrap().join(target),
            };
            let target = target.canonicalize();
            let target = target.unwrap_or_else(|_| panic!("{} links to {link}", path.display()));
            let is_heading = anchors.get(&target).is_none_or(|there| there.contains(anchor));
            assert!(anchor.is_empty() || is_heading, "{} links to {link}", path.display());
        }
    }
}

/// The anchors of the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let headings = text.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        !is_code && line.starts_with('#')
    });
    let mut anchors = BTreeSet::new();
    for heading in headings {
        // Only the text of a link.
        let mut words = String::new();
        for piece in heading.trim_start_matches('#').trim().split("](") {
            let visible = if words.is_empty() {
                piece
            } else {
                piece.split_once(')').map_or("", |(_, rest)| rest)
            };
            words += visible;
        }
        let is_kept = |c: &char| c.is_alphanumeric() || "_- ".contains(*c);
        let anchor = words.to_lowercase().chars().filter(is_kept).collect::<String>();
        let anchor = anchor.replace(' ', "-");
        let repeated = (1..).map(|number| format!("{anchor}-{number}"));
        let anchor = std::iter::once(anchor.clone()).chain(repeated);
        anchors.insert(anchor.into_iter().find(|anchor| !anchors.contains(anchor)).unwrap());
    }
    anchors
}

#[test]
fn every_profile_has_its_section() {
    let text = page("docs/profiles.md");
    for row in Profile::catalogue() {
        assert!(text.contains(&format!("\n## `{}`\n", row.name)), "{}", row.name);
    }
    let sections = text.lines().filter(|line| line.starts_with("## `")).count();
    assert_eq!(sections, Profile::catalogue().len(), "a section without a profile");
}

#[test]
fn the_examples_on_the_page_of_profiles_are_correct() {
    let text = page("docs/profiles.md");
    let cases = [
        ("lower", "STRASSE", Some("strasse")),
        ("email", "ann@München.example", Some("ann@xn--mnchen-3ya.example")),
        ("email", "a.b+tag@gmail.com", Some("a.b+tag@gmail.com")),
        ("email", "Ann Lee <ann@example.org>", None),
        ("email:google", "A.B+tag@googlemail.com", Some("ab@gmail.com")),
        ("date", "2024/2/1", Some("2024-02-01")),
        ("date", "20240201", Some("2024-02-01")),
        ("date", "1 Feb 2024", Some("2024-02-01")),
        ("date", "Feb 1, 2024", Some("2024-02-01")),
        ("date", "13/02/2024", Some("2024-02-13")),
        ("date", "5.5.2024", Some("2024-05-05")),
        ("date", "03/04/2024", None),
        ("date:dmy", "03/04/2024", Some("2024-04-03")),
        ("date:mdy", "03/04/2024", Some("2024-03-04")),
        ("digits", "12.5", None),
        ("digits", "12345.0", None),
        ("person-name", "Søren Ångström", Some("soren angstrom")),
        ("person-name", "d' Angelo", Some("dangelo")),
        ("person-name", "de la Cruz", Some("delacruz")),
        ("person-name", "Prof. Dr. Ann Lee", Some("ann lee")),
        ("person-name", "O Brien", Some("o brien")),
        ("person-name", "Ann & Bob Lee", None),
        ("person-name:de", "Jönköping", Some("joenkoeping")),
        ("postcode:GB", "sw1a1aa", Some("SW1A 1AA")),
        ("postcode:DE", "D-10115", Some("10115")),
        ("postcode:DE", "1067", None),
        ("postcode:US", "02134-1000", Some("02134")),
        ("postcode:NL", "1012ab", Some("1012 AB")),
        ("postcode:CA", "k1a0b1", Some("K1A 0B1")),
        ("postcode:PL", "00950", Some("00-950")),
        ("ssn-us", "536-90-4399", Some("536904399")),
        ("ssn-us", "078-05-1120", None),
        ("nhs", "943 476 5919", Some("9434765919")),
        ("vat-eu", "DE 136 695 976", Some("DE136695976")),
        ("iban", "IBAN: DE89 3704 0044 0532 0130 00", Some("DE89370400440532013000")),
        ("lei", "5493 001K JTII GC8Y 1R12", Some("5493001KJTIIGC8Y1R12")),
        ("url-host", "https://www.Example.org:8080/path?x", Some("example.org")),
        ("url-host", "shop.example.org", Some("shop.example.org")),
    ];
    for (profile, value, expected) in cases {
        assert!(text.contains(value), "the page does not speak of {value}");
        assert_eq!(normalise(profile, value).as_deref(), expected, "{profile} {value}");
    }
    let numbers = ["020 7946 0018", "+44 20 7946 0018", "0044 (20) 7946-0018"];
    for number in numbers {
        assert!(text.contains(number), "the page does not speak of {number}");
        assert_eq!(normalise("phone:GB", number).as_deref(), Some("+442079460018"), "{number}");
    }
}

fn normalise(profile: &str, value: &str) -> Option<String> {
    let profile: Profile = profile.parse().unwrap();
    let mut out = Vec::new();
    let taken = matches!(profile.normalise(value, &mut out), Ok(Normalised::Value));
    taken.then(|| String::from_utf8(out).unwrap())
}

/// A block with a version is an agreement; the settings of a helper have no version.
#[test]
fn every_agreement_and_all_settings_in_the_documents_are_such() {
    let (mut agreements, mut settings) = (0, 0);
    for (path, text) in documents() {
        for block in blocks(&text, "toml") {
            let mut block = block.to_owned();
            while block.contains("vesica1…") {
                block = block.replacen("vesica1…", &new_identity(), 1);
            }
            if block.lines().any(|line| line.starts_with("version = ")) {
                let parsed = Agreement::parse(&block);
                assert!(parsed.is_ok(), "{}: {:?}", path.display(), parsed.err());
                agreements += 1;
            } else {
                let parsed = Settings::parse(&block);
                assert!(parsed.is_ok(), "{}: {:?}", path.display(), parsed.err());
                settings += 1;
            }
        }
    }
    assert!(agreements >= 2 && settings >= 2, "{agreements} {settings}");
}

/// No field takes a list, so a list is refused for its type if the field is known.
#[test]
fn every_setting_of_the_helper_that_is_documented_is_one() {
    let text = page("docs/helper.md");
    let section = text.split("\n## Settings\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let (helper, party) = section.split_once("One `[party.NAME]`").unwrap();
    let fields = |text: &str| -> Vec<String> {
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        rows.map(str::to_owned).collect()
    };
    let (helper, party) = (fields(helper), fields(party));
    assert!(helper.len() >= 9 && party.len() >= 5, "{helper:?} {party:?}");
    let identity = new_identity();
    let of_helper = helper.iter().map(|field| format!("[helper]\n{field} = []\n"));
    let of_party = party.iter().map(|field| match field.as_str() {
        "identity" => "[party.a]\nidentity = []\n".to_owned(),
        _ => format!("[party.a]\nidentity = \"{identity}\"\n{field} = []\n"),
    });
    for text in of_helper.chain(of_party) {
        let error = Settings::parse(&text).unwrap_err();
        assert!(
            matches!(&*error.fault, SettingsFault::Table(TableFault::WrongType { .. })),
            "{text}{error}"
        );
    }
}

#[test]
fn every_field_of_the_agreement_is_documented() {
    let text = page("docs/guide.md");
    let agreement = Agreement::parse(&agreement(&new_identity(), &new_identity())).unwrap();
    let canonical = agreement.canonical();
    let fields: BTreeSet<&str> =
        canonical.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
    assert!(fields.len() >= 14, "{fields:?}");
    let aided = Agreement::parse(&aided_agreement(&[(); 4].map(|()| new_identity()))).unwrap();
    let aided = aided.canonical();
    let aided = aided.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let both: BTreeSet<&str> = fields.into_iter().chain(aided).collect();
    assert!(both.contains("copies") && both.contains("dummies"), "{both:?}");
    for field in both {
        assert!(text.contains(&format!("\n| `{field}` |")), "the guide lacks the field {field}");
    }
}

fn new_identity() -> String {
    Identity::generate().unwrap().public().to_string()
}

fn agreement(grocer: &str, airline: &str) -> String {
    format!(
        r#"version = 2
title = "Test of the documents"
operation = "intersection"
receives = "grocer"
security = "semi-honest"

[[key]]
name = "email"
profile = "email"

[[key]]
name = "id"
profile = "trim"

[party.grocer]
identity = "{grocer}"
max_rows = 10

[party.airline]
identity = "{airline}"
max_rows = 10
"#
    )
}

/// An agreement of a helper and three parties, the last of which does not receive the result.
fn aided_agreement([helper, north, south, island]: &[String; 4]) -> String {
    format!(
        r#"version = 2
title = "Test of the documents"
operation = "intersection"
receives = ["north", "south"]
security = "semi-honest"

[helper]
identity = "{helper}"

[[key]]
name = "email"
profile = "email"

[party.north]
identity = "{north}"
max_rows = 10

[party.south]
identity = "{south}"
max_rows = 10

[party.island]
identity = "{island}"
max_rows = 10
"#
    )
}

#[test]
fn every_field_of_the_report_is_documented_and_no_other() {
    let (aided, metrics) = aided_reports();
    let reports = reports().into_iter().chain(aided);
    let mut real = BTreeSet::new();
    for report in reports {
        collect("", &report, &mut real);
    }
    // The field is null without a helper, and has subfields with one.
    assert!(real.remove("helper") && real.contains("helper.name"), "{real:?}");
    assert_documented(&real, &page("docs/report.md"));
    check_metrics(&metrics);
}

fn check_metrics(metrics: &str) {
    let text = page("docs/helper.md");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `vesica_helper_"));
    let documented: BTreeSet<&str> = cells.filter_map(|cell| cell.split('`').next()).collect();
    let families = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE vesica_helper_"));
    let real: Vec<String> = families
        .map(|line| match line.split_once(' ').unwrap() {
            (name, "counter") => format!("{name}_total"),
            (name, "info") => format!("{name}_info"),
            (name, _) => name.to_owned(),
        })
        .collect();
    assert!(real.len() >= 9, "{metrics}");
    // The counter of refusals has no line before the first refusal.
    let real: BTreeSet<&str> = real.iter().map(String::as_str).chain(["refusals_total"]).collect();
    assert_eq!(real, documented);
}

fn assert_documented(real: &BTreeSet<String>, text: &str) {
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let documented: BTreeSet<String> = cells
        .flat_map(|cell| cell.split(", "))
        .map(|name| name.trim_matches('`').to_owned())
        .collect();
    let missing: Vec<_> = real.difference(&documented).collect();
    assert!(missing.is_empty(), "docs/report.md lacks {missing:?}");
    let stale: Vec<_> = documented.difference(real).collect();
    assert!(stale.is_empty(), "no report has {stale:?}");
}

/// The paths of all values; the elements of a list share theirs.
fn collect(path: &str, value: &Value, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                collect(&format!("{path}{dot}{name}"), value, paths);
            }
        }
        Value::Array(list) if list.is_empty() => {}
        Value::Array(list) => list.iter().for_each(|value| collect(path, value, paths)),
        _ => {
            paths.insert(path.to_owned());
        }
    }
}

/// The reports of both sides of a run.
fn reports() -> [Value; 2] {
    let directory = tempfile::tempdir().unwrap();
    let identity = |name: &str| {
        let identity = Identity::generate().unwrap();
        identity.save(directory.path().join(name)).unwrap();
        identity.public().to_string()
    };
    let text = agreement(&identity("grocer.key"), &identity("airline.key"));
    let rule = "[[rule]]\nname = \"both\"\ncolumns = [\"email\", \"id\"]\n\n[party.grocer]";
    let text = text.replace("max_rows = 10", "max_rows = 100").replace("[party.grocer]", rule);
    fs::write(directory.path().join("agreement.toml"), text).unwrap();
    fs::write(directory.path().join("c.csv"), "email,id\na@b.example,17.0\nnot an address,1.0\n")
        .unwrap();
    let placeholders = "none@b.example,17.0\n".repeat(21);
    let members = format!("email,id\nA@B.example,17.0\n,\nb@b.example,2\n{placeholders}");
    fs::write(directory.path().join("m.csv"), members).unwrap();

    let address = free_address();
    let run = |name: &str, arguments: &[&str]| {
        Command::new(VESICA)
            .args(["run", "agreement.toml", "--wait", "30s", "--quiet"])
            .args(["--key", &format!("{name}.key"), "--report", &format!("{name}.json")])
            .args(arguments)
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let grocer = run("grocer", &["--input", "c.csv", "--output", "out.csv", "--listen", &address]);
    let airline = run("airline", &["--input", "m.csv", "--connect", &address]);
    for child in [grocer, airline] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let result = fs::read_to_string(directory.path().join("out.csv")).unwrap();
    assert_eq!(result, "email,id\na@b.example,17.0\n");
    ["grocer", "airline"].map(|name| {
        let bytes = fs::read(directory.path().join(format!("{name}.json"))).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    })
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// A helper that ends with the test.
struct Helper(Child);

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The reports of three parties of a run with a helper, and the helper's metrics after it.
fn aided_reports() -> ([Value; 3], String) {
    const NAMES: [&str; 4] = ["helper", "north", "south", "island"];
    let directory = tempfile::tempdir().unwrap();
    let identities = NAMES.map(|name| {
        let identity = Identity::generate().unwrap();
        identity.save(directory.path().join(format!("{name}.key"))).unwrap();
        identity.public().to_string()
    });
    let parties = NAMES.iter().zip(&identities).skip(1);
    let settings: String = parties
        .map(|(name, identity)| format!("[party.{name}]\nidentity = \"{identity}\"\n"))
        .collect();
    let file = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    file("helper.toml", &settings);
    file("agreement.toml", &aided_agreement(&identities));
    file("north.csv", "email\na@b.example\nnot an address\n");
    file("south.csv", "email\nA@B.example\n\nb@b.example\n");
    file("island.csv", "email\nc@b.example\na@b.example\n");

    let (address, metrics) = (free_address(), free_address());
    let command = |arguments: &[&str]| {
        let mut command = Command::new(VESICA);
        command.args(arguments).current_dir(directory.path()).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let arguments = ["helper", "--key", "helper.key", "--config", "helper.toml", "--quiet"];
    let places = ["--listen", &address, "--metrics", &metrics, "--state", "helper"];
    let _helper = Helper(command(&arguments).args(places).stderr(Stdio::null()).spawn().unwrap());
    let started = Instant::now();
    while !get(&metrics, "/readyz").is_some_and(|page| page.starts_with("HTTP/1.1 200")) {
        assert!(started.elapsed() < Duration::from_secs(30), "the helper is not there");
        std::thread::sleep(Duration::from_millis(20));
    }
    let runs = ["north", "south", "island"].map(|name| {
        let [key, input, report] = ["key", "csv", "json"].map(|end| format!("{name}.{end}"));
        let mut run = command(&["run", "agreement.toml", "--connect", &address, "--wait", "60s"]);
        run.args(["--key", &key, "--input", &input, "--report", &report]);
        if name != "island" {
            run.args(["--output", &format!("{name}-out.csv")]);
        }
        run.spawn().unwrap()
    });
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let result = fs::read_to_string(directory.path().join("south-out.csv")).unwrap();
    assert_eq!(result, "email\nA@B.example\n");
    let reports = ["north", "south", "island"].map(|name| {
        let bytes = fs::read(directory.path().join(format!("{name}.json"))).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    });
    (reports, get(&metrics, "/metrics").unwrap())
}

/// A page over HTTP, with its headers; `None` while no server answers.
fn get(address: &str, path: &str) -> Option<String> {
    let mut socket = TcpStream::connect(address).ok()?;
    write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
    let mut page = String::new();
    socket.read_to_string(&mut page).ok()?;
    Some(page)
}
