//! A host and a port.

/// Splits `host:port`; removes the brackets of an IPv6 address. `None` if it has another form.
pub fn split_address(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let port = port.parse().ok()?;
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let bare = bracketed.unwrap_or(host);
    // Without brackets, the last group of an IPv6 address would be read as the port.
    let ambiguous = bracketed.is_none() && host.contains(':');
    let is_host = !bare.is_empty() && !ambiguous && !bare.contains(char::is_whitespace);
    is_host.then_some((bare, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split_at_the_port() {
        assert_eq!(split_address("a.example:7000"), Some(("a.example", 7000)));
        assert_eq!(split_address("127.0.0.1:0"), Some(("127.0.0.1", 0)));
        assert_eq!(split_address("[::1]:65535"), Some(("::1", 65535)));
    }

    #[test]
    fn other_addresses_are_refused() {
        for bad in ["", "host", ":7000", "host:", "host:x", "host:65536", "::1:7000", "a b:1"] {
            assert_eq!(split_address(bad), None, "{bad:?}");
        }
    }
}
