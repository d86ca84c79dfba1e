//! Processes killed in the middle of a run in partitions, through a folder and over connections.

use super::{KEYS, ROWS, key, pair, text};
use crate::follow::follow;
use crate::matching::session::{Run, SessionRun, Spilling};
use crate::{Error, Job, MEMORY_BYTES_DEFAULT, Observer, Silent, StateOptions};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use vesica_agreement::Agreement;
use vesica_core::Operation;
use vesica_core::params::WHOLE_SET_LEN;
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions};
use vesica_partitions::Plan;
use vesica_scratch::MemoryScratch;
use vesica_store_session::{FolderStore, Store};
use vesica_tables::{OutputOptions, ReadOptions, Source};

/// The variable that tells a party's process its number, the port or the word `folder`, and the
/// directory of all files.
const TOLD: &str = "VESICA_TEST_PARTY";

const NAMES: [&str; 2] = ["one", "two"];

/// A run takes some tenths of a second, all kills of one case some seconds, or a minute on a busy
/// machine.
const LONGEST: Duration = Duration::from_secs(300);

fn job(party: usize, way: &str, place: &Path) -> Job {
    let path = |ending: &str| place.join(format!("{}.{ending}", NAMES[party]));
    let address = format!("127.0.0.1:{way}");
    let shared = place.join("shared");
    let (endpoint, store) = match (way, party) {
        ("folder", _) => {
            let store = FolderStore::open(&shared).unwrap();
            (Endpoint::Store("shared".to_owned()), Some(Arc::new(store) as Arc<dyn Store>))
        }
        (_, 0) => (Endpoint::Listen(address), None),
        _ => (Endpoint::Connect(address), None),
    };
    let text = fs::read_to_string(place.join("agreement.toml")).unwrap();
    Job {
        agreement: Agreement::parse(&text).unwrap(),
        identity: Identity::load(path("key")).unwrap(),
        source: Source::open(path("csv"), &ReadOptions::default()).unwrap(),
        columns: BTreeMap::new(),
        output: Some(OutputOptions { path: path("out.csv"), force: false }),
        mark: None,
        order: None,
        refused: None,
        link: LinkOptions { endpoint, wait: LONGEST, idle: LONGEST, total: None, proxy: None },
        store,
        workers: None,
        threads: NonZeroUsize::new(2).unwrap(),
        memory_bytes: MEMORY_BYTES_DEFAULT,
        scratch: None,
        state: StateOptions { folder: Some(path("state")), restart: false },
        allow_insecure: false,
        strict: false,
    }
}

#[test]
#[ignore = "the process of a party, which other tests start"]
fn a_party() {
    // The entry point of a party's process. It does nothing when it is run with all ignored tests.
    let Ok(told) = env::var(TOLD) else { return };
    let told: Vec<&str> = told.splitn(3, ' ').collect();
    let party: usize = told[0].parse().unwrap();
    let job = job(party, told[1], Path::new(told[2]));
    let (observer, cancel) = (Arc::new(Silent) as Arc<dyn Observer>, CancelToken::new());
    let run = Run::new(&job, &observer, &cancel).unwrap();
    let mut way = match SessionRun::open(&run) {
        // A process that is killed after that has already returned the result.
        Err(Error::AlreadyFinished) if job.output.iter().all(|output| output.path.exists()) => {
            return;
        }
        way => way.unwrap(),
    };
    way.spilling = Spilling {
        files: Arc::new(MemoryScratch),
        memory_bytes: 64 << 20,
        whole_set_len: 1_000,
        plan: |_, params| match params.query().operation() {
            Operation::Intersection => Plan::new(32 * WHOLE_SET_LEN, 1, WHOLE_SET_LEN),
            _ => Plan::new(4 * WHOLE_SET_LEN, 1, WHOLE_SET_LEN),
        },
    };
    follow(&run, way, ControlFlow::Continue).unwrap();
    let messages: u64 = run.meter.report().iter().map(|row| row.messages_sent).sum();
    fs::write(Path::new(told[2]).join(format!("{}.messages", NAMES[party])), messages.to_string())
        .unwrap();
}

/// The operation of a case.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    Rows,
    /// By a protocol that makes each step in all partitions before the next.
    RowsInSteps,
    Count,
    Sum,
    Union,
}

