//! One open port, many sessions.

use crate::common::{SOON, connect, connect_to, open, options, root};
use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vesica_link::{
    CancelToken, Identity, LinkError, LinkEvent, ListenOptions, Listener, PublicIdentity, Session,
};
use vesica_net::StreamId;

const OPTIONS: ListenOptions = ListenOptions { idle: Duration::from_secs(20), total: None };

fn identity() -> Identity {
    Identity::generate().unwrap()
}

fn listener(own: &Identity, peers: &[PublicIdentity]) -> Listener {
    Listener::bind(own, peers, "127.0.0.1:0", OPTIONS).unwrap()
}

fn address(listener: &Listener) -> SocketAddr {
    listener.addresses()[0]
}

fn accept(listener: &mut Listener) -> Session {
    listener.accept(&|_| (), &CancelToken::new()).unwrap()
}

/// Accepts until `done`; returns all events.
fn reject_until(listener: &mut Listener, done: &AtomicBool) -> Vec<LinkEvent> {
    let (events, cancel) = (Mutex::new(Vec::new()), CancelToken::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let started = Instant::now();
            while !done.load(Ordering::Acquire) && started.elapsed() < SOON {
                std::thread::sleep(Duration::from_millis(5));
            }
            cancel.cancel();
        });
        let result = listener.accept(&|event| events.lock().unwrap().push(event), &cancel);
        assert_eq!(result.err(), Some(LinkError::Cancelled));
    });
    events.into_inner().unwrap()
}

/// Sends a number on the first stream of the one end, and receives it at the other.
fn carries(from: &Session, to: &Session, number: u8) {
    let (_from_in, mut out) = root(from);
    let (mut input, _to_out) = root(to);
    out.write_all(&[number]).unwrap();
    out.flush().unwrap();
    let mut got = [0];
    input.read_exact(&mut got).unwrap();
    assert_eq!(got, [number]);
}

#[test]
fn many_peers_connect_at_once_and_their_sessions_run_side_by_side() {
    let own = identity();
    let peers: Vec<Identity> = (0..16).map(|_| identity()).collect();
    let publics: Vec<_> = peers.iter().map(Identity::public).collect();
    let mut listener = listener(&own, &publics);
    let address = address(&listener);
    std::thread::scope(|scope| {
        let connecting: Vec<_> = peers
            .iter()
            .map(|peer| {
                let own = own.public();
                scope.spawn(move || connect(peer, &[own], &options(connect_to(address))).unwrap())
            })
            .collect();
        let accepted: Vec<Session> = peers.iter().map(|_| accept(&mut listener)).collect();
        let connected: Vec<Session> =
            connecting.into_iter().map(|thread| thread.join().unwrap()).collect();
        for (number, (public, session)) in publics.iter().zip(&connected).enumerate() {
            let other = accepted.iter().find(|accepted| accepted.peer() == *public).unwrap();
            carries(session, other, number as u8);
        }
    });
}

#[test]
fn one_peer_may_have_many_sessions_and_they_are_not_mixed_up() {
    let (own, peer) = (identity(), identity());
    let mut listener = listener(&own, &[peer.public()]);
    let to = options(connect_to(address(&listener)));
    std::thread::scope(|scope| {
        let connecting: Vec<_> =
            (0..8).map(|_| scope.spawn(|| connect(&peer, &[own.public()], &to).unwrap())).collect();
        let accepted: Vec<Session> = connecting.iter().map(|_| accept(&mut listener)).collect();
        let mut names: Vec<[u8; 32]> = Vec::new();
        for session in connecting.into_iter().map(|thread| thread.join().unwrap()) {
            let name = session.export("test", b"");
            let same = |other: &&Session| other.export("test", b"") == name;
            let other = accepted.iter().find(same).unwrap();
            carries(&session, other, names.len() as u8);
            names.push(name);
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 8);
    });
}

#[test]
fn a_peer_can_reconnect() {
    let (own, peer) = (identity(), identity());
    let mut listener = listener(&own, &[peer.public()]);
    let to = options(connect_to(address(&listener)));
    for number in 0..5 {
        std::thread::scope(|scope| {
            let connecting = scope.spawn(|| connect(&peer, &[own.public()], &to).unwrap());
            let accepted = accept(&mut listener);
            let connected = connecting.join().unwrap();
            carries(&accepted, &connected, number);
            // Ends without a goodbye, as when killed.
            drop(connected);
        });
    }
}

