//! Telephone numbers of every region in the spellings that files have: each gives the right number
//! or a refusal, never another number.

use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat, PhoneNumberType, Region};
use std::collections::BTreeMap;
use vesica_profiles::{Normalised, Profile, Refusal};

/// The regions that have the profile, with examples of their numbers.
fn examples() -> Vec<(Region, Vec<PhoneNumber>)> {
    let types = [
        PhoneNumberType::FixedLine,
        PhoneNumberType::Mobile,
        PhoneNumberType::TollFree,
        PhoneNumberType::SharedCost,
        PhoneNumberType::VoIP,
        PhoneNumberType::UAN,
    ];
    let mut regions: Vec<_> = PHONE_NUMBER_UTIL.get_supported_regions().collect();
    regions.sort_by_key(|region| region.as_region_str().to_string());
    let example =
        |region, kind| PHONE_NUMBER_UTIL.get_example_number_for_type_and_region(region, kind).ok();
    regions
        .into_iter()
        .map(|region| {
            (region, types.into_iter().filter_map(|kind| example(region, kind)).collect())
        })
        .collect()
}

fn profile(region: Region) -> Profile {
    format!("phone:{}", region.as_region_str()).parse().unwrap()
}

fn read(profile: Profile, text: &str) -> Result<String, Refusal> {
    let mut out = Vec::new();
    let done = profile.normalise(text, &mut out)?;
    assert_eq!(done, Normalised::Value, "{text:?}");
    Ok(String::from_utf8(out).unwrap())
}

fn e164(number: &PhoneNumber) -> String {
    number.format_as(PhoneNumberFormat::E164).into_owned()
}

/// How often each outcome came, by spelling.
#[derive(Default)]
struct Outcomes {
    right: BTreeMap<&'static str, u32>,
    refused: BTreeMap<(&'static str, String), u32>,
    wrong: Vec<String>,
}

impl Outcomes {
    fn count(&mut self, spelling: &'static str, profile: Profile, text: &str, expected: &str) {
        match read(profile, text) {
            Ok(number) if number == expected => *self.right.entry(spelling).or_default() += 1,
            Ok(number) => {
                self.wrong
                    .push(format!("{spelling}: {profile} of {text:?}: {number}, not {expected}"));
            }
            Err(reason) => {
                *self.refused.entry((spelling, format!("{reason:?}"))).or_default() += 1;
            }
        }
    }

    /// None is wrong, and how many there are of each is known: fewer right ones are lost matches.
    fn check(&self, table: &[&str]) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert_eq!(self.table(), table);
    }

    fn table(&self) -> Vec<String> {
        let right = self.right.iter().map(|(spelling, count)| format!("{spelling}: {count}"));
        let refused = self
            .refused
            .iter()
            .map(|((spelling, reason), count)| format!("{spelling}: {reason} {count}"));
        right.chain(refused).collect()
    }
}

#[test]
fn every_spelling_of_one_number_gives_it_or_is_refused() {
    let mut outcomes = Outcomes::default();
    for (region, numbers) in examples() {
        let profile = profile(region);
        for number in &numbers {
            let expected = e164(number);
            let national = number.format_as(PhoneNumberFormat::National).into_owned();
            let digits: String = national.chars().filter(char::is_ascii_digit).collect();
            let significant = number.get_national_significant_number();
            let bare = expected.strip_prefix('+').unwrap();
            let slashed = national.replacen([' ', '-'], "/", 1);
            let mut count = |spelling, text: &str| {
                outcomes.count(spelling, profile, text, &expected);
            };
            count("E.164", &expected);
            count("international", &number.format_as(PhoneNumberFormat::International));
            count("URI", &number.format_as(PhoneNumberFormat::RFC3966));
            count("national", &national);
            count("national digits", &digits);
            count("national with slash", &slashed);
            count("without prefix", &significant);
            count("without plus", bare);
            count("with 00", &format!("00{bare}"));
            for whole in [bare, &expected, &digits, &significant] {
                count("with .0", &format!("{whole}.0"));
                count("with .00", &format!("{whole}.00"));
                count("with comma", &format!("{whole},0"));
                count("exponent", &format!("{:e}", whole.parse::<f64>().unwrap()));
            }
        }
    }
    outcomes.check(&[
        "E.164: 883",
        "URI: 883",
        "international: 883",
        "national: 883",
        "national digits: 883",
        "national with slash: 882",
        "with 00: 880",
        "without plus: 871",
        "without prefix: 883",
        "E.164: ImpossiblePhone 1",
        "URI: ImpossiblePhone 1",
        "exponent: DecimalNumber 3536",
        "international: ImpossiblePhone 1",
        "national: ImpossiblePhone 1",
        "national digits: ImpossiblePhone 1",
        "national with slash: ImpossiblePhone 1",
        "national with slash: TwoPhones 1",
        "with .0: DecimalNumber 3536",
        "with .00: DecimalNumber 3536",
        "with 00: ImpossiblePhone 1",
        "with 00: NotAPhone 3",
        "with comma: DecimalNumber 3536",
        "without plus: AmbiguousPhone 12",
        "without plus: ImpossiblePhone 1",
        "without prefix: ImpossiblePhone 1",
    ]);
}

