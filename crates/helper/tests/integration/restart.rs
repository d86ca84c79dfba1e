//! Helpers that are restarted, shut down or damaged, or whose backend fails during a run.

use crate::aided::{Faulty, is_right, run_all, run_party};
use crate::common::{
    Fixture, MAX_ROWS, SOON, ask_page, exchange_slots, hello, put_hellos, refusal, slot, until,
    with_pages,
};
use std::fs;
use std::io::{self, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vesica_core::{Error, Refusal};
use vesica_helper::{Keeping, Service, ServiceOptions, StartError, StoreError};
use vesica_helper_client::{Remote, RemoteEvent, RemoteOptions};
use vesica_label_joins::BackendError;
use vesica_server_aided::kmrs14::{Boards, Kind, Slot, Spec, Variant};

/// The same helper again, on the same port and directory.
fn again(fixture: &Fixture, before: &str, change: impl FnOnce(&mut ServiceOptions)) -> Service {
    fixture.start_with(|options| {
        options.listen = before.to_owned();
        change(options);
    })
}

fn address(service: &Service) -> String {
    service.addresses()[0].to_string()
}

/// Files of the only run.
fn files(fixture: &Fixture) -> Vec<std::path::PathBuf> {
    let runs: Vec<_> = fs::read_dir(fixture.state().join("runs")).unwrap().collect();
    assert_eq!(runs.len(), 1);
    let files = fs::read_dir(runs[0].as_ref().unwrap().path()).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

fn file_of(fixture: &Fixture, slot: Slot) -> std::path::PathBuf {
    let name = format!("{:02x}-{:02x}-{:08x}", slot.kind as u8, slot.party, slot.part);
    let found = files(fixture).into_iter().find(|file| file.ends_with(&name));
    found.unwrap_or_else(|| panic!("no file {name}"))
}

#[test]
fn a_restart_in_the_middle_is_survived_by_parties_that_wait() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let place = address(&service);
    let (first, events) = fixture.recording_remote(&service, 0, &spec);
    let second = fixture.remote(&service, 1, &spec);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| exchange_slots(&first, 0, 2));
        until("the first waits", || {
            let events = events.lock().unwrap();
            events.contains(&RemoteEvent::Waiting { parties: vec![1] })
        });
        drop(service);
        std::thread::sleep(Duration::from_millis(500));
        let _service = again(&fixture, &place, |_| ());
        let received = exchange_slots(&second, 1, 2).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), received);
        let events = events.lock().unwrap();
        assert!(events.contains(&RemoteEvent::Resumed));
        assert!(events.iter().any(|event| matches!(event, RemoteEvent::Reconnecting { .. })));
    });
}

#[test]
fn a_repeatedly_restarted_helper_gives_the_right_answer() {
    for (variant, parties) in
        [(Variant::SemiHonest, 3), (Variant::Fair, 2), (Variant::SizeHiding, 2)]
    {
        let fixture = Fixture::new(parties);
        let mut service = Some(fixture.start());
        let place = address(service.as_ref().unwrap());
        let mut spec = fixture.spec(parties);
        let rows = 300_000;
        spec.variant = variant;
        spec.parties.iter_mut().for_each(|party| party.max_rows = rows);
        let remotes: Vec<Remote> = (0..parties)
            .map(|party| fixture.remote(service.as_ref().unwrap(), party, &spec))
            .collect();
        let finished = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for (party, remote) in remotes.iter().enumerate() {
                let (spec, finished) = (&spec, &finished);
                scope.spawn(move || {
                    let matched = run_party(remote, spec, party, rows).unwrap();
                    assert!(is_right(&matched, rows), "{variant:?} {party}");
                    finished.fetch_add(1, Ordering::AcqRel);
                });
            }
            // At different moments.
            let started = Instant::now();
            let mut pause = 30;
            let mut restarts = 0;
            while finished.load(Ordering::Acquire) < parties && started.elapsed() < 3 * SOON {
                std::thread::sleep(Duration::from_millis(pause));
                pause += pause / 2;
                drop(service.take());
                service = Some(again(&fixture, &place, |_| ()));
                restarts += 1;
            }
            assert!(restarts > 1, "{variant:?} finished before a restart");
        });
    }
}

#[test]
fn a_run_is_stored_when_its_first_party_is_accepted() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let place = address(&service);
    let remote = fixture.remote(&service, 0, &fixture.spec(2));
    let mut board = remote.open().unwrap();
    let instance = remote.instance();
    // As if the helper were killed now.
    assert!(files(&fixture).iter().any(|file| file.ends_with("run")));
    assert!(service.shutdown(Duration::from_secs(5)));
    let service = again(&fixture, &place, |_| ());
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    drop(board);
    let anew = fixture.remote(&service, 0, &fixture.spec(2));
    assert_eq!(anew.open().unwrap().filled(Kind::Hello, 1).unwrap(), [true]);
    assert_eq!(anew.instance(), instance);
}

