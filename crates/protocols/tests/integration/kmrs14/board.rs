//! A helper in memory, honest but for what a test changes.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use vesica_core::hash::derive;
use vesica_core::{Error, Item, Items, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{Bits, List, ListError, join};
use vesica_net::{Pool, Progress};
use vesica_protocols::kmrs14::helper::{CommonFailure, HelperStore, advance, check_put, is_out};
use vesica_protocols::kmrs14::{
    Board, Boards, Check, Kind, Means, Memory, Outcome, PartySpec, RunFacts, SEAL_LEN, Seal, Slot,
    Spec, Variant, run,
};
use vesica_scratch::{MemoryScratch, Scratch, ScratchFile};

/// How a cheating helper changes a slot that a party gets.
pub(crate) type Cheat = Arc<dyn Fn(Slot, Vec<u8>) -> Vec<u8> + Send + Sync>;

/// Counts the bytes of intermediate data.
#[derive(Default)]
pub(crate) struct Counting {
    pub(crate) live: Arc<AtomicU64>,
    pub(crate) peak: Arc<AtomicU64>,
}

struct Counted {
    bytes: Box<dyn ScratchFile>,
    live: Arc<AtomicU64>,
    peak: Arc<AtomicU64>,
}

impl Scratch for Counting {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
        let (live, peak) = (Arc::clone(&self.live), Arc::clone(&self.peak));
        Ok(Box::new(Counted { bytes: MemoryScratch.create()?, live, peak }))
    }
}

impl ScratchFile for Counted {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let len = bytes.len() as u64;
        let now = self.live.fetch_add(len, Ordering::SeqCst) + len;
        self.peak.fetch_max(now, Ordering::SeqCst);
        self.bytes.append(bytes)
    }
    fn overwrite_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.bytes.overwrite_at(offset, bytes)
    }
    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.bytes.read_exact_at(offset, out)
    }
    fn len(&self) -> u64 {
        self.bytes.len()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.live.fetch_sub(self.bytes.len(), Ordering::SeqCst);
    }
}

pub(crate) struct Helper {
    pub(crate) spec: Spec,
    pub(crate) scratch: Counting,
    slots: Mutex<BTreeMap<Slot, Vec<u8>>>,
    /// One at a time takes the steps of a run.
    advancing: Mutex<()>,
    failed: Mutex<Option<Refusal>>,
    changed: Condvar,
    pool: Pool,
    pub(crate) cheat: Option<Cheat>,
    /// What becomes of a slot that the helper writes.
    pub(crate) slip: Option<Cheat>,
    /// Bytes put and got by each party.
    pub(crate) traffic: Mutex<BTreeMap<u8, (u64, u64)>>,
    /// Puts that are still let through before the party is cut off.
    pub(crate) puts_left: Mutex<Option<u32>>,
    /// What each party remembers of the run.
    remembered: Mutex<BTreeMap<(u8, Kind), [u8; 32]>>,
}

impl Helper {
    pub(crate) fn new(spec: Spec) -> Self {
        Self {
            spec,
            scratch: Counting::default(),
            slots: Mutex::default(),
            advancing: Mutex::default(),
            failed: Mutex::default(),
            changed: Condvar::new(),
            pool: Pool::new(NonZeroUsize::MIN).unwrap(),
            cheat: None,
            slip: None,
            traffic: Mutex::default(),
            puts_left: Mutex::new(None),
            remembered: Mutex::default(),
        }
    }

    /// The same run without these slots; its parties remember what they have seen.
    pub(crate) fn without(&self, lost: &[Slot]) -> Self {
        let rest = Self::new(self.spec.clone());
        let slots = self.slots().into_iter().filter(|(slot, _)| !lost.contains(slot));
        *rest.slots.lock().unwrap() = slots.collect();
        *rest.remembered.lock().unwrap() = self.remembered.lock().unwrap().clone();
        rest
    }

    /// A slot is empty again.
    pub(crate) fn lose(&self, slot: Slot) {
        self.slots.lock().unwrap().remove(&slot);
    }

    /// All that was put and computed.
    pub(crate) fn slots(&self) -> BTreeMap<Slot, Vec<u8>> {
        self.slots.lock().unwrap().clone()
    }

    pub(crate) fn fail(&self, refusal: Refusal) {
        self.failed.lock().unwrap().get_or_insert(refusal);
        self.changed.notify_all();
    }

