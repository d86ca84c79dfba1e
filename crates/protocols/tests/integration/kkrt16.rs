//! KKRT16 at sizes where bins, parts and steps have edges.

use vesica_core::{Learns, PsiParams, SessionId};
use vesica_protocols::{Output, find};
use vesica_testkit::Runner;
use vesica_testkit::laws::run_psi;
use vesica_testkit::sets::{overlapping, plain_intersection};

#[test]
fn unequal_and_large_sets_give_the_exact_intersection_on_any_number_of_threads() {
    let protocol = find("kkrt16").unwrap();
    // 200,000 items take more bins than are walked over in one step.
    let sizes = [(1 << 16, 1 << 16, 1 << 15), (300, 200_000, 150), (200_000, 300, 299)];
    for (i, (n_x, n_y, common)) in sizes.into_iter().enumerate() {
        let (x, y) = overlapping(n_x, n_y, common);
        for (threads, learns) in [(1, Learns::Both), (3, Learns::Receiver)] {
            let runner = Runner { threads, seed: i as u8, ..Runner::default() };
            let run = run_psi(protocol, &runner, learns, &x, &y);
            let expected = Output::Positions(plain_intersection(&y, &x));
            assert!(run.receiver.output == Ok(expected), "{n_x} against {n_y}");
            let expected = match learns {
                Learns::Receiver => Output::Nothing,
                Learns::Both => Output::Positions(plain_intersection(&x, &y)),
            };
            assert!(run.sender.output == Ok(expected), "{n_x} against {n_y}");
        }
    }
}

#[test]
fn bytes_and_seconds_are_known_for_every_size() {
    let protocol = find("kkrt16").unwrap();
    let sizes = [0, 1, 1 << 20, (1 << 32) / 3, u64::from(u32::MAX)];
    for n_x in sizes {
        for n_y in sizes {
            let session = SessionId::from_bytes([0; 32]);
            let params = PsiParams::new(session, n_x, n_y, Learns::Both).unwrap();
            let total = (protocol.bytes)(&params).total();
            assert_eq!(total == 0, n_x == 0 || n_y == 0, "{n_x} against {n_y}");
            assert!((protocol.seconds)(&params) > 0.0);
        }
    }
}
