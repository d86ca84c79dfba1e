//! What a process before this one has left of a run.

use super::{Held, Place, RUN_FILE, RunStore, SECRET_FILE};
use crate::store::file::{self, DIGEST_LEN};
use crate::store::record::{Record, done_of, file_name, labels_of, slot_of};
use crate::store::{RunId, Store};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vesica_protocols::kmrs14::{Kind, Slot};
use zeroize::Zeroizing;

impl RunStore {
    /// What a process before this one has kept.
    pub(in crate::store) fn find(store: Arc<Store>, id: &RunId) -> io::Result<(Record, Self)> {
        let run = Self::new(store, id);
        let (record, _) = file::read(&run.dir, RUN_FILE)?;
        let record = Record::from_bytes(&record).ok_or(io::ErrorKind::InvalidData)?;
        {
            let mut slots = run.slots();
            (slots.is_begun, slots.has_dir, slots.is_checked) = (true, true, false);
            for entry in fs::read_dir(&run.dir)? {
                let entry = entry?;
                let name = entry.file_name();
                if let Some(slot) = name.to_str().and_then(slot_of) {
                    let len = entry.metadata()?.len().saturating_sub(DIGEST_LEN as u64);
                    let held = Held { len, labels: 0, place: Place::File(None) };
                    run.count_in(&held);
                    slots.held.insert(slot, held);
                } else if let Some(party) = name.to_str().and_then(done_of) {
                    slots.done |= 1 << party;
                } else if name != OsStr::new(RUN_FILE) && name != OsStr::new(SECRET_FILE) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        Ok((record, run))
    }

    /// Looks at all files that a process before this one has left, and drops what is damaged, and with it all that
    /// the helper made of it and what says that a list is complete. Says how many were damaged.
    ///
    /// # Errors
    /// When files cannot be read, or the secret is damaged that others depend on.
    pub(crate) fn check(&self) -> io::Result<usize> {
        let mut slots = self.slots();
        if slots.is_checked {
            return Ok(0);
        }
        if self.dir.join(SECRET_FILE).try_exists()? {
            file::read(&self.dir, SECRET_FILE).map(|(secret, _)| drop(Zeroizing::new(secret)))?;
        }
        let mut damaged = Vec::new();
        let all: Vec<Slot> = slots.held.keys().copied().collect();
        for slot in all {
            match file::read(&self.dir, &file_name(slot)) {
                Ok((body, digest)) => {
                    let Some(held) = slots.held.get_mut(&slot) else { continue };
                    held.place = Place::File(Some(digest));
                    held.labels = labels_of(slot, &body);
                    self.store.labels.fetch_add(held.labels, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidData => damaged.push(slot),
                Err(error) => return Err(error),
            }
        }
        if !damaged.is_empty() {
            let is_worthless = |slot: &Slot| {
                let completes = matches!(slot.kind, Kind::Size | Kind::OuterSecret);
                damaged.contains(slot)
                    || !slot.kind.is_written_by_party()
                    || completes && damaged.iter().any(|other| other.party == slot.party)
            };
            let worthless: Vec<Slot> =
                slots.held.keys().copied().filter(|slot| is_worthless(slot)).collect();
            for slot in worthless {
                fs::remove_file(self.dir.join(file_name(slot)))?;
                if let Some(held) = slots.held.remove(&slot) {
                    self.count_out(&held);
                }
            }
        }
        slots.is_checked = true;
        Ok(damaged.len())
    }
}
