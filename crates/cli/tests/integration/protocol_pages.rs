//! The pages of the protocols, the heads of their modules, SECURITY.md and the pages on the wire
//! agree with the catalogue on every protocol.

use crate::docs::{page, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vesica_protocols::{Fact, Learners, Row, Security, TrustModel, catalogue, kmrs14};

/// The pages of the protocols, one for each paper or family, with their names.
fn protocol_pages() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("docs/protocols")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .map(|name| {
            let text = page(&format!("docs/protocols/{name}"));
            (name, text)
        })
        .collect()
}

/// Checks that one section of `pages` is on the row `id`, and that the head of its page links to
/// it.
#[track_caller]
fn check_section(pages: &[(String, String)], id: &str) {
    let heading = format!("\n## `{id}`\n");
    let with_it: Vec<&String> =
        pages.iter().map(|(_, page)| page).filter(|page| page.contains(&heading)).collect();
    let [page] = with_it[..] else { panic!("{} pages have a section {id}", with_it.len()) };
    assert_eq!(page.matches(&heading).count(), 1, "{id} has several sections");
    let head = page.split("\n## `").next().unwrap();
    assert!(head.contains(&format!("[`{id}`](#{id})")), "the head of its page lacks {id}");
}

#[test]
fn every_page_of_protocols_has_rows() {
    let rows: BTreeSet<&str> = Row::all().map(Row::id).collect();
    for (name, text) in protocol_pages() {
        let sections: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("## `")?.split('`').next()).collect();
        assert!(!sections.is_empty(), "{name} has no row");
        for id in sections {
            assert!(rows.contains(id), "{name} has a section without a row: {id}");
        }
        assert!(text.lines().count() >= 45, "{name} is too short for a page");
    }
}

/// The catalogue as `vesica protocols --json` prints it.
fn rows() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_vesica")).args(["protocols", "--json"]).output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap()
}

/// Every fact of a row, as a table.
fn table(row: &Value) -> String {
    let text = |field: &str| row[field].as_str().map(str::to_owned);
    let list = |field: &str| {
        let items = row[field].as_array()?.iter();
        Some(items.map(|item| item.as_str().unwrap()).collect::<Vec<_>>().join(", "))
    };
    let flights = row["flights"].as_u64().map(|flights| format!("{flights} for 2^16 items each"));
    let parties = row["parties"].as_array().map(|range| match &range[..] {
        [least, most] if least == most => most.to_string(),
        range => format!("{} to {}", range[0], range[1]),
    });
    let partitions = catalogue().iter().find(|known| row["id"] == *known.id);
    let partitions = partitions.map(|known| known.partitions.words().to_owned());
    let facts = [
        ("trust model", text("trust_model")),
        ("security", text("security")),
        ("security among parties", text("party_security")),
        ("assumption", text("assumption")),
        ("parties", parties),
        ("operations", list("operations")),
        ("receiver learns", text("receiver_learns")),
        ("sender learns", text("sender_learns")),
        ("party learns", text("party_learns")),
        ("helper learns", text("helper_learns")),
        ("flights", flights),
        ("payload bytes", text("bytes_formula")),
        ("partitions", partitions),
        ("source", text("source")),
    ];
    let mut table = "| | |\n|---|---|\n".to_owned();
    for (name, value) in facts {
        if let Some(value) = value {
            table += &format!("| {name} | {} |\n", value.replace('|', "\\|"));
        }
    }
    table += "\n| parameter | value | source |\n|---|---|---|\n";
    for parameter in row["parameters"].as_array().unwrap() {
        let [name, value, source] =
            ["name", "value", "source"].map(|field| parameter[field].as_str().unwrap());
        table += &format!("| {name} | {value} | {source} |\n");
    }
    table
}

const CATALOGUE_HEAD: &str = "\
# Catalogue

Every protocol with its facts and parameters, as `vesica protocols ID` prints them. A test compares
this page with the program. Why a parameter has its value is on
[the pages of the protocols](README.md#the-protocols).
";

/// With `VESICA_BLESS` set, it writes the page.
#[test]
fn the_page_of_the_catalogue_has_every_row() {
    let mut expected = CATALOGUE_HEAD.to_owned();
    for row in rows() {
        let [id, name] = ["id", "name"].map(|field| row[field].as_str().unwrap());
        expected += &format!("\n## `{id}`\n\n{name}\n\n{}", table(&row));
    }
    if std::env::var_os("VESICA_BLESS").is_some() {
        fs::write(root().join("docs/catalogue.md"), &expected).unwrap();
    }
    assert_eq!(page("docs/catalogue.md"), expected);
}

/// Every file below `folder` that `is_wanted`.
fn files(folder: &Path, is_wanted: fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, is_wanted));
        } else if is_wanted(&path) {
            found.push(path);
        }
    }
    found
}

