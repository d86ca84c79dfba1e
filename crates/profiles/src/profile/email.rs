//! `email` and `email:google`.
//!
//! `local@domain` with one `@`. The local part (1 to 64 bytes) is lower-cased in full Unicode;
//! blanks, control characters and the characters that only a quoted local part may hold (RFC 5321)
//! are refused. UTS 46 maps the domain to ASCII (non-transitional, STD3 rules, DNS lengths); a
//! trailing dot is dropped, and at least two labels are required. `email:google` then folds
//! `gmail.com` and `googlemail.com`, and no other domain.

use super::text::{is_joiner, lower_case, lower_form, trimmed_ascii, trimmed_but};
use crate::refusal::Refusal;
use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use memchr::memchr;

const LOCAL_MAX_BYTES: usize = 64;
const DOMAIN_MAX_BYTES: usize = 253;

/// The lower case of a byte that an unquoted local part may hold, or 0.
const LOCAL: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        if !matches!(
            byte,
            b'"' | b'(' | b')' | b',' | b':' | b';' | b'<' | b'>' | b'@' | b'[' | b'\\' | b']'
        ) {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// Longest address that [`push_plain`] takes.
const PLAIN_MAX_BYTES: usize = 64;

/// Bytes that [`push_plain`] looks at together.
const LANES: usize = 16;

pub(super) fn email(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    if push_plain(cell, out) || trimmed_ascii(cell).is_some_and(|text| push_plain(text, out)) {
        return Ok(());
    }
    let text = lower_case(cell);
    match text.split_once('@') {
        Some((local, domain)) if !domain.is_ascii() => {
            push_address(local, &with_joiners(cell).unwrap_or(domain.to_owned()), out)
        }
        Some((local, domain)) => push_address(local, domain, out),
        None if text.is_empty() => Ok(()),
        None => Err(Refusal::NotAnEmail),
    }
}

/// The domain of a cell with its joiners, if it has any: between letters of some scripts they
/// distinguish domains, and IDNA refuses them in any other place (RFC 5892, appendix A).
fn with_joiners(cell: &[u8]) -> Option<String> {
    let text = trimmed_but(cell, is_joiner);
    let (_, domain) = text.split_once('@')?;
    let domain = domain.trim_matches(|c: char| is_joiner(c) || c.is_whitespace());
    domain.contains(is_joiner).then(|| lower_form(domain))
}

pub(super) fn google(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    email(cell, out)?;
    let Some(at) = memchr(b'@', &out[start..]) else { return Ok(()) };
    if !matches!(&out[start + at + 1..], b"gmail.com" | b"googlemail.com") {
        return Ok(());
    }
    let mut keep = start;
    for i in start..start + at {
        match out[i] {
            b'+' => break,
            b'.' => {}
            byte => {
                out[keep] = byte;
                keep += 1;
            }
        }
    }
    if keep == start {
        return Err(Refusal::NotAnEmail);
    }
    out.truncate(keep);
    out.extend_from_slice(b"@gmail.com");
    if out[start..].is_ascii() {
        return Ok(());
    }
    // Without the dots, characters may now combine, or there may be a blank at the start.
    let folded = lower_case(&out[start..]);
    out.truncate(start);
    if folded.starts_with('@') {
        return Err(Refusal::NotAnEmail);
    }
    out.extend_from_slice(folded.as_bytes());
    Ok(())
}

/// Appends the lower case of a plain address, as almost all are: letters and digits, with single
/// points and hyphens between them, also `_` and `+` before its `@`, and a point after; at most 64
/// bytes. Leaves `out` as it is and gives false for any other text.
///
/// All bytes take the same steps, so that the compiler can vectorise them.
#[inline(never)]
fn push_plain(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut bytes = [b'a'; PLAIN_MAX_BYTES];
    let Some(own) = bytes.get_mut(..text.len()) else { return false };
    own.copy_from_slice(text);
    let mut lower = [0; PLAIN_MAX_BYTES];
    // Whether a byte parts words; the byte before the first does not.
    let mut parting = [0; 1 + PLAIN_MAX_BYTES];
    let mask = |is_so: bool| if is_so { u8::MAX } else { 0 };
    let mut refused = [0; LANES];
    // How often there is an `@`, and the places, from 1, of the last of some bytes.
    let (mut ats, mut at, mut point, mut local) = ([0; LANES], [0; LANES], [0; LANES], [0; LANES]);
    for chunk in 0..PLAIN_MAX_BYTES / LANES {
        let first = chunk * LANES;
        if first >= text.len() {
            break;
        }
        for lane in 0..LANES {
            let byte = bytes[first + lane];
            let small = byte | mask(byte.wrapping_sub(b'A') < 26) & 0x20;
            let is_word = mask(small.wrapping_sub(b'a') < 26) | mask(byte.wrapping_sub(b'0') < 10);
            let (is_at, is_point) = (mask(byte == b'@'), mask(byte == b'.'));
            let is_local = mask(byte == b'_') | mask(byte == b'+');
            let is_parting = is_at | is_point | mask(byte == b'-');
            lower[first + lane] = small;
            parting[1 + first + lane] = is_parting;
            refused[lane] |= !(is_word | is_local | is_parting);
            let place = (1 + first + lane) as u8;
            ats[lane] = u8::wrapping_sub(ats[lane], is_at);
            at[lane] = u8::max(at[lane], is_at & place);
            point[lane] = u8::max(point[lane], is_point & place);
            local[lane] = u8::max(local[lane], is_local & place);
        }
    }
    for chunk in 0..PLAIN_MAX_BYTES / LANES {
        for lane in 0..LANES {
            refused[lane] |= parting[chunk * LANES + lane] & parting[chunk * LANES + lane + 1];
        }
    }
    let last = |places: [u8; LANES]| places.iter().fold(0, |last, place| u8::max(last, *place));
    let (at, ats) = (last(at), ats.iter().fold(0_u8, |sum, ats| sum.wrapping_add(*ats)));
    let is_whole = refused == [0; LANES] && ats == 1 && at > 1;
    let is_domain = last(point) > at && !matches!(text, [.., b'.' | b'-']);
    if !is_whole || !is_domain || last(local) > at {
        return false;
    }
    // Cheaper than the text alone: the number of bytes is a constant.
    let end = out.len() + text.len();
    out.extend_from_slice(&lower);
    out.truncate(end);
    true
}

fn push_address(local: &str, domain: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let refused = |c: char| match u8::try_from(c) {
        Ok(byte) if byte < 0x80 => LOCAL[byte as usize] == 0,
        _ => c.is_control() || c.is_whitespace(),
    };
    if local.is_empty()
        || local.len() > LOCAL_MAX_BYTES
        || local.contains(refused)
        || domain.contains('@')
    {
        return Err(Refusal::NotAnEmail);
    }
    out.extend_from_slice(local.as_bytes());
    out.push(b'@');
    push_domain(domain, out)
}

/// Appends the ASCII form of a domain name, without a dot at its end.
pub(super) fn push_domain(domain: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let domain = domain.strip_suffix(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).unwrap_or(domain);
    let domain = domain.as_bytes();
    // Refused below too, after more work; other domains can become shorter.
    if domain.is_ascii() && domain.len() > DOMAIN_MAX_BYTES {
        return Err(Refusal::EmailDomain);
    }
    let ascii = Uts46::new()
        .to_ascii(domain, AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify)
        .map_err(|_| Refusal::EmailDomain)?;
    if !ascii.contains('.') {
        return Err(Refusal::EmailDomain);
    }
    out.extend_from_slice(ascii.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The normal form of `text` by the general rules.
    fn generally(text: &str) -> Result<String, Refusal> {
        let mut out = Vec::new();
        let text = lower_case(text.as_bytes());
        let (local, domain) = text.split_once('@').ok_or(Refusal::NotAnEmail)?;
        push_address(local, domain, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    /// What is appended for `text`, if it is plain.
    fn plainly(text: &str) -> Option<String> {
        let mut out = b"before".to_vec();
        let is_plain = push_plain(text.as_bytes(), &mut out);
        let appended = out.strip_prefix(b"before").unwrap();
        assert!(is_plain || appended.is_empty(), "{text:?}");
        is_plain.then(|| String::from_utf8(appended.to_vec()).unwrap())
    }

    #[test]
    fn addresses_are_plain_up_to_their_longest() {
        for text in ["a@b.c", "Ann_B+x-1.2@Mail-1.Example.ORG", "__@1.2", "a.b-c@d.e"] {
            assert_eq!(plainly(text), Some(text.to_ascii_lowercase()));
        }
        for len in 5..=PLAIN_MAX_BYTES + 1 {
            for local_len in 1..len - 3 {
                let text =
                    format!("{}@b.{}", "A".repeat(local_len), "z".repeat(len - local_len - 3));
                let expected = (len <= PLAIN_MAX_BYTES).then(|| text.to_ascii_lowercase());
                assert_eq!(plainly(&text), expected, "{text}");
            }
        }
    }

    #[test]
    fn an_address_with_a_faulty_part_is_not_plain() {
        for text in [
            "", "a", "a.b", "@b.c", "a@", "a@bc", "a.b@c", "a@b.", "a@b.c.", "a@b.c-", "a@-b.c",
            "a@.b", "a.@b.c", "a@b_c.d", "a@b+c.d", "a@b@c.d", "a@b.c@", "a@b.c_",
        ] {
            assert_eq!(plainly(text), None, "{text}");
        }
    }

    #[test]
    fn a_byte_that_makes_an_address_special_is_seen_at_every_place() {
        let address = "abcdefghijkl.mnopqrstu@vwx.yz0123456789.abcdefghijklmnop";
        for at in 0..=address.len() {
            for special in ["@", "..", "--", " ", "!", "/", ":", "[", "`", "{", "\u{e9}", "\0"] {
                let mut text = address.to_owned();
                text.insert_str(at, special);
                assert_eq!(plainly(&text), None, "{text}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn a_plain_address_has_the_normal_form_of_the_general_rules(
            text in concat!(
                "[a-c@A.xn_+ -]{0,12}|",
                "[aZ09_+.-]{1,30}@([aZ9-]{1,12}\\.){1,3}[aZ9.-]{0,4}|",
                "xn--[a-z]{1,3}@xn--[a-z0-9]{1,9}\\.a",
            ),
        ) {
            if let Some(plain) = plainly(&text) {
                prop_assert_eq!(Ok(plain), generally(&text), "{}", text);
            }
        }
    }
}
