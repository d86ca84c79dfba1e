//! Addresses of servers.

use crate::BadUrl;
use crate::socket::Endpoint;
use vesica_core::Secret;

/// An address for logs, without secrets: three asterisks replace a password, and parameters are
/// omitted.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // The last one: a password that should have been percent-encoded may contain others.
    let Some((user, host)) = rest.rsplit_once('@') else {
        return format!("{scheme}://{}", without_parameters(rest));
    };
    let name = user.split_once(':').map_or(user, |(name, _)| name);
    let stars = if user.contains(':') { ":***" } else { "" };
    format!("{scheme}://{name}{stars}@{}", without_parameters(host))
}

fn without_parameters(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}

/// The scheme of an address and what follows its colon.
pub(crate) fn split_scheme(url: &str) -> Result<(&str, &str), BadUrl> {
    url.split_once(':').ok_or(BadUrl::Scheme)
}

/// `scheme://user:password@host:port/path?name=value&…`, decoded.
#[derive(Debug)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Secret<String>>,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    /// Without the first slash.
    pub(crate) path: String,
    pub(crate) parameters: Vec<(String, String)>,
}

impl Url {
    pub(crate) fn parse(url: &str) -> Result<Self, BadUrl> {
        let (scheme, rest) = url.split_once("://").ok_or(BadUrl::Scheme)?;
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(user, place)| (Some(user), place));
        let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            None => (None, None),
            Some((user, password)) => (Some(decoded(user)?), Some(decoded(password)?)),
        };
        let (host, port) = match place.rsplit_once(':') {
            // The colons of an IPv6 address are in brackets.
            Some((host, port)) if !port.contains(']') => {
                let port = port.parse().ok().filter(|port| *port != 0);
                (host, Some(port.ok_or(BadUrl::Port)?))
            }
            _ => (place, None),
        };
        let parameters = parameters.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').ok_or(BadUrl::Parameter)?;
            Ok((decoded(name)?, decoded(value)?))
        });
        Ok(Self {
            scheme: scheme.to_owned(),
            user: user.filter(|user| !user.is_empty()),
            password: password.filter(|password| !password.is_empty()).map(Secret::new),
            host: decoded(host.trim_start_matches('[').trim_end_matches(']'))?,
            port,
            path: decoded(path)?,
            parameters: parameters.collect::<Result<_, _>>()?,
        })
    }

    /// Host and port.
    pub(crate) fn endpoint(&self, default_port: u16) -> Result<Endpoint, BadUrl> {
        if self.host.is_empty() {
            return Err(BadUrl::Host);
        }
        Ok(Endpoint::Tcp { host: self.host.clone(), port: self.port.unwrap_or(default_port) })
    }
}

/// Decodes each `%xy`.
fn decoded(text: &str) -> Result<String, BadUrl> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or(BadUrl::Encoding)?;
        let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(BadUrl::Encoding)?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| BadUrl::Encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_parsed() {
        let url =
            Url::parse("postgres://a%40b:p%3Aw%2f@[::1]:5433/my%20db?host=%2Frun&x=y").unwrap();
        assert_eq!(url.user.as_deref(), Some("a@b"));
        assert_eq!(url.password.as_ref().map(|secret| secret.expose().as_str()), Some("p:w/"));
        assert_eq!((url.host.as_str(), url.port, url.path.as_str()), ("::1", Some(5433), "my db"));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(url.parameters, [pair("host", "/run"), pair("x", "y")]);
        let plain = Url::parse("redis://localhost").unwrap();
        assert!(plain.user.is_none() && plain.password.is_none() && plain.port.is_none());
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("redis://u:secret@h:1/0", "redis://u:***@h:1/0"),
            ("redis://:sec/ret@h", "redis://:***@h"),
            ("redis://:sec@ret?@h/1", "redis://:***@h/1"),
            ("postgres://u:secret@h/d?password=secret", "postgres://u:***@h/d"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("redis://h/1?password=secret", "redis://h/1"),
            ("disk:/a", "disk:/a"),
        ] {
            assert_eq!(redacted(url), shown);
            assert!(!redacted(url).contains("secret"));
        }
    }
}
