//! What a party keeps of an unfinished run, so that it can be interrupted and continue.
//!
//! A folder that only its owner may enter. It holds one run, and is removed when the run ends.

use crate::answer::Answer;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use vesica_core::Secret;
use vesica_core::hash::derive;
use vesica_helper::Instance;
use vesica_link::letters::Meeting;
use vesica_link::{Access, access_of_others};
use vesica_protocols::kmrs14::{Kind, Memory};
use zeroize::Zeroizing;

const OUTPUT_LABEL: &str = "vesica engine 2026 result file of an aided run v1";

const MEETING: &str = "meeting";
const SHARES: &str = "shares";
const ROWS: &str = "rows";
const INSTANCE: &str = "instance";
const ANSWER: &str = "answer";
const SAID: &str = "said";
const FINISHED: &str = "finished";
const OWNER: &str = "owner";
const UNFINISHED: &str = "unfinished";

/// The kinds of slots whose contents, as the helper showed them, the party remembers, with the name of the file.
const SEEN: [(Kind, &str); 4] = [
    (Kind::Commitment, "seen-commitments"),
    (Kind::TossCommitment, "seen-toss"),
    (Kind::Relabelled, "seen-labels"),
    (Kind::Places, "seen-places"),
];
const LOCK: &str = "vesica-run.lock";

/// All that is kept of a run. The first file is removed first: without it the run cannot continue. The
/// last is removed last: alone it says that the run is over.
const KEPT: [&str; 13] = [
    MEETING, ANSWER, UNFINISHED, SHARES, ROWS, INSTANCE, SAID, OWNER, SEEN[0].1, SEEN[1].1,
    SEEN[2].1, SEEN[3].1, FINISHED,
];

/// Most bytes of a file in the folder, but for the answer.
const MAX_LEN: u64 = 1 << 20;

/// The folder of one party of one run.
pub struct State {
    folder: PathBuf,
    owner: [u8; 32],
    was_finished: bool,
    is_damaged: bool,
    _lock: File,
}

