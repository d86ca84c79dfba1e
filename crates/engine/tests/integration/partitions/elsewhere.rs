//! Partitions whose work a party's programs elsewhere do, which here are threads of this process.

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
use vesica_core::hash::Transcript;
use vesica_core::{Item, Operation};
use vesica_engine::{Error, Finished, Job, RowSet, RunResult, Silent, StateOptions, terms};
use vesica_exchange::{FolderStore, Store};
use vesica_link::{CancelToken, Endpoint, LinkOptions};
use vesica_own_rows::distinct;
use vesica_protocols::{Partitions, Protocol};
use vesica_records::{NO_ITEM, ReadOptions, Source, stream_items};
use vesica_tasks::{Bucketed, Hands, HandsFault, Orders, Taken, Task, buckets_of};

const NAMES: [&str; 2] = ["one", "two"];

/// Threads that take tasks at a time.
const WORKERS: usize = 3;

/// The rows of a party, bucket by bucket, as they were grouped last.
#[derive(Default)]
struct Grouped {
    rows: u64,
    /// Of each bucket the numbers of its rows, and their items.
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

/// When a team does not do what it is asked.
#[derive(Clone, Copy, PartialEq)]
enum Fails {
    BeforeAll,
    /// Some tasks are taken, and what came of them is stored.
    Between,
    /// All are, and nobody hears of it.
    AfterAll,
}

/// Says of each call whether it fails.
type Luck = Box<dyn FnMut() -> Option<Fails> + Send>;

/// The programs of one party. They outlive the processes that give them tasks.
struct Team {
    agreement: Agreement,
    name: &'static str,
    file: PathBuf,
    store: Arc<dyn Store>,
    grouped: Mutex<Grouped>,
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Of each partition that has ended: the bits of its rows, if the party learns them.
    common: Mutex<BTreeMap<u64, Option<Vec<(u64, bool)>>>>,
    luck: Mutex<Luck>,
    takes: AtomicUsize,
}

impl Team {
    fn new(pair: &Pair, agreement: &Agreement, party: usize, luck: Luck) -> Arc<Self> {
        let name = NAMES[party];
        Arc::new(Self {
            agreement: agreement.clone(),
            name,
            file: pair.path(&format!("{name}.csv")),
            store: store(pair),
            grouped: Mutex::default(),
            kept: Mutex::default(),
            common: Mutex::default(),
            luck: Mutex::new(luck),
            takes: AtomicUsize::new(0),
        })
    }

    fn read(&self) -> (Vec<Item>, vesica_records::KeyCounts) {
        let source = Source::open(&self.file, &ReadOptions::default()).unwrap();
        let columns =
            terms::key_columns(&self.agreement, Some(self.name), &BTreeMap::new()).unwrap();
        let hash = terms::key_items(&self.agreement, &columns);
        let limits = terms::key_limits(self.agreement.terms_of(self.name), false);
        let mut items = Vec::new();
        let mut sink = |batch: &[Item]| {
            items.extend_from_slice(batch);
            Ok::<_, std::convert::Infallible>(())
        };
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let streamed = stream_items(&source, &columns, &hash, &limits, &mut sink, go_on).unwrap();
        (items, streamed.counts)
    }

