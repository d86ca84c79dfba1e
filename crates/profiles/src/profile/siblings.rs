//! Profiles that a column of refused values may need instead.

use super::{Kind, Profile, date};

impl Profile {
    /// Profiles of the same kind of values that take other ones, the strictest first.
    pub fn siblings(self) -> Vec<Profile> {
        let kinds = match self.kind {
            Kind::Date(None) => {
                vec![
                    Kind::Date(Some(date::Order::DayFirst)),
                    Kind::Date(Some(date::Order::MonthFirst)),
                ]
            }
            Kind::Integer(64) => vec![Kind::Digits],
            Kind::Integer(_) => vec![Kind::Integer(64), Kind::Digits],
            Kind::Hex(Some(_)) => vec![Kind::Hex(None)],
            _ => Vec::new(),
        };
        kinds.into_iter().map(|kind| Profile { kind }).collect()
    }

    /// The profile that takes any text, if values of this one are codes that may have other
    /// characters too.
    pub fn fallback(self) -> Option<Profile> {
        let is_code = matches!(self.kind, Kind::Integer(_) | Kind::Digits | Kind::Hex(None));
        is_code.then_some(Profile::TRIM)
    }

    /// Whether the profile, in place of the one that has refused `cell`, would keep what the cell
    /// says: not a sign that `digits` drops, and as text only a code of letters and digits, such as
    /// `A-3`. A placeholder, a number or a digest would be a key too, and match what it should not.
    pub fn keeps(self, cell: &[u8]) -> bool {
        let text = cell.trim_ascii();
        match self.kind {
            Kind::Digits => {
                let is_sign = |byte: Option<&u8>| matches!(byte, Some(b'-' | b'+'));
                !is_sign(text.first()) && !is_sign(text.last())
            }
            Kind::Trim => {
                let has = |is: fn(&u8) -> bool| text.iter().any(is);
                let is_number = std::str::from_utf8(text).is_ok_and(|it| it.parse::<f64>().is_ok());
                let is_digest = text.len() >= 32;
                has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && !is_number && !is_digest
            }
            _ => true,
        }
    }

    /// Whether the profile refuses dates whose day and month could be swapped.
    pub fn needs_order(self) -> bool {
        self.kind == Kind::Date(None)
    }

    /// The profile of dates whose order a date shows in which only one number can be a month:
    /// `31.12.1985`.
    pub fn of_order_in(cell: &[u8]) -> Option<Profile> {
        Some(Profile { kind: Kind::Date(Some(date::order_in(cell)?)) })
    }
}
