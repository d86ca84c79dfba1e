//! Latin letters in ASCII, for personal names and codes of sounds.

use crate::profile::form_c;
use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use std::borrow::Cow;

/// What becomes of `ä`, `ö` and `ü`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Umlauts {
    /// `a`, `o` and `u`, as other letters lose their marks.
    Bare,
    /// `ae`, `oe` and `ue`, as in German passports (ICAO Doc 9303, part 3, section 6).
    WithE,
}

/// `text` in lower case, with its Latin letters in ASCII.
///
/// * Unicode's compatibility decomposition (form KD) of the lower case: ligatures and full-width
///   letters become plain ones.
/// * Marks after a Latin letter are removed: `é` becomes `e`, `ä` becomes `a`.
/// * `ß` becomes `ss`, `æ` `ae`, `œ` `oe`, `ø` `o`, `đ` and `ð` `d`, `þ` `th`, `ł` `l`, `ħ` `h`,
///   `ŧ` `t` and `ı` `i`: letters that Unicode does not decompose, and that have one common form in
///   ASCII.
/// * What people type as an apostrophe becomes `'`, and every hyphen and dash `-`.
///
/// Everything else stays: letters of other scripts keep their marks. The result is in form C, and
/// folding it again does not change it.
///
/// ```
/// assert_eq!(vesica_profiles::fold("Søren Ångström-Weiß"), "soren angstrom-weiss");
/// assert_eq!(vesica_profiles::fold("Пётр"), "пётр");
/// ```
pub fn fold(text: &str) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b'`';
    if text.bytes().all(is_folded) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(folded(text, Umlauts::Bare))
}

/// [`fold`], with a choice of what umlauts become.
pub(crate) fn folded(text: &str, umlauts: Umlauts) -> String {
    plainly(text, umlauts).unwrap_or_else(|| generally(text, umlauts))
}

/// [`folded`] of a text in ASCII and letters that are one character with their mark, as almost all
/// names in Latin letters are; `None` for any other.
fn plainly(text: &str, umlauts: Umlauts) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' | '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{2010}'..='\u{2015}' => out.push('-'),
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            'Ä' | 'ä' if umlauts == Umlauts::WithE => out.push_str("ae"),
            'Ö' | 'ö' if umlauts == Umlauts::WithE => out.push_str("oe"),
            'Ü' | 'ü' if umlauts == Umlauts::WithE => out.push_str("ue"),
            _ => out.push_str(latin(c)?),
        }
    }
    Some(out)
}

/// What a letter from `À` to `ſ` becomes, if it becomes letters of ASCII.
fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'À'..='Å' | 'à'..='å' | 'Ā'..='ą' => "a",
        'Æ' | 'æ' => "ae",
        'Ç' | 'ç' | 'Ć'..='č' => "c",
        'Ð' | 'ð' | 'Ď'..='đ' => "d",
        'È'..='Ë' | 'è'..='ë' | 'Ē'..='ě' => "e",
        'Ĝ'..='ģ' => "g",
        'Ĥ'..='ħ' => "h",
        'Ì'..='Ï' | 'ì'..='ï' | 'Ĩ'..='ı' => "i",
        'Ĳ' | 'ĳ' => "ij",
        'Ĵ' | 'ĵ' => "j",
        'Ķ' | 'ķ' => "k",
        'Ĺ'..='ľ' | 'Ł' | 'ł' => "l",
        'Ñ' | 'ñ' | 'Ń'..='ň' => "n",
        'Ò'..='Ö' | 'Ø' | 'ò'..='ö' | 'ø' | 'Ō'..='ő' => "o",
        'Œ' | 'œ' => "oe",
        'Ŕ'..='ř' => "r",
        'Ś'..='š' | 'ſ' => "s",
        'ß' => "ss",
        'Ţ'..='ŧ' => "t",
        'Þ' | 'þ' => "th",
        'Ù'..='Ü' | 'ù'..='ü' | 'Ũ'..='ų' => "u",
        'Ŵ' | 'ŵ' => "w",
        'Ý' | 'ý' | 'ÿ' | 'Ŷ'..='Ÿ' => "y",
        'Ź'..='ž' => "z",
        _ => return None,
    })
}

