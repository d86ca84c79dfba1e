//! Two parties meet in a folder. A command that is called again continues the run where it stopped.

use crate::support::{
    Ended, Place, Running, TERMS, Terms, cutting_relay, free_port, people, vesica,
};
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};
use vesica_agreement::{Agreement, split};
use vesica_core::SessionId;

/// How the parties reach each other.
#[derive(Clone, Copy)]
enum Way {
    /// Through a folder.
    Folder,
    /// Over connections: the first listens on this port, the second connects to the other one.
    Connections { listen: u16, connect: u16 },
}

/// Two parties with files, of which the rows 400 to 999 are common.
pub(crate) struct Scene {
    pub(crate) place: Place,
    expected: [String; 2],
    way: Way,
}

impl Scene {
    pub(crate) fn new(terms: &Terms<'_>) -> Self {
        Self::by(Way::Folder, terms)
    }

    /// Over connections on a free port.
    pub(crate) fn connected(terms: &Terms<'_>) -> Self {
        let port = free_port();
        Self::by(Way::Connections { listen: port, connect: port }, terms)
    }

    fn by(way: Way, terms: &Terms<'_>) -> Self {
        let place = Place::new();
        place.agreement("agreement.toml", terms);
        place.write("one.csv", people(0..1000));
        place.write("two.csv", people(400..1500));
        fs::create_dir(place.path("shared")).unwrap();
        Self { place, expected: [people(400..1000), people(400..1000)], way }
    }

    /// With files of `rows` rows each, half of them common.
    pub(crate) fn with_rows(mut self, rows: u64) -> Self {
        let common = people(rows / 2..rows);
        self.place.write("one.csv", people(0..rows));
        self.place.write("two.csv", people(rows / 2..rows + rows / 2));
        self.expected = [common.clone(), common];
        self
    }

    /// With two files of unequal lengths, of which the rows from `two`'s first one to `one`'s last
    /// one are common.
    fn with_ranges(mut self, one: Range<u64>, two: Range<u64>) -> Self {
        let common = people(two.start..one.end);
        self.place.write("one.csv", people(one));
        self.place.write("two.csv", people(two));
        self.expected = [common.clone(), common];
        self
    }

    /// The command of a party, with more options.
    pub(crate) fn command(&self, party: &str, more: &[&str]) -> Command {
        let mut command = vesica();
        command.arg("run").arg(self.place.path("agreement.toml"));
        command.arg("--key").arg(self.place.path(&format!("{party}.key")));
        command.arg("--input").arg(self.place.path(&format!("{party}.csv")));
        command.arg("--output").arg(self.place.path(&format!("{party}.out.csv")));
        match self.way {
            Way::Folder => command.arg("--exchange").arg(self.place.path("shared")),
            Way::Connections { listen, .. } if party == "one" => {
                command.args(["--listen", &format!("127.0.0.1:{listen}")])
            }
            Way::Connections { connect, .. } => {
                command.args(["--connect", &format!("127.0.0.1:{connect}")])
            }
        };
        command.arg("--state").arg(self.place.path(&format!("{party}.state")));
        command.args(["--threads", "1"]).args(more);
        command
    }

    pub(crate) fn run(&self, party: &str, more: &[&str]) -> Ended {
        Running::start(self.command(party, more)).wait()
    }

    /// Whether `party` has removed its state and written its result.
    fn has_finished(&self, party: &str) -> bool {
        let state = self.place.path(&format!("{party}.state"));
        let kept = ["meeting", "finished"].map(|name| state.join(name).exists());
        kept == [false; 2] && self.place.path(&format!("{party}.out.csv")).exists()
    }

    fn objects(&self) -> Vec<String> {
        let mut names = Vec::new();
        for run in fs::read_dir(self.place.path("shared")).unwrap() {
            for object in fs::read_dir(run.unwrap().path()).unwrap() {
                names.push(object.unwrap().file_name().into_string().unwrap());
            }
        }
        names
    }

