//! A helper whose settings change while it runs.

use super::{assert_results, with_files};
use crate::aided::scene::{Scene, TERMS, Terms, identity, until, until_told};
use crate::support::Running;
use nix::sys::signal::Signal;

fn settings(scene: &Scene, parties: &[&str]) {
    let table = |name: &&str| format!("[party.{name}]\nidentity = \"{}\"\n", identity(name));
    scene.write("helper.toml", parties.iter().map(table).collect::<String>());
}

/// How often the log has the text `what`.
fn times(scene: &Scene, what: &str) -> usize {
    scene.read("helper.log").matches(what).count()
}

/// Makes the helper read its settings again, and waits until its log has `says`.
fn reload(scene: &Scene, helper: &Running, says: &str) {
    let before = times(scene, says);
    helper.signal(Signal::SIGHUP);
    until(says, || times(scene, says) > before);
}

#[test]
fn parties_are_added_and_revoked_without_a_restart() {
    const TAKEN: &str = "settings read again";
    let scene = Scene::new();
    settings(&scene, &["a"]);
    let helper = scene.helper(&["--log", "json", "--log-file", "helper.log"]);
    scene.agreement("ab.toml", &TERMS);
    scene.agreement("ac.toml", &Terms { parties: &["a", "c"], ..TERMS });
    let expected = with_files(&scene, &["a", "b"], 10);
    scene.write("c.csv", "id,email\n1,user1@example.com\n");
    Running::start(scene.party("ab.toml", "a")).wait().assert_failed(3, "does not accept this run");

    // The new settings are in effect once the log says so.
    settings(&scene, &["a", "b", "c"]);
    reload(&scene, &helper, TAKEN);
    let both = ["b", "a"].map(|party| Running::start(scene.party("ab.toml", party)));
    for party in both {
        party.wait().assert_code(0);
    }
    assert_results(&scene, &expected);

    // Wrong settings change nothing.
    scene.write("helper.toml", "[party.a]\nidentity = 3\n");
    reload(&scene, &helper, "the new settings are not used");
    assert!(scene.read("helper.log").contains("helper.toml, line 2"));

    // c is revoked while a waits for it.
    let mut a = Running::start(scene.party_without("ac.toml", "a", &["--output", "ac.csv"]));
    until_told(&mut a, "waiting for c");
    settings(&scene, &["a", "b"]);
    reload(&scene, &helper, TAKEN);
    a.wait().assert_failed(5, "cloud no longer serves c, so the run has ended");
    assert!(scene.get("/metrics").contains("runs_total{outcome=\"revoked\"} 1"));
    let c = Running::start(scene.party("ac.toml", "c")).wait();
    c.assert_failed(3, "does not serve this identity");
    let log = scene.read("helper.log");
    assert!(log.contains("\"reason\":\"revoked\"") && log.contains("\"by\":\"c\""), "{log}");
    assert!(!log.contains("\"reason\":\"expired\""), "{log}");

    // An open connection is closed.
    settings(&scene, &["a", "b", "c"]);
    reload(&scene, &helper, TAKEN);
    let mut c = Running::start(scene.party("ac.toml", "c"));
    until_told(&mut c, "waiting for a");
    settings(&scene, &["a", "b"]);
    reload(&scene, &helper, TAKEN);
    let metrics = scene.get("/metrics");
    assert!(!metrics.contains("party=\"c\""), "{metrics}");
    // c tries again, and is rejected.
    c.wait().assert_code(5);
    helper.signal(Signal::SIGTERM);
    helper.wait().assert_code(0);
}
