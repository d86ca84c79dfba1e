//! The transforms: their names and versions.

use crate::refusal::Refusal;
use crate::texts::Texts;
use crate::{MAX_CHARS, cologne, dates, double_metaphone, nysiis, parts, soundex, typing_errors};
use std::fmt;
use std::str::FromStr;
use vesica_profiles::Profile;

/// A rule that makes one text or several of a normalised value.
///
/// Written as a name with at most one parameter: `soundex`, `first(3)`.
///
/// ```
/// use vesica_transforms::{Texts, Transform};
///
/// let split: Transform = "split".parse()?;
/// let mut texts = Texts::new();
/// split.apply("garcia marquez", &mut texts)?;
/// assert!(texts.iter().eq(["garcia", "marquez", "garciamarquez"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transform {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Soundex,
    Nysiis,
    DoubleMetaphone,
    Cologne,
    Fold,
    Split,
    First(u8),
    Last(u8),
    Year,
    Month,
    YearMonth,
    MonthDay,
    DayMonthUnordered,
    DeleteOne,
    ReplaceOne,
}

/// What the values before a transform can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    can_be_dates: bool,
    can_have_letters: bool,
}

impl Values {
    pub(crate) fn of(profile: Profile) -> Self {
        let can_have_letters = profile.can_have_letters();
        Self { can_be_dates: profile.can_be_date(), can_have_letters }
    }
}

/// A name that is not a transform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// There is no transform of that name.
    #[error("there is no transform {name:?}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The nearest known name, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The transform needs a parameter, such as `first(3)`.
    #[error("the transform {name:?} needs a parameter")]
    MissingParameter {
        /// The requested name.
        name: &'static str,
    },
    /// The transform does not know the parameter.
    #[error("the transform {name:?} has no parameter {parameter:?}")]
    UnknownParameter {
        /// The requested name.
        name: &'static str,
        /// The requested parameter.
        parameter: String,
    },
}

/// One transform, for documents and listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueRow {
    /// Its name; a parameter in angle brackets represents its values.
    pub name: &'static str,
    /// Version of its outputs.
    pub version: u32,
    /// Its description, in one line.
    pub description: &'static str,
}

const fn row(name: &'static str, version: u32, description: &'static str) -> CatalogueRow {
    CatalogueRow { name, version, description }
}

const SOUNDEX: CatalogueRow =
    row("soundex", 1, "a letter and three digits; English names that sound alike");
const NYSIIS: CatalogueRow =
    row("nysiis", 1, "letters, not cut; names of many origins in English spelling");
const DOUBLE_METAPHONE: CatalogueRow =
    row("double-metaphone", 1, "one or two codes of at most four characters");
const COLOGNE: CatalogueRow = row("cologne", 1, "digits; German names that sound alike");
const FOLD: CatalogueRow = row("fold", 1, "lower case, Latin letters in ASCII");
const SPLIT: CatalogueRow =
    row("split", 1, "the words between hyphens and blanks, and all of them joined");
const FIRST: CatalogueRow = row("first(<N>)", 1, "the first N characters, 1 to 64");
const LAST: CatalogueRow = row("last(<N>)", 1, "the last N characters, 1 to 64");
const YEAR: CatalogueRow = row("year", 1, "of a date the year");
const MONTH: CatalogueRow = row("month", 1, "of a date the month");
const YEAR_MONTH: CatalogueRow = row("year-month", 1, "of a date year and month");
const MONTH_DAY: CatalogueRow = row("month-day", 1, "of a date month and day");
const DAY_MONTH_UNORDERED: CatalogueRow = row(
    "day-month-unordered",
    1,
    "the earlier of the date and the one with day and month exchanged",
);
const DELETE_ONE: CatalogueRow =
    row("delete-one", 1, "the value, and the value without one of its characters");
const REPLACE_ONE: CatalogueRow =
    row("replace-one", 1, "the value with each of its characters in turn replaced by a mark");

/// The most characters that `first` and `last` take.
const PART_MAX_CHARS: u8 = 64;

/// The most characters that the compatibility decomposition makes of one (Unicode Standard Annex
/// 15), which is more than lower case or the letters of ASCII make.
const FOLD_MAX_GROWTH: usize = 18;

