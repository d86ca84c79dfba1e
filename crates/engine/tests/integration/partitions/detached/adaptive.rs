//! A party whose workers wait for the result of one partition before they choose the items of
//! others.

use super::{NAMES, Team, WorkersFault, job, never};
use crate::support::Pair;
use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_core::Item;
use vesica_detached::{BucketCounts, RunSpec, Task, TaskResult, Workers, buckets_of};
use vesica_engine::{Error, Silent};
use vesica_link::CancelToken;
use vesica_partitions::Plan;
use vesica_records::KeyLimits;
use vesica_store_session::ExchangeError;

/// Blocks of candidates, of which the honest party has one.
const BLOCKS: u64 = 20;
const KEYS: u64 = 4_000;
const SECRET_BLOCK: u64 = 13;

/// Self-check items of the agreement.
const CHECK_ITEMS: u64 = 16;

const PARTITION_ROWS: u64 = 1_000;

/// How long the deviating party waits for the result of the first partition.
const PATIENCE: Duration = Duration::from_secs(2);

/// The phase of the deviating party.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// It advances the first partition alone.
    Waits,
    /// It advances all: this is the block of the first result, if there was one.
    Enters(Option<u64>),
}

struct Adaptive {
    team: Team,
    /// The item of each candidate, and the bucket that it falls into.
    candidates: Vec<Item>,
    buckets: Mutex<(Vec<u16>, u64)>,
    stage: Mutex<Stage>,
    /// Keys found, by partition.
    found: Mutex<Vec<Option<usize>>>,
}

impl Adaptive {
    /// The guesses of a partition.
    fn guesses(&self, part: u64, partitions: u64) -> Vec<u64> {
        let (buckets, count) = &*self.buckets.lock().unwrap();
        let here = |n: &u64| u64::from(buckets[*n as usize]) / (count / partitions) == part;
        let len = KEYS + CHECK_ITEMS;
        let plan = Plan::new(len, len, PARTITION_ROWS).guarded([len; 2], CHECK_ITEMS);
        assert_eq!(plan.partitions(), partitions);
        let room = (plan.bound(len) - CHECK_ITEMS) as usize;
        let of = |block: u64| (block * KEYS..(block + 1) * KEYS).filter(here);
        match *self.stage.lock().unwrap() {
            Stage::Enters(Some(block)) if part != 0 => of(block).take(room).collect(),
            _ => (0..BLOCKS).flat_map(|block| of(block).take(room / BLOCKS as usize)).collect(),
        }
    }

    fn turn(&self, orders: &RunSpec, task: &Task) -> TaskResult {
        let waits = *self.stage.lock().unwrap() == Stage::Waits;
        if waits && task.part != 0 {
            return TaskResult {
                part: task.part,
                parcels: Vec::new(),
                sent: task.sent.clone(),
                opened: task.roots[..1].to_vec(),
                needs: vec![(task.roots[0], u64::MAX)],
                reveals: false,
                ended: None,
                fault: None,
            };
        }
        let numbers = self.guesses(task.part, orders.partitions);
        let entries: Vec<Item> = numbers.iter().map(|n| self.candidates[*n as usize]).collect();
        let kept = |name: &str| self.team.kept.lock().unwrap().get(name).cloned();
        let store = &*self.team.store;
        let taken = task.take(orders, &entries, store, NonZeroUsize::MIN, &kept);
        let (mut taken, common) = taken.unwrap();
        // It does not wait for its own other partitions.
        taken.reveals = false;
        if let Some(common) = common {
            let hits: Vec<u64> =
                numbers.iter().zip(common).filter(|(_, common)| *common).map(|(n, _)| *n).collect();
            let mut found = self.found.lock().unwrap();
            found.resize(orders.partitions as usize, None);
            found[task.part as usize] = Some(hits.len());
            if waits {
                let of = |block: &u64| hits.iter().filter(|n| **n / KEYS == *block).count();
                *self.stage.lock().unwrap() = Stage::Enters((0..BLOCKS).max_by_key(of));
            }
        }
        taken
    }
}

impl Workers for Adaptive {
    fn group(&self, secret: &[u8; 32], buckets: u64) -> Result<BucketCounts, WorkersFault> {
        *self.buckets.lock().unwrap() = (buckets_of(secret, &self.candidates, buckets), buckets);
        let mut distinct = vec![KEYS / buckets; buckets as usize];
        distinct[0] += KEYS % buckets;
        let digest = [1; 32];
        Ok(BucketCounts { rows: KEYS, empty: 0, refused: 0, keyed: KEYS, distinct, digest })
    }

