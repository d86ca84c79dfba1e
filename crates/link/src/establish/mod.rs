//! Bringing two parties together: one listens, one connects, both check who the other is.

mod connect;
mod handshake;
mod listen;
mod listener;
mod lobby;
mod poll;

use crate::tls::Tls;
use crate::{CancelToken, Identity, LinkError, PublicIdentity, Session};
pub(crate) use handshake::Introduced;
pub use listener::{ListenOptions, Listener};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// How long one connection may take from its first byte to a standing session.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// How soon a cancelled wait ends, at most.
const CANCEL_TICK: Duration = Duration::from_millis(50);

/// How often a wait says that it is still going on.
const WAITING_EVENT_EVERY: Duration = Duration::from_secs(1);

/// Which side makes the connection. Independent of the parties' roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Waits for the peer on this `host:port`; port 0 takes a free one, told by
    /// [`LinkEvent::Listening`].
    Listen(String),
    /// Connects to the peer at this `host:port`.
    Connect(String),
}

/// Where the peer is, and how long to wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// Which side makes the connection.
    pub endpoint: Endpoint,
    /// How long to wait for the peer to appear.
    pub wait: Duration,
    /// A peer from which nothing at all comes for this long is gone. Both sides show that they are
    /// alive four times as often, also while they compute, so this may be short. The two sides'
    /// limits may differ.
    pub idle: Duration,
    /// How long the session may last, from its start; `None` for no limit.
    pub total: Option<Duration>,
}

/// What happens while a party waits for its peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkEvent {
    /// The port is open. Once for each address that the host's name has.
    Listening {
        /// The address, with the real port when port 0 was asked for.
        address: SocketAddr,
    },
    /// Still waiting; about once a second.
    Waiting {
        /// Time left to wait.
        remaining: Duration,
        /// Why the last try to connect failed; always `None` for a listening side.
        last: Option<LinkError>,
    },
    /// A connection to the open port was turned away. After the first few only the 32nd, 64th,
    /// 128th and so on are told, so that a flood of strangers does not become a flood of lines; by a
    /// [`Listener`] the first few of each minute are told.
    TurnedAway {
        /// Where it came from.
        from: SocketAddr,
        /// Why.
        reason: LinkError,
        /// How many were turned away so far, this one included.
        count: u64,
    },
    /// The session stands.
    Connected {
        /// The other end's address.
        address: SocketAddr,
        /// Who is there.
        peer: PublicIdentity,
    },
}

/// Waits until one of `peers` is at the other end of a session, and returns the session.
///
/// A connecting side tries again until `options.wait` is over, also when nobody listens yet, and
/// gives up at once when the other side is provably not the peer. A listening side turns strangers
/// away and goes on listening; it holds a bounded number of unfinished connections, so that idle
/// or hostile ones keep nobody out. `on_event` is called on this thread.
///
/// # Errors
/// Any [`LinkError`]; after a wait in vain [`LinkError::NoPeer`] with the most telling failure.
pub fn establish(
    identity: &Identity,
    peers: &[PublicIdentity],
    options: &LinkOptions,
    on_event: &dyn Fn(LinkEvent),
    cancel: &CancelToken,
) -> Result<Session, LinkError> {
    if peers.is_empty() {
        return Err(LinkError::NoPeerGiven);
    }
    let caller = Caller { on_event, cancel };
    let attempt = Attempt { tls: Tls::new(identity, peers), options, caller };
    match &options.endpoint {
        Endpoint::Listen(address) => listen::listen(&attempt, address),
        Endpoint::Connect(address) => connect::connect(&attempt, address),
    }
}

/// What all parts of one call of [`establish`] share.
struct Attempt<'a> {
    tls: Tls,
    options: &'a LinkOptions,
    caller: Caller<'a>,
}

impl Attempt<'_> {
    fn start(&self, introduced: Introduced) -> Result<Session, LinkError> {
        self.caller.start(introduced, self.options.idle, self.options.total)
    }
}

/// Who waits for a session: hears what happens, and may have waited enough.
#[derive(Clone, Copy)]
struct Caller<'a> {
    on_event: &'a dyn Fn(LinkEvent),
    cancel: &'a CancelToken,
}

