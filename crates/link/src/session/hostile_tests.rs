//! An authenticated peer that violates the protocol.

use super::*;
use crate::establish::tests::authenticated;
use crate::frame::{Frame, MAX_DATA_LEN};
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
