//! The columns of a file, for an error about one that it has not.

/// Names shown at most.
const MAX_NAMES: usize = 20;

/// Longest name shown, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// The columns of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Their names, at most 20; none if the first row of a text file may be data.
    pub names: Vec<String>,
    /// How many columns there are.
    pub count: usize,
    /// Whether the names are the first record of a text file.
    pub from_header: bool,
    /// The physical line, among the first 20, that has a field with the requested name.
    pub line: Option<u64>,
}

impl Columns {
    /// The columns `names`, which are the first record of a text file if they are `from_header`.
    pub fn new(names: &[String], from_header: bool) -> Self {
        let names_are_shown = !from_header || names.iter().all(|name| is_plain(name));
        let shown = if names_are_shown { &names[..names.len().min(MAX_NAMES)] } else { &[] };
        Self { names: shown.to_vec(), count: names.len(), from_header, line: None }
    }
}

/// Whether a cell of a first record may be shown as a name. In a file without a header it is a
/// value, which no error may hold: addresses, numbers and dates are not shown.
fn is_plain(name: &str) -> bool {
    let is_usual = |c: char| c.is_alphanumeric() || " _-.()/#%&:;|\'".contains(c);
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let words = name.trim();
    words.is_empty()
        || (words.len() <= MAX_NAME_BYTES
            && words.starts_with(begins)
            && words.chars().all(is_usual)
            && words.chars().filter(char::is_ascii_digit).count() <= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str], from_header: bool) -> Columns {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Columns::new(&names, from_header)
    }

    #[test]
    fn first_rows_that_may_be_data_are_not_shown() {
        for value in ["ann@example.org", "42", "1990-02-01", "+49 30 901820", "A1234567", "a,b"] {
            assert!(names(&["name", value], true).names.is_empty(), "{value}");
            assert_eq!(names(&["name", value], false).names.len(), 2, "{value}");
        }
        let usual = ["E-Mail", "first name", "Straße (2)", "", "_id", "a;b", "address_line_1"];
        assert_eq!(names(&usual, true).names, usual);
    }

    #[test]
    fn twenty_names_are_shown() {
        let many = names(&["a"; 25], true);
        assert_eq!((many.names.len(), many.count), (20, 25));
    }
}
