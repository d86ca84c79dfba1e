//! Records of how runs ended, for parties that have not been notified.

use super::directory::{Keeping, Store};
use super::file::{digest, is_damage, read};
use super::record::{RunId, id_of, name_of};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use vesica_core::Refusal;
use vesica_helper_wire::Instance;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedRecord {
    pub(crate) instance: Instance,
    /// The refusal for its parties.
    pub(crate) refusal: Refusal,
    /// The parties that have not been notified, one bit each.
    pub(crate) unnotified: u16,
    pub(crate) at: SystemTime,
}

impl EndedRecord {
    const LEN: usize = 16 + 2 + 2 + 8;

    fn to_bytes(self) -> Vec<u8> {
        let age = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut out = self.instance.to_vec();
        out.extend_from_slice(&self.refusal.code());
        out.extend_from_slice(&self.unnotified.to_le_bytes());
        out.extend_from_slice(&age.as_secs().to_le_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (instance, rest) = bytes.split_first_chunk()?;
        let (refusal, rest) = rest.split_first_chunk()?;
        let (unnotified, rest) = rest.split_first_chunk()?;
        let (at, rest) = rest.split_first_chunk()?;
        let at = Duration::from_secs(u64::from_le_bytes(*at));
        let record = Self {
            instance: *instance,
            refusal: Refusal::from_code(*refusal),
            unnotified: u16::from_le_bytes(*unnotified),
            at: SystemTime::UNIX_EPOCH.checked_add(at)?,
        };
        (rest.is_empty() && bytes.len() == Self::LEN).then_some(record)
    }
}

impl Store {
    fn ended_dir(&self) -> PathBuf {
        self.root.join("ended")
    }

    /// Stores how the run `id` ended, if runs survive a restart. On return it is on the disk.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn keep_ended(&self, id: &RunId, ended: &EndedRecord) -> io::Result<()> {
        if self.keeping != Keeping::Files {
            return Ok(());
        }
        let (dir, name, body) = (self.ended_dir(), name_of(id), ended.to_bytes());
        let new = self.root.join(self.fresh_name());
        self.disk.create(&new, &body, &digest(&name, &body))?;
        self.disk.sync(&new)?;
        self.disk.rename(&new, &dir.join(name))?;
        self.disk.sync(&dir)
    }

    /// Forgets how the run `id` ended.
    pub(crate) fn forget_ended(&self, id: &RunId) {
        if self.keeping == Keeping::Files {
            // What remains is forgotten at the next start.
            let _ = self.disk.remove_file(&self.ended_dir().join(name_of(id)));
        }
    }

    /// The records of runs that an earlier process has ended.
    ///
    /// # Errors
    /// Errors of the file system. Damaged records are forgotten.
    pub(crate) fn find_ended(&self) -> io::Result<Vec<(RunId, EndedRecord)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.ended_dir())? {
            let name = entry?.file_name();
            let Some(id) = name.to_str().and_then(id_of) else { continue };
            match read(&self.ended_dir(), name.to_str().unwrap_or_default()) {
                Ok((body, _)) => {
                    found.extend(EndedRecord::from_bytes(&body).map(|ended| (id, ended)))
                }
                Err(error) if is_damage(&error) => {
                    let _ = fs::remove_file(self.ended_dir().join(OsStr::new(&name)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Disk;

    #[test]
    fn ended_runs_survive_a_restart_and_damaged_records_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let refusal = Refusal::Ended { party: 3 };
        let ended = EndedRecord { instance: [4; 16], refusal, unnotified: 5, at };
        {
            let (store, _) = Store::open(dir.path(), Keeping::Files, Disk::default()).unwrap();
            store.keep_ended(&[1; 32], &ended).unwrap();
            store.keep_ended(&[2; 32], &ended).unwrap();
            store.keep_ended(&[3; 32], &ended).unwrap();
            store.keep_ended(&[1; 32], &EndedRecord { unnotified: 1, ..ended }).unwrap();
            store.forget_ended(&[2; 32]);
        }
        let cut = dir.path().join("ended").join(name_of(&[3; 32]));
        fs::write(&cut, b"x").unwrap();
        let (store, _) = Store::open(dir.path(), Keeping::Files, Disk::default()).unwrap();
        let found = store.find_ended().unwrap();
        assert_eq!(found, [([1; 32], EndedRecord { unnotified: 1, ..ended })]);
        assert!(!cut.exists());
    }
}
