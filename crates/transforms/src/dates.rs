//! Parts of dates, as the profile `date` writes them: `YYYY-MM-DD`.

use crate::refusal::Refusal;
use crate::texts::Texts;

/// The three numbers of a date.
struct Date<'a> {
    year: &'a str,
    month: &'a str,
    day: &'a str,
}

impl<'a> Date<'a> {
    fn read(value: &'a str) -> Result<Self, Refusal> {
        let is_shaped = value.len() == 10
            && value.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_shaped {
            return Err(Refusal::NotADate);
        }
        let date = Self { year: &value[..4], month: &value[5..7], day: &value[8..] };
        let is_date = is_month(date.month) && ("01"..="31").contains(&date.day);
        if is_date { Ok(date) } else { Err(Refusal::NotADate) }
    }

    /// The date with day and month exchanged. A day up to the twelfth is in every month.
    fn swapped(&self) -> Option<Self> {
        is_month(self.day).then_some(Self { year: self.year, month: self.day, day: self.month })
    }

    fn push(&self, out: &mut Texts) {
        out.push_joined(&[self.year, "-", self.month, "-", self.day]);
    }
}

fn is_month(digits: &str) -> bool {
    ("01"..="12").contains(&digits)
}

pub(crate) fn year(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    out.push(Date::read(value)?.year);
    Ok(())
}

pub(crate) fn month(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    out.push(Date::read(value)?.month);
    Ok(())
}

pub(crate) fn year_month(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let date = Date::read(value)?;
    out.push_joined(&[date.year, "-", date.month]);
    Ok(())
}

pub(crate) fn month_day(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let date = Date::read(value)?;
    out.push_joined(&[date.month, "-", date.day]);
    Ok(())
}

/// The earlier of the date and the one with day and month exchanged: two dates get the same exactly
/// if they are equal or one is the other exchanged.
pub(crate) fn unordered(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let date = Date::read(value)?;
    match date.swapped() {
        Some(swapped) if swapped.month < date.month => swapped.push(out),
        _ => date.push(out),
    }
    Ok(())
}
