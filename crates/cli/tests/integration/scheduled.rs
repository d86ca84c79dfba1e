//! The line for a scheduler in `docs/exchange.md`: what it does for each exit code.

use crate::docs::page;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The command of the line, changed to `folder` and the program `vesica` in it.
fn line(folder: &Path) -> String {
    let page = page("docs/exchange.md");
    let line = page.lines().find(|line| line.trim_start().starts_with("*/10 * * * *"));
    let line = line.expect("the document has a line of cron").trim_start();
    assert!(!line.contains('%'), "cron takes it for the end of a line");
    let command = line.splitn(6, ' ').nth(5).unwrap().trim_start();
    assert!(command.contains("/srv/match") && command.contains("vesica run"));
    command.replace("/srv/match", folder.to_str().unwrap())
}

/// A program that records each call, and ends with the exit code in the file `code`.
const PROGRAM: &str = "#!/bin/sh
echo called >> calls
code=$(cat code)
case $code in kill) kill -9 $$;; *) exit $code;; esac
";

struct Scheduled {
    folder: tempfile::TempDir,
    line: String,
}

impl Scheduled {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let line = line(folder.path());
        let program = folder.path().join("vesica");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, line }
    }

    /// Runs the line as cron does. Returns whether it called the program, and the output to mail.
    fn call(&self, code: &str) -> (bool, String) {
        let calls = || fs::read(self.folder.path().join("calls")).map_or(0, |calls| calls.len());
        fs::write(self.folder.path().join("code"), code).unwrap();
        let before = calls();
        let path = format!("{}:/usr/bin:/bin", self.folder.path().display());
        let called =
            Command::new("/bin/sh").args(["-c", &self.line]).env("PATH", path).output().unwrap();
        let words = [called.stdout, called.stderr].concat();
        (calls() > before, String::from_utf8(words).unwrap())
    }

    fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }
}

#[test]
fn a_match_is_over_after_a_result_alone() {
    for code in ["0", "1"] {
        let scheduled = Scheduled::new();
        assert!(scheduled.call("75").0);
        assert!(scheduled.call(code).0 && scheduled.has("done") && !scheduled.has("stopped"));
        assert_eq!(scheduled.call("0"), (false, String::new()), "{code}");
    }
}

#[test]
fn what_may_pass_is_tried_again() {
    for code in ["5", "75", "130", "kill", "126", "127", "134", "143"] {
        let scheduled = Scheduled::new();
        for _ in 0..3 {
            assert!(scheduled.call(code).0, "{code}");
            assert!(!scheduled.has("done") && !scheduled.has("stopped"), "{code}");
        }
    }
}

#[test]
fn what_somebody_must_see_to_stops_the_calls_and_is_told_each_time() {
    for code in ["2", "3", "4", "70", "77"] {
        let scheduled = Scheduled::new();
        assert!(scheduled.call(code).0 && scheduled.has("stopped"), "{code}");
        for _ in 0..2 {
            let (is_called, words) = scheduled.call("0");
            assert!(!is_called && words.contains("stopped"), "{code}: {words}");
            assert!(!scheduled.has("done"), "{code}");
        }
        fs::remove_file(scheduled.folder.path().join("stopped")).unwrap();
        assert!(scheduled.call("75").0, "{code}");
    }
}
