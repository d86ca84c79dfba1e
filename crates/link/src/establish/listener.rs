//! An open port on which a service accepts many sessions.

use super::attempt::{CANCEL_TICK, Caller, Intent};
use super::event::LinkEvent;
use super::listen;
use super::pending::{Arrival, PendingConnections};
use crate::tls::Tls;
use crate::{CancelToken, Identity, LinkError, PublicIdentity, Session};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// Time after which single rejections are reported again: a wrong key must not go unseen because of
/// a burst last week.
const CROWD: Duration = Duration::from_secs(60);

/// Limits of the sessions of a [`Listener`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// A peer that sends nothing for this long is considered gone, as in
    /// [`LinkOptions::idle`](crate::LinkOptions::idle).
    pub idle: Duration,
    /// How long a session may last, from its start; `None` for no limit.
    pub total: Option<Duration>,
}

/// An open port that accepts any number of sessions, in sequence or at once, also from one peer.
///
/// Handshakes advance only inside [`accept`](Listener::accept), so call it repeatedly on its own
/// thread. The number of unfinished connections is bounded, and silent ones are dropped first, so
/// idle or hostile connections do not block others. Dropping the listener closes the port; its
/// sessions stay open.
pub struct Listener {
    identity: Identity,
    peers: Vec<PublicIdentity>,
    tls: Tls,
    pending: PendingConnections,
    options: ListenOptions,
}

impl Listener {
    /// Opens `host:port`, on every address of the host's name; port 0 takes a free one.
    ///
    /// # Errors
    /// [`LinkError::NoPeerGiven`], and any [`LinkError`] about the address or the port.
    pub fn bind(
        identity: &Identity,
        peers: &[PublicIdentity],
        address: &str,
        options: ListenOptions,
    ) -> Result<Self, LinkError> {
        if peers.is_empty() {
            return Err(LinkError::NoPeerGiven);
        }
        let pending =
            PendingConnections::new(listen::bind(address)?, options.idle, CROWD, Intent::Plain);
        let tls = Tls::new(identity, peers);
        Ok(Self { identity: identity.clone(), peers: peers.to_vec(), tls, pending, options })
    }

    /// The addresses of the open port, with the real port if 0 was requested.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.pending.listeners().iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Accepts only `peers` from now on. Existing sessions continue. An empty list rejects
    /// everybody.
    pub fn set_peers(&mut self, peers: &[PublicIdentity]) {
        self.peers = peers.to_vec();
        self.tls = Tls::new(&self.identity, peers);
    }

    /// Waits without a limit for the next session with one of the peers.
    ///
    /// Rejects all others, holders of our own key, and connections for which this machine has no
    /// threads left: [`LinkEvent::Rejected`]. Calls `on_event` on this thread, the last time with
    /// [`LinkEvent::Connected`].
    ///
    /// # Errors
    /// [`LinkError::Cancelled`] after `cancel`; pending connections stay for the next call.
    pub fn accept(
        &mut self,
        on_event: &dyn Fn(LinkEvent),
        cancel: &CancelToken,
    ) -> Result<Session, LinkError> {
        let caller = Caller { on_event, cancel };
        loop {
            caller.check_cancel()?;
            let (from, reason) = match self.pending.turn(&self.tls, CANCEL_TICK, caller) {
                None => continue,
                // It may have been accepted before the peers were replaced.
                Some(Arrival::Peer(authenticated)) if !self.peers.contains(&authenticated.peer) => {
                    let presented = authenticated.peer;
                    (authenticated.address, LinkError::WrongIdentity { presented })
                }
                Some(Arrival::Peer(authenticated)) => {
                    let from = authenticated.address;
                    match caller.start(*authenticated, self.options.idle, self.options.total, None)
                    {
                        Ok(session) => return Ok(session),
                        Err(error) => (from, error),
                    }
                }
                Some(Arrival::OwnKey(from)) => (from, LinkError::OwnIdentity),
                // Only while a session is mended, which is not here.
                Some(Arrival::NewRun) => continue,
            };
            self.pending.reject(from, reason, caller);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("addresses", &self.addresses())
            .field("peers", &self.peers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::handshake::Handshake;
    use super::*;
    use std::net::TcpStream;
    use std::sync::Mutex;

    const SOON: Duration = Duration::from_secs(20);

    /// Enough for what has already arrived.
    const SHORT: Duration = Duration::from_millis(300);

    /// A connecting side, driven by hand.
    fn connecting(own: &Identity, listener: &Identity, address: SocketAddr) -> (Tls, Handshake) {
        let settings = Tls::new(own, &[listener.public()]);
        let socket = TcpStream::connect(address).unwrap();
        let tls = settings.connecting("localhost").unwrap();
        let connecting = Handshake::new(socket, address, tls, SOON, Intent::Plain).unwrap();
        (settings, connecting)
    }

    #[test]
    fn handshakes_complete_at_once_are_returned_one_by_one() {
        let own = Identity::generate().unwrap();
        let peers = [(); 5].map(|()| Identity::generate().unwrap());
        let publics = peers.each_ref().map(Identity::public);
        let options = ListenOptions { idle: SOON, total: None };
        let mut listener = Listener::bind(&own, &publics, "127.0.0.1:0", options).unwrap();
        let address = listener.addresses()[0];
        let cancel = CancelToken::new();
        let caller = Caller { on_event: &|event| panic!("{event:?}"), cancel: &cancel };
        let mut connecting = peers.each_ref().map(|peer| connecting(peer, &own, address));
        for (settings, handshake) in &mut connecting {
            assert!(!handshake.advance(settings).unwrap());
        }
        for _ in 0..2 {
            assert!(listener.pending.turn(&listener.tls, SHORT, caller).is_none());
        }
        for (settings, handshake) in &mut connecting {
            assert!(!handshake.advance(settings).unwrap());
        }
        for public in publics {
            match listener.pending.turn(&listener.tls, SOON, caller) {
                Some(Arrival::Peer(authenticated)) => assert_eq!(authenticated.peer, public),
                _ => panic!("a peer was lost"),
            }
        }
    }

    #[test]
    fn a_handshake_started_under_the_old_list_is_checked_against_the_new_one() {
        let [own, old, new] = [(); 3].map(|()| Identity::generate().unwrap());
        let options = ListenOptions { idle: SOON, total: None };
        let mut listener = Listener::bind(&own, &[old.public()], "127.0.0.1:0", options).unwrap();
        let address = listener.addresses()[0];
        let (settings, mut connecting) = connecting(&old, &own, address);
        let (events, cancel) = (Mutex::new(Vec::new()), CancelToken::new());
        // Its first flight, its place among the pending, and our answer.
        assert!(!connecting.advance(&settings).unwrap());
        let caller = Caller { on_event: &|event| panic!("{event:?}"), cancel: &cancel };
        for _ in 0..2 {
            assert!(listener.pending.turn(&listener.tls, SHORT, caller).is_none());
        }
        listener.set_peers(&[new.public()]);
        // Its second flight, which the old list accepted.
        assert!(!connecting.advance(&settings).unwrap());
        let tell = |event| {
            events.lock().unwrap().push(event);
            cancel.cancel();
        };
        assert_eq!(listener.accept(&tell, &cancel).err(), Some(LinkError::Cancelled));
        let wrong = LinkError::WrongIdentity { presented: old.public() };
        match events.into_inner().unwrap().as_slice() {
            [LinkEvent::Rejected { reason, .. }] => assert_eq!(*reason, wrong),
            other => panic!("{other:?}"),
        }
    }
}
