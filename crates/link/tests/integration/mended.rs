//! A session continues over a new connection when it loses its own.

use crate::common::{SOON, connect_to, listen_anywhere, options};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};
use vesica_link::{
    CancelToken, Endpoint, Identity, LinkError, LinkEvent, LinkOptions, OnEvent, PublicIdentity,
    Session, establish, establish_mendable,
};
use vesica_net::{StreamId, Streams};

/// More bytes than a handshake with the greetings has, each way.
const AFTER_THE_HANDSHAKE: u64 = 8_000;

/// A wire that breaks each connection once its budget of bytes has passed one way or the other, and
/// carries connections without a budget whole.
struct Breaking {
    address: SocketAddr,
    /// Connections so far.
    carried: Arc<AtomicUsize>,
    /// No connection passes now; existing ones are broken.
    down: Arc<AtomicBool>,
    /// Only the connecting side sees that a connection is broken.
    half: Arc<AtomicBool>,
}

impl Breaking {
    fn to(target: SocketAddr, budgets: Vec<[u64; 2]>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let carried = Arc::new(AtomicUsize::new(0));
        let down = Arc::new(AtomicBool::new(false));
        let half = Arc::new(AtomicBool::new(false));
        let (count, is_down, is_half) =
            (Arc::clone(&carried), Arc::clone(&down), Arc::clone(&half));
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let Ok(near) = near else { return };
                if is_down.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(target) else { continue };
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                let budget = budgets.get(count.fetch_add(1, Ordering::SeqCst)).copied();
                let [there, back] = budget.unwrap_or([u64::MAX; 2]);
                let ends = Ends { near, far, half: Arc::clone(&is_half) };
                let ends_too = ends.clone();
                let (down, down_too) = (Arc::clone(&is_down), Arc::clone(&is_down));
                std::thread::spawn(move || carry(&ends.near, &ends.far, &ends, there, &down));
                std::thread::spawn(move || {
                    carry(&ends_too.far, &ends_too.near, &ends_too, back, &down_too);
                });
            }
        });
        Self { address, carried, down, half }
    }

    fn carried(&self) -> usize {
        self.carried.load(Ordering::SeqCst)
    }

    fn set_half(&self, half: bool) {
        self.half.store(half, Ordering::SeqCst);
    }

    fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }
}

struct Ends {
    near: TcpStream,
    far: TcpStream,
    half: Arc<AtomicBool>,
}

impl Ends {
    fn clone(&self) -> Self {
        let (near, far) = (self.near.try_clone().unwrap(), self.far.try_clone().unwrap());
        Self { near, far, half: Arc::clone(&self.half) }
    }

    fn cut(&self) {
        let _ = self.near.shutdown(Shutdown::Both);
        if self.half.load(Ordering::SeqCst) {
            // For longer than a test.
            std::mem::forget(self.far.try_clone());
        } else {
            let _ = self.far.shutdown(Shutdown::Both);
        }
    }
}

fn carry(
    mut from: &TcpStream,
    mut into: &TcpStream,
    ends: &Ends,
    mut budget: u64,
    down: &AtomicBool,
) {
    let mut buf = vec![0; 16 << 10];
    from.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    while !down.load(Ordering::SeqCst) {
        let len = match from.read(&mut buf) {
            Ok(0) if ends.half.load(Ordering::SeqCst) => break,
            Ok(0) => {
                let _ = into.shutdown(Shutdown::Write);
                return;
            }
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => break,
        };
        let passes = (len as u64).min(budget);
        budget -= passes;
        if into.write_all(&buf[..passes as usize]).is_err() || passes < len as u64 {
            break;
        }
    }
    ends.cut();
}

type Events = Arc<Mutex<Vec<LinkEvent>>>;

fn recorder() -> (Events, OnEvent, mpsc::Receiver<SocketAddr>) {
    let events = Events::default();
    let (sender, addresses) = mpsc::channel();
    let (sender, kept) = (Mutex::new(sender), Arc::clone(&events));
    let on_event = Arc::new(move |event: LinkEvent| {
        if let LinkEvent::Listening { address } = event {
            let _ = sender.lock().unwrap().send(address);
        }
        kept.lock().unwrap().push(event);
    });
    (events, on_event, addresses)
}

