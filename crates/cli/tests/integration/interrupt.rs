//! Signals that end a command, and those that are ignored when it starts.

use crate::support;
use nix::sys::signal::Signal;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{LIMIT, Place, Running, TERMS, free_port, people};

fn place() -> Place {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    place.write("one.csv", people(0..20));
    place.write("two.csv", people(10..30));
    place
}

fn wait_until_listening(one: &Running) {
    let start = Instant::now();
    while !one.told().contains("listening") {
        assert!(start.elapsed() < LIMIT, "it did not listen: {}", one.told());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// `command`, started by a shell that ignores `signal`, as `nohup` ignores SIGHUP.
fn ignoring(signal: &str, command: &Command) -> Running {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("trap '' {signal}; exec \"$0\" \"$@\""));
    shell.arg(command.get_program()).args(command.get_args());
    Running::start(shell)
}

#[test]
fn each_signal_ends_a_run_with_130() {
    let place = place();
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
        one.args(["--listen", "127.0.0.1:0"]);
        let one = Running::start(one);
        wait_until_listening(&one);
        one.signal(signal);
        one.wait().assert_failed(130, "interrupted");
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let place = place();
    for (name, signal) in
        [("HUP", Signal::SIGHUP), ("INT", Signal::SIGINT), ("TERM", Signal::SIGTERM)]
    {
        let address = format!("127.0.0.1:{}", free_port());
        let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
        one.args(["--force", "--listen", &address]);
        let mut one = ignoring(name, &one);
        wait_until_listening(&one);
        one.signal(signal);
        std::thread::sleep(Duration::from_millis(200));
        assert!(!one.has_ended(), "SIG{name}: {}", one.told());
        let mut two = place.run("agreement.toml", "two", "two.csv", None);
        two.args(["--connect", &address]);
        Running::start(two).wait().assert_code(0);
        one.wait().assert_code(0);
    }
}

#[test]
fn the_other_signals_still_end_a_run_that_ignores_one() {
    let place = place();
    for (name, signal) in [("HUP", Signal::SIGTERM), ("INT", Signal::SIGHUP)] {
        let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
        one.args(["--listen", "127.0.0.1:0"]);
        let one = ignoring(name, &one);
        wait_until_listening(&one);
        one.signal(signal);
        one.wait().assert_failed(130, "interrupted");
    }
}
