//! An authenticated peer that violates the protocol.

use super::windows::{MAX_AHEAD, MAX_UNOPENED};
use super::*;
use crate::establish::Intent;
use crate::establish::tests::{authenticated, greet};
use crate::frame::{Frame, MAX_DATA_LEN};
use crate::sync::Deadline;
use crate::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, establish_mendable};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::io::{Read, Write};
use std::net::TcpStream;

const SOON: Duration = Duration::from_secs(20);
const STREAM: StreamId = StreamId::ROOT;

/// The bare TLS connection of a peer that follows only the handshake.
struct Rogue {
    socket: TcpStream,
    tls: rustls::ClientConnection,
}

impl Rogue {
    fn send(&mut self, bytes: &[u8]) {
        // Writing fails after the honest side has ended the session.
        let mut stream = rustls::Stream::new(&mut self.tls, &mut self.socket);
        let _ = stream.write_all(bytes).and_then(|()| stream.flush());
    }

    fn send_frame(&mut self, frame: Frame, payload: &[u8]) {
        self.send(&[&frame.encode(), payload].concat());
    }

    fn send_data(&mut self, stream: StreamId, payload: &[u8]) {
        self.send_frame(Frame::Data { stream, len: payload.len() }, payload);
    }

    /// Everything the honest side sends until it closes.
    fn read_all(&mut self) -> Vec<u8> {
        let mut received = Vec::new();
        let _ = rustls::Stream::new(&mut self.tls, &mut self.socket).read_to_end(&mut received);
        received
    }
}

fn meet_with(idle: Duration, total: Option<Duration>) -> (Session, Rogue) {
    let (rogue, honest) = authenticated();
    rogue.socket.set_nonblocking(false).unwrap();
    rogue.socket.set_read_timeout(Some(SOON)).unwrap();
    rogue.socket.set_write_timeout(Some(SOON)).unwrap();
    let session = Session::start(honest, idle, total, None).unwrap();
    let rustls::Connection::Client(tls) = rogue.tls else { panic!("the rogue connects") };
    (session, Rogue { socket: rogue.socket, tls })
}

fn meet() -> (Session, Rogue) {
    meet_with(SOON, None)
}

fn end_of(session: &Session) -> TransportError {
    let deadline = Deadline::after(SOON);
    while session.ended().is_none() && !deadline.is_over() {
        std::thread::sleep(Duration::from_millis(1));
    }
    session.ended().expect("the session should have ended")
}

/// Whether the peer received the stop for misbehaviour.
fn has_misbehaviour(received: &[u8]) -> bool {
    let stop = Frame::Stop(StopReason::Misbehaviour).encode();
    received.windows(stop.len()).any(|window| window == stop)
}

#[test]
fn random_bytes_after_the_handshake_end_the_session() {
    for seed in 0..50 {
        let (session, mut rogue) = meet();
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let mut bytes = vec![0; 100_000];
        random.fill_bytes(&mut bytes);
        // A valid kind first, so that other fields are reached as well.
        bytes[0] = random.random_range(0..7);
        rogue.send(&bytes);
        let error = end_of(&session);
        assert!(
            matches!(
                error,
                TransportError::PeerBrokeFraming
                    | TransportError::PeerFlood
                    | TransportError::PeerStopped(_)
            ),
            "{error:?}"
        );
    }
}

#[test]
fn random_frames_never_panic_and_hold_little_memory() {
    for seed in 0..20 {
        let (session, mut rogue) = meet();
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let payload = vec![0; MAX_DATA_LEN];
        for _ in 0..300 {
            let stream = StreamId::from_u64(random.random_range(0..20));
            match random.random_range(0..5) {
                0 => rogue.send_frame(Frame::KeepAlive, &[]),
                1 => rogue.send_frame(Frame::Credit { stream, bytes: 1 << 20 }, &[]),
                2 if random.random_bool(0.02) => rogue.send_frame(Frame::Finish { stream }, &[]),
                _ => rogue.send_data(stream, &payload[..random.random_range(1..2000)]),
            }
        }
        // A panicked thread would have ended the session as closed.
        assert_ne!(session.ended(), Some(TransportError::Closed));
        let held = lock(&session.core().inbox).held_bytes();
        assert!(held <= 20 * (FIRST_WINDOW + MAX_DATA_LEN), "{held}");
    }
}

