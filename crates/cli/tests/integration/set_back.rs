//! A state that was restored from an older copy, and one that another process uses.

use crate::exchange::{BOTH, Scene, terms_of};
use crate::support::Running;
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Copies a folder and its subfolders.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Whether the state has the object in its mirror.
fn has_object(state: &Path, object: &str) -> bool {
    let Ok(runs) = fs::read_dir(state.join("mirror")) else { return false };
    runs.flatten().any(|run| run.path().join(object).exists())
}

#[test]
fn a_state_that_was_set_back_is_found_out_over_connections() {
    let scene = Scene::connected(&terms_of(300_000)).with_rows(300_000);
    let start = |party, more: &[&str]| Running::start(scene.command(party, more));
    let [one, two, old] = ["one", "two", "old"].map(|n| scene.place.path(&format!("{n}.state")));
    let until = |reached: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !reached() {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let kill = |process: Running| {
        process.signal(Signal::SIGKILL);
        process.wait();
    };
    let waits = start("two", &["--wait", "60s"]);
    let first = start("one", &["--wait", "60s"]);
    until(&|| one.join("seen-shares").exists());
    kill(first);
    assert!(!has_object(&one, "0-000000"), "it was killed in time");
    copy(&one, &old);
    let second = start("one", &["--wait", "60s"]);
    until(&|| has_object(&two, "0-000000"));
    kill(second);
    copy(&old, &one);
    let third = start("one", &["--wait", "60s"]).wait();
    third.assert_failed(3, "is older than what this side has sent");
    assert!(one.exists(), "nothing is removed");
    // A new run is possible.
    let anew = start("one", &["--wait", "60s", "--restart"]);
    waits.wait().assert_failed(4, "abandoned this run");
    start("two", &["--wait", "60s", "--restart"]).wait().assert_code(0);
    anew.wait().assert_code(0);
    fs::remove_dir_all(old).unwrap();
    scene.assert_results();
}

#[test]
fn a_state_that_another_process_uses_is_a_reason_to_come_back() {
    let scene = Scene::new(&BOTH);
    let first = Running::start(scene.command("one", &["--wait", "60s"]));
    let meeting = scene.place.path("one.state").join("meeting");
    let start = Instant::now();
    while !meeting.exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    scene.run("one", &["--once"]).assert_failed(75, "another process uses");
    scene.run("two", &["--wait", "60s"]).assert_code(0);
    first.wait().assert_code(0);
    scene.assert_results();
}