fn count(events: &Events, is: impl Fn(&LinkEvent) -> bool) -> usize {
    events.lock().unwrap().iter().filter(|event| is(event)).count()
}

fn losses(events: &Events) -> usize {
    count(events, |event| matches!(event, LinkEvent::Lost { .. }))
}

fn mendings(events: &Events) -> usize {
    count(events, |event| matches!(event, LinkEvent::Mended { .. }))
}

/// Two ends of a session over a wire: the listening end, then the connecting end.
struct Met {
    ends: [Session; 2],
    events: [Events; 2],
    identities: [Identity; 2],
    /// Where the listening end listens.
    port: SocketAddr,
    wire: Breaking,
}

fn listen_for(
    own: &Identity,
    peer: PublicIdentity,
    options: LinkOptions,
    mend: Duration,
    on_event: OnEvent,
) -> JoinHandle<Result<Session, LinkError>> {
    let own = own.clone();
    std::thread::spawn(move || {
        establish_mendable(&own, &[peer], &options, mend, &on_event, &CancelToken::new())
    })
}

fn meet_with(budgets: Vec<[u64; 2]>, mend: Duration, change: impl Fn(&mut LinkOptions)) -> Met {
    let identities = [Identity::generate().unwrap(), Identity::generate().unwrap()];
    let [one, two] = &identities;
    let (listening, on_event, addresses) = recorder();
    let mut link = options(listen_anywhere());
    change(&mut link);
    let listener = listen_for(one, two.public(), link, mend, on_event);
    let port = addresses.recv_timeout(SOON).unwrap();
    let wire = Breaking::to(port, budgets);
    let (connecting, on_event, _) = recorder();
    let mut link = options(connect_to(wire.address));
    change(&mut link);
    let connected =
        establish_mendable(two, &[one.public()], &link, mend, &on_event, &CancelToken::new());
    let ends = [listener.join().unwrap().unwrap(), connected.unwrap()];
    Met { ends, events: [listening, connecting], identities, port, wire }
}

fn meet(budgets: Vec<[u64; 2]>) -> Met {
    meet_with(budgets, SOON, |_| ())
}

fn content(stream: u64, way: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    ChaCha20Rng::seed_from_u64(stream * 2 + way).fill_bytes(&mut bytes);
    bytes
}

/// Both ends send on all streams at once, in pieces of any size, and read what the other sends;
/// then they close. The lengths are of what the first end sends, and the second, on each stream.
fn converse(ends: [Session; 2], lens: &[[usize; 2]], seed: u64) -> [Result<(), TransportError>; 2] {
    let sides: Vec<_> = ends
        .into_iter()
        .enumerate()
        .map(|(side, session)| {
            let lens = lens.to_vec();
            std::thread::spawn(move || {
                let mut threads = Vec::new();
                for (number, lens) in lens.iter().enumerate() {
                    let (stream, len) = (number as u64, lens[side]);
                    let (mut reader, mut writer) =
                        session.open(StreamId::ROOT.child(stream)).unwrap();
                    threads.push(std::thread::spawn(move || {
                        let mut random = ChaCha20Rng::seed_from_u64(seed ^ stream ^ side as u64);
                        let mut bytes = &content(stream, side as u64, len)[..];
                        while !bytes.is_empty() {
                            let most = if random.random_bool(0.5) { 100 } else { 100_000 };
                            let len = random.random_range(1..=most).min(bytes.len());
                            let (now, later) = bytes.split_at(len);
                            writer.write_all(now).unwrap();
                            if random.random_bool(0.3) {
                                writer.flush().unwrap();
                            }
                            bytes = later;
                        }
                        writer.flush().unwrap();
                    }));
                    let expected = content(stream, 1 - side as u64, lens[1 - side]);
                    threads.push(std::thread::spawn(move || {
                        let mut received = vec![0; expected.len()];
                        for piece in received.chunks_mut(30_000) {
                            reader.read_exact(piece).unwrap();
                        }
                        assert!(received == expected, "stream {stream} at side {side}");
                        // And nothing twice.
                        assert_eq!(reader.read_exact(&mut [0]), Err(TransportError::Closed));
                    }));
                }
                for thread in threads {
                    thread.join().unwrap();
                }
                session.close()
            })
        })
        .collect();
    let mut ends = sides.into_iter().map(|side| side.join().unwrap());
    [ends.next().unwrap(), ends.next().unwrap()]
}

