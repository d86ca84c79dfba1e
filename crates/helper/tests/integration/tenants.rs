//! What a party notices of the runs of others: nothing.

use crate::common::{Fixture, SOON, ask_page, refusal, with_pages};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use vesica_core::{Refusal, Result};
use vesica_helper::Service;
use vesica_helper_client::Remote;
use vesica_server_aided::kmrs14::{Boards, Spec};

/// Ends of the run after which the test stops.
const ENDS: u64 = 500;

/// The test stops after this time too, on a slow machine.
const LIMIT: Duration = Duration::from_secs(40);

/// The time limits of all parties, and for the other party to connect.
const PATIENCE: Duration = Duration::from_secs(5);

struct Helper {
    fixture: Fixture,
    service: Service,
    is_over: AtomicBool,
    ends: AtomicU64,
}

impl Helper {
    fn remote(&self, party: usize, spec: &Spec) -> Remote {
        let mut options = self.fixture.remote_options(&self.service, party, spec);
        (options.link.wait, options.link.idle) = (PATIENCE, PATIENCE);
        Remote::new(options)
    }
}

#[test]
fn a_party_that_opens_and_ends_a_run_in_a_loop_keeps_no_other_from_connecting() {
    let fixture = Fixture::new(4);
    let service = fixture.start_with(|options| {
        options.parties.iter_mut().for_each(|party| party.max_runs_a_minute = 1 << 20);
    });
    let (is_over, ends) = (AtomicBool::new(false), AtomicU64::new(0));
    let helper = Arc::new(Helper { fixture, service, is_over, ends });
    let (spec, other) = (helper.fixture.spec_of(&[0, 1], 1), helper.fixture.spec_of(&[2, 3], 2));
    // Open runs of the same parties make a look at all runs longer, as on a busy helper.
    let open: Vec<_> = (10..60)
        .map(|agreement| {
            let remote = helper.remote(1, &helper.fixture.spec_of(&[0, 1], agreement));
            let board = remote.open().unwrap();
            (remote, board)
        })
        .collect();
    // On their own threads: the threads of a helper that hangs never end.
    let parties = [true, false, false, false].map(|is_ending| {
        let (helper, spec) = (Arc::clone(&helper), spec.clone());
        std::thread::spawn(move || {
            while !helper.is_over.load(Ordering::Relaxed) {
                let remote = helper.remote(0, &spec);
                // Kept: the end takes another connection, which competes with the others'
                // connections.
                let board = remote.open();
                if board.is_ok() && is_ending && remote.end().is_ok() {
                    helper.ends.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    });
    let (connected, connects) = mpsc::channel::<Result<()>>();
    let for_thread = Arc::clone(&helper);
    let bystander = std::thread::spawn(move || {
        while !for_thread.is_over.load(Ordering::Relaxed) {
            let result = for_thread.remote(2, &other).open().map(drop);
            if connected.send(result).is_err() {
                return;
            }
        }
    });
    let started = Instant::now();
    while helper.ends.load(Ordering::Relaxed) < ENDS && started.elapsed() < LIMIT {
        let result = connects.recv_timeout(PATIENCE);
        let ends = helper.ends.load(Ordering::Relaxed);
        result
            .unwrap_or_else(|_| panic!("no answer to a party of another run after {ends} ends"))
            .unwrap_or_else(|error| panic!("{error:?} for a party of another run, {ends} ends"));
    }
    helper.is_over.store(true, Ordering::Relaxed);
    drop(connects);
    parties.into_iter().chain([bystander]).for_each(|thread| thread.join().unwrap());
    drop(open);
    assert!(helper.ends.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_party_that_begins_and_ends_runs_too_often_waits_and_others_do_not() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(|options| {
        options.parties[0].max_runs_a_minute = 30;
        with_pages(options);
    });
    let spec = fixture.spec(2);
    let remote = |party: usize, wait| {
        let mut options = fixture.remote_options(&service, party, &spec);
        options.link.wait = wait;
        Remote::new(options)
    };
    let impatient = |party| remote(party, Duration::from_millis(100));
    let mut changes = 0;
    let refused = loop {
        let remote = impatient(0);
        let step = remote.open().map(drop).inspect(|()| changes += 1).and_then(|()| remote.end());
        match step {
            Ok(()) => changes += 1,
            step => break refusal(step),
        }
        assert!(changes < 100);
    };
    assert_eq!(refused, Refusal::TooOften);
    // What a minute allows comes back evenly.
    assert!((30..45).contains(&changes), "{changes}");
    let metrics = ask_page(&service, b"GET /metrics HTTP/1.1\r\n\r\n");
    assert!(metrics.contains("refusals_total{reason=\"too_often\"}"), "{metrics}");
    (0..20).for_each(|_| {
        let remote = impatient(1);
        drop(remote.open().unwrap());
        remote.end().unwrap();
    });
    // Connecting to a run that is there is no change, and a patient party begins one in time.
    let patient = remote(0, SOON);
    drop(patient.open().unwrap());
    for _ in 0..5 {
        drop(impatient(0).open().unwrap());
    }
}
