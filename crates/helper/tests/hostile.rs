//! Clients that violate the protocol: no panic, no hang, little memory, and others are still
//! served.

#[path = "integration/common.rs"]
mod common;

use common::{Fixture, SOON, hello, slot};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{Error, Misbehaviour, Refusal, Role, StopReason};
use vesica_helper::Service;
use vesica_helper_client::Remote;
use vesica_link::{
    CancelToken, Endpoint, LinkOptions, ListenOptions, Listener, Session, establish,
};
use vesica_net::{Context, Meter, Streams};
use vesica_server_aided::kmrs14::{Boards, Kind, Slot};

const OPENING_LEN: usize = 16;
const WELCOME_LEN: usize = 52;

/// A bare channel to the helper.
struct Raw {
    session: Session,
    context: Context,
}

impl Raw {
    fn connect(fixture: &Fixture, service: &Service, party: usize) -> Self {
        let endpoint = Endpoint::Connect(service.addresses()[0].to_string());
        let options = LinkOptions { endpoint, wait: SOON, idle: SOON, total: None, proxy: None };
        let own = &fixture.parties[party];
        let helper = [fixture.helper.public()];
        let session = establish(own, &helper, &options, &|_| (), &CancelToken::new()).unwrap();
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Helper, Arc::new(session.clone()))];
        let context = Context::new(peers, [1; 32], fixture.pool.clone(), Meter::new()).unwrap();
        Self { session, context }
    }

    /// Sends messages; sending fails after the helper has closed the connection.
    fn send(&mut self, messages: &[Vec<u8>]) {
        let channel = self.context.with(Role::Helper).unwrap();
        let _ = messages.iter().try_for_each(|message| channel.send(message));
        let _ = channel.flush();
    }

    /// A message of this length, unless the helper has closed first.
    fn receive(&mut self, len: usize) -> Option<Vec<u8>> {
        let started = Instant::now();
        let received = self.context.with(Role::Helper).unwrap().recv(len).ok();
        assert!(started.elapsed() < SOON / 2, "the helper neither answers nor closes");
        received
    }

    fn outcome(&mut self, len: usize) -> Option<Refusal> {
        let received = self.receive(len)?;
        (received[..2] != [0, 0]).then(|| Refusal::from_code([received[0], received[1]]))
    }
}

fn opening(fixture: &Fixture) -> [Vec<u8>; 2] {
    let spec = fixture.spec(2).to_bytes();
    let mut head = b"vesica\x03\x00\x01\x00\x00\x00".to_vec();
    head.extend_from_slice(&(spec.len() as u32).to_le_bytes());
    [head, [vec![0; 16], spec].concat()]
}

fn request(op: u8, slot: Slot, len: u64) -> Vec<u8> {
    let mut out = vec![op, slot.kind as u8, slot.party, 0];
    out.extend_from_slice(&slot.part.to_le_bytes());
    out.extend_from_slice(&len.to_le_bytes());
    out
}

/// Another party is still served.
fn is_alive(fixture: &Fixture, service: &Service) {
    let remote = fixture.remote(service, 1, &fixture.spec(2));
    let mut board = remote.open().unwrap();
    board.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
    board.sync().unwrap();
}

fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn every_changed_byte_of_an_opening_is_answered_or_closes_the_connection() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let good = opening(&fixture);
    let mut refused = 0;
    for (message, at) in
        (0..2).flat_map(|message| (0..good[message].len()).map(move |at| (message, at)))
    {
        // A sample of the long tail is enough.
        if message == 1 && at > 40 && at % 7 != 0 {
            continue;
        }
        let mut bad = good.clone();
        bad[message][at] ^= 1 << (at % 8);
        let mut raw = Raw::connect(&fixture, &service, 0);
        raw.send(&bad);
        let outcome = raw.outcome(WELCOME_LEN);
        // The agreement may have any value.
        let is_agreement = message == 1 && (16 + 10..16 + 42).contains(&at);
        refused += usize::from(outcome.is_some());
        if message == 0 && at < 8 {
            assert_eq!(outcome, Some(Refusal::Version), "byte {at}");
        } else if !is_agreement && message == 0 && at < 12 {
            assert!(outcome.is_some(), "byte {at}");
        }
    }
    assert!(refused > 20, "{refused}");
    is_alive(&fixture, &service);
}

