//! Runs with a helper: real processes over TLS on real files, compared with a plain join, also when
//! processes are killed at any moment, and with wrong identities, agreements or settings.

mod scene;

mod backends;
mod in_memory;
mod interrupted;
mod memory;
mod refused;
mod reload;
mod steering;

use crate::support::{Running, free_port, vesica};
use nix::sys::signal::Signal;
use scene::{Scene, TERMS, Terms, identity, joined, people, until_told};
use std::fs;

/// Writes files of `parties`, with people of overlapping ranges. Returns the expected results.
fn with_files<'a>(scene: &Scene, parties: &[&'a str], step: u64) -> Vec<(&'a str, String)> {
    let range = |position: usize| {
        let start = position as u64 * step;
        people(start..start + 10 * step)
    };
    let files: Vec<String> = (0..parties.len()).map(range).collect();
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    for (party, file) in parties.iter().zip(&files) {
        scene.write(&format!("{party}.csv"), file);
    }
    parties.iter().zip(&files).map(|(party, file)| (*party, joined(file, &all))).collect()
}

#[track_caller]
fn assert_results(scene: &Scene, expected: &[(&str, String)]) {
    for (party, rows) in expected {
        let written = scene.read(&format!("{party}.out.csv"));
        assert!(
            written == *rows,
            "{party} got {} lines, not {}",
            written.lines().count(),
            rows.lines().count()
        );
    }
}

#[test]
fn three_parties_in_every_order_get_the_common_rows() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b", "c"], 200);
    for order in ["abc", "acb", "bac", "bca", "cab", "cba"] {
        let terms = Terms { title: order, parties: &["a", "b", "c"], ..TERMS };
        scene.agreement(order, &terms);
        let mut came = Vec::new();
        for party in order.chars() {
            let mut command = scene.party(order, &party.to_string());
            command.arg("--force");
            let mut running = Running::start(command);
            if came.len() < 2 {
                until_told(&mut running, "waiting for ");
            }
            came.push(running);
        }
        for running in came {
            let ended = running.wait();
            ended.assert_code(0);
            assert!(ended.stdout.contains("keys common to all 3 parties; "), "{ended:#?}");
        }
        assert_results(&scene, &expected);
    }
    assert!(scene.states().is_empty(), "{:?}", scene.states());
}

#[test]
fn five_parties_of_which_two_receive() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let parties = ["a", "b", "c", "d", "e"];
    let expected = with_files(&scene, &parties, 500);
    scene.agreement("five.toml", &Terms { parties: &parties, receives: "[\"b\", \"d\"]", ..TERMS });
    let run = |party: &str| {
        let receives = ["b", "d"].contains(&party);
        let command = if receives {
            scene.party("five.toml", party)
        } else {
            scene.party_without("five.toml", party, &["--report", &format!("{party}.json")])
        };
        Running::start(command)
    };
    let ended = parties.map(run).map(|running| {
        let ended = running.wait();
        ended.assert_code(0);
        ended
    });
    assert_results(
        &scene,
        &expected.into_iter().filter(|(party, _)| ["b", "d"].contains(party)).collect::<Vec<_>>(),
    );
    assert!(ended[0].stdout.contains("done; b and d receive the result"), "{:#?}", ended[0]);
    // Without a result it had nothing to check.
    let printed = format!("{}{}", ended[0].stdout, ended[0].stderr);
    assert!(
        !printed.contains("self-check") && !printed.contains("the self-check finds"),
        "{printed}"
    );
    assert!(ended[1].stdout.contains("self-check passed"), "{:#?}", ended[1]);
    assert!(!scene.path("a.out.csv").exists());
    let report: serde_json::Value = serde_json::from_str(&scene.read("a.json")).unwrap();
    assert_eq!(report["party"], "a");
    assert_eq!(report["parties"][3]["keys"], 5000);
    assert_eq!(report["result"]["matched_keys"], serde_json::Value::Null);
    assert_eq!(report["result"]["self_check"], "none");
    for [of_phase, of_all] in
        [["bytes_sent", "payload_sent"], ["bytes_received", "payload_received"]]
    {
        let phases = report["phases"].as_array().unwrap().iter();
        let bytes = |name: &str| {
            let phase = phases.clone().find(|phase| phase["name"] == name);
            phase.and_then(|phase| phase[of_phase].as_u64()).unwrap()
        };
        let sum: u64 = phases.clone().map(|phase| phase[of_phase].as_u64().unwrap()).sum();
        assert_eq!(sum, report["network"][of_all].as_u64().unwrap(), "{of_phase}");
        assert!(bytes("meeting") > 0 && bytes("writing") == 0 && bytes("reading") == 0);
        let formula = report["network"][of_phase.replace("bytes", "formula")].as_u64().unwrap();
        assert!(bytes("matching") >= formula, "{of_phase}");
    }
}

