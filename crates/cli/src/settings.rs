//! Values of the command line and the environment, parsed once.

use crate::failure::Failure;
use clap::ValueEnum;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::env;
use std::num::{NonZeroUsize, ParseIntError};
use std::str::FromStr;
use std::time::{Duration, SystemTime};
use vesica_link::{check_address, check_peer_address};
use vesica_simd::Backend;
use vesica_tables::Format;

/// The variable that forces the vector kernels.
const KERNELS_VARIABLE: &str = "VESICA_SIMD";

/// A time limit, for example `90s`, `5m`, `1h30m` or `500ms`; `0` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLimit(Duration);

/// Longest limit on silence.
pub(crate) const MAX_IDLE: Duration = Duration::from_secs(24 * 3600);

/// The shortest limit on silence: shorter pauses are normal.
const MIN_IDLE: Duration = Duration::from_secs(1);

/// The least age of what may be removed.
const MIN_AGE: Duration = Duration::from_secs(60);

/// A text that is not a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimeLimitError {
    #[error("a time is a number and a unit, for example 90s, 5m, 1h30m or 500ms")]
    Form,
    #[error("a time is at most a year")]
    TooLong,
    #[error("the limit is from 1s to 1d")]
    Silence,
    #[error("the age is at least 1m")]
    Age,
}

/// The longest limit: sums of such times cannot overflow.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(366 * 24 * 3600);

impl FromStr for TimeLimit {
    type Err = TimeLimitError;

    fn from_str(text: &str) -> Result<Self, TimeLimitError> {
        if text == "0" {
            return Ok(Self(Duration::ZERO));
        }
        let mut total = Duration::ZERO;
        let mut rest = text;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or(TimeLimitError::Form)?;
            let number: u64 = rest[..digits].parse().map_err(|_| TimeLimitError::Form)?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let unit_ms = match &rest[..letters] {
                "ms" => 1,
                "s" => 1000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(TimeLimitError::Form),
            };
            let part = number.checked_mul(unit_ms).ok_or(TimeLimitError::TooLong)?;
            total = total.saturating_add(Duration::from_millis(part));
            rest = &rest[letters..];
        }
        match total {
            total if text.is_empty() || total.is_zero() && text != "0s" => {
                Err(TimeLimitError::Form)
            }
            total if total > MAX_TIME => Err(TimeLimitError::TooLong),
            total => Ok(Self(total)),
        }
    }
}

impl TimeLimit {
    /// The limit; `None` for `0`.
    pub(crate) fn limit(self) -> Option<Duration> {
        (!self.0.is_zero()).then_some(self.0)
    }
}

/// The value of `--idle`: a time that is not 0, and long enough that a normal pause does not end a
/// run.
pub(crate) fn idle_limit(text: &str) -> Result<TimeLimit, TimeLimitError> {
    let limit: TimeLimit = text.parse()?;
    if (MIN_IDLE..=MAX_IDLE).contains(&limit.0) { Ok(limit) } else { Err(TimeLimitError::Silence) }
}

/// The value of `--older-than`: a more recent write may still be in progress.
pub(crate) fn age(text: &str) -> Result<Duration, TimeLimitError> {
    let age: TimeLimit = text.parse()?;
    if age.0 >= MIN_AGE { Ok(age.0) } else { Err(TimeLimitError::Age) }
}

/// The most hours that a helper keeps a run: a leap year.
const MAX_KEEP_HOURS: u64 = 24 * 366;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number of hours is from 1 to {MAX_KEEP_HOURS}")]
pub(crate) struct KeepError;

