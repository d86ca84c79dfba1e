//! A helper in memory, and one of its parties.

use super::{Slots, pool};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use vesica_core::hash::derive;
use vesica_core::{Item, Items, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{Bits, List, join};
use vesica_net::{Pool, Progress};
use vesica_protocols::kmrs14::helper::{CommonFailure, HelperStore, advance, check_put, is_out};
use vesica_protocols::kmrs14::{
    Board, Boards, Kind, Means, Memory, Outcome, RunFacts, SEAL_LEN, Seal, Slot, Spec, run,
};
use vesica_scratch::{MemoryScratch, Scratch};

/// The slots of one run, and the helper's steps on them.
pub(super) struct Helper {
    pub(super) spec: Spec,
    slots: Mutex<Slots>,
    changed: Condvar,
    pool: Pool,
}

impl Helper {
    pub(super) fn new(spec: Spec) -> Self {
        Self { spec, slots: Mutex::default(), changed: Condvar::new(), pool: pool() }
    }

    pub(super) fn slots(&self) -> Slots {
        self.lock().clone()
    }

    pub(super) fn has(&self, slot: Slot) -> bool {
        self.lock().contains_key(&slot)
    }

    pub(super) fn keep(&self, slot: Slot, body: Vec<u8>) {
        self.lock().insert(slot, body);
        self.changed.notify_all();
    }

    /// A put of an honest party, and the helper's steps after it.
    pub(super) fn put(&self, party: u8, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
        assert!(slot.may_be_put_by(party, &self.spec), "{slot:?} is not for {party}");
        check_put(&self.spec, self, slot, body)?;
        self.keep(slot, body.to_vec());
        while advance(&self.spec, self)? {}
        self.changed.notify_all();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HelperStore for Helper {
    fn read(&self, slot: Slot) -> io::Result<Vec<u8>> {
        self.lock().get(&slot).cloned().ok_or(io::ErrorKind::NotFound.into())
    }

    fn write(&self, slot: Slot, body: &[u8]) -> io::Result<()> {
        self.keep(slot, body.to_vec());
        Ok(())
    }

    fn is_filled(&self, slot: Slot) -> bool {
        self.has(slot)
    }

    fn secret(&self) -> io::Result<[u8; 32]> {
        Ok([0x5e; 32])
    }

    fn scratch(&self) -> &dyn Scratch {
        &MemoryScratch
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

    fn common(&self, lists: &[List<'_>]) -> Result<Option<Vec<Bits>>, CommonFailure> {
        join::common(lists, &self.pool, &|| false)
            .map_err(|(list, _)| CommonFailure::Malformed { list })
    }
}

/// One party's access to the helper.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) helper: Arc<Helper>,
    pub(super) party: u8,
}

impl Boards for Way {
    fn lanes(&self, _: u64) -> usize {
        1
    }

    fn open(&self) -> Result<Box<dyn Board>> {
        Ok(Box::new(self.clone()))
    }
}

impl Board for Way {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        Ok(self.helper.put(self.party, slot, body)?)
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn get(&mut self, slot: Slot, _: usize) -> Result<Vec<u8>> {
        loop {
            if is_out(&self.helper.spec, &*self.helper, slot) {
                return Ok(self.helper.lock().get(&slot).cloned().unwrap_or_default());
            }
            let slots = self.helper.lock();
            // A slot that is filled between the check and this wait is seen at the next check.
            let wait = std::time::Duration::from_millis(1);
            drop(self.helper.changed.wait_timeout(slots, wait));
        }
    }

    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        Ok((0..parts).map(|part| self.helper.has(Slot::part(kind, self.party, part))).collect())
    }
}

impl Memory for Way {
    fn is_same(&self, kind: Kind, digest: &[u8; 32]) -> Result<bool> {
        Forgetful.is_same(kind, digest)
    }
}

/// A party without stored data.
pub(super) struct Forgetful;

impl Memory for Forgetful {
    fn is_same(&self, _: Kind, _: &[u8; 32]) -> Result<bool> {
        Ok(true)
    }
}

/// Replaces sealing and accepts changed bodies, so that more than the seal is tested.
struct Open;

impl Seal for Open {
    fn seal(&self, kind: Kind, part: u32, mut body: Vec<u8>) -> Result<Vec<u8>> {
        let tag = derive("vesica fuzz 2026 seal", &[&[kind as u8], &part.to_le_bytes(), &body]);
        body.extend_from_slice(&tag[..SEAL_LEN]);
        Ok(body)
    }

    fn open(&self, _: Kind, _: u32, mut body: Vec<u8>) -> Result<Vec<u8>> {
        let len = body.len().checked_sub(SEAL_LEN).ok_or(Misbehaviour::InvalidValue)?;
        body.truncate(len);
        Ok(body)
    }
}

struct Quiet;

impl Progress for Quiet {
    fn step(&self, _: &str, _: u64, _: u64) {}
}

/// Runs party `number` of `spec`, which announced `scale`, as did the other.
pub(super) fn party(
    spec: &Spec,
    number: u8,
    scale: u32,
    items: &[Item],
    boards: &dyn Boards,
    memory: &dyn Memory,
) -> Result<Outcome> {
    let pool = pool();
    let means =
        Means { scratch: &MemoryScratch, memory_bytes: 1 << 20, pool: &pool, progress: &Quiet };
    let (secret, own_secret) = (Secret::new([7; 32]), Secret::new([number; 32]));
    let facts = RunFacts {
        spec,
        party: number,
        scales: &[scale, scale],
        secret: &secret,
        own_secret: &own_secret,
        seal: &Open,
        memory,
    };
    run(&facts, &items as &dyn Items, &means, boards)
}
