//! The shape of the source text, where `rustfmt` does not look: it leaves an expression alone if a
//! string in it is too long, and never joins the lines of a string.

use crate::literals::literal_end;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest line, in characters. Rows of tables, blocks and addresses in comments may be longer.
const MAX_COLUMNS: usize = 100;

/// A line of a string that continues on the next line is at least this long, if the next word fits
/// on it.
const CONTINUED_MIN_COLUMNS: usize = MAX_COLUMNS / 2;

/// The folders with sources.
const FOLDERS: [&str; 4] = ["crates", "bench", "fuzz", "python"];

/// A fault and its line, counted from 1.
type Fault = (usize, &'static str);

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The faults of the strings of `code`.
fn ragged_strings(code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let Some((end, is_string)) = literal_end(code, at) else {
            at += code[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if is_string {
            let first_line = code[..at].matches('\n').count() + 1;
            let line_start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let lines: Vec<&str> = code[line_start..end].split('\n').collect();
            for (index, pair) in lines.windows(2).enumerate() {
                let Some(text) = pair[0].strip_suffix('\\') else { continue };
                // A line end in the text is a reason to end the line.
                if text.ends_with("\\n") || !text.ends_with(' ') {
                    continue;
                }
                let next = pair[1].trim_start().split([' ', '\\', '"']).next().unwrap_or_default();
                let columns = text.chars().count();
                let fits = columns + next.chars().count() + 2 <= MAX_COLUMNS;
                if columns < CONTINUED_MIN_COLUMNS && fits {
                    faults.push((first_line + index, "a string continues too early"));
                }
            }
        }
        at = end;
    }
    faults
}

/// What follows the marks of a comment that is alone on its line.
fn comment(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
}

/// The numbers, from 1, of the lines that are too long and could be wrapped.
fn long_lines(code: &str) -> Vec<usize> {
    let mut is_block = false;
    let mut long = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let text = comment(line);
        is_block ^= text.is_some_and(|text| text.starts_with("```"));
        let is_fixed =
            text.is_some_and(|text| is_block || text.starts_with('|') || text.contains("https://"));
        if line.chars().count() > MAX_COLUMNS && !is_fixed {
            long.push(index + 1);
        }
    }
    long
}

fn faults(code: &str) -> Vec<Fault> {
    let long = long_lines(code).into_iter();
    let mut faults: Vec<Fault> = long.map(|line| (line, "a line is too long")).collect();
    faults.extend(ragged_strings(code));
    faults
}

#[test]
fn lines_are_short_and_lines_of_strings_are_full() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    FOLDERS.iter().for_each(|folder| sources(&root.join(folder), &mut files));
    assert!(files.len() > 100, "the sources were not found");
    let mut all = String::new();
    for file in files {
        let code = fs::read_to_string(&file).expect("a source file");
        for (line, fault) in faults(&code) {
            all += &format!("{}:{line}: {fault}\n", file.strip_prefix(&root).unwrap().display());
        }
    }
    assert!(all.is_empty(), "\n{all}");
}

#[test]
fn faults_of_the_text_are_found() {
    let long = format!("let x = \"{}\";\n", "word ".repeat(20));
    assert_eq!(faults(&long), [(1, "a line is too long")]);
    assert_eq!(faults(&format!("    // {long}")), [(1, "a line is too long")]);
    let picture = format!("/// ```text\n/// {long}/// ```\n");
    for fixed in [format!("//! | {long}"), format!("/// https://example.org {long}"), picture] {
        assert_eq!(faults(&fixed), []);
    }
    let early = [(3, "a string continues too early")];
    let code = "fn f() {\n    let quote = '\"';\n    say(\"too \\\n         early\");\n}\n";
    assert_eq!(faults(code), early);
    let code = "fn f() {\n    let tick = '\\'';\n    say(\"a \\\"b\\\" \\\n         early\");\n}\n";
    assert_eq!(faults(code), early);
    for right in [
        "say(\"one line\\n\\\n     another\");\n",
        &format!("say(\"only \\\n {}\");\n", "x".repeat(90)),
        "// \"too \\\n// early\"\n",
        "r#\"too \\\n early\"#\n",
    ] {
        assert_eq!(faults(right), [], "{right}");
    }
}

/// A crate without examples is not searched for them, which takes time. One that has some must be.
#[test]
fn no_crate_without_doc_tests_has_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).expect("a folder of crates");
    let mut without = 0;
    for folder in crates.map(|entry| entry.expect("an entry").path()) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        if !manifest.contains("doctest = false") {
            continue;
        }
        without += 1;
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for path in files {
            let text = fs::read_to_string(&path).expect("a source");
            assert!(!has_example(&text), "{} has an example", path.display());
        }
    }
    assert!(without > 10, "{without}");
    assert!(has_example("/// ```\n/// let a = 1;\n/// ```\n"));
    assert!(!has_example("/// ```text\n/// a\n/// ```\n"));
}

/// Whether a comment of `code` opens a block of Rust.
fn has_example(code: &str) -> bool {
    let fences = code.lines().filter_map(|line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        comment.trim_start().strip_prefix("```")
    });
    fences.step_by(2).any(|language| {
        ["", "rust", "no_run", "should_panic"].contains(&language.split(',').next().unwrap_or(""))
    })
}