#[test]
fn every_protocol_of_two_parties_gives_what_a_plain_join_gives() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 1000);
    for (protocol, security, odds) in [
        ("server_aided", "semi-honest", "is trusted to follow the protocol"),
        ("server_aided_malicious", "malicious", "probability at most 2^-40"),
        ("server_aided_fair", "malicious", "probability at most 2^-40"),
        ("server_aided_size_hiding", "malicious", "probability at most 2^-40"),
    ] {
        scene.agreement("two.toml", &Terms { protocol, security, ..TERMS });
        let run = |party| {
            let mut command = scene.party("two.toml", party);
            command.arg("--force");
            Running::start(command)
        };
        for ended in ["a", "b"].map(run).map(Running::wait) {
            ended.assert_code(0);
            assert!(
                ended.stdout.contains("9,000 keys in common; 9,090 rows written"),
                "{ended:#?}"
            );
            assert!(
                ended.stdout.contains("self-check passed") && ended.stdout.contains(odds),
                "{ended:#?}"
            );
        }
        assert_results(&scene, &expected);
    }
}

#[test]
fn two_values_are_equal_or_differ() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let terms = Terms { protocol: "pet", security: "malicious", max_rows: 1, ..TERMS };
    scene.agreement("pet.toml", &terms);
    scene.write("a.csv", "id,email\n1,Ann@example.org\n");
    for (theirs, says, rows) in [
        ("id,email\n9,ann@example.org \n", "the values are equal; 1 row written", 1),
        ("id,email\n9,bob@example.org\n", "the values differ; 0 rows written", 0),
    ] {
        scene.write("b.csv", theirs);
        let run = |party| {
            let mut command = scene.party("pet.toml", party);
            command.arg("--force");
            Running::start(command)
        };
        for ended in ["a", "b"].map(run).map(Running::wait) {
            ended.assert_code(0);
            assert!(ended.stdout.contains(says), "{ended:#?}");
        }
        assert_eq!(scene.read("b.out.csv").lines().count(), 1 + rows);
    }
}

#[test]
fn a_check_shows_whether_the_helper_accepts_the_run_and_which_parties_are_connected() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 10);
    scene.agreement("two.toml", &TERMS);
    let check = || {
        let mut command = vesica();
        command.args(["check", "two.toml", "--key", "b.key", "--input", "b.csv"]);
        command.args(["--connect", &scene.address, "--wait", "10s"]).current_dir(scene.directory());
        let ended = Running::start(command).wait();
        ended.assert_code(0);
        ended.stdout
    };
    let printed = check();
    assert!(
        printed.contains("cloud can be reached and accepts this run\nno party is connected yet\n"),
        "{printed}"
    );
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    let printed = check();
    assert!(printed.contains("\nalready connected: a\n"), "{printed}");
    assert!(
        printed.contains("100  different keys") && printed.contains("1  with a key seen before"),
        "{printed}"
    );
}

#[test]
fn a_party_with_too_few_different_keys_ends_the_run_for_both_and_they_can_begin_another() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let (protocol, security) = ("server_aided_malicious", "malicious");
    scene.agreement("two.toml", &Terms { protocol, security, ..TERMS });
    // The last table is b's.
    scene.write("two.toml", format!("{}min_rows = 101\n", scene.read("two.toml")));
    // 101 rows, two of which have the same key.
    with_files(&scene, &["a", "b"], 10);
    let run = |party| Running::start(scene.party("two.toml", party));
    let [a, b] = ["a", "b"].map(run).map(Running::wait);
    b.assert_failed(3, "the input has fewer different keys than the agreement requires");
    assert!(b.stderr.contains("at least 101 (min_rows)"), "{b:#?}");
    a.assert_failed(5, "b ended the run");
    assert!(!scene.path("a.out.csv").exists() && !scene.path("b.out.csv").exists());
    assert!(scene.states().is_empty(), "{:?}", scene.states());
    let expected = with_files(&scene, &["a", "b"], 11);
    for ended in ["a", "b"].map(run).map(Running::wait) {
        ended.assert_code(0);
    }
    assert_results(&scene, &expected);
}

#[test]
fn health_and_metrics_answer() {
    let scene = Scene::new();
    let helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    assert!(scene.get("/healthz").ends_with("\r\n\r\nok\n"));
    assert!(scene.get("/readyz").starts_with("HTTP/1.1 200 "));
    for ended in
        ["a", "b"].map(|party| Running::start(scene.party("two.toml", party))).map(Running::wait)
    {
        ended.assert_code(0);
    }
    let text = scene.get("/metrics");
    for line in [
        "vesica_helper_runs_total{outcome=\"finished\"} 1",
        "vesica_helper_open_runs 0",
        "vesica_helper_labels_received_total 2064",
        "vesica_helper_stored_bytes 0",
    ] {
        assert!(text.lines().any(|one| one == line), "{line:?} is not in\n{text}");
    }
    let sees = helper.printed();
    for words in
        ["how many keys are common", "It does not see any party's keys", "not to collude with any"]
    {
        assert!(sees.contains(words), "{sees}");
    }
}

