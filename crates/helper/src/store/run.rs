//! The stored data of one run.

mod left;

pub(crate) use left::Damage;

use super::directory::{Keeping, Store};
use super::file::{self, Digest};
use super::record::{Record, RunId, charge, file_name, labels_of, name_of};
use crate::locks::{Guard, Lock, Rank};
use rand::TryRng;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vesica_server_aided::kmrs14::{Kind, Slot};
use zeroize::Zeroizing;

const RUN_FILE: &str = "run";
const SECRET_FILE: &str = "secret";

/// Bytes of the helper's secret of a run.
const SECRET_LEN: usize = 32;

/// The result of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is stored.
    New,
    /// It was stored already.
    Same,
    /// The slot holds something else.
    Other,
}

struct Held {
    len: u64,
    labels: u64,
    place: Place,
}

enum Place {
    Memory(Arc<[u8]>),
    /// Without a digest, the file has not been checked since the service started.
    File(Option<Digest>),
}

#[derive(Default)]
struct Slots {
    held: BTreeMap<Slot, Held>,
    /// Filled since the last sync.
    unsynced: Vec<Slot>,
    /// How often slots were lost because they could not be synced.
    losses: u64,
    /// An earlier process stored the run: slots may have been damaged since.
    is_found: bool,
    done: u16,
    /// It is recorded as started.
    is_started: bool,
    /// The directory exists and contains the run's description.
    has_dir: bool,
    /// All files have been checked.
    is_checked: bool,
    secret: Option<Zeroizing<[u8; SECRET_LEN]>>,
    is_removed: bool,
}

/// The stored data that a connection or a step knows: it may rely on nothing after something was
/// lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

/// The slots of one run, the helper's secret, and the parties that are done.
///
/// `slots` is never held during file operations: it would block all parties, also parties of other
/// runs.
pub(crate) struct RunStore {
    store: Arc<Store>,
    dir: PathBuf,
    slots: Lock<Slots>,
    /// Held while names in the directory change.
    files: Lock<()>,
    /// Held while slots are synced.
    syncing: Lock<()>,
}

impl RunStore {
    pub(super) fn new(store: Arc<Store>, id: &RunId) -> Self {
        let dir = store.root.join("runs").join(name_of(id));
        let slots = Slots { is_checked: true, ..Slots::default() };
        let slots = Lock::new(Rank::Slots, slots);
        let (files, syncing) = (Lock::new(Rank::Files, ()), Lock::new(Rank::Syncing, ()));
        Self { store, dir, slots, files, syncing }
    }

    /// Stores the run's description, if runs survive a restart, so that no party is accepted into a
    /// run that could be lost; returns whether it is new.
    ///
    /// # Errors
    /// Errors of the file system; [`io::ErrorKind::NotFound`] if the run was removed.
    pub(crate) fn begin(&self, record: &Record) -> io::Result<bool> {
        if self.store.keeping == Keeping::Files {
            self.make_dir(record)?;
        }
        Ok(!std::mem::replace(&mut self.slots().is_started, true))
    }

