//! Lists, counts and times in words.

use std::time::Duration;
use vesica_agreement::figures::{grouped, grouped_digits};
use vesica_core::Operation;
use vesica_engine::{AgreementReport, AnswerReport, Report, SumReport};
use vesica_records::KeyCounts;

/// `"a", "b" and "c"`.
pub fn list<T: AsRef<str>>(words: &[T]) -> String {
    and(&words.iter().map(|word| format!("{:?}", word.as_ref())).collect::<Vec<_>>())
}

/// `1 row`, `2 rows`.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `a, b and c`.
pub fn and<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}

/// What was read of a file. Of a list for a helper the number of different keys is known only
/// later, when the list is made.
pub fn keys_read(counts: &KeyCounts, is_list: bool) -> String {
    let with_key = grouped(counts.rows - counts.empty - counts.refused);
    let distinct = counted(counts.distinct, "different key");
    let keys = match (is_list, &counts.by_rule[..]) {
        (true, _) => format!("{with_key} with a key"),
        (false, []) => format!("{distinct}, {} repeated", grouped(counts.duplicates)),
        (false, _) => format!("{with_key} with a key, {distinct} under all rules"),
    };
    let (empty, refused) = (grouped(counts.empty), grouped(counts.refused));
    format!("read {}: {keys}, {empty} empty, {refused} refused", counted(counts.rows, "row"))
}

/// What `operation` computes of the parties' rows, in short; empty for one that is not known here.
pub fn of_operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Intersection => "which rows they have in common",
        Operation::Cardinality => "how many keys they have in common, not which",
        Operation::Threshold => "whether they have enough keys in common",
        Operation::Sum => "the sums of columns over the keys they have in common",
        Operation::InnerProduct => "the sum of products of both sides' values of common keys",
        Operation::Union => "all keys that at least one of them has",
        Operation::PrivateId => "a random identifier for each key that at least one has",
        Operation::Shares => "secret shares of the keys they have in common",
        Operation::SharedValues => "secret shares of values of common keys, or of a default",
        _ => "",
    }
}

/// What to write in place of the party name `name`, if only its capitals are wrong.
pub(crate) fn in_lower_case(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_name = (1..=32).contains(&name.len()) && name.bytes().all(is_plain) && lower != "all";
    (is_name && lower != name)
        .then(|| format!("names of parties are in lower case: write {lower:?} everywhere"))
}

/// A time for people: `1.5 s`, `42 s`, `3 min 20 s`, `2 h 5 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 if time.subsec_millis() > 0 => format!("{:.1} s", time.as_secs_f64()),
        0..60 => format!("{seconds} s"),
        60..3600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A number with or without a sign, its digits in groups.
pub fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(digits) => format!("-{}", grouped_digits(digits)),
        None => grouped_digits(number),
    }
}

/// A part of an expression and its answer.
pub fn answer(of: &AnswerReport) -> String {
    let said = match (&of.number, of.holds) {
        (Some(number), _) => signed(number),
        (None, holds) => if holds == Some(true) { "yes" } else { "no" }.to_owned(),
    };
    format!("{}: {said}", of.name)
}

/// The sum of a column over the common keys.
pub fn sum(agreed: &AgreementReport, of: &SumReport) -> String {
    // Without a column of values, a row has the value 1.
    let has_columns = agreed.value_columns.as_ref().is_none_or(|columns| !columns.is_empty());
    let what = if has_columns { "sum of" } else { "rows of" };
    format!("{what} {} over common keys: {}", of.column, signed(&of.sum))
}

/// How many of the written rows have a mark, if they have marks.
pub fn marked(report: &Report) -> String {
    report.result.rows_marked.map_or(String::new(), |rows| format!(", {} marked", grouped(rows)))
}

/// The answer line for a party that does not receive the result.
pub fn not_received(report: &Report) -> String {
    let receivers = &report.agreement.receives;
    let verb = if receivers.len() == 1 { "receives" } else { "receive" };
    format!("done; {} {verb} the result", and(receivers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_capitals_are_put_right() {
        let hint = in_lower_case("North_1").unwrap();
        assert!(hint.contains("\"north_1\""), "{hint}");
        for name in ["north", "No rth", "All", "", "Nörth"] {
            assert_eq!(in_lower_case(name), None, "{name}");
        }
    }

    #[test]
    fn a_list_reads_like_a_sentence() {
        assert_eq!(list(&["a"]), "\"a\"");
        assert_eq!(list(&["a", "b", "c"]), "\"a\", \"b\" and \"c\"");
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(and(&["a", "b"]), "a and b");
    }

    #[test]
    fn times_are_shown_in_suitable_units() {
        let cases = [
            (0, "0 s"),
            (1500, "1.5 s"),
            (42_000, "42 s"),
            (60_000, "1 min"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
        ];
        for (ms, expected) in cases {
            assert_eq!(duration(Duration::from_millis(ms)), expected);
        }
    }
}
