//! The paper's table for unequal sets in `ot_phasing_paper`, beyond the laws of every protocol.

use vesica_core::{
    Error, Learns, ParameterError, PsiParams, SessionId, StopReason, TransportError,
};
use vesica_protocols::{Output, find};
use vesica_testkit::Runner;
use vesica_testkit::laws::run_psi;
use vesica_testkit::sets::{overlapping, plain_intersection};

/// A session in which 256 items do not fit, as in one of 56.
const WITHOUT_ROOM: u8 = 6;

#[test]
fn without_a_stash_unequal_sets_give_the_exact_intersection_in_the_bytes_of_the_formula() {
    let row = find("ot_phasing_paper").unwrap();
    for (n_x, n_y, learns) in [
        (1 << 14, 1 << 8, Learns::Receiver),
        (1 << 12, 1 << 8, Learns::Both),
        (16_000, 1000, Learns::Both),
    ] {
        let (x, y) = overlapping(n_x, n_y, 123);
        let run = run_psi(row, &Runner::default(), learns, &x, &y);
        let expected = Output::Positions(plain_intersection(&y, &x));
        assert_eq!(run.receiver.output, Ok(expected), "{n_x}, {n_y}");
        let params = PsiParams::new(SessionId::from_bytes([0; 32]), n_x, n_y, learns).unwrap();
        let formula = (row.bytes)(&params);
        assert_eq!(run.sender_bytes(), formula.sender_to_receiver);
        assert_eq!(run.receiver_bytes(), formula.receiver_to_sender);
        // Two masks an item, where the stash of equal sets takes fifteen.
        assert!(formula.sender_to_receiver < 2 * n_x * 10 + 50_000, "{formula:?}");
    }
}

/// The sender sees that placing failed, and has received only what the base transfers need.
#[test]
fn items_without_room_end_both_sides_before_the_receiver_sends_what_depends_on_them() {
    let row = find("ot_phasing_paper").unwrap();
    let (x, y) = overlapping(1 << 12, 1 << 8, 123);
    let runner = Runner { seed: WITHOUT_ROOM, ..Runner::default() };
    let run = run_psi(row, &runner, Learns::Receiver, &x, &y);
    assert_eq!(run.receiver.output, Err(Error::Parameter(ParameterError::HashingFailed)));
    // Where the stream ends first, the reason does not arrive.
    let ends = [TransportError::PeerStopped(StopReason::Internal), TransportError::Closed];
    let ended = run.sender.output.as_ref().unwrap_err();
    assert!(ends.into_iter().any(|end| *ended == Error::Transport(end)), "{ended:?}");
    // 256 points of 32 bytes, which no item has a part in.
    assert_eq!(run.receiver_bytes(), 256 * 32);
}