#[test]
fn more_data_than_the_window_is_a_flood() {
    let (session, mut rogue) = meet();
    let block = vec![0; MAX_DATA_LEN];
    for _ in 0..FIRST_WINDOW / MAX_DATA_LEN {
        rogue.send_data(STREAM, &block);
    }
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(session.ended(), None);
    rogue.send_data(STREAM, &[0]);
    assert_eq!(end_of(&session), TransportError::PeerFlood);
    assert!(has_misbehaviour(&rogue.read_all()));
}

#[test]
fn tiny_frames_hold_little_more_memory_than_their_bytes() {
    let (session, mut rogue) = meet();
    let mut frame = Frame::Data { stream: STREAM, len: 1 }.encode().to_vec();
    frame.push(0);
    rogue.send(&frame.repeat(100_000));
    let deadline = Deadline::after(SOON);
    while lock(&session.core().inbox).held_bytes() < 100_000 {
        assert!(!deadline.is_over());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(lock(&session.core().inbox).held_capacity() <= 110_000);
}

#[test]
fn too_many_unopened_streams_are_a_flood() {
    for credit in [false, true] {
        let (session, mut rogue) = meet();
        for index in 0..=MAX_UNOPENED as u64 {
            let stream = StreamId::from_u64(index);
            if credit {
                rogue.send_frame(Frame::Credit { stream, bytes: 1 }, &[]);
            } else {
                rogue.send_data(stream, &[0]);
            }
        }
        assert_eq!(end_of(&session), TransportError::PeerFlood);
    }
}

#[test]
fn a_side_that_is_far_ahead_waits_until_the_peer_has_opened_its_streams() {
    let (session, mut rogue) = meet();
    let first = StreamId::from_u64(1000);
    let opened = Arc::new(AtomicU64::new(0));
    let opening = std::thread::spawn({
        let (session, opened) = (session.clone(), Arc::clone(&opened));
        move || {
            for index in 0..=MAX_AHEAD as u64 + 1 {
                let stream = session.open(StreamId::from_u64(1000 + index));
                stream.as_ref().map(drop).map_err(|error| *error)?;
                opened.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, TransportError>(())
        }
    });
    let wait_for = |count: u64| {
        let started = std::time::Instant::now();
        while opened.load(Ordering::Relaxed) < count && started.elapsed() < SOON {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(opened.load(Ordering::Relaxed), count);
    };
    wait_for(MAX_AHEAD as u64);
    rogue.send_frame(Frame::Credit { stream: first, bytes: 1 }, &[]);
    wait_for(MAX_AHEAD as u64 + 1);
    session.stop(StopReason::Cancelled);
    assert_eq!(opening.join().unwrap(), Err(TransportError::CancelledHere));
}

#[test]
fn endless_credit_is_a_flood() {
    let (session, mut rogue) = meet();
    for _ in 0..300 {
        rogue.send_frame(Frame::Credit { stream: STREAM, bytes: u32::MAX }, &[]);
    }
    assert_eq!(end_of(&session), TransportError::PeerFlood);
}

#[test]
fn what_follows_an_end_breaks_the_framing() {
    let finish = Frame::Finish { stream: STREAM };
    for (first, then) in [(finish, finish), (Frame::Goodbye, finish)] {
        let (session, mut rogue) = meet();
        rogue.send_frame(first, &[]);
        rogue.send_frame(then, &[]);
        assert_eq!(end_of(&session), TransportError::PeerBrokeFraming);
    }
    for first in [finish, Frame::Goodbye] {
        let (session, mut rogue) = meet();
        rogue.send_frame(first, &[]);
        rogue.send_data(STREAM, &[0]);
        assert_eq!(end_of(&session), TransportError::PeerBrokeFraming);
        assert!(has_misbehaviour(&rogue.read_all()));
    }
}

#[test]
fn damaged_records_end_the_session() {
    let (session, mut rogue) = meet();
    rogue.socket.write_all(&[23, 3, 3, 0, 32]).unwrap();
    rogue.socket.write_all(&[0; 32]).unwrap();
    assert_eq!(end_of(&session), TransportError::Tls);
}

#[test]
fn a_peer_lost_in_the_middle_of_a_frame_reads_as_closed() {
    let (session, mut rogue) = meet();
    let (mut reader, _writer) = session.open(STREAM).unwrap();
    rogue.send_frame(Frame::Data { stream: STREAM, len: 100 }, &[1; 50]);
    drop(rogue);
    assert_eq!(reader.read_exact(&mut [0; 100]), Err(TransportError::Closed));
}

#[test]
fn a_silent_peer_is_gone_after_the_idle_limit() {
    let idle = Duration::from_millis(400);
    let (session, mut rogue) = meet_with(idle, None);
    let (mut reader, _writer) = session.open(STREAM).unwrap();
    let started = std::time::Instant::now();
    assert_eq!(reader.read_exact(&mut [0]), Err(TransportError::Idle(idle)));
    assert!(started.elapsed() < Duration::from_secs(5));
    // If the peer reads again, it finds the reason.
    let received = rogue.read_all();
    assert!(received.ends_with(&Frame::Stop(StopReason::Timeout).encode()));
}

#[test]
fn a_peer_that_stops_reading_is_gone_after_the_idle_limit() {
    let idle = Duration::from_millis(400);
    let (session, mut rogue) = meet_with(idle, None);
    // It still sends signs of life, and a large credit.
    for _ in 0..200 {
        rogue.send_frame(Frame::Credit { stream: STREAM, bytes: u32::MAX }, &[]);
    }
    let (_reader, mut writer) = session.open(STREAM).unwrap();
    let alive = std::thread::spawn({
        let session = session.clone();
        move || {
            while session.ended().is_none() {
                rogue.send_frame(Frame::KeepAlive, &[]);
                std::thread::sleep(Duration::from_millis(50));
            }
            rogue
        }
    });
    let started = std::time::Instant::now();
    let error = loop {
        if let Err(error) = writer.write_all(&vec![0; 1 << 20]) {
            break error;
        }
        assert!(started.elapsed() < SOON, "the socket accepted too much");
    };
    assert_eq!(error, TransportError::Idle(idle));
    drop(alive.join().unwrap());
}

#[test]
fn the_total_limit_ends_a_session_in_which_nothing_happens() {
    let total = Duration::from_millis(300);
    let (session, mut rogue) = meet_with(SOON, Some(total));
    assert_eq!(end_of(&session), TransportError::Deadline(total));
    assert!(rogue.read_all().ends_with(&Frame::Stop(StopReason::Timeout).encode()));
}

#[test]
fn stopping_a_session_whose_peer_reads_nothing_takes_bounded_time() {
    let (session, mut rogue) = meet();
    for _ in 0..200 {
        rogue.send_frame(Frame::Credit { stream: STREAM, bytes: u32::MAX }, &[]);
    }
    let (_reader, mut writer) = session.open(STREAM).unwrap();
    let writing = std::thread::spawn(move || {
        loop {
            if let Err(error) = writer.write_all(&vec![0; 1 << 20]) {
                return error;
            }
        }
    });
    std::thread::sleep(Duration::from_millis(300));
    let started = std::time::Instant::now();
    session.stop(StopReason::Cancelled);
    assert!(started.elapsed() < FAREWELL_LIMIT + Duration::from_secs(3));
    assert_eq!(writing.join().unwrap(), TransportError::CancelledHere);
}

/// A peer of a session that can be mended, which has its key and its root.
struct Mending {
    honest: Session,
    rogue: Rogue,
    identities: [Identity; 2],
    port: SocketAddr,
    root: Arc<Secret<[u8; 32]>>,
}

fn rogue_of(authenticated: Authenticated) -> Rogue {
    let Authenticated { socket, tls, .. } = authenticated;
    socket.set_nonblocking(false).unwrap();
    socket.set_read_timeout(Some(SOON)).unwrap();
    socket.set_write_timeout(Some(SOON)).unwrap();
    let rustls::Connection::Client(tls) = tls else { panic!("the rogue connects") };
    Rogue { socket, tls }
}

fn meet_mending() -> Mending {
    let identities = [Identity::generate().unwrap(), Identity::generate().unwrap()];
    let [one, two] = identities.clone();
    let (ports, port) = std::sync::mpsc::channel();
    let ports = Mutex::new(ports);
    let peer = two.public();
    let listening = std::thread::spawn(move || {
        let on_event: crate::OnEvent = Arc::new(move |event| {
            if let LinkEvent::Listening { address } = event {
                ports.lock().unwrap().send(address).unwrap();
            }
        });
        let endpoint = Endpoint::Listen("127.0.0.1:0".into());
        let options = LinkOptions { endpoint, wait: SOON, idle: SOON, total: None, proxy: None };
        establish_mendable(&one, &[peer], &options, SOON, &on_event, &CancelToken::new())
    });
    let port = port.recv_timeout(SOON).unwrap();
    let met = greet(&identities[1], &identities[0], port, Intent::Mendable).unwrap();
    let mut root = Secret::new([0; 32]);
    met.tls.export_keying_material(root.expose_mut(), EXPORT_ROOT.as_bytes(), None).unwrap();
    let (rogue, root) = (rogue_of(met), Arc::new(root));
    Mending { honest: listening.join().unwrap().unwrap(), rogue, identities, port, root }
}

impl Mending {
    /// Another connection with this root.
    fn again(&self, root: &Arc<Secret<[u8; 32]>>) -> Result<Rogue, LinkError> {
        let [one, two] = &self.identities;
        greet(two, one, self.port, Intent::Again(Arc::clone(root))).map(rogue_of)
    }

    /// The rogue breaks the connection, and proves on the next one that it is the peer.
    fn lose(&mut self) {
        let _ = self.rogue.socket.shutdown(std::net::Shutdown::Both);
        self.rogue = self.again(&self.root).unwrap();
    }
}

#[test]
fn a_plain_session_has_no_acknowledgements() {
    let (session, mut rogue) = meet();
    rogue.send_frame(Frame::Arrived { frames: 0 }, &[]);
    assert_eq!(end_of(&session), TransportError::PeerBrokeFraming);
}

#[test]
fn more_cannot_have_arrived_than_was_sent_nor_less_than_before() {
    for (first, then) in [(1, None), (u64::MAX, None), (0, Some(2)), (1, Some(0))] {
        for after_a_loss in [false, true] {
            let mut mending = meet_mending();
            // One frame of credit, unless none is to have been sent.
            let _streams = then.map(|_| mending.honest.open(STREAM).unwrap());
            if let Some(then) = then {
                let mut credit = [0; 13];
                let Rogue { tls, socket } = &mut mending.rogue;
                rustls::Stream::new(tls, socket).read_exact(&mut credit).unwrap();
                mending.rogue.send_frame(Frame::Arrived { frames: first }, &[]);
                if after_a_loss {
                    mending.lose();
                }
                mending.rogue.send_frame(Frame::Arrived { frames: then }, &[]);
            } else {
                if after_a_loss {
                    mending.lose();
                }
                mending.rogue.send_frame(Frame::Arrived { frames: first }, &[]);
            }
            assert_eq!(
                end_of(&mending.honest),
                TransportError::PeerBrokeFraming,
                "{first}, {then:?}, {after_a_loss}"
            );
            assert!(has_misbehaviour(&mending.rogue.read_all()));
        }
    }
}

#[test]
fn a_peer_that_comes_back_first_says_what_has_arrived() {
    let first: [(Frame, &[u8]); 5] = [
        (Frame::Data { stream: STREAM, len: 1 }, &[0]),
        (Frame::Credit { stream: STREAM, bytes: 1 }, &[]),
        (Frame::Finish { stream: STREAM }, &[]),
        (Frame::Goodbye, &[]),
        (Frame::KeepAlive, &[]),
    ];
    for (frame, payload) in first {
        let mut mending = meet_mending();
        mending.lose();
        mending.rogue.send_frame(frame, payload);
        assert_eq!(end_of(&mending.honest), TransportError::PeerBrokeFraming, "{frame:?}");
    }
    // A stop may come at any time.
    let mut mending = meet_mending();
    mending.lose();
    mending.rogue.send_frame(Frame::Stop(StopReason::Input), &[]);
    assert_eq!(end_of(&mending.honest), TransportError::PeerStopped(StopReason::Input));
}

#[test]
fn the_right_identity_without_the_root_is_another_run() {
    let mending = meet_mending();
    let other = Arc::new(Secret::new([7; 32]));
    // The connection holds: this one is only rejected.
    assert_eq!(mending.again(&other).err(), Some(LinkError::NewRun));
    assert_eq!(mending.honest.ended(), None);
    let _ = mending.rogue.socket.shutdown(std::net::Shutdown::Both);
    let deadline = Deadline::after(SOON);
    while mending.honest.ended().is_none() && !deadline.is_over() {
        let refused = mending.again(&other).err();
        // It may have ended meanwhile, and then no reply comes.
        assert!(refused == Some(LinkError::NewRun) || mending.honest.ended().is_some());
    }
    assert_eq!(mending.honest.ended(), Some(TransportError::PeerRestarted));
}

#[test]
fn a_peer_that_acknowledges_nothing_is_sent_a_bounded_amount() {
    let mut mending = meet_mending();
    for _ in 0..200 {
        mending.rogue.send_frame(Frame::Credit { stream: STREAM, bytes: u32::MAX }, &[]);
    }
    let (_reader, mut writer) = mending.honest.open(STREAM).unwrap();
    let writing = std::thread::spawn(move || while writer.write_all(&vec![0; 1 << 20]).is_ok() {});
    mending.rogue.socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    // Until nothing comes any more.
    let received = mending.rogue.read_all().len();
    assert!((16 << 20..18 << 20).contains(&received), "{received}");
    assert!(lock(&mending.honest.core().outbox).kept_bytes() <= 17 << 20);
    mending.honest.stop(StopReason::Cancelled);
    writing.join().unwrap();
}

#[test]
fn damage_ends_a_session_that_can_be_mended() {
    let mut mending = meet_mending();
    mending.rogue.socket.write_all(&[23, 3, 3, 0, 32]).unwrap();
    mending.rogue.socket.write_all(&[0; 32]).unwrap();
    assert_eq!(end_of(&mending.honest), TransportError::Tls);
    // The other side receives that, and does not wait for this one.
    let Rogue { tls, socket } = &mut mending.rogue;
    let received = loop {
        if tls.read_tls(socket).unwrap() == 0 {
            break Ok(());
        }
        if let Err(error) = tls.process_new_packets() {
            break Err(error);
        }
    };
    assert!(matches!(received, Err(rustls::Error::AlertReceived(_))), "{received:?}");
}

#[test]
fn a_peer_that_connects_again_and_again_does_not_lengthen_the_closing() {
    let mut mending = meet_mending();
    let session = mending.honest.clone();
    let closing = std::thread::spawn(move || session.close_within(Duration::from_millis(400)));
    let started = std::time::Instant::now();
    while !closing.is_finished() && started.elapsed() < SOON {
        // Its goodbye never arrives.
        let _ = mending.rogue.socket.shutdown(std::net::Shutdown::Both);
        let Ok(rogue) = mending.again(&mending.root) else { break };
        mending.rogue = rogue;
        mending.rogue.send_frame(Frame::Arrived { frames: 0 }, &[]);
        std::thread::sleep(Duration::from_millis(40));
    }
    let closed = closing.join().unwrap();
    assert!(matches!(closed, Err(TransportError::Idle(_))), "{closed:?}");
    assert!(started.elapsed() < SOON / 2, "{:?}", started.elapsed());
}