#[test]
fn two_numbers_in_a_cell_are_never_run_together() {
    let mut outcomes = Outcomes::default();
    for (region, numbers) in examples() {
        let profile = profile(region);
        for number in &numbers {
            let expected = e164(number);
            let national = number.format_as(PhoneNumberFormat::National).into_owned();
            let digits: String = national.chars().filter(char::is_ascii_digit).collect();
            let significant = number.get_national_significant_number();
            for text in [&*national, &digits, &expected, &expected[1..], &significant] {
                let between = ["/", " / ", ";", "; ", ",", ", ", "\n", " (", "\\", " & ", "|"];
                let twice = between.map(|between| ("a mark or line end", between));
                for (spelling, between) in twice.into_iter().chain([("a word", " or ")]) {
                    let twice = format!("{text}{between}{text}");
                    outcomes.count(spelling, profile, &twice, &expected);
                }
                for between in ["/", " / ", ", ", ";", "\n"] {
                    for len in 1..=7.min(text.len()) {
                        if let Some(end) = text.get(text.len() - len..)
                            && end.bytes().all(|b| b.is_ascii_digit())
                        {
                            let text = format!("{text}{between}{end}");
                            outcomes.count("the end of another", profile, &text, &expected);
                        }
                    }
                }
            }
            for between in [" ", "  ", " - ", "-"] {
                let twice = format!("{national}{between}{national}");
                outcomes.count("a dash or blank", profile, &twice, &expected);
            }
        }
    }
    outcomes.check(&[
        "a dash or blank: TwoPhones 3536",
        "a mark or line end: PhoneExtension 7780",
        "a mark or line end: TwoPhones 40840",
        "a word: NotAPhone 4420",
        "the end of another: PhoneExtension 55728",
        "the end of another: TwoPhones 83592",
    ]);
}

/// The hardest numbers without a plus: valid ones whose first digits are their country code.
#[test]
fn numbers_that_begin_with_their_country_code_are_kept_or_refused() {
    let mut outcomes = Outcomes::default();
    for (region, numbers) in examples() {
        let profile = profile(region);
        for number in &numbers {
            let significant = number.get_national_significant_number();
            let code = number.country_code.to_string();
            let Some(rest) = significant.get(code.len()..) else { continue };
            for middle in 0..100 {
                let Some(end) = rest.get(2..) else { continue };
                let national = format!("{code}{middle:02}{end}");
                let text = format!("+{code}{national}");
                let Ok(number) = PHONE_NUMBER_UTIL.parse(&text, None) else { continue };
                if number.is_valid() && e164(&number) == text {
                    outcomes.count("without prefix", profile, &national, &text);
                    outcomes.count("without plus", profile, &text[1..], &text);
                }
            }
        }
    }
    outcomes.check(&[
        "without plus: 27224",
        "without prefix: 26635",
        "without plus: AmbiguousPhone 600",
        "without prefix: AmbiguousPhone 1189",
    ]);
}

/// From each region to every other one, with the digits that are dialled there.
#[test]
fn numbers_dialled_abroad_are_read_or_refused() {
    let mut outcomes = Outcomes::default();
    let examples = examples();
    for (region, _) in &examples {
        let profile = profile(*region);
        for (other, numbers) in &examples {
            for number in numbers {
                // Of seven digits, and dialled in its own country alone.
                if other == region || e164(number) == "+13101234" {
                    continue;
                }
                let dialled = number.format_out_of_country_calling_number(*region);
                outcomes.count("dialled", profile, &dialled, &e164(number));
                outcomes.count("with 00", profile, &e164(number).replace('+', "00"), &e164(number));
                outcomes.count("E.164", profile, &e164(number), &e164(number));
            }
        }
    }
    outcomes.check(&[
        "E.164: 215452",
        "dialled: 214978",
        "with 00: 214503",
        "dialled: AmbiguousPhone 423",
        "dialled: NotAPhone 51",
        "with 00: AmbiguousPhone 506",
        "with 00: ImpossiblePhone 7",
        "with 00: NotAPhone 436",
    ]);
}
