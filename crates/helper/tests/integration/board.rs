//! Parties put and get, and none more than it may.

use crate::aided::run_party;
use crate::common;
use common::{Fixture, MAX_ROWS, exchange_slots, hello, put_hellos, refusal, slot, until};
use std::time::Duration;
use vesica_core::{Error, Excess, Limit, Misbehaviour, Refusal, TransportError};
use vesica_helper_client::{Remote, RemoteEvent};

use vesica_link::{Identity, LinkError};
use vesica_server_aided::kmrs14::{Boards, Kind, Slot, Spec, Variant, Wanted};

#[test]
fn two_and_three_parties_exchange_slots() {
    for parties in [2, 3] {
        let fixture = Fixture::new(parties);
        let service = fixture.start();
        let spec = fixture.spec(parties);
        std::thread::scope(|scope| {
            for party in 0..parties {
                let remote = fixture.remote(&service, party, &spec);
                scope.spawn(move || {
                    let received = exchange_slots(&remote, party as u8, parties as u8).unwrap();
                    for other in 0..parties {
                        assert_eq!(received[other], hello(other as u8));
                        assert_eq!(received[parties + other], [other as u8; 77]);
                    }
                    let (sent, received) = remote.wire_bytes();
                    assert!(sent > 300 && received > 300);
                });
            }
        });
    }
}

#[test]
fn a_run_is_forgotten_when_all_parties_are_done() {
    for (variant, parties) in
        [(Variant::SemiHonest, 3), (Variant::Fair, 2), (Variant::SizeHiding, 2)]
    {
        let fixture = Fixture::new(parties);
        let service = fixture.start();
        let spec = Spec { variant, ..fixture.spec(parties) };
        std::thread::scope(|scope| {
            for party in 0..parties {
                let (remote, spec) = (fixture.remote(&service, party, &spec), &spec);
                scope.spawn(move || {
                    run_party(&remote, spec, party, MAX_ROWS).unwrap();
                    remote.done().unwrap();
                    // Again, as after a lost reply.
                    remote.done().unwrap();
                });
            }
        });
        let runs = fixture.state().join("runs");
        until("the run is forgotten", || std::fs::read_dir(&runs).unwrap().count() == 0);
    }
}

#[test]
fn parties_connect_and_leave_at_different_times() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let first = fixture.remote(&service, 0, &spec);
    let mut board = first.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    let instance = first.instance().unwrap();
    drop((board, first));
    let second = fixture.remote(&service, 1, &spec);
    assert_eq!(second.look().unwrap().present, [0]);
    assert_eq!(second.instance(), None);
    let mut board = second.open().unwrap();
    board.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
    assert_eq!(board.get(slot(Kind::Hello, 0), 200).unwrap(), hello(0));
    drop((board, second));
    let mut options = fixture.remote_options(&service, 0, &spec);
    options.instance = Some(instance);
    let back = Remote::new(options);
    assert_eq!(talk_on(&back), hello(1));
    assert_eq!(back.instance(), Some(instance));
}

fn talk_on(remote: &Remote) -> Vec<u8> {
    let mut board = remote.open().unwrap();
    assert_eq!(board.filled(Kind::Hello, 3).unwrap(), [true, false, false]);
    // Putting the same again has no effect.
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.get(slot(Kind::Hello, 1), 200).unwrap()
}

#[test]
fn a_party_writes_and_reads_only_slots_it_may() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let spec = fixture.spec(3);
    let remotes: Vec<Remote> = (0..3).map(|party| fixture.remote(&service, party, &spec)).collect();
    drop(put_hellos(&remotes));
    let malformed = Refusal::Malformed { party: 1 };
    for bad in [
        slot(Kind::Hello, 0),
        slot(Kind::Share, 2),
        slot(Kind::Share, 3),
        slot(Kind::Answer, 1),
        slot(Kind::Commitment, 1),
        slot(Kind::Kept, 1),
        slot(Kind::TossShare, 1),
        Slot::part(Kind::Share, 1, 1),
    ] {
        let mut board = remotes[1].open().unwrap();
        let put = board.put(bad, &[1; 32]).and_then(|()| board.sync());
        assert_eq!(refusal(put), malformed, "put {bad:?}");
    }
    for bad in [
        slot(Kind::Labels, 0),
        slot(Kind::Labels, 1),
        slot(Kind::Answer, 0),
        slot(Kind::Kept, 1),
        slot(Kind::Opened, 1),
        slot(Kind::Places, 1),
        slot(Kind::Hello, 3),
    ] {
        let mut board = remotes[1].open().unwrap();
        assert_eq!(refusal(board.get(bad, 100)), malformed, "get {bad:?}");
    }
    // It is still a party like the others.
    let mut board = remotes[1].open().unwrap();
    board.put(slot(Kind::Share, 1), b"share").unwrap();
    board.sync().unwrap();
    let mut other = remotes[2].open().unwrap();
    assert_eq!(other.get(slot(Kind::Share, 1), 100).unwrap(), b"share");
}

