//! An established session: streams, flow control, and its ends in order.

use crate::common::{
    SOON, connect_to, listen, listen_anywhere, open, options, pair, pair_with, root,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};
use vesica_link::{CancelToken, Identity, LinkError, MAX_FIRST_LEN, establish_sending};
use vesica_net::{StreamId, Streams};

#[test]
fn one_end_reads_what_the_other_writes() {
    let (a, b) = pair();
    let (_a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    a_out.write_all(b"hel").unwrap();
    a_out.write_all(b"lo").unwrap();
    a_out.flush().unwrap();
    let mut buf = [0; 5];
    b_in.read_exact(&mut buf).unwrap();
    assert_eq!(&buf, b"hello");
}

#[test]
fn both_ends_know_each_other_and_who_connected() {
    let (a, b) = pair();
    assert!(!a.initiator() && b.initiator());
    assert_ne!(a.peer(), b.peer());
    assert_eq!(a.clone().peer(), a.peer());
}

#[test]
fn exported_keys_agree_and_depend_on_session_label_and_context() {
    let ((a, b), (c, _d)) = (pair(), pair());
    assert_eq!(a.export("label", b"x"), b.export("label", b"x"));
    assert_ne!(a.export("label", b"x"), a.export("label", b"y"));
    assert_ne!(a.export("label", b"x"), a.export("other", b"x"));
    assert_ne!(a.export("label", b"x"), c.export("label", b"x"));
}

#[test]
fn wire_bytes_agree_at_both_ends_and_cover_the_payload() {
    let (a, b) = pair();
    let (_a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    a_out.write_all(&[1; 1_000_000]).unwrap();
    a_out.flush().unwrap();
    b_in.read_exact(&mut [0; 1_000_000]).unwrap();
    let closing = std::thread::spawn(move || {
        b.close().unwrap();
        b.wire_bytes()
    });
    a.close().unwrap();
    let (sent, received) = a.wire_bytes();
    assert_eq!(closing.join().unwrap(), (received, sent));
    assert!((1_000_000..1_010_000).contains(&sent), "{sent}");
}

/// Writes `len` bytes of the generator of `seed` in pieces of random size.
fn write_random(mut out: Box<dyn vesica_net::StreamWriter>, seed: u64, len: usize) {
    let mut bytes = ChaCha20Rng::seed_from_u64(seed);
    let mut sizes = ChaCha20Rng::seed_from_u64(!seed);
    let mut left = len;
    while left > 0 {
        let mut piece = vec![0; sizes.random_range(1..=200_000).min(left)];
        if sizes.random_bool(0.5) {
            piece.truncate(sizes.random_range(1..=100).min(left));
        }
        bytes.fill_bytes(&mut piece);
        out.write_all(&(piece.len() as u32).to_le_bytes()).unwrap();
        out.write_all(&piece).unwrap();
        if sizes.random_bool(0.3) {
            out.flush().unwrap();
        }
        left -= piece.len();
    }
    out.flush().unwrap();
}

fn read_random(mut from: Box<dyn vesica_net::StreamReader>, seed: u64, len: usize) {
    let mut bytes = ChaCha20Rng::seed_from_u64(seed);
    let mut left = len;
    while left > 0 {
        let mut size = [0; 4];
        from.read_exact(&mut size).unwrap();
        let size = u32::from_le_bytes(size) as usize;
        let (mut piece, mut expected) = (vec![0; size], vec![0; size]);
        from.read_exact(&mut piece).unwrap();
        bytes.fill_bytes(&mut expected);
        assert!(piece == expected, "stream {seed} is damaged");
        left -= size;
    }
    // The writer is gone by now, and nothing may follow.
    assert_eq!(from.read_exact(&mut [0]), Err(TransportError::Closed));
}

#[test]
fn many_streams_in_both_directions_arrive_intact() {
    let (a, b) = pair();
    std::thread::scope(|scope| {
        for index in 0..24 {
            let id = StreamId::ROOT.child(index);
            let len = [0, 1, 65_536, 700_000, 9_000_000][index as usize % 5];
            let ((a_in, a_out), (b_in, b_out)) = (open(&a, id), open(&b, id));
            scope.spawn(move || write_random(a_out, index, len));
            scope.spawn(move || write_random(b_out, index + 1000, len));
            scope.spawn(move || read_random(b_in, index, len));
            scope.spawn(move || read_random(a_in, index + 1000, len));
        }
    });
}

#[test]
fn an_unread_stream_does_not_delay_the_others() {
    let (a, b) = pair();
    let (stalled, live) = (StreamId::ROOT.child(0), StreamId::ROOT.child(1));
    let (_stalled_in, mut stalled_out) = open(&a, stalled);
    let (mut unread, _unread_out) = open(&b, stalled);
    let written = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&written);
    let stuck = std::thread::spawn(move || {
        for _ in 0..64 {
            stalled_out.write_all(&[1; 1 << 20]).unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
        stalled_out.flush().unwrap();
    });
    let (_live_in, mut live_out) = open(&a, live);
    let (mut live_reader, _live_out) = open(&b, live);
    let other = std::thread::spawn(move || {
        for _ in 0..64 {
            live_out.write_all(&[2; 1 << 20]).unwrap();
        }
        live_out.flush().unwrap();
    });
    let mut buf = vec![0; 1 << 20];
    for _ in 0..64 {
        live_reader.read_exact(&mut buf).unwrap();
        assert!(buf.iter().all(|byte| *byte == 2));
    }
    other.join().unwrap();
    assert!(written.load(Ordering::Relaxed) < 8, "the stalled stream was not held back");
    for _ in 0..64 {
        unread.read_exact(&mut buf).unwrap();
        assert!(buf.iter().all(|byte| *byte == 1));
    }
    stuck.join().unwrap();
}

#[test]
fn two_ends_that_write_100_mb_continue_once_they_read() {
    let (a, b) = pair();
    let mut threads = Vec::new();
    for session in [&a, &b] {
        let (mut reader, mut writer) = root(session);
        let writing = std::thread::spawn(move || {
            for _ in 0..100 {
                writer.write_all(&[3; 1_000_000]).unwrap();
            }
            writer.flush().unwrap();
        });
        threads.push(std::thread::spawn(move || {
            // Both writers now wait for credit.
            std::thread::sleep(Duration::from_millis(300));
            assert!(!writing.is_finished());
            let mut buf = vec![0; 1_000_000];
            for _ in 0..100 {
                reader.read_exact(&mut buf).unwrap();
            }
            writing.join().unwrap();
        }));
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn data_may_arrive_before_the_stream_is_opened() {
    let (a, b) = pair();
    let ids: Vec<_> = (0..100).map(|index| StreamId::ROOT.child(index)).collect();
    let writers: Vec<_> = ids.iter().map(|id| open(&a, *id)).collect();
    let writing = std::thread::spawn(move || {
        for (index, (_, mut writer)) in writers.into_iter().enumerate() {
            writer.write_all(&[index as u8; 10_000]).unwrap();
        }
    });
    // More than the first window of one stream, so that opening must grant the rest.
    let large = StreamId::ROOT.child(1000);
    let (_large_in, mut large_out) = open(&a, large);
    let writing_large = std::thread::spawn(move || {
        large_out.write_all(&vec![9; 3_000_000]).unwrap();
        large_out.flush().unwrap();
    });
    writing.join().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    for (index, id) in ids.iter().enumerate().rev() {
        let (mut reader, _writer) = open(&b, *id);
        let mut buf = [0; 10_000];
        reader.read_exact(&mut buf).unwrap();
        assert!(buf.iter().all(|byte| *byte == index as u8));
        assert_eq!(reader.read_exact(&mut [0]), Err(TransportError::Closed));
    }
    let (mut reader, _writer) = open(&b, large);
    let mut buf = vec![0; 3_000_000];
    reader.read_exact(&mut buf).unwrap();
    writing_large.join().unwrap();
}

#[test]
fn a_stream_can_be_opened_once() {
    let (a, b) = pair();
    let streams = root(&a);
    assert_eq!(a.open(StreamId::ROOT).err(), Some(TransportError::AlreadyOpen));
    drop(streams);
    assert_eq!(a.open(StreamId::ROOT).err(), Some(TransportError::AlreadyOpen));
    // Both ends have dropped it.
    drop(root(&b));
    assert_eq!(b.open(StreamId::ROOT).err(), Some(TransportError::AlreadyOpen));
}

#[test]
fn a_writer_whose_reader_is_gone_does_not_block() {
    let (a, b) = pair();
    let (_a_in, mut a_out) = root(&a);
    drop(root(&b));
    a_out.write_all(&vec![0; 32 << 20]).unwrap();
    a_out.flush().unwrap();
}

#[test]
fn what_was_flushed_before_close_arrives() {
    for _ in 0..20 {
        let (a, b) = pair();
        let (_a_in, mut a_out) = root(&a);
        let (mut b_in, _b_out) = root(&b);
        let reading = std::thread::spawn(move || {
            // The writing end requested the close long ago.
            std::thread::sleep(Duration::from_millis(20));
            let mut buf = vec![0; 10_000_000];
            b_in.read_exact(&mut buf).unwrap();
            assert!(buf.iter().all(|byte| *byte == 5));
            assert_eq!(b_in.read_exact(&mut [0]), Err(TransportError::Closed));
            b.close()
        });
        a_out.write_all(&vec![5; 10_000_000]).unwrap();
        drop(a_out);
        assert_eq!(a.close(), Ok(()));
        assert_eq!(reading.join().unwrap(), Ok(()));
    }
}

#[test]
fn what_has_arrived_can_be_read_after_close() {
    let (a, b) = pair();
    let (_a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    a_out.write_all(&[6; 200_000]).unwrap();
    a_out.flush().unwrap();
    let closing = std::thread::spawn(move || a.close());
    assert_eq!(b.close(), Ok(()));
    assert_eq!(closing.join().unwrap(), Ok(()));
    let mut buf = vec![0; 200_000];
    b_in.read_exact(&mut buf).unwrap();
    assert_eq!(b_in.read_exact(&mut [0]), Err(TransportError::Closed));
    assert_eq!(a_out.write_all(&[0; 1 << 20]), Err(TransportError::Closed));
}

#[test]
fn close_waits_a_limited_time_for_the_other_end() {
    let (a, b) = pair();
    let limit = Duration::from_millis(300);
    let started = Instant::now();
    assert_eq!(a.close_within(limit), Err(TransportError::Idle(limit)));
    assert!(started.elapsed() < SOON / 2);
    drop(b);
}

#[test]
fn the_stop_reason_arrives_and_wakes_all_waiting_threads() {
    let (a, b) = pair();
    let other = StreamId::ROOT.child(0);
    let (mut a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    let (_a_unread, _) = open(&a, other);
    let (_, mut b_out) = open(&b, other);
    let writing = std::thread::spawn(move || a_out.write_all(&vec![0; 64 << 20]));
    let reading = std::thread::spawn(move || a_in.read_exact(&mut [0]));
    let peer_writing = std::thread::spawn(move || b_out.write_all(&vec![0; 64 << 20]));
    std::thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    b.stop(StopReason::Input);
    assert!(started.elapsed() < Duration::from_secs(5));
    let stopped = TransportError::PeerStopped(StopReason::Input);
    assert_eq!(writing.join().unwrap(), Err(stopped));
    assert_eq!(reading.join().unwrap(), Err(stopped));
    assert_eq!(peer_writing.join().unwrap(), Err(TransportError::CancelledHere));
    assert_eq!(b_in.read_exact(&mut [0]), Err(TransportError::CancelledHere));
    assert_eq!(a.open(StreamId::ROOT.child(1)).err(), Some(stopped));
    assert_eq!((a.ended(), b.ended()), (Some(stopped), Some(TransportError::CancelledHere)));
}

#[test]
fn every_stop_reason_arrives_even_if_both_directions_are_full() {
    for reason in [
        StopReason::Cancelled,
        StopReason::Input,
        StopReason::Config,
        StopReason::Incompatible,
        StopReason::Misbehaviour,
        StopReason::Timeout,
        StopReason::Internal,
    ] {
        let (a, b) = pair();
        let mut threads = Vec::new();
        for session in [&a, &b] {
            let (reader, mut writer) = root(session);
            threads.push(std::thread::spawn(move || {
                let _reader = reader;
                writer.write_all(&vec![0; 64 << 20])
            }));
        }
        std::thread::sleep(Duration::from_millis(30));
        a.abort(reason);
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let stopped = TransportError::PeerStopped(reason);
        assert_eq!(ends, [Err(TransportError::CancelledHere), Err(stopped)]);
    }
}

#[test]
fn dropping_the_last_handle_ends_the_session() {
    let (a, b) = pair();
    let (mut a_in, _a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    let second = a.clone();
    drop(a);
    assert_eq!(second.ended(), None);
    drop(second);
    assert_eq!(a_in.read_exact(&mut [0]), Err(TransportError::Closed));
    assert_eq!(b_in.read_exact(&mut [0]), Err(TransportError::Closed));
}

#[test]
fn the_total_limit_ends_a_busy_session_at_both_ends() {
    let limit = Duration::from_millis(500);
    let (a, b) = pair_with(|options| {
        if matches!(options.endpoint, vesica_link::Endpoint::Listen(_)) {
            options.total = Some(limit);
        }
    });
    let (_a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    let started = Instant::now();
    let writing = std::thread::spawn(move || {
        loop {
            if let Err(error) = a_out.write_all(&[0; 1 << 16]) {
                return error;
            }
        }
    });
    let mut buf = [0; 1 << 16];
    let read = loop {
        if let Err(error) = b_in.read_exact(&mut buf) {
            break error;
        }
    };
    assert_eq!(writing.join().unwrap(), TransportError::Deadline(limit));
    assert_eq!(read, TransportError::PeerStopped(StopReason::Timeout));
    assert!(started.elapsed() < limit + Duration::from_secs(5));
}

#[test]
fn a_quiet_session_outlives_its_idle_limit() {
    // The two sides' limits differ: each must send signs of life often enough for the other.
    let (a, b) = pair_with(|options| {
        options.idle = match options.endpoint {
            vesica_link::Endpoint::Listen(_) => Duration::from_millis(600),
            _ => SOON,
        }
    });
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!((a.ended(), b.ended()), (None, None));
    let closing = std::thread::spawn(move || a.close());
    assert_eq!(b.close(), Ok(()));
    assert_eq!(closing.join().unwrap(), Ok(()));
}

#[test]
fn a_peer_whose_program_hangs_is_detected_where_something_is_expected_of_it() {
    let limit = Duration::from_millis(400);
    let (a, b) = pair();
    let (mut a_in, mut a_out) = root(&a);
    let (mut b_in, mut b_out) = root(&b);
    // Nothing is expected: silence is no failure.
    std::thread::sleep(2 * limit);
    // What is read at the other end, and then what arrives, is progress.
    a.expect(Some(limit));
    a_out.write_all(&[7; 16]).unwrap();
    a_out.flush().unwrap();
    b_in.read_exact(&mut [0; 16]).unwrap();
    for _ in 0..6 {
        std::thread::sleep(limit / 3);
        b_out.write_all(&[8; 4]).unwrap();
        b_out.flush().unwrap();
    }
    a_in.read_exact(&mut [0; 24]).unwrap();
    a.expect(None);
    std::thread::sleep(2 * limit);
    assert_eq!((a.ended(), b.ended()), (None, None));
    // Its threads still send signs of life.
    let started = Instant::now();
    a.expect(Some(limit));
    assert_eq!(a_in.read_exact(&mut [0; 1]), Err(TransportError::Idle(limit)));
    assert!((limit..SOON / 2).contains(&started.elapsed()));
    let stopped = TransportError::PeerStopped(StopReason::Timeout);
    assert_eq!(b_in.read_exact(&mut [0; 1]), Err(stopped));
}

#[test]
fn a_writer_whose_peer_reads_nothing_is_woken_where_progress_is_expected() {
    let limit = Duration::from_millis(400);
    let (a, b) = pair();
    let (_a_in, mut a_out) = root(&a);
    let _unread = root(&b);
    a.expect(Some(limit));
    let result = a_out.write_all(&vec![1; 64 << 20]).and_then(|()| a_out.flush());
    assert_eq!(result, Err(TransportError::Idle(limit)));
}

#[test]
fn what_is_sent_first_arrives_before_all_else_and_counts_against_the_window() {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let listener = listen(&one, &[two.public()], options(listen_anywhere()));
    let connecting = options(connect_to(listener.address));
    let first: Vec<u8> = (0..MAX_FIRST_LEN).map(|at| at as u8).collect();
    let (peers, cancel) = ([one.public()], CancelToken::new());
    let connected = establish_sending(&first, &two, &peers, &connecting, &|_| (), &cancel).unwrap();
    let accepted = listener.result().unwrap();
    let (_in, mut out) = root(&connected);
    // As much as the first window has room for, and more: an end that forgot the first bytes would
    // send too much.
    let rest: Vec<u8> = (0..1 << 20).map(|at| (at / 7) as u8).collect();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            out.write_all(&rest).unwrap();
            out.flush().unwrap();
        });
        // The other end has not opened the stream yet.
        std::thread::sleep(Duration::from_millis(200));
        let (mut inside, _out) = root(&accepted);
        let mut received = vec![0; first.len() + rest.len()];
        inside.read_exact(&mut received).unwrap();
        assert_eq!(received, [&first[..], &rest].concat());
        writing.join().unwrap();
    });
}

#[test]
fn only_a_side_that_connects_sends_something_first_and_a_stranger_receives_nothing() {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let send = |endpoint, peer: &Identity| {
        let (peers, options) = ([peer.public()], options(endpoint));
        establish_sending(b"x", &two, &peers, &options, &|_| (), &CancelToken::new())
    };
    assert_eq!(send(listen_anywhere(), &one).err(), Some(LinkError::BadAddress));
    // Another identity than the expected one listens there.
    let listener = listen(&one, &[two.public()], options(listen_anywhere()));
    let expected = Identity::generate().unwrap();
    let presented = one.public();
    let refused = send(connect_to(listener.address), &expected).err();
    assert_eq!(refused, Some(LinkError::WrongIdentity { presented }));
    listener.cancel.cancel();
    assert_eq!(listener.result().err(), Some(LinkError::Cancelled));
}
