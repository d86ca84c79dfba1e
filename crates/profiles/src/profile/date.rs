//! `date`, `date:dmy`, `date:mdy`: calendar days as `YYYY-MM-DD` (ISO 8601).
//!
//! Accepted, with `-`, `/` or `.` between three numbers, and blanks around them:
//!
//! * year first, always year-month-day: `2024-02-01`, `2024/2/1`, `20240201` (1800 to 2199 only);
//! * year last, if one number cannot be a month or both are equal: `13/02/2024`, `02-13-2024`,
//!   `5.5.2024`; otherwise refused, unless the profile states the order;
//! * an English month name: `1 Feb 2024`, `1-Feb-2024`, `1st February 2024`, `Feb 1, 2024`.
//!
//! Years have four digits, 1000 to 9999. A time at midnight is removed, because exports add it to
//! plain dates: `T00:00:00`, `00:00:00.000Z`, `00:00:00+00:00`, `00:00 UTC`, `12:00:00 AM`. Any
//! other time is refused, because the day then depends on a time zone: also `24:00:00`, which ends
//! the day, and midnight in another zone than UTC.

use super::text::trimmed;
use crate::refusal::Refusal;
use std::borrow::Cow;

/// The order of day and month if both are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Order {
    DayFirst,
    MonthFirst,
}

/// Longest accepted text: `30th of September, 2024` with a time and some blanks is shorter.
const TEXT_MAX_BYTES: usize = 64;

/// Blanks at which no line is broken.
const NO_BREAK: [char; 2] = ['\u{a0}', '\u{202f}'];

const MONTHS: [&[u8]; 12] = [
    b"january",
    b"february",
    b"march",
    b"april",
    b"may",
    b"june",
    b"july",
    b"august",
    b"september",
    b"october",
    b"november",
    b"december",
];

pub(super) fn iso(cell: &[u8], order: Option<Order>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    // Excel and others put a narrow space before AM and PM.
    let text = if text.contains(NO_BREAK) { Cow::Owned(text.replace(NO_BREAK, " ")) } else { text };
    if text.len() > TEXT_MAX_BYTES || !text.is_ascii() {
        return Err(Refusal::NotADate);
    }
    let day = cut_midnight(text.as_bytes())?;
    let (year, month, day) = read_day(day, order)?;
    if !(1000..=9999).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=days_in_month(year, month)).contains(&day)
    {
        return Err(Refusal::NotADate);
    }
    push_number(year, 4, out);
    out.push(b'-');
    push_number(month, 2, out);
    out.push(b'-');
    push_number(day, 2, out);
    Ok(())
}

/// The order of day and month in a date with the year last that is not ambiguous.
pub(super) fn order_in(cell: &[u8]) -> Option<Order> {
    let text = trimmed(cell);
    if text.len() > TEXT_MAX_BYTES || !text.is_ascii() {
        return None;
    }
    let ([Part::Number { value: first, digits: 1 | 2 }, Part::Number { value: second, .. }, _], _) =
        split(cut_midnight(text.as_bytes()).ok()?).ok()?
    else {
        return None;
    };
    match (first, second) {
        (13..=31, 1..=12) => Some(Order::DayFirst),
        (1..=12, 13..=31) => Some(Order::MonthFirst),
        _ => None,
    }
}

fn push_number(number: u32, digits: u32, out: &mut Vec<u8>) {
    for digit in (0..digits).rev() {
        out.push(b'0' + (number / 10_u32.pow(digit) % 10) as u8);
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The text before a time, which must be midnight in UTC or in no zone.
fn cut_midnight(text: &[u8]) -> Result<&[u8], Refusal> {
    let Some(colon) = text.iter().position(|byte| *byte == b':') else { return Ok(text) };
    let is_start = |at: &usize| matches!(text[*at], b'T' | b't' | b' ');
    // One or two digits of the hour precede the first colon.
    let hour = (0..colon).rev().find(|at| !text[*at].is_ascii_digit());
    let Some(split) = hour.filter(is_start).filter(|at| matches!(colon - at, 2 | 3)) else {
        // `2024-02-01+01:00` is a day in a zone.
        let follows_day = |at: usize| {
            matches!(text[at], b'+' | b'-') && read_day(&text[..at], Some(Order::DayFirst)).is_ok()
        };
        let has_zone = hour.is_some_and(follows_day);
        return Err(if has_zone { Refusal::TimeZone } else { Refusal::NotADate });
    };
    let time = &text[split + 1..];
    let clock_len = time.iter().take_while(|byte| is_of_a_clock(**byte)).count();
    let (clock, mut rest) = time.split_at(clock_len);
    rest = rest.trim_ascii_start();
    let half = [Half::Morning, Half::Afternoon]
        .into_iter()
        .find(|half| rest.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(half.name())));
    if half.is_some() {
        rest = rest[2..].trim_ascii_start();
    }
    let is_midnight = is_midnight(clock, half)?;
    check_zone(rest)?;
    if is_midnight { Ok(text[..split].trim_ascii_end()) } else { Err(Refusal::TimeOfDay) }
}

/// The half of a day in which a clock of twelve hours is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Morning,
    Afternoon,
}