    #[track_caller]
    pub(crate) fn assert_results(&self) {
        for (party, expected) in ["one", "two"].iter().zip(&self.expected) {
            let output = format!("{party}.out.csv");
            assert!(self.place.read(&output) == *expected, "the result of {party}");
            fs::remove_file(self.place.path(&output)).unwrap();
            assert!(!self.place.path(&format!("{party}.state")).exists());
        }
    }
}

pub(crate) const BOTH: Terms<'static> = Terms { receives: "all", max_rows: 2000, ..TERMS };

#[test]
fn two_processes_match_through_a_folder_again_and_again() {
    let scene = Scene::new(&BOTH);
    for number in 1..3 {
        let running =
            ["one", "two"].map(|party| Running::start(scene.command(party, &["--wait", "30s"])));
        for ended in running.map(Running::wait) {
            ended.assert_code(0);
            let begins = format!("run {number} of this agreement starts");
            assert!(ended.stderr.contains(&begins), "{ended:#?}");
        }
        scene.assert_results();
    }
    // Of the first run only its ends are left; the objects of the second stay until the next run.
    let objects = scene.objects();
    let count = |end: &str| objects.iter().filter(|name| name.ends_with(end)).count();
    assert_eq!((count("-end"), count("-hello")), (4, 2), "{objects:?}");
}

#[test]
fn commands_that_do_what_is_possible_take_turns() {
    let scene = Scene::new(&Terms { protocol: "rr22_malicious", security: "malicious", ..BOTH });
    let (mut codes, mut done) = (Vec::new(), [false; 2]);
    while done != [true; 2] {
        let party = codes.len() % 2;
        if !done[party] {
            let ended = scene.run(["one", "two"][party], &["--once"]);
            if ended.code == Some(75) {
                ended.assert_failed(75, "not finished: this run waits for");
            } else {
                ended.assert_code(0);
                done[party] = true;
            }
        }
        codes.push(party);
        assert!(codes.len() < 40, "they do not come to an end");
    }
    scene.assert_results();
}

#[test]
fn a_quiet_command_warns_of_the_rows_once_when_the_run_is_finished() {
    let scene = Scene::new(&BOTH);
    for party in ["one", "two"] {
        let file = format!("{party}.csv");
        let refused: String = (0..100).map(|row| format!("{row},nobody\n")).collect();
        scene.place.write(&file, scene.place.read(&file) + &refused);
    }
    let mut visits = [0; 2];
    let mut finished = [false; 2];
    while finished != [true; 2] {
        for party in 0..2 {
            if finished[party] {
                continue;
            }
            visits[party] += 1;
            assert!(visits[party] < 20, "they do not come to an end");
            let ended = scene.run(["one", "two"][party], &["--once", "--quiet"]);
            finished[party] = ended.code != Some(75);
            let warnings = ended.stderr.matches("warning: the profile email refuses").count();
            assert_eq!(warnings, usize::from(finished[party]), "{ended:#?}");
            assert_eq!(ended.stderr.lines().count(), warnings, "{ended:#?}");
            assert_eq!(ended.stdout, "");
        }
    }
    assert!(visits.iter().all(|visits| *visits > 1));
}