#[test]
fn parties_learn_who_ended_a_run_after_a_restart_too() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let spec = fixture.spec(3);
    let remotes = [0, 1, 2].map(|party| fixture.remote(&service, party, &spec));
    drop(put_hellos(&remotes));
    let instance = remotes[0].instance();
    assert!(instance.is_some());
    remotes[1].end().unwrap();
    drop(remotes);
    assert!(service.shutdown(Duration::from_secs(5)));
    let service = fixture.start();
    // One knows its run, the other has stored nothing; each is notified once.
    let ended = Refusal::Ended { party: 1 };
    let mut options = fixture.remote_options(&service, 0, &spec);
    options.instance = instance;
    assert_eq!(refusal(Remote::new(options).open()), ended);
    assert_eq!(refusal(fixture.remote(&service, 2, &spec).open()), ended);
    assert!(service.shutdown(Duration::from_secs(5)));
    let service = fixture.start();
    drop(fixture.remote(&service, 2, &spec).open().unwrap());
    // It is forgotten as the run itself would have been.
    assert!(service.shutdown(Duration::from_secs(5)));
    let _service = fixture.start_with(|options| options.keep = Duration::from_millis(1));
    until("it is forgotten", || fs::read_dir(fixture.state().join("ended")).unwrap().count() == 0);
}

/// A run whose first party has put its hello, at a service that has ended; and where that was.
fn started(fixture: &Fixture, spec: &Spec) -> (Remote, String) {
    let service = fixture.start();
    let place = address(&service);
    let remote = fixture.remote(&service, 0, spec);
    let mut board = remote.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    (remote, place)
}

#[test]
fn a_damaged_slot_counts_as_empty_and_is_put_again() {
    let fixture = Fixture::new(2);
    let (remote, place) = started(&fixture, &fixture.spec(2));
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| bytes[5] ^= 1,
        |bytes| bytes.clear(),
        |bytes| bytes.push(0),
    ];
    for damage in damages {
        let file = file_of(&fixture, slot(Kind::Hello, 0));
        let mut bytes = fs::read(&file).unwrap();
        damage(&mut bytes);
        fs::write(&file, bytes).unwrap();
        let service = again(&fixture, &place, |_| ());
        let mut board = remote.open().unwrap();
        assert_eq!(board.filled(Kind::Hello, 1).unwrap(), [false]);
        board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
        board.sync().unwrap();
        drop((board, service));
    }
    let _service = again(&fixture, &place, |_| ());
    assert_eq!(remote.open().unwrap().filled(Kind::Hello, 1).unwrap(), [true]);
}

#[test]
fn what_was_computed_from_a_damaged_slot_is_computed_again() {
    for damaged in [Kind::Labels, Kind::Answer, Kind::Size, Kind::Hello] {
        let fixture = Fixture::new(2);
        let service = fixture.start();
        let spec = fixture.spec(2);
        let place = address(&service);
        let remotes = [0, 1].map(|party| fixture.remote(&service, party, &spec));
        let all = || {
            std::thread::scope(|scope| {
                let runs = remotes.each_ref().map(|remote| {
                    let (spec, party) = (&spec, usize::from(std::ptr::eq(remote, &remotes[1])));
                    scope.spawn(move || run_party(remote, spec, party, MAX_ROWS).unwrap())
                });
                let found = runs.map(|run| run.join().unwrap());
                assert!(found.iter().all(|matched| is_right(matched, MAX_ROWS)));
                found
            })
        };
        let before = all();
        drop(service);
        let file = file_of(&fixture, slot(damaged, 0));
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 16;
        fs::write(&file, bytes).unwrap();
        let _service = again(&fixture, &place, |_| ());
        assert_eq!(all(), before, "{damaged:?}");
    }
}