impl Half {
    fn name(self) -> &'static [u8] {
        match self {
            Half::Morning => b"AM",
            Half::Afternoon => b"PM",
        }
    }
}

fn is_of_a_clock(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b',')
}

/// Whether a time is the beginning of a day. It has two to four numbers, of which the last may have
/// a fraction.
fn is_midnight(clock: &[u8], half: Option<Half>) -> Result<bool, Refusal> {
    let mut numbers = clock.split(|byte| *byte == b':');
    let hour = numbers.next().unwrap_or_default();
    let (mut count, mut is_zero) = (0, true);
    for number in numbers {
        count += 1;
        let mut digits = number.split(|byte| matches!(byte, b'.' | b','));
        let is_number = |part: &[u8]| !part.is_empty();
        let whole = digits.next().is_some_and(is_number);
        let fraction = digits.next().is_none_or(is_number);
        if !whole || !fraction || digits.next().is_some() {
            return Err(Refusal::NotADate);
        }
        is_zero &= number.iter().all(|byte| matches!(byte, b'0' | b'.' | b','));
    }
    if !(1..=3).contains(&count) {
        return Err(Refusal::NotADate);
    }
    let starts = match half {
        Some(Half::Morning) => matches!(hour, b"12" | b"0" | b"00"),
        Some(Half::Afternoon) => false,
        None => matches!(hour, b"0" | b"00"),
    };
    Ok(starts && is_zero)
}

/// Refuses what follows a time, unless it is nothing or UTC.
fn check_zone(zone: &[u8]) -> Result<(), Refusal> {
    let is_utc = zone.is_empty()
        || [&b"Z"[..], b"UTC", b"GMT"].iter().any(|name| zone.eq_ignore_ascii_case(name))
        || [&b"00"[..], b"0000", b"00:00"]
            .iter()
            .any(|zero| matches!(zone, [b'+' | b'-', offset @ ..] if offset == *zero));
    if is_utc {
        return Ok(());
    }
    let is_of_a_zone = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'-' | b':' | b'/' | b'_' | b'[' | b']')
    };
    let names_one = matches!(zone[0], b'+' | b'-' | b'[') || zone[0].is_ascii_alphabetic();
    if names_one && zone.iter().all(is_of_a_zone) {
        Err(Refusal::TimeZone)
    } else {
        Err(Refusal::NotADate)
    }
}

enum Part<'a> {
    Number { value: u32, digits: usize },
    Word(&'a [u8]),
}

