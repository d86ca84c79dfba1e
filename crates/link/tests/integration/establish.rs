//! Two parties that connect, and everything that can go wrong.

use crate::common::{SOON, connect, connect_to, listen, listen_anywhere, options, works};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vesica_link::{CancelToken, Endpoint, Identity, LinkError, LinkEvent, LinkOptions, establish};

const SHORT: Duration = Duration::from_millis(700);

fn identity() -> Identity {
    Identity::generate().unwrap()
}

fn for_short(endpoint: Endpoint) -> LinkOptions {
    LinkOptions { wait: SHORT, ..options(endpoint) }
}

/// A port of 127.0.0.1 on which no process listens.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn the_right_peer_gets_in() {
    let (one, two) = (identity(), identity());
    let listening = listen(&one, &[identity().public(), two.public()], options(listen_anywhere()));
    let connected = connect(&two, &[one.public()], &options(connect_to(listening.address)));
    let (accepted, connected) = (listening.result().unwrap(), connected.unwrap());
    assert_eq!((accepted.peer(), connected.peer()), (two.public(), one.public()));
    works(&accepted, &connected);
}

#[test]
fn a_late_listener_is_found_and_the_wait_is_reported() {
    let (one, two) = (identity(), identity());
    let address = free_address();
    let (peer, own) = (one.public(), two.clone());
    let connecting = std::thread::spawn(move || {
        let events = Mutex::new(Vec::new());
        let tell = |event| events.lock().unwrap().push(event);
        let options = options(connect_to(address));
        let session = establish(&own, &[peer], &options, &tell, &CancelToken::new());
        (session, events.into_inner().unwrap())
    });
    std::thread::sleep(Duration::from_millis(2500));
    let listening = listen(&one, &[two.public()], options(Endpoint::Listen(address.to_string())));
    let (connected, events) = connecting.join().unwrap();
    works(&connected.unwrap(), &listening.result().unwrap());
    let refused = LinkError::ConnectFailed(std::io::ErrorKind::ConnectionRefused);
    let waits = events
        .iter()
        .filter(|event| {
            matches!(event, LinkEvent::Waiting { remaining, last }
                if *remaining < SOON && last.as_ref() == Some(&refused))
        })
        .count();
    assert!((2..=5).contains(&waits), "{events:?}");
    assert!(matches!(events.last(), Some(LinkEvent::Connected { .. })));
}

#[test]
fn a_wrong_identity_ends_the_connecting_side_and_is_named() {
    let (one, two, expected) = (identity(), identity(), identity());
    let listening = listen(&one, &[two.public()], for_short(listen_anywhere()));
    let started = Instant::now();
    let connected = connect(&two, &[expected.public()], &options(connect_to(listening.address)));
    let wrong = LinkError::WrongIdentity { presented: one.public() };
    assert_eq!(connected.err(), Some(wrong));
    assert!(started.elapsed() < SOON / 2);
    // The listener sees the refusal and continues to listen.
    let last = Some(Box::new(LinkError::RefusedByPeer));
    assert_eq!(listening.result().err(), Some(LinkError::NoPeer { waited: SHORT, last }));
}

#[test]
fn an_unexpected_peer_is_rejected_by_name_and_the_expected_one_connects() {
    let (one, two, stranger) = (identity(), identity(), identity());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    for _ in 0..3 {
        let refused = connect(&stranger, &[one.public()], &options(connect_to(listening.address)));
        assert_eq!(refused.err(), Some(LinkError::RefusedByPeer));
    }
    let connected = connect(&two, &[one.public()], &options(connect_to(listening.address)));
    let wrong = LinkError::WrongIdentity { presented: stranger.public() };
    let turned_away: Vec<_> = listening
        .events
        .iter()
        .filter_map(|event| match event {
            LinkEvent::Rejected { reason, count, .. } => Some((reason, count)),
            _ => None,
        })
        .collect();
    assert_eq!(turned_away, [(wrong.clone(), 1), (wrong.clone(), 2), (wrong, 3)]);
    works(&listening.thread.join().unwrap().unwrap(), &connected.unwrap());
}

