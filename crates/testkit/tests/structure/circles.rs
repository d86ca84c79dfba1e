//! The files of a crate do not import each other in circles.
//!
//! A file imports another if it names an item that the other one defines: by `use`, or by a path in
//! its code. An item is followed through re-exports to the file that defines it. A module that
//! declares or re-exports another one does not import it by that alone. Methods are not looked at:
//! an `impl` may be in a file above its type.

use crate::literals::literal_end;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

/// What begins the definition of an item that a path can name.
const ITEMS: [&str; 9] =
    ["struct", "enum", "union", "fn", "const", "static", "trait", "type", "mod"];

/// Longer paths are not followed: `use other::{other}` gives a path that grows for ever.
const PATH_MAX_NAMES: usize = 10;

/// The path of a module from the crate's root, or of an item from the file that names it.
type Names = Vec<String>;

/// One `use` of one name.
#[derive(Debug)]
struct Import {
    path: Names,
    /// The name that it gives; `*` for all names.
    name: String,
    is_public: bool,
}

/// What one file defines and names.
#[derive(Debug, Default)]
struct File {
    children: HashSet<String>,
    items: HashSet<String>,
    imports: Vec<Import>,
    /// The names in its code outside `use`.
    words: HashSet<String>,
    /// The paths there, of two names or more.
    paths: HashSet<Names>,
}

/// The names and signs of `code`, without comments, strings and unit tests.
fn tokens(code: &str) -> Vec<&str> {
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = code[at..].chars().next() {
        if let Some((end, _)) = literal_end(code, at) {
            at = end;
            continue;
        }
        let mut end = at + first.len_utf8();
        if is_part(first) {
            let is_end = |&(after, c): &(usize, char)| {
                !is_part(c) || literal_end(code, end + after).is_some()
            };
            end += code[end..].char_indices().find(is_end).map_or(code.len() - end, |(at, _)| at);
        } else if code[at..].starts_with("::") {
            end = at + 2;
        }
        if !first.is_whitespace() {
            tokens.push(&code[at..end]);
        }
        at = end;
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads the tree of a `use` from `at`, below `path`; returns where it ends.
fn read_tree(tokens: &[&str], mut at: usize, mut path: Names, found: &mut Vec<Names>) -> usize {
    loop {
        match tokens[at] {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = read_tree(tokens, at, path.clone(), found);
                    at += usize::from(tokens[at] == ",");
                }
                return at + 1;
            }
            "," | "}" | ";" | "as" => break,
            name => {
                path.push(name.to_owned());
                at += 1;
            }
        }
    }
    if path.len() > 1 {
        path.pop_if(|last| last == "self");
    }
    let name = match tokens[at] {
        "as" => {
            at += 2;
            tokens[at - 1]
        }
        _ => path.last().map_or("", |last| last),
    };
    let name = name.to_owned();
    path.push(name);
    found.push(path);
    at
}

impl File {
    fn read(code: &str) -> Self {
        let tokens = tokens(code);
        let (mut file, mut at, mut depth) = (Self::default(), 0, 0_usize);
        while at < tokens.len() {
            let next = |more: usize| tokens.get(at + more).copied().unwrap_or_default();
            match tokens[at] {
                // `use<'a>` is a bound.
                "use" if next(1) != "<" => {
                    let mut found = Vec::new();
                    let is_public = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                    at = read_tree(&tokens, at + 1, Names::new(), &mut found);
                    file.imports.extend(found.into_iter().filter_map(|mut path| {
                        let name = path.pop()?;
                        Some(Import { path, name, is_public })
                    }));
                    continue;
                }
                "mod" if next(2) == ";" => {
                    file.children.insert(next(1).to_owned());
                    at += 3;
                    continue;
                }
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                word if depth == 0 && ITEMS.contains(&word) && is_name(next(1)) => {
                    file.items.insert(next(1).to_owned());
                }
                word if is_name(word) && (at == 0 || tokens[at - 1] != "::") => {
                    let mut path = vec![word.to_owned()];
                    while next(2 * path.len() - 1) == "::" && is_name(next(2 * path.len())) {
                        path.push(next(2 * path.len()).to_owned());
                    }
                    if path.len() > 1 {
                        file.paths.insert(path);
                    }
                }
                _ => {}
            }
            if is_name(tokens[at]) {
                file.words.insert(tokens[at].to_owned());
            }
            at += 1;
        }
        file
    }
}

/// The files of a crate, by the paths of their modules.
struct Crate(BTreeMap<Names, File>);

