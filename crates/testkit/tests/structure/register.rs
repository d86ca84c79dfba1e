//! Turns of phrase that comments, messages, documents and docstrings do not use, because they are a
//! translation, or leave open who does what. CONTRIBUTING.md says what to write.

use crate::literals::literal_end;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Phrases, each with how often it occurs: in labels of hashes, data of tests, names of files and
/// states, names in Python, and right uses. The numbers may only fall.
const PHRASES: [(&str, usize); 33] = [
    ("anew", 1),
    ("apart", 7),
    ("are over", 1),
    ("begun", 5),
    ("beside", 0),
    ("comes to a result", 0),
    ("elsewhere", 19),
    ("for good", 0),
    ("gave up", 0),
    ("give up", 1),
    ("given up", 0),
    ("gives up", 0),
    ("go on", 0),
    ("goes on", 0),
    ("has heard", 0),
    ("has said", 1),
    ("in vain", 0),
    ("is over", 0),
    ("likewise", 0),
    ("nobody", 25),
    ("once more", 0),
    ("sides meet", 0),
    ("so long", 0),
    ("so many", 0),
    ("so much", 0),
    ("somebody", 1),
    ("stands for", 0),
    ("was over", 0),
    ("went on", 0),
    ("what came of", 0),
    ("whatever", 0),
    ("whoever", 1),
    ("whose turn", 0),
];

/// Generated pages, which repeat what source text and measurements say, and this file.
const NOT_READ: [&str; 3] =
    ["docs/catalogue.md", "docs/reproduction/", "crates/testkit/tests/structure/register.rs"];

/// The comments and strings of Rust code.
fn prose(code: &str) -> String {
    let mut prose = String::new();
    let mut at = 0;
    while let Some(next) = code[at..].chars().next() {
        match literal_end(code, at) {
            Some((end, _)) => {
                prose.push_str(&code[at..end]);
                prose.push('\n');
                at = end;
            }
            None => at += next.len_utf8(),
        }
    }
    prose
}

/// The words of a text in lower case, and an empty word at each end of a sentence or clause. Marks
/// of comments are no words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || "_-'".contains(c) {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if ".,;:?!|".contains(c) {
            words.push(String::new());
        }
    }
    words.push(word);
    words
}

/// How often each of `phrases` occurs in `text`.
fn occurrences<'a>(text: &str, phrases: impl Iterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
    let words = words(text);
    phrases
        .map(|phrase| {
            let of_phrase: Vec<&str> = phrase.split(' ').collect();
            let is_it = |found: &&[String]| found.iter().eq(of_phrase.iter());
            (phrase, words.windows(of_phrase.len()).filter(is_it).count())
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[test]
fn phrases_are_found_across_lines_but_not_across_sentences_or_in_names() {
    let text = "/// A run Goes\n    /// on. It is, over there, what is_over means.\n";
    let phrases = ["goes on", "is over", "over"].into_iter();
    assert_eq!(occurrences(text, phrases), [("goes on", 1), ("over", 1)]);
    assert_eq!(prose("let over = 1; // Code.\nsay(\"A text.\");"), "// Code.\n\"A text.\"\n");
}

#[test]
fn the_text_does_without_the_phrases_of_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = ["*.rs", "*.py", "*.pyi", "*.md"];
    let listed =
        Command::new("git").arg("ls-files").args(files).current_dir(&root).output().unwrap();
    assert!(listed.status.success(), "git lists the files");
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in String::from_utf8(listed.stdout).unwrap().lines() {
        if NOT_READ.iter().any(|start| file.starts_with(start)) {
            continue;
        }
        // A file that is listed and was removed is of no interest.
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        let text = if file.ends_with(".rs") { prose(&text) } else { text };
        for (phrase, count) in occurrences(&text, PHRASES.iter().map(|(phrase, _)| *phrase)) {
            found.entry(phrase).or_default().extend(vec![file.to_owned(); count]);
        }
    }
    let mut wrong = Vec::new();
    for (phrase, allowed) in &PHRASES {
        let files = found.remove(phrase).unwrap_or_default();
        if files.len() > *allowed {
            wrong.push(format!("\"{phrase}\" {} times, allowed {allowed}: {files:?}", files.len()));
        } else if files.len() < *allowed {
            wrong.push(format!("\"{phrase}\" only {} times: lower its number", files.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
