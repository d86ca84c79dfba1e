//! A line that damages its data: a changed byte costs a connection, and nothing else.

use crate::aided::{is_right, run_party};
use crate::common::{Fixture, MAX_ROWS, SOON};
use crate::line::Line;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use vesica_core::{Error, TransportError};
use vesica_helper_client::{Remote, RemoteEvent};

use vesica_link::LinkError;
use vesica_server_aided::kmrs14::Boards;

/// A line that changes one byte, once: the byte at this offset of one direction, over all
/// connections together. Returns whether it has.
fn damaging(helper: SocketAddr, is_from_helper: bool, at: u64) -> (Line, Arc<AtomicBool>) {
    let was_damaged: Arc<AtomicBool> = Arc::default();
    let (damaged, passed) = (Arc::clone(&was_damaged), Arc::<AtomicU64>::default());
    let line = Line::new(helper, move |is_from, _, bytes| {
        if is_from == is_from_helper {
            let first = passed.fetch_add(bytes.len() as u64, Ordering::SeqCst);
            let place = at.checked_sub(first).filter(|at| *at < bytes.len() as u64);
            if let Some(place) = place {
                bytes[place as usize] ^= 1;
                damaged.store(true, Ordering::SeqCst);
            }
        }
        bytes.len()
    });
    (line, was_damaged)
}

#[test]
fn a_byte_damaged_in_transit_costs_a_connection_and_not_the_run() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let helper = service.addresses()[0];
    // In the handshake and after it; a length, a type, and sealed bytes.
    let places = [0, 1, 3, 5, 6, 9, 11, 43, 50, 80, 100, 127, 131, 300, 600, 900, 1300, 2000, 4000];
    let cases: Vec<_> =
        [false, true].iter().flat_map(|way| places.map(move |at| (*way, at))).collect();
    let damaged = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for (number, (is_from_helper, at)) in (0..).zip(cases) {
            let (fixture, service, damaged) = (&fixture, &service, &damaged);
            scope.spawn(move || {
                let (line, was_damaged) = damaging(helper, is_from_helper, at);
                let spec = fixture.spec_of(&[0, 1], number);
                let parties = [0, 1].map(|party| {
                    let mut options = fixture.remote_options(service, party, &spec);
                    options.link.wait = 6 * SOON;
                    // A damaged length makes the receiver wait.
                    options.link.idle = Duration::from_secs(4);
                    if party == 1 {
                        options.address = line.address.to_string();
                    }
                    Remote::new(options)
                });
                std::thread::scope(|scope| {
                    for (party, remote) in parties.iter().enumerate() {
                        let spec = &spec;
                        scope.spawn(move || {
                            let found = run_party(remote, spec, party, MAX_ROWS)
                                .and_then(|found| remote.done().map(|()| found));
                            match found {
                                Ok(found) => assert!(is_right(&found, MAX_ROWS)),
                                Err(error) => panic!("{is_from_helper} {at} {party}: {error:?}"),
                            }
                        });
                    }
                });
                damaged.fetch_add(was_damaged.load(Ordering::SeqCst).into(), Ordering::SeqCst);
            });
        }
    });
    assert!(damaged.into_inner() >= 30, "most of the places were reached");
}

#[test]
fn another_server_is_distinguished_from_a_damaged_line() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    // A server of another protocol.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = fixture.remote_options(&service, 0, &fixture.spec(2));
    options.address = listener.local_addr().unwrap().to_string();
    let again = Arc::new(AtomicU64::new(0));
    let connections = Arc::clone(&again);
    options.on_event = Arc::new(move |event| {
        let is_again = matches!(event, RemoteEvent::Reconnecting { .. });
        connections.fetch_add(is_again.into(), Ordering::SeqCst);
    });
    std::thread::spawn(move || {
        for mut party in listener.incoming().map_while(Result::ok) {
            let _ = party.write_all(b"220 mail.example.org ESMTP\r\n");
            let _ = party.read(&mut [0; 1 << 12]);
        }
    });
    let remote = Remote::new(options);
    assert_eq!(remote.open().err(), Some(Error::Transport(TransportError::Tls)));
    assert_eq!(remote.link_error(), Some(LinkError::OtherProtocol));
    assert_eq!(again.load(Ordering::SeqCst), 2);
    // A party that the helper does not serve learns it at once.
    let stranger = Fixture::new(2);
    let mut options = fixture.remote_options(&service, 0, &fixture.spec(2));
    options.identity = stranger.parties[0].clone();
    let remote = Remote::new(options);
    assert!(remote.open().is_err());
    assert_eq!(remote.link_error(), Some(LinkError::RefusedByPeer));
}
