//! A run never overwrites a file that it reads, reports keys that cannot match, and says when a
//! result is in place.

use crate::support;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{Place, Running, TERMS, Terms, people, vesica};

fn place() -> Place {
    let place = Place::new();
    place.agreement("agreement.toml", &TERMS);
    place.write("one.csv", people(0..20));
    place.write("two.csv", people(10..30));
    place
}

/// The same place, but with an agreement with a helper.
fn aided() -> Place {
    let place = place();
    let helper = vesica_link::PublicIdentity::from_bytes([3; 32]);
    let more = format!("[helper]\nidentity = \"{helper}\"\n");
    let terms = Terms { more: &more, max_rows: 1000, protocol: "server_aided", ..TERMS };
    place.agreement("agreement.toml", &terms);
    place
}

/// A run of `one` in the test's folder that waits one second for its peer.
fn alone(place: &Place, words: &[&str]) -> Command {
    let mut command = vesica();
    command.current_dir(place.path(""));
    command.args([
        "run",
        "agreement.toml",
        "--key",
        "one.key",
        "--input",
        "one.csv",
        "--wait",
        "1s",
    ]);
    command.args(["--connect", "127.0.0.1:1"]).args(words);
    command
}

/// Names for the file `name`: itself, a hard link, a symbolic link, and another path.
fn names(place: &Place, name: &str) -> [String; 4] {
    fs::hard_link(place.path(name), place.path(&format!("hard-{name}"))).unwrap();
    symlink(name, place.path(&format!("soft-{name}"))).unwrap();
    fs::create_dir_all(place.path("below")).unwrap();
    [name.to_owned(), format!("hard-{name}"), format!("soft-{name}"), format!("below/../{name}")]
}

#[test]
fn a_run_never_overwrites_a_file_that_it_reads_under_any_name() {
    for place in [place(), aided()] {
        for (name, what) in
            [("agreement.toml", "agreement"), ("one.key", "key"), ("one.csv", "input")]
        {
            let before = place.read(name);
            for other in names(&place, name) {
                for option in ["--output", "--report", "--log-file"] {
                    let mut words = vec![option, &other];
                    if option == "--output" {
                        words.push("--force");
                    } else {
                        words.extend(["--output", "o.csv"]);
                    }
                    // For names in .csv the engine reports this.
                    let ended = Running::start(alone(&place, &words)).wait();
                    ended.assert_failed(3, &format!("is the {what} file"));
                    assert_eq!(place.read(name), before, "{option} {other}");
                }
            }
        }
        assert!(!place.path("o.csv").exists());
    }
}

#[test]
fn outputs_are_different_files() {
    let place = place();
    place.write("there.json", "{}");
    fs::hard_link(place.path("there.json"), place.path("again.json")).unwrap();
    for words in [
        ["--output", "o.csv", "--report", "below/../o.csv"],
        ["--report", "there.json", "--log-file", "again.json"],
        ["--report", "new.json", "--log-file", "./new.json"],
    ] {
        fs::create_dir_all(place.path("below")).unwrap();
        let ended = Running::start(alone(&place, &words)).wait();
        ended.assert_failed(3, " is the ");
    }
    assert_eq!(place.read("there.json"), "{}");
}

#[test]
fn names_of_directories_are_refused_before_the_match() {
    for place in [place(), aided()] {
        for (option, name) in
            [("--output", "o.csv/"), ("--output", "o.csv/."), ("--report", "r.json/")]
        {
            let mut words = vec![option, name];
            if option == "--report" {
                words.extend(["--output", "o.csv"]);
            }
            Running::start(alone(&place, &words)).wait().assert_failed(3, "is a directory");
        }
    }
}

#[test]
fn a_check_and_combine_write_to_no_file_that_they_read() {
    let place = place();
    let before = place.read("one.csv");
    for log in ["one.csv", "agreement.toml"] {
        let mut command = vesica();
        command.current_dir(place.path(""));
        command.args(["check", "agreement.toml", "--input", "one.csv", "--log-file", log]);
        Running::start(command).wait().assert_failed(3, "the log file");
    }
    assert_eq!(place.read("one.csv"), before);
}

#[test]
fn files_in_the_folder_of_the_run_are_refused() {
    let place = aided();
    fs::create_dir(place.path("state")).unwrap();
    for option in ["--output", "--report", "--log-file"] {
        let name = format!("state/o.{}", if option == "--report" { "json" } else { "csv" });
        let mut words = vec![option, &name, "--state", "state"];
        if option != "--output" {
            words.extend(["--output", "o.csv"]);
        }
        let ended = Running::start(alone(&place, &words)).wait();
        ended.assert_failed(3, "which is removed at the end of the run");
    }
}

