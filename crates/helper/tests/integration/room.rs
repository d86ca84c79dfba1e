//! A run has all the space it may need, or does not start.

use crate::common;
use common::{Fixture, MAX_ROWS, hello, put_hellos, refusal, slot, until};
use std::fs;
use std::time::Duration;
use vesica_core::{Error, Excess, Limit, Refusal, Result};
use vesica_helper::Service;
use vesica_helper_client::{Remote, RemoteEvent};
use vesica_server_aided::kmrs14::{Board, Boards, Kind, Room, Slot, Spec};

/// Disk space of a slot beyond its bytes: a digest, and the rest of a block.
const OVERHEAD_BYTES: u64 = 32 + 4095;

/// The needs of a run of two parties that send [`hello`].
fn room(spec: &Spec) -> Room {
    spec.room(&[11, 11], OVERHEAD_BYTES)
}

/// A [`Remote`] that stops retrying soon.
fn impatient(fixture: &Fixture, service: &Service, party: usize, spec: &Spec) -> Remote {
    let mut options = fixture.remote_options(service, party, spec);
    options.link.wait = Duration::from_millis(300);
    Remote::new(options)
}

fn put_hello(remote: &Remote, party: u8) -> Result<Box<dyn Board>> {
    let mut board = remote.open()?;
    board.put(slot(Kind::Hello, party), &hello(party))?;
    board.sync()?;
    Ok(board)
}

#[test]
fn a_run_waits_until_there_is_space_for_all_of_it() {
    let fixture = Fixture::new(2);
    let specs = [1, 2].map(|agreement| fixture.spec_of(&[0, 1], agreement));
    let needed = room(&specs[0]).total();
    let service = fixture.start_with(|options| options.max_stored_bytes = Some(needed * 3 / 2));
    let both = |spec: &Spec| [0, 1].map(|party| fixture.remote(&service, party, spec));
    let first = both(&specs[0]);
    let boards = put_hellos(&first);
    // The second has its hellos, except for the last.
    drop(put_hello(&fixture.remote(&service, 0, &specs[1]), 0).unwrap());
    let late = impatient(&fixture, &service, 1, &specs[1]);
    assert_eq!(refusal(put_hello(&late, 1)), Refusal::NoRoom);
    // The first run continues; when it ends, the second does.
    let (waiting, events) = fixture.recording_remote(&service, 1, &specs[1]);
    std::thread::scope(|scope| {
        let waiting_put = scope.spawn(|| put_hello(&waiting, 1).map(drop));
        let full = Error::Refused(Refusal::NoRoom);
        until("it is refused", || {
            let events = events.lock().unwrap();
            events.iter().any(
                |event| matches!(event, RemoteEvent::Reconnecting { error, .. } if *error == full),
            )
        });
        drop(boards);
        let mut board = first[0].open().unwrap();
        board.put(slot(Kind::Share, 0), &[7; 20_000]).unwrap();
        board.sync().unwrap();
        first[1].end().unwrap();
        waiting_put.join().unwrap().unwrap();
    });
}

#[test]
fn a_run_above_a_limit_by_itself_is_refused_permanently() {
    let fixture = Fixture::new(2);
    let needed = room(&fixture.spec(2));
    let of_party = needed.put[0] + needed.written[0];
    for (agreement, of_all, of_one, is_taken) in [
        (1, needed.total() - 1, u64::MAX, false),
        (2, u64::MAX, of_party - 1, false),
        (3, needed.total(), of_party, true),
    ] {
        let spec = fixture.spec_of(&[0, 1], agreement);
        let service = fixture.start_with(|options| {
            options.max_stored_bytes = Some(of_all);
            options.parties[0].max_stored_bytes = of_one;
        });
        drop(put_hello(&fixture.remote(&service, 0, &spec), 0).unwrap());
        // The last party to connect is refused, even if the limit is another party's.
        let last = fixture.remote(&service, 1, &spec);
        let (party, limit, allowed) = if of_one < of_party {
            (Some(0), Limit::StoredByParty, of_one >> 20)
        } else {
            (None, Limit::StoredByAll, of_all >> 20)
        };
        let over = Excess { party, limit: Some(limit), allowed };
        match put_hello(&last, 1) {
            Ok(_) => assert!(is_taken),
            other => assert!(!is_taken && refusal(other) == Refusal::OverLimit(over)),
        }
        last.end().unwrap();
    }
}