#[test]
fn every_operation_runs_through_a_folder() {
    let sum = "[sum]\nof = \"two\"\ncolumn = \"id\"\nbits = 16\n";
    for (operation, receives, more) in [
        ("cardinality", "one", ""),
        ("threshold", "one", "threshold = 600"),
        ("sum", "one", sum),
        ("union", "all", ""),
        ("private-id", "all", ""),
    ] {
        let terms = Terms { operation, receives, more, ..BOTH };
        let scene = Scene::new(&terms);
        let running = ["one", "two"].map(|party| {
            let mut command = scene.command(party, &["--wait", "60s"]);
            command.arg("--report").arg(scene.place.path(&format!("{party}.json")));
            if receives == "one" && party == "two" {
                // This party receives no result.
                let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
                let at = args.iter().position(|arg| arg == "--output").unwrap();
                command = vesica();
                command.args(args[..at].iter().chain(&args[at + 2..]));
            }
            Running::start(command)
        });
        for ended in running.map(Running::wait) {
            ended.assert_code(0);
        }
        let report: serde_json::Value =
            serde_json::from_str(&scene.place.read("one.json")).unwrap();
        let result = &report["result"];
        let found = match operation {
            "cardinality" => result["matched_keys"].as_u64() == Some(600),
            "threshold" => result["threshold_reached"] == true,
            "sum" => format!("{result}").contains(&(400..1000).sum::<u64>().to_string()),
            _ => result["union_keys"].as_u64() == Some(1500),
        };
        assert!(found, "{operation}: {result}");
    }
}

/// Terms for files of `rows` rows.
pub(crate) fn terms_of(rows: u64) -> Terms<'static> {
    Terms { max_rows: 2 * rows, ..BOTH }
}

/// Kills the parties `wanted` times, at most six times a run. Each run still gives both results.
fn kill(scene: Scene, rows: u64, wanted: u32) {
    let scene = scene.with_rows(rows);
    let start = |party: &str| Running::start(scene.command(party, &["--wait", "60s"]));
    // The first run measures how long a run takes.
    let (mut kills, mut tries, mut time) = (0, 0, None::<Duration>);
    while kills < wanted {
        let began = Instant::now();
        let mut running: BTreeMap<&str, Running> =
            ["one", "two"].map(|party| (party, start(party))).into();
        // The first digits of multiples of the golden ratio are spread like random ones.
        let wait = |tries: u32| {
            let share = f64::from(tries) * 0.618_033_988_749_895 % 1.0;
            time.map(|time| began.elapsed() + time.mul_f64(share))
        };
        let (mut due, last) = (wait(tries), tries + 6);
        while !running.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
            if due.is_some_and(|due| began.elapsed() > due) && tries < last {
                tries += 1;
                due = wait(tries);
                let victim = ["one", "two"][tries as usize % 2];
                if let Some(process) = running.remove(victim) {
                    process.signal(Signal::SIGKILL);
                    let ended = process.wait();
                    match ended.code {
                        // A party removes its state last, so it has its result.
                        None if scene.has_finished(victim) => {}
                        None => {
                            kills += 1;
                            running.insert(victim, start(victim));
                        }
                        Some(code) => assert_eq!(code, 0, "{ended:#?}"),
                    }
                }
            }
            let ended: Vec<&str> = running
                .iter_mut()
                .filter_map(|(party, process)| process.has_ended().then_some(*party))
                .collect();
            for party in ended {
                running.remove(party).unwrap().wait().assert_code(0);
            }
            assert!(began.elapsed() < Duration::from_secs(110), "{kills} kills");
        }
        time = Some(began.elapsed()).min(time.or(Some(Duration::MAX)));
        for party in ["one", "two"] {
            // A process that was killed while it removed its state leaves the rest.
            let _ = fs::remove_dir_all(scene.place.path(&format!("{party}.state")));
        }
        scene.assert_results();
    }
}

#[test]
fn kills_at_any_moment_change_nothing() {
    kill(Scene::new(&terms_of(2000)), 2000, 12);
    kill(Scene::connected(&terms_of(2000)), 2000, 12);
}

#[test]
#[ignore = "slow: 200 kills in runs of 1.7 million rows, two partitions"]
fn two_hundred_kills_at_any_moment_change_nothing() {
    let rows = 1_700_000;
    kill(Scene::new(&terms_of(rows)), rows, 200);
    kill(Scene::connected(&terms_of(rows)), rows, 200);
}