impl Caller<'_> {
    fn check_cancel(&self) -> Result<(), LinkError> {
        if self.cancel.is_cancelled() { Err(LinkError::Cancelled) } else { Ok(()) }
    }

    fn start(
        &self,
        introduced: Introduced,
        idle: Duration,
        total: Option<Duration>,
    ) -> Result<Session, LinkError> {
        let (address, peer) = (introduced.address, introduced.peer);
        let session = Session::start(introduced, idle, total)?;
        (self.on_event)(LinkEvent::Connected { address, peer });
        Ok(session)
    }
}

/// Whether `address` is of the form `host:port`, with brackets around an IPv6 address. Nothing is looked up.
///
/// # Errors
/// [`LinkError::BadAddress`].
pub fn check_address(address: &str) -> Result<(), LinkError> {
    split_address(address).map(drop)
}

/// As [`check_address`], for an address to connect to, which has a port other than 0.
///
/// # Errors
/// [`LinkError::BadAddress`].
pub fn check_peer_address(address: &str) -> Result<(), LinkError> {
    match split_address(address)? {
        (_, 0) => Err(LinkError::BadAddress),
        _ => Ok(()),
    }
}

/// All addresses of `host`, each once. `localhost` has both loopback addresses whatever the system's list of
/// hosts says (RFC 6761, section 6.3).
fn addresses_of(host: &str, port: u16) -> Result<Vec<SocketAddr>, LinkError> {
    let mut addresses = Vec::new();
    if host.eq_ignore_ascii_case("localhost") {
        addresses.push(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        addresses.push(SocketAddr::from((Ipv6Addr::LOCALHOST, port)));
        return Ok(addresses);
    }
    for address in (host, port).to_socket_addrs().map_err(|_| LinkError::UnknownHost)? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

/// Splits `host:port`; brackets around an IPv6 address are taken off.
fn split_address(address: &str) -> Result<(&str, u16), LinkError> {
    let (host, port) = address.rsplit_once(':').ok_or(LinkError::BadAddress)?;
    let port = port.parse().map_err(|_| LinkError::BadAddress)?;
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let bare = bracketed.unwrap_or(host);
    // An IPv6 address without brackets would lose its last group to the port.
    let ambiguous = bracketed.is_none() && host.contains(':');
    if bare.is_empty() || ambiguous || bare.contains(char::is_whitespace) {
        return Err(LinkError::BadAddress);
    }
    Ok((bare, port))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tls::Tls;
    use std::net::{TcpListener, TcpStream};

    /// Two ends that have just met: the connecting one, then the listening one.
    pub(crate) fn introduced() -> (Introduced, Introduced) {
        let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let settings = [Tls::new(&one, &[two.public()]), Tls::new(&two, &[one.public()])];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sockets = [TcpStream::connect(address).unwrap(), listener.accept().unwrap().0];
        let tls = [settings[0].connecting("localhost").unwrap(), settings[1].listening().unwrap()];
        let mut ends = sockets.into_iter().zip(tls).map(|(socket, tls)| {
            handshake::Handshake::new(socket, address, tls, Duration::from_secs(20)).unwrap()
        });
        let mut ends = [ends.next().unwrap(), ends.next().unwrap()];
        let mut done = [false; 2];
        while done != [true; 2] {
            for index in 0..2 {
                if !done[index] {
                    done[index] = ends[index].advance(&settings[index]).unwrap();
                }
            }
        }
        let [a, b] = ends.map(|end| end.into_introduced().unwrap());
        (a, b)
    }

    #[test]
    fn addresses_are_split_at_the_port() {
        assert_eq!(split_address("a.example:7000"), Ok(("a.example", 7000)));
        assert_eq!(split_address("127.0.0.1:0"), Ok(("127.0.0.1", 0)));
        assert_eq!(split_address("[::1]:65535"), Ok(("::1", 65535)));
    }

    #[test]
    fn other_addresses_are_refused() {
        for bad in ["", "host", ":7000", "host:", "host:x", "host:65536", "::1:7000", "a b:1"] {
            assert_eq!(split_address(bad), Err(LinkError::BadAddress), "{bad:?}");
        }
    }
}
