//! Connects two parties: one listens, one connects, and each checks the other's identity.

mod again;
mod attempt;
mod connect;
mod event;
mod handshake;
mod listen;
mod listener;
mod options;
mod pending;
mod poll;
mod tcp;

use crate::authenticated::Authenticated;
use crate::tls::Tls;
use crate::{CancelToken, Identity, LinkError, PublicIdentity, Session};
pub(crate) use again::Mender;
pub use again::OnEvent;
pub(crate) use attempt::Intent;
use attempt::{Attempt, Caller};
pub use event::LinkEvent;
pub use listener::{ListenOptions, Listener};
pub use options::{Endpoint, LinkOptions};
use std::sync::Arc;
use std::time::Duration;

/// Most bytes that [`establish_sending`] sends first.
pub const MAX_FIRST_LEN: usize = 8 << 10;

/// Waits until one of `peers` is at the other end of a session, and returns the session.
///
/// A connecting side retries until `options.wait` has passed, even while no process listens, and
/// stops at once when the other side is provably not the peer. A listening side rejects others and
/// continues to listen; its number of unfinished connections is bounded, and idle or hostile ones
/// do not block others. Calls `on_event` on this thread.
///
/// # Errors
/// Any [`LinkError`]; after the wait, [`LinkError::NoPeer`] with the most informative failure.
///
/// # Examples
/// Two parties on the loopback interface; each expects the other's public identity:
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
/// use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, establish};
/// use vesica_net::{StreamId, Streams};
///
/// let options = |endpoint| LinkOptions {
///     endpoint,
///     wait: Duration::from_secs(20),
///     idle: Duration::from_secs(20),
///     total: None,
///     proxy: None,
/// };
/// let (alice, bob) = (Identity::generate()?, Identity::generate()?);
/// let (alice_key, bob_key) = (alice.public(), bob.public());
///
/// let (events, addresses) = mpsc::channel();
/// let listening = std::thread::spawn(move || {
///     let on_event = |event| {
///         if let LinkEvent::Listening { address } = event {
///             let _ = events.send(address);
///         }
///     };
///     let listen = options(Endpoint::Listen("127.0.0.1:0".into()));
///     establish(&alice, &[bob_key], &listen, &on_event, &CancelToken::new())
/// });
/// let connect = options(Endpoint::Connect(addresses.recv()?.to_string()));
/// let bob = establish(&bob, &[alice_key], &connect, &|_| (), &CancelToken::new())?;
/// let alice = listening.join().expect("the thread does not panic")?;
/// assert_eq!((alice.peer(), bob.peer()), (bob_key, alice_key));
///
/// let (_, mut to_alice) = bob.open(StreamId::ROOT)?;
/// let (mut from_bob, _) = alice.open(StreamId::ROOT)?;
/// to_alice.write_all(b"hello")?;
/// to_alice.flush()?;
/// let mut received = [0; 5];
/// from_bob.read_exact(&mut received)?;
/// assert_eq!(&received, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn establish(
    identity: &Identity,
    peers: &[PublicIdentity],
    options: &LinkOptions,
    on_event: &dyn Fn(LinkEvent),
    cancel: &CancelToken,
) -> Result<Session, LinkError> {
    let opening = Opening { intent: Intent::Plain, first: &[] };
    establish_as(opening, identity, peers, options, on_event, None, cancel)
}

/// Like [`establish`] for a side that connects, and sends `first`, at most [`MAX_FIRST_LEN`] bytes,
/// on [`StreamId::ROOT`](vesica_net::StreamId::ROOT) without waiting until the peer accepts it: a
/// round trip less. The peer is authenticated before it is sent anything. What is written to the
/// stream later follows `first`.
///
/// # Errors
/// As [`establish`]; [`LinkError::BadAddress`] for a side that does not connect.
pub fn establish_sending(
    first: &[u8],
    identity: &Identity,
    peers: &[PublicIdentity],
    options: &LinkOptions,
    on_event: &dyn Fn(LinkEvent),
    cancel: &CancelToken,
) -> Result<Session, LinkError> {
    if !matches!(options.endpoint, Endpoint::Connect(_)) {
        return Err(LinkError::BadAddress);
    }
    let first = &first[..first.len().min(MAX_FIRST_LEN)];
    let opening = Opening { intent: Intent::Plain, first };
    establish_as(opening, identity, peers, options, on_event, None, cancel)
}

