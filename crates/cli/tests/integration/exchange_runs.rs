//! `vesica exchange`: lists the runs in the parties' shared folder, and removes old ones.

use crate::exchange::{BOTH, Scene};
use crate::support::{Ended, Running, vesica};
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: u64 = 24 * 3600;

impl Scene {
    /// `vesica exchange WHAT` on the shared folder, with more options.
    fn exchange(&self, what: &str, more: &[&str]) -> Ended {
        let mut command = vesica();
        command.args(["exchange", what]).arg(self.place.path("shared")).args(more);
        Running::start(command).wait()
    }

    /// The same with `--agreement`.
    fn of_agreement(&self, what: &str, more: &[&str]) -> Ended {
        let agreement = self.place.path("agreement.toml");
        self.exchange(what, &[&["--agreement", agreement.to_str().unwrap()], more].concat())
    }

    fn both_run(&self) {
        let running =
            ["one", "two"].map(|party| Running::start(self.command(party, &["--wait", "30s"])));
        for ended in running.map(Running::wait) {
            ended.assert_code(0);
        }
    }

    /// The names of the files of the run with this number; none if the run was removed.
    fn files(&self, number: u32) -> Vec<String> {
        let runs = fs::read_dir(self.place.path("shared")).unwrap().map(|run| run.unwrap().path());
        let ends = format!("-{number:04}");
        let mut runs = runs.filter(|run| run.to_str().unwrap().ends_with(&ends));
        let Some(run) = runs.next() else { return Vec::new() };
        assert!(runs.next().is_none(), "one agreement");
        let entries = fs::read_dir(run).unwrap();
        let mut files: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        files
    }

    /// Makes all files in the shared folder `secs` seconds older.
    fn age(&self, secs: u64) {
        age(&self.place.path("shared"), Duration::from_secs(secs));
    }
}

fn age(folder: &Path, by: Duration) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            age(&path, by);
            continue;
        }
        let file = File::options().write(true).open(&path).unwrap();
        let written: SystemTime = file.metadata().unwrap().modified().unwrap();
        file.set_modified(written - by).unwrap();
    }
}

/// The line of the table about the run with this number.
#[track_caller]
fn line(ended: &Ended, number: u32) -> &str {
    let has = |line: &&str| line.split(' ').next().unwrap().ends_with(&format!("-{number:04}"));
    ended.stdout.lines().find(has).unwrap_or_else(|| panic!("no run {number}: {ended:#?}"))
}

