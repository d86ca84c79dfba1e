//! Clients that break the protocol: never a panic, a hang or much memory, and others are served on.

#[path = "integration/common.rs"]
mod common;

use common::{House, SOON, hello, slot};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{Error, Misbehaviour, Refusal, Role, StopReason};
use vesica_helper::{Remote, Service};
use vesica_link::{
    CancelToken, Endpoint, LinkOptions, ListenOptions, Listener, Session, establish,
};
use vesica_net::{Context, Meter, Streams};
use vesica_protocols::kmrs14::{Boards, Kind, Slot};

const OPENING_LEN: usize = 16;
const WELCOME_LEN: usize = 52;

/// A bare channel to the helper.
struct Raw {
    session: Session,
    context: Context,
}

impl Raw {
    fn connect(house: &House, service: &Service, party: usize) -> Self {
        let endpoint = Endpoint::Connect(service.addresses()[0].to_string());
        let options = LinkOptions { endpoint, wait: SOON, idle: SOON, total: None };
        let own = &house.parties[party];
        let helper = [house.helper.public()];
        let session = establish(own, &helper, &options, &|_| (), &CancelToken::new()).unwrap();
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Helper, Arc::new(session.clone()))];
        let context = Context::new(peers, [1; 32], house.pool.clone(), Meter::new()).unwrap();
        Self { session, context }
    }

    /// Sends messages; once the helper has hung up, sending fails.
    fn say(&mut self, messages: &[Vec<u8>]) {
        let channel = self.context.with(Role::Helper).unwrap();
        let _ = messages.iter().try_for_each(|message| channel.send(message));
        let _ = channel.flush();
    }

    /// A message of this length, unless the helper has hung up first.
    fn hear(&mut self, len: usize) -> Option<Vec<u8>> {
        let started = Instant::now();
        let heard = self.context.with(Role::Helper).unwrap().recv(len).ok();
        assert!(started.elapsed() < SOON / 2, "the helper neither answers nor hangs up");
        heard
    }

    fn outcome(&mut self, len: usize) -> Option<Refusal> {
        let heard = self.hear(len)?;
        (heard[..2] != [0, 0]).then(|| Refusal::from_code([heard[0], heard[1]]))
    }
}

fn opening(house: &House) -> [Vec<u8>; 2] {
    let spec = house.spec(2).to_bytes();
    let mut head = b"vesica\x02\x00\x01\x00\x00\x00".to_vec();
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
fn is_alive(house: &House, service: &Service) {
    let remote = house.remote(service, 1, &house.spec(2));
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
fn every_changed_byte_of_an_opening_is_answered_or_hung_up_on() {
    let house = House::new(2);
    let service = house.start();
    let good = opening(&house);
    let mut refused = 0;
    for (message, at) in
        (0..2).flat_map(|message| (0..good[message].len()).map(move |at| (message, at)))
    {
        // Some of the long tail are enough.
        if message == 1 && at > 40 && at % 7 != 0 {
            continue;
        }
        let mut bad = good.clone();
        bad[message][at] ^= 1 << (at % 8);
        let mut raw = Raw::connect(&house, &service, 0);
        raw.say(&bad);
        let outcome = raw.outcome(WELCOME_LEN);
        // The agreement may be any.
        let is_agreement = message == 1 && (16 + 10..16 + 42).contains(&at);
        refused += usize::from(outcome.is_some());
        if message == 0 && at < 8 {
            assert_eq!(outcome, Some(Refusal::Version), "byte {at}");
        } else if !is_agreement && message == 0 && at < 12 {
            assert!(outcome.is_some(), "byte {at}");
        }
    }
    assert!(refused > 20, "{refused}");
    is_alive(&house, &service);
}

#[test]
fn cut_openings_and_messages_of_other_lengths_end_the_connection_alone() {
    let house = House::new(2);
    let service = house.start();
    let [head, told] = opening(&house);
    for bad in [
        vec![head[..15].to_vec()],
        vec![vec![]],
        vec![vec![7; 3000]],
        vec![head.clone(), told[..told.len() - 1].to_vec()],
        vec![head.clone(), [told.clone(), vec![0]].concat()],
        vec![head.clone(), vec![]],
    ] {
        let mut raw = Raw::connect(&house, &service, 0);
        raw.say(&bad);
        assert_eq!(raw.hear(WELCOME_LEN), None, "{bad:?}");
        common::until("the session ends", || raw.session.ended().is_some());
    }
    // Half an opening and then nothing holds nobody up.
    let mut half = Raw::connect(&house, &service, 0);
    half.say(&[head]);
    is_alive(&house, &service);
}

#[test]
fn requests_that_no_party_sends_are_refused() {
    let house = House::new(2);
    let service = house.start();
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
        let mut raw = Raw::connect(&house, &service, 0);
        raw.say(&opening(&house));
        assert_eq!(raw.outcome(WELCOME_LEN), None, "the opening is in order");
        raw.say(std::slice::from_ref(&bad));
        let refused = raw.outcome(OPENING_LEN);
        assert_eq!(refused, Some(Refusal::Malformed { party: 0 }), "{bad:?}");
    }
    is_alive(&house, &service);
}

#[test]
fn every_changed_byte_of_a_request_is_answered_or_hung_up_on() {
    let house = House::new(2);
    let service = house.start();
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
            let mut raw = Raw::connect(&house, &service, 0);
            raw.say(&[opening(&house).to_vec(), bad].concat());
            // A get of a slot that nobody fills waits, and says so.
            let mut heard = 0;
            while heard < 6 && raw.hear(if heard == 0 { WELCOME_LEN } else { 16 }).is_some() {
                heard += 1;
                if heard == 3 {
                    raw.session.abort(StopReason::Cancelled);
                }
            }
        }
    }
    is_alive(&house, &service);
}