/// Like [`establish`], for a session that outlives its connection if the peer wants that too.
///
/// When the connection is lost (it breaks, ends without a goodbye, or is silent for the idle
/// limit), the side that connected connects again, and the side that listened, whose port stays
/// open for the session, accepts the same process of the same peer. What had not arrived is sent
/// again. [`LinkEvent::Lost`] and [`LinkEvent::Mended`] tell of it, on a thread of the link. If
/// there is no other connection within `mend`, the session ends with the error of the lost one. If
/// the peer's program was started again, it ends with
/// [`TransportError::PeerRestarted`](vesica_core::TransportError::PeerRestarted), and the peer's
/// new run fails with [`LinkError::EarlierRun`].
///
/// # Errors
/// As [`establish`], and [`LinkError::EarlierRun`].
pub fn establish_mendable(
    identity: &Identity,
    peers: &[PublicIdentity],
    options: &LinkOptions,
    mend: Duration,
    on_event: &OnEvent,
    cancel: &CancelToken,
) -> Result<Session, LinkError> {
    let again = Some((mend, on_event));
    let opening = Opening { intent: Intent::Mendable, first: &[] };
    establish_as(opening, identity, peers, options, &**on_event, again, cancel)
}

/// How a session begins.
struct Opening<'a> {
    intent: Intent,
    /// The first bytes that a connecting side sends.
    first: &'a [u8],
}

fn establish_as(
    opening: Opening<'_>,
    identity: &Identity,
    peers: &[PublicIdentity],
    options: &LinkOptions,
    on_event: &dyn Fn(LinkEvent),
    again: Option<(Duration, &OnEvent)>,
    cancel: &CancelToken,
) -> Result<Session, LinkError> {
    if peers.is_empty() {
        return Err(LinkError::NoPeerGiven);
    }
    let caller = Caller { on_event, cancel };
    let Opening { intent, first } = opening;
    let attempt = Attempt { tls: Tls::new(identity, peers), options, intent, first, caller };
    let (authenticated, pending) = match &options.endpoint {
        Endpoint::Listen(address) => {
            let (authenticated, pending) = listen::listen(&attempt, address)?;
            (authenticated, Some(pending))
        }
        Endpoint::Connect(address) => (connect::connect(&attempt, address)?, None),
        Endpoint::Store(_) => return Err(LinkError::BadAddress),
    };
    let mender = again.filter(|_| authenticated.mendable).map(|(limit, on_event)| {
        // Only the peer of this session is expected again.
        let tls = Tls::new(identity, &[authenticated.peer]);
        let options = LinkOptions { wait: limit, ..options.clone() };
        Mender::new(tls, options, Arc::clone(on_event), pending)
    });
    caller.start(authenticated, options.idle, options.total, mender)
}

impl Caller<'_> {
    fn start(
        &self,
        authenticated: Authenticated,
        idle: Duration,
        total: Option<Duration>,
        mender: Option<Arc<Mender>>,
    ) -> Result<Session, LinkError> {
        let Authenticated { address, is_proxy, peer, .. } = authenticated;
        let session = Session::start(authenticated, idle, total, mender)?;
        (self.on_event)(LinkEvent::Connected { address, is_proxy, peer });
        Ok(session)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::net::{SocketAddr, TcpListener, TcpStream};

    /// The two ends of a new connection: the connecting one, then the listening one.
    pub(crate) fn authenticated() -> (Authenticated, Authenticated) {
        let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let settings = [Tls::new(&one, &[two.public()]), Tls::new(&two, &[one.public()])];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sockets = [TcpStream::connect(address).unwrap(), listener.accept().unwrap().0];
        let tls = [settings[0].connecting("localhost").unwrap(), settings[1].listening().unwrap()];
        let mut ends = sockets.into_iter().zip(tls).map(|(socket, tls)| {
            let idle = Duration::from_secs(20);
            handshake::Handshake::new(socket, address, tls, idle, Intent::Plain).unwrap()
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
        let [a, b] = ends.map(|end| end.into_authenticated().unwrap());
        (a, b)
    }

    /// The connecting end of a connection from `own` to `peer`, who listens there.
    pub(crate) fn greet(
        own: &Identity,
        peer: &Identity,
        address: SocketAddr,
        intent: Intent,
    ) -> Result<Authenticated, LinkError> {
        let settings = Tls::new(own, &[peer.public()]);
        let socket =
            TcpStream::connect(address).map_err(|error| LinkError::ConnectFailed(error.kind()))?;
        let tls = settings.connecting("localhost")?;
        let idle = Duration::from_secs(20);
        let mut end = handshake::Handshake::new(socket, address, tls, idle, intent).unwrap();
        while !end.advance(&settings)? {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut met = end.into_authenticated()?;
        // The other side's greeting may have come before this one was written.
        while met.tls.wants_write() {
            met.tls
                .write_tls(&mut &met.socket)
                .map_err(|error| LinkError::ConnectFailed(error.kind()))?;
        }
        Ok(met)
    }
}