#[test]
fn cut_openings_and_wrong_lengths_end_only_the_connection() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let [head, body] = opening(&fixture);
    for bad in [
        vec![head[..15].to_vec()],
        vec![vec![]],
        vec![vec![7; 3000]],
        vec![head.clone(), body[..body.len() - 1].to_vec()],
        vec![head.clone(), [body.clone(), vec![0]].concat()],
        vec![head.clone(), vec![]],
    ] {
        let mut raw = Raw::connect(&fixture, &service, 0);
        raw.send(&bad);
        assert_eq!(raw.receive(WELCOME_LEN), None, "{bad:?}");
        common::until("the session ends", || raw.session.ended().is_some());
    }
    // A party that sends half an opening and then nothing blocks no other.
    let mut half = Raw::connect(&fixture, &service, 0);
    half.send(&[head]);
    is_alive(&fixture, &service);
}

#[test]
fn requests_that_no_party_sends_are_refused() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let own = slot(Kind::Hello, 0);
    let huge = u64::MAX;
    for bad in [
        vec![0; 16],
        vec![255; 16],
        request(1, own, Slot::HELLO_MAX_LEN as u64 + 1),
        request(1, slot(Kind::Labels, 0), Slot::MAX_LEN as u64 + 1),
        request(1, slot(Kind::Labels, 0), huge),
        request(1, slot(Kind::Size, 0), 1 << 30),
        request(2, own, 0),
        request(3, own, 1),
        request(4, Slot::part(Kind::Labels, 0, u32::MAX), 0),
        request(4, slot(Kind::Answer, 0), 0),
        request(9, own, 0),
        request(3, slot(Kind::Labels, 1), 0),
    ] {
        let mut raw = Raw::connect(&fixture, &service, 0);
        raw.send(&opening(&fixture));
        assert_eq!(raw.outcome(WELCOME_LEN), None, "the opening is in order");
        raw.send(std::slice::from_ref(&bad));
        let refused = raw.outcome(OPENING_LEN);
        assert_eq!(refused, Some(Refusal::Malformed { party: 0 }), "{bad:?}");
    }
    is_alive(&fixture, &service);
}

#[test]
fn every_changed_byte_of_a_request_is_answered_or_closes_the_connection() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let put = vec![request(1, slot(Kind::Hello, 0), 101), hello(0)];
    let sync = request(2, Slot { kind: Kind::Hello, party: 0, part: 0 }, 0);
    let sync = [&sync[..1], &[0; 15][..]].concat();
    let get = request(3, slot(Kind::Hello, 0), 0);
    let good = [put.clone(), vec![sync.clone(), get, sync]].concat();
    for (message, at) in
        (0..good.len()).flat_map(|message| (0..good[message].len()).map(move |at| (message, at)))
    {
        if message == 1 && at > 3 {
            continue;
        }
        for bit in [0, 7] {
            let mut bad = good.clone();
            bad[message][at] ^= 1 << bit;
            let mut raw = Raw::connect(&fixture, &service, 0);
            raw.send(&[opening(&fixture).to_vec(), bad].concat());
            // A get of a slot that no party fills waits, and reports so.
            let mut received = 0;
            while received < 6
                && raw.receive(if received == 0 { WELCOME_LEN } else { 16 }).is_some()
            {
                received += 1;
                if received == 3 {
                    raw.session.abort(StopReason::Cancelled);
                }
            }
        }
    }
    is_alive(&fixture, &service);
}

