//! The pages of the protocols, SECURITY.md and the wire say of every protocol what the catalogue does.

use crate::docs::{page, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use vesica_protocols::{Security, catalogue, kmrs14};

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

/// What the documents say of one row of the catalogue.
struct RowText<'a> {
    /// The page of its family.
    page: &'a str,
    /// The part of the page before its first row, which holds for all of them.
    head: &'a str,
    /// The section of the row, without its heading.
    section: &'a str,
}

impl RowText<'_> {
    fn says(&self, words: &str) -> bool {
        self.section.contains(words) || self.head.contains(words)
    }
}

/// The only section of `pages` on the row `id`, to which the head of its page must link.
#[track_caller]
fn row_text<'a>(pages: &'a [(String, String)], id: &str) -> RowText<'a> {
    let heading = format!("\n## `{id}`\n");
    let mut found = Vec::new();
    for (_, page) in pages {
        let head = page.split("\n## `").next().unwrap();
        for (at, _) in page.match_indices(&heading) {
            let section = page[at + heading.len()..].split("\n## ").next().unwrap();
            found.push(RowText { page, head, section });
        }
    }
    assert_eq!(found.len(), 1, "{id} has {} sections", found.len());
    let text = found.remove(0);
    assert!(text.head.contains(&format!("[`{id}`](#{id})")), "the head of its page lacks {id}");
    text
}

#[test]
fn every_page_of_protocols_has_rows() {
    let rows = catalogue().iter().map(|row| row.id).chain(kmrs14::aided().map(|row| row.id));
    let rows: BTreeSet<&str> = rows.collect();
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

#[test]
fn every_protocol_has_its_page() {
    let (security, wire) = (page("SECURITY.md"), page("docs/wire.md"));
    let pages = protocol_pages();
    for row in catalogue() {
        let text = row_text(&pages, row.id);
        let bytes = row.bytes_formula.split("; ").next().unwrap();
        for words in [bytes, row.security.name()] {
            assert!(text.section.contains(words), "the section {} lacks: {words}", row.id);
        }
        let learns = row.sender_learns;
        assert!(text.says(learns), "the page of {} does not say: {learns}", row.id);
        for (name, text) in [("SECURITY.md", &security), ("docs/wire.md", &wire)] {
            assert!(text.contains(&format!("[`{}`]", row.id)), "{name} lacks {}", row.id);
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
fn every_protocol_with_a_helper_has_its_page() {
    let others = ["SECURITY.md", "docs/wire.md", "docs/server-aided.md"];
    let pages = protocol_pages();
    for row in kmrs14::aided() {
        let text = row_text(&pages, row.id);
        let bytes = row.bytes_formula.split("; ").next().unwrap();
        for words in [bytes, row.helper_security.name(), row.helper_learns, row.party_learns] {
            assert!(text.section.contains(words), "the section {} lacks: {words}", row.id);
        }
        assert!(text.says(row.assumption), "the page of {} lacks its assumption", row.id);
        let elsewhere =
            ["(#parameters-of-server_aided)", "(#parameters-of-server_aided_malicious)"];
        for parameter in row.parameters {
            let cell = format!("| {} |", parameter.name);
            let linked = elsewhere.iter().any(|link| text.section.contains(link));
            let known = text.says(&cell) || (linked && text.page.contains(&cell));
            assert!(known, "the page of {} lacks the parameter {}", row.id, parameter.name);
        }
        for name in others {
            let link = format!("[`{}`]", row.id);
            assert!(page(name).contains(&link), "{name} lacks {}", row.id);
        }
    }
}