#[test]
fn a_lost_connection_costs_nothing_but_time() {
    let met = meet(vec![[50_000, u64::MAX]]);
    assert_eq!(converse(met.ends, &[[200_000, 300_000]], 1), [Ok(()), Ok(())]);
    assert_eq!(met.wire.carried(), 2);
    for events in &met.events {
        assert_eq!((losses(events), mendings(events)), (1, 1), "{:?}", events.lock().unwrap());
    }
}

/// Budgets of connections that break anywhere: in the handshake, in the first words, far in the
/// data.
fn anywhere(random: &mut impl Rng, connections: usize, most: u64) -> Vec<[u64; 2]> {
    let mut budgets: Vec<_> = (0..connections)
        .map(|_| {
            let most = if random.random_bool(0.3) { AFTER_THE_HANDSHAKE } else { most };
            let budget = random.random_range(0..most);
            let other = random.random_range(0..most * 2);
            if random.random_bool(0.5) { [budget, other] } else { [other, budget] }
        })
        .collect();
    // The session begins on the first one.
    budgets[0].iter_mut().for_each(|budget| *budget += AFTER_THE_HANDSHAKE);
    budgets
}

#[test]
fn connections_that_break_anywhere_change_nothing_of_what_arrives() {
    const LENS: [[usize; 2]; 5] =
        [[3_000_000, 10_000], [0, 2_000_000], [700_000, 1_500_000], [1, 5_000_000], [400_000, 0]];
    let mut random = ChaCha20Rng::seed_from_u64(7);
    let met = meet(anywhere(&mut random, 40, 300_000));
    assert_eq!(converse(met.ends, &LENS, 2), [Ok(()), Ok(())]);
    assert!(met.wire.carried() > 40, "{}", met.wire.carried());
    assert!(met.events.iter().all(|events| losses(events) >= 20));
}

#[test]
fn a_connection_that_is_lost_before_the_first_word_is_mended() {
    let met = meet(Vec::new());
    met.wire.set_down(true);
    wait_for(|| losses(&met.events[0]) == 1 && losses(&met.events[1]) == 1);
    met.wire.set_down(false);
    assert_eq!(converse(met.ends, &[[100, 100]], 3), [Ok(()), Ok(())]);
}

#[test]
fn a_side_that_still_believes_in_the_lost_connection_takes_the_next_one() {
    let met = meet(Vec::new());
    met.wire.set_half(true);
    met.wire.set_down(true);
    wait_for(|| losses(&met.events[1]) == 1);
    assert_eq!(losses(&met.events[0]), 0);
    met.wire.set_down(false);
    assert_eq!(converse(met.ends, &[[100_000, 100_000]], 4), [Ok(()), Ok(())]);
    assert_eq!(losses(&met.events[0]), 1);
}

#[test]
fn a_line_that_is_silent_for_the_idle_limit_is_given_up_for_another() {
    let idle = Duration::from_secs(1);
    let met = meet_with(Vec::new(), SOON, |options| options.idle = idle);
    met.wire.set_half(true);
    met.wire.set_down(true);
    // The listening side receives no message from which it could know.
    wait_for(|| losses(&met.events[0]) == 1);
    match &met.events[0].lock().unwrap()[..] {
        [.., LinkEvent::Lost { error, wait }] => {
            assert_eq!((*error, *wait), (TransportError::Idle(idle), SOON));
        }
        [.., LinkEvent::Lost { error, .. }, LinkEvent::Waiting { .. }] => {
            assert_eq!(*error, TransportError::Idle(idle));
        }
        events => panic!("{events:?}"),
    }
    met.wire.set_down(false);
    assert_eq!(converse(met.ends, &[[100_000, 100_000]], 5), [Ok(()), Ok(())]);
}