#[test]
fn peers_that_connected_before_accept_are_not_lost() {
    let own = identity();
    let peers: Vec<Identity> = (0..4).map(|_| identity()).collect();
    let publics: Vec<_> = peers.iter().map(Identity::public).collect();
    let mut listener = listener(&own, &publics);
    let to = options(connect_to(address(&listener)));
    std::thread::scope(|scope| {
        let connecting: Vec<_> = peers
            .iter()
            .map(|peer| scope.spawn(|| connect(peer, &[own.public()], &to).unwrap()))
            .collect();
        let mut came: Vec<PublicIdentity> = Vec::new();
        let mut sessions = Vec::new();
        for _ in &peers {
            // The others wait in the middle of their handshakes.
            std::thread::sleep(Duration::from_millis(300));
            let session = accept(&mut listener);
            came.push(session.peer());
            sessions.push(session);
        }
        connecting.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        came.sort();
        let mut expected = publics.clone();
        expected.sort();
        assert_eq!(came, expected);
    });
}

#[test]
fn unexpected_peers_are_named_and_rejected_while_peers_connect() {
    let (own, peer, stranger) = (identity(), identity(), identity());
    let mut listener = listener(&own, &[peer.public()]);
    let to = options(connect_to(address(&listener)));
    let events = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| {
            let refused = connect(&stranger, &[own.public()], &to);
            assert_eq!(refused.err(), Some(LinkError::RefusedByPeer));
            connect(&peer, &[own.public()], &to).unwrap()
        });
        let tell = |event| events.lock().unwrap().push(event);
        let accepted = listener.accept(&tell, &CancelToken::new()).unwrap();
        carries(&connecting.join().unwrap(), &accepted, 1);
    });
    let events = events.into_inner().unwrap();
    let wrong = LinkError::WrongIdentity { presented: stranger.public() };
    match events.as_slice() {
        [
            LinkEvent::Rejected { reason, count: 1, .. },
            LinkEvent::Connected { peer: connected, .. },
        ] => assert_eq!((reason, *connected), (&wrong, peer.public())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_peer_with_our_own_key_ends_its_connection_and_not_the_service() {
    let (own, peer) = (identity(), identity());
    let mut listener = listener(&own, &[peer.public()]);
    let to = options(connect_to(address(&listener)));
    let done = AtomicBool::new(false);
    let events = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Each side learns that both chose the same party.
            let refused = connect(&own, &[peer.public()], &to);
            done.store(true, Ordering::Release);
            assert_eq!(refused.err(), Some(LinkError::OwnIdentity));
        });
        reject_until(&mut listener, &done)
    });
    assert!(
        events.iter().any(|event| matches!(
            event,
            LinkEvent::Rejected { reason: LinkError::OwnIdentity, count: 1, .. }
        )),
        "{events:?}"
    );
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&peer, &[own.public()], &to).unwrap());
        carries(&accept(&mut listener), &connecting.join().unwrap(), 1);
    });
}

#[test]
fn a_new_peer_list_holds_for_the_next_session_and_not_for_open_ones() {
    let (own, old, new) = (identity(), identity(), identity());
    let mut listener = listener(&own, &[old.public()]);
    let to = options(connect_to(address(&listener)));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&old, &[own.public()], &to).unwrap());
        let standing = (accept(&mut listener), connecting.join().unwrap());

        listener.set_peers(&[new.public()]);
        scope.spawn(|| {
            let refused = connect(&old, &[own.public()], &to);
            done.store(true, Ordering::Release);
            assert_eq!(refused.err(), Some(LinkError::RefusedByPeer));
        });
        let events = reject_until(&mut listener, &done);
        let wrong = LinkError::WrongIdentity { presented: old.public() };
        assert!(matches!(&events[..], [LinkEvent::Rejected { reason, .. }] if *reason == wrong));

        let connecting = scope.spawn(|| connect(&new, &[own.public()], &to).unwrap());
        let accepted = accept(&mut listener);
        assert_eq!(accepted.peer(), new.public());
        carries(&connecting.join().unwrap(), &accepted, 1);
        carries(&standing.0, &standing.1, 2);
    });
}