/// How long a helper keeps a run, in hours.
pub(crate) fn keep_hours(text: &str) -> Result<Duration, KeepError> {
    let hours: u64 = text.parse().map_err(|_| KeepError)?;
    let fits = (1..=MAX_KEEP_HOURS).contains(&hours);
    fits.then(|| Duration::from_secs(hours * 3600)).ok_or(KeepError)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a day has the form YYYY-MM-DD, for example 2027-06-30")]
pub(crate) struct DayError;

/// A day of the calendar.
pub(crate) fn day(text: &str) -> Result<Date, DayError> {
    Date::strptime("%Y-%m-%d", text).map_err(|_| DayError)
}

/// A count, with optional underscores between digits: `50_000`.
pub(crate) fn count(text: &str) -> Result<u64, ParseIntError> {
    let is_grouped = text.split('_').all(|digits| !digits.is_empty());
    if is_grouped { text.replace('_', "").parse() } else { text.parse() }
}

/// The most bytes of the name of a column that is added.
const COLUMN_NAME_MAX_BYTES: usize = 256;

/// The name of a column that is added: 1 to 256 bytes, without control characters.
pub(crate) fn column_name(text: &str) -> Result<String, ColumnNameError> {
    let is_name = (1..=COLUMN_NAME_MAX_BYTES).contains(&text.len());
    let is_name = is_name && !text.contains(char::is_control);
    is_name.then(|| text.to_owned()).ok_or(ColumnNameError)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name of a column has 1 to {COLUMN_NAME_MAX_BYTES} bytes and no control characters")]
pub(crate) struct ColumnNameError;

/// `KEY=VALUE`: a value that is excluded from a key column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excluded {
    pub(crate) key: String,
    pub(crate) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the form is KEY=VALUE, for example email=NULL")]
pub(crate) struct ExcludedError;

impl FromStr for Excluded {
    type Err = ExcludedError;

    fn from_str(text: &str) -> Result<Self, ExcludedError> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                Ok(Self { key: key.to_owned(), value: value.to_owned() })
            }
            _ => Err(ExcludedError),
        }
    }
}

/// `KEY=COLUMN`: the column of this side's file that holds a key of the agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnChoice {
    pub(crate) key: String,
    pub(crate) column: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the form is KEY=COLUMN, for example email=E-Mail")]
pub(crate) struct ColumnChoiceError;

impl FromStr for ColumnChoice {
    type Err = ColumnChoiceError;

    fn from_str(text: &str) -> Result<Self, ColumnChoiceError> {
        let (key, column) = text.split_once('=').ok_or(ColumnChoiceError)?;
        if key.is_empty() || column.is_empty() {
            return Err(ColumnChoiceError);
        }
        Ok(Self { key: key.to_owned(), column: column.to_owned() })
    }
}

/// The character between the fields of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delimiter(u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a delimiter is one ASCII character, or \"tab\"")]
pub(crate) struct DelimiterError;

impl FromStr for Delimiter {
    type Err = DelimiterError;

    fn from_str(text: &str) -> Result<Self, DelimiterError> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            [byte] if byte.is_ascii() => Ok(Self(*byte)),
            _ => Err(DelimiterError),
        }
    }
}

impl Delimiter {
    pub(crate) fn byte(self) -> u8 {
        self.0
    }
}

/// The character that starts comment lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommentMark(u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("comments begin with one ASCII character, for example '#'")]
pub(crate) struct CommentMarkError;

impl FromStr for CommentMark {
    type Err = CommentMarkError;

    fn from_str(text: &str) -> Result<Self, CommentMarkError> {
        match text.as_bytes() {
            [byte] if byte.is_ascii() => Ok(Self(*byte)),
            _ => Err(CommentMarkError),
        }
    }
}

impl CommentMark {
    pub(crate) fn byte(self) -> u8 {
        self.0
    }
}

