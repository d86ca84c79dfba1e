//! Made-up people, the same ones in every run.

use std::fmt::Write;

/// First names and surnames, each as people write them and as they appear in an address.
const FIRST_NAMES: [(&str, &str); 32] = [
    ("Amélie", "amelie"),
    ("Amara", "amara"),
    ("Anna", "anna"),
    ("Ben", "ben"),
    ("Carlos", "carlos"),
    ("Chloë", "chloe"),
    ("Dev", "dev"),
    ("Elif", "elif"),
    ("Emma", "emma"),
    ("Farah", "farah"),
    ("George", "george"),
    ("Grace", "grace"),
    ("Hana", "hana"),
    ("Ivan", "ivan"),
    ("Jack", "jack"),
    ("José", "jose"),
    ("Kofi", "kofi"),
    ("Lena", "lena"),
    ("Liam", "liam"),
    ("Maya", "maya"),
    ("Mia", "mia"),
    ("Noah", "noah"),
    ("Olga", "olga"),
    ("Oscar", "oscar"),
    ("Priya", "priya"),
    ("Rosa", "rosa"),
    ("Sam", "sam"),
    ("Søren", "soren"),
    ("Tariq", "tariq"),
    ("Vera", "vera"),
    ("Yuki", "yuki"),
    ("Zoë", "zoe"),
];
const LAST_NAMES: [(&str, &str); 32] = [
    ("Adeyemi", "adeyemi"),
    ("Baker", "baker"),
    ("Bianchi", "bianchi"),
    ("Brown", "brown"),
    ("Chen", "chen"),
    ("Clark", "clark"),
    ("de la Cruz", "delacruz"),
    ("Dubois", "dubois"),
    ("Edwards", "edwards"),
    ("Fernández", "fernandez"),
    ("Gruber", "gruber"),
    ("Hughes", "hughes"),
    ("Ivanova", "ivanova"),
    ("Jones", "jones"),
    ("Kaya", "kaya"),
    ("Khan", "khan"),
    ("Kowalski", "kowalski"),
    ("Lindqvist", "lindqvist"),
    ("Mensah", "mensah"),
    ("Müller", "mueller"),
    ("Nguyen", "nguyen"),
    ("O'Neill", "oneill"),
    ("Ødegård", "odegard"),
    ("Patel", "patel"),
    ("Rossi", "rossi"),
    ("Saito", "saito"),
    ("Silva", "silva"),
    ("Smith", "smith"),
    ("Taylor", "taylor"),
    ("Walker", "walker"),
    ("Williams", "williams"),
    ("Young", "young"),
];
const CITIES: [&str; 8] =
    ["Bristol", "Cardiff", "Derry", "Glasgow", "Leeds", "London", "Newcastle upon Tyne", "York"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Domains that no one can own (RFC 2606). The last one has a form in Unicode and one in ASCII.
const DOMAINS: [&str; 4] = ["mail.example", "post.example", "web.example", UNICODE_DOMAIN];
pub(crate) const UNICODE_DOMAIN: &str = "münchen.example";
pub(crate) const ASCII_DOMAIN: &str = "xn--mnchen-3ya.example";

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): small, and the same on every machine. Not for
/// secrets.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) year: u32,
    pub(crate) month: u32,
    pub(crate) day: u32,
}

/// A made-up person.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
    pub(crate) city: &'static str,
    pub(crate) email: String,
    pub(crate) born: Day,
    phone: u64,
}

impl Person {
    /// The person with this number. No other person has the same address.
    pub(crate) fn number(id: u64) -> Self {
        let mut dice = Dice::new(id);
        let (first, first_ascii) = dice.pick(&FIRST_NAMES);
        let (last, last_ascii) = dice.pick(&LAST_NAMES);
        let separator = dice.pick(&[".", "_", "-"]);
        let domain = dice.pick(&DOMAINS);
        let born = Day {
            year: 1940 + dice.below(66) as u32,
            month: 1 + dice.below(12) as u32,
            day: 1 + dice.below(28) as u32,
        };
        Self {
            first,
            last,
            city: dice.pick(&CITIES),
            email: format!("{first_ascii}{separator}{last_ascii}{id}@{domain}"),
            born,
            // Numbers reserved for drama, so that no real telephone rings.
            phone: 7_700_900_000 + dice.below(1000),
        }
    }
}

/// Writes the same value in many notations, as people do.
pub(crate) struct Hand {
    dice: Dice,
}

impl Hand {
    pub(crate) fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed) }
    }

    pub(crate) fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }

    /// An address as forms and call centres write it: mixed case, blanks, both forms of a domain.
    pub(crate) fn email(&mut self, email: &str) -> String {
        let email = match self.dice.below(2) {
            0 => email.replace(UNICODE_DOMAIN, ASCII_DOMAIN),
            _ => email.to_owned(),
        };
        match self.dice.below(20) {
            0..12 => email,
            12..15 => capitals_of_words(&email),
            15 => email.to_uppercase(),
            16 => format!(" {email}"),
            17 => format!("{email} "),
            18 => format!("{email}\u{a0}"),
            _ => format!("  {} ", capitals_of_words(&email)),
        }
    }

    /// A day as people type it, the day first, or in ISO form.
    pub(crate) fn day_first_or_iso(&mut self, day: Day) -> String {
        let Day { year, month, day } = day;
        match self.dice.below(10) {
            0..5 => format!("{day:02}.{month:02}.{year}"),
            5 => format!("{day}.{month}.{year}"),
            6 => format!("{day:02}/{month:02}/{year}"),
            _ => format!("{year}-{month:02}-{day:02}"),
        }
    }

    /// A day in ISO form, or with the name of the month.
    pub(crate) fn iso_or_words(&mut self, day: Day) -> String {
        let Day { year, month, day } = day;
        match self.dice.below(10) {
            0..8 => format!("{year}-{month:02}-{day:02}"),
            _ => format!("{day} {} {year}", MONTHS[month as usize - 1]),
        }
    }

    pub(crate) fn phone(&mut self, person: &Person) -> String {
        let digits = person.phone.to_string();
        let (area, rest) = digits.split_at(4);
        match self.dice.below(6) {
            0 => format!("+44{digits}"),
            1 => format!("+44 {area} {rest}"),
            2 => format!("0{area} {rest}"),
            3 => format!("(0{area}) {}-{}", &rest[..3], &rest[3..]),
            4 => format!("0044 {area}-{rest}"),
            _ => String::new(),
        }
    }
}

/// The number of a month by its name, to read what [`Hand::iso_or_words`] writes.
pub(crate) fn month_number(name: &str) -> Option<u32> {
    MONTHS.iter().position(|month| *month == name).map(|index| index as u32 + 1)
}

/// `Anna.Baker7@Mail.Example`, as phones capitalise it.
fn capitals_of_words(text: &str) -> String {
    let mut capital = true;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = if capital { write!(out, "{}", c.to_uppercase()) } else { write!(out, "{c}") };
        capital = !c.is_alphanumeric();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_the_same_every_time_and_have_their_own_address() {
        assert_eq!(Person::number(7).email, Person::number(7).email);
        let emails: std::collections::HashSet<_> =
            (0..10_000).map(|id| Person::number(id).email).collect();
        assert_eq!(emails.len(), 10_000);
    }

    #[test]
    fn a_hand_changes_only_how_an_address_looks() {
        let mut hand = Hand::new(1);
        for id in 0..1000 {
            let email = Person::number(id).email;
            let written = hand.email(&email).trim().to_lowercase();
            assert_eq!(written.replace(ASCII_DOMAIN, UNICODE_DOMAIN), email);
        }
    }
}
