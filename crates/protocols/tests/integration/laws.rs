//! The laws of every operation, applied to every protocol of the catalogue that offers it.

use vesica_core::{Learns, PsiParams, SessionId};
use vesica_protocols::dh::POINTS_PER_MESSAGE;
use vesica_protocols::{Operation, Partitions, Protocol, Security, catalogue, dl_dt10, rsa_dt10};
use vesica_testkit::{Cases, VARIANTS, is_variant, laws, set_operations, side_by_side};

fn intersections() -> impl Iterator<Item = &'static Protocol> + Send {
    catalogue().iter().filter(|row| row.operations.contains(&Operation::Intersection))
}

/// Those of which no other row has the protocol.
fn mechanisms() -> impl Iterator<Item = &'static Protocol> + Send {
    intersections().filter(|row| !is_variant(row))
}

/// Message sizes around which the laws test, in items; smaller for protocols with shorter messages.
fn block(protocol: &Protocol) -> u64 {
    match protocol.id {
        "dl_dt10" | "dl_dt10_3072" => dl_dt10::ELEMENTS_PER_MESSAGE as u64,
        "rsa_dt10" | "rsa_dt10_3072" => rsa_dt10::ELEMENTS_PER_MESSAGE as u64,
        "psty19" => POINTS_PER_MESSAGE as u64,
        // Other circuits have no particular message size; items meet a stash by 128.
        _ if protocol.operations.contains(&Operation::Cardinality) => 128,
        _ => POINTS_PER_MESSAGE as u64,
    }
}

/// How much of a law the quick tests try: less where a run takes long, and of rows that are
/// variants of others.
fn quick(protocol: &Protocol) -> Cases {
    if is_slow(protocol) { Cases::Each } else { Cases::Pairs }
}

/// Otherwise a party that deviates chooses what it enters into one partition by the result of
/// another.
#[test]
fn a_protocol_against_parties_that_deviate_is_split_only_if_it_fixes_whole_sets() {
    for row in catalogue().iter().filter(|row| row.security.guards_sets()) {
        let is_split = row.partitions != Partitions::No || row.addends.is_some();
        assert!(!is_split || row.steps.is_some(), "{}", row.id);
    }
}

#[test]
fn every_intersection_satisfies_the_psi_law() {
    side_by_side(intersections(), |protocol| laws::psi(protocol, block(protocol), quick(protocol)));
}

#[test]
#[ignore = "slow: all sizes, both reveal directions"]
fn every_intersection_satisfies_the_psi_law_in_all_cases() {
    side_by_side(intersections(), |protocol| laws::psi(protocol, block(protocol), Cases::All));
}

#[test]
fn payloads_come_with_common_items_alone() {
    let with_payloads = catalogue().iter().filter(|row| row.payloads);
    side_by_side(with_payloads, |row| laws::payloads(row, Cases::Pairs));
}

#[test]
fn every_intersection_is_the_same_on_any_network_and_thread_count() {
    side_by_side(mechanisms(), |row| laws::psi_is_the_same_everywhere(row, quick(row)));
}

#[test]
#[ignore = "slow: all networks, threads and sizes, both reveal directions"]
fn every_intersection_is_the_same_on_any_network_and_thread_count_in_all_cases() {
    side_by_side(intersections(), |row| laws::psi_is_the_same_everywhere(row, Cases::All));
}

#[test]
fn every_intersection_shows_only_sizes_on_the_wire() {
    side_by_side(mechanisms(), |row| laws::traffic_depends_only_on_sizes(row, quick(row)));
}

#[test]
#[ignore = "slow: all data, both reveal directions"]
fn every_intersection_shows_only_sizes_on_the_wire_in_all_cases() {
    side_by_side(intersections(), |row| laws::traffic_depends_only_on_sizes(row, Cases::All));
}

/// Whether a run of one item against one already takes long by the row's own estimate. The laws
/// that run a protocol a hundred times wait for the slow tests then.
fn is_slow(protocol: &Protocol) -> bool {
    let session = SessionId::from_bytes([0; 32]);
    let params = PsiParams::new(session, 1, 1, Learns::Receiver)
        .and_then(|params| params.with_item_bits(*protocol.item_bits.end()))
        .unwrap();
    (protocol.seconds)(&params) > 0.2 || is_variant(protocol)
}

#[test]
fn every_intersection_survives_a_changed_message() {
    side_by_side(mechanisms().filter(|row| !is_slow(row)), |row| {
        laws::tampering_never_hangs_or_panics(row, Cases::Pairs)
    });
}

#[test]
#[ignore = "slow: every change of every message, also of protocols whose keys take long to make"]
fn every_intersection_survives_every_change_of_a_message() {
    let slow = intersections().filter(|row| is_slow(row)).count();
    assert!(slow < intersections().count() / 2, "most are quick");
    side_by_side(intersections(), |row| laws::tampering_never_hangs_or_panics(row, Cases::All));
}

fn malicious() -> impl Iterator<Item = &'static Protocol> + Send {
    intersections().filter(|row| row.security == Security::Malicious)
}