    /// A mark of the data stored up to now.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.slots().losses)
    }

    /// Whether slots that a party has filled may be empty again.
    pub(crate) fn may_have_lost(&self) -> bool {
        let slots = self.slots();
        slots.is_found || slots.losses > 0
    }

    /// Returns when everything filled so far survives a power failure, if runs survive a restart at
    /// all. Slots that cannot be synced are emptied: their parties have no confirmation, and put
    /// them again.
    ///
    /// # Errors
    /// Errors of the file system, also if something was lost since `mark`.
    pub(crate) fn sync(&self, mark: Mark) -> io::Result<()> {
        let _one = self.syncing.lock();
        let slots = std::mem::take(&mut self.slots().unsynced);
        if !slots.is_empty() && self.store.keeping == Keeping::Files {
            let disk = &self.store.disk;
            let synced = slots
                .iter()
                .try_for_each(|slot| disk.sync(&self.dir.join(file_name(*slot))))
                .and_then(|()| disk.sync(&self.dir));
            if let Err(error) = synced {
                self.lose(&slots);
                return Err(error);
            }
        }
        if self.mark() == mark {
            Ok(())
        } else {
            Err(io::Error::other("what could not be synced is lost"))
        }
    }

    /// Empties slots, and marks that rely on them become invalid.
    fn lose(&self, lost: &[Slot]) {
        let _files = self.files.lock();
        for slot in lost {
            let _ = self.store.disk.remove_file(&self.dir.join(file_name(*slot)));
        }
        let mut slots = self.slots();
        slots.losses += 1;
        for slot in lost {
            if let Some(held) = slots.held.remove(slot) {
                self.count_out(&held);
            }
        }
    }

    /// Whether `slot` holds `body`; `None` for an empty slot.
    pub(crate) fn compare(&self, slot: Slot, body: &[u8]) -> Option<bool> {
        // The digest is computed without the lock.
        let digest = match self.slots().held.get(&slot).map(|held| &held.place)? {
            Place::Memory(there) => return Some(**there == *body),
            Place::File(digest) => *digest,
        };
        Some(digest == Some(file::digest(&file_name(slot), body)))
    }

    /// Fills an empty slot; a filled one is unchanged. `record` is written with the first slot if
    /// it does not exist yet.
    ///
    /// # Errors
    /// Errors of the file system; nothing is stored then.
    pub(crate) fn put(&self, slot: Slot, body: &[u8], record: &Record) -> io::Result<Kept> {
        if let Some(is_same) = self.compare(slot, body) {
            return Ok(if is_same { Kept::Same } else { Kept::Other });
        }
        if self.write(slot, body, record, false)? {
            return Ok(Kept::New);
        }
        let is_same = self.compare(slot, body) == Some(true);
        Ok(if is_same { Kept::Same } else { Kept::Other })
    }

    /// Fills a slot of the helper's, replacing its contents.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub(crate) fn replace(&self, slot: Slot, body: &[u8], record: &Record) -> io::Result<()> {
        // Data that a party may have received is not put at risk.
        if self.compare(slot, body) == Some(true) {
            return Ok(());
        }
        self.write(slot, body, record, true).map(drop)
    }

    fn write(&self, slot: Slot, body: &[u8], record: &Record, replace: bool) -> io::Result<bool> {
        let len = body.len() as u64;
        let labels = labels_of(slot, body);
        let in_memory = match self.store.keeping {
            Keeping::Files => false,
            Keeping::Memory { limit_bytes } => {
                let now = self.store.memory_bytes.fetch_add(len, Ordering::Relaxed) + len;
                let fits = now <= limit_bytes;
                if !fits {
                    self.store.memory_bytes.fetch_sub(len, Ordering::Relaxed);
                }
                fits
            }
        };
        if in_memory {
            let held = Held { len, labels, place: Place::Memory(body.into()) };
            let kept = self.insert(&mut self.slots(), slot, held, replace);
            // If the insertion kept the body, it counted these bytes itself; if not, they do not
            // count.
            self.store.memory_bytes.fetch_sub(len, Ordering::Relaxed);
            return kept;
        }
        let name = file_name(slot);
        let digest = file::digest(&name, body);
        self.make_dir(record)?;
        let disk = &self.store.disk;
        let new = self.dir.join(self.store.fresh_name());
        disk.create(&new, body, &digest)?;
        let files = self.files.lock();
        let may = {
            let slots = self.slots();
            if slots.is_removed {
                Err(io::ErrorKind::NotFound.into())
            } else {
                Ok(replace || !slots.held.contains_key(&slot))
            }
        };
        let kept = may.and_then(|may| {
            if !may {
                return Ok(false);
            }
            disk.rename(&new, &self.dir.join(name))?;
            let held = Held { len, labels, place: Place::File(Some(digest)) };
            let mut slots = self.slots();
            slots.unsynced.push(slot);
            self.insert(&mut slots, slot, held, replace)
        });
        drop(files);
        if !matches!(kept, Ok(true)) {
            let _ = disk.remove_file(&new);
        }
        kept
    }

    fn insert(&self, slots: &mut Slots, slot: Slot, held: Held, replace: bool) -> io::Result<bool> {
        if slots.is_removed {
            return Err(io::ErrorKind::NotFound.into());
        }
        if slots.held.contains_key(&slot) && !replace {
            return Ok(false);
        }
        self.count_in(&held);
        self.store.labels.fetch_add(held.labels, Ordering::Relaxed);
        if let Some(old) = slots.held.insert(slot, held) {
            self.count_out(&old);
        }
        Ok(true)
    }

    fn make_dir(&self, record: &Record) -> io::Result<()> {
        let has_dir = || {
            let slots = self.slots();
            // Another run may have the same directory by now.
            let has_dir = (!slots.is_removed).then_some(slots.has_dir);
            has_dir.ok_or(io::Error::from(io::ErrorKind::NotFound))
        };
        if has_dir()? {
            return Ok(());
        }
        let _files = self.files.lock();
        if has_dir()? {
            return Ok(());
        }
        let disk = &self.store.disk;
        // Remains of an earlier run must not mix with this one.
        if self.dir.try_exists()? {
            let gone = self.store.discard(&self.dir).ok_or(io::ErrorKind::AlreadyExists)?;
            self.store.sweep(Some(gone));
        }
        let made = disk.make_dir(&self.dir).and_then(|()| self.write_record(record));
        if made.is_err() {
            // Without the record the rest is useless, and would never be swept.
            let _ = disk.remove_dir_all(&self.dir);
        }
        self.slots().has_dir = made.is_ok();
        made
    }

    /// On the disk before any party learns of the run: an accepted party returns to it.
    fn write_record(&self, record: &Record) -> io::Result<()> {
        if self.store.keeping != Keeping::Files {
            return Ok(());
        }
        self.write_synced(RUN_FILE, &record.to_bytes())?;
        self.store.disk.sync(&self.store.root.join("runs"))
    }

    /// On return the file and its name are on the disk.
    fn write_synced(&self, name: &str, body: &[u8]) -> io::Result<()> {
        let disk = &self.store.disk;
        let new = self.dir.join(self.store.fresh_name());
        disk.create(&new, body, &file::digest(name, body))?;
        disk.sync(&new)?;
        disk.rename(&new, &self.dir.join(name))?;
        disk.sync(&self.dir)
    }

    /// The bytes of a slot.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] for an empty one, [`io::ErrorKind::InvalidData`] for a damaged
    /// one.
    pub(crate) fn read(&self, slot: Slot) -> io::Result<Vec<u8>> {
        {
            let slots = self.slots();
            let held = slots.held.get(&slot).ok_or(io::ErrorKind::NotFound)?;
            if let Place::Memory(body) = &held.place {
                return Ok(body.to_vec());
            }
        }
        file::read(&self.dir, &file_name(slot)).map(|(body, _)| body)
    }

    /// The first `len` bytes of a slot.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] for an empty one.
    pub(crate) fn head(&self, slot: Slot, len: usize) -> io::Result<Vec<u8>> {
        let body_len = {
            let slots = self.slots();
            let held = slots.held.get(&slot).ok_or(io::ErrorKind::NotFound)?;
            if let Place::Memory(body) = &held.place {
                return Ok(body[..body.len().min(len)].to_vec());
            }
            held.len
        };
        file::read_head(&self.dir.join(file_name(slot)), len, body_len)
    }

    /// The length of a filled slot in bytes.
    pub(crate) fn slot_len(&self, slot: Slot) -> Option<u64> {
        self.slots().held.get(&slot).map(|held| held.len)
    }

    /// Whether a slot is filled.
    pub(crate) fn is_filled(&self, slot: Slot) -> bool {
        self.slots().held.contains_key(&slot)
    }

    /// Which of the first parts are filled, one bit each.
    pub(crate) fn filled(&self, kind: Kind, party: u8, parts: u32) -> Vec<u8> {
        let mut bits = vec![0; parts.div_ceil(8) as usize];
        let (first, last) = (Slot::new(kind, party), Slot::part(kind, party, u32::MAX));
        for slot in self.slots().held.range(first..=last).map(|(slot, _)| slot) {
            if slot.part < parts {
                bits[(slot.part / 8) as usize] |= 1 << (slot.part % 8);
            }
        }
        bits
    }

    /// Whether no slot is filled.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots().held.is_empty()
    }

    /// The bytes that each of the first `parties` parties has filled, as [`charge`] counts them.
    pub(crate) fn charges(&self, parties: usize) -> Vec<u64> {
        charges(&self.slots(), parties)
    }

    /// The parties that have filled a slot or are done, one bit each.
    pub(crate) fn joined(&self) -> u16 {
        let slots = self.slots();
        let written = slots.held.keys().filter(|slot| slot.kind.is_written_by_party());
        written
            .fold(slots.done, |bits, slot| bits | 1_u16.checked_shl(slot.party.into()).unwrap_or(0))
    }

    /// Random bytes of this run, drawn once.
    ///
    /// # Errors
    /// Errors of the file system, or if the system provides no random numbers.
    pub(crate) fn secret(&self, record: &Record) -> io::Result<[u8; SECRET_LEN]> {
        let is_kept = self.store.keeping == Keeping::Files;
        if is_kept {
            self.make_dir(record)?;
        }
        let _files = self.files.lock();
        {
            let slots = self.slots();
            if let Some(secret) = &slots.secret {
                return Ok(**secret);
            }
            if slots.is_removed {
                return Err(io::ErrorKind::NotFound.into());
            }
        }
        let path = self.dir.join(SECRET_FILE);
        let secret = if is_kept && path.try_exists()? {
            let body = Zeroizing::new(file::read(&self.dir, SECRET_FILE)?.0);
            Zeroizing::new(*body.first_chunk().ok_or(io::ErrorKind::InvalidData)?)
        } else {
            let mut secret = Zeroizing::new([0; SECRET_LEN]);
            rand::rngs::SysRng
                .try_fill_bytes(&mut *secret)
                .map_err(|_| io::Error::from(io::ErrorKind::Other))?;
            // On the disk before anything is computed from it: a commitment must be opened.
            if is_kept {
                self.write_synced(SECRET_FILE, &*secret)?;
            }
            secret
        };
        Ok(**self.slots().secret.insert(secret))
    }

    /// Records that `party` has everything it needs; returns the bits of all that have. On return
    /// it is on the disk.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn mark_done(&self, party: u8, record: &Record) -> io::Result<u16> {
        let bit = 1_u16.checked_shl(party.into()).unwrap_or(0);
        let is_kept = self.store.keeping == Keeping::Files;
        if is_kept {
            self.make_dir(record)?;
        }
        let _files = self.files.lock();
        {
            let slots = self.slots();
            if slots.is_removed {
                return Err(io::ErrorKind::NotFound.into());
            }
            if slots.done & bit != 0 {
                return Ok(slots.done);
            }
        }
        if is_kept {
            self.write_synced(&format!("done-{party:02x}"), &[])?;
        }
        let mut slots = self.slots();
        slots.done |= bit;
        Ok(slots.done)
    }

    /// The parties that are done, one bit each.
    pub(crate) fn done(&self) -> u16 {
        self.slots().done
    }

    /// Removes everything; returns what each of the first `parties` parties had filled, and what
    /// remains to [sweep](Store::sweep). It does not return, even after a power failure.
    pub(crate) fn remove(&self, parties: usize) -> (Vec<u64>, Option<PathBuf>) {
        let _files = self.files.lock();
        let (charges, has_dir) = {
            let mut slots = self.slots();
            let charges = charges(&slots, parties);
            slots.is_removed = true;
            slots.secret = None;
            slots.unsynced.clear();
            for held in std::mem::take(&mut slots.held).values() {
                self.count_out(held);
            }
            (charges, std::mem::take(&mut slots.has_dir))
        };
        let gone = has_dir.then(|| self.store.discard(&self.dir));
        (charges, gone.flatten())
    }

    fn count_in(&self, held: &Held) {
        self.store.bytes.fetch_add(held.len, Ordering::Relaxed);
        if matches!(held.place, Place::Memory(_)) {
            self.store.memory_bytes.fetch_add(held.len, Ordering::Relaxed);
        }
    }

    fn count_out(&self, held: &Held) {
        self.store.bytes.fetch_sub(held.len, Ordering::Relaxed);
        self.store.labels.fetch_sub(held.labels, Ordering::Relaxed);
        if matches!(held.place, Place::Memory(_)) {
            self.store.memory_bytes.fetch_sub(held.len, Ordering::Relaxed);
        }
    }

    fn slots(&self) -> Guard<'_, Slots> {
        self.slots.lock()
    }
}

fn charges(slots: &Slots, parties: usize) -> Vec<u64> {
    let mut charges = vec![0; parties];
    for (slot, held) in &slots.held {
        if slot.kind.is_written_by_party()
            && let Some(sum) = charges.get_mut(usize::from(slot.party))
        {
            *sum += charge(held.len);
        }
    }
    charges
}
