//! Runs through a store in turns: each process does what it can, with kernels and a number of
//! threads different from those of the process before it. This is a file of its own, since the
//! kernels apply to the whole process.
//!
//! That every row sends the same in turns as in a live run, byte for byte, is a law that the tests
//! of `protocols` check.

#[path = "integration/support.rs"]
mod support;

use std::time::Duration;
use support::Scene;
use vesica_core::Role;
use vesica_link::CancelToken;
use vesica_net::Context;
use vesica_protocols::{Output, Protocol, catalogue};
use vesica_simd::Backend;
use vesica_store_session::{ExchangeError, Options};
use vesica_testkit::Runner;
use vesica_testkit::wire::WireRun;

const SIZES: (u64, u64, u64) = (9, 7, 4);

/// Rows of all families, with few messages and with many.
const QUICK: [&str; 6] = ["rr22_malicious", "kkrt16", "gbf", "dh", "psty19", "gmrss21_cardinality"];

/// Runs `turns` turns of each of the rows that `of` selects; at least `least` rows must finish. Of
/// the others only the first flights are compared.
fn take_turns(of: impl Fn(&Protocol) -> bool, turns: usize, least: usize) {
    let kernels = Backend::available();
    let (mut finished, mut rows) = (0, 0);
    for row in catalogue().iter().filter(|row| of(row)) {
        let run = WireRun::all(row, SIZES)[0];
        let runner = Runner::default();
        let party = |role| run.party(row, role, runner.seed);
        let live = runner.run(party(Role::Sender), party(Role::Receiver));
        let live = [live.receiver.output.unwrap(), live.sender.output.unwrap()];

        let scene = Scene::new();
        let mut given = [None, None];
        for turn in 0..turns {
            let number = turn % 2;
            if given[number].is_some() {
                continue;
            }
            vesica_simd::force(kernels[turn / 2 % kernels.len()]).unwrap();
            let role = [Role::Receiver, Role::Sender][number];
            let seed = [if role == Role::Receiver { !runner.seed } else { runner.seed }; 32];
            let program = |ctx: &mut Context| -> vesica_core::Result<Output> {
                run.party(row, role, runner.seed).run(ctx)?.checked()
            };
            let wait = Duration::from_millis(5);
            let options = Options { wait, ..scene.options(&CancelToken::new()) };
            match scene.run(number, options, Some(seed), 1 + turn % 3, program) {
                Ok(output) => given[number] = Some(output),
                Err(ExchangeError::NotYet { .. }) => {}
                Err(error) => panic!("{}: {error:?}", row.id),
            }
        }
        rows += 1;
        if let [Some(receiver), Some(sender)] = given {
            assert_eq!([receiver, sender], live, "{}", row.id);
            finished += 1;
        }
    }
    assert!(kernels.len() > 1 || cfg!(not(target_arch = "x86_64")));
    assert!(finished >= least, "{finished} of {rows} rows came to their end");
}

#[test]
fn every_process_sends_what_the_last_one_sent_with_other_kernels_and_threads() {
    take_turns(|row| QUICK.contains(&row.id), 12, 4);
}

#[test]
#[ignore = "slow: 60 turns of each row"]
fn so_does_every_process_of_longer_runs() {
    take_turns(|_| true, 60, 30);
}