#[test]
fn every_malicious_intersection_catches_deviations_or_is_not_harmed() {
    assert!(malicious().count() > 0);
    side_by_side(malicious(), |row| laws::deviations_are_caught_or_harmless(row, quick(row)));
}

#[test]
#[ignore = "slow: every change of every message"]
fn every_malicious_intersection_catches_all_deviations_or_is_not_harmed() {
    assert!(malicious().count() > 0);
    side_by_side(malicious(), |row| laws::deviations_are_caught_or_harmless(row, Cases::All));
}

#[test]
fn every_protocol_for_small_domains_compares_integers_exactly() {
    let small = || intersections().filter(|row| row.takes_integers());
    assert!(small().count() > 0);
    side_by_side(small(), |row| laws::psi_of_integers(row, quick(row)));
}

#[test]
#[ignore = "slow: all lengths of items and sizes, both reveal directions"]
fn every_protocol_for_small_domains_compares_integers_exactly_in_all_cases() {
    let small = intersections().filter(|row| row.takes_integers());
    side_by_side(small, |row| laws::psi_of_integers(row, Cases::All));
}

fn answering() -> impl Iterator<Item = &'static Protocol> + Send {
    catalogue().iter().filter(|row| row.operations.len() > 1)
}

#[test]
fn every_protocol_answers_the_queries_it_offers() {
    assert!(answering().count() > 0);
    side_by_side(answering(), |row| laws::queries(row, quick(row)));
}

#[test]
#[ignore = "slow: all queries, bounds and sizes, both reveal directions"]
fn every_protocol_answers_the_queries_it_offers_in_all_cases() {
    side_by_side(answering(), |row| laws::queries(row, Cases::All));
}

fn of_partitions() -> impl Iterator<Item = &'static Protocol> + Send {
    intersections().filter(|row| row.partitions == Partitions::Sets)
}

#[test]
fn every_intersection_for_partitions_satisfies_the_psi_law_in_one_of_many_runs() {
    let ids: Vec<_> = of_partitions().map(|row| row.id).collect();
    let expected = [
        "rr22_malicious",
        "rr22",
        "rr22_low_communication",
        "dh",
        "kkrt16",
        "ot_phasing",
        "gbf",
        "gbf_iknp",
    ];
    assert_eq!(ids, expected);
    side_by_side(of_partitions(), |row| laws::psi_of_a_partition(row, quick(row)));
}

#[test]
#[ignore = "slow: all sizes with each of the learners"]
fn every_intersection_for_partitions_satisfies_the_psi_law_in_all_cases() {
    side_by_side(of_partitions(), |row| laws::psi_of_a_partition(row, Cases::All));
}

fn takes_the_flights_of_its_row(row: &Protocol, cases: Cases) {
    if set_operations::are_offered(row) {
        set_operations::flights_follow_the_sizes(row, cases);
    } else {
        laws::flights_follow_the_sizes(row, cases);
    }
}

/// The laws of results compare the flights of small sets, also those of variants.
#[test]
fn every_protocol_takes_the_flights_of_its_row_for_small_and_larger_sets() {
    let rows = catalogue().iter().filter(|row| !is_variant(row));
    side_by_side(rows, |row| takes_the_flights_of_its_row(row, Cases::Each));
}

#[test]
#[ignore = "slow: all sizes with all learners, also the variants"]
fn every_protocol_takes_the_flights_of_its_row_in_all_cases() {
    side_by_side(catalogue().iter(), |row| takes_the_flights_of_its_row(row, Cases::All));
}

#[test]
fn every_protocol_refuses_what_it_does_not_offer() {
    side_by_side(catalogue().iter(), laws::what_is_not_offered_is_refused);
}

#[test]
fn items_that_find_no_place_end_both_parties_with_an_error() {
    for id in ["kkrt16", "ot_phasing", "ot_phasing_paper", "psz14"] {
        laws::placing_that_fails_ends_both_parties(vesica_protocols::find(id).unwrap());
    }
}

#[test]
fn empty_places_hold_no_item() {
    for id in ["ot_phasing", "ot_phasing_paper", "psz14"] {
        laws::empty_places_hold_no_item(vesica_protocols::find(id).unwrap());
    }
}

#[test]
fn a_variant_has_the_operations_of_its_original() {
    for (variant, original) in VARIANTS {
        let [row, of] = [variant, original].map(|id| vesica_protocols::find(id).unwrap());
        assert!(row.operations.iter().all(|one| of.operations.contains(one)), "{variant}");
    }
    assert!(mechanisms().count() > 15);
}

#[test]
fn ids_are_unique_and_found() {
    for row in catalogue() {
        let found = vesica_protocols::find(row.id).map(|found| found.id);
        assert_eq!(found, Ok(row.id));
        assert_eq!(catalogue().iter().filter(|other| other.id == row.id).count(), 1);
    }
    assert!(vesica_protocols::find("no_such_protocol").is_err());
}
