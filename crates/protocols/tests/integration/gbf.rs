//! Oblivious Bloom intersection, beyond the laws of every protocol.

use std::sync::Arc;
use vesica_core::{
    Error, Item, Learns, ParameterError, PsiParams, Role, SessionId, StopReason, TransportError,
};
use vesica_protocols::{Output, Protocol, find};
use vesica_testkit::laws::run_psi;
use vesica_testkit::sets::{items, overlapping, plain_intersection};
use vesica_testkit::{Outcomes, Runner};

const IDS: [&str; 3] = ["gbf", "gbf_iknp", "gbf_paper"];

fn run(protocol: &Protocol, learns: Learns, x: &[Item], y: &[Item]) -> Outcomes {
    run_psi(protocol, &Runner::default(), learns, x, y)
}

fn params(n_x: u64, n_y: u64) -> PsiParams {
    PsiParams::new(SessionId::from_bytes([0; 32]), n_x, n_y, Learns::Receiver).unwrap()
}

#[test]
fn many_blocks_and_unequal_sizes_give_the_exact_intersection() {
    for id in IDS {
        let protocol = find(id).unwrap();
        for (n_x, n_y) in [(1 << 13, 1 << 13), (1 << 13, 20), (20, 1 << 13)] {
            let (x, y) = overlapping(n_x, n_y, 17);
            let run = run(protocol, Learns::Both, &x, &y);
            let expected = Output::Positions(plain_intersection(&y, &x));
            assert_eq!(run.receiver.output, Ok(expected), "{id} {n_x} {n_y}");
            let expected = Output::Positions(plain_intersection(&x, &y));
            assert_eq!(run.sender.output, Ok(expected), "{id} {n_x} {n_y}");
        }
    }
}

/// The second of two equal items finds all its slots taken, as an item does that others have
/// covered.
#[test]
fn an_item_without_a_free_slot_ends_both_sides_with_an_error() {
    for id in IDS {
        let mut x = items(0..3000);
        x[1700] = x[5];
        let run = run(find(id).unwrap(), Learns::Both, &x, &items(0..3000));
        assert_eq!(run.sender.output, Err(Error::Parameter(ParameterError::HashingFailed)), "{id}");
        // Where the stream ends first, the reason does not arrive.
        let ends = [TransportError::PeerStopped(StopReason::Internal), TransportError::Closed];
        let ended = run.receiver.output.unwrap_err();
        assert!(ends.into_iter().any(|end| ended == Error::Transport(end)), "{id}: {ended:?}");
    }
}

#[test]
fn with_the_papers_parameters_the_bytes_are_those_of_the_paper() {
    // Two strings of 128 bits for each of 1.44·k·n slots, and little else.
    let n = 1 << 20;
    let of_paper = 2.0 * 16.0 * (128.0 * std::f64::consts::LOG2_E * n as f64);
    let bytes = (find("gbf_paper").unwrap().bytes)(&params(n, n)).total() as f64;
    assert!((bytes / of_paper - 1.0).abs() < 0.02, "{}", bytes / of_paper);
}

#[test]
fn silent_transfers_send_an_eighth_of_the_papers_bytes() {
    let n = 1 << 20;
    let of = |id| (find(id).unwrap().bytes)(&params(n, n)).total();
    assert!(8 * of("gbf") > of("gbf_paper") && 7 * of("gbf") < of("gbf_paper"));
    assert!(of("gbf_iknp") < of("gbf_paper"));
}

#[test]
fn the_largest_sets_have_a_byte_count() {
    let max = u64::from(u32::MAX);
    for (n_x, n_y) in [(max, max), (1, max), (max, 1)] {
        for id in IDS {
            let params =
                PsiParams::new(SessionId::from_bytes([0; 32]), n_x, n_y, Learns::Both).unwrap();
            assert!((find(id).unwrap().bytes)(&params).total() > max, "{id}");
        }
    }
}

#[test]
fn sets_of_another_size_than_agreed_are_refused() {
    for id in IDS {
        let protocol = find(id).unwrap();
        let x = Arc::new(items(0..3));
        assert!(protocol.party(Role::Sender, params(2, 3), Arc::clone(&x)).is_err(), "{id}");
        assert!(protocol.party(Role::Receiver, params(3, 2), x).is_err(), "{id}");
    }
}
