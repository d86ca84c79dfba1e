//! Detached partitions, whose workers are threads of this process here.

mod adaptive;
mod liar;

use super::agreed::of_intersections;
use super::{assert_rows, rows};
use crate::support::Pair;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_core::Item;
use vesica_core::hash::Transcript;
use vesica_detached::{BucketCounts, RunSpec, Task, TaskResult, Workers, WorkersFault, buckets_of};
use vesica_engine::{Error, Finished, Job, RowSet, RunResult, Silent, StateOptions, terms};
use vesica_link::{CancelToken, Endpoint, LinkOptions};
use vesica_own_rows::distinct;
use vesica_records::{KeyCounts, KeyLimits, NO_ITEM, stream_items};
use vesica_store_session::{FolderStore, Store};
use vesica_tables::{ReadOptions, Source};

const NAMES: [&str; 2] = ["one", "two"];

/// Threads that run tasks in parallel.
const WORKERS: usize = 3;

/// The rows of a party, bucket by bucket, as last grouped.
#[derive(Default)]
struct Grouped {
    rows: u64,
    /// For each bucket the numbers of its rows, and their items.
    buckets: Vec<Vec<(u64, Item)>>,
}

impl Grouped {
    /// The rows of partition `part` of `partitions`.
    fn of(&self, part: u64, partitions: u64) -> Vec<(u64, Item)> {
        let each = self.buckets.len() / partitions as usize;
        let first = part as usize * each;
        self.buckets[first..first + each].concat()
    }
}

/// The rows of a partition, ascending, and whether each is common.
type Bits = Vec<(u64, bool)>;

/// When a team of workers fails.
#[derive(Clone, Copy, PartialEq)]
enum Fails {
    BeforeAll,
    /// It runs a few tasks and stores their outcomes.
    Between,
    /// It runs all tasks, but returns no outcome.
    AfterAll,
}

/// Decides for each call whether it fails.
type Luck = Box<dyn FnMut() -> Option<Fails> + Send>;

/// The workers of one party. They outlive the processes that give them tasks.
struct Team {
    agreement: Agreement,
    name: &'static str,
    file: PathBuf,
    /// The folder of the store.
    shared: PathBuf,
    store: Arc<dyn Store>,
    grouped: Mutex<Grouped>,
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Of each finished partition, if the party learns them.
    common: Mutex<BTreeMap<u64, Option<Bits>>>,
    luck: Mutex<Luck>,
    takes: AtomicUsize,
    /// Whether each task is run twice.
    twice: bool,
    /// Why a task failed.
    failed: Mutex<Option<vesica_core::Error>>,
}

impl Team {
    fn new(pair: &Pair, agreement: &Agreement, party: usize, luck: Luck) -> Self {
        let name = NAMES[party];
        Self {
            agreement: agreement.clone(),
            name,
            file: pair.path(&format!("{name}.csv")),
            shared: pair.path("shared"),
            store: store(pair),
            grouped: Mutex::default(),
            kept: Mutex::default(),
            common: Mutex::default(),
            luck: Mutex::new(luck),
            takes: AtomicUsize::new(0),
            twice: true,
            failed: Mutex::default(),
        }
    }

    fn read(&self) -> (Vec<Item>, KeyCounts) {
        self.read_most(terms::key_limits(self.agreement.terms_of(self.name), false))
    }

    /// The items of the rows of its file, and their counts.
    fn read_most(&self, limits: KeyLimits) -> (Vec<Item>, KeyCounts) {
        let source = Source::open(&self.file, &ReadOptions::default()).unwrap();
        let columns =
            terms::key_columns(&self.agreement, Some(self.name), &BTreeMap::new()).unwrap();
        let hash = terms::key_items(&self.agreement, &columns);
        let mut items = Vec::new();
        let mut sink = |batch: &[Item]| {
            items.extend_from_slice(batch);
            Ok::<_, std::convert::Infallible>(())
        };
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let streamed = stream_items(&source, &columns, &hash, &limits, &mut sink, go_on).unwrap();
        (items, streamed.counts)
    }