/// [`folded`] of any text.
fn generally(text: &str, umlauts: Umlauts) -> String {
    const FORM_KD: DecomposingNormalizerBorrowed<'static> =
        DecomposingNormalizerBorrowed::new_nfkd();
    let mut spelled = String::with_capacity(text.len());
    for c in form_c(&form_c(text).to_lowercase()).chars() {
        match (c, umlauts) {
            // Unicode decomposes it to a blank and a mark.
            ('\u{b4}', _) => spelled.push('\''),
            ('ä', Umlauts::WithE) => spelled.push_str("ae"),
            ('ö', Umlauts::WithE) => spelled.push_str("oe"),
            ('ü', Umlauts::WithE) => spelled.push_str("ue"),
            _ => spelled.push(c),
        }
    }
    let mut out = String::with_capacity(spelled.len());
    let mut is_after_latin = false;
    // The decomposition of a letter without a lower case of its own may be a capital.
    let lower = FORM_KD.normalize_iter(spelled.chars()).flat_map(char::to_lowercase);
    for c in lower {
        if is_after_latin && is_nonspacing(c) {
            continue;
        }
        is_after_latin = push_letter(c, &mut out);
    }
    match form_c(&out) {
        Cow::Borrowed(_) => out,
        Cow::Owned(composed) => composed,
    }
}

/// Appends a decomposed character in lower case, and tells whether it was a Latin letter.
fn push_letter(c: char, out: &mut String) -> bool {
    let ascii = match c {
        'a'..='z' => {
            out.push(c);
            return true;
        }
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ł' => "l",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' => "i",
        // The final form: which one it is depends on what follows.
        'ς' => {
            out.push('σ');
            return false;
        }
        '`' | '\u{2b9}' | '\u{2bb}'..='\u{2bf}' | '\u{2018}'..='\u{201b}' | '\u{2032}' => {
            out.push('\'');
            return false;
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => {
            out.push('-');
            return false;
        }
        _ => {
            out.push(c);
            return false;
        }
    };
    out.push_str(ascii);
    true
}

/// Whether `c` is a mark without a width of its own.
fn is_nonspacing(c: char) -> bool {
    c >= '\u{300}' && category(c) == GeneralCategory::NonspacingMark
}

/// Whether `c` is a mark that belongs to the letter before it.
pub(crate) fn is_mark(c: char) -> bool {
    c >= '\u{300}'
        && matches!(category(c), GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark)
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn latin_letters_become_ascii_and_others_stay() {
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("PLAIN", "plain"),
            ("Łódź", "lodz"),
            ("Þórður", "thordur"),
            ("Œuvre", "oeuvre"),
            ("İstanbul Isparta ışık", "istanbul isparta isik"),
            ("Nguyễn", "nguyen"),
            ("ﬁ Ａｂ", "fi ab"),
            ("Ŀl", "l\u{b7}l"),
            ("O’Brien O`Brien O´Brien", "o'brien o'brien o'brien"),
            ("a–b‐c−d", "a-b-c-d"),
            ("ΠΑΠΑΣ Άννα", "παπασ άννα"),
            ("Йосип", "йосип"),
            ("Əliyev", "əliyev"),
            ("𝐀𝐛", "ab"),
        ] {
            assert_eq!(fold(text), expected, "{text}");
        }
        assert_eq!(folded("Müller ÄÖ", Umlauts::WithE), "mueller aeoe");
        assert_eq!(folded("Mu\u{308}ller", Umlauts::WithE), "mueller");
    }

    #[test]
    fn letters_of_one_character_become_the_same_on_both_ways() {
        let mut plain = 0;
        for c in '\0'..='\u{2fff}' {
            let text = c.to_string();
            for umlauts in [Umlauts::Bare, Umlauts::WithE] {
                if let Some(folded) = plainly(&text, umlauts) {
                    assert_eq!(folded, generally(&text, umlauts), "{c}");
                    plain += 1;
                }
            }
        }
        assert!(plain > 2 * 300, "{plain}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn folding_twice_is_folding_once(
            text in "\\PC{0,8}|[a-zß-ÿĀ-ſΑ-ωА-яᄀ-하-ᅵ\u{300}-\u{34e}'’ -]{0,8}",
        ) {
            for umlauts in [Umlauts::Bare, Umlauts::WithE] {
                let once = folded(&text, umlauts);
                prop_assert_eq!(&folded(&once, umlauts), &once);
                prop_assert_eq!(&generally(&text, umlauts), &once);
            }
            prop_assert_eq!(&*fold(&text), folded(&text, Umlauts::Bare));
        }
    }
}
