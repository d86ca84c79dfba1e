//! A party or helper is not the one agreed, or does not act as agreed: the other parties still get
//! their results, and each learns the reason.

use super::{assert_results, with_files};
use crate::aided::scene::{Scene, TERMS, Terms, identity, until_told};
use crate::support::{Running, free_port, vesica};
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

/// A party's command with short time limits.
fn brief(scene: &Scene, agreement: &str, party: &str) -> Command {
    let mut command = vesica();
    command.args(["run", agreement, "--key", &format!("{party}.key"), "--input", "a.csv"]);
    command.args(["--output", "brief.out.csv", "--state", &scene.fresh_state()]);
    command.args(["--connect", &scene.address, "--wait", "2s", "--idle", "5s"]);
    command.current_dir(scene.directory());
    command
}

#[track_caller]
fn finish(scene: &Scene, parties: impl IntoIterator<Item = Running>, expected: &[(&str, String)]) {
    for running in parties {
        running.wait().assert_code(0);
    }
    assert_results(scene, expected);
}

#[test]
fn the_second_of_two_equal_parties_is_refused_and_the_first_continues() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    // With the same folder, and with another.
    Running::start(scene.party("two.toml", "a")).wait().assert_failed(75, "another process uses ");
    let again = Running::start(brief(&scene, "two.toml", "a")).wait();
    again.assert_failed(3, "cloud already has other data of this party");
    let b = Running::start(scene.party("two.toml", "b"));
    finish(&scene, [a, b], &expected);
}

#[test]
fn keys_that_the_agreement_or_the_helper_does_not_list_are_refused() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    // The key of a party that the helper serves and the agreement does not name.
    Running::start(brief(&scene, "two.toml", "c"))
        .wait()
        .assert_failed(3, "belongs to no party in the agreement");
    // A party of the agreement that the helper does not serve.
    scene.agreement("other.toml", &Terms { parties: &["a", "f"], ..TERMS });
    Running::start(brief(&scene, "other.toml", "f"))
        .wait()
        .assert_failed(3, "cloud does not serve this identity");
    // A run with a party that the helper does not serve.
    Running::start(brief(&scene, "other.toml", "a"))
        .wait()
        .assert_failed(3, "cloud does not accept this run");
}

#[test]
fn a_helper_with_another_identity_is_refused() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    let text = scene.read("two.toml").replace(identity("helper"), identity("e"));
    scene.write("other.toml", text);
    let ended = Running::start(brief(&scene, "other.toml", "a")).wait();
    ended.assert_failed(4, "is not cloud: its identity is ");
    assert!(ended.stderr.contains(identity("helper")), "{ended:#?}");
}

#[test]
fn parties_with_different_agreements_are_both_warned() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    scene.agreement("other.toml", &Terms { max_rows: 777, ..TERMS });
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    let b = Running::start(brief(&scene, "other.toml", "b"));
    until_told(&mut a, "another party waits at cloud with a different agreement");
    let ended = b.wait();
    ended.assert_failed(5, "a did not connect within 2 s");
    assert!(
        ended.stderr.contains("another party waits at cloud with a different agreement"),
        "{ended:#?}"
    );
}

#[test]
fn more_parties_than_agreed_change_nothing() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    // A third party has an agreement that names it as well.
    scene.agreement("three.toml", &Terms { parties: &["a", "b", "c"], ..TERMS });
    let c = Running::start(brief(&scene, "three.toml", "c")).wait();
    c.assert_failed(5, "a and b did not connect within 2 s");
    let b = Running::start(scene.party("two.toml", "b"));
    finish(&scene, [a, b], &expected);
}

#[test]
fn limits_of_the_helper_are_reported_to_the_party() {
    let scene = Scene::new();
    scene.write(
        "helper.toml",
        scene.read("helper.toml").replacen(
            &format!("{}\"\n", identity("a")),
            &format!("{}\"\nmax_rows = 1000\n", identity("a")),
            1,
        ),
    );
    let _helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    // The helper also tells the party that is within its own limit.
    for party in ["a", "b"] {
        let ended = Running::start(brief(&scene, "two.toml", party)).wait();
        ended.assert_failed(3, "cloud allows at most 1,000 rows of a, fewer than the agreement");
    }
}

#[test]
fn a_party_gives_up_on_an_unreachable_helper_after_the_wait() {
    let scene = Scene::new();
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    let ended = Running::start(brief(&scene, "two.toml", "a")).wait();
    ended.assert_failed(5, "cloud could not be reached at ");
}

