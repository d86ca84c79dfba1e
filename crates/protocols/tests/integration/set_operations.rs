//! The laws of operations beyond the intersection, applied to every protocol of the catalogue that offers one.

use vesica_protocols::{Protocol, catalogue};
use vesica_testkit::{set_operations, side_by_side};

fn offered() -> impl Iterator<Item = &'static Protocol> + Send {
    catalogue().iter().filter(|row| set_operations::are_offered(row))
}

/// Whether the row is another one with parts that others test as well.
fn is_variant(protocol: &Protocol) -> bool {
    protocol.id.ends_with("_paper") || protocol.id.ends_with("_low_communication")
}

#[test]
fn every_operation_gives_what_plain_sets_give() {
    assert!(offered().count() > 10);
    side_by_side(offered(), set_operations::answers_are_those_of_plain_sets);
}

#[test]
fn every_operation_is_the_same_on_any_thread_count() {
    side_by_side(offered(), set_operations::answers_are_the_same_everywhere);
}

#[test]
fn every_operation_keeps_its_bounds() {
    let bounded = || offered().filter(|row| row.bounds.are_kept());
    assert!(bounded().count() > 0);
    side_by_side(bounded(), set_operations::bounds_are_kept);
}

#[test]
fn what_a_party_sees_does_not_depend_on_the_others_data() {
    side_by_side(offered(), set_operations::views_do_not_depend_on_the_others_data);
}

#[test]
fn every_operation_survives_a_changed_message() {
    let plain = offered().filter(|row| !is_variant(row));
    side_by_side(plain, set_operations::tampering_never_hangs_or_panics);
}

#[test]
#[ignore = "slow: some hundred runs each of protocols whose parts others test as well"]
fn every_variant_of_an_operation_survives_a_changed_message() {
    assert!(offered().any(is_variant));
    let variants = offered().filter(|row| is_variant(row));
    side_by_side(variants, set_operations::tampering_never_hangs_or_panics);
}
