//! Runs without a state that lose their connection.

use crate::support::{Place, Running, TERMS, Terms, cutting_relay, free_port, people};
use nix::sys::signal::Signal;
use std::time::Duration;

const ROWS: u64 = 10_000;

/// Two parties with half of their rows in common.
fn place(receives: &'static str) -> Place {
    let place = Place::new();
    place.agreement("agreement.toml", &Terms { receives, ..TERMS });
    place.write("one.csv", people(0..ROWS));
    place.write("two.csv", people(ROWS / 2..ROWS + ROWS / 2));
    place
}

/// Starts both parties, with the limit `wait` on waiting for each other. Party `one` listens on the
/// first port, and `two` connects to the second.
fn start(place: &Place, receives: &str, wait: &str, [listen, connect]: [u16; 2]) -> [Running; 2] {
    let ways = [("one", "--listen", listen), ("two", "--connect", connect)];
    ways.map(|(party, way, port)| {
        let output = format!("{party}.out.csv");
        let output = (receives == "all" || receives == party).then_some(&*output);
        let limits = [wait, "20s"];
        let input = format!("{party}.csv");
        let mut command = place.run_within(limits, "agreement.toml", party, &input, output);
        command.args([way, &format!("127.0.0.1:{port}")]).arg("--report");
        command.arg(place.path(&format!("{party}.json")));
        Running::start(command)
    })
}

/// The result in the report of `party`.
fn result(place: &Place, party: &str) -> serde_json::Value {
    let report: serde_json::Value =
        serde_json::from_str(&place.read(&format!("{party}.json"))).unwrap();
    report["result"].clone()
}

#[test]
fn a_run_survives_lost_connections_whoever_receives() {
    for (receives, after) in [
        ("one", [30_000, usize::MAX]),
        ("two", [usize::MAX, 30_000]),
        ("all", [40_000, 40_000]),
        // Each connection breaks soon after the handshake.
        ("all", [9_000, 9_000]),
    ] {
        let undisturbed = place(receives);
        let port = free_port();
        for ended in start(&undisturbed, receives, "30s", [port; 2]).map(Running::wait) {
            ended.assert_code(0);
            assert!(!ended.stderr.contains("is lost"), "{ended:#?}");
        }
        let place = place(receives);
        let listen = free_port();
        let connect = cutting_relay(listen, 4, after);
        let running = start(&place, receives, "30s", [listen, connect]);
        for (ended, peer) in running.map(Running::wait).iter().zip(["two", "one"]) {
            ended.assert_code(0);
            let lost = format!("the connection to {peer} is lost (");
            let again = format!("connected to {peer} again; the run resumes");
            assert!(ended.stderr.contains(&lost) && ended.stderr.contains(&again), "{ended:#?}");
        }
        for party in ["one", "two"] {
            assert_eq!(result(&place, party), result(&undisturbed, party), "{receives}: {party}");
            if receives == "all" || receives == party {
                let common = people(ROWS / 2..ROWS);
                assert_eq!(place.read(&format!("{party}.out.csv")), common, "{receives}: {party}");
            }
        }
    }
}

/// A run in which party number `victim` is killed once the matching has started.
fn killed(victim: usize, wait: &str) -> (Place, Running) {
    let place = Place::new();
    // This protocol takes seconds.
    place.agreement("agreement.toml", &Terms { protocol: "dh", ..TERMS });
    place.write("one.csv", people(0..100_000));
    place.write("two.csv", people(50_000..150_000));
    let mut running = start(&place, "one", wait, [free_port(); 2]);
    let has_started = |running: &Running| running.told().contains("keys here");
    while !running.iter().all(has_started) {
        assert!(
            !running.iter_mut().any(Running::has_ended),
            "{:?}",
            running.each_ref().map(Running::told)
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let [one, two] = running;
    let (killed, survivor) = if victim == 0 { (one, two) } else { (two, one) };
    killed.signal(Signal::SIGKILL);
    killed.wait();
    while !survivor.told().contains("is lost") {
        std::thread::sleep(Duration::from_millis(5));
    }
    (place, survivor)
}

#[test]
fn a_survivor_says_for_what_it_waits_and_ends() {
    for (victim, name) in [(0, "one"), (1, "two")] {
        let (place, survivor) = killed(victim, "4s");
        let ended = survivor.wait_within(Duration::from_secs(60));
        ended.assert_failed(5, &format!("{name} closed the connection"));
        let line = format!(
            "the connection to {name} is lost (it was closed); waiting up to 4 s for a new \
             one; Ctrl-C ends the run"
        );
        assert!(ended.stderr.contains(&line), "{ended:#?}");
        assert!(ended.took >= Duration::from_secs(4), "{ended:#?}");
        assert!(!place.path("one.out.csv").exists());
    }
}

#[test]
fn an_interrupt_ends_the_wait_for_a_lost_connection() {
    for victim in [0, 1] {
        let (_place, survivor) = killed(victim, "100s");
        let since = std::time::Instant::now();
        survivor.signal(Signal::SIGINT);
        let ended = survivor.wait();
        ended.assert_code(130);
        assert!(since.elapsed() < Duration::from_secs(5), "{ended:#?}");
    }
}

#[test]
fn a_run_that_is_started_again_on_one_side_is_refused_on_both() {
    let (place, survivor) = killed(1, "50s");
    let told = survivor.told();
    let address = told.lines().find_map(|line| line.strip_prefix("listening on ")).unwrap();
    let address = address.split_whitespace().next().unwrap();
    let mut again = place.run("agreement.toml", "two", "two.csv", None);
    again.args(["--connect", address]);
    Running::start(again).wait().assert_failed(5, "one at").assert_failed(5, "earlier run");
    survivor.wait().assert_failed(5, "two has started a new run");
}
