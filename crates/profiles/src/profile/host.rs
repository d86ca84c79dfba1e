//! `url-host`: the host of a web address, as two lists know a firm or a site by it.
//!
//! `https://user@www.Example.org:8080/path?x#y` and `example.org` become `example.org`: without
//! scheme, user, port, path and `www.`; in the ASCII form of IDNA (UTS 46, as for `email`), with at
//! least two labels. A scheme other than `http`, `https` or `ftp` is refused, and so is an e-mail
//! address. An IPv4 address in dotted decimal form is a host; one of IPv6 is refused, as it has
//! several spellings.

use super::email::push_domain;
use super::integer::ipv4;
use super::text::{is_joiner, lower_case, lower_form, trimmed_but};
use crate::refusal::Refusal;

const SCHEMES: [&str; 3] = ["http", "https", "ftp"];

pub(super) fn host(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = lower_case(cell);
    if text.is_empty() {
        return Ok(());
    }
    let start = out.len();
    let host = host_in(&text)?;
    if host.is_ascii() {
        push_host(host, out)?;
    } else {
        // Between letters of some scripts joiners distinguish domains.
        let text = lower_form(&trimmed_but(cell, is_joiner));
        push_host(host_in(&text)?.trim_matches(is_joiner), out)?;
    }
    let mut end = start;
    while out[end..].starts_with(b"www.") && out[end + 4..].contains(&b'.') {
        end += 4;
    }
    out.drain(start..end);
    Ok(())
}

/// The host in an address in lower case.
fn host_in(text: &str) -> Result<&str, Refusal> {
    let (scheme, rest) = match text.split_once("://") {
        // In a query, without a scheme before the host.
        Some((before, _)) if before.contains(['/', '?', '#', '.']) => (None, text),
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text.strip_prefix("//").unwrap_or(text)),
    };
    if scheme.is_some_and(|scheme| !SCHEMES.contains(&scheme)) {
        return Err(Refusal::NotAUrl);
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let place = match authority.rsplit_once('@') {
        Some((_, place)) if scheme.is_some() => place,
        Some(_) => return Err(Refusal::NotAUrl),
        None => authority,
    };
    let host = match place.split_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) => return Err(Refusal::NotAUrl),
        None => place,
    };
    if host.is_empty() { Err(Refusal::NotAUrl) } else { Ok(host) }
}

fn push_host(host: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    push_domain(host, out).map_err(|_| Refusal::HostDomain)?;
    // A name whose last label is a number is an address to programs, or none.
    let last = out[start..].rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    if last.iter().all(u8::is_ascii_digit) {
        let address = out.split_off(start);
        ipv4(&address, out).map_err(|_| Refusal::HostDomain)?;
    }
    Ok(())
}
