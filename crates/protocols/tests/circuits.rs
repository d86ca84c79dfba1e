//! Protocols that evaluate circuits, one by one.

use vesica_protocols::find;
use vesica_testkit::laws;

#[test]
#[ignore = "a tool: one law for the rows that CIRCUIT names"]
fn one_row() {
    let ids = std::env::var("CIRCUIT").unwrap();
    for id in ids.split(',') {
        let protocol = find(id).unwrap();
        let start = std::time::Instant::now();
        laws::what_is_not_offered_is_refused(protocol);
        laws::psi(protocol, 128);
        eprintln!("{id} psi {:?}", start.elapsed());
        laws::queries(protocol);
        eprintln!("{id} queries {:?}", start.elapsed());
        laws::psi_of_integers(protocol);
        eprintln!("{id} integers {:?}", start.elapsed());
        laws::traffic_depends_only_on_sizes(protocol);
        laws::psi_is_the_same_everywhere(protocol);
        eprintln!("{id} same everywhere {:?}", start.elapsed());
        laws::tampering_never_hangs_or_panics(protocol);
        eprintln!("{id} tampering {:?}", start.elapsed());
    }
}