#[test]
fn a_lost_connection_is_mended() {
    let listen = free_port();
    let connect = cutting_relay(listen, 6, [usize::MAX, 9000]);
    let scene = Scene::by(Way::Connections { listen, connect }, &BOTH);
    let running =
        ["one", "two"].map(|party| Running::start(scene.command(party, &["--wait", "30s"])));
    let ended = running.map(Running::wait);
    let lost = ended.iter().map(|ended| ended.stderr.matches("is lost; the run resumes").count());
    assert!(lost.sum::<usize>() >= 6, "{ended:#?}");
    for ended in ended {
        ended.assert_code(0);
    }
    scene.assert_results();
}

#[test]
fn both_sides_keep_a_state_or_neither() {
    let scene = Scene::connected(&BOTH);
    let with = Running::start(scene.command("one", &["--wait", "30s"]));
    let command = scene.command("two", &["--wait", "30s"]);
    let mut without = vesica();
    let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let at = args.iter().position(|arg| arg == "--state").unwrap();
    without.args(args[..at].iter().chain(&args[at + 2..]));
    Running::start(without).wait().assert_failed(4, "the other side keeps a state of the run");
    with.wait().assert_failed(4, "this side keeps a state of the run");
    let mut restart = vesica();
    restart.args(args[..at].iter().chain(&args[at + 2..])).arg("--restart");
    Running::start(restart).wait().assert_failed(2, "only for runs that keep a state");
}

#[test]
fn a_lost_state_is_found_out_over_connections_too() {
    let scene = Scene::connected(&terms_of(200_000)).with_rows(200_000);
    let start = |party, more: &[&str]| Running::start(scene.command(party, more));
    // Both are killed once the run has started.
    let both = ["one", "two"].map(|party| start(party, &["--wait", "30s"]));
    let has_started =
        |party: &str| scene.place.path(&format!("{party}.state/seen-shares")).exists();
    while !has_started("one") || !has_started("two") {
        std::thread::sleep(Duration::from_millis(1));
    }
    for process in both {
        process.signal(Signal::SIGKILL);
        process.wait();
    }
    assert!(!scene.has_finished("one") && !scene.has_finished("two"));
    fs::remove_dir_all(scene.place.path("one.state")).unwrap();
    let waits = start("two", &["--wait", "30s"]);
    start("one", &["--wait", "30s"]).wait().assert_failed(3, "this side has already started run");
    let anew = start("one", &["--wait", "30s", "--restart"]);
    waits.wait().assert_failed(4, "abandoned this run");
    start("two", &["--wait", "30s", "--restart"]).wait().assert_code(0);
    let anew = anew.wait();
    anew.assert_code(0);
    assert!(anew.stderr.contains("run 2 of this agreement starts"), "{anew:#?}");
    scene.assert_results();
}

/// How one side abandons the run.
#[derive(Clone, Copy, PartialEq)]
enum GivesUp {
    /// It has lost its state.
    LosesState,
    /// It starts a new run with its old state.
    HasState,
}

/// Starts `times` runs that both sides abandon, then one more, and returns how its two sides ended.
fn begin_again(scene: &Scene, times: usize, how: [GivesUp; 2]) -> [Ended; 2] {
    let parties = ["one", "two"];
    let more = ["--wait", "30s", "--restart"];
    let start = |number: usize| {
        let more = if number == 0 { &more[..2] } else { &more };
        parties.map(|party| Running::start(scene.command(party, more)))
    };
    for number in 0..times {
        let both = start(number);
        let has_started =
            |party: &str| scene.place.path(&format!("{party}.state/seen-shares")).exists();
        let began = Instant::now();
        while !parties.iter().all(|party| has_started(party)) {
            assert!(began.elapsed() < Duration::from_secs(60), "run {number} does not begin");
            std::thread::sleep(Duration::from_millis(1));
        }
        for (process, (party, how)) in both.into_iter().zip(parties.iter().zip(how)) {
            process.signal(Signal::SIGKILL);
            process.wait();
            let state = scene.place.path(&format!("{party}.state"));
            match how {
                GivesUp::LosesState => fs::remove_dir_all(state).unwrap(),
                // The file would be mistaken for the next run's.
                GivesUp::HasState => fs::remove_file(state.join("seen-shares")).unwrap(),
            }
        }
        assert!(
            parties.iter().all(|party| !scene.place.path(&format!("{party}.out.csv")).exists())
        );
    }
    start(times).map(Running::wait)
}