impl Asked {
    /// The agreement's head and tables, but for an intersection.
    fn terms(self) -> [&'static str; 2] {
        match self {
            Asked::Rows | Asked::RowsInSteps => ["", ""],
            Asked::Count => ["operation = \"cardinality\"\nprotocol = \"psty19\"", ""],
            Asked::Sum => [
                "operation = \"sum\"\nprotocol = \"psty19\"",
                "[sum]\nof = \"two\"\ncolumn = \"amount\"\nbits = 16\n",
            ],
            Asked::Union => {
                ["operation = \"union\"\npartition_counts = true", "[union]\nkey_bytes = 16\n"]
            }
        }
    }

    /// Each key once, with an amount where amounts are summed. Of an intersection, the file of
    /// party `two` has keys in several rows.
    fn text(self, party: usize) -> String {
        if matches!(self, Asked::Rows | Asked::RowsInSteps) && party == 1 {
            return text(party);
        }
        let mut text = "email".to_owned();
        let with_amounts = self == Asked::Sum && party == 1;
        text += if with_amounts { ",amount\n" } else { "\n" };
        for row in 0..KEYS {
            let key = key(party, row);
            text += &format!("{key}@a.org");
            text += &if with_amounts { format!(",{}\n", key % 100) } else { "\n".to_owned() };
        }
        text
    }

    /// The expected files of both parties.
    fn expected(self) -> [String; 2] {
        let common = KEYS / 2..KEYS;
        let all = 0..KEYS + KEYS / 2;
        let same = |text: String| [text.clone(), text];
        match self {
            Asked::Rows | Asked::RowsInSteps => [0, 1].map(|party| {
                let text = self.text(party);
                let is_common = |row: u64| common.contains(&key(party, row));
                let rows = (0..ROWS).zip(text.lines().skip(1)).filter(|(row, _)| is_common(*row));
                rows.fold("email\n".to_owned(), |text, (_, line)| text + line + "\n")
            }),
            Asked::Count => same(format!("keys_in_common\n{}\n", KEYS / 2)),
            Asked::Sum => {
                let sum: u64 = common.map(|key| key % 100).sum();
                same(format!("column,sum\namount,{sum}\n"))
            }
            Asked::Union => [0, 1].map(|party| {
                let first = party * KEYS / 2;
                let line = |key: u64| {
                    if (first..first + KEYS).contains(&key) {
                        format!("{key}@a.org,no,{}", key - first + 1)
                    } else {
                        format!("{key}@a.org,yes,")
                    }
                };
                let mut lines: Vec<String> = all.clone().map(line).collect();
                lines.sort_unstable();
                lines.join("\n")
            }),
        }
    }

    /// A result file as [`expected`](Self::expected) has it, without the order of a union.
    fn read(self, path: &Path) -> String {
        let text = fs::read_to_string(path).unwrap();
        if self != Asked::Union {
            return text;
        }
        let mut lines: Vec<&str> = text.lines().skip(1).collect();
        lines.sort_unstable();
        lines.join("\n")
    }
}

/// Two parties with files, and the text of their result.
struct Scene {
    place: super::Pair,
    way: String,
    asked: Asked,
    expected: [String; 2],
}

impl Scene {
    fn new(asked: Asked, is_folder: bool) -> Self {
        let in_steps = asked == Asked::RowsInSteps;
        let (place, mut agreement) = pair(if in_steps { "rr22_malicious" } else { "rr22" });
        if !in_steps && asked != Asked::Rows {
            let [head, tables] = asked.terms();
            let head = format!("receives = \"all\"\nsecurity = \"semi-honest\"\n{head}");
            let key = format!("[[key]]\nname = \"email\"\nprofile = \"email\"\n{tables}");
            agreement = place.agreement_of(&head, &key, ["max_rows = 6000000"; 2]);
        }
        for (party, name) in NAMES.iter().enumerate() {
            fs::write(place.path(&format!("{name}.csv")), asked.text(party)).unwrap();
        }
        // With this `max_rows`, items are grouped into as many buckets as files of that size may
        // need.
        let terms = agreement.canonical().replace("6000000", "96000000");
        assert!(terms.contains("96000000"));
        fs::write(place.path("agreement.toml"), terms).unwrap();
        fs::create_dir(place.path("shared")).unwrap();
        let way = if is_folder {
            "folder".to_owned()
        } else {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port().to_string()
        };
        Self { place, way, asked, expected: asked.expected() }
    }

    fn path(&self, party: usize, ending: &str) -> PathBuf {
        self.place.path(&format!("{}.{ending}", NAMES[party]))
    }