/// The column chosen for each key.
pub(crate) fn column_choices(given: &[ColumnChoice]) -> Result<BTreeMap<String, String>, Failure> {
    let mut choices = BTreeMap::new();
    for choice in given {
        if choices.insert(choice.key.clone(), choice.column.clone()).is_some() {
            return Err(Failure::ColumnTwice { key: choice.key.clone() });
        }
    }
    Ok(choices)
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatName {
    Csv,
    Tsv,
    Parquet,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Csv => Format::Csv,
            FormatName::Tsv => Format::Tsv,
            FormatName::Parquet => Format::Parquet,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One line for each event
    Text,
    /// One JSON object on each line
    Json,
}

/// The most threads: more do not help, and can bring a machine to a halt.
const MAX_THREADS: usize = 1024;

#[derive(Debug, thiserror::Error)]
#[error("the number of threads is from 1 to {MAX_THREADS}")]
pub(crate) struct ThreadCountError;

/// Parses a number of CPU threads.
pub(crate) fn thread_count(text: &str) -> Result<NonZeroUsize, ThreadCountError> {
    let count = count(text).map_err(|_| ThreadCountError)?;
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_THREADS);
    count.and_then(NonZeroUsize::new).ok_or(ThreadCountError)
}

/// Refuses a clock before 1970: expiry dates and times in reports would be wrong.
pub(crate) fn check_clock(now: SystemTime) -> Result<(), Failure> {
    now.duration_since(SystemTime::UNIX_EPOCH).map(drop).map_err(|_| Failure::Clock)
}

/// The value of `--listen`.
pub(crate) fn listen_address(text: &str) -> Result<String, AddressError> {
    check_address(text).map(|()| text.to_owned()).map_err(|_| AddressError)
}

/// The value of `--connect`. Port 0 is refused: no program listens on it.
pub(crate) fn peer_address(text: &str) -> Result<String, AddressError> {
    check_peer_address(text).map(|()| text.to_owned()).map_err(|_| AddressError)
}

/// A text that is not an address, or that cannot be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an address is a host and a port, for example partner.example:7400 or [::1]:7400")]
pub(crate) struct AddressError;