/// Sets that are small, but large compared with the agreed partitions.
#[test]
fn two_processes_match_in_partitions_as_small_as_agreed() {
    const SMALL: &str = "partition_rows = 1000";
    const LENS: [u64; 2] = [20_000, 15_000];
    for protocol in ["rr22_malicious", "rr22"] {
        for new in [Scene::new, Scene::connected] {
            for (more, expected) in [(SMALL, 32), ("", 1)] {
                let scene = new(&Terms { protocol, more, ..terms_of(20_000) });
                let scene = scene.with_ranges(0..LENS[0], 12_345..12_345 + LENS[1]);
                let running = ["one", "two"].map(|party| {
                    let mut command = scene.command(party, &["--wait", "30s"]);
                    command.arg("--report").arg(scene.place.path(&format!("{party}.json")));
                    Running::start(command)
                });
                for ended in running.map(Running::wait) {
                    ended.assert_code(0);
                }
                scene.assert_results();

                let report = scene.place.read("one.json");
                let report: serde_json::Value = serde_json::from_str(&report).unwrap();
                assert_eq!(report["parties"][0]["keys"], LENS[0]);
                let is_sender = report["parties"][0]["role"] == "sender";
                let [sender, receiver] = if is_sender { LENS } else { [LENS[1], LENS[0]] };
                let agreement = Agreement::load(scene.place.path("agreement.toml")).unwrap();
                let session = SessionId::from_bytes([0; 32]);
                let params = agreement.params(session, sender, receiver).unwrap();
                let row = agreement.candidates()[0];
                assert_eq!(split::plan(row, &params).partitions(), expected);
                let traffic = split::traffic(row, &params);
                let (sent, received) = if is_sender {
                    (traffic.sender_to_receiver, traffic.receiver_to_sender)
                } else {
                    (traffic.receiver_to_sender, traffic.sender_to_receiver)
                };
                assert_eq!(report["network"]["formula_sent"], sent, "{protocol}, {more}");
                assert_eq!(report["network"]["formula_received"], received, "{protocol}, {more}");
            }
        }
    }
}

#[test]
fn both_sides_refuse_one_repeat_too_many() {
    let too_many = "4 runs under this agreement were abandoned without a result";
    for how in [[GivesUp::HasState; 2], [GivesUp::LosesState, GivesUp::HasState]] {
        for new in [Scene::new, Scene::connected] {
            let scene = new(&terms_of(200_000)).with_rows(200_000);
            for ended in begin_again(&scene, 4, how) {
                ended.assert_failed(3, too_many);
                assert!(ended.stderr.contains("it allows 3 repeats"), "{ended:#?}");
            }
        }
    }
}

#[test]
fn a_repeat_that_is_allowed_is_told_and_the_next_run_is_none() {
    let scene = Scene::new(&Terms { more: "max_repeats = 1", ..terms_of(200_000) });
    let scene = scene.with_rows(200_000);
    for ended in begin_again(&scene, 1, [GivesUp::LosesState, GivesUp::HasState]) {
        ended.assert_code(0);
        assert!(ended.stderr.contains("1 of at most 1 repeat\n"), "{ended:#?}");
    }
    scene.assert_results();
    let running = ["one", "two"].map(|party| {
        let report = scene.place.path(&format!("{party}.json"));
        let mut command = scene.command(party, &["--wait", "60s"]);
        command.arg("--report").arg(report);
        Running::start(command)
    });
    for ended in running.map(Running::wait) {
        ended.assert_code(0);
        assert!(!ended.stderr.contains("of at most"), "{ended:#?}");
    }
    for party in ["one", "two"] {
        let report = scene.place.read(&format!("{party}.json"));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["repeats"], 0);
    }
    scene.assert_results();
}