#[test]
fn wrongly_quoted_keys_end_a_run_before_anything_is_sent() {
    for place in [place(), aided()] {
        place.write("one.csv", "id,email\n1,a@b.example\n2, \"b@b.example\"\n");
        let ended = Running::start(alone(&place, &["--output", "o.csv"])).wait();
        let says = "line 3: column \"email\" has a blank before an opening quote";
        // A run with a helper connects to it before it reads rows.
        if ended.code == Some(3) {
            ended.assert_failed(3, says);
        } else {
            assert!(place.read("agreement.toml").contains("[helper]"), "{ended:#?}");
        }
        place.assert_no_leftovers(&["o.csv"]);
    }
}

#[test]
fn a_few_keys_in_single_quotes_are_a_warning_of_the_run_even_when_quiet() {
    let place = place();
    place.write("one.csv", people(0..20) + "99,'x@example.com'\n");
    for quiet in [false, true] {
        let mut one = place.run("agreement.toml", "one", "one.csv", Some("o.csv"));
        one.args(quiet.then_some("--quiet")).arg("--force");
        let two = place.run("agreement.toml", "two", "two.csv", None);
        let [one, two] = place.run_both(one, two);
        two.assert_code(0);
        let warning = "warning: column \"email\" has values in single quotes, and the quotes are \
                       compared too, in 1 row: line 22";
        assert!(one.assert_code(0).stderr.lines().any(|line| line == warning), "{one:#?}");
        assert!(!one.stderr.contains("x@"), "{one:#?}");
    }
}

fn with_stdout(place: &Place, output: &str, report: Option<&Path>) -> [support::Ended; 2] {
    let output = (!output.is_empty()).then_some(output);
    let mut one = place.run("agreement.toml", "one", "one.csv", output);
    if let Some(report) = report {
        one.arg("--report").arg(report);
    }
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let address = format!("127.0.0.1:{}", support::free_port());
    one.args(["--listen", &address]).stdin(Stdio::null());
    two.args(["--connect", &address]);
    let two = Running::start(two);
    let mut child = one.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    let code = child.wait().unwrap().code();
    let took = std::time::Duration::ZERO;
    [support::Ended { code, stdout: String::new(), stderr, took }, two.wait()]
}

#[test]
fn a_lost_summary_is_reported_with_the_place_of_the_result() {
    let place = place();
    let report = place.path("r.json");
    let [one, two] = with_stdout(&place, "o.csv", Some(&report));
    two.assert_code(0);
    one.assert_failed(3, "the summary cannot be written to standard output: the disk is full");
    assert!(one.stderr.contains("its result is in "), "{one:#?}");
    assert_eq!(place.read("o.csv"), people(10..20));
    assert!(place.read("r.json").contains("\"matched_keys\": 10"));
}

#[test]
fn a_run_whose_answer_would_be_lost_is_refused_before_the_match() {
    let place = place();
    place.agreement("agreement.toml", &Terms { operation: "cardinality", ..TERMS });
    let run = |more: &str, redirect: &str| {
        let line = format!(
            "exec \"$0\" run agreement.toml --key one.key --input one.csv --wait 1s \
             --connect 127.0.0.1:1 {more} {redirect}"
        );
        let mut shell = Command::new("sh");
        shell.current_dir(place.path("")).arg("-c").arg(line);
        shell.arg(env!("CARGO_BIN_EXE_vesica")).stdin(Stdio::null());
        Running::start(shell).wait()
    };
    run("", ">&-").assert_failed(3, "standard output is closed: the answer would be lost");
    for redirect in ["", ">&-"] {
        run("--quiet", redirect).assert_failed(3, "--quiet prints no answer");
    }
    // The answer is kept in a report, or printed.
    let kept = [("--report r.json", ">&-"), ("--report r.json --quiet", "")];
    for (more, redirect) in kept.into_iter().chain([("", ">/dev/null"), ("", "")]) {
        run(more, redirect).assert_code(5);
    }
}

#[test]
fn too_few_descriptors_are_not_reported_as_a_fault_of_the_file() {
    let place = place();
    let line = "ulimit -n 4; exec \"$0\" check agreement.toml --input one.csv --quiet";
    let mut shell = Command::new("sh");
    shell.current_dir(place.path("")).arg("-c").arg(line);
    shell.arg(env!("CARGO_BIN_EXE_vesica")).stdin(Stdio::null());
    let ended = Running::start(shell).wait();
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    assert!(!ended.stderr.contains("check the file and the disk"), "{ended:#?}");
    assert!(ended.stderr.contains("ulimit -n"), "{ended:#?}");
}

#[test]
fn output_that_is_not_read_is_not_a_failure() {
    let mut command = vesica();
    let mut child = command.args(["completions", "zsh"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
