//! Cells that a parser of telephone numbers would read and that hold none: decimal numbers, and two
//! numbers. Their digits, run together, are another person's number.

use super::region::{Region, is_plus, is_possible};
use rlibphonenumber::PHONE_NUMBER_UTIL;

/// Digits of the shortest numbers, those of small islands.
const FIRST_MIN_DIGITS: usize = 4;

/// Digits, without country code, from which on a number counts as whole even outside the known
/// ranges.
const WHOLE_MIN_DIGITS: usize = 8;

/// Digits of a number too long for the first group of one, and so before a decimal point.
const UNGROUPED_MIN_DIGITS: usize = 7;

/// Whether `text` is what programs make of a number in a column with gaps: `15123456789.0`,
/// `1.5E+10`, `15,123,456,789.00`.
///
/// A point or comma alone is a decimal point before one or two digits, and before zeros alone if at
/// least seven digits stand before it. With groups of three before it, it is one if they have
/// another mark.
pub(super) fn is_decimal(text: &str) -> bool {
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix(['+', '-', '\u{2212}']).unwrap_or(text);
    let is_mark = |c: char| matches!(c, '.' | ',');
    if let Some((number, exponent)) = text.split_once(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-', '\u{2212}']).unwrap_or(exponent);
        return are_digits(exponent) && number.splitn(2, is_mark).all(are_digits);
    }
    let Some(at) = text.rfind(is_mark) else { return false };
    let (whole, part) = (&text[..at], &text[at + 1..]);
    if !are_digits(part) {
        return false;
    }
    if are_digits(whole) {
        let is_zero = part.bytes().all(|byte| byte == b'0');
        return part.len() <= 2 || is_zero && whole.len() >= UNGROUPED_MIN_DIGITS;
    }
    let is_group_mark = |c: char| is_mark(c) || c == '\'' || c == '\u{2019}' || c.is_whitespace();
    let Some(mark) = whole.chars().find(|c| is_group_mark(*c)) else { return false };
    let mut groups = whole.split(mark);
    !text[at..].starts_with(mark)
        && groups.next().is_some_and(|first| are_digits(first) && first.len() <= 3)
        && groups.all(|group| are_digits(group) && group.len() == 3)
}

/// Whether `text` holds two numbers, or one and a part of another: `030 901820 / 901821`.
///
/// It does if a whole number comes before a slash, a bracket or another character that does not
/// separate the groups of a number. It also does if there are two whole numbers on the sides of a
/// blank, a dash or a point, and the second begins with a prefix, or both together are no valid
/// number. `030/901820` is one number, because `030` alone is not one.
pub(super) fn holds_two(text: &str, region: Region) -> bool {
    let mut digits = 0;
    let mut gap = None;
    for (at, c) in text.char_indices() {
        if !c.is_numeric() && !is_plus(c) {
            gap = gap.or(Some(at));
            continue;
        }
        if let Some(start) = gap.take()
            && digits >= FIRST_MIN_DIGITS
        {
            let after = &text[at..];
            let is_divided = !text[start..at].chars().all(is_inside);
            let divides = is_divided
                || is_whole(after, region)
                    && (after.starts_with(['0', '\u{ff10}']) || !is_valid(text, region));
            if divides && is_whole(&text[..start], region) {
                return true;
            }
        }
        digits += 1;
    }
    false
}

/// Whether `c` stands between the groups of one number: no tab, and no end of a line.
fn is_inside(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
        || matches!(c, ')' | '\u{ff09}' | ']' | '\u{ff3d}' | '.' | '\u{ff0e}')
        || matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}' | '\u{ff0d}')
}

fn is_valid(text: &str, region: Region) -> bool {
    PHONE_NUMBER_UTIL.parse(text, Some(region.0)).is_ok_and(|number| number.is_valid())
}

fn is_whole(text: &str, region: Region) -> bool {
    PHONE_NUMBER_UTIL.parse(text, Some(region.0)).is_ok_and(|number| {
        let digits = number.get_national_significant_number().len();
        number.is_valid() || is_possible(&number) && digits >= WHOLE_MIN_DIGITS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_told_from_numbers_with_points() {
        for decimal in [
            "15123456789.0",
            "15123456789.00",
            "15123456789,0",
            "+15123456789.0",
            "30901820.5",
            "15123456789.000000",
            "1.5e10",
            "1.5E+10",
            "15E9",
            "1,5e10",
            "1.5123456789E10",
            "-12.50",
            "15,123,456,789.0",
            "15.123.456.789,00",
            "15 123 456 789.0",
            "1'234.5",
            "15,123,456.789",
        ] {
            assert!(is_decimal(decimal), "{decimal}");
        }
        for other in [
            "",
            ".",
            "030.901820",
            "01.23.45.67.89",
            "212.555.0123",
            "0171.1234567",
            "030901820.",
            "01 23 45 67.89",
            "+33 1.23.45.67.89",
            "15.123.456.78",
            "212,555,012",
            "1e",
            "e5",
            "1.5.5e10",
            "2.0x",
            "0800.000",
            "030 9018.20",
        ] {
            assert!(!is_decimal(other), "{other}");
        }
    }

    #[test]
    fn a_second_number_is_told_from_a_second_group() {
        let region = Region::new("DE").unwrap();
        for two in [
            "030 901820 / 901821",
            "030 901820/901821",
            "030901820/21",
            "+49 30 901820 / 901821",
            "030 901820 (901821)",
            "030 901820 [901821]",
            "030 901820 ~ 901821",
            "030 901820*901821",
            "030 9018 030 9019",
            "030 9018 - 030 9019",
            "030 9018 \u{ff0f} 9019",
            "0151 23456789 / 1234",
            "030 901820\n901821",
            "030901820\t901821",
        ] {
            assert!(holds_two(two, region), "{two}");
        }
        for one in [
            "030 901820",
            "030/901820",
            "030 / 901820",
            "030/90 18 20",
            "+49 (0) 30 / 901820",
            "+49 (0)30/901820",
            "0049 (0) 30 / 901820",
            "(030) 901820",
            "030 9018-20",
            "03471/12345",
            "033056/12345",
            "0800/1234567",
            "0151/23456789",
            "0180/5123456",
            "030 901820 21",
        ] {
            assert!(!holds_two(one, region), "{one}");
        }
    }
}