impl Transform {
    /// All transforms.
    pub fn catalogue() -> &'static [CatalogueRow] {
        const ROWS: &[CatalogueRow] = &[
            SOUNDEX,
            NYSIIS,
            DOUBLE_METAPHONE,
            COLOGNE,
            FOLD,
            SPLIT,
            FIRST,
            LAST,
            YEAR,
            MONTH,
            YEAR_MONTH,
            MONTH_DAY,
            DAY_MONTH_UNORDERED,
            DELETE_ONE,
            REPLACE_ONE,
        ];
        ROWS
    }

    fn row(self) -> &'static CatalogueRow {
        match self.kind {
            Kind::Soundex => &SOUNDEX,
            Kind::Nysiis => &NYSIIS,
            Kind::DoubleMetaphone => &DOUBLE_METAPHONE,
            Kind::Cologne => &COLOGNE,
            Kind::Fold => &FOLD,
            Kind::Split => &SPLIT,
            Kind::First(_) => &FIRST,
            Kind::Last(_) => &LAST,
            Kind::Year => &YEAR,
            Kind::Month => &MONTH,
            Kind::YearMonth => &YEAR_MONTH,
            Kind::MonthDay => &MONTH_DAY,
            Kind::DayMonthUnordered => &DAY_MONTH_UNORDERED,
            Kind::DeleteOne => &DELETE_ONE,
            Kind::ReplaceOne => &REPLACE_ONE,
        }
    }

    /// Its name in an agreement, with the parameter.
    pub fn name(self) -> String {
        self.to_string()
    }

    /// Version of its outputs: both parties must use the same.
    pub fn version(self) -> u32 {
        self.row().version
    }

    /// Its description, in one line.
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// The most texts that it gives for a value of at most `max_len` characters.
    pub fn max_outputs(self, max_len: usize) -> usize {
        let len = max_len.min(MAX_CHARS);
        match self.kind {
            Kind::DoubleMetaphone => 2,
            // Words of two characters with a hyphen between them, and all of them joined.
            Kind::Split if len >= 3 => (len + 1) / 3 + 1,
            Kind::DeleteOne => len + 1,
            Kind::ReplaceOne => len.max(1),
            _ => 1,
        }
    }

    /// The most characters that a text has which it gives for a value of at most `max_len`
    /// characters.
    pub fn max_output_len(self, max_len: usize) -> usize {
        match self.kind {
            Kind::Soundex | Kind::DoubleMetaphone | Kind::Year => 4,
            Kind::Nysiis => max_len.min(MAX_CHARS),
            // X has two digits.
            Kind::Cologne => 2 * max_len.min(MAX_CHARS),
            Kind::Fold => max_len.saturating_mul(FOLD_MAX_GROWTH),
            Kind::Split | Kind::DeleteOne | Kind::ReplaceOne => max_len.min(MAX_CHARS),
            Kind::First(len) | Kind::Last(len) => max_len.min(usize::from(len)),
            Kind::Month => 2,
            Kind::YearMonth => 7,
            Kind::MonthDay => 5,
            Kind::DayMonthUnordered => 10,
        }
    }

    /// Whether it can make texts of values like these: it refuses all others.
    pub(crate) fn suits(self, values: Values) -> bool {
        match self.kind {
            Kind::Soundex | Kind::Nysiis | Kind::DoubleMetaphone | Kind::Cologne => {
                values.can_have_letters
            }
            Kind::Year
            | Kind::Month
            | Kind::YearMonth
            | Kind::MonthDay
            | Kind::DayMonthUnordered => values.can_be_dates,
            _ => true,
        }
    }

    /// What its texts can be for values like these.
    pub(crate) fn gives(self, values: Values) -> Values {
        let (can_be_dates, can_have_letters) = match self.kind {
            Kind::Soundex | Kind::Nysiis | Kind::DoubleMetaphone => (false, true),
            Kind::Cologne | Kind::Year | Kind::Month | Kind::YearMonth | Kind::MonthDay => {
                (false, false)
            }
            Kind::Split => (false, values.can_have_letters),
            // A date has ten characters.
            Kind::First(..10) | Kind::Last(..10) => (false, values.can_have_letters),
            _ => (values.can_be_dates, values.can_have_letters),
        };
        Values { can_be_dates, can_have_letters }
    }

    /// Appends what it makes of `value` to `out`: at least one text, each only once.
    ///
    /// # Errors
    /// The reason, if it makes no text of the value; `out` is then unchanged.
    pub fn apply(self, value: &str, out: &mut Texts) -> Result<(), Refusal> {
        match self.kind {
            Kind::Soundex => soundex::soundex(value, out),
            Kind::Nysiis => nysiis::nysiis(value, out),
            Kind::DoubleMetaphone => double_metaphone::double_metaphone(value, out),
            Kind::Cologne => cologne::cologne(value, out),
            Kind::Fold => parts::fold(value, out),
            Kind::Split => parts::split(value, out),
            Kind::First(len) => parts::first(value, len.into(), out),
            Kind::Last(len) => parts::last(value, len.into(), out),
            Kind::Year => dates::year(value, out),
            Kind::Month => dates::month(value, out),
            Kind::YearMonth => dates::year_month(value, out),
            Kind::MonthDay => dates::month_day(value, out),
            Kind::DayMonthUnordered => dates::unordered(value, out),
            Kind::DeleteOne => typing_errors::delete_one(value, out),
            Kind::ReplaceOne => typing_errors::replace_one(value, out),
        }
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::First(len) => write!(f, "first({len})"),
            Kind::Last(len) => write!(f, "last({len})"),
            _ => f.write_str(self.row().name),
        }
    }
}