    /// Runs a task like two workers that know neither of each other nor the order in which the
    /// other has its rows.
    fn take_twice(&self, orders: &RunSpec, task: &Task) -> vesica_core::Result<TaskResult> {
        let orders = RunSpec::from_json(&orders.to_json()).unwrap();
        let task = Task::from_json(&task.to_json()).unwrap();
        let rows = self.grouped.lock().unwrap().of(task.part, orders.partitions);
        let kept = |name: &str| self.kept.lock().unwrap().get(name).cloned();
        let mut turned = rows.clone();
        turned.reverse();
        let of = |rows: &[(u64, Item)], threads| {
            let entries: Vec<Item> = rows.iter().map(|(_, item)| *item).collect();
            let threads = NonZeroUsize::new(threads).unwrap();
            let (taken, common) = task.take(&orders, &entries, &*self.store, threads, &kept)?;
            let numbers = rows.iter().map(|(row, _)| *row);
            let common = common.map(|common| {
                assert_eq!(common.len(), rows.len());
                let mut bits: Bits = numbers.zip(common).collect();
                bits.sort_unstable();
                bits
            });
            Ok::<_, vesica_core::Error>((taken, common))
        };
        let (taken, common) = of(&rows, 1)?;
        if self.twice {
            let again = of(&turned, 1 + task.part as usize % 3)?;
            assert!((&taken, &common) == (&again.0, &again.1), "taken again: {task:?}");
        }
        assert_eq!(TaskResult::from_json(&taken.to_json()).as_ref(), Some(&taken));
        if let Some(ended) = taken.ended {
            let keys = common.as_ref().map(|common| {
                let is_common = |row: u64| common.binary_search(&(row, true)).is_ok();
                let rows = self.grouped.lock().unwrap().of(task.part, orders.partitions);
                let items = rows.iter().filter(|(row, _)| is_common(*row)).map(|(_, item)| *item);
                distinct(&items.collect::<Vec<_>>()).unwrap().len() as u64
            });
            assert_eq!(keys, ended.matched, "{task:?}");
            let mut all = self.common.lock().unwrap();
            let before = all.insert(task.part, common.clone());
            assert!(before.is_none_or(|before| before == common), "another result");
        } else {
            assert_eq!(common, None);
        }
        Ok(taken)
    }

    /// The bit of each row.
    fn rows(&self) -> Option<RowSet> {
        let rows = self.grouped.lock().unwrap().rows;
        let mut words = vec![0; rows.div_ceil(64) as usize];
        for bits in self.common.lock().unwrap().values() {
            for (row, is_common) in bits.as_ref()? {
                words[(row / 64) as usize] |= u64::from(*is_common) << (row % 64);
            }
        }
        Some(RowSet::new(words, rows, 0))
    }
}

impl Workers for Team {
    fn group(&self, secret: &[u8; 32], buckets: u64) -> Result<BucketCounts, WorkersFault> {
        let (items, counts) = self.read();
        let mut grouped =
            Grouped { rows: counts.rows, buckets: vec![Vec::new(); buckets as usize] };
        for ((row, item), bucket) in (0..).zip(&items).zip(buckets_of(secret, &items, buckets)) {
            if *item != NO_ITEM {
                grouped.buckets[usize::from(bucket)].push((row, *item));
            }
        }
        let mut digest = Transcript::new("vesica test rows of buckets", &[]);
        let mut count = |rows: &Vec<(u64, Item)>| {
            rows.iter().for_each(|(_, item)| digest.update(item.as_bytes()));
            let items: Vec<Item> = rows.iter().map(|(_, item)| *item).collect();
            distinct(&items).unwrap().len() as u64
        };
        let distinct = grouped.buckets.iter().map(&mut count).collect();
        let keyed = grouped.buckets.iter().map(|rows| rows.len() as u64).sum();
        *self.grouped.lock().unwrap() = grouped;
        let (empty, refused) = (counts.empty, counts.refused);
        let (rows, digest) = (counts.rows, digest.finish());
        Ok(BucketCounts { rows, empty, refused, keyed, distinct, digest })
    }

