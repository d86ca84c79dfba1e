//! Protocols that evaluate circuits: what their circuits cost, and peers that do not follow.

use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{
    Error, Item, Learns, ParameterError, PsiParams, Query, Role, SemiHonest, SessionId,
};
use vesica_ot::silent::cot;
use vesica_protocols::{Output, Protocol, catalogue, find};
use vesica_testkit::sets::integers;
use vesica_testkit::{Outcomes, Runner};

fn params(n: u64, bits: u32, learns: Learns) -> PsiParams {
    PsiParams::new(SessionId::from_bytes([1; 32]), n, n, learns)
        .and_then(|params| params.with_item_bits(bits))
        .unwrap()
}

fn traffic(id: &str, n: u64, bits: u32) -> u64 {
    (find(id).unwrap().bytes)(&params(n, bits, Learns::Receiver)).sender_to_receiver
}

#[test]
fn garbled_scs_sends_the_gates_of_the_papers_formulas() {
    for (log, sigma) in [(8, 32), (10, 32), (12, 32), (16, 32), (10, 24)] {
        let (n, sigma_wide) = (1_u64 << log, u64::from(sigma));
        let merge = 2 * sigma_wide * n * (log + 1);
        let filter = (3 * n - 1) * sigma_wide - n;
        let shuffle = sigma_wide * (n * log - n + 1);
        let circuit = 32 * (merge + filter) + 16 * shuffle;
        let sent = traffic("scs_wn", n, sigma);
        // In addition to gates: two seeds, the transfers for the receiver's inputs, and the colours
        // of the result.
        let transfers = cot::bytes::<SemiHonest>((sigma_wide * n) as usize).sender_to_receiver;
        assert_eq!(sent - circuit, 32 + transfers + sigma_wide * n / 8, "2^{log}");
        let sort = 2 * sigma_wide * ((log * log - log + 4) * n / 4 - 1);
        let of_sort = traffic("scs_sort", n, sigma) - (sent - 16 * shuffle);
        assert_eq!(of_sort, 32 * sort, "2^{log}");
    }
}

#[test]
fn garbled_pairwise_comparison_sends_the_gates_of_the_papers_formula() {
    let of = |n| traffic("pwc", n, 32) as i64;
    // Inputs and results of 128 and 256 items differ little; gates four times.
    let gates = |n: i64| 32 * 31 * n * n;
    let besides = |n: i64| of(n as u64) - gates(n);
    assert!((besides(256) - besides(128)).abs() < 200_000);
}

fn run(protocol: &Protocol, params: PsiParams, x: Vec<Item>, y: Vec<Item>) -> Outcomes {
    let sender = protocol.party(Role::Sender, params, Arc::new(x)).unwrap();
    let receiver = protocol.party(Role::Receiver, params, Arc::new(y)).unwrap();
    Runner::default().run(sender, receiver)
}

#[test]
fn sorting_takes_as_many_flights_as_its_row_says() {
    let sets = [integers(32, 0..40), integers(32, 20..60)];
    for id in ["scs_wn", "scs_sort", "scs_he"] {
        let protocol = find(id).unwrap();
        for query in [Query::Intersection, Query::Cardinality, Query::Threshold { min: 3 }] {
            for learns in [Learns::Receiver, Learns::Both] {
                let params = params(40, 32, learns).with_query(query);
                let run = run(protocol, params, sets[0].clone(), sets[1].clone());
                assert!(run.receiver.output.is_ok(), "{id}, {query:?}: {:?}", run.receiver.output);
                let row = (protocol.flights)(&params);
                assert_eq!(run.flights(), row, "{id}, {query:?}, {learns:?}");
            }
        }
    }
}

#[test]
fn early_reveal_saves_comparisons_of_what_is_matched() {
    let protocol = find("pwc").unwrap();
    let n = 200;
    let sent = |common: u64| {
        let params = params(n, 32, Learns::Both);
        let x = integers(32, 0..n);
        let y = [integers(32, 0..common), integers(32, n..2 * n - common)].concat();
        let run = run(protocol, params, x, y);
        let expected = Output::Positions((0..common as usize).collect());
        assert_eq!(run.receiver.output, Ok(expected.clone()));
        assert_eq!(run.sender.output, Ok(expected));
        run.sender_bytes() as f64
    };
    let none = sent(0);
    // ((2n − n̂)² + n̂)/4 comparisons of n², and some that were on their way.
    for (common, share) in [(n, 0.25), (n / 2, 0.5625)] {
        let found = sent(common) / none;
        assert!((share - 0.02..share + 0.12).contains(&found), "{common} common: {found} of all");
    }
}

#[test]
fn few_matches_are_sorted_in_blocks_for_fewer_bytes_if_both_learn() {
    let protocol = find("scs_by_count").unwrap();
    let n = 1024;
    for learns in [Learns::Receiver, Learns::Both] {
        let params = params(n, 32, learns);
        let sent = |common: u64| {
            let x = integers(32, 0..n);
            let y = [integers(32, 0..common), integers(32, n..2 * n - common)].concat();
            let run = run(protocol, params, x, y);
            let expected = Output::Positions((0..common as usize).collect());
            assert_eq!(run.receiver.output, Ok(expected.clone()));
            if learns == Learns::Both {
                assert_eq!(run.sender.output, Ok(expected));
            }
            assert_eq!(run.flights(), (protocol.flights)(&params));
            run.sender_bytes()
        };
        let most = (protocol.bytes)(&params).sender_to_receiver;
        assert_eq!([sent(2), sent(700)], [most; 2], "{learns:?}");
        match learns {
            // Up to one match 1,023 comparators, of 64 gates, replace 9,217 switches of 32 bits.
            Learns::Both => {
                let less = 16 * 32 * 9217 - 32 * 64 * 1023;
                // The colours of one item in place of those of 1,024.
                assert_eq!([sent(0), sent(1)], [most - less - 32 * 1024 / 8 + 4; 2]);
            }
            Learns::Receiver => assert_eq!([sent(0), sent(1)], [most; 2]),
        }
    }
}

#[test]
fn sets_whose_circuit_is_too_large_are_refused_at_once() {
    for (id, n) in [("pwc", 1 << 17), ("scs_wn", 1 << 25), ("circuit_phasing", 1 << 25)] {
        let protocol = find(id).unwrap();
        let params = params(n, 32, Learns::Receiver);
        let refused = protocol.party(Role::Sender, params, Arc::new(Vec::new())).err();
        assert!(
            matches!(refused, Some(Error::Parameter(ParameterError::SetTooLarge { .. }))),
            "{id}: {refused:?}"
        );
    }
}

#[test]
fn counting_what_a_circuit_costs_takes_little_time() {
    let circuits = catalogue().iter().filter(|row| row.bounds.are_kept());
    assert!(circuits.clone().count() >= 12);
    for row in circuits {
        let n = if row.id.starts_with("pwc") { 1 << 12 } else { 1 << 16 };
        let bits = (*row.item_bits.end()).min(64);
        let start = Instant::now();
        for learns in [Learns::Receiver, Learns::Both] {
            let params = params(n, bits, learns);
            assert!((row.bytes)(&params).total() > 0 && (row.flights)(&params) > 0);
        }
        assert!(start.elapsed() < Duration::from_secs(15), "{}: {:?}", row.id, start.elapsed());
    }
}
