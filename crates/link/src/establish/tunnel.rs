//! A connection through a proxy: what is said before its bytes are those of the other side.

use super::{HANDSHAKE_LIMIT, tcp};
use crate::LinkError;
use crate::error::ProxyFault;
use crate::proxy::{Login, Proxy, Scheme, is_plain_host};
use crate::sync::Deadline;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
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

/// A connection to `host`, which the proxy made, and the proxy's address.
pub(super) fn open(
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<(TcpStream, SocketAddr), LinkError> {
    if !is_plain_host(host) {
        return Err(LinkError::BadAddress);
    }
    let (socket, address) = tcp::open(&proxy.host, proxy.port).map_err(|error| match error {
        LinkError::UnknownHost => ProxyFault::UnknownHost.into(),
        LinkError::ConnectFailed(kind) => ProxyFault::Unreachable(kind).into(),
        error => error,
    })?;
    let mut line = Connection { socket: &socket, deadline: Deadline::after(HANDSHAKE_LIMIT) };
    ask(proxy, host, port, &mut line)?;
    let untimed = socket.set_read_timeout(None).and_then(|()| socket.set_write_timeout(None));
    untimed.map_err(|error| LinkError::ConnectFailed(error.kind()))?;
    Ok((socket, address))
}

/// Asks the proxy for a connection to `host`. Reads no byte beyond its answer.
pub(crate) fn ask(
    proxy: &Proxy,
    host: &str,
    port: u16,
    line: &mut impl Line,
) -> Result<(), LinkError> {
    match proxy.scheme {
        Scheme::Http => over_http(line, host, port, proxy.login.as_ref()),
        Scheme::Socks5 => over_socks(line, host, port, proxy.login.as_ref()),
    }
}

/// The way to a proxy and back.
pub(crate) trait Line {
    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError>;
    /// Fills `bytes`.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), LinkError>;
}

/// The connection to the proxy, with one time limit for all that is said.
struct Connection<'a> {
    socket: &'a TcpStream,
    deadline: Deadline,
}

impl Line for Connection<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.timed()?;
        self.socket.write_all(bytes).map_err(|error| lost(&error))
    }

    fn receive(&mut self, mut bytes: &mut [u8]) -> Result<(), LinkError> {
        while !bytes.is_empty() {
            self.timed()?;
            match self.socket.read(bytes) {
                Ok(0) => return Err(ProxyFault::Closed.into()),
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
    fn timed(&self) -> Result<(), LinkError> {
        let left = self.deadline.remaining();
        if left.is_zero() {
            return Err(ProxyFault::Silent.into());
        }
        let timed = self.socket.set_read_timeout(Some(left));
        timed
            .and_then(|()| self.socket.set_write_timeout(Some(left)))
            .map_err(|error| ProxyFault::Unreachable(error.kind()).into())
    }
}

fn lost(error: &io::Error) -> LinkError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ProxyFault::Silent.into(),
        _ => ProxyFault::Closed.into(),
    }
}

fn over_http(
    line: &mut impl Line,
    host: &str,
    port: u16,
    login: Option<&Login>,
) -> Result<(), LinkError> {
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
            return Err(ProxyFault::NotAProxy.into());
        }
        let mut byte = [0];
        line.receive(&mut byte)?;
        answer.extend_from_slice(&byte);
        // Another service may send something else without end.
        let start = &answer[..answer.len().min(7)];
        if start != &b"HTTP/1."[..start.len()] {
            return Err(ProxyFault::NotAProxy.into());
        }
    }
    match status(&answer).ok_or(ProxyFault::NotAProxy)? {
        200..=299 => Ok(()),
        407 => Err(ProxyFault::Login.into()),
        408 | 429 | 500..=599 => Err(ProxyFault::NoRoute.into()),
        _ => Err(ProxyFault::Forbidden.into()),
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
) -> Result<(), LinkError> {
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
                return Err(ProxyFault::Login.into());
            }
        }
        ([SOCKS, _], _) => return Err(ProxyFault::Login.into()),
        _ => return Err(ProxyFault::NotAProxy.into()),
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
        [SOCKS, 2 | 7 | 8, ..] => return Err(ProxyFault::Forbidden.into()),
        [SOCKS, ..] => return Err(ProxyFault::NoRoute.into()),
        _ => return Err(ProxyFault::NotAProxy.into()),
    }
    let address_len = match answer[3] {
        IPV4 => 4,
        IPV6 => 16,
        NAME => {
            let mut len = [0];
            line.receive(&mut len)?;
            usize::from(len[0])
        }
        _ => return Err(ProxyFault::NotAProxy.into()),
    };
    // The address that the proxy connects from, and its port.
    line.receive(&mut vec![0; address_len + 2])
}