    fn take(
        &self,
        orders: &RunSpec,
        tasks: &[Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault> {
        self.takes.fetch_add(1, Ordering::Relaxed);
        let fails = (self.luck.lock().unwrap())();
        if fails == Some(Fails::BeforeAll) {
            return Err(WorkersFault);
        }
        for (name, bytes) in kept {
            let before = self.kept.lock().unwrap().insert(name, bytes);
            assert_eq!(before, None, "a name is given once");
        }
        let wanted =
            if fails == Some(Fails::Between) { tasks.len().div_ceil(8) } else { tasks.len() };
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some(at) =
                        wanted.checked_sub(1 + next.fetch_add(1, Ordering::Relaxed))
                    {
                        match self.take_twice(orders, &tasks[at]) {
                            Ok(taken) => drop(done.lock().unwrap().insert(at, taken)),
                            Err(error) => *self.failed.lock().unwrap() = Some(error),
                        }
                    }
                });
            }
        });
        let done = done.into_inner().unwrap();
        if self.failed.lock().unwrap().is_some() {
            return Err(WorkersFault);
        }
        assert_eq!(done.len(), wanted);
        match fails {
            Some(_) => Err(WorkersFault),
            None => Ok(done.into_values().collect()),
        }
    }
}

fn store(pair: &Pair) -> Arc<dyn Store> {
    let folder = pair.path("shared");
    fs::create_dir_all(&folder).unwrap();
    Arc::new(FolderStore::open(&folder).unwrap())
}

fn never() -> Luck {
    Box::new(|| None)
}

fn job(pair: &Pair, agreement: &Agreement, party: usize, workers: Option<Arc<dyn Workers>>) -> Job {
    let endpoint = Endpoint::Store("shared".to_owned());
    let limit = Duration::from_secs(60);
    let mut job = pair.job_of(party, agreement.clone(), endpoint.clone());
    job.output = None;
    job.link = LinkOptions { endpoint, wait: limit, idle: limit, total: None, proxy: None };
    job.store = Some(store(pair));
    job.workers = workers;
    let folder = pair.path(&format!("{}.state", NAMES[party]));
    job.state = StateOptions { folder: Some(folder), restart: false };
    job
}

/// Runs one party to the end; returns how often it was interrupted.
fn to_the_end(
    pair: &Pair,
    agreement: &Agreement,
    party: usize,
    workers: Option<&Arc<Team>>,
) -> (Finished, usize) {
    let mut interruptions = 0;
    loop {
        let job = job(pair, agreement, party, workers.map(|team| Arc::clone(team) as _));
        match vesica_engine::run(job, Arc::new(Silent), &CancelToken::new()) {
            Ok(finished) => return (finished, interruptions),
            Err(Error::Interrupted { .. })
                if workers.is_some_and(|team| team.failed.lock().unwrap().is_none()) =>
            {
                interruptions += 1;
            }
            Err(error) => panic!("{}: {error:?}", NAMES[party]),
        }
    }
}

fn both(
    pair: &Pair,
    agreement: &Agreement,
    teams: [Option<&Arc<Team>>; 2],
) -> [(Finished, usize); 2] {
    std::thread::scope(|scope| {
        let one = scope.spawn(|| to_the_end(pair, agreement, 0, teams[0]));
        let two = to_the_end(pair, agreement, 1, teams[1]);
        [one.join().unwrap(), two]
    })
}

/// The rows of two files with this many keys; the last keys of the first file are the first of the
/// second.
#[derive(Clone, Copy)]
struct Files {
    keys: [u64; 2],
    common: u64,
    /// How many keys of each file are in two rows.
    repeated: [u64; 2],
    /// A row without a key follows every row whose number this divides.
    empty: u64,
}

impl Files {
    fn numbers(self, party: usize) -> impl Iterator<Item = u64> {
        let Self { keys: [one, _], common, repeated, .. } = self;
        let first = [0, one - common][party];
        let last = first + self.keys[party];
        (first..last).chain(last - repeated[party]..last)
    }

    fn is_common(self, number: u64) -> bool {
        (self.keys[0] - self.common..self.keys[0]).contains(&number)
    }

    fn max_rows(self) -> [u64; 2] {
        self.keys.map(|keys| 2 * keys + 10)
    }

    fn is_split(self) -> bool {
        self.keys[0].max(self.keys[1]) > 1000
    }

    /// Writes both, and a row with a refused key at the end of each.
    fn write(self) -> Pair {
        let pair = Pair::new();
        for (party, name) in NAMES.iter().enumerate() {
            let path = pair.path(&format!("{name}.csv"));
            rows(&path, self.numbers(party), self.empty);
            let mut text = fs::read_to_string(&path).unwrap();
            text += &format!("\"\"\n\"  \"\n{name} is no address\n");
            fs::write(&path, text).unwrap();
        }
        pair
    }