#[test]
fn a_party_that_runs_twice_with_other_data_is_refused() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let one = fixture.remote(&service, 0, &spec);
    let two = fixture.remote(&service, 0, &spec);
    let mut board = one.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    let mut board = two.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(7)).unwrap();
    assert_eq!(refusal(board.sync()), Refusal::AlreadyThere);
    // And stays refused on this board, on which nothing of the rest is stored.
    let again = board.put(slot(Kind::Share, 0), b"x").and_then(|()| board.sync());
    assert_eq!(refusal(again), Refusal::AlreadyThere);
    let mut board = one.open().unwrap();
    assert_eq!(board.get(slot(Kind::Hello, 0), 200).unwrap(), hello(0));
}

#[test]
fn unknown_identities_and_other_runs_parties_are_refused() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let spec = fixture.spec(2);
    // Served, but not in the run.
    let other = fixture.remote(&service, 2, &spec);
    assert_eq!(refusal(other.open()), Refusal::NotAParty);
    // Not served at all.
    let mut options = fixture.remote_options(&service, 0, &spec);
    options.identity = Identity::generate().unwrap();
    options.link.wait = Duration::from_secs(1);
    let stranger = Remote::new(options);
    assert!(matches!(stranger.open().err(), Some(Error::Transport(_))));
    assert_eq!(stranger.link_error(), Some(LinkError::RefusedByPeer));
    // A run with an unknown party.
    let mut strange = fixture.spec(2);
    strange.parties[1].identity = [77; 32];
    let waiting = fixture.remote(&service, 0, &strange);
    assert_eq!(refusal(waiting.open()), Refusal::BadRun);
    // Another helper than the expected one.
    let mut options = fixture.remote_options(&service, 0, &spec);
    options.helper = Identity::generate().unwrap().public();
    assert_eq!(Remote::new(options).open().err(), Some(Error::Transport(TransportError::Tls)));
}

#[test]
fn an_extra_party_makes_another_run_and_all_are_notified() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let two = fixture.spec(2);
    let three = fixture.spec(3);
    let waiting = fixture.remote(&service, 0, &two);
    let mut board = waiting.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    let other = fixture.remote(&service, 2, &three);
    let seen = other.look().unwrap();
    assert_eq!((seen.present, seen.other_agreement), (Vec::new(), None));
    // The same parties under another agreement learn of each other.
    let changed = fixture.spec_of(&[0, 1], 10);
    let (late, events) = fixture.recording_remote(&service, 1, &changed);
    let late_board = late.open().unwrap();
    let other_is = |agreement: u8| RemoteEvent::OtherAgreement { agreement: [agreement; 32] };
    assert!(events.lock().unwrap().contains(&other_is(9)));
    assert_eq!(late.look().unwrap().other_agreement, Some([9; 32]));
    drop(board);
    let (early, events) = fixture.recording_remote(&service, 0, &two);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| early.open().unwrap().get(slot(Kind::Hello, 1), 200));
        until("the early one hears of the late one", || {
            let events = events.lock().unwrap();
            events.contains(&other_is(10))
                && events.contains(&RemoteEvent::Waiting { parties: vec![1] })
        });
        drop(late_board);
        early.end().unwrap();
        assert_eq!(refusal(thread.join().unwrap()), Refusal::Ended { party: 0 });
    });
}

fn over(party: Option<u8>, limit: Limit, allowed: u64) -> Refusal {
    Refusal::OverLimit(Excess { party, limit: Some(limit), allowed })
}