#[test]
fn bodies_of_a_wrong_length_end_the_connection() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    for len in [0, 100, 102, 1 << 20] {
        let mut raw = Raw::connect(&fixture, &service, 0);
        let put = request(1, slot(Kind::Hello, 0), 101);
        raw.send(&[opening(&fixture).to_vec(), vec![put, vec![11; len]]].concat());
        assert_eq!(raw.outcome(WELCOME_LEN), None);
        assert_eq!(raw.receive(16), None, "{len}");
    }
    let remote = fixture.remote(&service, 0, &fixture.spec(2));
    assert_eq!(remote.open().unwrap().filled(Kind::Hello, 1).unwrap(), [false]);
}

#[test]
fn announced_bytes_that_never_come_take_no_memory() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let before = peak_memory_kb();
    let raws: Vec<Raw> = (0..32)
        .map(|_| {
            let mut raw = Raw::connect(&fixture, &service, 0);
            let put = request(1, slot(Kind::Labels, 0), Slot::MAX_LEN as u64);
            raw.send(&[opening(&fixture).to_vec(), vec![put]].concat());
            assert_eq!(raw.outcome(WELCOME_LEN), None);
            raw
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    let taken = peak_memory_kb() - before;
    assert!(taken < 200 << 10, "{taken} kB for 32 times 16 MB that did not come");
    is_alive(&fixture, &service);
    drop(raws);
}

/// A helper that sends `replies` after an opening, without reading the requests.
fn rogue(fixture: &Fixture, replies: Vec<Vec<u8>>) -> (String, std::thread::JoinHandle<()>) {
    let own = fixture.helper.clone();
    let peers = [fixture.parties[0].public()];
    let options = ListenOptions { idle: SOON, total: None };
    let mut listener = Listener::bind(&own, &peers, "127.0.0.1:0", options).unwrap();
    let address = listener.addresses()[0].to_string();
    let pool = fixture.pool.clone();
    let thread = std::thread::spawn(move || {
        let session = listener.accept(&|_| (), &CancelToken::new()).unwrap();
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Sender, Arc::new(session.clone()))];
        let mut context = Context::new(peers, [2; 32], pool, Meter::new()).unwrap();
        let channel = context.peer().unwrap();
        replies.iter().for_each(|reply| channel.send(reply).unwrap());
        let _ = channel.finish();
        let started = Instant::now();
        while session.ended().is_none() && started.elapsed() < SOON {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    (address, thread)
}

#[test]
fn a_party_detects_a_helper_that_violates_the_protocol() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let welcome = [vec![0, 0, 1, 0], vec![7; 16], vec![0; 32]].concat();
    let body = |len: u64| [vec![0; 8], len.to_le_bytes().to_vec()].concat();
    let unknown = [vec![255, 1], vec![0; 14]].concat();
    for bad in [
        vec![vec![0; 51]],
        vec![welcome.clone(), body(u64::MAX)],
        vec![welcome.clone(), body(101)],
        vec![welcome.clone(), body(50), vec![0; 49]],
        vec![welcome.clone(), [vec![255, 0], vec![0; 14]].concat()],
        vec![welcome.clone(), vec![0; 17]],
        vec![welcome.clone(), [unknown[..8].to_vec(), vec![5; 8]].concat()],
    ] {
        let (address, thread) = rogue(&fixture, bad.clone());
        let mut options = fixture.remote_options(&service, 0, &fixture.spec(2));
        options.address = address;
        let remote = Remote::new(options);
        let got = remote.open().and_then(|mut board| board.get(slot(Kind::Hello, 1), 100));
        assert!(
            matches!(
                got,
                Err(Error::PeerMisbehaved(
                    Misbehaviour::WrongMessageLen { .. } | Misbehaviour::InvalidValue
                ) | Error::Refused(Refusal::Internal))
            ),
            "{bad:?}: {got:?}"
        );
        drop(remote);
        thread.join().unwrap();
    }
}