impl Crate {
    /// From the text of the files by their paths below `src`, such as `bench/error.rs`.
    fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files.into_iter().map(|(path, code)| {
            let path = path.trim_end_matches(".rs").split('/').filter(|name| *name != "mod");
            let mut module: Names = path.map(str::to_owned).collect();
            if module == ["lib"] || module == ["main"] {
                module.clear();
            }
            (module, File::read(code))
        });
        Self(files.collect())
    }

    /// The file that defines what `path` names in the file `from`, and whether it is an item rather
    /// than the module. `None` if it is not of this crate. `seen` ends circles of re-exports.
    fn find(
        &self,
        from: &Names,
        path: &[String],
        seen: &mut HashSet<(Names, Names)>,
    ) -> Option<(Names, bool)> {
        let file = self.0.get(from)?;
        let Some((first, rest)) = path.split_first() else { return Some((from.clone(), false)) };
        match &**first {
            "crate" => return self.find(&Names::new(), rest, seen),
            "self" => return self.find(from, rest, seen),
            "super" => return self.find(&from[..from.len().checked_sub(1)?].to_vec(), rest, seen),
            _ => {}
        }
        if file.children.contains(first) {
            return self.find(&[&from[..], std::slice::from_ref(first)].concat(), rest, seen);
        }
        if file.items.contains(first) {
            return Some((from.clone(), true));
        }
        if path.len() > PATH_MAX_NAMES || !seen.insert((from.clone(), path.to_vec())) {
            return None;
        }
        if let Some(import) = file.imports.iter().find(|import| import.name == *first) {
            return self.find(from, &[&import.path, rest].concat(), seen);
        }
        let globs = file.imports.iter().filter(|import| import.name == "*");
        globs.into_iter().find_map(|glob| {
            let (module, _) = self.find(from, &glob.path[..glob.path.len() - 1], seen)?;
            self.find(&module, path, seen)
        })
    }

    /// The files that the file `from` imports.
    fn imports(&self, from: &Names) -> BTreeSet<Names> {
        let file = &self.0[from];
        let used = file.imports.iter().filter(|import| match &*import.name {
            "*" => false,
            // Another file may be the one that needs what is re-exported.
            name => !import.is_public || file.words.contains(name),
        });
        let by_glob = file.words.iter().filter(|_| file.imports.iter().any(|i| i.name == "*"));
        let all = (used.map(|import| import.path.clone()))
            .chain(file.paths.iter().cloned())
            .chain(by_glob.map(|word| vec![word.clone()]));
        let found = all.filter_map(|path| self.find(from, &path, &mut HashSet::new()));
        found.filter(|(to, is_item)| *is_item && to != from).map(|(to, _)| to).collect()
    }

    /// The circles: sets of files of which each imports, at some distance, all others.
    fn circles(&self) -> BTreeSet<BTreeSet<String>> {
        let imports: BTreeMap<_, _> =
            self.0.keys().map(|file| (file, self.imports(file))).collect();
        let reached = |from: &Names| {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&Names> = imports[from].iter().collect();
            while let Some(file) = open.pop() {
                if reached.insert(file) {
                    open.extend(&imports[file]);
                }
            }
            reached
        };
        let reached: BTreeMap<_, _> = self.0.keys().map(|file| (file, reached(file))).collect();
        let name = |file: &Names| if file.is_empty() { "root".to_owned() } else { file.join("/") };
        let circle = |file: &Names| -> BTreeSet<String> {
            let both = reached[file].iter().filter(|other| reached[**other].contains(file));
            both.map(|other| name(other)).collect()
        };
        self.0.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
    }
}

fn sources(folder: &Path, below: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            sources(&path, &format!("{below}{name}/"), found);
        } else if name.ends_with(".rs") {
            found.push((
                format!("{below}{name}"),
                fs::read_to_string(&path).expect("a source file"),
            ));
        }
    }
}

#[test]
fn files_of_a_crate_do_not_import_each_other_in_circles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = fs::read_dir(&crates)
        .expect("the crates")
        .map(|entry| entry.expect("an entry").path())
        .chain([crates.join("../python")])
        .collect();
    folders.sort();
    assert!(folders.len() > 30, "the crates were not found");
    let mut refused = String::new();
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy();
        let mut files = Vec::new();
        sources(&folder.join("src"), "", &mut files);
        files.retain(|(path, _)| !path.split(['/', '.']).any(|part| part == "tests"));
        let texts = files.iter().map(|(path, code)| (&**path, &**code));
        let circles = Crate::read(texts).circles();
        if !circles.is_empty() {
            refused += &format!("{name}: {circles:?}\n");
        }
    }
    assert!(refused.is_empty(), "files that import each other in circles:\n{refused}");
}

fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let circles = Crate::read(files.iter().copied()).circles();
    circles.into_iter().map(|circle| circle.into_iter().collect()).collect()
}

#[test]
fn a_circle_is_found_by_use_by_path_and_through_a_re_export() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use b::{self, Two as Second};\n");
    let a = ("a.rs", "pub struct One;\nuse super::Second;\n");
    for b in [
        "pub struct Two;\nuse crate::a::One;",
        "pub struct Two;\nfn two() -> crate::a::One { crate::a::One }",
        "pub struct Two;\nuse crate::a;\nfn two() { let _ = a::One; }",
        "pub struct Two;\nuse super::{a::{self as other, One}};",
        "pub struct Two;\nuse super::a::*;\nfn two(_: One) {}",
    ] {
        assert_eq!(circles(&[root, a, ("b.rs", b)]), [["a", "b"]], "{b}");
    }
}

#[test]
fn a_circle_of_a_parent_and_its_child_is_found_only_if_the_parent_uses_the_child() {
    let child = ("a/child.rs", "use super::One;\npub struct Two(One);");
    let declares = "mod child;\npub use child::Two;\npub struct One;\nimpl Trait for One {}";
    let uses = format!("{declares}\nfn two(_: Two) {{}}");
    let root = ("main.rs", "mod a;\nfn main() { let _ = a::Two; }");
    assert_eq!(circles(&[root, ("a.rs", &uses), child]), [["a", "a/child"]]);
    assert!(circles(&[root, ("a.rs", declares), child]).is_empty());
}

#[test]
fn comments_strings_tests_and_other_crates_import_nothing() {
    let root = ("lib.rs", "mod a;\nmod b;\n");
    let a = ("a.rs", "pub struct One;\nuse crate::b::Two;");
    let b = "pub struct Two;\n/// [`crate::a::One`]\nconst A: &str = \"crate::a::One\";\n\
             const B: char = '\"'; // crate::a::One\nuse other::a::One;\nfn x<'a>(_: &'a u8) {}\n\
             #[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n";
    assert!(circles(&[root, a, ("b.rs", b)]).is_empty());
}
