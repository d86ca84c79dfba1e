//! An open port that a service serves many sessions on.

use super::lobby::{Arrival, Lobby};
use super::{CANCEL_TICK, Caller, LinkEvent, listen};
use crate::tls::Tls;
use crate::{CancelToken, Identity, LinkError, PublicIdentity, Session};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// Time after which strangers are told one by one again: one with a wrong key must not go unseen
/// because of a crowd of last week.
const CROWD: Duration = Duration::from_secs(60);

/// Limits of the sessions of a [`Listener`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// A peer from which nothing at all comes for this long is gone, as in
    /// [`LinkOptions::idle`](crate::LinkOptions::idle).
    pub idle: Duration,
    /// How long a session may last, from its start; `None` for no limit.
    pub total: Option<Duration>,
}

/// An open port that lets any number of sessions in, one after the other or many at once, also of
/// one peer.
///
/// Handshakes go on only inside [`accept`](Listener::accept), so call it again and again on a thread
/// of its own. It holds a bounded number of unfinished connections, and those who say nothing make
/// room first, so that idle or hostile ones keep nobody out. Dropping it closes the port; the
/// sessions that it gave out stay.
pub struct Listener {
    identity: Identity,
    peers: Vec<PublicIdentity>,
    tls: Tls,
    lobby: Lobby,
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
        let lobby = Lobby::new(listen::bind(address)?, options.idle, CROWD);
        let tls = Tls::new(identity, peers);
        Ok(Self { identity: identity.clone(), peers: peers.to_vec(), tls, lobby, options })
    }

    /// The addresses of the open port, with the real port where port 0 was asked for.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.lobby.listeners().iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Lets `peers` in from now on, and nobody else. Sessions that stand are not ended. An empty
    /// list keeps everybody out.
    pub fn set_peers(&mut self, peers: &[PublicIdentity]) {
        self.peers = peers.to_vec();
        self.tls = Tls::new(&self.identity, peers);
    }

    /// Waits, without a limit, for the next session with one of the peers.
    ///
    /// Whoever else comes is turned away, and so is a connection for which this machine has no
    /// threads left: [`LinkEvent::TurnedAway`]. Also whoever holds our own key. `on_event` is called
    /// on this thread, at last with [`LinkEvent::Connected`].
    ///
    /// # Errors
    /// [`LinkError::Cancelled`] once `cancel` is; connections on their way stay for the next call.
    pub fn accept(
        &mut self,
        on_event: &dyn Fn(LinkEvent),
        cancel: &CancelToken,
    ) -> Result<Session, LinkError> {
        let caller = Caller { on_event, cancel };
        loop {
            caller.check_cancel()?;
            let (from, reason) = match self.lobby.turn(&self.tls, CANCEL_TICK, caller) {
                None => continue,
                // May have been let in before the peers were replaced.
                Some(Arrival::Peer(introduced)) if !self.peers.contains(&introduced.peer) => {
                    let presented = introduced.peer;
                    (introduced.address, LinkError::WrongIdentity { presented })
                }
                Some(Arrival::Peer(introduced)) => {
                    let from = introduced.address;
                    match caller.start(*introduced, self.options.idle, self.options.total) {
                        Ok(session) => return Ok(session),
                        Err(error) => (from, error),
                    }
                }
                Some(Arrival::OwnKey(from)) => (from, LinkError::OwnIdentity),
            };
            self.lobby.turn_away(from, reason, caller);
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

    /// For what has arrived already.
    const SHORT: Duration = Duration::from_millis(300);

    /// A side that calls, driven by hand.
    fn call(own: &Identity, listener: &Identity, address: SocketAddr) -> (Tls, Handshake) {
        let settings = Tls::new(own, &[listener.public()]);
        let socket = TcpStream::connect(address).unwrap();
        let tls = settings.connecting("localhost").unwrap();
        let calling = Handshake::new(socket, address, tls, SOON).unwrap();
        (settings, calling)
    }

    #[test]
    fn those_who_are_done_at_the_same_moment_come_out_one_by_one() {
        let own = Identity::generate().unwrap();
        let peers = [(); 5].map(|()| Identity::generate().unwrap());
        let publics = peers.each_ref().map(Identity::public);
        let options = ListenOptions { idle: SOON, total: None };
        let mut listener = Listener::bind(&own, &publics, "127.0.0.1:0", options).unwrap();
        let address = listener.addresses()[0];
        let cancel = CancelToken::new();
        let caller = Caller { on_event: &|event| panic!("{event:?}"), cancel: &cancel };
        let mut calling = peers.each_ref().map(|peer| call(peer, &own, address));
        for (settings, handshake) in &mut calling {
            assert!(!handshake.advance(settings).unwrap());
        }
        for _ in 0..2 {
            assert!(listener.lobby.turn(&listener.tls, SHORT, caller).is_none());
        }
        for (settings, handshake) in &mut calling {
            assert!(!handshake.advance(settings).unwrap());
        }
        for public in publics {
            match listener.lobby.turn(&listener.tls, SOON, caller) {
                Some(Arrival::Peer(introduced)) => assert_eq!(introduced.peer, public),
                _ => panic!("a peer was lost"),
            }
        }
    }

    #[test]
    fn a_handshake_begun_under_the_old_list_is_judged_by_the_new_one() {
        let [own, old, new] = [(); 3].map(|()| Identity::generate().unwrap());
        let options = ListenOptions { idle: SOON, total: None };
        let mut listener = Listener::bind(&own, &[old.public()], "127.0.0.1:0", options).unwrap();
        let address = listener.addresses()[0];
        let (settings, mut calling) = call(&old, &own, address);
        let (events, cancel) = (Mutex::new(Vec::new()), CancelToken::new());
        // Its first flight, its place in the lobby, and our answer.
        assert!(!calling.advance(&settings).unwrap());
        let caller = Caller { on_event: &|event| panic!("{event:?}"), cancel: &cancel };
        for _ in 0..2 {
            assert!(listener.lobby.turn(&listener.tls, SHORT, caller).is_none());
        }
        listener.set_peers(&[new.public()]);
        // Its second flight, which the old list let in.
        assert!(!calling.advance(&settings).unwrap());
        let tell = |event| {
            events.lock().unwrap().push(event);
            cancel.cancel();
        };
        assert_eq!(listener.accept(&tell, &cancel).err(), Some(LinkError::Cancelled));
        let wrong = LinkError::WrongIdentity { presented: old.public() };
        match events.into_inner().unwrap().as_slice() {
            [LinkEvent::TurnedAway { reason, .. }] => assert_eq!(*reason, wrong),
            other => panic!("{other:?}"),
        }
    }
}