#[test]
fn unusable_settings_and_addresses_of_a_helper_are_reported() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let start = |config: &str, options: &[&str]| {
        let mut command = vesica();
        command.args(["helper", "--key", "helper.key", "--config", config, "--quiet"]);
        command.args(options).current_dir(scene.directory());
        Running::start(command).wait()
    };
    let detached = format!("127.0.0.1:{}", free_port());
    start("none.toml", &[]).assert_failed(3, "the settings file none.toml does not exist");
    scene.write("bad.toml", "[helper]\nlisen = \"127.0.0.1:1\"\n");
    start("bad.toml", &[])
        .assert_failed(3, "bad.toml, line 2, column 1: the field \"helper.lisen\" does not exist");
    scene.write("bad.toml", "[helper]\n");
    start("bad.toml", &[]).assert_failed(3, "no party is listed");
    let options = ["--metrics", "off", "--state", "other", "--listen"];
    start("helper.toml", &[&options[..], &[&scene.address]].concat())
        .assert_failed(3, "in use by another program");
    let options = ["--listen", &detached, "--state"];
    start("helper.toml", &[&options[..], &["kept", "--metrics", "off"]].concat())
        .assert_failed(3, "another helper uses the directory kept");
    start("helper.toml", &[&options[..], &["other", "--metrics", &scene.metrics]].concat())
        .assert_failed(3, "the port is in use");
    start("helper.toml", &[&options[..], &["other", "--metrics", "0.0.0.0:0"]].concat())
        .assert_failed(3, "other machines could read health and metrics");
    let conflict = ["--backend", "disk:here", "--state", "there"];
    start("helper.toml", &conflict).assert_failed(2, "both name the helper's directory");
    start("helper.toml", &["--backend", "mysql://localhost/a"])
        .assert_failed(3, "mysql://localhost/a");
}

/// With three parties, a party has no single peer to which it reports its failure.
#[test]
fn a_party_without_its_file_ends_at_once_in_any_position() {
    let scene = Scene::new();
    with_files(&scene, &["a", "b", "c"], 10);
    scene.agreement("three.toml", &Terms { parties: &["a", "b", "c"], ..TERMS });
    for party in ["a", "b", "c"] {
        let line = format!("run three.toml --key {party}.key --input no.csv --output out.csv");
        let mut command = vesica();
        command.args(line.split(' ')).args(["--connect", &scene.address]);
        command.current_dir(scene.directory());
        Running::start(command).wait().assert_failed(3, "no.csv");
    }
    assert!(scene.states().is_empty(), "{:?}", scene.states());
}

#[test]
fn options_that_do_not_fit_the_kind_of_run_are_refused() {
    let scene = Scene::new();
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    let run = |line: &str| {
        let mut command = vesica();
        command.args(line.split(' ')).current_dir(scene.directory());
        Running::start(command).wait()
    };
    let aided = "run two.toml --key a.key --input a.csv --output a.out.csv";
    run(&format!("{aided} --listen 127.0.0.1:1")).assert_failed(2, "--listen cannot be used here");
    run(aided).assert_failed(2, "the address of cloud is not known");
    run("check two.toml --input a.csv --reach")
        .assert_failed(2, "the address of cloud is not known");
    let text = scene.read("two.toml");
    let (head, rest) = text.split_once("[helper]").unwrap();
    let (_, rest) = rest.split_once("[[key]]").unwrap();
    let head = head.replace("server_aided", "auto");
    scene.write("alone.toml", format!("{head}[[key]]{rest}"));
    let line = aided.replace("two.toml", "alone.toml");
    run(&format!("{line} --connect 127.0.0.1:1 --restart"))
        .assert_failed(2, "--restart is only for runs that keep a state");
    assert!(scene.states().is_empty(), "{:?}", scene.states());
}

/// Only a superuser can change a file's owner; `vesica_link::access_of_others` has the rule for all
/// users.
#[test]
fn state_folders_and_key_files_of_another_user_or_open_to_others_are_refused() {
    let scene = Scene::new();
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    let with = |state: &str| {
        let mut command = scene.party_without("two.toml", "a", &[]);
        command.args(["--state", state, "--output", "a.out.csv"]);
        Running::start(command).wait()
    };
    let give_away = |name: &str| match chown(scene.path(name), Some(12_345), None) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            false
        }
    };
    for name in ["theirs", "open"] {
        fs::create_dir(scene.path(name)).unwrap();
        scene.write(&format!("{name}/vesica-run.lock"), "");
    }
    fs::set_permissions(scene.path("open"), Permissions::from_mode(0o755)).unwrap();
    let told = "other users can enter the state folder open (mode 755)";
    with("open").assert_failed(3, told);
    if give_away("theirs") {
        with("theirs").assert_failed(3, "theirs belongs to another user of this machine");
    }
}