    fn check(&self) -> Result<()> {
        self.failed.lock().unwrap().map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    pub(crate) fn put(&self, party: u8, slot: Slot, body: &[u8]) -> Result<()> {
        self.check()?;
        if !slot.may_be_put_by(party, &self.spec) {
            return Err(Refusal::BadRun.into());
        }
        if let Some(there) = self.slots.lock().unwrap().get(&slot) {
            return if there == body { Ok(()) } else { Err(Refusal::AlreadyThere.into()) };
        }
        if let Some(left) = &mut *self.puts_left.lock().unwrap() {
            *left = left.checked_sub(1).ok_or(vesica_core::TransportError::Closed)?;
        }
        check_put(&self.spec, self, slot, body)?;
        self.slots.lock().unwrap().insert(slot, body.to_vec());
        self.traffic.lock().unwrap().entry(party).or_default().0 += body.len() as u64;
        let _one = self.advancing.lock().unwrap();
        loop {
            match advance(&self.spec, self) {
                Ok(false) => break,
                Ok(true) => {}
                Err(refusal) => {
                    self.fail(refusal);
                    break;
                }
            }
        }
        self.changed.notify_all();
        Ok(())
    }
}

impl HelperStore for Helper {
    fn read(&self, slot: Slot) -> io::Result<Vec<u8>> {
        self.slots.lock().unwrap().get(&slot).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
    fn write(&self, slot: Slot, body: &[u8]) -> io::Result<()> {
        let body = body.to_vec();
        let body = self.slip.as_ref().map_or(body.clone(), |slip| slip(slot, body));
        self.slots.lock().unwrap().insert(slot, body);
        self.changed.notify_all();
        Ok(())
    }
    fn is_filled(&self, slot: Slot) -> bool {
        self.slots.lock().unwrap().contains_key(&slot)
    }
    fn secret(&self) -> io::Result<[u8; 32]> {
        Ok([0x5e; 32])
    }
    fn scratch(&self) -> &dyn Scratch {
        &self.scratch
    }
    fn memory_bytes(&self) -> u64 {
        1 << 20
    }
    fn pool(&self) -> &Pool {
        &self.pool
    }
    fn stop(&self) -> bool {
        false
    }
    fn common(&self, lists: &[List<'_>]) -> std::result::Result<Option<Vec<Bits>>, CommonFailure> {
        join::common(lists, &self.pool, &|| false).map_err(|(list, error)| match error {
            ListError::Io(_) => CommonFailure::Storage,
            _ => CommonFailure::Malformed { list },
        })
    }
}

/// One party's way to a helper in memory.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) helper: Arc<Helper>,
    pub(crate) party: u8,
    pub(crate) lanes: usize,
}

impl Memory for Way {
    fn is_same(&self, kind: Kind, digest: &[u8; 32]) -> Result<bool> {
        let mut remembered = self.helper.remembered.lock().unwrap();
        Ok(remembered.entry((self.party, kind)).or_insert(*digest) == digest)
    }
}

impl Boards for Way {
    fn lanes(&self, _: u64) -> usize {
        self.lanes
    }
    fn open(&self) -> Result<Box<dyn Board>> {
        Ok(Box::new(self.clone()))
    }
}

impl Board for Way {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        self.helper.put(self.party, slot, body)
    }
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        let helper = &self.helper;
        assert!(
            slot.may_be_got_by(self.party, &helper.spec),
            "{slot:?} is not for party {}",
            self.party
        );
        let start = Instant::now();
        loop {
            helper.check()?;
            if is_out(&helper.spec, &**helper, slot) {
                let body = HelperStore::read(&**helper, slot).unwrap();
                helper.traffic.lock().unwrap().entry(self.party).or_default().1 +=
                    body.len() as u64;
                let body = helper.cheat.as_ref().map_or(body.clone(), |cheat| cheat(slot, body));
                if body.len() > max_len {
                    let (expected, actual) = (max_len as u64, body.len() as u64);
                    return Err(Misbehaviour::WrongMessageLen { expected, actual }.into());
                }
                return Ok(body);
            }
            let limit = Duration::from_secs(60);
            assert!(start.elapsed() < limit, "{slot:?} never came to party {}", self.party);
            // It may have come since it was looked for.
            let slots = helper.slots.lock().unwrap();
            drop(helper.changed.wait_timeout(slots, Duration::from_millis(5)).unwrap());
        }
    }
    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        let is_filled = |part| self.helper.is_filled(Slot::part(kind, self.party, part));
        Ok((0..parts).map(is_filled).collect())
    }
}

