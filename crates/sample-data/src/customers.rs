//! The two customer files, and the expected result of matching them.

mod people;
mod plain_join;

pub use plain_join::{Joined, join, merge};

use people::{Day, Hand, Person};
use std::fs;
use std::io;
use std::path::Path;

/// Data rows of each file of the demo.
pub const ROWS: usize = 1_000_000;

/// How many rows of each kind.
#[derive(Clone, Copy)]
pub struct Counts {
    /// Data rows of each file.
    pub rows: usize,
    /// People that both sides have.
    pub common: usize,
    /// Of these, how many the grocer has twice, under two customer numbers.
    pub common_twice: usize,
    grocer_twice: usize,
    airline_twice: usize,
    /// Rows of the airline with the address of one of the grocer's customers and another birthday:
    /// families who share a mailbox.
    shared_mailboxes: usize,
}

impl Counts {
    /// The same mixture in files of `rows` rows.
    pub const fn of(rows: usize) -> Self {
        Self {
            rows,
            common: rows * 3 / 10,
            common_twice: rows / 5000,
            grocer_twice: rows / 1000,
            airline_twice: rows * 3 / 4000,
            shared_mailboxes: rows / 400,
        }
    }
}

const BYTE_ORDER_MARK: &str = "\u{feff}";
const GROCER_HEADER: &str =
    "customer_no;first_name;last_name;email;phone;date_of_birth;city;points;newsletter\r\n";
const AIRLINE_HEADER: &str = "member,name,E-Mail,Mobile,Birth date,tier,miles\n";

/// What is wrong with a row.
#[derive(Clone, Copy)]
enum Fault {
    NoEmail,
    NotAnEmail,
    NoBirthday,
    ImpossibleBirthday,
    ShortYear,
}

const GROCER_FAULTS: [(Fault, usize); 4] = [
    (Fault::NoEmail, 8),
    (Fault::NotAnEmail, 5),
    (Fault::ImpossibleBirthday, 6),
    (Fault::ShortYear, 6),
];
const AIRLINE_FAULTS: [(Fault, usize); 3] =
    [(Fault::NoBirthday, 6), (Fault::NotAnEmail, 6), (Fault::ImpossibleBirthday, 6)];

/// A row to be written.
struct Entry {
    person: Person,
    common: bool,
    fault: Option<Fault>,
}

/// The expected result.
pub struct Made {
    /// The result file, byte for byte.
    pub expected: Vec<u8>,
    /// Its rows.
    pub expected_rows: usize,
}

/// Writes both files.
pub fn write(counts: Counts, grocer: &Path, airline: &Path) -> io::Result<Made> {
    let Counts { rows, common, common_twice, grocer_twice, airline_twice, shared_mailboxes } =
        counts;
    let faults = |faults: &[(Fault, usize)]| faults.iter().map(|(_, n)| n).sum::<usize>();
    let grocer_people = rows - grocer_twice - faults(&GROCER_FAULTS);
    let airline_people = rows - airline_twice - faults(&AIRLINE_FAULTS);
    // The grocer has the people 0 to G, the airline the last of these and others.
    let first_of_airline = grocer_people - common;

    let mut entries: Vec<Entry> =
        (0..grocer_people).map(|id| known(id, id >= first_of_airline)).collect();
    let twice = grocer_twice - common_twice;
    entries.extend((0..twice).map(|id| known(id, false)));
    entries.extend((first_of_airline..).take(common_twice).map(|id| known(id, true)));
    add_faults(&mut entries, &GROCER_FAULTS, 10_000_000);
    let made = write_grocer(grocer, entries)?;

    let mut entries: Vec<Entry> =
        (first_of_airline..).take(airline_people).map(|id| known(id, id < grocer_people)).collect();
    for i in 0..shared_mailboxes {
        let child = &mut entries[airline_people - 1 - i].person;
        let parent = Person::number(i as u64);
        child.email = parent.email;
        child.born.year = parent.born.year + 1;
    }
    entries.extend((first_of_airline..).take(airline_twice).map(|id| known(id, true)));
    add_faults(&mut entries, &AIRLINE_FAULTS, 20_000_000);
    write_airline(airline, entries)?;
    Ok(made)
}

fn known(id: usize, common: bool) -> Entry {
    Entry { person: Person::number(id as u64), common, fault: None }
}

fn add_faults(entries: &mut Vec<Entry>, faults: &[(Fault, usize)], first_id: u64) {
    let kinds = faults.iter().flat_map(|(fault, n)| std::iter::repeat_n(*fault, *n));
    entries.extend(kinds.zip(first_id..).map(|(fault, id)| Entry {
        person: Person::number(id),
        common: false,
        fault: Some(fault),
    }));
}

/// Writes the grocer's file in the format of a spreadsheet: byte order mark, semicolons, CRLF.
fn write_grocer(path: &Path, mut entries: Vec<Entry>) -> io::Result<Made> {
    let mut hand = Hand::new(0x67726f636572);
    hand.dice().shuffle(&mut entries);
    let mut file = format!("{BYTE_ORDER_MARK}{GROCER_HEADER}");
    let mut expected = file.clone();
    for (i, Entry { person, common, fault }) in entries.iter().enumerate() {
        let (email, born) = key_cells(&mut hand, person, *fault, Hand::day_first_or_iso);
        let phone = hand.phone(person);
        let dice = hand.dice();
        let (points, newsletter) = (dice.below(5000), ["yes", "no"][dice.below(2) as usize]);
        let row = format!(
            "C{:07};{};{};{email};{phone};{born};{};{points};{newsletter}\r\n",
            i + 1,
            person.first,
            person.last,
            person.city
        );
        file.push_str(&row);
        if *common {
            expected.push_str(&row);
        }
    }
    fs::write(path, file)?;
    let expected_rows = entries.iter().filter(|entry| entry.common).count();
    Ok(Made { expected: expected.into_bytes(), expected_rows })
}

/// Writes the airline's file in the format of a database export: commas, quotes, other names for
/// the columns.
fn write_airline(path: &Path, mut entries: Vec<Entry>) -> io::Result<()> {
    let mut hand = Hand::new(0x6169726c696e65);
    hand.dice().shuffle(&mut entries);
    let mut file = AIRLINE_HEADER.to_owned();
    for (i, Entry { person, fault, .. }) in entries.iter().enumerate() {
        let (email, born) = key_cells(&mut hand, person, *fault, Hand::iso_or_words);
        let phone = hand.phone(person);
        let dice = hand.dice();
        let tier = ["blue", "silver", "gold"][dice.below(3) as usize];
        let miles = dice.below(200_000);
        let Person { first, last, .. } = person;
        file.push_str(&format!(
            "M{:07},\"{last}, {first}\",\"{email}\",{phone},{born},{tier},{miles}\n",
            i + 1
        ));
    }
    fs::write(path, file)
}

fn key_cells(
    hand: &mut Hand,
    person: &Person,
    fault: Option<Fault>,
    write_day: fn(&mut Hand, Day) -> String,
) -> (String, String) {
    let email = hand.email(&person.email);
    let born = write_day(hand, person.born);
    match fault {
        None => (email, born),
        Some(Fault::NoEmail) => (" ".to_owned(), born),
        Some(Fault::NotAnEmail) => (email.replace('@', " at "), born),
        Some(Fault::NoBirthday) => (email, String::new()),
        Some(Fault::ImpossibleBirthday) => {
            (email, write_day(hand, Day { month: 2, day: 30, ..person.born }))
        }
        Some(Fault::ShortYear) => (email, format!("03.04.{:02}", person.born.year % 100)),
    }
}