#[test]
fn status_says_how_far_each_run_is() {
    let scene = Scene::new(&BOTH);
    let none = scene.exchange("status", &[]);
    assert!(none.assert_code(0).stdout.starts_with("there are no runs in "), "{none:#?}");
    scene.run("one", &["--once"]).assert_code(75);
    scene.age(3 * DAY);
    let waiting = scene.of_agreement("status", &[]);
    let words = line(waiting.assert_code(0), 1);
    for says in ["only one has started  two  ", "0 objects, 0 bytes", "  –  ", "3 days ago"] {
        assert!(words.contains(says), "{says}: {waiting:#?}");
    }
    let without_names = scene.exchange("status", &[]);
    assert!(line(&without_names, 1).contains("only party 0 has started  party 1"));

    scene.both_run();
    scene.assert_results();
    scene.run("two", &["--once"]).assert_code(75);
    let lost = scene.place.path("two.state");
    fs::remove_dir_all(lost).unwrap();
    scene.run("two", &["--once", "--restart"]).assert_code(75);
    let status = scene.of_agreement("status", &[]);
    let lines: Vec<&str> = status.assert_code(0).stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{status:#?}");
    assert_eq!(lines[0].split_whitespace().nth(3), Some("one"), "{status:#?}");
    // The run that was written to last comes last.
    assert!(lines[3] == line(&status, 3), "{status:#?}");
    for (number, says) in [
        (1, "  finished  "),
        (2, "  abandoned by two      –  "),
        (3, "  only two has started  one  "),
    ] {
        assert!(line(&status, number).contains(says), "{says}: {status:#?}");
    }

    let json = scene.of_agreement("status", &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.assert_code(0).stdout).unwrap();
    assert_eq!(json["schema"], "vesica-exchange-status/1");
    assert_eq!(json["parties"], serde_json::json!(["one", "two"]));
    let runs = json["runs"].as_array().unwrap();
    let states: Vec<_> = runs.iter().map(|run| run["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["finished", "given-up", "begun"]);
    assert_eq!((&runs[1]["by"], &runs[2]["turn"]), (&serde_json::json!([1]), &0.into()));
    // The objects of party 0 in the finished run are still there: it has not run since.
    let objects = |side: usize| runs[0]["sides"][side]["objects"].as_u64().unwrap();
    assert!(objects(0) > 0, "{json}");
    assert!(runs[0]["sides"][0]["written_at"].as_str().unwrap().ends_with('Z'), "{json}");
}

#[test]
fn clean_removes_what_is_old_and_says_so() {
    let scene = Scene::new(&BOTH);
    scene.both_run();
    scene.assert_results();
    scene.age(40 * DAY);
    fs::write(scene.place.path("shared/notes.txt"), "ours").unwrap();
    let foreign = scene.place.path("shared/other");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("0-hello"), "theirs").unwrap();
    age(&foreign, Duration::from_secs(40 * DAY));
    // A younger run that has not finished.
    scene.run("one", &["--once"]).assert_code(75);
    scene.run("two", &["--once"]).assert_code(75);
    // Party 0 does not know yet that party 1 has started the run, so its older objects remain.
    let old = scene.files(1).len() - 2;
    assert!(old > 2 && scene.files(1).iter().all(|name| name.starts_with("0-") || name == "1-end"));
    let under_way = scene.files(2);

    scene.exchange("clean", &[]).assert_code(2);
    scene.exchange("clean", &["--older-than", "30s"]).assert_code(2);
    let cleaned = scene.exchange("clean", &["--older-than", "30d"]);
    let says = format!("removed {old} objects, ");
    assert!(line(cleaned.assert_code(0), 1).contains(&says), "{cleaned:#?}");
    assert_eq!(scene.files(1), ["0-end", "1-end"]);
    let nothing = scene.exchange("clean", &["--older-than", "30d"]);
    let printed = &nothing.assert_code(0).stdout;
    assert!(line(&nothing, 2).contains("kept; last write "), "{nothing:#?}");
    assert!(printed.contains("nothing to remove in 1 older run\n"), "{nothing:#?}");
    assert!(printed.ends_with("removed 0 objects, 0 bytes of 0 runs\n"), "{nothing:#?}");
    let marks = scene.exchange("clean", &["--older-than", "30d", "--all"]);
    assert!(line(marks.assert_code(0), 1).contains("removed 2 objects"), "{marks:#?}");
    assert_eq!((scene.files(1), scene.files(2)), (Vec::new(), under_way));
    assert_eq!(fs::read_to_string(foreign.join("0-hello")).unwrap(), "theirs");
    assert_eq!(scene.place.read("shared/notes.txt"), "ours");

    // The younger run finishes.
    scene.both_run();
    scene.assert_results();
    let finished = scene.of_agreement("status", &[]);
    assert!(line(&finished, 2).contains("  finished  "), "{finished:#?}");
}

#[test]
fn a_party_removes_its_own_files_only() {
    let scene = Scene::new(&BOTH);
    scene.both_run();
    scene.age(2 * DAY);
    let before = scene.files(1);
    let of = |party: &str, files: &[String]| -> Vec<String> {
        files.iter().filter(|name| name.starts_with(party)).cloned().collect()
    };
    let old = ["--older-than", "1d"];
    let unknown = scene.exchange("clean", &[&old[..], &["--party", "two"]].concat());
    unknown.assert_failed(2, "the party is 0 or 1");
    let unknown = scene.of_agreement("clean", &[&old[..], &["--party", "three"]].concat());
    unknown.assert_failed(3, "has no party \"three\"");
    scene.exchange("clean", &[&old[..], &["--party", "1", "--all"]].concat()).assert_code(2);

    let dry = scene.of_agreement("clean", &[&old[..], &["--party", "two", "--dry-run"]].concat());
    let count = of("1-", &before).len() - 1;
    let says = |did: &str| format!("{did} {count} objects, ");
    assert!(line(dry.assert_code(0), 1).contains(&says("would remove")), "{dry:#?}");
    assert_eq!(scene.files(1), before);
    let done = scene.of_agreement("clean", &[&old[..], &["--party", "two"]].concat());
    assert!(line(done.assert_code(0), 1).contains(&says("removed")), "{done:#?}");
    let left = scene.files(1);
    assert_eq!(of("0-", &left), of("0-", &before));
    assert_eq!(of("1-", &left), ["1-end"]);
    // Party 0 is named by its number. The next run still has the next number.
    scene.exchange("clean", &[&old[..], &["--party", "0"]].concat()).assert_code(0);
    assert_eq!(scene.files(1), ["0-end", "1-end"]);
    scene.assert_results();
    let next = scene.run("one", &["--once"]);
    assert!(next.assert_code(75).stderr.contains("run 2 of this agreement"), "{next:#?}");
}

#[test]
fn a_run_that_was_cleaned_before_its_end_starts_again() {
    let scene = Scene::new(&BOTH);
    let parties = || ["one", "two"].into_iter().cycle();
    for party in parties() {
        scene.run(party, &["--once"]).assert_code(75);
        if ["0-000000", "1-000000"]
            .iter()
            .all(|name| scene.files(1).iter().any(|file| file == name))
        {
            break;
        }
    }
    scene.age(2 * DAY);
    scene.exchange("clean", &["--older-than", "1d"]).assert_code(0);
    assert!(scene.files(1).is_empty());
    // A side notices after both have run.
    let ended: Vec<Ended> = parties().take(6).map(|party| scene.run(party, &["--once"])).collect();
    let refused = ended.iter().find(|ended| ended.code != Some(75));
    refused.expect("no side has found out").assert_failed(3, "is no longer in ");
    scene.run("one", &["--once", "--restart"]).assert_code(75);
    scene.run("two", &["--once", "--restart"]).assert_code(75);
    scene.both_run();
    scene.assert_results();
}
