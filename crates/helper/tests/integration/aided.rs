//! The protocol itself over the helper, with a public coin toss.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use crate::common::{Fixture, Trusting, pool};
use std::sync::Arc;
use vesica_core::{Item, Result, Secret};
use vesica_helper::Service;
use vesica_helper_client::Remote;
use vesica_label_joins::{Answers, Backend, BackendError, RunName, Stop};
use vesica_labels::List;
use vesica_net::Progress;
use vesica_scratch::MemoryScratch;
use vesica_server_aided::kmrs14::{
    Boards, CommonRows, Kind, Means, Memory, RunFacts, SEAL_LEN, Seal, Slot, Spec, run,
};

struct NoSeal;

impl Seal for NoSeal {
    fn seal(&self, _: Kind, _: u32, mut body: Vec<u8>) -> Result<Vec<u8>> {
        body.extend_from_slice(&[0; SEAL_LEN]);
        Ok(body)
    }

    fn open(&self, _: Kind, _: u32, mut body: Vec<u8>) -> Result<Vec<u8>> {
        body.truncate(body.len() - SEAL_LEN);
        Ok(body)
    }
}

struct Silent;

impl Progress for Silent {
    fn step(&self, _: &str, _: u64, _: u64) {}
}

/// Items of party `party` of `parties`: the first third is common to all.
pub fn items(party: usize, rows: u64) -> Vec<Item> {
    let own = |row: u64| if row < rows / 3 { row + 1 } else { (party as u64 + 1) << 40 | row };
    (0..rows).map(|row| Item::from_integer(own(row).into())).collect()
}

/// Whether the rows are the common ones of [`items`].
pub fn is_right(matched: &CommonRows, rows: u64) -> bool {
    let bit = |row: u64| matched.rows[(row / 64) as usize] >> (row % 64) & 1 == 1;
    matched.items == rows / 3 && (0..rows).all(|row| bit(row) == (row < rows / 3))
}

/// Runs a party with these rows to its answer; does not send done.
pub fn run_party(remote: &Remote, spec: &Spec, party: usize, rows: u64) -> Result<CommonRows> {
    run_party_that_remembers(remote, spec, party, rows, &Trusting)
}

/// The same with what the party remembers of the run.
pub fn run_party_that_remembers(
    remote: &Remote,
    spec: &Spec,
    party: usize,
    rows: u64,
    memory: &dyn Memory,
) -> Result<CommonRows> {
    let parties = spec.parties.len();
    let scales: Vec<u32> = (0..parties).map(|party| spec.largest_scale(party)).collect();
    let mut board = remote.open()?;
    let hello = |party: usize| vec![scales[party] as u8; 50];
    board.put(Slot::new(Kind::Hello, party as u8), &hello(party))?;
    for other in 0..parties {
        let received = board.get(Slot::new(Kind::Hello, other as u8), 50)?;
        assert_eq!(received, hello(other));
    }
    drop(board);
    let (secret, own_secret) = (Secret::new([5; 32]), Secret::new([party as u8; 32]));
    let seal = &NoSeal;
    let (secret, own_secret, scales) = (&secret, &own_secret, &scales[..]);
    let run_of = RunFacts { spec, party: party as u8, scales, secret, own_secret, seal, memory };
    let pool = pool();
    let means =
        Means { scratch: &MemoryScratch, memory_bytes: 1 << 28, pool: &pool, progress: &Silent };
    let outcome = run(&run_of, &&items(party, rows)[..], &means, remote)?.checked()?;
    Ok(outcome.matched.expect("every party receives"))
}

/// Runs all parties at once, to the end.
pub fn run_all(fixture: &Fixture, service: &Service, spec: &Spec, parties: &[usize], rows: u64) {
    std::thread::scope(|scope| {
        for (place, party) in parties.iter().enumerate() {
            let remote = fixture.remote(service, *party, spec);
            scope.spawn(move || {
                let matched = run_party(&remote, spec, place, rows).unwrap();
                assert!(is_right(&matched, rows));
                remote.done().unwrap();
            });
        }
    });
}

type Fault = dyn Fn(Stop<'_>) -> Option<BackendError> + Send + Sync;

/// A backend that calls a function first.
#[derive(Clone)]
pub struct Faulty {
    inner: Arc<Box<dyn Backend>>,
    fault: Arc<Fault>,
}

impl Faulty {
    pub fn boxed(
        inner: Box<dyn Backend>,
        fault: impl Fn(Stop<'_>) -> Option<BackendError> + Send + Sync + 'static,
    ) -> Box<dyn Backend> {
        Box::new(Self { inner: Arc::new(inner), fault: Arc::new(fault) })
    }
}

impl std::fmt::Debug for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faulty")
    }
}

impl Backend for Faulty {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        match (self.fault)(stop) {
            Some(error) => Err(error),
            None => self.inner.common(run, lists, stop),
        }
    }

    fn check(&self) -> std::result::Result<(), BackendError> {
        (self.fault)(&|| false).map_or(Ok(()), Err)
    }

    fn forget(&self, run: &RunName) -> std::result::Result<(), BackendError> {
        self.inner.forget(run)
    }
}
