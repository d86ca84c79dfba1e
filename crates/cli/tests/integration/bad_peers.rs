//! Peers that are absent, killed, stopped, misconfigured or unknown: both sides end with a clear
//! error and leave no part of a result.

use crate::support;
use nix::sys::signal::Signal;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use support::{Place, Running, TERMS, Terms, free_port, people};

fn small_place() -> Place {
    let place = Place::new();
    place.write("one.csv", people(0..300));
    place.write("two.csv", people(200..500));
    place.agreement("agreement.toml", &TERMS);
    place
}

fn one(place: &Place, address: &[&str]) -> Running {
    let mut command = place.run_brief("agreement.toml", "one", "one.csv", Some("out.csv"));
    command.args(address);
    Running::start(command)
}

fn two(place: &Place, address: &[&str]) -> Running {
    let mut command = place.run_brief("agreement.toml", "two", "two.csv", None);
    command.args(address);
    Running::start(command)
}

fn address() -> String {
    format!("127.0.0.1:{}", free_port())
}

#[test]
fn a_run_gives_up_on_an_absent_peer_after_the_wait() {
    let place = small_place();
    let ended = one(&place, &["--listen", &address()]).wait();
    ended.assert_failed(5, "two");
    assert!(ended.took >= Duration::from_secs(3) && ended.took < Duration::from_secs(15));
    let ended = two(&place, &["--connect", &address()]).wait();
    ended.assert_failed(5, "one");
    assert!(ended.took >= Duration::from_secs(3) && ended.took < Duration::from_secs(15));
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn two_listeners_and_two_connectors_both_give_up() {
    let place = small_place();
    let (listen_1, listen_2) =
        (one(&place, &["--listen", &address()]), two(&place, &["--listen", &address()]));
    let nowhere = address();
    let (connect_1, connect_2) =
        (one(&place, &["--connect", &nowhere]), two(&place, &["--connect", &nowhere]));
    for running in [listen_1, listen_2, connect_1, connect_2] {
        running.wait().assert_failed(5, "");
    }
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn a_port_in_use_is_reported() {
    let place = small_place();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    one(&place, &["--listen", &address]).wait().assert_failed(3, "in use");
}

#[test]
fn garbage_and_silence_on_the_port_do_not_block_the_peer() {
    let place = small_place();
    let address = address();
    let mut listening = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    listening.args(["--listen", &address]);
    let listening = Running::start(listening);
    let connect = || loop {
        if let Ok(stream) = TcpStream::connect(&address) {
            return stream;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let silent: Vec<TcpStream> = (0..50).map(|_| connect()).collect();
    for garbage in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), &[0xff; 5000], &[22, 3, 1, 255, 255, 1]] {
        let _ = connect().write_all(garbage);
    }
    let connecting = two(&place, &["--connect", &address]);
    connecting.wait().assert_code(0);
    listening.wait().assert_code(0);
    drop(silent);
    assert_eq!(place.read("out.csv"), people(200..300));
}

#[test]
fn a_peer_with_another_identity_is_refused() {
    let place = small_place();
    let stranger = Place::new();
    // The stranger's agreement has the real `one`, and the stranger's own identity as `two`.
    let text = place.read("agreement.toml").replace(&place.identities[1], &stranger.identities[1]);
    stranger.write("agreement.toml", text);
    stranger.write("two.csv", people(200..500));
    let address = address();
    let listening = one(&place, &["--listen", &address]);
    let connecting = two(&stranger, &["--connect", &address]);
    connecting.wait().assert_failed(4, "identity");
    let ended = listening.wait();
    assert!(ended.code == Some(4) || ended.code == Some(5), "{ended:#?}");
    assert!(ended.stderr.contains(&stranger.identities[1]), "{ended:#?}");
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn two_sides_with_the_same_key_get_an_error_that_says_so() {
    let place = small_place();
    let address = address();
    let (a, b) = (one(&place, &["--listen", &address]), {
        let mut command = place.run_brief("agreement.toml", "one", "one.csv", Some("other.csv"));
        command.args(["--connect", &address]);
        Running::start(command)
    });
    a.wait().assert_failed(4, "the same identity as this side");
    b.wait().assert_failed(4, "the same identity as this side");
    place.assert_no_leftovers(&["out.csv", "other.csv"]);
}

#[test]
fn different_agreements_are_shown_field_by_field_on_both_sides() {
    let place = small_place();
    place.agreement("other.toml", &Terms { title: "another title", max_rows: 777, ..TERMS });
    let address = address();
    let listening = one(&place, &["--listen", &address]);
    let mut command = place.run_brief("other.toml", "two", "two.csv", None);
    command.args(["--connect", &address]);
    let connecting = Running::start(command);
    for ended in [listening.wait(), connecting.wait()] {
        ended.assert_failed(4, "another title");
        assert!(ended.stderr.contains("777") && ended.stderr.contains("max_rows"), "{ended:#?}");
    }
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn a_check_against_a_run_is_reported_on_both_sides() {
    let place = small_place();
    let address = address();
    let listening = one(&place, &["--listen", &address]);
    let mut command = support::vesica();
    command.arg("check").arg(place.path("agreement.toml"));
    command.arg("--key").arg(place.path("two.key"));
    command.arg("--input").arg(place.path("two.csv"));
    command.args(["--wait", "3s", "--connect", &address]);
    let checking = Running::start(command);
    listening.wait().assert_failed(4, "the other side uses `vesica check`, this side `vesica run`");
    checking.wait().assert_failed(4, "the other side uses `vesica run`, this side `vesica check`");
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn an_expired_agreement_is_refused_on_both_sides() {
    let place = small_place();
    place.agreement("agreement.toml", &Terms { more: "expires = 2020-01-31", ..TERMS });
    one(&place, &["--listen", &address()]).wait().assert_failed(3, "2020-01-31");
    two(&place, &["--connect", &address()]).wait().assert_failed(3, "2020-01-31");
}

#[test]
fn a_key_that_belongs_to_no_party_is_refused() {
    let place = small_place();
    let stranger = Place::new();
    let mut command = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    command.arg("--listen").arg(address());
    std::fs::copy(stranger.path("one.key"), place.path("one.key")).unwrap();
    Running::start(command).wait().assert_failed(3, &stranger.identities[0]);
}

#[test]
fn bad_data_on_one_side_ends_the_other_side_too() {
    let place = small_place();
    let mut ragged = people(0..200_000);
    ragged.push_str("only-one-field\n");
    place.write("one.csv", ragged);
    let address = address();
    let (a, b) = (one(&place, &["--listen", &address]), two(&place, &["--connect", &address]));
    a.wait().assert_failed(3, "200002");
    b.wait().assert_failed(5, "one");
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn a_side_that_fails_before_it_connects_informs_the_other() {
    let place = small_place();
    place.write("bad.csv", "id,nothing\n1,2\n");
    place.write("taken.csv", "precious");
    let nowhere = place.path("nodir/log");
    let nowhere = nowhere.to_str().unwrap();
    let fail = |party: &str, input: &str, output: Option<&str>, more: &[&str], at: &[&str]| {
        let mut command = place.run_brief("agreement.toml", party, input, output);
        command.args(more).args(at);
        Running::start(command)
    };
    let wait = |party: &str, input: &str, output: Option<&str>, at: &[&str]| {
        let mut command = place.run("agreement.toml", party, input, output);
        command.args(at);
        Running::start(command)
    };
    // If the failing party connects, the waiting one learns of it at once; if it listens, at the
    // next attempt to connect.
    for (input, more) in
        [("no.csv", &[][..]), ("bad.csv", &[]), ("two.csv", &["--log-file", nowhere])]
    {
        let address = address();
        let waiting = wait("one", "one.csv", Some("out.csv"), &["--listen", &address]);
        while !waiting.told().contains("listening") && !waiting.told().contains("waiting") {
            std::thread::sleep(Duration::from_millis(20));
        }
        fail("two", input, None, more, &["--connect", &address]).wait().assert_failed(3, "");
        let ended = waiting.wait();
        ended.assert_failed(5, "two stopped because of its own");
        assert!(!ended.stderr.contains("no.csv") && !ended.stderr.contains("nodir"), "{ended:#?}");
    }
    let address = address();
    let waiting = wait("two", "two.csv", None, &["--connect", &address]);
    fail("one", "one.csv", Some("taken.csv"), &[], &["--listen", &address])
        .wait()
        .assert_failed(3, "");
    waiting.wait().assert_failed(5, "one stopped because of its own settings");
    assert_eq!(place.read("taken.csv"), "precious");
    place.assert_no_leftovers(&["out.csv"]);
}

/// Files large enough that a run takes a few seconds, so that a signal meets every phase.
fn large_place() -> Place {
    let place = Place::new();
    place.write("one.csv", people(0..120_000));
    place.write("two.csv", people(60_000..180_000));
    place.agreement("agreement.toml", &TERMS);
    place
}

/// Sends `signal` to one side at several moments of a run. The other side must end on its own, and
/// no part of a result may remain.
fn signal_in_every_phase(signal: Signal, victim_is_one: bool) {
    let place = large_place();
    for delay_ms in [30, 100, 200, 350, 600, 1000, 1600] {
        let address = address();
        let listening = one(&place, &["--listen", &address]);
        let connecting = two(&place, &["--connect", &address]);
        let (mut victim, mut other) =
            if victim_is_one { (listening, connecting) } else { (connecting, listening) };
        std::thread::sleep(Duration::from_millis(delay_ms));
        let too_late = victim.has_ended() || other.has_ended();
        victim.signal(signal);
        let ended = other.wait_within(Duration::from_secs(60));
        if signal == Signal::SIGSTOP {
            victim.signal(Signal::SIGKILL);
        }
        let victim = victim.wait_within(Duration::from_secs(60));
        if !too_late && victim.code != Some(0) {
            // The peer may have just finished its part.
            assert!(matches!(ended.code, Some(0 | 5)), "after {delay_ms} ms: {ended:#?}");
        }
        if ended.code != Some(0) {
            ended.assert_failed(5, if victim_is_one { "one" } else { "two" });
        }
        if signal == Signal::SIGINT && victim.code != Some(0) {
            // A process that has printed nothing may have no signal handler yet, so the signal
            // kills it.
            let ends_early = victim.code.is_none() && victim.stderr.is_empty();
            assert!(victim.code == Some(130) || ends_early, "{victim:#?}");
        }
        let receiver = if victim_is_one { &victim } else { &ended };
        if receiver.code != Some(0) && signal != Signal::SIGKILL && signal != Signal::SIGSTOP {
            place.assert_no_leftovers(&["out.csv"]);
        }
        if !victim_is_one && receiver.code != Some(0) {
            place.assert_no_leftovers(&["out.csv"]);
        }
        if receiver.code != Some(0) {
            assert!(!place.path("out.csv").exists(), "a result without success");
        }
        let _ = std::fs::remove_file(place.path("out.csv"));
    }
}

#[test]
fn a_killed_receiver_ends_the_sender() {
    signal_in_every_phase(Signal::SIGKILL, true);
}

#[test]
fn a_killed_sender_ends_the_receiver() {
    signal_in_every_phase(Signal::SIGKILL, false);
}

#[test]
fn a_stopped_receiver_ends_the_sender_within_the_idle_limit() {
    signal_in_every_phase(Signal::SIGSTOP, true);
}

#[test]
fn a_stopped_sender_ends_the_receiver_within_the_idle_limit() {
    signal_in_every_phase(Signal::SIGSTOP, false);
}

#[test]
fn an_interrupted_receiver_tells_the_sender() {
    signal_in_every_phase(Signal::SIGINT, true);
}

#[test]
fn an_interrupted_sender_tells_the_receiver() {
    signal_in_every_phase(Signal::SIGINT, false);
}

#[test]
fn a_report_never_takes_the_place_of_a_pipe_or_a_link() {
    let place = small_place();
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    place.write("target.json", "precious");
    std::os::unix::fs::symlink(place.path("target.json"), place.path("link")).unwrap();
    for name in ["pipe", "link"] {
        let mut command = place.run_brief("agreement.toml", "one", "one.csv", Some("out.csv"));
        command.arg("--report").arg(place.path(name)).arg("--listen").arg(address());
        Running::start(command).wait().assert_failed(3, name);
        assert!(!std::fs::symlink_metadata(place.path(name)).unwrap().is_file());
    }
    assert_eq!(place.read("target.json"), "precious");
}

#[test]
fn padding_beyond_the_memory_is_an_error_and_not_an_abort() {
    let place = small_place();
    // An intersection would run in partitions.
    let (operation, protocol) = ("cardinality", "gmrss21_cardinality");
    let (more, max_rows) = ("hide_sizes = true", 400_000_000);
    let terms = Terms { operation, protocol, max_rows, more, ..TERMS };
    place.agreement("agreement.toml", &terms);
    let address = address();
    let limited = |running: std::process::Command| {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]).arg(running.get_program());
        shell.args(running.get_args());
        Running::start(shell)
    };
    let mut one = place.run_brief("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--listen", &address]);
    let mut two = place.run_brief("agreement.toml", "two", "two.csv", None);
    two.args(["--connect", &address]);
    let (one, two) = (limited(one), limited(two));
    let ended = [one.wait(), two.wait()];
    assert!(ended.iter().any(|one| one.code == Some(3)), "{ended:#?}");
    for one in &ended {
        assert!(matches!(one.code, Some(3 | 5)), "{one:#?}");
        one.assert_failed(one.code.unwrap_or(0), "");
    }
    place.assert_no_leftovers(&["out.csv"]);
}
