//! Proxies through which a party connects: which one, and for which hosts.

use crate::address::split_address;
use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Most bytes of a user name, and of a password (RFC 1929).
const LOGIN_MAX_BYTES: usize = 255;

/// A proxy that passes bytes on unchanged. TLS runs inside, from end to end: the proxy learns the
/// address of the other side, the times and the number of bytes.
///
/// Written as a URL: `http://proxy.example:3128` for HTTP CONNECT,
/// `socks5://user:password@[::1]:1080`. The proxy resolves the host name of the other side.
/// [`Display`](fmt::Display) and [`Debug`] leave the login out.
///
/// ```
/// use vesica_addresses::Proxy;
///
/// let proxy: Proxy = "http://ann:p%40ss@proxy.example".parse()?;
/// assert_eq!(proxy.to_string(), "http://proxy.example:80");
/// # Ok::<(), vesica_addresses::ProxyError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) scheme: Scheme,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) login: Option<Login>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// HTTP CONNECT (RFC 9110, section 9.3.6).
    Http,
    /// SOCKS version 5 (RFC 1928).
    Socks5,
}

/// What a proxy is shown: a user name and a password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Arc<Zeroizing<String>>,
}

/// Which proxy a side connects through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxyChoice {
    /// The one that the environment names for the other side's host ([`Proxy::of_environment`]).
    #[default]
    Environment,
    /// None.
    Direct,
    /// This one.
    Through(Proxy),
}

impl ProxyChoice {
    /// The proxy to `address`, `host:port`; none where that is no address. `variable` reads one
    /// variable of the environment.
    ///
    /// # Errors
    /// [`Proxy::of_environment`].
    pub fn to(
        &self,
        address: &str,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Proxy>, (&'static str, ProxyError)> {
        match (self, split_address(address)) {
            (Self::Through(proxy), _) => Ok(Some(proxy.clone())),
            (Self::Environment, Some((host, port))) => Proxy::of_environment(host, port, variable),
            (Self::Environment, None) | (Self::Direct, _) => Ok(None),
        }
    }
}

impl FromStr for ProxyChoice {
    type Err = ProxyError;

    /// `none`, or the URL of a proxy.
    fn from_str(text: &str) -> Result<Self, ProxyError> {
        if text == "none" { Ok(Self::Direct) } else { text.parse().map(Self::Through) }
    }
}

/// A text that names no proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The scheme is neither `http` nor `socks5` nor `socks5h`.
    #[error("the scheme of a proxy is http or socks5")]
    Scheme,
    /// Not a host with a port.
    #[error("a proxy is a URL, for example http://proxy.example:3128 or socks5://127.0.0.1:1080")]
    Address,
    /// The user name or the password is longer than 255 bytes, empty or badly escaped.
    #[error("the login of the proxy cannot be used")]
    Login,
}