/// Selects the kernels that `VESICA_SIMD` names, if it is set.
pub(crate) fn choose_kernels() -> Result<(), Failure> {
    let Some(name) = env::var_os(KERNELS_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    let name = name.to_string_lossy().into_owned();
    let available = || Backend::available().iter().map(|backend| backend.name()).collect();
    let Some(backend) = Backend::from_name(&name) else {
        return Err(Failure::Kernels { name, available: available() });
    };
    vesica_simd::force(backend).map_err(|_| Failure::Kernels { name, available: available() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_underscores_between_digits() {
        assert_eq!(count("50_000"), Ok(50_000));
        assert_eq!(count("1_572_864"), Ok(1_572_864));
        assert_eq!(count("7"), Ok(7));
        for bad in ["", "_", "_5", "5_", "5__0", "-1", "1e3", "1,000", "18446744073709551616"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        assert_eq!(thread_count("1_0").map(NonZeroUsize::get).ok(), Some(10));
        assert!(thread_count("0").is_err() && thread_count("1_025").is_err());
    }

    #[test]
    fn a_column_has_a_name_of_one_line() {
        assert_eq!(column_name("in common").as_deref(), Ok("in common"));
        assert_eq!(column_name(&"é".repeat(128)).map(|name| name.len()), Ok(256));
        for bad in ["", "a\nb", "a\tb", &"x".repeat(257)] {
            assert_eq!(column_name(bad), Err(ColumnNameError), "{bad}");
        }
    }

    #[test]
    fn an_excluded_value_may_hold_an_equals_sign() {
        let excluded = Excluded { key: "id".to_owned(), value: "a=b".to_owned() };
        assert_eq!("id=a=b".parse(), Ok(excluded));
        for bad in ["", "id", "id=", "=NULL"] {
            assert_eq!(bad.parse::<Excluded>(), Err(ExcludedError), "{bad}");
        }
    }
    use crate::messages;
    use vesica_diagnostics::Who;

    fn time(text: &str) -> Result<Option<Duration>, TimeLimitError> {
        text.parse::<TimeLimit>().map(TimeLimit::limit)
    }

    #[test]
    fn a_clock_before_1970_is_refused() {
        let epoch = SystemTime::UNIX_EPOCH;
        assert!(check_clock(epoch).is_ok() && check_clock(SystemTime::now()).is_ok());
        let refused =
            check_clock(epoch - Duration::from_nanos(1)).expect_err("a clock before 1970");
        let message = messages::of(&refused);
        assert_eq!(message.who, Who::You);
        assert!(message.error.contains("before 1970"), "{}", message.error);
    }

    #[test]
    fn times_are_numbers_with_units() {
        let seconds = |n| Ok(Some(Duration::from_secs(n)));
        assert_eq!(time("90s"), seconds(90));
        assert_eq!(time("5m"), seconds(300));
        assert_eq!(time("1h30m"), seconds(5400));
        assert_eq!(time("2d"), seconds(172_800));
        assert_eq!(time("500ms"), Ok(Some(Duration::from_millis(500))));
        assert_eq!(time("0"), Ok(None));
        assert_eq!(time("0s"), Ok(None));
    }

    #[test]
    fn malformed_times_are_refused() {
        for bad in ["", "90", "s", "5 m", "-1s", "1.5h", "1y", "0m", "m5", "99999999999999999999s"]
        {
            assert_eq!(time(bad), Err(TimeLimitError::Form), "{bad}");
        }
        for bad in ["400d", "18446744073709551615h", "18446744073709551615ms"] {
            assert_eq!(time(bad), Err(TimeLimitError::TooLong), "{bad}");
        }
    }

    #[test]
    fn a_limit_on_silence_is_from_1s_to_1d() {
        assert_eq!(idle_limit("0"), Err(TimeLimitError::Silence));
        assert_eq!(idle_limit("999ms"), Err(TimeLimitError::Silence));
        assert_eq!(idle_limit("2d"), Err(TimeLimitError::Silence));
        assert!(idle_limit("1s").is_ok() && idle_limit("24h").is_ok());
    }

    #[test]
    fn what_is_removed_is_at_least_a_minute_old() {
        assert_eq!(age("59s"), Err(TimeLimitError::Age));
        assert_eq!(age("0"), Err(TimeLimitError::Age));
        assert_eq!(age("30"), Err(TimeLimitError::Form));
        assert_eq!(age("30d"), Ok(Duration::from_secs(30 * 24 * 3600)));
    }

    #[test]
    fn hours_to_keep_a_run_are_from_1_to_8784() {
        assert_eq!(keep_hours("1"), Ok(Duration::from_secs(3600)));
        assert_eq!(keep_hours("8784"), Ok(Duration::from_secs(8784 * 3600)));
        for bad in ["0", "8785", "-1", "", "1h", "99999999999999999999"] {
            assert_eq!(keep_hours(bad), Err(KeepError), "{bad}");
        }
    }

    #[test]
    fn a_column_may_hold_an_equals_sign() {
        let choice: ColumnChoice = "email=a=b".parse().unwrap();
        assert_eq!((&*choice.key, &*choice.column), ("email", "a=b"));
        for bad in ["", "email", "=x", "email="] {
            assert!(bad.parse::<ColumnChoice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_delimiter_is_one_ascii_character() {
        for (text, byte) in
            [(",", b','), (";", b';'), ("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t')]
        {
            assert_eq!(text.parse(), Ok(Delimiter(byte)));
        }
        assert_eq!("#".parse(), Ok(CommentMark(b'#')));
        for bad in ["", ",,", "é", "\u{80}"] {
            assert_eq!(bad.parse::<Delimiter>(), Err(DelimiterError), "{bad}");
            assert_eq!(bad.parse::<CommentMark>(), Err(CommentMarkError), "{bad}");
        }
    }

    #[test]
    fn thread_counts_are_limited_at_both_ends() {
        assert_eq!(thread_count("1").unwrap().get(), 1);
        assert_eq!(thread_count("1024").unwrap().get(), 1024);
        for bad in ["0", "1025", "1000000000", "-1", "", "x"] {
            assert!(thread_count(bad).is_err(), "{bad}");
        }
    }
}
