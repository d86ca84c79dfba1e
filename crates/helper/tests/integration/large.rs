//! Measures how long runs take. Slow: `cargo test --release -p vesica-helper --test integration
//! large:: -- --ignored --nocapture`.

#![expect(clippy::print_stdout, reason = "prints figures for the person who runs it")]

use crate::aided::{is_right, run_party};
use crate::common::Fixture;
use std::time::Instant;
use vesica_helper::Keeping;
use vesica_helper_client::Remote;

#[test]
#[ignore = "slow"]
fn lists_of_millions_go_through_the_helper() {
    let rows: u64 = std::env::var("VESICA_ROWS").map_or(1_000_000, |rows| rows.parse().unwrap());
    for in_memory in [false, true] {
        let fixture = Fixture::new(2);
        let service = fixture.start_with(|options| {
            if in_memory {
                options.keeping = Keeping::Memory { limit_bytes: 1 << 30 };
            }
        });
        let mut spec = fixture.spec(2);
        spec.parties.iter_mut().for_each(|party| party.max_rows = rows);
        let started = Instant::now();
        std::thread::scope(|scope| {
            for party in 0..2 {
                let (spec, fixture, service) = (&spec, &fixture, &service);
                scope.spawn(move || {
                    let remote: Remote = fixture.remote(service, party, spec);
                    let matched = run_party(&remote, spec, party, rows).unwrap();
                    let answered = started.elapsed().as_secs_f64();
                    assert!(is_right(&matched, rows));
                    remote.done().unwrap();
                    let done = started.elapsed().as_secs_f64();
                    println!(
                        "{rows} rows, party {party}: answer {answered:.2} s, done {done:.2} s"
                    );
                });
            }
        });
        println!("in memory {in_memory}: {:.2} s", started.elapsed().as_secs_f64());
    }
}