#[test]
fn a_damaged_slot_of_one_party_does_not_deny_the_other_its_answer() {
    let kinds = [Kind::Labels, Kind::Opened, Kind::OuterSecret, Kind::Kept, Kind::Answer];
    for (damaged, party) in kinds.map(|kind| (kind, 0)).into_iter().chain([
        (Kind::Kept, 1),
        (Kind::Answer, 1),
        (Kind::Opening, 1),
        (Kind::Commitment, 1),
    ]) {
        let fixture = Fixture::new(2);
        let service = fixture.start();
        let mut spec = fixture.spec(2);
        (spec.variant, spec.copies, spec.dummies) = (Variant::Fair, 4, 200);
        let place = address(&service);
        let remotes = [0, 1].map(|party| fixture.remote(&service, party, &spec));
        let instance = std::thread::scope(|scope| {
            let runs = [0, 1].map(|party| {
                let (remote, spec) = (&remotes[party], &spec);
                scope.spawn(move || run_party(remote, spec, party, MAX_ROWS).unwrap())
            });
            runs.into_iter().for_each(|run| drop(run.join().unwrap()));
            remotes[1].instance()
        });
        // One has its answer and is gone. The other starts again, and has not stored its own.
        drop((remotes, service));
        let file = file_of(&fixture, slot(damaged, party));
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let service = again(&fixture, &place, |_| ());
        let mut options = fixture.remote_options(&service, 1, &spec);
        (options.instance, options.link.idle) = (instance, 3 * SOON);
        let remote = Remote::new(options);
        assert_eq!(refusal(remote.end()), Refusal::TooLate, "{damaged:?}");
        let matched = run_party(&remote, &spec, 1, MAX_ROWS).unwrap();
        assert!(is_right(&matched, MAX_ROWS), "{damaged:?} of {party}");
        remote.done().unwrap();
    }
}

#[test]
fn others_are_served_while_the_files_of_a_run_are_checked() {
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let place = address(&service);
    let mut board = fixture.remote(&service, 0, &spec).open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    let mut other = fixture.remote(&service, 1, &spec).open().unwrap();
    other.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
    other.sync().unwrap();
    board.put(slot(Kind::Share, 0), b"share").unwrap();
    board.sync().unwrap();
    drop((board, other, service));
    // A file that takes as long to read as this test wants. Hellos are read at the start already.
    let file = file_of(&fixture, slot(Kind::Share, 0));
    let aside = fixture.state().join("aside");
    fs::rename(&file, &aside).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    let service = again(&fixture, &place, with_pages);
    std::thread::scope(|scope| {
        let comes = scope.spawn(|| {
            let remote = fixture.remote(&service, 0, &spec);
            remote.open().unwrap().filled(Kind::Share, 1).unwrap()
        });
        // A reader exists once this returns.
        let mut being_read = fs::File::options().write(true).open(&file).unwrap();
        // Long enough that the party waits, at any step.
        std::thread::sleep(Duration::from_millis(300));
        let health = || ask_page(&service, b"GET /healthz HTTP/1.1\r\n\r\n");
        assert!(health().ends_with("ok\n"));
        run_all(&fixture, &service, &fixture.spec_of(&[1, 2], 3), &[1, 2], MAX_ROWS);
        run_all(&fixture, &service, &fixture.spec_of(&[0, 1], 4), &[0, 1], MAX_ROWS);
        assert!(health().ends_with("ok\n"));
        assert!(!comes.is_finished());
        let bytes = fs::read(&aside).unwrap();
        fs::rename(&aside, &file).unwrap();
        being_read.write_all(&bytes).unwrap();
        drop(being_read);
        assert_eq!(comes.join().unwrap(), [true]);
    });
}

#[test]
fn an_empty_run_is_kept_for_the_accepted_party() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let place = address(&service);
    let remote = fixture.remote(&service, 0, &spec);
    drop(remote.open().unwrap());
    let instance = remote.instance();
    assert!(instance.is_some());
    drop(remote);
    // The connection was lost, or the party was killed, before its hello.
    let again_at = |service: &Service| {
        let options = fixture.remote_options(service, 0, &spec);
        let back = Remote::new(RemoteOptions { instance, ..options });
        assert_eq!(back.open().unwrap().filled(Kind::Hello, 1).unwrap(), [false]);
    };
    again_at(&service);
    again_at(&service);
    drop(service);
    again_at(&again(&fixture, &place, |_| ()));
}