impl Proxy {
    /// Its own host name or address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Its own port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The proxy that the environment names for `host`: that of `HTTPS_PROXY`, or else of
    /// `ALL_PROXY`, unless `NO_PROXY` lists the host. Each variable may be in lower case, which
    /// takes precedence. There is none for this machine: `localhost` and loopback addresses.
    ///
    /// `NO_PROXY` is a list with commas: `*`, names, which stand for their subdomains too,
    /// addresses, and networks such as `10.0.0.0/8`; each but the first with a port if wanted.
    /// `variable` reads one variable.
    ///
    /// # Errors
    /// The variable that names no proxy, and why.
    pub fn of_environment(
        host: &str,
        port: u16,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Self>, (&'static str, ProxyError)> {
        let read = |name: &str| {
            let lower = variable(&name.to_ascii_lowercase());
            let value = lower.filter(|value| !value.is_empty()).or_else(|| variable(name))?;
            Some(value).filter(|value| !value.is_empty())
        };
        let except = read("NO_PROXY").unwrap_or_default();
        if is_this_machine(host) || is_listed(host, port, &except.to_string_lossy()) {
            return Ok(None);
        }
        for name in ["HTTPS_PROXY", "ALL_PROXY"] {
            if let Some(value) = read(name) {
                let url = value.to_str().ok_or((name, ProxyError::Address))?;
                return url.parse().map(Some).map_err(|error| (name, error));
            }
        }
        Ok(None)
    }
}

fn is_this_machine(host: &str) -> bool {
    let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    host.eq_ignore_ascii_case("localhost") || is_loopback
}

/// Whether `list`, a value of `NO_PROXY`, has the host.
fn is_listed(host: &str, port: u16, list: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        let entry = entry.to_ascii_lowercase();
        let plain: Option<IpAddr> = entry.trim_matches(['[', ']']).parse().ok();
        let (name, its_port) = match split_address(&entry) {
            Some((name, port)) if plain.is_none() => (name.to_owned(), Some(port)),
            _ => (entry.trim_matches(['[', ']']).to_owned(), None),
        };
        if its_port.is_some_and(|its_port| its_port != port) {
            return false;
        }
        if let Some(address) = address {
            return name.parse() == Ok(address) || is_in_network(address, &name);
        }
        let name = name.trim_start_matches('*').trim_matches('.');
        let before = host.strip_suffix(name);
        !name.is_empty() && before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

/// Whether the address is in a network such as `10.0.0.0/8`.
fn is_in_network(address: IpAddr, network: &str) -> bool {
    let Some((first, len)) = network.split_once('/') else { return false };
    let (Ok(first), Ok(len)) = (first.parse(), len.parse::<u32>()) else { return false };
    // Bits beyond the prefix, for addresses of `width` bits.
    let rest = |width: u32| width.checked_sub(len);
    match (address, first) {
        (IpAddr::V4(address), IpAddr::V4(first)) => rest(32).is_some_and(|rest| {
            let differing = u32::from(address) ^ u32::from(first);
            differing.checked_shr(rest).unwrap_or(0) == 0
        }),
        (IpAddr::V6(address), IpAddr::V6(first)) => rest(128).is_some_and(|rest| {
            let differing = u128::from(address) ^ u128::from(first);
            differing.checked_shr(rest).unwrap_or(0) == 0
        }),
        _ => false,
    }
}

impl FromStr for Proxy {
    type Err = ProxyError;

    fn from_str(url: &str) -> Result<Self, ProxyError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let (scheme, default_port) = match &*scheme.to_ascii_lowercase() {
            "http" => (Scheme::Http, 80),
            "socks5" | "socks5h" => (Scheme::Socks5, 1080),
            _ => return Err(ProxyError::Scheme),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => (Some(read_login(login)?), place),
            None => (None, rest),
        };
        let has_port = place.rfind(':') > place.rfind(']');
        let with_port = if has_port { place.to_owned() } else { format!("{place}:{default_port}") };
        let (host, port) = split_address(&with_port).ok_or(ProxyError::Address)?;
        if port == 0 || !is_plain_host(host) {
            return Err(ProxyError::Address);
        }
        Ok(Self { scheme, host: host.to_owned(), port, login })
    }
}

/// Whether a host can stand in a request to a proxy: printable ASCII, nothing that separates.
pub(crate) fn is_plain_host(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/@?#\\\"[]".contains(&byte);
    (1..=255).contains(&host.len()) && host.bytes().all(is_plain)
}

fn read_login(text: &str) -> Result<Login, ProxyError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let (user, password) = (unescape(user)?, unescape(password)?);
    let is_right = |text: &str| text.len() <= LOGIN_MAX_BYTES && !text.contains(char::is_control);
    // With HTTP a colon ends the user name.
    if user.is_empty() || user.contains(':') || !is_right(&user) || !is_right(&password) {
        return Err(ProxyError::Login);
    }
    Ok(Login { user, password: Arc::new(Zeroizing::new(password)) })
}