/// The number of characters that `text` names, 1 to 64, in its one spelling.
fn part_len(text: &str) -> Option<u8> {
    let len = text.parse().ok().filter(|len| (1..=PART_MAX_CHARS).contains(len))?;
    (text == len.to_string()).then_some(len)
}

impl FromStr for Transform {
    type Err = TransformError;

    fn from_str(text: &str) -> Result<Self, TransformError> {
        let (name, parameter) = match text.split_once('(') {
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(parameter) => (name, Some(parameter)),
                None => (text, None),
            },
            None => (text, None),
        };
        let part = |name: &'static str| match parameter {
            None => Err(TransformError::MissingParameter { name }),
            Some(parameter) => part_len(parameter).ok_or_else(|| {
                TransformError::UnknownParameter { name, parameter: parameter.to_owned() }
            }),
        };
        let kind = match (name, parameter) {
            ("soundex", None) => Kind::Soundex,
            ("nysiis", None) => Kind::Nysiis,
            ("double-metaphone", None) => Kind::DoubleMetaphone,
            ("cologne", None) => Kind::Cologne,
            ("fold", None) => Kind::Fold,
            ("split", None) => Kind::Split,
            ("first", _) => Kind::First(part("first")?),
            ("last", _) => Kind::Last(part("last")?),
            ("year", None) => Kind::Year,
            ("month", None) => Kind::Month,
            ("year-month", None) => Kind::YearMonth,
            ("month-day", None) => Kind::MonthDay,
            ("day-month-unordered", None) => Kind::DayMonthUnordered,
            ("delete-one", None) => Kind::DeleteOne,
            ("replace-one", None) => Kind::ReplaceOne,
            _ => return Err(unknown(text, name, parameter)),
        };
        Ok(Self { kind })
    }
}

/// Why `text`, of these parts, is not a transform.
fn unknown(text: &str, name: &str, parameter: Option<&str>) -> TransformError {
    let names = || {
        let rows = Transform::catalogue().iter();
        rows.map(|row| row.name.split('(').next().unwrap_or(row.name))
    };
    if let Some(name) = names().find(|known| *known == name) {
        let parameter = parameter.unwrap_or_default().to_owned();
        return TransformError::UnknownParameter { name, parameter };
    }
    let likeness = |known: &&str| (strsim::jaro_winkler(known, name) * 1000.0) as u32;
    let nearest = names().max_by_key(likeness).filter(|known| likeness(known) > 700);
    TransformError::Unknown { name: text.to_owned(), nearest }
}
