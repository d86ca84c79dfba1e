//! Plain joins of the two files, independent of the rest of the code: no profile, no key encoding,
//! no item, no protocol. A script on one machine would do this if one side handed over its file.

use super::people::{ASCII_DOMAIN, UNICODE_DOMAIN, month_number};
use std::collections::HashSet;

/// Positions of address and birthday among a file's cells.
struct Columns {
    delimiter: char,
    email: usize,
    born: usize,
}

const GROCER: Columns = Columns { delimiter: ';', email: 3, born: 5 };
const AIRLINE: Columns = Columns { delimiter: ',', email: 2, born: 4 };

/// What the join found among the grocer's rows.
pub struct Joined {
    /// The rows that the airline has too, with the header, unchanged.
    pub rows: String,
    /// How many rows a join of the raw cells finds, without making them comparable first.
    pub raw_matches: usize,
}

/// Joins the text of both files.
pub fn join(grocer: &str, airline: &str) -> Joined {
    let mut keys = HashSet::new();
    let mut raw_keys = HashSet::new();
    for line in airline.lines().skip(1) {
        let (email, born) = cells(line, &AIRLINE);
        keys.extend(key(&email, &born));
        raw_keys.insert((email, born));
    }
    let mut lines = grocer.split_inclusive('\n');
    let mut joined = Joined { rows: lines.next().unwrap_or_default().to_owned(), raw_matches: 0 };
    for line in lines {
        let (email, born) = cells(line.trim_end_matches(['\r', '\n']), &GROCER);
        if key(&email, &born).is_some_and(|key| keys.contains(&key)) {
            joined.rows.push_str(line);
        }
        joined.raw_matches += usize::from(raw_keys.contains(&(email, born)));
    }
    joined
}

/// The rows that the airline has too, found by sorting both files by their keys and walking along
/// both: without a hash table, and sharing with [`join`] only how a key is read.
pub fn merge(grocer: &str, airline: &str) -> String {
    let keys_of = |line: &str, columns| {
        let (email, born) = cells(line.trim_end_matches(['\r', '\n']), columns);
        key(&email, &born)
    };
    let mut theirs: Vec<_> =
        airline.lines().skip(1).filter_map(|line| keys_of(line, &AIRLINE)).collect();
    theirs.sort_unstable();
    let lines: Vec<&str> = grocer.split_inclusive('\n').collect();
    let keyed = lines.iter().enumerate().skip(1);
    let mut ours: Vec<_> =
        keyed.filter_map(|(i, line)| Some((keys_of(line, &GROCER)?, i))).collect();
    ours.sort_unstable();

    let mut found = vec![0];
    let mut rest = theirs.iter().peekable();
    for (key, i) in &ours {
        while rest.next_if(|their| *their < key).is_some() {}
        if rest.peek() == Some(&key) {
            found.push(*i);
        }
    }
    found.sort_unstable();
    found.into_iter().filter_map(|i| lines.get(i).copied()).collect()
}

/// Address and birthday of a line. A delimiter between quotes belongs to the cell.
fn cells(line: &str, columns: &Columns) -> (String, String) {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        if c == '"' {
            quoted = !quoted;
        } else if c == columns.delimiter && !quoted {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
    }
    let mut take = |index: usize| cells.get_mut(index).map(std::mem::take).unwrap_or_default();
    (take(columns.email), take(columns.born))
}

/// Address and birthday in a common form; `None` if one of them is missing or wrong.
fn key(email: &str, born: &str) -> Option<(String, [u32; 3])> {
    let email = email.trim().to_lowercase().replace(UNICODE_DOMAIN, ASCII_DOMAIN);
    if !email.contains('@') {
        return None;
    }
    Some((email, day(born)?))
}

/// Year, month and day from any of the four forms in the files.
fn day(text: &str) -> Option<[u32; 3]> {
    let parts: Vec<&str> = text.split(['.', '/', '-', ' ']).collect();
    let [one, two, three] = parts[..] else { return None };
    let month = |text: &str| month_number(text).or_else(|| text.parse().ok());
    let (year, month, day) = match one.len() {
        4 => (one, month(two)?, three),
        _ => (three, month(two)?, one),
    };
    let (year, day) = (year.parse().ok()?, day.parse().ok()?);
    // No one in the files is older, or was born on the 29th of February.
    let possible = year >= 1900 && (month != 2 || day <= 28);
    possible.then_some([year, month, day])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_in_quotes_may_hold_the_delimiter() {
        let line = "M1,\"Baker, Anna\",\"a@mail.example\",,1980-02-01,gold,5";
        assert_eq!(cells(line, &AIRLINE), ("a@mail.example".into(), "1980-02-01".into()));
    }

    #[test]
    fn one_day_is_read_from_every_form_in_the_files() {
        for text in ["1980-02-01", "1 Feb 1980", "01.02.1980", "1.2.1980", "01/02/1980"] {
            assert_eq!(day(text), Some([1980, 2, 1]), "{text}");
        }
        for text in ["", "unknown", "30.02.1980", "03.04.80", "1980-02-30"] {
            assert_eq!(day(text), None, "{text}");
        }
    }

    #[test]
    fn the_join_finds_keys_that_differ_only_in_notation() {
        let grocer = "h\nC1;A;B; A@München.Example ;;1.2.1980;York;1;no\r\n\
                      C2;A;B;b@mail.example;;1.2.1980;York;1;no\r\n\
                      C3;A;B;c@mail.example;;1980-02-02;York;1;no\r\n";
        let airline = "h\nM1,n,a@xn--mnchen-3ya.example,,1980-02-01,gold,5\n\
                       M2,n,c@mail.example,,1980-02-02,gold,5\n\
                       M3,n,b@mail.example,,1981-02-01,gold,5\n";
        let joined = join(grocer, airline);
        assert_eq!(merge(grocer, airline), joined.rows);
        assert_eq!(joined.rows.lines().count(), 3);
        assert!(joined.rows.contains("C1;") && joined.rows.contains("C3;"));
        assert_eq!(joined.raw_matches, 1);
    }
}