#[test]
fn the_disk_keeps_a_reserve_and_future_data_counts() {
    let fixture = Fixture::new(2);
    let spec = fixture.spec(2);
    let service = fixture.start_with(|options| options.keep_free_bytes = 1 << 60);
    // A hello is small, and shows the others which parties are present.
    drop(put_hello(&fixture.remote(&service, 0, &spec), 0).unwrap());
    let last = impatient(&fixture, &service, 1, &spec);
    assert_eq!(refusal(put_hello(&last, 1)), Refusal::NoRoom);
    // The same holds while the parties reconnect; and there is space when there is.
    drop(last);
    assert!(service.shutdown(Duration::from_secs(5)));
    let service = fixture.start();
    drop(put_hello(&fixture.remote(&service, 1, &spec), 1).unwrap());
}

#[test]
fn a_party_cannot_put_more_than_its_hello_announced() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let remotes = [0, 1].map(|party| fixture.remote(&service, party, &spec));
    let mut boards = put_hellos(&remotes);
    let format = spec.formats(&[11, 11]).unwrap()[0];
    // A well-formed segment with every bucket full: eight times the content of a list.
    let labels = format.segment_capacity();
    let mut segment = vec![255; format.segment_bytes(labels) as usize];
    segment[..4].copy_from_slice(&(labels as u32).to_le_bytes());
    assert!(segment.len() as u64 > room(&spec).put[0]);
    boards[0].put(slot(Kind::Labels, 0), &segment).unwrap();
    assert_eq!(refusal(boards[0].sync()), Refusal::Malformed { party: 0 });
    // The longest list that it announced fits.
    let most = format.segment_bytes(spec.list_len(MAX_ROWS)) as usize;
    let mut board = remotes[0].open().unwrap();
    segment.truncate(most);
    segment[..4].copy_from_slice(&(spec.list_len(MAX_ROWS) as u32).to_le_bytes());
    board.put(slot(Kind::Share, 0), &[1; Slot::SHARE_MAX_LEN]).unwrap();
    board.put(slot(Kind::Labels, 0), &segment).unwrap();
    board.sync().unwrap();
}

#[test]
fn reservations_survive_a_restart() {
    let fixture = Fixture::new(2);
    let specs = [1, 2].map(|agreement| fixture.spec_of(&[0, 1], agreement));
    let needed = room(&specs[0]).total();
    let start = || fixture.start_with(|options| options.max_stored_bytes = Some(needed * 3 / 2));
    let service = start();
    let first = [0, 1].map(|party| fixture.remote(&service, party, &specs[0]));
    drop(put_hellos(&first));
    let instance = first[0].instance();
    drop(first);
    assert!(service.shutdown(Duration::from_secs(5)));
    let service = start();
    drop(put_hello(&fixture.remote(&service, 0, &specs[1]), 0).unwrap());
    let late = impatient(&fixture, &service, 1, &specs[1]);
    assert_eq!(refusal(put_hello(&late, 1)), Refusal::NoRoom);
    let mut options = fixture.remote_options(&service, 0, &specs[0]);
    options.instance = instance;
    Remote::new(options).end().unwrap();
    drop(put_hello(&fixture.remote(&service, 1, &specs[1]), 1).unwrap());
}

#[test]
fn an_incomplete_hello_sets_no_limit_and_is_sent_again() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let remotes = [0, 1].map(|party| fixture.remote(&service, party, &spec));
    let mut boards = put_hellos(&remotes);
    boards[0].put(slot(Kind::Share, 0), b"share").unwrap();
    boards[0].sync().unwrap();
    let instance = remotes[0].instance();
    drop((boards, remotes));
    assert!(service.shutdown(Duration::from_secs(5)));
    let run = fs::read_dir(fixture.state().join("runs")).unwrap().next().unwrap().unwrap();
    let cut = run.path().join(format!("{:02x}-01-00000000", Kind::Hello as u8));
    fs::write(cut, []).unwrap();
    let service = fixture.start();
    let back = |party, wait| {
        let mut options = fixture.remote_options(&service, party, &spec);
        (options.instance, options.link.wait) = (instance, wait);
        Remote::new(options)
    };
    let format = spec.formats(&[11, 11]).unwrap()[0];
    let labels = spec.list_len(MAX_ROWS);
    let mut list = vec![0; format.segment_bytes(labels) as usize];
    list[..4].copy_from_slice(&(labels as u32).to_le_bytes());
    // The other party is not to blame, and waits.
    let mut early = back(0, Duration::from_millis(300)).open().unwrap();
    early.put(slot(Kind::Labels, 0), &list).unwrap();
    assert_eq!(refusal(early.sync()), Refusal::Storage);
    let patient = [0, 1].map(|party| back(party, common::SOON));
    drop(put_hello(&patient[1], 1).unwrap());
    let mut board = patient[0].open().unwrap();
    board.put(slot(Kind::Labels, 0), &list).unwrap();
    board.sync().unwrap();
}
