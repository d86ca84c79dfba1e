//! The laws of every operation, applied to every protocol of the catalogue that offers it.

use vesica_protocols::dh::POINTS_PER_MESSAGE;
use vesica_protocols::{Operation, Protocol, Security, catalogue};
use vesica_testkit::laws;

fn intersections() -> impl Iterator<Item = &'static Protocol> {
    catalogue().iter().filter(|row| row.operations.contains(&Operation::Intersection))
}

#[test]
fn every_intersection_satisfies_the_psi_law() {
    for protocol in intersections() {
        laws::psi(protocol, POINTS_PER_MESSAGE as u64);
    }
}

#[test]
fn every_intersection_is_the_same_on_any_network_and_thread_count() {
    intersections().for_each(laws::psi_is_the_same_everywhere);
}

#[test]
fn every_intersection_shows_only_sizes_on_the_wire() {
    intersections().for_each(laws::traffic_depends_only_on_sizes);
}

#[test]
fn every_intersection_survives_a_changed_message() {
    intersections().for_each(laws::tampering_never_hangs_or_panics);
}

#[test]
fn every_malicious_intersection_catches_deviations_or_is_not_harmed() {
    let malicious = || intersections().filter(|row| row.security == Security::Malicious);
    assert!(malicious().count() > 0);
    malicious().for_each(laws::deviations_are_caught_or_harmless);
}

#[test]
fn every_protocol_for_small_domains_compares_integers_exactly() {
    let small = || intersections().filter(|row| row.small_domains);
    assert!(small().count() > 0);
    small().for_each(laws::psi_of_integers);
}

#[test]
fn items_that_find_no_place_end_both_parties_with_an_error() {
    for id in ["kkrt16", "ot_phasing", "ot_phasing_paper", "psz14"] {
        laws::placing_that_fails_ends_both_parties(vesica_protocols::find(id).unwrap());
    }
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
