//! Faults in files that people write, agreements and settings: unreadable, or not of the right
//! form.

use crate::{Message, files};
use vesica_agreement::figures::grouped;
use vesica_strict_toml::{FileFault, Located, TableFault};

/// One kind of file.
pub(super) struct Written {
    /// Its name, which follows an article.
    pub(super) name: &'static str,
    /// Where an example of it is.
    pub(super) example: &'static str,
}

impl Written {
    /// The file, and the place in it.
    pub(super) fn place<F>(&self, error: &Located<F>) -> String {
        let file = self.file(error);
        let place = error.at.map_or(String::new(), |at| format!(", {at}"));
        format!("{file}{place}")
    }

    fn file<F>(&self, error: &Located<F>) -> String {
        match &error.path {
            Some(path) => path.display().to_string(),
            None => format!("the {}", self.name),
        }
    }

    /// A file that could not be read.
    pub(super) fn unreadable<F>(&self, error: &Located<F>, fault: &FileFault) -> Message {
        let (name, file) = (self.name, self.file(error));
        match fault {
            FileFault::Missing => Message::here(
                format!("the {name} file {file} does not exist"),
                format!("check the name; {}", self.example),
            ),
            FileFault::NotAFile => Message::here(
                format!("the {name} file {file} is not a regular file"),
                "give the name of a TOML file",
            ),
            FileFault::Unreadable(kind) => Message::here(
                format!("the {name} file {file} cannot be read: {}", files::cause(*kind)),
                files::read_hint(*kind),
            ),
            FileFault::TooLong { max_bytes } => Message::here(
                format!("the {name} file {file} is longer than {} bytes", grouped(*max_bytes)),
                "this is too long for such a file: check the name",
            ),
            FileFault::NotUtf8 => Message::here(
                format!("the {name} file {file} is not UTF-8 text"),
                "check the name, or save the file as UTF-8",
            ),
            fault => Message::here(format!("{file}: {fault}"), "check the name"),
        }
    }

    /// What is wrong with its form, and what to do.
    pub(super) fn words(&self, fault: &TableFault) -> (String, String) {
        let example = || self.example.to_owned();
        match fault {
            TableFault::Syntax(cause) => {
                let words: Vec<&str> = cause.message().split_whitespace().collect();
                (format!("this is not valid TOML: {}", words.join(" ")), example())
            }
            TableFault::UnknownField { field, nearest, known } => (
                format!("the field {field:?} does not exist"),
                match nearest {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("known fields: {}", known.join(", ")),
                },
            ),
            TableFault::MissingField { field, meaning } => (
                format!("the field {field:?} is missing"),
                format!("its meaning: {meaning}; {}", self.example),
            ),
            TableFault::WrongType { field, expected, found } => {
                (format!("{field:?} should be {expected}, but is {found}"), example())
            }
            TableFault::OutOfRange { field, found, min, max } => (
                format!(
                    "{field:?} is {found}, outside the range from {} to {}",
                    grouped(*min),
                    grouped(*max)
                ),
                "give a number in that range".to_owned(),
            ),
            fault => (fault.to_string(), example()),
        }
    }
}