    fn take(
        &self,
        orders: &RunSpec,
        tasks: &[Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault> {
        self.team.kept.lock().unwrap().extend(kept);
        let waited = *self.stage.lock().unwrap() == Stage::Waits;
        let taken = tasks.iter().map(|task| self.turn(orders, task)).collect();
        // With the first result it restarts, in all partitions.
        if waited && *self.stage.lock().unwrap() != Stage::Waits {
            Err(WorkersFault)
        } else {
            Ok(taken)
        }
    }
}

fn write(path: &Path, numbers: impl Iterator<Item = u64>) {
    let mut text = String::from("email\n");
    numbers.for_each(|n| writeln!(text, "{n}@a.org").unwrap());
    fs::write(path, text).unwrap();
}

/// The findings of party `bad`, which deviates, against an honest party with workers or without.
fn attack(receives: &str, bad: usize, has_hands: bool) -> (Stage, usize) {
    let pair = Pair::new();
    let file = |party: usize| pair.path(&format!("{}.csv", NAMES[party]));
    write(&file(bad), 0..BLOCKS * KEYS);
    write(&file(1 - bad), SECRET_BLOCK * KEYS..(SECRET_BLOCK + 1) * KEYS);
    let head = format!(
        "operation = \"intersection\"\nreceives = \"{receives}\"\nprotocol = \"rr22_malicious\"\n\
         security = \"malicious\"\npartition_rows = {PARTITION_ROWS}\n"
    );
    let key = "[[key]]\nname = \"email\"\nprofile = \"email\"\n";
    let limit = format!("max_rows = {KEYS}");
    let agreement = pair.agreement_of(&head, key, [&limit, &limit]);
    // It makes the items of all candidates.
    let all = KeyLimits { max_rows: None, strict: false, may_be_empty: true };
    let candidates = Team::new(&pair, &agreement, bad, never()).read_most(all).0;
    write(&file(bad), 0..KEYS);
    let adaptive = Arc::new(Adaptive {
        team: Team::new(&pair, &agreement, bad, never()),
        candidates,
        buckets: Mutex::default(),
        stage: Mutex::new(Stage::Waits),
        found: Mutex::default(),
    });
    let honest = has_hands.then(|| Arc::new(Team::new(&pair, &agreement, 1 - bad, never())));
    let honest = job(&pair, &agreement, 1 - bad, honest.map(|team| team as _));
    let run = |job| vesica_engine::run(job, Arc::new(Silent), &CancelToken::new());
    std::thread::scope(|scope| {
        let honest = scope.spawn(|| run(honest));
        loop {
            let mut job = job(&pair, &agreement, bad, Some(Arc::clone(&adaptive) as _));
            let waits = *adaptive.stage.lock().unwrap() == Stage::Waits;
            if waits {
                job.link.wait = PATIENCE;
            }
            match run(job) {
                Ok(_) => break,
                Err(Error::Interrupted { .. }) if waits => {}
                Err(Error::Exchange { kind, .. })
                    if waits && matches!(*kind, ExchangeError::NotYet { .. }) =>
                {
                    // Its waiting time is spent, so it now enters a fixed set.
                    let mut stage = adaptive.stage.lock().unwrap();
                    if *stage == Stage::Waits {
                        *stage = Stage::Enters(None);
                    }
                }
                Err(error) => panic!("{}: {error:?}", NAMES[bad]),
            }
        }
        honest.join().unwrap().expect("the honest party sees a good run");
    });
    let found = adaptive.found.lock().unwrap();
    assert!(found.iter().all(Option::is_some) && found.len() > 1, "{found:?}");
    let stage = *adaptive.stage.lock().unwrap();
    (stage, found.iter().flatten().sum())
}

/// A fixed set finds one in twenty of its guesses; padding allows up to twice as many guesses as
/// keys.
fn finds_what_a_fixed_set_finds(receives: &str, bad: usize) {
    for has_hands in [false, true] {
        let (stage, found) = attack(receives, bad, has_hands);
        let case = format!("{receives}, {bad}, hands: {has_hands}, {stage:?}, {found} keys");
        assert_eq!(stage, Stage::Enters(None), "a result before the set was fixed: {case}");
        let expected = (KEYS / BLOCKS) as usize;
        assert!((expected / 2..=2 * expected).contains(&found), "{case}");
    }
}

#[test]
fn a_receiver_that_waits_for_a_first_result_finds_what_a_fixed_set_finds() {
    finds_what_a_fixed_set_finds("one", 0);
}

/// One of them is the sender of the protocol.
#[test]
fn either_of_two_that_waits_for_a_first_result_finds_what_a_fixed_set_finds() {
    (0..2).for_each(|bad| finds_what_a_fixed_set_finds("all", bad));
}
