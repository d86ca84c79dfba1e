//! The wire law, applied to every protocol of two parties, and the recorded digests of what each
//! party sends. A program of its own: its tests choose the kernels of the process.

mod recorded;

use recorded::{Entry, Recorded};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use vesica_core::Role;
use vesica_protocols::{Protocol, catalogue};
use vesica_simd::Backend;
use vesica_testkit::wire::{self, Sizes, WireRun, places};
use vesica_testkit::{Runner, is_variant, side_by_side};

/// Small enough for every row and each of its operations.
const SMALL: Sizes = (9, 7, 4);

/// The second size of a row: with several messages, blocks and tasks, where the row is fast enough.
const LARGE: Sizes = (5000, 3000, 1234);

/// Estimated seconds that a run of the quick tests may take.
const QUICK_SECONDS: f64 = 0.1;

/// Least size of the smaller set.
const LEAST_LEN: u64 = 20;

/// Only one test at a time chooses the kernels of the process.
static KERNELS: Mutex<()> = Mutex::new(());

/// Calls `with` for each of the kernels that this processor has, the fastest first, at least three
/// times.
fn each_kernels(with: impl Fn(usize, Backend)) {
    let _guard = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    let kernels: Vec<Backend> = Backend::available().into_iter().rev().collect();
    for turn in 0..places().len().max(kernels.len()) {
        let kernels = kernels[turn % kernels.len()];
        vesica_simd::force(kernels).unwrap();
        with(turn, kernels);
    }
    vesica_simd::force(Backend::detect()).unwrap();
}

/// Whether the quick tests make the `run` of `runs` with these kernels: with the fastest ones all
/// that take little time, with others one of each size, and with the portable ones, which take
/// fifty times as long, a small one.
fn is_quick(row: &Protocol, runs: &[WireRun], run: &WireRun, kernels: Backend) -> bool {
    let is_small = run.sizes == SMALL;
    let is_affordable = is_small || run.takes_at_most(row, QUICK_SECONDS);
    let of_size = runs.iter().rfind(|other| other.sizes == run.sizes);
    let is_last = of_size.is_some_and(|last| std::ptr::eq(last, run));
    match kernels {
        _ if kernels == Backend::detect() => is_affordable,
        Backend::Portable => is_small && is_last,
        _ => is_affordable && is_last,
    }
}

/// [`LARGE`], halved until the row is fast enough.
fn large(row: &Protocol) -> Sizes {
    let (mut x, mut y, mut common) = LARGE;
    let first = |sizes| WireRun::all(row, sizes)[0];
    while y / 2 >= LEAST_LEN && !first((x, y, common)).takes_at_most(row, QUICK_SECONDS) {
        (x, y, common) = (x / 2, y / 2, common / 2);
    }
    (x, y, common)
}

/// The runs of `row`: all of the small size, and of the second size the runs of the first
/// operation.
fn runs(row: &Protocol, second: Sizes) -> Vec<WireRun> {
    let of_second = WireRun::all(row, second);
    let first = of_second[0].query;
    let of_second = of_second.into_iter().filter(|run| run.query == first);
    WireRun::all(row, SMALL).into_iter().chain(of_second).collect()
}

/// Applies `law` to the runs of every row, at the second size that is recorded for it.
fn each_row(recorded: &Recorded, law: impl Fn(&Protocol, &[WireRun]) + Sync) {
    side_by_side(catalogue().iter(), |row| {
        let second = recorded.second_size(row.id, SMALL).unwrap_or_else(|| large(row));
        law(row, &runs(row, second));
    });
}

/// With `VESICA_BLESS` set, it records what the rows send. Where that differs from what was
/// recorded, it raises the wire version of the record, and a test of the engine fails until the
/// engine's follows.
#[test]
fn every_party_sends_the_recorded_bytes() {
    let recorded = Recorded::read();
    let is_blessed = std::env::var_os("VESICA_BLESS").is_some();
    let new: Mutex<BTreeMap<Entry, [String; 2]>> = Mutex::default();
    each_kernels(|turn, kernels| {
        let place = places()[turn % places().len()].clone();
        each_row(&recorded, |row, runs| {
            for run in runs {
                let is_all = is_blessed && turn == 0;
                if !is_all && !is_quick(row, runs, run, kernels) {
                    continue;
                }
                let entry = Entry::new(row, run);
                let found = digests(row, run, std::slice::from_ref(&place));
                if !is_blessed {
                    check(&recorded, &entry, &found, &place, kernels);
                } else if let Some(first) = new.lock().unwrap().insert(entry.clone(), found.clone())
                {
                    assert_eq!(first, found, "depends on {kernels:?} or {place:?}: {entry:?}");
                }
            }
        });
    });
    let new = new.into_inner().unwrap();
    if is_blessed {
        recorded.followed_by(new).write();
    } else {
        assert_eq!(recorded.rows(), catalogue().iter().map(|row| row.id).collect::<Vec<_>>());
    }
}

