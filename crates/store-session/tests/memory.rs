//! The memory of a party whose peer sends objects of many small pieces. This test has its own
//! process, because it measures the peak memory of the whole process.
#![cfg(target_os = "linux")]

#[path = "integration/support.rs"]
mod support;

use std::time::Duration;
use support::{Meeting, Scene};
use vesica_core::Misbehaviour;
use vesica_link::CancelToken;
use vesica_net::{StreamId, Streams};
use vesica_store_session::{ExchangeError, fuzzing};

/// About the size of each object.
const OBJECT_BYTES: usize = 49 << 20;

/// The object in the test's store, a copy of it, and what is kept of it. A queue for each piece
/// would take 706 MiB.
const PEAK_BYTES: u64 = 3 * (OBJECT_BYTES as u64) + (64 << 20);

/// The length of the name of an object with one stream.
const NAME_LEN: usize = 104;

/// How many streams a peer may use before this party opens them.
const UNOPENED: u64 = 32_000;

fn memory_bytes(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|one| one.strip_prefix(line)).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// Some stream of the peer's.
fn stream(number: u64) -> StreamId {
    StreamId::from_u64(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63)
}

fn push(body: &mut Vec<u8>, stream: StreamId, bytes: &[u8]) {
    body.extend_from_slice(&stream.as_u64().to_le_bytes());
    body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    body.extend_from_slice(bytes);
}

/// One byte of each of many streams.
fn streams() -> Vec<u8> {
    let mut body = Vec::with_capacity(OBJECT_BYTES);
    (0..(OBJECT_BYTES / 13) as u64).for_each(|at| push(&mut body, stream(at), &[7]));
    body
}

/// As many streams as the peer may use, in rotation.
fn turns() -> Vec<u8> {
    let mut body = Vec::with_capacity(OBJECT_BYTES);
    (0..(OBJECT_BYTES / 13) as u64).for_each(|at| push(&mut body, stream(at % UNOPENED), &[7]));
    body
}

/// The names of objects, and after each one a byte of the same stream.
fn names() -> Vec<u8> {
    let mut body = Vec::with_capacity(OBJECT_BYTES);
    for id in 0..(OBJECT_BYTES / (12 + NAME_LEN + 13)) as u64 {
        let (detached, name) = fuzzing::named(id, stream(1));
        push(&mut body, detached, &name);
        push(&mut body, stream(1), &[7]);
    }
    body
}

#[test]
fn small_pieces_end_the_run_or_take_little_more_than_the_objects() {
    let flood =
        |ended: &ExchangeError| *ended == ExchangeError::PeerMisbehaved(Misbehaviour::Flood);
    let waits = |ended: &ExchangeError| matches!(ended, ExchangeError::NotYet { .. });
    type Case = (&'static str, fn() -> Vec<u8>, fn(&ExchangeError) -> bool);
    let cases: [Case; 3] =
        [("streams", streams, flood), ("turns", turns, waits), ("names", names, flood)];
    for (case, body, is_expected) in cases {
        let scene = Scene::new();
        let options = || {
            let mut options = scene.options(&CancelToken::new());
            options.wait = Duration::from_secs(5);
            options
        };
        let [one, two] = std::thread::scope(|scope| {
            let other = scope.spawn(|| scene.meet(1, options()).unwrap());
            [scene.meet(0, options()).unwrap(), other.join().unwrap()]
        });
        let mut store = scene.store.objects.lock().unwrap();
        let run = store.keys().next().unwrap().split_once('/').unwrap().0.to_owned();
        let object = fuzzing::sealed(&one.conversation, 0, body());
        let object_len = object.len() as u64;
        assert!((object_len - OBJECT_BYTES as u64 / 100 * 99) < 1 << 20, "{object_len}");
        store.insert(format!("{run}/0-000000"), object);
        drop(store);
        // Resets the peak.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = memory_bytes("VmRSS:").saturating_sub(object_len);
        let Meeting { conversation: on, .. } = two;
        let (mut reader, _) = on.open(StreamId::from_u64(5)).unwrap();
        reader.read_exact(&mut [0]).unwrap_err();
        let ended = on.fault().unwrap();
        let peak = memory_bytes("VmHWM:").saturating_sub(before);
        assert!(peak < PEAK_BYTES, "{case}: {peak} bytes");
        assert!(is_expected(&ended), "{case}: {ended:?}");
    }
}