#[test]
fn an_empty_peer_list_rejects_everybody() {
    let (own, peer) = (identity(), identity());
    let bound = Listener::bind(&own, &[], "127.0.0.1:0", OPTIONS);
    assert_eq!(bound.err(), Some(LinkError::NoPeerGiven));
    let mut listener = listener(&own, &[peer.public()]);
    listener.set_peers(&[]);
    let to = options(connect_to(address(&listener)));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let refused = connect(&peer, &[own.public()], &to);
            done.store(true, Ordering::Release);
            assert_eq!(refused.err(), Some(LinkError::RefusedByPeer));
        });
        assert_eq!(reject_until(&mut listener, &done).len(), 1);
    });
}

#[test]
fn a_crowd_that_reconnects_does_not_block_peers() {
    let own = identity();
    let peers: Vec<Identity> = (0..4).map(|_| identity()).collect();
    let publics: Vec<_> = peers.iter().map(Identity::public).collect();
    let mut listener = listener(&own, &publics);
    let address = address(&listener);
    let to = options(connect_to(address));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut open = VecDeque::new();
                while !done.load(Ordering::Relaxed) {
                    open.push_back(TcpStream::connect(address));
                    if open.len() > 200 {
                        open.pop_front();
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(100));
        let connecting: Vec<_> =
            peers.iter().map(|peer| scope.spawn(|| connect(peer, &[own.public()], &to))).collect();
        let started = Instant::now();
        let accepted: Vec<Session> = peers.iter().map(|_| accept(&mut listener)).collect();
        done.store(true, Ordering::Relaxed);
        assert!(started.elapsed() < SOON / 2);
        let mut came: Vec<_> = accepted.iter().map(Session::peer).collect();
        came.sort();
        let mut expected = publics.clone();
        expected.sort();
        assert_eq!(came, expected);
        connecting.into_iter().for_each(|thread| drop(thread.join().unwrap().unwrap()));
    });
}

#[test]
fn a_cancelled_accept_ends_at_once_and_the_port_stays_open() {
    let (own, peer) = (identity(), identity());
    let mut listener = listener(&own, &[peer.public()]);
    let to = options(connect_to(address(&listener)));
    let cancel = CancelToken::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        let started = Instant::now();
        assert_eq!(listener.accept(&|_| (), &cancel).err(), Some(LinkError::Cancelled));
        assert!(started.elapsed() < Duration::from_secs(5));
        let connecting = scope.spawn(|| connect(&peer, &[own.public()], &to).unwrap());
        carries(&accept(&mut listener), &connecting.join().unwrap(), 1);
    });
}

#[test]
fn sessions_outlive_the_listener_and_its_port_becomes_free() {
    let (own, peer) = (identity(), identity());
    let mut listener = listener(&own, &[peer.public()]);
    let address = address(&listener);
    let to = options(connect_to(address));
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&peer, &[own.public()], &to).unwrap());
        let accepted = accept(&mut listener);
        let connected = connecting.join().unwrap();
        drop(listener);
        carries(&accepted, &connected, 1);
        let again = Listener::bind(&own, &[peer.public()], &address.to_string(), OPTIONS);
        assert_eq!(again.unwrap().addresses(), [address]);
    });
}

#[test]
fn a_port_in_use_and_a_bad_address_are_named() {
    let (own, peer) = (identity(), identity().public());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let try_on = |address: &str| Listener::bind(&own, &[peer], address, OPTIONS).err();
    let in_use = taken.local_addr().unwrap().to_string();
    assert_eq!(try_on(&in_use), Some(LinkError::PortInUse));
    assert_eq!(try_on("nonsense"), Some(LinkError::BadAddress));
}

#[test]
fn a_session_ends_at_its_total_limit() {
    let (own, peer) = (identity(), identity());
    let limits = ListenOptions { total: Some(Duration::from_millis(500)), ..OPTIONS };
    let mut listener = Listener::bind(&own, &[peer.public()], "127.0.0.1:0", limits).unwrap();
    let to = options(connect_to(address(&listener)));
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&peer, &[own.public()], &to).unwrap());
        let accepted = accept(&mut listener);
        let connected = connecting.join().unwrap();
        let (mut input, _out) = open(&connected, StreamId::ROOT);
        assert!(input.read_exact(&mut [0]).is_err());
        assert!(accepted.ended().is_some());
    });
}
