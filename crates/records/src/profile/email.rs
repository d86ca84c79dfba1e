//! `email` and `email:google`.
//!
//! `local@domain` with one `@`. The local part (1 to 64 bytes) is lower-cased in full Unicode; blanks,
//! control characters and the characters that only a quoted local part may hold (RFC 5321) are refused.
//! UTS 46 maps the domain to ASCII (non-transitional, STD3 rules, DNS lengths); a trailing dot is
//! dropped, and at least two labels are required. `email:google` then folds `gmail.com` and
//! `googlemail.com`, and no other domain.

use super::Refusal;
use super::text::{lower_case, trimmed_ascii};
use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use memchr::memchr;

const LOCAL_MAX_BYTES: usize = 64;
const DOMAIN_MAX_BYTES: usize = 253;
const LABEL_MAX_BYTES: usize = 63;

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

/// The lower case of a byte that a domain may hold, or 0.
const DOMAIN: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x80u8 {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

pub(super) fn email(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    match trimmed_ascii(cell) {
        Some([]) => Ok(()),
        Some(ascii) => normalise_ascii(ascii, out),
        None => {
            let text = lower_case(cell);
            if text.is_empty() { Ok(()) } else { normalise_unicode(&text, out) }
        }
    }
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

fn normalise_ascii(ascii: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let at = memchr(b'@', ascii).ok_or(Refusal::NotAnEmail)?;
    let (local, domain) = (&ascii[..at], &ascii[at + 1..]);
    if local.is_empty() || local.len() > LOCAL_MAX_BYTES {
        return Err(Refusal::NotAnEmail);
    }
    if !push_mapped(local, &LOCAL, out) || memchr(b'@', domain).is_some() {
        return Err(Refusal::NotAnEmail);
    }
    out.push(b'@');
    ascii_domain(domain.strip_suffix(b".").unwrap_or(domain), out)
}

/// Appends `bytes` mapped by `table`; false if a byte maps to 0.
fn push_mapped(bytes: &[u8], table: &[u8; 256], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.extend_from_slice(bytes);
    let mut all = true;
    for byte in &mut out[start..] {
        *byte = table[usize::from(*byte)];
        all &= *byte != 0;
    }
    all
}

/// UTS 46 for a domain of ASCII letters, digits, hyphens and dots: lower case, and the checks. Labels
/// with an ACE prefix take the general path, which also checks their contents.
fn ascii_domain(domain: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    if !push_mapped(domain, &DOMAIN, out) || domain.len() > DOMAIN_MAX_BYTES {
        return Err(Refusal::EmailDomain);
    }
    let mut labels = 0;
    let mut encoded = false;
    for label in out[start..].split(|byte| *byte == b'.') {
        check_label(label)?;
        labels += 1;
        encoded |= label.starts_with(b"xn--");
    }
    if labels < 2 {
        return Err(Refusal::EmailDomain);
    }
    if encoded {
        out.truncate(start);
        return unicode_domain(domain, out);
    }
    Ok(())
}

fn check_label(label: &[u8]) -> Result<(), Refusal> {
    match label {
        [] | [b'-', ..] | [.., b'-'] => Err(Refusal::EmailDomain),
        _ if label.len() > LABEL_MAX_BYTES => Err(Refusal::EmailDomain),
        _ => Ok(()),
    }
}

fn normalise_unicode(text: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (local, domain) = text.split_once('@').ok_or(Refusal::NotAnEmail)?;
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
    let domain = domain.strip_suffix(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).unwrap_or(domain);
    unicode_domain(domain.as_bytes(), out)
}

fn unicode_domain(domain: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let ascii = Uts46::new()
        .to_ascii(domain, AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify)
        .map_err(|_| Refusal::EmailDomain)?;
    if !ascii.contains('.') {
        return Err(Refusal::EmailDomain);
    }
    out.extend_from_slice(ascii.as_bytes());
    Ok(())
}
