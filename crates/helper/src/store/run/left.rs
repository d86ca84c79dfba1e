//! The data of a run from an earlier process.

use super::{Held, Place, RUN_FILE, RunStore, SECRET_FILE, Slots};
use crate::store::directory::Store;
use crate::store::file::{self, DIGEST_LEN, is_damage};
use crate::store::record::{Record, RunId, done_of, file_name, labels_of, slot_of};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vesica_server_aided::kmrs14::{Kind, Slot};
use zeroize::Zeroizing;

/// The result of a check of the files of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Number of damaged slots, which are empty now.
    pub(crate) slots: usize,
    /// The helper's secret was damaged.
    pub(crate) secret: bool,
}

impl RunStore {
    /// The run of an earlier process.
    pub(in crate::store) fn find(store: Arc<Store>, id: &RunId) -> io::Result<(Record, Self)> {
        let run = Self::new(store, id);
        let (record, _) = file::read(&run.dir, RUN_FILE)?;
        let record = Record::from_bytes(&record).ok_or(io::ErrorKind::InvalidData)?;
        let mut found =
            Slots { is_started: true, has_dir: true, is_found: true, ..Slots::default() };
        for entry in fs::read_dir(&run.dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(slot) = name.to_str().and_then(slot_of) {
                let len = entry.metadata()?.len().saturating_sub(DIGEST_LEN as u64);
                let held = Held { len, labels: 0, place: Place::File(None) };
                run.count_in(&held);
                found.held.insert(slot, held);
            } else if let Some(party) = name.to_str().and_then(done_of) {
                // Written in one piece and synced; a damaged one says nothing.
                let is_whole = name.to_str().is_some_and(|name| file::read(&run.dir, name).is_ok());
                found.done |= u16::from(is_whole) << party;
            } else if name != OsStr::new(RUN_FILE) && name != OsStr::new(SECRET_FILE) {
                let _ = fs::remove_file(entry.path());
            }
        }
        *run.slots() = found;
        Ok((record, run))
    }

    /// Checks all files of an earlier process, and empties damaged slots. Takes as long as reading
    /// everything; `stop` is called at intervals. Call [`set_checked`](Self::set_checked) after
    /// emptying what is useless without them.
    ///
    /// # Errors
    /// If files cannot be read; [`io::ErrorKind::Interrupted`] if it was stopped.
    pub(crate) fn check(&self, stop: &mut dyn FnMut() -> bool) -> io::Result<Damage> {
        let mut damage = Damage::default();
        let all: Vec<Slot> = {
            let slots = self.slots();
            if slots.is_checked {
                return Ok(damage);
            }
            slots.held.keys().copied().collect()
        };
        if self.dir.join(SECRET_FILE).try_exists()? {
            match file::read(&self.dir, SECRET_FILE) {
                Ok((secret, _)) => drop(Zeroizing::new(secret)),
                Err(error) if is_damage(&error) => damage.secret = true,
                Err(error) => return Err(error),
            }
        }
        let mut damaged = Vec::new();
        for slot in all {
            if stop() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match file::read(&self.dir, &file_name(slot)) {
                Ok((body, digest)) => {
                    // The earlier process may have been killed before it was on the disk.
                    self.store.disk.sync(&self.dir.join(file_name(slot)))?;
                    let mut slots = self.slots();
                    let Some(held) = slots.held.get_mut(&slot) else { continue };
                    // An interrupted check has counted it.
                    let labels = labels_of(slot, &body) - held.labels;
                    held.place = Place::File(Some(digest));
                    held.labels += labels;
                    self.store.labels.fetch_add(labels, Ordering::Relaxed);
                }
                Err(error) if is_damage(&error) => damaged.push(slot),
                Err(error) => return Err(error),
            }
        }
        self.empty(&damaged)?;
        self.store.disk.sync(&self.dir)?;
        damage.slots = damaged.len();
        Ok(damage)
    }

    /// Empties all slots of these kinds of these parties.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn empty_all(&self, useless: &[(Kind, u8)]) -> io::Result<()> {
        let slots: Vec<Slot> = {
            let slots = self.slots();
            let all = slots.held.keys().copied();
            all.filter(|slot| useless.contains(&(slot.kind, slot.party))).collect()
        };
        self.empty(&slots)?;
        self.store.disk.sync(&self.dir)
    }

    /// Parties may use it from now on.
    pub(crate) fn set_checked(&self) {
        self.slots().is_checked = true;
    }

    fn empty(&self, emptied: &[Slot]) -> io::Result<()> {
        let _files = self.files.lock();
        for slot in emptied {
            match self.store.disk.remove_file(&self.dir.join(file_name(*slot))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut slots = self.slots();
            if let Some(held) = slots.held.remove(slot) {
                self.count_out(&held);
            }
        }
        Ok(())
    }
}