/// The first lines of the table of a module's facts.
const TABLE: &str = "//! | | |\n//! |---|---|\n";

/// The first line of the facts where a module has only some rows of its catalogue: their ids
/// follow.
const ROWS: &str = "//! | rows | ";

/// A file whose head repeats facts of the catalogue.
struct Module {
    path: PathBuf,
    ids: Vec<String>,
    /// Whether the head names its rows: the catalogue has others, which other files repeat.
    names_rows: bool,
}

/// The modules of the protocols: of each catalogue the files below it that name their rows, and the
/// module itself with the rows that are left.
fn modules() -> Vec<Module> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let catalogues = crates
        .filter(|folder| folder.join("src").is_dir())
        .flat_map(|folder| files(&folder.join("src"), |path| path.ends_with("catalogue.rs")));
    let mut modules = Vec::new();
    for catalogue in catalogues {
        let text = fs::read_to_string(&catalogue).unwrap();
        let ids = text.split("\n    id: \"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let mut left: Vec<String> = ids.map(str::to_owned).collect();
        if left.is_empty() {
            continue;
        }
        let folder = catalogue.parent().unwrap();
        for path in files(folder, |path| path.extension().is_some_and(|end| end == "rs")) {
            let source = fs::read_to_string(&path).unwrap();
            let Some((_, rest)) = source.split_once(&format!("{TABLE}{ROWS}")) else { continue };
            let named: Vec<&str> =
                rest.lines().next().unwrap().split('`').skip(1).step_by(2).collect();
            let (ids, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|id| named.contains(&&**id));
            assert_eq!(ids, named, "{}: in the order of the catalogue, once", path.display());
            left = others;
            modules.push(Module { path, ids, names_rows: true });
        }
        if !left.is_empty() {
            let path = folder.with_extension("rs");
            modules.push(Module { path, ids: left, names_rows: false });
        }
    }
    modules
}

/// The facts of a row that the head of its module repeats.
fn facts_of_head(row: &Value) -> Vec<(&'static str, String)> {
    let text = |field: &str| row[field].as_str().unwrap().to_owned();
    let mut facts = vec![("security", text("security")), ("assumption", text("assumption"))];
    if row["flights"].is_null() {
        facts.insert(1, ("security among parties", text("party_security")));
        facts.push(("party learns", text("party_learns")));
        facts.push(("helper learns", text("helper_learns")));
        return facts;
    }
    let operations: Vec<&str> =
        row["operations"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    // What the sender gets if both learn; in other rows the facts include it.
    let learns_alone = catalogue()
        .iter()
        .any(|known| row["id"] == *known.id && known.learners == Learners::ReceiverAlone);
    let result = match operations[..] {
        _ if learns_alone => String::new(),
        ["intersection"] => {
            format!("; when both learn, also {}", Fact::CommonItems.words("the receiver"))
        }
        ["union" | "private-id" | "shares" | "shared-values"] => String::new(),
        _ => "; when both learn, also the answer".to_owned(),
    };
    facts.push(("receiver learns", text("receiver_learns")));
    facts.push(("sender learns", text("sender_learns") + &result));
    facts.push(("flights", row["flights"].to_string()));
    facts
}

/// The lines in the head of a module with `rows`: one for a fact, or one for each of its values.
fn lines_of_head(rows: &[&Value]) -> String {
    let facts: Vec<_> = rows.iter().map(|row| facts_of_head(row)).collect();
    let mut lines = String::new();
    for (position, (name, _)) in facts[0].iter().enumerate() {
        // The values in the order of the rows, each with its rows.
        let mut values: Vec<(&str, Vec<String>)> = Vec::new();
        for (row, facts) in rows.iter().zip(&facts) {
            let (value, id) = (&*facts[position].1, format!("`{}`", row["id"].as_str().unwrap()));
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, ids)) => ids.push(id),
                None => values.push((value, vec![id])),
            }
        }
        if *name == "flights" {
            let each = values
                .iter()
                .map(|(value, ids)| match values.len() {
                    1 => (*value).to_owned(),
                    _ => format!("{value} ({})", ids.join(", ")),
                })
                .collect::<Vec<_>>()
                .join(", ");
            lines += &format!("//! | flights | {each}, for 2^16 items each |\n");
            continue;
        }
        for (value, ids) in &values {
            let of =
                if values.len() == 1 { String::new() } else { format!(", {}", ids.join(", ")) };
            lines += &format!("//! | {name}{of} | {value} |\n");
        }
    }
    lines
}