impl Drop for State {
    /// Removes a folder in which no run has begun.
    fn drop(&mut self) {
        if !has_begun(&self.folder) {
            // The lock last: without it the rest would look like somebody else's.
            for name in KEPT.into_iter().chain([LOCK]) {
                let _ = fs::remove_file(self.folder.join(name));
            }
            // The folder may contain foreign files.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

impl Memory for State {
    fn is_same(&self, kind: Kind, digest: &[u8; 32]) -> vesica_core::Result<bool> {
        let name = SEEN.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name);
        let name = name.ok_or(vesica_core::Error::Bug("nothing is remembered of such slots"))?;
        self.keep_first(name, digest).map_err(|error| vesica_core::Error::Storage(error.kind()))
    }
}

/// `None` when the file was cut, or holds the zeros that a file system leaves of what it lost.
fn as_instance(kept: &[u8]) -> Option<Instance> {
    kept.try_into().ok().filter(|_| !is_lost(kept))
}

fn is_lost(kept: &[u8]) -> bool {
    kept.iter().all(|byte| *byte == 0)
}

/// Stands for the path of a result file.
fn place(output: &Path) -> io::Result<[u8; 32]> {
    let path = std::path::absolute(output)?;
    Ok(derive(OUTPUT_LABEL, &[path.as_os_str().as_bytes()]))
}

fn has_begun(folder: &Path) -> bool {
    folder.join(MEETING).is_file()
}

/// Why a folder cannot be used.
#[derive(Debug)]
pub enum StateError {
    /// Another process uses it.
    InUse,
    /// The folder existed before, with something else in it.
    NotOurs,
    /// It holds an unfinished run of another agreement, or of another party.
    OfAnother,
    /// It belongs to another user of the machine.
    OfAnotherUser,
    /// Its mode lets other users in, and it is not empty.
    TooOpen {
        /// Its permission bits.
        mode: u32,
    },
    /// The file system.
    Io(io::Error),
}

impl From<io::Error> for StateError {
    fn from(error: io::Error) -> Self {
        StateError::Io(error)
    }
}

impl State {
    /// Opens the folder of `owner`, a party of a run, and creates it if it does not exist. One process at a time.
    ///
    /// Removes what remains of a run that was not deleted completely, or never begun.
    pub fn open(folder: &Path, owner: [u8; 32]) -> Result<Self, StateError> {
        let is_used = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        match access_of_others(&fs::metadata(folder)?) {
            // They could list secrets, replace them, and lead what is written elsewhere by links.
            Some(Access::Owner) => return Err(StateError::OfAnotherUser),
            _ if is_used && !folder.join(LOCK).is_file() => return Err(StateError::NotOurs),
            Some(Access::Mode { mode }) if is_used => return Err(StateError::TooOpen { mode }),
            _ => {}
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StateError::InUse),
            Err(fs::TryLockError::Error(error)) => return Err(StateError::Io(error)),
        }
        let folder = folder.to_path_buf();
        let mut state = Self { folder, owner, was_finished: false, is_damaged: false, _lock: lock };
        let is_of_owner =
            |name| Ok::<_, io::Error>(state.read(name)?.is_some_and(|kept| kept[..] == owner[..]));
        if state.has_begun() {
            if is_of_owner(OWNER)? {
                // Without this file a finished run would look like one that has not begun.
                state.is_damaged = state.instance()?.is_none();
                return Ok(state);
            }
            // The owner of the run cannot be read: the run can only be given up.
            let is_whole =
                state.read(OWNER)?.is_some_and(|kept| kept.len() == owner.len() && !is_lost(&kept));
            state.is_damaged = !is_whole;
            return if is_whole { Err(StateError::OfAnother) } else { Ok(state) };
        }
        state.was_finished = is_of_owner(FINISHED)?;
        state.forget()?;
        Ok(state)
    }

    /// Whether the folder holds an interrupted run that can continue.
    pub fn has_begun(&self) -> bool {
        has_begun(&self.folder)
    }

    /// Whether the unfinished run here, or its owner, cannot be read, so that it can only be given up.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Whether the last run here was over, but its process ended before it had removed the folder.
    pub fn was_finished(&self) -> bool {
        self.was_finished
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The party's secrets of the run: the stored ones, or new ones.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::InvalidData`] when they are damaged.
    pub fn secrets(&self) -> io::Result<(Meeting, Secret<[u8; 32]>)> {
        if let Some(bytes) = self.read(MEETING)? {
            let parts = bytes.split_at_checked(32);
            let (own, meeting) = parts.ok_or(io::ErrorKind::InvalidData)?;
            let mut secret = Secret::new([0; 32]);
            secret.expose_mut().copy_from_slice(own);
            let meeting = Meeting::from_bytes(meeting).ok_or(io::ErrorKind::InvalidData)?;
            return Ok((meeting, secret));
        }
        let meeting = Meeting::new().map_err(|_| io::ErrorKind::Other)?;
        let mut secret = Secret::new([0; 32]);
        rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, secret.expose_mut())
            .map_err(|_| io::ErrorKind::Other)?;
        let mut bytes = Zeroizing::new(secret.expose().to_vec());
        bytes.extend_from_slice(&meeting.to_bytes());
        self.write(OWNER, &self.owner)?;
        self.write(MEETING, &bytes)?;
        Ok((meeting, secret))
    }

    /// What this party says to the others in the coin toss: what it has said before, or else what `make` gives. This is
    /// stored before the party says it.
    pub fn shares(&self, make: impl FnOnce() -> Vec<u8>) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.read(SHARES)? {
            return Ok(bytes.to_vec());
        }
        let bytes = make();
        self.write(SHARES, &bytes)?;
        Ok(bytes)
    }