#[test]
#[ignore = "slow: every run with all kernels, each on all networks with all numbers of threads"]
fn every_party_sends_the_recorded_bytes_everywhere() {
    let recorded = Recorded::read();
    each_kernels(|_, kernels| {
        each_row(&recorded, |row, runs| {
            for run in runs {
                let found = digests(row, run, &places());
                check(&recorded, &Entry::new(row, run), &found, &places()[0], kernels);
            }
        });
    });
}

fn digests(row: &Protocol, run: &WireRun, places: &[Runner]) -> [String; 2] {
    wire::sent_depends_only_on_seed_input_and_received(row, run, places)
        .map(|digest| digest[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

fn check(
    recorded: &Recorded,
    entry: &Entry,
    found: &[String; 2],
    place: &Runner,
    kernels: Backend,
) {
    let expected = recorded.get(entry);
    let threads = (place.threads, place.receiver_threads);
    assert_eq!(
        expected,
        Some(found),
        "{entry:?} sends other bytes than vectors/wire.json records, with {kernels:?} kernels and \
         {threads:?} threads. If they changed with the machine, the threads or the network, mend \
         the protocol. If what it sends was changed on purpose, that is another wire version: \
         record it with VESICA_BLESS=1, and raise the version in crates/engine/src/meeting.rs, \
         docs/wire/session.md and CHANGELOG.md."
    );
}

#[test]
fn what_is_sent_so_far_depends_only_on_what_was_received() {
    each_row(&Recorded::read(), |row, runs| {
        if is_variant(row) {
            return;
        }
        let last = runs.last().expect("a row has operations");
        for role in [Role::Sender, Role::Receiver] {
            last.sent_so_far_depends_only_on_received(row, role, &[2]);
        }
    });
}

#[test]
#[ignore = "slow: every operation with each of the learners, two ends of each stream"]
fn what_is_sent_so_far_depends_only_on_what_was_received_in_all_cases() {
    each_row(&Recorded::read(), |row, runs| {
        for run in runs {
            for role in [Role::Sender, Role::Receiver] {
                run.sent_so_far_depends_only_on_received(row, role, &[1, 2]);
            }
        }
    });
}

/// Sizes of a run in turns, in which each turn repeats the party's work.
const TINY: Sizes = (3, 2, 1);

/// Messages of a run in turns of the quick tests.
const QUICK_FLIGHTS: u64 = 30;

/// Runs of `of_row` in turns. Each turn takes the next of the `kernels`, also for the turns that
/// are under way then.
fn take_turns(kernels: &[Backend], of_row: impl Fn(&Protocol) -> Vec<WireRun> + Sync) {
    let _guard = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    side_by_side(catalogue().iter(), |row| {
        for run in of_row(row) {
            let turns = run.turns_agree_with_a_live_run(row, &|turn| {
                vesica_simd::force(kernels[turn % kernels.len()]).unwrap();
            });
            assert!(turns > 1, "{}", row.id);
        }
    });
    vesica_simd::force(Backend::detect()).unwrap();
}

/// With all kernels but the portable ones, which take fifty times as long, where there are others.
/// `kernels.rs` of `store-session` takes turns with these, too.
#[test]
fn parties_that_take_turns_say_what_they_say_in_a_live_run() {
    let mut kernels = Backend::available();
    if kernels.len() > 1 {
        kernels.retain(|kernels| *kernels != Backend::Portable);
    }
    take_turns(&kernels, |row| {
        let run = WireRun::all(row, TINY)[0];
        match (row.flights)(&run.params(row, 0)) {
            0..=QUICK_FLIGHTS if !is_variant(row) => vec![run],
            _ => Vec::new(),
        }
    });
}

#[test]
#[ignore = "slow: larger sets, every operation with each of the learners, all kernels, all rows"]
fn parties_that_take_turns_say_what_they_say_in_a_live_run_in_all_cases() {
    take_turns(&Backend::available(), |row| WireRun::all(row, SMALL));
}
