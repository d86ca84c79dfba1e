//! Failures of runs in partitions that store rows on disk.

use crate::support;
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Ended, Place, Running, TERMS, Terms, free_port, people};

/// Different keys of party `one`: a little more than the fewest that are split.
const KEYS: u64 = 1_580_000;

/// Rows of `one`: their items do not fit into a quarter of [`MEMORY`].
const ROWS: u64 = 1_750_000;

/// The least memory for a partition of [`KEYS`] keys.
const MEMORY: &str = "106MiB";

/// Party `two` has every `STEP`-th key of `one`, and as many keys that `one` lacks.
const STEP: u64 = 100;

/// The names of all files and folders that a test creates.
const NAMES: [&str; 6] = ["one.key", "two.key", "one.csv", "two.csv", "agreement.toml", "scratch"];

fn rows(numbers: impl Iterator<Item = u64>) -> String {
    let mut text = String::from("email\n");
    for number in numbers {
        text += &number.to_string();
        text += "@a.org\n";
    }
    text
}

/// Two files that are matched in partitions, and that do not fit into the memory of `one`.
struct Large {
    place: Place,
    expected: [String; 2],
}

impl Large {
    fn new() -> Self {
        let place = Place::new();
        place.write("one.csv", rows((0..ROWS).map(|row| row % KEYS)));
        place.write("two.csv", rows((0..2 * KEYS).step_by(STEP as usize)));
        let terms = Terms { protocol: "rr22", receives: "all", max_rows: 4_000_000, ..TERMS };
        place.agreement("agreement.toml", &terms);
        let of_one = (0..ROWS).map(|row| row % KEYS).filter(|key| key % STEP == 0);
        let expected = [rows(of_one), rows((0..KEYS).step_by(STEP as usize))];
        Self { place, expected }
    }

    /// The commands of both parties.
    fn commands(&self) -> [Command; 2] {
        let address = format!("127.0.0.1:{}", free_port());
        [("one", "--listen"), ("two", "--connect")].map(|(party, way)| {
            let (input, output) = (format!("{party}.csv"), format!("{party}.out.csv"));
            // If one party is killed before they meet, the other waits for a peer that never comes.
            let limits = ["5s", "20s"];
            let (input, output) = (&*input, Some(&*output));
            let mut command = self.place.run_within(limits, "agreement.toml", party, input, output);
            command.args([way, &address, "--memory", MEMORY, "--scratch"]);
            command.arg(self.place.path("scratch"));
            command
        })
    }

    /// Whether `party` has its complete result. Removes the result.
    fn takes_result(&self, party: usize) -> bool {
        let path = self.place.path(["one.out.csv", "two.out.csv"][party]);
        let Ok(written) = fs::read_to_string(&path) else {
            assert!(!path.exists());
            return false;
        };
        assert!(written == self.expected[party], "a wrong result of {} bytes", written.len());
        fs::remove_file(path).unwrap();
        true
    }

    #[track_caller]
    fn assert_nothing_is_left(&self) {
        for entry in fs::read_dir(self.place.path("")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(NAMES.contains(&name.as_str()), "{name} was left behind");
        }
        let scratch = fs::read_dir(self.place.path("scratch"));
        assert_eq!(scratch.map_or(0, Iterator::count), 0, "scratch files were left behind");
    }
}