    fn agreement(self, pair: &Pair, protocol: &str, receives: &str, more: &str) -> Agreement {
        let head = format!(
            "operation = \"intersection\"\nreceives = \"{receives}\"\nprotocol = \"{protocol}\"\n\
             security = \"semi-honest\"\npartition_rows = 1000\n{more}"
        );
        let key = "[[key]]\nname = \"email\"\nprofile = \"email\"\n";
        let limits = self.max_rows().map(|rows| format!("max_rows = {rows}"));
        pair.agreement_of(&head, key, limits.each_ref().map(String::as_str))
    }

    /// Checks that both parties have the right results, and that nothing else remains of the run.
    fn check(
        self,
        pair: &Pair,
        agreement: &Agreement,
        done: &[(Finished, usize); 2],
        teams: [Option<&Arc<Team>>; 2],
        case: &str,
    ) {
        for (party, (Finished { report, output }, _)) in done.iter().enumerate() {
            let learns = agreement.is_receiver_of_result(NAMES[party]);
            let found = match (teams[party], output) {
                (None, RunResult::Rows(rows)) if learns => Some(rows.clone()),
                (Some(team), RunResult::Detached { keys, rows, of }) if learns => {
                    assert_eq!(*keys, self.common, "{case}");
                    let found = team.rows().unwrap();
                    assert_eq!((*rows, *of), (found.count(), found.len()), "{case}");
                    Some(found)
                }
                (team, RunResult::Nothing) if !learns => {
                    let all = team.map(|team| team.common.lock().unwrap());
                    assert!(all.iter().all(|all| all.values().all(Option::is_none)), "{case}");
                    None
                }
                (_, output) => panic!("{case}: {output:?}"),
            };
            if let Some(found) = found {
                self.assert_rows(party, &found);
            }
            let input = &report.input;
            assert_eq!(input.distinct, self.keys[party], "{case}");
            assert_eq!(input.duplicates, self.repeated[party], "{case}");
            let keyless = self.numbers(party).filter(|number| number % self.empty == 0).count();
            assert_eq!([input.empty, input.refused], [2, 1 + keyless as u64], "{case}");
            let announced = if agreement.hide_sizes { self.max_rows() } else { self.keys };
            assert_eq!([0, 1].map(|one| report.parties[one].keys), announced, "{case}");
            let parts = teams[party].map(|team| team.common.lock().unwrap().len());
            assert!(parts.is_none_or(|parts| self.is_split() == (parts > 1)), "{case}: {parts:?}");
            let network = &report.network;
            assert!(network.formula_sent + network.formula_received > 0);
            assert_eq!(network.payload_sent, network.formula_sent, "{case}");
            assert_eq!(network.payload_received, network.formula_received, "{case}");
            let state = pair.path(&format!("{}.state", NAMES[party]));
            assert!(!state.exists(), "{case}: {state:?}");
        }
        let [one, two] = done.each_ref().map(|(finished, _)| &finished.report.network);
        assert_eq!(one.payload_sent, two.payload_received, "{case}");
        assert_eq!(one.direction_changes, two.direction_changes, "{case}");
    }

    /// The three rows at the end are not common, and no other row without a key is.
    fn assert_rows(self, party: usize, found: &RowSet) {
        let rows = found.len() - 3;
        assert!((rows..found.len()).all(|row| !found.contains(row)));
        let mut words = found.words().to_vec();
        words.truncate(rows.div_ceil(64) as usize);
        let found = RowSet::new(words, rows, found.keys());
        assert_rows(&found, self.numbers(party), self.empty, |number| self.is_common(number));
    }
}

const AT_ONE: [bool; 2] = [true, false];
const AT_TWO: [bool; 2] = [false, true];
const AT_BOTH: [bool; 2] = [true, true];

/// Runs the protocol without interruptions. Each of the `ways` says who receives, and which parties
/// have workers.
fn run_with_hands(files: Files, protocol: &str, more: &str, ways: &[(&str, [bool; 2])]) {
    let pair = files.write();
    for (receives, has_hands) in ways {
        let case = format!("{protocol}, {receives} receives, hands: {has_hands:?}");
        let agreement = files.agreement(&pair, protocol, receives, more);
        // Files of an earlier run under the same agreement.
        fs::remove_dir_all(pair.path("shared")).ok();
        let team = |party| Arc::new(Team::new(&pair, &agreement, party, never()));
        let teams = [0, 1].map(|party| has_hands[party].then(|| team(party)));
        let teams = teams.each_ref().map(Option::as_ref);
        let done = both(&pair, &agreement, teams);
        files.check(&pair, &agreement, &done, teams, &case);
        assert!(done.iter().all(|(_, interruptions)| *interruptions == 0));
    }
}