/// With the paper's table for unequal sets.
#[test]
#[ignore = "slow: a run fails once in some fifty"]
fn keys_that_do_not_fit_end_the_run_on_both_sides_at_once() {
    for new in [Scene::new, Scene::connected] {
        let terms = Terms { protocol: "ot_phasing_paper", max_rows: 10_000, ..BOTH };
        let scene = new(&terms).with_ranges(0..270, 200..6000);
        let run = |more: [&[&str]; 2]| {
            let start = |(party, more)| Running::start(scene.command(party, more));
            let running: Vec<_> = ["one", "two"].into_iter().zip(more).map(start).collect();
            let ended: Vec<_> = running.into_iter().map(Running::wait).collect();
            let has_failed = ended.iter().any(|ended| ended.code != Some(0));
            if !has_failed {
                scene.assert_results();
            }
            (ended, has_failed)
        };
        let patient: &[&str] = &["--wait", "600s"];
        // With probability 2^-40 no run fails.
        let mut tries = 0;
        let (ended, took) = loop {
            let start = Instant::now();
            let (ended, has_failed) = run([patient; 2]);
            if has_failed {
                break (ended, start.elapsed());
            }
            tries += 1;
            assert!(tries < 2000, "they always fit");
        };
        ended[0].assert_failed(3, "the keys did not fit into the protocol's hash table");
        ended[1].assert_failed(4, "one abandoned this run: it could not produce a result");
        assert!(took < Duration::from_secs(60), "{took:?}");
        let keeps = |party: &str| scene.place.path(&format!("{party}.state/meeting")).exists();
        assert!(!keeps("one") && keeps("two"), "{ended:#?}");

        // A new run has other hash functions, which may fail as well.
        let anew: &[&str] = &["--wait", "600s", "--restart"];
        while run([patient, anew]).1 {}
    }
}

#[test]
fn a_run_goes_on_with_the_same_rows_in_the_same_folder_only() {
    let scene = Scene::new(&BOTH);
    scene.run("one", &["--once"]).assert_failed(75, "this run waits for two");
    // A scheduler mails all output.
    let quiet = scene.run("one", &["--once", "--quiet"]);
    quiet.assert_code(75);
    assert_eq!([&*quiet.stdout, &*quiet.stderr], [""; 2]);
    scene.place.write("one.csv", people(0..999));
    scene.run("one", &["--once", "--quiet"]).assert_failed(3, "the file changed since the run");
    scene.place.write("one.csv", people(0..1000));
    // A new state folder, as if the old one were lost.
    fs::rename(scene.place.path("one.state"), scene.place.path("lost")).unwrap();
    scene.run("one", &["--once"]).assert_failed(3, "this side has already started run");
    scene.run("one", &["--once", "--restart"]).assert_failed(75, "run 2 of this agreement");
    let running =
        ["one", "two"].map(|party| Running::start(scene.command(party, &["--wait", "30s"])));
    for ended in running.map(Running::wait) {
        ended.assert_code(0);
    }
    scene.assert_results();
}

#[test]
fn what_does_not_go_together_is_refused() {
    let scene = Scene::new(&BOTH);
    fs::remove_dir(scene.place.path("shared")).unwrap();
    scene.run("one", &["--once"]).assert_failed(3, "cannot be used");
    scene.run("one", &["--connect", "127.0.0.1:1"]).assert_code(2);
    let key = vesica_link::PublicIdentity::from_bytes([3; 32]);
    let more = format!("[helper]\nidentity = \"{key}\"\n");
    let terms = Terms { more: &more, protocol: "server_aided", ..BOTH };
    let scene = Scene::new(&terms);
    scene.run("one", &["--once"]).assert_failed(2, "the agreement has a helper");
}
