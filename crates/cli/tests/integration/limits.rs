//! System limits and signals: each ends a run with a clear message and leaves no files behind.

use crate::support;
use nix::sys::signal::Signal;
use std::net::TcpStream;
use std::time::Duration;
use support::{LIMIT, Place, Running, TERMS, Terms, free_port, limited, people};

fn place(rows: u64) -> Place {
    let place = Place::new();
    place.write("one.csv", people(0..rows));
    place.write("two.csv", people(rows / 2..rows * 3 / 2));
    place.agreement("agreement.toml", &TERMS);
    place
}

fn address() -> String {
    format!("127.0.0.1:{}", free_port())
}

fn wait_until(what: &str, reached: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !reached() {
        assert!(start.elapsed() < LIMIT, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_leaves_no_file_behind() {
    let place = place(20_000);
    let address = address();
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--listen", &address]);
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.args(["--connect", &address]);
    // 4 blocks of 1024 bytes.
    let (one, two) = (limited("-f 4", &one), Running::start(two));
    one.wait().assert_failed(3, "the file would be larger than the system allows");
    two.wait().assert_code(0);
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn an_unwritable_report_is_reported_and_the_result_stays() {
    let place = place(20);
    let address = address();
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--listen", &address]).arg("--quiet").arg("--report").arg(place.path("report.json"));
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.args(["--connect", &address]);
    // The ten rows fit in 1024 bytes, the report does not.
    let (one, two) = (limited("-f 1", &one), Running::start(two));
    let one = one.wait();
    one.assert_failed(3, "cannot be written");
    assert!(one.stderr.contains("its result is in "), "{one:#?}");
    two.wait().assert_code(0);
    assert_eq!(place.read("out.csv"), people(10..20));
    assert!(!place.path("report.json").exists());
}

#[test]
fn a_figure_that_was_printed_is_not_lost_with_the_report() {
    for (quiet, told) in [(false, "only the report is lost"), (true, "its answer is lost")] {
        let place = place(20);
        place.agreement("agreement.toml", &Terms { operation: "cardinality", ..TERMS });
        let address = address();
        let mut one = place.run("agreement.toml", "one", "one.csv", None);
        one.args(["--listen", &address]).arg("--report").arg(place.path("report.json"));
        one.args(quiet.then_some("--quiet"));
        let mut two = place.run("agreement.toml", "two", "two.csv", None);
        two.args(["--connect", &address]);
        let (one, two) = (limited("-f 1", &one), Running::start(two));
        let one = one.wait();
        one.assert_failed(3, told);
        assert_eq!(one.stdout.contains("10"), !quiet, "{one:#?}");
        two.wait().assert_code(0);
    }
}

#[test]
fn a_second_interrupt_ends_the_closing_at_once_with_a_message() {
    let place = place(2_000);
    let address = address();
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--listen", &address]).arg("--report").arg(place.path("report.json"));
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.args(["--connect", &address]);
    let one = Running::start(one);
    wait_until("one listens", || one.told().contains("listening"));
    let two = Running::start(two);
    // A stopped peer does not read the closing message, so sending it takes all of its time limit.
    wait_until("they meet", || one.told().contains("connected to"));
    two.signal(Signal::SIGSTOP);
    one.signal(Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(100));
    one.signal(Signal::SIGINT);
    let ended = one.wait();
    two.signal(Signal::SIGKILL);
    // The run may have ended before the second signal, or have closed quickly.
    if ended.stderr.contains("stopped at once") {
        ended.assert_code(130);
    } else {
        assert!(matches!(ended.code, Some(0 | 130)), "{ended:#?}");
    }
    if ended.code == Some(130) {
        place.assert_no_leftovers(&["out.csv", "report.json"]);
    }
    for entry in std::fs::read_dir(place.path(".")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with(".vesica-"), "{name} was left behind");
    }
}

#[test]
fn a_kill_while_a_run_waits_leaves_no_files_behind() {
    let place = place(100);
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--listen", &address()]).arg("--report").arg(place.path("report.json"));
    let one = Running::start(one);
    wait_until("one listens", || one.told().contains("listening"));
    one.signal(Signal::SIGKILL);
    assert_eq!(one.wait().code, None);
    for entry in std::fs::read_dir(place.path(".")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.') && name != "report.json", "{name} was left behind");
    }
}

#[test]
fn many_connections_do_not_block_the_peer_of_a_process_with_few_descriptors() {
    let place = place(100);
    let address = address();
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--listen", &address]);
    let one = limited("-n 24", &one);
    wait_until("one listens", || one.told().contains("listening"));
    let crowd: Vec<TcpStream> =
        (0..300).filter_map(|_| TcpStream::connect(&address).ok()).collect();
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.args(["--connect", &address]);
    Running::start(two).wait().assert_code(0);
    one.wait().assert_code(0);
    drop(crowd);
}

/// Whether the limits leave enough to load the program at all.
fn can_be_loaded(limit: &str) -> bool {
    let mut version = support::vesica();
    version.arg("--version");
    limited(limit, &version).wait().code == Some(0)
}

/// Limits on address space, each some megabytes higher, from the second one under which the program
/// can be loaded: a failure to load is the system's.
fn rising_limits() -> impl Iterator<Item = String> {
    let limits = (20_000..1_000_000).step_by(3_000).map(|kilobytes| format!("-v {kilobytes}"));
    limits.skip_while(|limit| !can_be_loaded(limit)).skip(1)
}

/// Whether the process succeeded; if not, it must have reported which resource ran out.
#[track_caller]
fn assert_done_or_told(limit: &str, ended: &support::Ended) -> bool {
    if ended.code == Some(0) {
        return true;
    }
    ended.assert_failed(3, "the system cannot give this process any more ");
    let words = ended.stderr.matches("the system cannot give this process any more ").count();
    assert_eq!(words, 1, "{limit}: {ended:#?}");
    false
}

#[test]
fn a_run_without_memory_reports_that_and_leaves_no_files_behind() {
    let place = place(2_000);
    for (failed, limit) in rising_limits().enumerate() {
        let address = address();
        let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
        one.args(["--listen", &address]);
        let one = limited(&limit, &one);
        wait_until("one listens or has ended", || {
            one.told().contains("listening") || one.is_over()
        });
        let mut two = place.run("agreement.toml", "two", "two.csv", None);
        two.args(["--connect", &address]);
        // If one has ended, two gets no answer; dropping it kills it.
        let two = Running::start(two);
        if assert_done_or_told(&limit, &one.wait()) {
            two.wait().assert_code(0);
            assert!(failed > 0, "{limit}: no limit was too low");
            return;
        }
        place.assert_no_leftovers(&["out.csv"]);
    }
    panic!("no limit was high enough");
}

#[test]
fn a_check_without_memory_reports_that() {
    let place = place(2_000);
    for limit in rising_limits() {
        let mut check = support::vesica();
        check
            .arg("check")
            .arg(place.path("agreement.toml"))
            .arg("--key")
            .arg(place.path("one.key"));
        check.arg("--input").arg(place.path("one.csv"));
        if assert_done_or_told(&limit, &limited(&limit, &check).wait()) {
            return;
        }
    }
    panic!("no limit was high enough");
}

#[test]
fn a_full_disk_under_the_log_is_reported_once_and_does_not_end_the_run() {
    let place = place(100);
    let logged = |party: &str, input: &str, output: Option<&str>| {
        let mut command = place.run("agreement.toml", party, input, output);
        command.args(["--log", "json", "--log-file", "/dev/full"]);
        command
    };
    let ended =
        place.run_both(logged("one", "one.csv", Some("out.csv")), logged("two", "two.csv", None));
    for ended in ended {
        ended.assert_code(0);
        let warning = "warning: the log cannot be written (";
        assert_eq!(ended.stderr.matches(warning).count(), 1, "{ended:#?}");
    }
    assert_eq!(place.read("out.csv").lines().count(), 51);
}

#[test]
fn a_key_is_not_overwritten_by_an_agreement() {
    let place = place(1);
    let key = place.read("one.key");
    let mut command = support::vesica();
    command.args(["agree", "new"]).arg(place.path("one.key")).arg("--force");
    Running::start(command).wait().assert_failed(3, "one.key");
    assert_eq!(place.read("one.key"), key);
}
