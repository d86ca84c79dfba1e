//! The law for every row of two parties: a run over a store that is interrupted and restarted with
//! other numbers of threads gives the same result as a live run from the same seeds.

use crate::support::Scene;
use std::time::Duration;
use vesica_core::Role;
use vesica_link::CancelToken;
use vesica_net::Context;
use vesica_protocols::{Output, catalogue};
use vesica_store_session::ExchangeError;
use vesica_testkit::wire::WireRun;
use vesica_testkit::{Runner, side_by_side};

const SIZES: (u64, u64, u64) = (9, 7, 4);

#[test]
fn every_row_gives_over_a_store_what_it_gives_live() {
    side_by_side(catalogue().iter(), |row| {
        let run = WireRun::all(row, SIZES)[0];
        let runner = Runner::default();
        let party = |role| run.party(row, role, runner.seed);
        let live = runner.run(party(Role::Sender), party(Role::Receiver));
        let live = [live.receiver.output.unwrap(), live.sender.output.unwrap()];

        let scene = Scene::new();
        // At first the receiver is stopped again and again, before it can finish.
        let side = |number: usize, patience: fn(u32) -> Duration| {
            let role = [Role::Sender, Role::Receiver][1 - number];
            let seed = [if role == Role::Receiver { !runner.seed } else { runner.seed }; 32];
            for attempt in 0..500 {
                let cancel = CancelToken::new();
                let stop = cancel.clone();
                let after = patience(attempt);
                std::thread::spawn(move || {
                    std::thread::sleep(after);
                    stop.cancel();
                });
                let program = |ctx: &mut Context| -> vesica_core::Result<Output> {
                    run.party(row, role, runner.seed).run(ctx)?.checked()
                };
                let threads = 1 + attempt as usize % 2;
                let mut options = scene.options(&cancel);
                options.wait = Duration::from_secs(20);
                match scene.run(number, options, Some(seed), threads, program) {
                    Ok(output) => return output,
                    Err(ExchangeError::Cancelled) => {}
                    Err(error) => panic!("{}: {error:?}", row.id),
                }
            }
            panic!("{} does not come to an end", row.id);
        };
        let over_store = std::thread::scope(|scope| {
            let sender = scope.spawn(|| side(1, |_| Duration::from_secs(60)));
            let growing = |attempt: u32| Duration::from_millis(10 << attempt.min(13));
            let receiver = side(0, growing);
            [receiver, sender.join().unwrap()]
        });
        assert_eq!(over_store, live, "{}", row.id);
    });
}