#[test]
fn limits_of_a_party_hold() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(|options| {
        let party = &mut options.parties[0];
        (party.max_rows, party.max_runs) = (common::MAX_ROWS, 2);
        // A whole run, and a hello in another.
        let room = fixture.spec(2).room(&[11, 11], 32 + 4095);
        party.max_stored_bytes = room.put[0] + room.written[0] + 4096;
        options.parties[1].max_rows = 10 * common::MAX_ROWS;
    });
    let mut large = fixture.spec(2);
    large.parties[0].max_rows += 1;
    for party in [0, 1] {
        let remote = fixture.remote(&service, party, &large);
        let allowed = common::MAX_ROWS;
        assert_eq!(refusal(remote.open()), over(Some(0), Limit::Rows, allowed), "{party}");
    }
    let mut runs = Vec::new();
    for agreement in 0..3 {
        let remote = fixture.remote(&service, 0, &fixture.spec_of(&[0, 1], agreement));
        let board = remote.open();
        if agreement == 2 {
            assert_eq!(refusal(board), over(Some(0), Limit::Runs, 2), "a third run");
        } else {
            let mut board = board.unwrap();
            board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
            board.sync().unwrap();
            runs.push((remote, board));
        }
    }
    // The other party is not affected.
    let other = fixture.remote(&service, 1, &fixture.spec_of(&[0, 1], 0));
    let mut board = other.open().unwrap();
    board.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
    board.sync().unwrap();
    // A whole run is reserved for the first now, and there is no space for another.
    let others = |agreement| {
        let mut options = fixture.remote_options(&service, 1, &fixture.spec_of(&[0, 1], agreement));
        options.link.wait = Duration::from_millis(300);
        let other = Remote::new(options);
        let mut board = other.open().unwrap();
        board.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
        board.sync()
    };
    assert_eq!(refusal(others(1)), Refusal::NoRoom);
    runs[0].0.end().unwrap();
    others(1).unwrap();
}

#[test]
fn each_party_has_its_own_limit_of_connections() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(|options| options.parties[0].max_connections = 3);
    let spec = fixture.spec(2);
    let remote = fixture.remote(&service, 0, &spec);
    let mut boards: Vec<_> = (0..3).map(|_| remote.open().unwrap()).collect();
    for _ in 0..5 {
        assert_eq!(refusal(remote.open()), over(None, Limit::Connections, 3));
    }
    let other = fixture.remote(&service, 1, &spec);
    drop((0..4).map(|_| other.open().unwrap()).collect::<Vec<_>>());
    // A dropped board leaves its connection to the next.
    boards.pop();
    boards.push(remote.open().unwrap());
    drop((boards, remote));
    until("connections that are gone do not count", || {
        let again = fixture.remote(&service, 0, &spec);
        again.open().is_ok()
    });
}

#[test]
fn a_slot_longer_than_requested_is_refused() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let remote = fixture.remote(&service, 0, &fixture.spec(2));
    let mut board = remote.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    let wrong = Misbehaviour::WrongMessageLen { expected: 100, actual: 101 };
    assert_eq!(board.get(slot(Kind::Hello, 0), 100), Err(wrong.into()));
    let mut board = remote.open().unwrap();
    let much = vec![0; Slot::HELLO_MAX_LEN + 1];
    assert!(matches!(board.put(slot(Kind::Hello, 0), &much), Err(Error::Bug(_))));
}

#[test]
fn an_ended_run_is_ended_for_all_and_can_be_started_again() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let spec = fixture.spec(3);
    let remotes: Vec<Remote> = (0..3).map(|party| fixture.remote(&service, party, &spec)).collect();
    let mut boards = put_hellos(&remotes);
    let ended = Refusal::Ended { party: 1 };
    // One waits, one is away, one ends it.
    let away = boards.pop();
    drop(away);
    std::thread::scope(|scope| {
        let mut board = boards.remove(0);
        let waiting = scope.spawn(move || board.get(slot(Kind::Share, 1), 100));
        std::thread::sleep(Duration::from_millis(100));
        remotes[1].end().unwrap();
        assert_eq!(refusal(waiting.join().unwrap()), ended);
    });
    // The absent party is notified once, even with nothing stored of the run; then it may start
    // again.
    let back = fixture.remote(&service, 2, &spec);
    assert_eq!(refusal(back.open()), ended);
    let anew = fixture.remote(&service, 2, &spec);
    drop(anew.open().unwrap());
    assert_ne!(anew.instance(), remotes[2].instance());
    // The instance that this party knew stays ended.
    let mut options = fixture.remote_options(&service, 2, &spec);
    options.instance = remotes[2].instance();
    // Also while another is open.
    let other = fixture.remote(&service, 0, &spec);
    let _is_open = other.open().unwrap();
    assert_ne!(other.instance(), remotes[2].instance());
    assert_eq!(refusal(Remote::new(options).open()), ended);
}

#[test]
fn a_run_that_takes_too_long_is_forgotten() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(|options| options.keep = Duration::from_secs(2));
    let spec = fixture.spec(2);
    let remote = fixture.remote(&service, 0, &spec);
    let mut board = remote.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    assert_eq!(refusal(board.get(slot(Kind::Hello, 1), 200)), Refusal::Expired);
    assert_eq!(std::fs::read_dir(fixture.state().join("runs")).unwrap().count(), 0);
}