/// Resolves the escapes `%40` and so on.
fn unescape(text: &str) -> Result<String, ProxyError> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(ProxyError::Login)?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| ProxyError::Login)
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Socks5 => "socks5",
        };
        let Self { host, port, .. } = self;
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}")
        } else {
            write!(f, "{scheme}://{host}:{port}")
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str) -> Result<Proxy, ProxyError> {
        url.parse()
    }

    #[test]
    fn urls_name_proxies() {
        for (url, shown) in [
            ("proxy.example", "http://proxy.example:80"),
            ("http://proxy.example:3128/", "http://proxy.example:3128"),
            ("SOCKS5://[::1]", "socks5://[::1]:1080"),
            ("socks5h://10.0.0.1:9", "socks5://10.0.0.1:9"),
            ("http://ann:s%3a%40@p:1", "http://p:1"),
        ] {
            assert_eq!(proxy(url).expect(url).to_string(), shown);
        }
        let login = proxy("http://ann:s%3a%40@p:1").unwrap().login.unwrap();
        assert_eq!((&*login.user, &***login.password), ("ann", "s:@"));
        assert!(!format!("{:?}", proxy("http://ann:secret@p:1").unwrap()).contains("secret"));
    }

    #[test]
    fn texts_that_name_no_proxy_are_refused() {
        let long = format!("http://{}@p:1", "a".repeat(256));
        for (url, error) in [
            ("https://proxy.example", ProxyError::Scheme),
            ("socks4://proxy.example", ProxyError::Scheme),
            ("", ProxyError::Address),
            ("http://", ProxyError::Address),
            ("http://p:0", ProxyError::Address),
            ("http://p:99999", ProxyError::Address),
            ("http://p:1/path", ProxyError::Address),
            ("http://p q:1", ProxyError::Address),
            ("http://p\r\nq:1", ProxyError::Address),
            ("http://ann%4@p:1", ProxyError::Login),
            ("http://ann%+4@p:1", ProxyError::Login),
            ("http://ann%0d%0a@p:1", ProxyError::Login),
            ("http://a%3ab:c@p:1", ProxyError::Login),
            ("http://:secret@p:1", ProxyError::Login),
            ("http://%ff@p:1", ProxyError::Login),
            (&long, ProxyError::Login),
        ] {
            assert_eq!(proxy(url), Err(error), "{url:?}");
        }
    }

    fn of_environment(
        host: &str,
        variables: &[(&str, &str)],
    ) -> Result<Option<String>, (&'static str, ProxyError)> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        let proxy = Proxy::of_environment(host, 7400, variable)?;
        Ok(proxy.map(|proxy| proxy.to_string()))
    }

    #[test]
    fn the_environment_names_a_proxy_for_hosts_that_are_not_excepted() {
        let is_used = |host: &str, except: &str| {
            let variables = [("HTTPS_PROXY", "http://p:1"), ("no_proxy", except)];
            of_environment(host, &variables).unwrap().is_some()
        };
        for (host, except) in [
            ("partner.example", ""),
            ("partner.example", "ner.example,other"),
            ("partner.example", "partner.example:7401"),
            ("partner.example", "."),
            ("10.1.2.3", "10.1.2.0/25x,10.1.2.4,10.2.0.0/16,0.0.0.0/33"),
            ("2001:db8::1", "2001:db9::/32,10.0.0.0/0"),
        ] {
            assert!(is_used(host, except), "{host} {except}");
        }
        for (host, except) in [
            ("localhost", ""),
            ("127.0.0.9", ""),
            ("::1", ""),
            ("partner.example", "*"),
            ("Partner.Example.", "other, partner.example"),
            ("a.partner.example", ".partner.example"),
            ("a.partner.example", "*.partner.example"),
            ("partner.example", "partner.example:7400"),
            ("10.1.2.3", "10.1.2.3"),
            ("10.1.2.3", "10.0.0.0/8"),
            ("10.1.2.3", "0.0.0.0/0"),
            ("10.1.2.3", "10.1.2.3/32:7400"),
            ("2001:db8::1", "[2001:db8::1]:7400"),
            ("2001:db8::1", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::/32"),
        ] {
            assert!(!is_used(host, except), "{host} {except}");
        }
    }

    #[test]
    fn variables_have_an_order() {
        let both = [("HTTPS_PROXY", "p:1"), ("https_proxy", "q:2"), ("ALL_PROXY", "r:3")];
        assert_eq!(of_environment("a.b", &both), Ok(Some("http://q:2".into())));
        assert_eq!(of_environment("a.b", &both[2..]), Ok(Some("http://r:3".into())));
        assert_eq!(of_environment("a.b", &[("https_proxy", "")]), Ok(None));
        let bad = of_environment("a.b", &[("HTTPS_PROXY", "https://p")]);
        assert_eq!(bad, Err(("HTTPS_PROXY", ProxyError::Scheme)));
    }
}