/// A stand-in for sealing that notices every change.
pub(crate) struct PlainSeal;

impl Seal for PlainSeal {
    fn seal(&self, kind: Kind, part: u32, mut body: Vec<u8>) -> Result<Vec<u8>> {
        let tag = derive("test seal", &[&[kind as u8], &part.to_le_bytes(), &body]);
        body.iter_mut().for_each(|byte| *byte ^= 0xa5);
        body.extend_from_slice(&tag[..SEAL_LEN]);
        Ok(body)
    }
    fn open(&self, kind: Kind, part: u32, mut body: Vec<u8>) -> Result<Vec<u8>> {
        let at = body.len().checked_sub(SEAL_LEN).ok_or(Misbehaviour::InvalidValue)?;
        let tag = body.split_off(at);
        body.iter_mut().for_each(|byte| *byte ^= 0xa5);
        let expected = derive("test seal", &[&[kind as u8], &part.to_le_bytes(), &body]);
        if expected[..SEAL_LEN] == tag { Ok(body) } else { Err(Misbehaviour::InvalidValue.into()) }
    }
}

pub(crate) struct Quiet;

impl Progress for Quiet {
    fn step(&self, _: &str, _: u64, _: u64) {}
}

pub(crate) fn spec(variant: Variant, rows: &[u64], check: Check) -> Spec {
    let party = |(at, rows): (usize, &u64)| PartySpec {
        identity: [at as u8 + 1; 32],
        max_rows: (*rows).max(1),
        min_rows: 0,
        receives: true,
    };
    let parties = rows.iter().enumerate().map(party).collect();
    let spec =
        Spec { variant, agreement: [9; 32], parties, copies: check.copies, dummies: check.dummies };
    assert!(spec.is_sound());
    spec
}

/// Puts every party's hello, as if they had met.
pub(crate) fn meet(helper: &Helper, rows: &[u64]) -> Vec<u32> {
    let scales: Vec<u32> = rows.iter().map(|rows| helper.spec.scale(*rows)).collect();
    for (party, scale) in (0..).zip(&scales) {
        match helper.put(party, Slot::new(Kind::Hello, party), &[*scale as u8]) {
            Ok(()) | Err(Error::Refused(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    scales
}

/// One party of a run, with `secret` as what the parties tossed.
pub(crate) fn run_party(
    way: &Way,
    scales: &[u32],
    secret: u8,
    items: &[Item],
    memory_bytes: u64,
) -> Result<Outcome> {
    run_party_over(way, way, scales, secret, items, memory_bytes)?.checked()
}

/// The same over other boards than `way`'s.
pub(crate) fn run_party_over(
    way: &Way,
    boards: &dyn Boards,
    scales: &[u32],
    secret: u8,
    items: &[Item],
    memory_bytes: u64,
) -> Result<Outcome> {
    let pool = Pool::new(NonZeroUsize::new(way.lanes).unwrap()).unwrap();
    let means = Means { scratch: &MemoryScratch, memory_bytes, pool: &pool, progress: &Quiet };
    let (secret, own_secret) = (Secret::new([secret; 32]), Secret::new([way.party; 32]));
    let spec = &way.helper.spec;
    let facts = RunFacts {
        spec,
        party: way.party,
        scales,
        secret: &secret,
        own_secret: &own_secret,
        seal: &PlainSeal,
        memory: way,
    };
    run(&facts, &items as &dyn Items, &means, boards)
}

/// All parties of a run side by side; a party that fails ends the run for the others.
pub(crate) fn run_all(
    helper: Helper,
    sets: &[Vec<Item>],
    lanes: usize,
) -> (Vec<Result<Outcome>>, Arc<Helper>) {
    let helper = Arc::new(helper);
    let rows: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
    let scales = meet(&helper, &rows);
    let outcomes = std::thread::scope(|scope| {
        let parties: Vec<_> = (0..)
            .zip(sets)
            .map(|(party, set)| {
                let way = Way { helper: Arc::clone(&helper), party, lanes };
                let scales = &scales;
                scope.spawn(move || {
                    let outcome = run_party_over(&way, &way, scales, 7, set, 1 << 16);
                    if outcome.is_err() {
                        way.helper.fail(Refusal::Ended { party });
                    }
                    outcome.and_then(Outcome::checked)
                })
            })
            .collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    });
    (outcomes, helper)
}