    /// Stores the digest of the rows that take part; `false` if the stored digest is of other rows.
    pub fn keep_rows(&self, digest: &[u8; 32]) -> io::Result<bool> {
        self.keep_first(ROWS, digest)
    }

    /// The number of this run at the helper. `None` before the helper has it, and if the file [is
    /// damaged](Self::is_damaged).
    pub fn instance(&self) -> io::Result<Option<Instance>> {
        Ok(self.read(INSTANCE)?.and_then(|kept| as_instance(&kept)))
    }

    /// Stores the number of this run at the helper.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep_instance(&self, instance: &Instance) -> io::Result<()> {
        self.write(INSTANCE, instance)
    }

    /// Keeps what this party has learned, `rows` being the rows of its file.
    pub fn keep_answer(&self, answer: &Answer, rows: u64) -> io::Result<()> {
        self.write_by(ANSWER, |file| answer.write(&self.owner, rows, file))
    }

    /// What this party, one of `parties` with so many rows, had learned before it was interrupted.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::InvalidData`] when it is damaged.
    pub fn answer(&self, parties: usize, rows: u64) -> Option<io::Result<Answer>> {
        match File::open(self.folder.join(ANSWER)) {
            Ok(file) => Some(Answer::read(&self.owner, (parties, rows), file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether the helper has heard this party's last message.
    pub fn has_said(&self) -> io::Result<bool> {
        Ok(self.read(SAID)?.is_some())
    }

    /// Whether a process that had said its last message was to write the result to `output`, so that a file there may
    /// be its own.
    pub fn may_have_written(&self, output: &Path) -> io::Result<bool> {
        let place = place(output)?;
        Ok(self.read(SAID)?.is_some_and(|kept| kept[..] == place))
    }

    /// Keeps that the helper has heard the last message, and where the result goes next, if it goes to a file.
    pub fn keep_said(&self, output: Option<&Path>) -> io::Result<()> {
        match output {
            Some(output) => self.write(SAID, &place(output)?),
            None => self.write(SAID, &[]),
        }
    }

    /// Writes the owner again into a folder that [is damaged](Self::is_damaged).
    pub fn repair(&self) -> io::Result<()> {
        self.write(OWNER, &self.owner)
    }

    /// Deletes the run, so that the next one in this folder is a new one.
    pub fn forget(&self) -> io::Result<()> {
        self.take_away(&KEPT)
    }

    /// Deletes a run that was given up. `finished` is removed first: if this process is killed half-way,
    /// the rest must not look like a run that ended well.
    pub fn give_up(&self) -> io::Result<()> {
        self.take_away(&[FINISHED])?;
        self.forget()
    }

    fn take_away(&self, names: &[&str]) -> io::Result<()> {
        for name in names {
            match fs::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        File::open(&self.folder)?.sync_all()
    }

    /// Deletes a run that ended well, and removes the folder.
    pub fn remove(self) -> io::Result<()> {
        // A process that is killed below must not leave what looks like a run that has not begun.
        self.write(FINISHED, &self.owner)?;
        // The last, and the folder, when this is dropped.
        self.take_away(&KEPT[..KEPT.len() - 1])
    }

    /// Stores `bytes` under `name`; `false` if other bytes were stored there.
    fn keep_first(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        match self.read(name)? {
            Some(kept) => Ok(kept[..] == *bytes),
            None => self.write(name, bytes).map(|()| true),
        }
    }

    fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let file = match File::open(self.folder.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_LEN).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes the file whole or not at all, and durably: a party must be able to repeat what it has said.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_by(name, |file| file.write_all(bytes))
    }

    fn write_by(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        // The name is fixed, so this overwrites what a process killed here has left, and it is
        // removed with the rest.
        let unfinished = self.folder.join(UNFINISHED);
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&unfinished)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(unfinished, self.folder.join(name))?;
        File::open(&self.folder)?.sync_all()
    }
}

#[cfg(test)]
mod tests;