#[test]
fn a_party_without_a_list_is_not_done_and_leaves_no_files() {
    let fixture = Fixture::new(2);
    // The longest time for which an empty run is kept.
    let service = fixture.start_with(|options| options.keep = Duration::from_secs(2));
    for agreement in 0..20 {
        let remote = fixture.remote(&service, 0, &fixture.spec_of(&[0, 1], agreement));
        assert_eq!(refusal(remote.done()), Refusal::Malformed { party: 0 });
        assert!(remote.instance().is_some(), "it was in the run");
    }
    for folder in ["runs", "gone"] {
        until("empty runs are removed", || {
            std::fs::read_dir(fixture.state().join(folder)).unwrap().count() == 0
        });
    }
}

#[test]
fn an_empty_run_leaves_no_files_behind() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(|options| {
        options.keep = Duration::from_secs(2);
        options.parties[0].max_runs = 1;
    });
    let open = |agreement| {
        let remote = fixture.remote(&service, 0, &fixture.spec_of(&[0, 1], agreement));
        // A helper on a busy machine notices a little later that the last connection has ended.
        until("the party may begin another run", || remote.open().is_ok());
        remote.instance()
    };
    // It does not keep a party from another run.
    let first = open(1);
    let second = open(2);
    assert_ne!(open(1), first, "the first has given way");
    assert_ne!(open(2), second);
    until("nothing is left", || {
        std::fs::read_dir(fixture.state().join("runs")).unwrap().count() == 0
    });
}

#[test]
fn cancelling_ends_a_get_that_waits() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let options = fixture.remote_options(&service, 0, &fixture.spec(2));
    let cancel = options.cancel.clone();
    let remote = Remote::new(options);
    let mut board = remote.open().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || board.get(slot(Kind::Hello, 1), 100));
        std::thread::sleep(Duration::from_millis(200));
        cancel.cancel();
        let error = waiting.join().unwrap().unwrap_err();
        assert_eq!(error, Error::Transport(TransportError::CancelledHere));
    });
}

/// What a party says and hears until it has the other parties' hellos takes two round trips,
/// however many they are: the opening, and everything else.
#[test]
fn slots_that_are_got_together_take_one_round_trip() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let spec = fixture.spec(3);
    let others: Vec<Remote> = (1..3).map(|party| fixture.remote(&service, party, &spec)).collect();
    for (party, remote) in (1..).zip(&others) {
        let mut board = remote.open().unwrap();
        board.put(slot(Kind::Hello, party), &hello(party)).unwrap();
        board.sync().unwrap();
    }
    let options = fixture.remote_options(&service, 0, &spec);
    let meter = options.meter.clone();
    let flights = || meter.report().into_iter().map(|row| row.flights).max().unwrap();
    let remote = Remote::new(options);
    let mut board = remote.open().unwrap();
    assert_eq!(flights(), 2);
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    let wanted = [1, 2, 0].map(|party| Wanted::new(slot(Kind::Hello, party), 101));
    let mut received = Vec::new();
    let take = &mut |number, body| {
        received.push((number, body));
        Ok(())
    };
    board.get_each(&wanted, take).unwrap();
    assert_eq!(received, [(0, hello(1)), (1, hello(2)), (2, hello(0))]);
    assert_eq!(flights(), 4);
    // The hello was stored before the others' were given.
    let mut again = fixture.remote(&service, 0, &spec).open().unwrap();
    assert_eq!(again.filled(Kind::Hello, 1).unwrap(), [true]);
}

#[test]
fn replies_that_nobody_took_are_not_taken_for_others() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let remotes: Vec<Remote> =
        (0..3).map(|party| fixture.remote(&service, party, &fixture.spec(3))).collect();
    let mut boards = put_hellos(&remotes);
    let wanted = [0, 1].map(|party| Wanted::new(slot(Kind::Hello, party), 101));
    let stops = boards[2].get_each(&wanted, &mut |_, _| Err(Error::Bug("enough")));
    assert_eq!(stops, Err(Error::Bug("enough")));
    assert_eq!(boards[2].get(slot(Kind::Hello, 2), 101).unwrap(), hello(2));
    let short = [(0, 101), (1, 100)].map(|(party, len)| Wanted::new(slot(Kind::Hello, party), len));
    let mut taken = 0;
    let longer = boards[2].get_each(&short, &mut |_, _| {
        taken += 1;
        Ok(())
    });
    let expected = Misbehaviour::WrongMessageLen { expected: 100, actual: 101 };
    assert_eq!((longer, taken), (Err(expected.into()), 1));
}