/// With `VESICA_BLESS` set, it writes the facts into the heads.
#[test]
fn the_head_of_every_module_says_what_its_rows_do() {
    let rows = rows();
    let mut left: BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    for Module { path, ids, names_rows } in modules() {
        let of = |id: &String| {
            assert!(left.remove(&**id), "{id} is not in the catalogue, or in it twice");
            rows.iter().find(|row| row["id"] == **id).unwrap()
        };
        let mut expected = lines_of_head(&ids.iter().map(of).collect::<Vec<_>>());
        if names_rows {
            let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
            expected.insert_str(0, &format!("{ROWS}{} |\n", ids.join(", ")));
        }
        let source = fs::read_to_string(&path).unwrap();
        let (before, rest) = source.split_once(TABLE).expect("a table in the head");
        let is_fact = |line: &&str| {
            let name = line.trim_start_matches("//! | ").split([',', '|']).next().unwrap().trim();
            let known = expected.lines().map(|line| line.trim_start_matches("//! | "));
            known.map(|line| line.split([',', '|']).next().unwrap().trim()).any(|it| it == name)
        };
        let lines: Vec<&str> = rest.split_inclusive('\n').take_while(is_fact).collect();
        let found = lines.concat();
        if std::env::var_os("VESICA_BLESS").is_some() {
            let blessed = format!("{before}{TABLE}{expected}{}", &rest[found.len()..]);
            fs::write(&path, blessed).unwrap();
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
        // A fact repeated below the table could contradict it.
        let table = rest[found.len()..].lines().take_while(|line| line.starts_with("//! |"));
        for line in table {
            assert!(!is_fact(&line), "{}: {line}", path.display());
        }
    }
    assert!(left.is_empty(), "no module has the rows {left:?}");
}

#[test]
fn every_protocol_has_its_section_and_its_links() {
    let pages = protocol_pages();
    for row in Row::all() {
        check_section(&pages, row.id());
        let more: &[&str] = match row.trust_model() {
            TrustModel::TwoParties => &["docs/wire/session.md"],
            TrustModel::Helper => &["docs/wire/helper.md", "docs/server-aided.md"],
        };
        for name in ["SECURITY.md"].iter().chain(more).copied() {
            assert!(page(name).contains(&format!("[`{}`]", row.id())), "{name} lacks {}", row.id());
        }
    }
}

/// `[text](target)` is `text`.
fn without_links(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, linked)) = rest.split_once('[') {
        let (shown, target) = linked.split_once("](").expect("a link");
        text += before;
        text += shown;
        rest = target.split_once(')').expect("a link").1;
    }
    text + rest
}

#[test]
fn the_assumption_of_every_protocol_is_that_of_the_catalogue() {
    let security = page("SECURITY.md");
    let (_, table) = security.split_once("| protocol | against whom | assumption |\n").unwrap();
    let mut known = BTreeMap::new();
    for line in table.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let line = without_links(line.trim_matches(|c| c == '|' || c == ' '));
        let [ids, against, assumption] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        for id in ids.split(", ") {
            let stated = (against.to_owned(), assumption.to_owned());
            assert!(known.insert(id.trim_matches('`').to_owned(), stated).is_none(), "{id} twice");
        }
    }
    for row in catalogue() {
        let (against, assumption) = known.remove(row.id).unwrap_or_else(|| panic!("no {}", row.id));
        assert_eq!(assumption, row.assumption, "{}", row.id);
        let words = match row.security {
            Security::Malicious => "malicious parties",
            Security::OneSided => "malicious parties, but for the result that the sender causes",
            Security::SemiHonest => "semi-honest parties",
            Security::Insecure => "**no one**",
        };
        assert_eq!(against, words, "{}", row.id);
    }
    assert!(known.is_empty(), "not in the catalogue: {known:?}");
}

#[test]
fn security_md_agrees_with_the_catalogue_on_every_helper() {
    let security = page("SECURITY.md");
    let head = "| protocol | against the helper | against parties, by a helper that follows the \
                protocol | the helper learns |\n";
    let (_, table) = security.split_once(head).unwrap();
    let lines = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let stated: Vec<Vec<String>> = lines
        .map(|line| without_links(line.trim_matches(|c| c == '|' || c == ' ')))
        .map(|line| line.split(" | ").map(str::to_owned).collect())
        .collect();
    let expected: Vec<Vec<String>> = kmrs14::aided()
        .map(|row| {
            let helper = match row.helper_security {
                Security::Malicious => "malicious, or covert".to_owned(),
                security => security.to_string(),
            };
            let (parties, learns) =
                (row.party_security, row.helper_learns.words(kmrs14::Noun::Items));
            vec![format!("`{}`", row.id), helper, parties.to_owned(), learns]
        })
        .collect();
    assert_eq!(stated, expected);
}