#[test]
fn the_output_of_a_starting_helper_contains_no_password() {
    let scene = Scene::new();
    let mut command = vesica();
    command.args(["helper", "--key", "helper.key", "--config", "helper.toml", "--metrics", "off"]);
    command.args(["--listen", &scene.address, "--backend"]).current_dir(scene.directory());
    command.arg(format!("redis://someone:hunter2@127.0.0.1:{}/0", free_port()));
    let ended = Running::start(command).wait();
    ended.assert_failed(5, "cannot be reached");
    assert!(ended.stderr.contains("someone:***@127.0.0.1"), "{ended:#?}");
    assert!(!format!("{ended:?}").contains("hunter2"), "{ended:#?}");
}

#[test]
fn logs_hold_no_key_and_no_secret() {
    let scene = Scene::new();
    let helper = scene.helper(&["--log", "json", "--log-file", "helper.log"]);
    with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let run = |party: &str| {
        let mut command = scene.party("two.toml", party);
        command.args(["--log", "json", "--log-file", &format!("{party}.log")]);
        Running::start(command)
    };
    let ended = ["a", "b"].map(run).map(Running::wait);
    for ended in &ended {
        ended.assert_code(0);
    }
    helper.signal(Signal::SIGTERM);
    let helper = helper.wait();
    helper.assert_code(0);
    let logs = ["helper.log", "a.log", "b.log"].map(|name| scene.read(name));
    for log in &logs {
        for line in log.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(event["message"].is_string(), "{line}");
        }
    }
    let events = ["run opened", "lists compared", "run finished and forgotten"];
    assert!(events.iter().all(|event| logs[0].contains(event)), "{}", logs[0]);
    let printed = format!("{logs:?}{ended:?}{helper:?}");
    for secret in ["user", "example.com", "vesica-secret1"] {
        assert!(!printed.contains(secret), "{secret:?} was told:\n{printed}");
    }
}

#[test]
fn a_large_set_that_uses_files_gives_the_same_result() {
    let scene = Scene::new();
    let _helper = scene.helper(&["--memory", "64MB"]);
    // More than 16 MB of intermediate data.
    let step = 40_000;
    let expected = with_files(&scene, &["a", "b"], step);
    scene.agreement("two.toml", &TERMS);
    let run = |party: &str| {
        let mut command = scene.party("two.toml", party);
        command.args(["--memory", "16MB"]);
        Running::start(command)
    };
    for ended in ["a", "b"].map(run).map(Running::wait) {
        ended.assert_code(0);
    }
    assert_results(&scene, &expected);
}

#[test]
fn agreements_with_a_helper_are_written_checked_and_shown() {
    let scene = Scene::new();
    let run = |line: &str| {
        let mut command = vesica();
        command.args(line.split(' ')).current_dir(scene.directory());
        Running::start(command).wait()
    };
    let parties =
        ["a", "b", "c"].map(|name| format!("--party {name}={}", identity(name))).join(" ");
    let helper = identity("helper");
    run(&format!("agree new three.toml --helper cloud={helper} {parties} --receives a,c"))
        .assert_code(0);
    let checked = run("agree check three.toml");
    checked.assert_code(0);
    assert!(checked.stdout.contains("parties    a, b and c\nhelper     cloud, "), "{checked:#?}");
    assert!(checked.stdout.contains("received by a and c"), "{checked:#?}");
    let shown = run("agree show three.toml");
    shown.assert_code(0);
    scene.write("canonical.toml", shown.stdout.split("\n# hash").next().unwrap());
    let again = run("agree show canonical.toml");
    assert_eq!(again.stdout, shown.stdout);
    let explained = run("explain three.toml");
    assert!(explained.stdout.contains("cloud works together with NO party"), "{explained:#?}");

    for (protocol, copies) in [("server_aided_malicious", "4 copies"), ("pet", "copies")] {
        let file = format!("{protocol}.toml");
        run(&format!("agree new {file} --helper {helper} --protocol {protocol}")).assert_code(0);
        let text = fs::read_to_string(scene.path(&file)).unwrap();
        assert!(text.contains("security = \"malicious\""), "{text}");
        let text =
            text.replacen("vesica1...", identity("a"), 1).replacen("vesica1...", identity("b"), 1);
        scene.write(&file, text);
        let checked = run(&format!("agree check {file}"));
        checked.assert_code(0);
        assert!(checked.stdout.contains(copies), "{checked:#?}");
    }
    run("agree new bad.toml --helper cloud --operation cardinality")
        .assert_failed(3, "is not available with a helper");
    run("agree new bad.toml --helper cloud --party a").assert_failed(2, "2 to 16 parties");
    assert!(!scene.path("bad.toml").exists());
}