/// Kills one of two parties in each of `times` runs: once in each of `times` equal parts of a run's
/// duration.
fn kill(times: u32) {
    let large = Large::new();
    let start = Instant::now();
    let [mut one, two] = large.commands();
    one.arg("--report").arg(large.place.path("report.json"));
    for (party, ended) in [one, two].map(Running::start).map(Running::wait).iter().enumerate() {
        ended.assert_code(0);
        assert!(large.takes_result(party));
    }
    let time = start.elapsed();
    let report: serde_json::Value = serde_json::from_str(&large.place.read("report.json")).unwrap();
    let on_disk = report["resources"]["peak_scratch_bytes"].as_u64().unwrap();
    assert!(on_disk > 16 * ROWS, "{on_disk} bytes left the memory");
    fs::remove_file(large.place.path("report.json")).unwrap();

    let mut killed = 0;
    for number in 0..times {
        // The first digits of multiples of the golden ratio are spread like random ones.
        let within = f64::from(number + 1) * 0.618_033_988_749_895 % 1.0;
        let moment = time.mul_f64((f64::from(number) + within) / f64::from(times));
        let victim = number as usize % 2;
        let running = large.commands().map(Running::start);
        std::thread::sleep(moment);
        running[victim].signal(Signal::SIGKILL);
        let ended = running.map(Running::wait);
        let which = format!("{victim} killed after {moment:?}: {ended:#?}");
        for (party, Ended { code, stderr, .. }) in ended.iter().enumerate() {
            let has_result = large.takes_result(party);
            match code {
                Some(0) => assert!(has_result, "{which}"),
                // It may have just completed its result.
                None => assert_eq!(party, victim, "{which}"),
                Some(5) => assert!(!has_result && stderr.contains("error: "), "{which}"),
                Some(_) => panic!("{which}"),
            }
        }
        killed += u32::from(ended[victim].code.is_none());
        large.assert_nothing_is_left();
    }
    assert!(killed > times / 2, "most moments were too late: {killed} of {times}");
}

#[test]
fn a_kill_in_a_run_in_partitions_leaves_the_whole_result_or_none() {
    kill(3);
}

#[test]
#[ignore = "slow: fifty runs of 1.7 million rows"]
fn a_kill_at_any_of_fifty_moments_leaves_the_whole_result_or_none() {
    kill(50);
}

fn small() -> Place {
    let place = Place::new();
    place.write("one.csv", people(0..20));
    place.write("two.csv", people(10..30));
    place.agreement("agreement.toml", &TERMS);
    place
}

/// A run of `one` that finds no peer.
fn alone(place: &Place, scratch: &Path) -> Ended {
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--connect", "127.0.0.1:1", "--scratch"]).arg(scratch);
    Running::start(one).wait_within(Duration::from_secs(10))
}

#[test]
fn a_folder_that_cannot_hold_scratch_files_is_refused_before_anybody_is_met() {
    let place = small();
    place.write("file", "a file");
    for (scratch, cause) in [
        (place.path("file"), "something else already has that name"),
        (place.path("file/below"), "part of its path is not a directory"),
        ("/proc/vesica".into(), "no such file or directory"),
        ("/proc".into(), "no such file or directory"),
    ] {
        let ended = alone(&place, &scratch);
        let says = format!("error: intermediate data cannot be kept in {}: ", scratch.display());
        ended.assert_failed(3, &format!("{says}{cause}"));
        assert!(ended.stderr.contains("hint: choose another folder with --scratch"), "{ended:?}");
    }
    place.assert_no_leftovers(&["out.csv"]);
    assert_eq!(place.read("file"), "a file");
}

#[test]
fn the_other_side_of_a_bad_folder_learns_only_that_the_settings_are_wrong() {
    let place = small();
    place.write("file", "a file");
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.arg("--scratch").arg(place.path("file"));
    let two = place.run("agreement.toml", "two", "two.csv", None);
    let [one, two] = place.run_both(one, two);
    one.assert_failed(3, "--scratch");
    two.assert_code(5);
    assert!(!two.stderr.contains("scratch") && !two.stderr.contains("file"), "{two:#?}");
    place.assert_no_leftovers(&["out.csv"]);
}

#[test]
fn a_folder_for_scratch_files_that_does_not_exist_is_created_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let place = small();
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.arg("--scratch").arg(place.path("new/folder"));
    let two = place.run("agreement.toml", "two", "two.csv", None);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("out.csv"), people(10..20));
    let folder = fs::metadata(place.path("new/folder")).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(place.path("new/folder")).unwrap().count(), 0);
}

#[test]
fn a_limit_on_the_sizes_of_scratch_files_is_an_error_that_names_the_ways_out() {
    let large = Large::new();
    let [one, two] = large.commands();
    // The limit is in blocks of 1024 bytes: enough for the items of some of the rows.
    let (one, two) = (support::limited("-f 20000", &one), Running::start(two));
    let one = one.wait();
    one.assert_failed(3, "the file would be larger than the system allows");
    assert!(one.stderr.contains("`ulimit -f`") && one.stderr.contains("--memory"), "{one:#?}");
    two.wait().assert_code(5);
    large.assert_nothing_is_left();
}