#[test]
fn bodies_of_another_length_than_announced_end_the_connection() {
    let house = House::new(2);
    let service = house.start();
    for len in [0, 100, 102, 1 << 20] {
        let mut raw = Raw::connect(&house, &service, 0);
        let put = request(1, slot(Kind::Hello, 0), 101);
        raw.say(&[opening(&house).to_vec(), vec![put, vec![11; len]]].concat());
        assert_eq!(raw.outcome(WELCOME_LEN), None);
        assert_eq!(raw.hear(16), None, "{len}");
    }
    let remote = house.remote(&service, 0, &house.spec(2));
    assert_eq!(remote.open().unwrap().filled(Kind::Hello, 1).unwrap(), [false]);
}

#[test]
fn announced_bytes_that_never_come_take_no_memory() {
    let house = House::new(2);
    let service = house.start();
    let before = peak_memory_kb();
    let raws: Vec<Raw> = (0..32)
        .map(|_| {
            let mut raw = Raw::connect(&house, &service, 0);
            let put = request(1, slot(Kind::Labels, 0), Slot::MAX_LEN as u64);
            raw.say(&[opening(&house).to_vec(), vec![put]].concat());
            assert_eq!(raw.outcome(WELCOME_LEN), None);
            raw
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    let taken = peak_memory_kb() - before;
    assert!(taken < 200 << 10, "{taken} kB for 32 times 16 MB that did not come");
    is_alive(&house, &service);
    drop(raws);
}

/// A helper that says `replies` after an opening, whatever is asked.
fn rogue(house: &House, replies: Vec<Vec<u8>>) -> (String, std::thread::JoinHandle<()>) {
    let own = house.helper.clone();
    let peers = [house.parties[0].public()];
    let options = ListenOptions { idle: SOON, total: None };
    let mut listener = Listener::bind(&own, &peers, "127.0.0.1:0", options).unwrap();
    let address = listener.addresses()[0].to_string();
    let pool = house.pool.clone();
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
fn a_helper_that_breaks_the_protocol_is_noticed_by_its_party() {
    let house = House::new(2);
    let service = house.start();
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
        let (address, thread) = rogue(&house, bad.clone());
        let mut options = house.remote_options(&service, 0, &house.spec(2));
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
