//! Many runs at once on one port.

use crate::aided::{Faulty, run_all};
use crate::common::{Fixture, MAX_ROWS};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use vesica_helper::{Service, StartError};

#[test]
fn fifty_runs_of_ten_parties_at_once_all_get_answers() {
    let fixture = Fixture::new(10);
    let service = fixture.start();
    std::thread::scope(|scope| {
        for run in 0..50 {
            let (fixture, service) = (&fixture, &service);
            scope.spawn(move || {
                let parties = [run % 10, (run + 1 + run / 10) % 10, (run + 6 + run / 20) % 10];
                let mut parties = parties.to_vec();
                parties.sort_unstable();
                parties.dedup();
                let spec = fixture.spec_of(&parties, run as u8);
                run_all(fixture, service, &spec, &parties, MAX_ROWS);
            });
        }
    });
    assert_eq!(std::fs::read_dir(fixture.state().join("runs")).unwrap().count(), 0);
    assert!(service.shutdown(Duration::from_secs(5)));
}

#[test]
fn a_party_with_many_slow_runs_does_not_delay_others() {
    let fixture = Fixture::new(4);
    let slow = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&slow);
    let service = fixture.start_with(|options| {
        let backend = std::mem::replace(&mut options.backend, fixture.options().backend);
        options.backend = Faulty::boxed(backend, move |_| {
            // Every comparison is slow.
            if count.fetch_add(1, Ordering::AcqRel) > 0 {
                std::thread::sleep(Duration::from_millis(300));
            }
            None
        });
    });
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (fixture, service) = (&fixture, &service);
        let busy: Vec<_> = (0..12)
            .map(|run| {
                scope.spawn(move || {
                    run_all(fixture, service, &fixture.spec_of(&[0, 1], run), &[0, 1], MAX_ROWS);
                    started.elapsed()
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        let before = started.elapsed();
        run_all(fixture, service, &fixture.spec_of(&[2, 3], 99), &[2, 3], MAX_ROWS);
        let took = started.elapsed() - before;
        let last = busy.into_iter().map(|run| run.join().unwrap()).max().unwrap();
        assert!(took < last * 2 / 3, "{took:?} of {last:?}");
        // Counted for the party that started them; each of the two has one worker at most.
        assert!(last > Duration::from_millis(1800), "{last:?}");
    });
}

#[test]
fn a_duplicate_party_in_the_settings_is_refused() {
    let fixture = Fixture::new(2);
    for same_name in [false, true] {
        let mut options = fixture.options();
        if same_name {
            options.parties[1].name = options.parties[0].name.clone();
        } else {
            options.parties[1].identity = options.parties[0].identity;
        }
        assert!(matches!(Service::start(options), Err(StartError::SameParty { .. })));
    }
}