#[test]
fn a_wait_that_ends_after_unexpected_peers_names_the_last_of_them() {
    let (one, two, stranger) = (identity(), identity(), identity());
    let waiting = LinkOptions { wait: Duration::from_secs(2), ..options(listen_anywhere()) };
    let listening = listen(&one, &[two.public()], waiting);
    let refused = connect(&stranger, &[one.public()], &options(connect_to(listening.address)));
    assert_eq!(refused.err(), Some(LinkError::RefusedByPeer));
    // Says less than the wrong identity, and must not hide it.
    TcpStream::connect(listening.address).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    match listening.result() {
        Err(LinkError::NoPeer { last: Some(last), .. }) => {
            assert_eq!(*last, LinkError::WrongIdentity { presented: stranger.public() });
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_sides_learn_that_they_chose_the_same_party() {
    let (one, two) = (identity(), identity());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let connected = connect(&one, &[two.public()], &options(connect_to(listening.address)));
    assert_eq!(connected.err(), Some(LinkError::OwnIdentity));
    assert_eq!(listening.result().err(), Some(LinkError::OwnIdentity));
}

#[test]
fn two_listening_sides_both_end_without_a_peer() {
    let (one, two) = (identity(), identity());
    let ends = [
        listen(&one, &[two.public()], for_short(listen_anywhere())),
        listen(&two, &[one.public()], for_short(listen_anywhere())),
    ];
    for end in ends {
        let nobody = LinkError::NoPeer { waited: SHORT, last: None };
        assert_eq!(end.result().err(), Some(nobody));
    }
}

#[test]
fn two_connecting_sides_both_end_without_a_peer() {
    let (one, two) = (identity(), identity());
    let addresses = [free_address(), free_address()];
    let peers = [two.public(), one.public()];
    let ends = [one, two].into_iter().zip(addresses).zip(peers).map(|((own, address), peer)| {
        std::thread::spawn(move || connect(&own, &[peer], &for_short(connect_to(address))))
    });
    for end in ends.collect::<Vec<_>>() {
        let refused = LinkError::ConnectFailed(std::io::ErrorKind::ConnectionRefused);
        let nobody = LinkError::NoPeer { waited: SHORT, last: Some(Box::new(refused)) };
        assert_eq!(end.join().unwrap().err(), Some(nobody));
    }
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::Listen(taken.local_addr().unwrap().to_string());
    let result = connect(&identity(), &[identity().public()], &options(endpoint));
    assert_eq!(result.err(), Some(LinkError::PortInUse));
}

#[test]
fn bad_addresses_are_named() {
    let (own, peer) = (identity(), identity().public());
    let try_with = |endpoint| connect(&own, &[peer], &for_short(endpoint)).err();
    for bad in ["nonsense", "127.0.0.1", "127.0.0.1:port", "::1:7000"] {
        assert_eq!(try_with(Endpoint::Listen(bad.into())), Some(LinkError::BadAddress));
        assert_eq!(try_with(Endpoint::Connect(bad.into())), Some(LinkError::BadAddress));
    }
    // Reserved names that never resolve (RFC 6761).
    let unknown = || "nowhere.invalid:7000".to_owned();
    assert_eq!(try_with(Endpoint::Listen(unknown())), Some(LinkError::UnknownHost));
    match try_with(Endpoint::Connect(unknown())) {
        // Also if name resolution takes longer than the wait.
        Some(LinkError::NoPeer { last, .. }) => {
            assert!(last.is_none_or(|last| *last == LinkError::UnknownHost));
        }
        other => panic!("{other:?}"),
    }
    // An address for documentation (RFC 5737) belongs to no machine.
    let elsewhere = Endpoint::Listen("192.0.2.1:7000".into());
    assert_eq!(try_with(elsewhere), Some(LinkError::NotOurAddress));
    assert_eq!(connect(&own, &[], &options(listen_anywhere())).err(), Some(LinkError::NoPeerGiven));
}

#[test]
fn a_cancelled_wait_ends_at_once() {
    let (one, two) = (identity(), identity());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let cancel = CancelToken::new();
    let token = cancel.clone();
    let connecting = std::thread::spawn(move || {
        let options = options(connect_to(free_address()));
        establish(&two, &[one.public()], &options, &|_| (), &token)
    });
    std::thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    listening.cancel.cancel();
    cancel.cancel();
    assert_eq!(listening.result().err(), Some(LinkError::Cancelled));
    assert_eq!(connecting.join().unwrap().err(), Some(LinkError::Cancelled));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_connect_to_a_silent_server_can_be_cancelled() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = connect_to(silent.local_addr().unwrap());
    let cancel = CancelToken::new();
    let token = cancel.clone();
    let connecting = std::thread::spawn(move || {
        establish(&identity(), &[identity().public()], &options(endpoint), &|_| (), &token)
    });
    let _held = silent.accept().unwrap();
    cancel.cancel();
    assert_eq!(connecting.join().unwrap().err(), Some(LinkError::Cancelled));
}

#[test]
fn a_silent_server_is_named() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = connect_to(silent.local_addr().unwrap());
    let result = connect(&identity(), &[identity().public()], &for_short(endpoint));
    let last = Some(Box::new(LinkError::Silent(SHORT)));
    assert_eq!(result.err(), Some(LinkError::NoPeer { waited: SHORT, last }));
}

#[test]
fn a_server_that_disconnects_is_named() {
    let rude = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = connect_to(rude.local_addr().unwrap());
    std::thread::spawn(move || rude.incoming().for_each(drop));
    let result = connect(&identity(), &[identity().public()], &for_short(endpoint));
    let last = Some(Box::new(LinkError::Disconnected));
    assert_eq!(result.err(), Some(LinkError::NoPeer { waited: SHORT, last }));
}

#[test]
fn a_server_with_another_protocol_is_named() {
    for greeting in [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), b"220 ready\r\n"] {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = connect_to(other.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            // Once could be a damaged byte.
            for _ in 0..2 {
                let (mut socket, _) = other.accept().unwrap();
                let _ = socket.read(&mut [0; 100]);
                socket.write_all(greeting).unwrap();
                // Until the connecting side has closed.
                let _ = socket.read_to_end(&mut Vec::new());
            }
        });
        let result = connect(&identity(), &[identity().public()], &options(endpoint));
        assert_eq!(result.err(), Some(LinkError::OtherProtocol));
        server.join().unwrap();
    }
}