const SMALL: Files = Files { keys: [2_500, 1_700], common: 900, repeated: [30, 20], empty: 100 };

#[test]
fn every_protocol_that_can_split_finds_the_common_rows_by_hands() {
    let protocols: Vec<&str> = of_intersections().map(|row| row.id).collect();
    let expected = ["dh", "kkrt16", "ot_phasing", "rr22", "rr22_malicious"];
    assert!(expected.iter().all(|id| protocols.contains(id)), "{protocols:?}");
    for protocol in protocols {
        let ways = [("all", AT_BOTH), ("one", AT_ONE), ("one", AT_TWO)];
        run_with_hands(SMALL, protocol, "", &ways);
    }
}

#[test]
fn sets_of_unequal_and_of_hidden_sizes_are_matched_by_hands() {
    let many = Files { keys: [15_000, 3], common: 2, repeated: [300, 1], empty: 1000 };
    run_with_hands(many, "kkrt16", "", &[("two", AT_ONE), ("one", AT_BOTH)]);
    let hidden = "hide_sizes = true\n";
    run_with_hands(SMALL, "rr22", hidden, &[("two", AT_TWO)]);
    run_with_hands(SMALL, "dh", hidden, &[("all", AT_BOTH)]);
    // Not split at all: there is one task at a time.
    let few = Files { keys: [40, 30], common: 5, repeated: [3, 2], empty: 10 };
    for more in ["", hidden] {
        run_with_hands(few, "rr22", more, &[("two", AT_ONE), ("all", AT_BOTH)]);
    }
}

/// This many calls fail, the first half before one succeeds, and the other half after it.
fn fails(seed: u64, wanted: usize) -> Luck {
    let (mut state, mut calls, mut failed) = (seed, 0, 0);
    Box::new(move || {
        calls += 1;
        if failed == wanted || calls == wanted / 2 + 1 {
            return None;
        }
        failed += 1;
        // Splitmix, so that a failure of the test is reproducible.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16;
        Some(match mixed % 8 {
            0 => Fails::AfterAll,
            1..4 => Fails::Between,
            _ => Fails::BeforeAll,
        })
    })
}

/// Runs 64 partitions with processes that lose their workers and restart, this many times at each
/// side that has some.
fn interrupt(seed: u64, protocol: &str, receives: &str, has_hands: [bool; 2], wanted: usize) {
    let files = Files { keys: [33_000, 12_000], common: 5_000, repeated: [30, 20], empty: 1000 };
    let pair = files.write();
    let case = format!("{protocol}, {receives} receives, hands: {has_hands:?}, seed {seed}");
    let agreement = files.agreement(&pair, protocol, receives, "");
    let teams = [0, 1].map(|party| {
        let luck = fails(seed + 100 * party as u64, wanted);
        let team = || Team { twice: false, ..Team::new(&pair, &agreement, party, luck) };
        has_hands[party].then(|| Arc::new(team()))
    });
    let teams = teams.each_ref().map(Option::as_ref);
    let done = both(&pair, &agreement, teams);
    files.check(&pair, &agreement, &done, teams, &case);
    let interrupted = done.iter().zip(has_hands).map(|((_, interruptions), has_hands)| {
        assert!(*interruptions == 0 || has_hands, "{case}");
        *interruptions
    });
    assert_eq!(interrupted.sum::<usize>(), wanted * teams.iter().flatten().count(), "{case}");
}

#[test]
fn interruptions_change_nothing() {
    interrupt(1, "kkrt16", "all", AT_BOTH, 11);
}

#[test]
#[ignore = "slow: 150 interruptions"]
fn many_interruptions_change_nothing() {
    for (seed, protocol) in (2..).zip(["dh", "rr22", "rr22_malicious"]) {
        interrupt(seed, protocol, "two", AT_ONE, 12);
        interrupt(seed + 10, protocol, "one", AT_TWO, 12);
        interrupt(seed + 20, protocol, "all", AT_BOTH, 13);
    }
}
