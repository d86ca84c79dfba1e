//! Slots that a party asks for ahead: what a lost connection costs then, and how much waits in
//! memory.

use crate::common::{Fixture, slot};
use crate::line::Line;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_helper::Service;
use vesica_helper_client::{Remote, RemoteEvent};
use vesica_server_aided::kmrs14::{Board, Boards, Kind, Slot, Spec, Variant, Wanted};

/// Parts of the second party's list, as many as the scale of its hello has.
const PARTS: u32 = 36;
const SCALE: u8 = 22;

/// What the other side of a connection may send before it is taken.
const WINDOW: u64 = 4 << 20;

/// A run in which the second party has put its list in parts of `part_len` bytes, and no party has
/// sealed it.
fn relayed(fixture: &Fixture, service: &Service, part_len: usize) -> Spec {
    let mut spec = fixture.spec(2);
    spec.variant = Variant::SizeHiding;
    spec.parties.iter_mut().for_each(|party| party.max_rows = 1 << SCALE);
    for party in [0, 1] {
        let mut board = fixture.remote(service, party, &spec).open().unwrap();
        board.put(slot(Kind::Hello, party as u8), &[SCALE; 100]).unwrap();
        board.sync().unwrap();
    }
    let mut board = fixture.remote(service, 1, &spec).open().unwrap();
    for part in 0..PARTS {
        board.put(Slot::part(Kind::Relayed, 1, part), &body(part, part_len)).unwrap();
    }
    board.sync().unwrap();
    spec
}

fn body(part: u32, len: usize) -> Vec<u8> {
    (0..len as u32).map(|at| (at ^ at >> 8 ^ part) as u8).collect()
}

fn wanted(max_len: usize, expected_len: usize) -> Vec<Wanted> {
    let slots = (0..PARTS).map(|part| Slot::part(Kind::Relayed, 1, part));
    slots.map(|slot| Wanted { slot, max_len, expected_len }).collect()
}

/// What crossed a line that is cut once: after `cut_at` bytes from the helper on its first
/// connection.
#[derive(Default)]
struct Crossed {
    /// Counted from when this is set.
    cut_at: AtomicU64,
    /// By connection: bytes to the helper, and from it.
    bytes: [[AtomicU64; 2]; 3],
}

impl Crossed {
    fn line(self: &Arc<Self>, service: &Service) -> Line {
        let crossed = Arc::clone(self);
        Line::new(service.addresses()[0], move |is_from_helper, number, block| {
            let counted = &crossed.bytes[number][usize::from(is_from_helper)];
            let cut_at = crossed.cut_at.load(Ordering::SeqCst);
            let before = counted.fetch_add(block.len() as u64, Ordering::SeqCst);
            if is_from_helper && number == 0 && cut_at > 0 {
                block.len().min(cut_at.saturating_sub(before) as usize)
            } else {
                block.len()
            }
        })
    }

    fn of(&self, connection: usize) -> [u64; 2] {
        self.bytes[connection].each_ref().map(|bytes| bytes.load(Ordering::SeqCst))
    }
}

