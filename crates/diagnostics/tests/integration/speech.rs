//! Messages name options as their reader writes them.

use crate::samples::{PLACES, all};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use vesica_diagnostics::{Message, Speech};
use vesica_store_session::RunsError;

/// Words that only make sense in a shell. Other commands, such as `vesica keygen`, have no function
/// in Python.
const ONLY_IN_A_SHELL: [&str; 6] =
    [" --", "`--", "(--", "`vesica run`", "`vesica check`", "command line"];

fn text(message: &Message) -> String {
    format!("{}\n{}", message.error, message.hint)
}

/// The words of `text` that make no sense in Python.
fn shell_words(text: &str) -> Vec<&'static str> {
    let found =
        |word: &&str| text.contains(*word) || text.lines().any(|line| line.starts_with("--"));
    ONLY_IN_A_SHELL.into_iter().filter(found).collect()
}

#[test]
fn no_message_in_python_names_an_option_of_the_command() {
    for message in all(Speech::Python) {
        let text = text(&message);
        assert!(shell_words(&text).is_empty(), "{text}");
        assert!(!text.contains("same command"), "{text}");
    }
}

#[test]
fn no_message_of_the_command_names_an_argument_in_python() {
    let marks = ["`vesica.", "=True`", "=False`", "call again"];
    for message in all(Speech::Command) {
        let text = text(&message);
        assert!(marks.iter().all(|mark| !text.contains(mark)), "{text}");
        let mut marks = text.match_indices("=`");
        let ends_a_name = |at: usize| text[..at].ends_with(|c: char| c.is_ascii_lowercase());
        assert!(!marks.any(|(at, _)| ends_a_name(at)), "{text}");
    }
}

#[test]
fn both_readers_get_the_same_messages_in_their_own_words() {
    let (command, python) = (all(Speech::Command), all(Speech::Python));
    assert_eq!(command.len(), python.len());
    assert!(command.iter().zip(&python).all(|(one, other)| one.who == other.who));
    let texts: BTreeSet<String> = command.iter().map(text).collect();
    assert!(texts.len() > 300, "{} different messages", texts.len());
    let own: BTreeSet<String> = command
        .iter()
        .filter(|message| !shell_words(&text(message)).is_empty())
        .map(text)
        .collect();
    assert!(own.len() > 80, "{} messages with options", own.len());
}

#[test]
fn messages_begin_in_lower_case_and_end_without_a_full_stop() {
    for message in all(Speech::Command).into_iter().chain(all(Speech::Python)) {
        for line in [&message.error, &message.hint] {
            assert!(!line.is_empty() && !line.ends_with(['.', ' ', '\n']), "{line}");
            assert!(!line.contains("  ") || line.contains("\n  "), "{line}");
        }
        assert!(!message.hint.starts_with(char::is_uppercase), "{}", message.hint);
    }
}

/// The code of `text` without comments, unit tests and the texts that both readers have of their
/// own.
fn common_code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut parts = code.split("either(");
    let mut common = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut depth = 1;
        let end = part.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        common += &part[end.expect("a closing bracket")..];
    }
    common
}

fn names_an_option(code: &str) -> bool {
    let before = code.split("--").skip(1);
    before.into_iter().any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Also of messages that no test can construct: an error that is new has none yet.
#[test]
fn options_are_named_only_where_both_readers_have_their_own_words() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut checked = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            // The table of names, and the text that must be a constant.
            if ["speech.rs", "no_memory.rs"].contains(&name) {
                continue;
            }
            let common = common_code(&fs::read_to_string(&path).unwrap());
            assert!(!names_an_option(&common), "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked} files");
}

#[test]
fn an_option_outside_of_the_words_of_both_is_found() {
    assert!(names_an_option(&common_code("Message::here(\"no\", \"add --force\")")));
    assert!(names_an_option(&common_code("f(say.either(\"a (b)\", \"c\"), \"--force\")")));
    assert!(!names_an_option(&common_code("// --force\nsay.either(\"--force\", \"(force)\")")));
    assert_eq!(shell_words("add --force"), [" --"]);
    assert!(shell_words("add `force=True` - or not").is_empty());
    assert!(!shell_words("the port\n--listen sets it").is_empty());
}

#[test]
fn a_place_that_fails_is_called_what_it_is() {
    let of_a_place = |place: &str| {
        let fault = RunsError::Store(ErrorKind::PermissionDenied);
        vesica_diagnostics::runs::error(fault, place).error
    };
    let kinds = ["the folder", "the bucket", "the bucket", "the container", "the SFTP folder"];
    for (place, kind) in PLACES.iter().zip(kinds) {
        let text = of_a_place(place);
        assert!(text.starts_with(&format!("{kind} {place} cannot be used: ")), "{text}");
    }
}
