//! The pages of the protocols, SECURITY.md and the wire say of every protocol what the catalogue does.

use crate::docs::{page, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use vesica_protocols::{Row, Security, TrustModel, catalogue, kmrs14};

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

/// Checks that one section of `pages` is on the row `id`, and that the head of its page links to it.
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
        let sections = text.lines().filter_map(|line| line.strip_prefix("## `")?.split('`').next());
        let sections: Vec<&str> = sections.collect();
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

/// Every fact of a row that its section repeats, as a table.
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

/// With `VESICA_BLESS` set, it writes the rows into the pages.
#[test]
fn every_section_ends_with_the_row_of_the_catalogue() {
    let rows = rows();
    for (name, mut page) in protocol_pages() {
        for row in &rows {
            let id = row["id"].as_str().unwrap();
            let Some(start) = page.find(&format!("\n## `{id}`\n")) else { continue };
            let end = page[start + 1..].find("\n## ").map_or(page.len(), |end| start + 1 + end);
            let expected = format!("\n### The row of `{id}` in the catalogue\n\n{}", table(row));
            let section = &page[start..end];
            let found = section.find("\n### The row of `").map_or("", |at| &section[at..]);
            if std::env::var_os("VESICA_BLESS").is_some() {
                let from = end - found.len();
                page.replace_range(from..end, &expected);
                fs::write(root().join("docs/protocols").join(&name), &page).unwrap();
            } else {
                assert_eq!(found, expected, "{name}, {id}");
            }
        }
    }
}

#[test]
fn every_protocol_has_its_section_and_its_links() {
    let pages = protocol_pages();
    for row in Row::all() {
        check_section(&pages, row.id());
        let more = match row.trust_model() {
            TrustModel::TwoParties => None,
            TrustModel::Helper => Some("docs/server-aided.md"),
        };
        for name in ["SECURITY.md", "docs/wire.md"].into_iter().chain(more) {
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
            let said = (against.to_owned(), assumption.to_owned());
            assert!(known.insert(id.trim_matches('`').to_owned(), said).is_none(), "{id} twice");
        }
    }
    for row in catalogue() {
        let (against, assumption) = known.remove(row.id).unwrap_or_else(|| panic!("no {}", row.id));
        assert_eq!(assumption, row.assumption, "{}", row.id);
        let words = match row.security {
            Security::Malicious => "malicious parties",
            Security::SemiHonest => "semi-honest parties",
            Security::Insecure => "**nobody**",
        };
        assert!(against.starts_with(words), "{}: {against}", row.id);
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
    let said: Vec<Vec<String>> = lines
        .map(|line| without_links(line.trim_matches(|c| c == '|' || c == ' ')))
        .map(|line| line.split(" | ").map(str::to_owned).collect())
        .collect();
    let expected: Vec<Vec<String>> = kmrs14::aided()
        .map(|row| {
            let helper = match row.helper_security {
                Security::Malicious => "malicious, or covert".to_owned(),
                security => security.to_string(),
            };
            let (parties, learns) = (row.party_security, row.helper_learns);
            vec![format!("`{}`", row.id), helper, parties.to_owned(), learns.to_owned()]
        })
        .collect();
    assert_eq!(said, expected);
}