/// The bytes each way of a short conversation with its goodbye.
const SHORT: [[usize; 2]; 2] = [[3_000, 5_000], [0, 20]];

#[test]
fn a_goodbye_that_is_lost_is_sent_again() {
    // A conversation passes some 13 000 bytes each way, the handshakes among them; the last
    // hundreds are of the goodbyes and what acknowledges them.
    let cases: Vec<_> = (0..2).flat_map(|way| (0..60).map(move |step| (way, step * 40))).collect();
    let cases = Mutex::new(cases);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let Some((way, offset)) = cases.lock().unwrap().pop() else { break };
                    let mut budget = [u64::MAX; 2];
                    budget[way] = AFTER_THE_HANDSHAKE + offset;
                    let ends = converse(meet(vec![budget]).ends, &SHORT, offset);
                    // Both sides have read all. The side with the last word cannot know whether it
                    // has arrived.
                    assert!(ends.contains(&Ok(())), "{ends:?} after {budget:?}");
                }
            });
        }
    });
}

fn wait_for(reached: impl Fn() -> bool) {
    let started = Instant::now();
    while !reached() {
        assert!(started.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn end_of(session: &Session) -> TransportError {
    wait_for(|| session.ended().is_some());
    session.ended().unwrap()
}

#[test]
fn a_peer_that_does_not_come_back_is_given_up_in_time() {
    let mend = Duration::from_millis(1500);
    let met = meet_with(Vec::new(), mend, |_| ());
    let streams = met.ends.each_ref().map(|end| end.open(StreamId::ROOT).unwrap());
    met.wire.set_down(true);
    let started = Instant::now();
    for ((mut reader, _writer), events) in streams.into_iter().zip(&met.events) {
        assert_eq!(reader.read_exact(&mut [0]), Err(TransportError::Closed));
        assert_eq!((losses(events), mendings(events)), (1, 0));
    }
    assert!((mend..mend * 4).contains(&started.elapsed()), "{:?}", started.elapsed());
    // The port is free again.
    wait_for(|| TcpListener::bind(met.port).is_ok());
}

#[test]
fn a_connecting_process_of_a_new_run_is_refused_on_both_sides() {
    let met = meet(Vec::new());
    let [one, two] = &met.identities;
    let new_run = || {
        let (_, on_event, _) = recorder();
        let link = options(connect_to(met.port));
        establish_mendable(two, &[one.public()], &link, SOON, &on_event, &CancelToken::new())
    };
    // The run continues as long as its connection works.
    assert_eq!(new_run().err(), Some(LinkError::EarlierRun));
    assert_eq!(met.ends[0].ended(), None);
    met.wire.set_down(true);
    wait_for(|| losses(&met.events[0]) == 1);
    let started = Instant::now();
    assert_eq!(new_run().err(), Some(LinkError::EarlierRun));
    assert_eq!(end_of(&met.ends[0]), TransportError::PeerRestarted);
    assert!(started.elapsed() < SOON / 2);
}

#[test]
fn a_new_run_that_cannot_be_mended_is_refused_too() {
    let met = meet(Vec::new());
    let [one, two] = &met.identities;
    met.wire.set_down(true);
    wait_for(|| losses(&met.events[0]) == 1);
    let link = options(connect_to(met.port));
    let plain = establish(two, &[one.public()], &link, &|_| (), &CancelToken::new());
    assert_eq!(plain.err(), Some(LinkError::EarlierRun));
    assert_eq!(end_of(&met.ends[0]), TransportError::PeerRestarted);
}

#[test]
fn a_listening_process_of_a_new_run_refuses_the_earlier_one_and_listens_on() {
    let met = meet(Vec::new());
    let [one, two] = &met.identities;
    met.wire.set_down(true);
    wait_for(|| losses(&met.events[1]) == 1);
    let [old, connected] = met.ends;
    drop(old);
    wait_for(|| TcpListener::bind(met.port).is_ok());
    let (events, on_event, addresses) = recorder();
    let link = LinkOptions {
        wait: Duration::from_secs(3),
        ..options(Endpoint::Listen(met.port.to_string()))
    };
    let listening = listen_for(one, two.public(), link, SOON, on_event);
    addresses.recv_timeout(SOON).unwrap();
    met.wire.set_down(false);
    assert_eq!(end_of(&connected), TransportError::PeerRestarted);
    let refused = |event: &LinkEvent| {
        matches!(event, LinkEvent::Rejected { reason: LinkError::EarlierRun, .. })
    };
    assert_eq!(count(&events, refused), 1);
    match listening.join().unwrap() {
        Err(LinkError::NoPeer { last, .. }) => {
            assert_eq!(last, Some(Box::new(LinkError::EarlierRun)))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn strangers_at_the_kept_port_change_nothing() {
    let met = meet(Vec::new());
    let [one, _] = &met.identities;
    let stranger = Identity::generate().unwrap();
    let knock = || {
        let link = options(connect_to(met.port));
        let (_, on_event, _) = recorder();
        let refused = establish_mendable(
            &stranger,
            &[one.public()],
            &link,
            SOON,
            &on_event,
            &CancelToken::new(),
        );
        assert_eq!(refused.err(), Some(LinkError::RefusedByPeer));
        let mut socket = TcpStream::connect(met.port).unwrap();
        socket.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    };
    knock();
    met.wire.set_down(true);
    wait_for(|| losses(&met.events[0]) == 1);
    knock();
    met.wire.set_down(false);
    assert_eq!(converse(met.ends, &[[100_000, 100_000]], 6), [Ok(()), Ok(())]);
    let rejected = |event: &LinkEvent| matches!(event, LinkEvent::Rejected { .. });
    assert_eq!(count(&met.events[0], rejected), 4);
}

#[test]
fn stopping_without_a_connection_takes_no_time() {
    let met = meet(Vec::new());
    met.wire.set_down(true);
    for (end, events) in met.ends.iter().zip(&met.events) {
        wait_for(|| losses(events) == 1);
        let started = Instant::now();
        end.stop(StopReason::Cancelled);
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
        assert_eq!(end.ended(), Some(TransportError::CancelledHere));
    }
}

#[test]
fn the_limits_of_a_session_hold_without_a_connection() {
    let total = Duration::from_secs(2);
    let met = meet_with(Vec::new(), SOON, |options| options.total = Some(total));
    met.wire.set_down(true);
    for end in &met.ends {
        assert_eq!(end_of(end), TransportError::Deadline(total), "{:?}", met.events);
    }
    let limit = Duration::from_secs(1);
    let met = meet(Vec::new());
    met.ends.iter().for_each(|end| end.expect(Some(limit)));
    met.wire.set_down(true);
    for end in &met.ends {
        assert_eq!(end_of(end), TransportError::Idle(limit));
    }
}

#[test]
fn a_stop_is_no_lost_connection() {
    let met = meet(Vec::new());
    let [a, b] = &met.ends;
    a.stop(StopReason::Input);
    assert_eq!(end_of(b), TransportError::PeerStopped(StopReason::Input));
    let met = meet(Vec::new());
    let [a, b] = met.ends;
    drop(a);
    assert_eq!(end_of(&b), TransportError::PeerStopped(StopReason::Internal));
    assert!(met.events.iter().all(|events| losses(events) == 0));
}

#[test]
fn a_session_with_a_side_that_does_not_mend_ends_with_its_connection() {
    let [one, two] = [(); 2].map(|()| Identity::generate().unwrap());
    let (events, on_event, addresses) = recorder();
    let listener = listen_for(&one, two.public(), options(listen_anywhere()), SOON, on_event);
    let wire = Breaking::to(addresses.recv_timeout(SOON).unwrap(), Vec::new());
    let link = options(connect_to(wire.address));
    let plain = establish(&two, &[one.public()], &link, &|_| (), &CancelToken::new()).unwrap();
    let mendable = listener.join().unwrap().unwrap();
    wire.set_down(true);
    assert_eq!(end_of(&plain), TransportError::Closed);
    assert_eq!(end_of(&mendable), TransportError::Closed);
    assert_eq!(losses(&events), 0);
}