#[test]
fn unreadable_remains_of_a_run_are_removed() {
    let fixture = Fixture::new(2);
    let spec = fixture.spec(2);
    let (remote, place) = started(&fixture, &spec);
    let run = files(&fixture).into_iter().find(|file| file.ends_with("run")).unwrap();
    fs::write(&run, b"something else").unwrap();
    fs::create_dir(fixture.state().join("runs/no-run")).unwrap();
    let service = again(&fixture, &place, |_| ());
    assert_eq!(fs::read_dir(fixture.state().join("runs")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(fixture.state().join("gone")).unwrap().count(), 0);
    // Its party is notified, and does not wait for others that start again.
    assert_eq!(refusal(remote.open()), Refusal::Expired);
    let anew = fixture.remote(&service, 0, &spec);
    assert_eq!(anew.open().unwrap().filled(Kind::Hello, 1).unwrap(), [false]);
}

#[test]
fn runs_in_memory_end_with_the_service_and_their_parties_are_notified() {
    for limit_bytes in [1 << 20, 150] {
        let fixture = Fixture::new(2);
        let in_memory = |options: &mut ServiceOptions| {
            options.keeping = Keeping::Memory { limit_bytes };
        };
        let service = fixture.start_with(in_memory);
        let spec = fixture.spec(2);
        let place = address(&service);
        run_all(&fixture, &service, &fixture.spec_of(&[0, 1], 3), &[0, 1], MAX_ROWS);
        let remote = fixture.remote(&service, 0, &spec);
        let mut board = remote.open().unwrap();
        board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
        board.sync().unwrap();
        assert_eq!(board.get(slot(Kind::Hello, 0), 200).unwrap(), hello(0));
        drop(service);
        let _service = again(&fixture, &place, in_memory);
        assert_eq!(refusal(board.get(slot(Kind::Hello, 0), 200)), Refusal::Expired);
        assert_eq!(fs::read_dir(fixture.state().join("runs")).unwrap().count(), 0);
    }
}

#[test]
fn a_shutdown_notifies_waiting_parties_and_they_return() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let place = address(&service);
    let (first, events) = fixture.recording_remote(&service, 0, &spec);
    let idle = fixture.remote(&service, 1, &spec).open().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| exchange_slots(&first, 0, 2));
        until("the first waits", || {
            let events = events.lock().unwrap();
            events.iter().any(|event| matches!(event, RemoteEvent::Waiting { .. }))
        });
        let started = Instant::now();
        assert!(service.shutdown(Duration::from_secs(5)));
        assert!(started.elapsed() < Duration::from_secs(4));
        until("the first is notified", || {
            let expected = Error::Refused(Refusal::ShuttingDown);
            let events = events.lock().unwrap();
            events.iter().any(|event| {
                matches!(event, RemoteEvent::Reconnecting { error, .. } if *error == expected)
            })
        });
        drop(idle);
        let service = again(&fixture, &place, |_| ());
        let second = fixture.remote(&service, 1, &spec);
        let received = exchange_slots(&second, 1, 2).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), received);
    });
}

#[test]
fn a_helper_that_stays_unreachable_is_an_error_in_the_end() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let mut options = fixture.remote_options(&service, 0, &fixture.spec(2));
    options.link.wait = Duration::from_secs(1);
    let remote = Remote::new(options);
    let mut board = remote.open().unwrap();
    drop(service);
    let started = Instant::now();
    assert!(matches!(board.get(slot(Kind::Hello, 0), 200), Err(Error::Transport(_))));
    assert!(started.elapsed() < Duration::from_secs(8));
    assert!(remote.link_error().is_some());
}

#[test]
fn each_outage_may_last_the_whole_wait_of_a_party() {
    let fixture = Fixture::new(2);
    let mut service = fixture.start();
    let place = address(&service);
    let events: Arc<Mutex<Vec<RemoteEvent>>> = Arc::default();
    let recorded = Arc::clone(&events);
    let mut options = fixture.remote_options(&service, 0, &fixture.spec(2));
    let wait = Duration::from_secs(4);
    options.link.wait = wait;
    options.on_event = Arc::new(move |event| recorded.lock().unwrap().push(event));
    let first = Remote::new(options);
    let waits = || {
        let waits = RemoteEvent::Waiting { parties: vec![1] };
        events.lock().unwrap().iter().filter(|event| **event == waits).count()
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| exchange_slots(&first, 0, 2));
        let started = Instant::now();
        for outage in 1.. {
            until("the first waits", || waits() >= outage);
            if started.elapsed() > wait + Duration::from_secs(1) {
                break;
            }
            drop(service);
            std::thread::sleep(Duration::from_secs(1));
            service = again(&fixture, &place, |_| ());
        }
        let received =
            exchange_slots(&fixture.remote(&service, 1, &fixture.spec(2)), 1, 2).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), received);
    });
}

#[test]
fn two_services_never_share_a_directory() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let in_use = StoreError::InUse { path: fixture.state().to_path_buf() };
    match Service::start(fixture.options()) {
        Err(StartError::Store(error)) => assert_eq!(error, in_use),
        other => panic!("{other:?}"),
    }
    drop(service);
    drop(fixture.start());
}

