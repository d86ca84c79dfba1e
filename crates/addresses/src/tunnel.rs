//! Asks a proxy for a connection: the messages between this side and the proxy.

use crate::fault::ProxyFault;
use crate::proxy::{Login, Proxy, Scheme, is_plain_host};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Most bytes of a proxy's answer over HTTP, all header fields included.
const ANSWER_MAX_BYTES: usize = 16 << 10;

/// SOCKS: the version, and that of its user name and password.
const SOCKS: u8 = 5;
const LOGIN: u8 = 1;

/// SOCKS: ways to prove who one is.
const NO_LOGIN: u8 = 0;
const BY_PASSWORD: u8 = 2;

/// SOCKS: the command, and the kinds of addresses.
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Asks the proxy at the other end of `socket` for a connection to `host`, whose bytes the socket
/// then carries. All messages together may take `limit`.
///
/// # Errors
/// Why there is no connection.
pub fn ask(
    proxy: &Proxy,
    socket: &TcpStream,
    host: &str,
    port: u16,
    limit: Duration,
) -> Result<(), ProxyFault> {
    let mut line = Connection { socket, deadline: Instant::now().checked_add(limit) };
    ask_over(proxy, host, port, &mut line)?;
    let untimed = socket.set_read_timeout(None).and_then(|()| socket.set_write_timeout(None));
    untimed.map_err(|error| ProxyFault::Unreachable(error.kind()))
}

/// Asks the proxy for a connection to `host`. Reads no byte beyond its answer.
pub(crate) fn ask_over(
    proxy: &Proxy,
    host: &str,
    port: u16,
    line: &mut impl Line,
) -> Result<(), ProxyFault> {
    if !is_plain_host(host) {
        return Err(ProxyFault::Host);
    }
    match proxy.scheme {
        Scheme::Http => over_http(line, host, port, proxy.login.as_ref()),
        Scheme::Socks5 => over_socks(line, host, port, proxy.login.as_ref()),
    }
}

/// The way to a proxy and back.
pub(crate) trait Line {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ProxyFault>;
    /// Fills `bytes`.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), ProxyFault>;
}

/// The connection to the proxy, with one time limit for all messages.
struct Connection<'a> {
    socket: &'a TcpStream,
    /// `None` if the clock cannot express it.
    deadline: Option<Instant>,
}

impl Line for Connection<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ProxyFault> {
        self.timed()?;
        self.socket.write_all(bytes).map_err(|error| lost(&error))
    }

    fn receive(&mut self, mut bytes: &mut [u8]) -> Result<(), ProxyFault> {
        while !bytes.is_empty() {
            self.timed()?;
            match self.socket.read(bytes) {
                Ok(0) => return Err(ProxyFault::Closed),
                Ok(len) => bytes = &mut bytes[len..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(lost(&error)),
            }
        }
        Ok(())
    }
}

impl Connection<'_> {
    /// Bounds the next call by the time that is left.
    fn timed(&self) -> Result<(), ProxyFault> {
        let left =
            self.deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err(ProxyFault::Silent);
        }
        let timed = self.socket.set_read_timeout(Some(left));
        timed
            .and_then(|()| self.socket.set_write_timeout(Some(left)))
            .map_err(|error| ProxyFault::Unreachable(error.kind()))
    }
}

fn lost(error: &io::Error) -> ProxyFault {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ProxyFault::Silent,
        _ => ProxyFault::Closed,
    }
}

fn over_http(
    line: &mut impl Line,
    host: &str,
    port: u16,
    login: Option<&Login>,
) -> Result<(), ProxyFault> {
    let place =
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let mut request = Zeroizing::new(format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n"));
    if let Some(Login { user, password }) = login {
        let both = Zeroizing::new(format!("{user}:{}", &***password));
        let encoded = Zeroizing::new(BASE64_STANDARD.encode(both.as_bytes()));
        request.push_str("Proxy-Authorization: Basic ");
        request.push_str(&encoded);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    line.send(request.as_bytes())?;
    // Byte by byte: what follows the empty line is the other side's.
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") && !answer.ends_with(b"\n\n") {
        if answer.len() == ANSWER_MAX_BYTES {
            return Err(ProxyFault::NotAProxy);
        }
        let mut byte = [0];
        line.receive(&mut byte)?;
        answer.extend_from_slice(&byte);
        // Another service may send something else without end.
        let start = &answer[..answer.len().min(7)];
        if start != &b"HTTP/1."[..start.len()] {
            return Err(ProxyFault::NotAProxy);
        }
    }
    match status(&answer).ok_or(ProxyFault::NotAProxy)? {
        200..=299 => Ok(()),
        407 => Err(ProxyFault::Login),
        408 | 429 | 500..=599 => Err(ProxyFault::NoRoute),
        _ => Err(ProxyFault::Forbidden),
    }
}

/// The status in the first line of an answer.
fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let digits = words.nth(1)?;
    let is_status = digits.len() == 3 && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_status)?.parse().ok()
}

fn over_socks(
    line: &mut impl Line,
    host: &str,
    port: u16,
    login: Option<&Login>,
) -> Result<(), ProxyFault> {
    let ways: &[u8] = if login.is_some() { &[NO_LOGIN, BY_PASSWORD] } else { &[NO_LOGIN] };
    line.send(&[&[SOCKS, ways.len() as u8], ways].concat())?;
    let mut chosen = [0; 2];
    line.receive(&mut chosen)?;
    match (chosen, login) {
        ([SOCKS, NO_LOGIN], _) => {}
        ([SOCKS, BY_PASSWORD], Some(Login { user, password })) => {
            let (user, password) = (user.as_bytes(), password.as_bytes());
            let lens = [user, password].map(|text| [text.len() as u8]);
            let says = [&[LOGIN], &lens[0][..], user, &lens[1][..], password].concat();
            line.send(&Zeroizing::new(says))?;
            let mut answer = [0; 2];
            line.receive(&mut answer)?;
            if answer[1] != 0 {
                return Err(ProxyFault::Login);
            }
        }
        ([SOCKS, _], _) => return Err(ProxyFault::Login),
        _ => return Err(ProxyFault::NotAProxy),
    }
    let mut request = vec![SOCKS, CONNECT, 0];
    match host.parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(IPV4);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(IPV6);
            request.extend(address.octets());
        }
        Err(_) => {
            request.extend([NAME, host.len() as u8]);
            request.extend(host.as_bytes());
        }
    }
    request.extend(port.to_be_bytes());
    line.send(&request)?;
    let mut answer = [0; 4];
    line.receive(&mut answer)?;
    match answer {
        [SOCKS, 0, ..] => {}
        // Not allowed by the rules, no such command, no such kind of address.
        [SOCKS, 2 | 7 | 8, ..] => return Err(ProxyFault::Forbidden),
        [SOCKS, ..] => return Err(ProxyFault::NoRoute),
        _ => return Err(ProxyFault::NotAProxy),
    }
    let address_len = match answer[3] {
        IPV4 => 4,
        IPV6 => 16,
        NAME => {
            let mut len = [0];
            line.receive(&mut len)?;
            usize::from(len[0])
        }
        _ => return Err(ProxyFault::NotAProxy),
    };
    // The address that the proxy connects from, and its port.
    line.receive(&mut vec![0; address_len + 2])
}