#[test]
fn garbage_on_the_port_does_not_block_the_peer() {
    let (one, two) = (identity(), identity());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let long = vec![0x16; 100_000];
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\n",
        b"SSH-2.0-x\r\n",
        // The first bytes of a TLS record that never ends.
        &[0x16, 3, 1, 0x40, 0],
        &[0xff; 5000],
        &long,
    ];
    let mut open = Vec::new();
    for bytes in garbage.iter().cycle().take(60) {
        let mut socket = TcpStream::connect(listening.address).unwrap();
        let _ = socket.write_all(bytes);
        open.push(socket);
    }
    let connected = connect(&two, &[one.public()], &options(connect_to(listening.address)));
    works(&listening.result().unwrap(), &connected.unwrap());
}

#[test]
fn a_tls_1_2_client_is_rejected() {
    // A ClientHello of TLS 1.2: no extensions, one ECDHE suite.
    let body = [[3, 3].as_slice(), &[7; 32], &[0], &[0, 2, 0xc0, 0x2f], &[1, 0]].concat();
    let handshake = [[1, 0, 0, body.len() as u8].as_slice(), &body].concat();
    let record = [[0x16, 3, 1, 0, handshake.len() as u8].as_slice(), &handshake].concat();
    let listening = listen(&identity(), &[identity().public()], for_short(listen_anywhere()));
    let mut socket = TcpStream::connect(listening.address).unwrap();
    socket.write_all(&record).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    // Only a fatal alert.
    assert_eq!((answer.len(), answer[0], answer[5]), (7, 21, 2), "{answer:?}");
    let last = Some(Box::new(LinkError::OtherProtocol));
    assert_eq!(listening.result().err(), Some(LinkError::NoPeer { waited: SHORT, last }));
}

/// The limit of open descriptors, raised as far as the system allows.
fn descriptors() -> usize {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard.min(20_000), hard).unwrap();
    hard.min(20_000) as usize
}

fn gets_past_a_crowd_of(count: usize) {
    let (one, two) = (identity(), identity());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let crowd: Vec<_> = (0..count).map(|_| TcpStream::connect(listening.address)).collect();
    let started = Instant::now();
    let connected = connect(&two, &[one.public()], &options(connect_to(listening.address)));
    assert!(started.elapsed() < SOON / 2);
    works(&listening.result().unwrap(), &connected.unwrap());
    drop(crowd);
}

#[test]
fn a_silent_crowd_does_not_block_the_peer() {
    gets_past_a_crowd_of(400);
}

#[test]
#[ignore = "slow: ten thousand connections at once"]
fn ten_thousand_silent_connections_do_not_block_the_peer() {
    gets_past_a_crowd_of(10_000.min(descriptors() - 500));
}

#[test]
fn a_crowd_that_reconnects_does_not_block_the_peer() {
    let (one, two) = (identity(), identity());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let address = listening.address;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut open = std::collections::VecDeque::new();
                while !done.load(Ordering::Relaxed) {
                    open.push_back(TcpStream::connect(address));
                    if open.len() > 200 {
                        open.pop_front();
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(100));
        let connected = connect(&two, &[one.public()], &options(connect_to(address)));
        done.store(true, Ordering::Relaxed);
        works(&listening.result().unwrap(), &connected.unwrap());
    });
}

#[test]
fn a_thousand_rejections_are_reported_in_a_few_lines() {
    let listening = listen(&identity(), &[identity().public()], options(listen_anywhere()));
    for _ in 0..1000 {
        drop(TcpStream::connect(listening.address));
    }
    std::thread::sleep(Duration::from_millis(200));
    listening.cancel.cancel();
    assert_eq!(listening.thread.join().unwrap().err(), Some(LinkError::Cancelled));
    let told = listening.events.iter().filter(|e| matches!(e, LinkEvent::Rejected { .. })).count();
    assert!((17..=25).contains(&told), "{told}");
}