    /// Takes a task as two programs do that have heard neither of each other nor in which order the other has its rows.
    fn take_twice(&self, orders: &Orders, task: &Task) -> Taken {
        let orders = Orders::from_json(&orders.to_json()).unwrap();
        let task = Task::from_json(&task.to_json()).unwrap();
        let rows = self.grouped.lock().unwrap().of(task.part, orders.partitions);
        let kept = |name: &str| self.kept.lock().unwrap().get(name).cloned();
        let mut turned = rows.clone();
        turned.reverse();
        let taken = [(rows, 1), (turned, 1 + task.part as usize % 3)].map(|(rows, threads)| {
            let entries: Vec<Item> = rows.iter().map(|(_, item)| *item).collect();
            let threads = NonZeroUsize::new(threads).unwrap();
            let taken = task.take(&orders, &entries, &*self.store, threads, &kept);
            let (taken, common) = taken.unwrap_or_else(|error| panic!("{task:?}: {error}"));
            let numbers = rows.iter().map(|(row, _)| *row);
            let common = common.map(|common| {
                assert_eq!(common.len(), rows.len());
                let mut bits: Vec<(u64, bool)> = numbers.zip(common).collect();
                bits.sort_unstable();
                bits
            });
            (taken, common)
        });
        assert_eq!(taken[0], taken[1], "a task gives the same however often it is taken");
        let [(taken, common), _] = taken;
        assert_eq!(Taken::from_json(&taken.to_json()).as_ref(), Some(&taken));
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
        taken
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

impl Hands for Team {
    fn group(&self, secret: &[u8; 32], buckets: u64) -> Result<Bucketed, HandsFault> {
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
        *self.grouped.lock().unwrap() = grouped;
        let (empty, refused) = (counts.empty, counts.refused);
        Ok(Bucketed { rows: counts.rows, empty, refused, distinct, digest: digest.finish() })
    }

    fn take(
        &self,
        orders: &Orders,
        tasks: &[Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<Taken>, HandsFault> {
        self.takes.fetch_add(1, Ordering::Relaxed);
        let fails = (self.luck.lock().unwrap())();
        if fails == Some(Fails::BeforeAll) {
            return Err(HandsFault);
        }
        for (name, bytes) in kept {
            let before = self.kept.lock().unwrap().insert(name, bytes);
            assert_eq!(before, None, "a name is given once");
        }
        let wanted = if fails == Some(Fails::Between) { tasks.len() / 2 } else { tasks.len() };
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some(at) =
                        wanted.checked_sub(1 + next.fetch_add(1, Ordering::Relaxed))
                    {
                        let taken = self.take_twice(orders, &tasks[at]);
                        done.lock().unwrap().insert(at, taken);
                    }
                });
            }
        });
        let done = done.into_inner().unwrap();
        assert_eq!(done.len(), wanted);
        match fails {
            Some(_) => Err(HandsFault),
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

fn job(pair: &Pair, agreement: &Agreement, party: usize, hands: Option<&Arc<Team>>) -> Job {
    let endpoint = Endpoint::Store("shared".to_owned());
    let limit = Duration::from_secs(60);
    let mut job = pair.job_of(party, agreement.clone(), endpoint.clone());
    job.output = None;
    job.link = LinkOptions { endpoint, wait: limit, idle: limit, total: None };
    job.store = Some(store(pair));
    job.hands = hands.map(|team| Arc::clone(team) as Arc<dyn Hands>);
    let folder = pair.path(&format!("{}.state", NAMES[party]));
    job.state = StateOptions { folder: Some(folder), restart: false };
    job
}

/// Runs one party to the end; returns how often it was interrupted.
fn to_the_end(
    pair: &Pair,
    agreement: &Agreement,
    party: usize,
    hands: Option<&Arc<Team>>,
) -> (Finished, usize) {
    let mut interruptions = 0;
    loop {
        let job = job(pair, agreement, party, hands);
        match vesica_engine::run(job, Arc::new(Silent), &CancelToken::new()) {
            Ok(finished) => return (finished, interruptions),
            Err(Error::Interrupted { .. }) if hands.is_some() => interruptions += 1,
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

/// The rows of two files with so many keys, the last of the first file being the first of the second one.
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
        let limits = self.keys.map(|keys| format!("max_rows = {}", 2 * keys));
        pair.agreement_of(&head, key, limits.each_ref().map(String::as_str))
    }

    /// Checks that both parties have found what they should, and nothing else is left of the run.
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
                (Some(team), RunResult::Elsewhere(keys)) if learns => {
                    assert_eq!(*keys, self.common, "{case}");
                    Some(team.rows().unwrap())
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
            assert_eq!([0, 1].map(|one| report.parties[one].keys), self.keys, "{case}");
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

    /// The three rows at the end are not common, nor is any other row without a key.
    fn assert_rows(self, party: usize, found: &RowSet) {
        let rows = found.len() - 3;
        assert!((rows..found.len()).all(|row| !found.contains(row)));
        let words = found.words().to_vec();
        let found = RowSet::new(words, rows, found.keys());
        assert_rows(&found, self.numbers(party), self.empty, |number| self.is_common(number));
    }
}

fn of_intersections() -> impl Iterator<Item = &'static Protocol> {
    let can = |row: &&Protocol| {
        row.partitions == Partitions::Sets && row.operations.contains(&Operation::Intersection)
    };
    vesica_protocols::catalogue().iter().filter(can)
}

/// Runs all that there is of hands at one side, at the other and at both.
fn run_with_hands(files: Files, protocols: &[&str], receivers: &[&str]) {
    let pair = files.write();
    for protocol in protocols {
        for receives in receivers {
            for has_hands in [[true, false], [false, true], [true, true]] {
                let case = format!("{protocol}, {receives} receives, hands: {has_hands:?}");
                let start = std::time::Instant::now();
                // Each run has an agreement of its own: the store keeps what earlier ones have said.
                let agreement = files.agreement(&pair, protocol, receives, "");
                fs::remove_dir_all(pair.path("shared")).ok();
                let teams = [0, 1].map(|party| {
                    has_hands[party].then(|| Team::new(&pair, &agreement, party, never()))
                });
                let teams = teams.each_ref().map(Option::as_ref);
                let done = both(&pair, &agreement, teams);
                files.check(&pair, &agreement, &done, teams, &case);
                assert!(done.iter().all(|(_, interruptions)| *interruptions == 0));
                let takes = teams.map(|team| team.map(|team| team.takes.load(Ordering::Relaxed)));
                eprintln!("{case}: {:?}, takes {takes:?}", start.elapsed());
            }
        }
    }
}

const SMALL: Files =
    Files { keys: [2_500, 1_700], common: 900, repeated: [30, 20], empty: 100 };

#[test]
fn every_protocol_that_can_split_finds_the_common_rows_by_hands() {
    let protocols: Vec<&str> = of_intersections().map(|row| row.id).collect();
    let expected = ["dh", "kkrt16", "ot_phasing", "rr22", "rr22_malicious"];
    assert!(expected.iter().all(|id| protocols.contains(id)), "{protocols:?}");
    run_with_hands(SMALL, &protocols, &["all", "one"]);
}

#[test]
fn many_rows_of_which_one_side_has_few_are_matched_by_hands() {
    let files =
        Files { keys: [20_000, 4_000], common: 3_210, repeated: [300, 200], empty: 1000 };
    run_with_hands(files, &["rr22"], &["two"]);
}

/// A call in `one_of` fails, as long as so many have not failed yet.
fn fails(seed: u64, one_of: u64, mut left: usize) -> Luck {
    let mut state = seed;
    Box::new(move || {
        // Splitmix, so that a failure comes again.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16;
        let kinds = [Fails::BeforeAll, Fails::Between, Fails::AfterAll];
        let fails = (left > 0 && mixed % one_of == 0)
            .then(|| kinds[(mixed / one_of % 3) as usize]);
        left -= usize::from(fails.is_some());
        fails
    })
}

/// 64 partitions, and processes that lose their hands and start again: on one side, then on both.
#[test]
fn interruptions_change_nothing() {
    let files =
        Files { keys: [33_000, 12_000], common: 5_000, repeated: [30, 20], empty: 1000 };
    let pair = files.write();
    for (seed, protocol, receives, has_hands) in [
        (1, "rr22", "all", [true, false]),
        (2, "rr22", "two", [true, true]),
        (3, "kkrt16", "all", [false, true]),
        (4, "rr22_malicious", "all", [true, true]),
    ] {
        let case = format!("{protocol}, {receives} receives, hands: {has_hands:?}, seed {seed}");
        let start = std::time::Instant::now();
        fs::remove_dir_all(pair.path("shared")).ok();
        let agreement = files.agreement(&pair, protocol, receives, "");
        let teams = [0, 1].map(|party| {
            let luck = fails(seed + 100 * party as u64, 2, 12);
            has_hands[party].then(|| Team::new(&pair, &agreement, party, luck))
        });
        let teams = teams.each_ref().map(Option::as_ref);
        let done = both(&pair, &agreement, teams);
        files.check(&pair, &agreement, &done, teams, &case);
        eprintln!("{case}: {:?} {:?}", start.elapsed(), done.each_ref().map(|(_, n)| *n));
    }
}