    fn start(&self, party: usize) -> Child {
        let folder = self.place.path("");
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "matching::session::tests::kills::a_party", "--ignored"])
            .env(TOLD, format!("{party} {} {}", self.way, folder.display()))
            .arg("--nocapture")
            .stdout(Stdio::null())
            .stderr(File::create(self.path(party, "stderr")).unwrap())
            .spawn()
            .unwrap()
    }

    /// Whether a killed party had removed its state and written its result. If it had not yet
    /// removed all, the next process reports that the run is finished.
    fn has_finished(&self, party: usize) -> bool {
        let state = self.path(party, "state");
        let kept = ["meeting", "finished"].iter().any(|name| state.join(name).exists());
        !kept && self.path(party, "out.csv").exists()
    }

    /// A run in which `due` says when to kill which party; returns how often each was killed, how
    /// long the run took, and the messages that each party sent in its last process.
    fn run(&self, due: &[(Duration, usize)]) -> (usize, Duration, [u64; 2]) {
        let start = Instant::now();
        let mut processes = [0, 1].map(|party| Some(self.start(party)));
        let (mut due, mut kills) = (due.iter().peekable(), 0);
        while processes.iter().any(Option::is_some) {
            thread::sleep(Duration::from_millis(1));
            if let Some((_, party)) = due.next_if(|(at, _)| start.elapsed() >= *at)
                && let Some(process) = &mut processes[*party]
            {
                process.kill().unwrap();
                kills += 1;
            }
            for (party, process) in processes.iter_mut().enumerate() {
                let status = process.as_mut().and_then(|one| one.try_wait().unwrap());
                match status.map(|status| (status.success(), status.code())) {
                    None => {}
                    Some((true, _)) => *process = None,
                    Some((_, None)) if self.has_finished(party) => {
                        let _ = fs::remove_dir_all(self.path(party, "state"));
                        *process = None;
                    }
                    Some((_, None)) => *process = Some(self.start(party)),
                    Some(_) => {
                        let printed = fs::read_to_string(self.path(party, "stderr")).unwrap();
                        panic!("party {party} of a run over {}: {printed}", self.way)
                    }
                }
            }
            assert!(start.elapsed() < LONGEST);
        }
        let messages = [0, 1].map(|party| {
            let messages = fs::read_to_string(self.path(party, "messages"));
            messages.map_or(0, |messages| messages.parse().unwrap())
        });
        for party in 0..2 {
            let output = self.path(party, "out.csv");
            let read = self.asked.read(&output);
            assert!(read == self.expected[party], "{:.80} of party {party}", read);
            fs::remove_file(output).unwrap();
            assert!(!self.path(party, "state").exists());
            let _ = fs::remove_file(self.path(party, "messages"));
        }
        (kills, start.elapsed(), messages)
    }

    fn kill(&self, wanted: usize) {
        let (_, time, all) = self.run(&[]);
        let (mut kills, mut tries, mut fewer) = (0, 0_u32, 0);
        while kills < wanted {
            // The first digits of multiples of the golden ratio are spread evenly.
            let mut due: Vec<(Duration, usize)> = (0..4)
                .map(|_| {
                    tries += 1;
                    let share = f64::from(tries) * 0.618_033_988_749_895 % 1.0;
                    (time.mul_f64(1.2 * share), tries as usize % 2)
                })
                .collect();
            due.sort_unstable();
            let (killed, _, messages) = self.run(&due);
            kills += killed;
            fewer += (0..2).filter(|party| (1..all[*party]).contains(&messages[*party])).count();
        }
        assert!(fewer > 0, "no process left out what an earlier one had done");
    }
}

#[test]
fn kills_between_partitions_change_nothing() {
    Scene::new(Asked::Rows, true).kill(8);
    Scene::new(Asked::Rows, false).kill(8);
}

#[test]
fn kills_between_steps_change_nothing() {
    Scene::new(Asked::RowsInSteps, true).kill(8);
    Scene::new(Asked::RowsInSteps, false).kill(8);
}

#[test]
fn kills_between_partitions_change_no_count() {
    Scene::new(Asked::Count, true).kill(4);
}

#[test]
fn kills_between_partitions_change_no_sum() {
    Scene::new(Asked::Sum, false).kill(4);
}

#[test]
fn kills_between_partitions_change_no_union() {
    Scene::new(Asked::Union, true).kill(4);
}

#[test]
#[ignore = "slow: 200 kills of each intersection, and 60 of each other kind"]
fn two_hundred_kills_between_partitions_change_nothing() {
    for is_folder in [true, false] {
        Scene::new(Asked::Rows, is_folder).kill(200);
        Scene::new(Asked::RowsInSteps, is_folder).kill(200);
        for asked in [Asked::Count, Asked::Sum, Asked::Union] {
            Scene::new(asked, is_folder).kill(60);
        }
    }
}