#[test]
fn a_computation_stopped_by_a_shutdown_is_done_by_the_next_service() {
    let fixture = Fixture::new(2);
    let computing = Arc::new(AtomicBool::new(false));
    let started = Arc::clone(&computing);
    let service = fixture.start_with(|options| {
        let backend = std::mem::replace(&mut options.backend, fixture.options().backend);
        let first = AtomicBool::new(true);
        options.backend = Faulty::boxed(backend, move |stop| {
            // The check at the start is not a comparison.
            if first.swap(false, Ordering::AcqRel) {
                return None;
            }
            started.store(true, Ordering::Release);
            while !stop() {
                std::thread::sleep(Duration::from_millis(2));
            }
            None
        });
    });
    let spec = fixture.spec(2);
    let place = address(&service);
    let remotes = [0, 1].map(|party| fixture.remote(&service, party, &spec));
    std::thread::scope(|scope| {
        let runs = [0, 1].map(|party| {
            let (remote, spec) = (&remotes[party], &spec);
            scope.spawn(move || run_party(remote, spec, party, MAX_ROWS).unwrap())
        });
        until("it computes", || computing.load(Ordering::Acquire));
        assert!(service.shutdown(Duration::from_secs(5)), "the computation was stopped");
        let _service = again(&fixture, &place, |_| ());
        let found = runs.map(|run| run.join().unwrap());
        assert!(found.iter().all(|matched| is_right(matched, MAX_ROWS)));
    });
}

#[test]
fn a_temporary_backend_failure_only_delays_the_answer() {
    let fixture = Fixture::new(2);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let service = fixture.start_with(|options| {
        let backend = std::mem::replace(&mut options.backend, fixture.options().backend);
        options.backend = Faulty::boxed(backend, move |_| {
            let number = count.fetch_add(1, Ordering::AcqRel);
            let gone = BackendError::Unreachable(io::ErrorKind::ConnectionRefused);
            (1..4).contains(&number).then_some(gone)
        });
    });
    run_all(&fixture, &service, &fixture.spec(2), &[0, 1], MAX_ROWS);
    assert!(asked.load(Ordering::Acquire) >= 5);
}

#[test]
fn a_panic_in_a_step_ends_only_its_run() {
    let fixture = Fixture::new(2);
    let asked = AtomicUsize::new(0);
    let service = fixture.start_with(|options| {
        let backend = std::mem::replace(&mut options.backend, fixture.options().backend);
        options.backend = Faulty::boxed(backend, move |_| {
            assert!(asked.fetch_add(1, Ordering::AcqRel) != 1, "a panic on purpose");
            None
        });
    });
    let spec = fixture.spec(2);
    std::thread::scope(|scope| {
        for party in 0..2 {
            let remote = fixture.remote(&service, party, &spec);
            let spec = &spec;
            scope.spawn(move || {
                let ended = run_party(&remote, spec, party, MAX_ROWS);
                assert_eq!(refusal(ended), Refusal::Broken);
            });
        }
    });
    // A notified party may start again, with the same agreement.
    run_all(&fixture, &service, &spec, &[0, 1], MAX_ROWS);
    run_all(&fixture, &service, &fixture.spec_of(&[0, 1], 4), &[0, 1], MAX_ROWS);
}

#[test]
fn a_malformed_list_ends_the_run_and_names_its_party() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    std::thread::scope(|scope| {
        let honest = fixture.remote(&service, 0, &spec);
        let waiting = scope.spawn(|| {
            let honest = honest;
            run_party(&honest, &spec, 0, MAX_ROWS)
        });
        let remote = fixture.remote(&service, 1, &spec);
        let mut board = remote.open().unwrap();
        board.put(slot(Kind::Hello, 1), &[spec.largest_scale(1) as u8; 50]).unwrap();
        board.get(slot(Kind::Hello, 0), 50).unwrap();
        // Labels that are all equal.
        let format = spec.formats(&[spec.largest_scale(0), spec.largest_scale(1)]).unwrap()[1];
        let mut body = vec![0; format.segment_bytes(40) as usize];
        (body[0], body[4]) = (40, 40);
        board.put(slot(Kind::Labels, 1), &body).unwrap();
        board.put(slot(Kind::Size, 1), &40_u64.to_le_bytes()).unwrap();
        let malformed = Refusal::Malformed { party: 1 };
        // The other list may already have arrived, and the run may have ended before the reply.
        assert!(matches!(board.sync(), Ok(()) | Err(Error::Refused(Refusal::Malformed { .. }))));
        assert_eq!(refusal(waiting.join().unwrap()), malformed);
        assert_eq!(refusal(board.get(slot(Kind::Answer, 1), 10)), malformed);
    });
}
