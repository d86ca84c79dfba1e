//! Jobs with a helper whose result stays in memory: it equals the result in a file, and no file
//! need be written.

use super::with_files;
use crate::aided::scene::{Scene, TERMS, Terms};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use vesica_engine::{Event, Finished, Job, Observer, RunResult, Silent, run};
use vesica_helper_client::RemoteEvent;
use vesica_link::CancelToken;
use vesica_tables::{OutputOptions, ReadOptions, Source};

fn run_all(jobs: Vec<Job>) -> Vec<Finished> {
    std::thread::scope(|scope| {
        let run = |job| scope.spawn(|| run(job, Arc::new(Silent), &CancelToken::new()).unwrap());
        let running: Vec<_> = jobs.into_iter().map(run).collect();
        running.into_iter().map(|running| running.join().unwrap()).collect()
    })
}

fn check(terms: &Terms<'_>, receivers: &[&str]) {
    let scene = Scene::new();
    let expected = with_files(&scene, terms.parties, 10);
    scene.agreement("agreement.toml", terms);
    let _helper = scene.helper(&[]);
    for with_files in [false, true] {
        let job = |party: &&str| {
            let mut job = scene.job("agreement.toml", party);
            let path = scene.path(&format!("{party}.out.csv"));
            job.output = Some(OutputOptions { path, force: false })
                .filter(|_| with_files && receivers.contains(party));
            job
        };
        let finished = run_all(terms.parties.iter().map(job).collect());
        for ((party, text), Finished { report, output }) in expected.iter().zip(&finished) {
            let path = scene.path(&format!("{party}.out.csv"));
            if !receivers.contains(party) {
                assert_eq!((output, report.result.learned), (&RunResult::Nothing, false));
                assert!(!path.exists(), "{party}");
                continue;
            }
            let rows = output.rows().unwrap();
            assert_eq!(rows.len(), report.input.rows);
            assert_eq!(rows.iter().count() as u64, rows.count());
            assert_eq!(rows.count() as usize, text.lines().count() - 1);
            assert_eq!(Some(rows.keys()), report.result.matched_keys);
            assert_eq!(report.result.rows_written, with_files.then(|| rows.count()));
            assert_eq!(path.exists(), with_files, "{party}");
            assert!(!with_files || scene.read(&format!("{party}.out.csv")) == *text);
            // The result in memory is written as the same file.
            let source = scene.path(&format!("{party}.csv"));
            let source = Source::open(source, &ReadOptions::default()).unwrap();
            let again = OutputOptions { path: scene.path("again.csv"), force: true };
            output.write(&source, &again, &mut |_| ControlFlow::Continue(())).unwrap();
            assert!(scene.read("again.csv") == *text, "{party}");
        }
        assert_eq!(scene.states(), [""; 0], "no folder stays");
    }
}

#[test]
fn rows_in_memory_are_those_of_the_file() {
    check(&TERMS, &["a", "b"]);
    check(&Terms { receives: "\"b\"", ..TERMS }, &["b"]);
    check(&Terms { receives: "\"a\"", ..TERMS }, &["a"]);
}

#[test]
fn rows_in_memory_are_those_of_the_file_whoever_is_trusted() {
    let malicious = Terms { protocol: "server_aided_malicious", ..TERMS };
    check(&Terms { security: "malicious", ..malicious }, &["a", "b"]);
    check(&Terms { parties: &["a", "b", "c"], receives: "[\"a\", \"c\"]", ..TERMS }, &["a", "c"]);
}

/// Counts the connections of a party to its helper.
struct Connections(AtomicUsize);

impl Observer for Connections {
    fn event(&self, event: &Event<'_>) {
        if matches!(event, Event::Helper(RemoteEvent::Joined { .. })) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_small_run_makes_one_connection() {
    let scene = Scene::new();
    with_files(&scene, TERMS.parties, 10);
    scene.agreement("agreement.toml", &TERMS);
    let _helper = scene.helper(&[]);
    std::thread::scope(|scope| {
        for party in TERMS.parties {
            let mut job = scene.job("agreement.toml", party);
            job.threads = std::num::NonZeroUsize::new(4).unwrap();
            scope.spawn(move || {
                let made = Arc::new(Connections(AtomicUsize::new(0)));
                run(job, Arc::clone(&made) as Arc<dyn Observer>, &CancelToken::new()).unwrap();
                assert_eq!(made.0.load(Ordering::Relaxed), 1, "{party}");
            });
        }
    });
}
