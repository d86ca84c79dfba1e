//! Jobs with a helper whose result is in memory: the same as in a file, which need not be written.

use super::with_files;
use crate::aided::scene::{Scene, TERMS, Terms};
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_engine::{Finished, Job, RunResult, Silent, run};
use vesica_link::CancelToken;
use vesica_records::{OutputOptions, ReadOptions, Source};

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
            // Written from memory, it is the same file.
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