/// All requests are under way when the connection is lost. What the helper had confirmed is not put
/// again, what the party had taken is not asked for again, and everything else is.
#[test]
fn a_connection_lost_with_requests_under_way_costs_what_was_under_way() {
    const PART_LEN: usize = 256 << 10;
    const SHARE_LEN: usize = 30_000;
    let fixture = Fixture::new(2);
    // Before the reply to the sync, and in the middle of the first, of another and of the last
    // part.
    for (case, cut_after) in (0..).zip([1, 40_000, 1_000_000, 6_000_000, 9_300_000]) {
        let service = fixture.start();
        let spec = relayed(&fixture, &service, PART_LEN);
        let crossed = Arc::new(Crossed::default());
        let line = crossed.line(&service);
        let taken = Arc::new(AtomicUsize::new(0));
        let taken_before = Arc::new(Mutex::new(Vec::new()));
        let mut options = fixture.remote_options(&service, 0, &spec);
        options.address = line.address.to_string();
        let (so_far, at_loss) = (Arc::clone(&taken), Arc::clone(&taken_before));
        options.on_event = Arc::new(move |event| {
            if let RemoteEvent::Reconnecting { .. } = event {
                at_loss.lock().unwrap().push(so_far.load(Ordering::SeqCst));
            }
        });
        let remote = Remote::new(options);
        let mut board = remote.open().unwrap();
        board.filled(Kind::Labels, 1).unwrap();
        crossed.cut_at.store(crossed.of(0)[1] + cut_after, Ordering::SeqCst);

        board.put(slot(Kind::Share, 0), &[7; SHARE_LEN]).unwrap();
        let mut received = Vec::new();
        board
            .get_each(&wanted(PART_LEN, PART_LEN), &mut |number, body| {
                received.push((number as u32, body));
                taken.store(received.len(), Ordering::SeqCst);
                Ok(())
            })
            .unwrap();
        let expected: Vec<_> = (0..PARTS).map(|part| (part, body(part, PART_LEN))).collect();
        assert!(received == expected, "{case}: each part once, in order");
        // The connection stays usable: no reply is left over.
        assert_eq!(board.get(slot(Kind::Relayed, 1), PART_LEN).unwrap(), expected[0].1);
        assert_eq!(board.filled(Kind::Share, 1).unwrap(), [true], "{case}");
        let got = fixture.remote(&service, 1, &spec).open().unwrap();
        assert_eq!(share_of(got), [7; SHARE_LEN], "{case}");

        let taken_before = taken_before.lock().unwrap().clone();
        let [before] = taken_before[..] else { panic!("{case}: lost {taken_before:?}") };
        // What has arrived and was not taken is lost with the connection: up to a window.
        let [least, most] = [WINDOW + PART_LEN as u64, 0]
            .map(|lost| cut_after.saturating_sub(lost) as usize / PART_LEN);
        assert!((least..=most).contains(&before), "{case}: {before} were taken");
        // The opening takes some kilobytes, and the records of TLS some in a thousand.
        let [sent, replies] = crossed.of(1);
        let is_put_again = sent > SHARE_LEN as u64;
        assert!(!(is_put_again && before > 0), "{case}: {sent} bytes, and it was confirmed");
        assert!(is_put_again || cut_after > 1, "{case}: {sent} bytes, and it was not confirmed");
        let asked_again = (PARTS as usize - before + 1) * PART_LEN;
        assert!(replies as usize > asked_again, "{case}: {replies} bytes");
        assert!((replies as usize) < asked_again + PART_LEN / 2, "{case}: {replies} bytes");
        remote.end().unwrap();
    }
}

fn share_of(mut board: Box<dyn Board>) -> Vec<u8> {
    board.get(slot(Kind::Share, 0), Slot::SHARE_MAX_LEN).unwrap()
}

/// The helper sends parts of a megabyte where a byte was expected, so all of them are asked for at
/// once: the window of the link bounds what it may send ahead of the party that takes them.
#[test]
fn replies_longer_than_expected_do_not_pile_up() {
    const PART_LEN: usize = 1 << 20;
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = relayed(&fixture, &service, PART_LEN);
    let remote = fixture.remote(&service, 0, &spec);
    let mut board = remote.open().unwrap();
    let (mut taken, mut most_ahead) = (0, 0);
    board
        .get_each(&wanted(PART_LEN, 1), &mut |number, bytes| {
            assert_eq!(bytes, body(number as u32, PART_LEN));
            taken += bytes.len() as u64;
            if number % 12 == 0 {
                std::thread::sleep(Duration::from_millis(300));
            }
            most_ahead = most_ahead.max(remote.wire_bytes().1 - taken);
            Ok(())
        })
        .unwrap();
    assert!(most_ahead > WINDOW / 2, "the helper sends ahead: {most_ahead}");
    assert!(most_ahead < WINDOW + PART_LEN as u64, "{most_ahead}");
}
