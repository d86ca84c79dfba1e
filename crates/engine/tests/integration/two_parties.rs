//! Two parties over real TLS on loopback, each with its own files, in one process.

use crate::support::{Pair, TERMS, Terms, no_leftovers, run, small_files};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};
use vesica_engine::{Error, Incompatible, InputFault, Report, Silent, TransportFault};
use vesica_link::{CancelToken, Endpoint};

#[test]
fn the_receiver_gets_exactly_its_matching_rows() {
    let pair = Pair::new();
    small_files(&pair);
    let [one, two] = pair.run(&TERMS, &TERMS);
    let (one, two) = (one.unwrap(), two.unwrap());
    let written = fs::read_to_string(pair.path("one.out.csv")).unwrap();
    assert_eq!(written, "id,email\n1,ann@example.com\n2, Bob@Example.com \n5,BOB@example.com\n");
    assert!(!pair.path("two.out.csv").exists());

    assert_eq!(one.agreement.hash, two.agreement.hash);
    assert_eq!((one.input.rows, one.input.empty, one.input.duplicates), (5, 1, 1));
    assert_eq!(one.result.matched_keys, Some(2));
    assert_eq!(one.result.rows_written, Some(3));
    assert!(!two.result.learned && two.result.matched_keys.is_none());
    assert_eq!((one.parties[0].keys, one.parties[1].keys), (3, 3));
    assert_eq!(one.network.payload_sent, two.network.payload_received);
    assert_eq!(one.network.payload_received, two.network.payload_sent);
}

#[test]
fn both_learn_when_the_agreement_says_so() {
    let pair = Pair::new();
    small_files(&pair);
    let terms = Terms { receives: "all", ..TERMS };
    let [one, two] = pair.run(&terms, &terms);
    assert_eq!(one.unwrap().result.matched_keys, Some(2));
    assert_eq!(two.unwrap().result.matched_keys, Some(2));
    let written = fs::read_to_string(pair.path("two.out.csv")).unwrap();
    assert_eq!(written, "id,email\na,bob@example.com\nc,ann@EXAMPLE.com\n");
}

#[test]
fn a_malicious_protocol_has_no_self_check_items_that_one_side_alone_knows() {
    for (receives, hide_sizes) in [("one", false), ("all", false), ("all", true)] {
        let terms = |protocol| Terms { protocol, receives, hide_sizes, max_rows: 40, ..TERMS };
        for (protocol, added) in [("rr22_malicious", 16), ("rr22", 32)] {
            let pair = Pair::new();
            small_files(&pair);
            let reports = pair.run(&terms(protocol), &terms(protocol)).map(Result::unwrap);
            for report in &reports {
                assert_eq!(report.sizes.self_check_items, added, "{protocol}");
                assert_eq!(report.result.matched_keys.unwrap_or(2), 2, "{protocol}");
            }
            assert_eq!(reports[0].result.matched_keys, Some(2));
        }
    }
}

#[test]
fn hidden_sizes_show_only_the_agreed_maximum() {
    let pair = Pair::new();
    small_files(&pair);
    let terms = Terms { hide_sizes: true, ..TERMS };
    let [one, two] = pair.run(&terms, &terms);
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((two.parties[1].keys, two.parties[0].keys), (1000, 1000));
    assert_eq!(one.result.matched_keys, Some(2));
}

#[test]
fn different_agreements_are_shown_on_both_sides_before_data_moves() {
    let pair = Pair::new();
    small_files(&pair);
    let other = Terms { title: "another", receives: "two", ..TERMS };
    let [one, two] = pair.run(&TERMS, &other);
    for (result, here, there) in [(one, "test", "another"), (two, "another", "test")] {
        let Err(Error::PeerIncompatible(Incompatible::Agreement(differences))) = result else {
            panic!("{result:?}");
        };
        assert_eq!(differences.len(), 2, "{differences:?}");
        let title = differences.iter().find(|one| one.field.contains("title")).unwrap();
        assert!(title.here.as_ref().unwrap().contains(here), "{title:?}");
        assert!(title.there.as_ref().unwrap().contains(there), "{title:?}");
    }
    no_leftovers(&pair);
}

#[test]
fn a_set_below_the_minimum_ends_both_sides() {
    let pair = Pair::new();
    small_files(&pair);
    let terms = Terms { min_rows: 4, ..TERMS };
    let start = Instant::now();
    let [one, two] = pair.run(&terms, &terms);
    assert!(matches!(one, Err(Error::Input(InputFault::TooFewKeys { distinct: 3, min: 4 }))));
    assert_peer_stopped(&two, StopReason::Input);
    // A side that fails before the other has connected leaves it waiting for its own limit.
    assert!(start.elapsed() < Duration::from_secs(20));
    no_leftovers(&pair);
}

#[test]
fn a_file_with_too_many_rows_ends_both_sides() {
    let pair = Pair::new();
    small_files(&pair);
    let terms = Terms { max_rows: 4, ..TERMS };
    let [one, two] = pair.run(&terms, &terms);
    assert!(matches!(one, Err(Error::Input(InputFault::Data(_)))), "{one:?}");
    assert_peer_stopped(&two, StopReason::Input);
    no_leftovers(&pair);
}

#[test]
fn a_result_that_cannot_be_written_is_refused_before_the_peer_is_met() {
    let pair = Pair::new();
    small_files(&pair);
    fs::write(pair.path("one.out.csv"), "precious").unwrap();
    let job = pair.job(0, &TERMS, Endpoint::Listen("127.0.0.1:0".into()));
    let error = run(job, Arc::new(Silent), &CancelToken::new()).unwrap_err();
    assert!(matches!(error, Error::Input(InputFault::Output(_))), "{error:?}");
    assert_eq!(fs::read_to_string(pair.path("one.out.csv")).unwrap(), "precious");
}

#[test]
fn a_cancelled_wait_ends_at_once() {
    let pair = Pair::new();
    small_files(&pair);
    let cancel = CancelToken::new();
    let start = Instant::now();
    let result = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let job = pair.job(0, &TERMS, Endpoint::Listen("127.0.0.1:0".into()));
            run(job, Arc::new(Silent), &cancel)
        });
        std::thread::sleep(Duration::from_millis(300));
        cancel.cancel();
        waiting.join().unwrap()
    });
    assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

fn assert_peer_stopped(result: &Result<Report, Error>, reason: StopReason) {
    let Err(Error::Transport { kind: TransportFault::Stream(kind), .. }) = result else {
        // If one side fails before the other has connected, the other finds no peer.
        let nobody = matches!(result, Err(Error::Transport { kind: TransportFault::Link(_), .. }));
        assert!(nobody, "{result:?}");
        return;
    };
    assert_eq!(*kind, TransportError::PeerStopped(reason));
}