fn read_day(text: &[u8], order: Option<Order>) -> Result<(u32, u32, u32), Refusal> {
    if text.len() == 8 && text.iter().all(u8::is_ascii_digit) {
        return read_compact(text);
    }
    let (parts, separators) = split(text)?;
    match parts {
        [
            Part::Number { value: year, digits: 4 },
            Part::Number { value: month, digits: 1 | 2 },
            Part::Number { value: day, digits: 1 | 2 },
        ] if separators.uniform() => Ok((year, month, day)),
        [
            Part::Number { value: first, digits: 1 | 2 },
            Part::Number { value: second, digits: 1 | 2 },
            Part::Number { value: year, digits: 4 },
        ] if separators.uniform() => {
            let (day, month) = match (first, second, order) {
                (13.., ..) => (first, second),
                (_, 13.., _) => (second, first),
                _ if first == second => (first, second),
                (.., Some(Order::DayFirst)) => (first, second),
                (.., Some(Order::MonthFirst)) => (second, first),
                (.., None) => return Err(Refusal::AmbiguousDate),
            };
            Ok((year, month, day))
        }
        [
            Part::Number { value: day, digits: 1 | 2 },
            Part::Word(month),
            Part::Number { value: year, digits: 4 },
        ]
        | [
            Part::Word(month),
            Part::Number { value: day, digits: 1 | 2 },
            Part::Number { value: year, digits: 4 },
        ]
        | [
            Part::Number { value: year, digits: 4 },
            Part::Word(month),
            Part::Number { value: day, digits: 1 | 2 },
        ] => Ok((year, month_named(month)?, day)),
        [Part::Number { digits: 1 | 2, .. }, _, Part::Number { digits: 2, .. }]
        | [Part::Word(_), Part::Number { digits: 1 | 2, .. }, Part::Number { digits: 2, .. }] => {
            Err(Refusal::ShortYear)
        }
        _ => Err(Refusal::NotADate),
    }
}

/// `YYYYMMDD`. With these years the same digits are not a date in another order: the middle four
/// would have to be both a month and the beginning of a year.
fn read_compact(text: &[u8]) -> Result<(u32, u32, u32), Refusal> {
    let number = |range: std::ops::Range<usize>| {
        text[range].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
    };
    let year = number(0..4);
    if (1800..2200).contains(&year) {
        Ok((year, number(4..6), number(6..8)))
    } else {
        Err(Refusal::NotADate)
    }
}

/// The separators between the parts.
struct Separators {
    first: u8,
    second: u8,
}

impl Separators {
    fn uniform(&self) -> bool {
        self.first == self.second && matches!(self.first, b'-' | b'/' | b'.')
    }
}

/// Three numbers or words, separated by one separator with optional blanks around it, or by blanks.
fn split(text: &[u8]) -> Result<([Part<'_>; 3], Separators), Refusal> {
    let mut rest = text;
    let (first, after_first) = part(&mut rest)?;
    let (second, after_second) = part(&mut rest)?;
    let (third, end) = part(&mut rest)?;
    if !rest.is_empty() || end != 0 {
        return Err(Refusal::NotADate);
    }
    Ok(([first, second, third], Separators { first: after_first, second: after_second }))
}

/// Reads a part and what follows it: the separator, a space for blanks only, or 0 for the end.
fn part<'a>(rest: &mut &'a [u8]) -> Result<(Part<'a>, u8), Refusal> {
    let text = *rest;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (part, mut len) = if (1..=4).contains(&digits) {
        let value = text[..digits].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        (Part::Number { value, digits }, digits)
    } else if letters > 0 {
        (Part::Word(&text[..letters]), letters)
    } else {
        return Err(Refusal::NotADate);
    };
    if let Part::Number { value, digits: 1 | 2 } = part {
        len += ordinal_len(value, &text[len..]);
    }
    let tail = &text[len..];
    let after = tail.trim_ascii_start();
    let separator = match after {
        [] => 0,
        [byte @ (b'-' | b'/' | b'.' | b','), ..] => *byte,
        _ if after.len() < tail.len() => b' ',
        _ => return Err(Refusal::NotADate),
    };
    *rest = if matches!(separator, 0 | b' ') { after } else { after[1..].trim_ascii_start() };
    Ok((part, separator))
}

/// Length of the suffix `st`, `nd`, `rd` or `th` that fits the number.
fn ordinal_len(number: u32, tail: &[u8]) -> usize {
    let suffix: &[u8] = match (number % 10, number / 10) {
        (_, 1) => b"th",
        (1, _) => b"st",
        (2, _) => b"nd",
        (3, _) => b"rd",
        _ => b"th",
    };
    let has_it = tail.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(suffix));
    if has_it { 2 } else { 0 }
}

/// An English month name, in full or abbreviated to at least three letters.
fn month_named(name: &[u8]) -> Result<u32, Refusal> {
    let known = |month: &&[u8]| {
        name.len() >= 3
            && month.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
    };
    let at = MONTHS.iter().position(known).ok_or(Refusal::NotADate)?;
    Ok(at as u32 + 1)
}
