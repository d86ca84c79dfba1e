//! The laws of operations beyond the intersection, applied to every protocol of the catalogue that
//! offers one.

use vesica_protocols::{Partitions, Protocol, catalogue};
use vesica_testkit::{Cases, is_variant, set_operations, side_by_side};

fn offered() -> impl Iterator<Item = &'static Protocol> + Send {
    catalogue().iter().filter(|row| set_operations::are_offered(row))
}

/// Those of which no other row has the protocol.
fn mechanisms() -> impl Iterator<Item = &'static Protocol> + Send {
    offered().filter(|row| !is_variant(row))
}

/// How much of a law the quick tests try.
fn quick(protocol: &Protocol) -> Cases {
    if is_variant(protocol) { Cases::Each } else { Cases::Pairs }
}

#[test]
fn every_operation_gives_what_plain_sets_give() {
    assert!(offered().count() > 10);
    side_by_side(offered(), |row| set_operations::answers_are_those_of_plain_sets(row, quick(row)));
}

#[test]
#[ignore = "slow: all queries and sizes, both reveal directions"]
fn every_operation_gives_what_plain_sets_give_in_all_cases() {
    side_by_side(offered(), |row| set_operations::answers_are_those_of_plain_sets(row, Cases::All));
}

#[test]
fn every_operation_for_partitions_gives_what_plain_sets_give_in_one_of_many_runs() {
    let of_partitions = || offered().filter(|row| row.partitions == Partitions::Sets);
    // Unions and private ids; of counts, the receiver would learn one for each partition.
    assert_eq!(of_partitions().count(), 7);
    side_by_side(of_partitions(), set_operations::answers_of_a_partition);
}

#[test]
fn every_operation_is_the_same_on_any_thread_count() {
    side_by_side(mechanisms(), |row| {
        set_operations::answers_are_the_same_everywhere(row, Cases::Each)
    });
}

#[test]
#[ignore = "slow: all queries with other threads and with other randomness"]
fn every_operation_is_the_same_on_any_thread_count_in_all_cases() {
    side_by_side(offered(), |row| set_operations::answers_are_the_same_everywhere(row, Cases::All));
}

#[test]
fn every_operation_keeps_its_bounds() {
    let bounded = || offered().filter(|row| row.bounds.are_kept());
    assert!(bounded().count() > 0);
    side_by_side(bounded(), set_operations::bounds_are_kept);
}

#[test]
fn what_a_party_sees_does_not_depend_on_the_others_data() {
    let law = set_operations::views_do_not_depend_on_the_others_data;
    side_by_side(mechanisms(), |row| law(row, quick(row)));
}

#[test]
#[ignore = "slow: all queries, seen by either party"]
fn what_a_party_sees_does_not_depend_on_the_others_data_in_all_cases() {
    let law = set_operations::views_do_not_depend_on_the_others_data;
    side_by_side(offered(), |row| law(row, Cases::All));
}

#[test]
fn every_operation_survives_a_changed_message() {
    side_by_side(mechanisms(), |row| {
        set_operations::tampering_never_hangs_or_panics(row, Cases::Each)
    });
}

#[test]
#[ignore = "slow: every change of every message, also of rows whose parts others test as well"]
fn every_operation_survives_every_change_of_a_message() {
    assert!(offered().any(is_variant));
    side_by_side(offered(), |row| set_operations::tampering_never_hangs_or_panics(row, Cases::All));
}
