//! What a party stores of an unfinished run with a helper, so that the run can be interrupted and
//! resumed.
//!
//! The state is a folder that only its owner may enter. It holds one run, and is removed when the
//! run ends.

use crate::answer::Answer;
use std::io;
use std::path::Path;
use vesica_core::Secret;
use vesica_helper_wire::Instance;
use vesica_link::letters::Meeting;
use vesica_protocols::kmrs14::{Kind, Memory};
use vesica_state_folder::{Folder, FolderError};
use zeroize::Zeroizing;

const MEETING: &str = "meeting";
const SHARES: &str = "shares";
const ROWS: &str = "rows";
const INSTANCE: &str = "instance";
const ANSWER: &str = "answer";
const DONE: &str = "said";
const FINISHED: &str = "finished";
const OWNER: &str = "owner";
const UNFINISHED: &str = "unfinished";

/// The kinds of slots whose contents must not change after the helper has first shown them, each
/// with the file in which the party keeps their digest.
const SEEN: [(Kind, &str); 4] = [
    (Kind::Commitment, "seen-commitments"),
    (Kind::TossCommitment, "seen-toss"),
    (Kind::Relabelled, "seen-labels"),
    (Kind::Places, "seen-places"),
];

/// All files of a run. The first is removed first: without it the run cannot continue. The last is
/// removed last: alone, it says that the run has finished.
const KEPT: [&str; 13] = [
    MEETING, ANSWER, UNFINISHED, SHARES, ROWS, INSTANCE, DONE, OWNER, SEEN[0].1, SEEN[1].1,
    SEEN[2].1, SEEN[3].1, FINISHED,
];

/// The folder of one party of one run with a helper.
pub struct State {
    folder: Folder,
    owner: [u8; 32],
    was_finished: bool,
    is_damaged: bool,
}

impl Drop for State {
    /// Removes the folder if it holds no run that can continue.
    fn drop(&mut self) {
        if !self.has_started() {
            self.folder.remove(KEPT);
        }
    }
}

impl Memory for State {
    fn is_same(&self, kind: Kind, digest: &[u8; 32]) -> vesica_core::Result<bool> {
        let name = SEEN
            .iter()
            .find(|(known, _)| *known == kind)
            .map(|(_, name)| *name)
            .ok_or(vesica_core::Error::Bug("no file keeps the digest of such slots"))?;
        self.folder
            .keep_first(name, digest)
            .map_err(|error| vesica_core::Error::Storage(error.kind()))
    }
}

/// The helper's number of the run, as stored; `None` if the file was cut off, or holds the zeros
/// that a file system leaves where it lost data.
fn as_instance(kept: &[u8]) -> Option<Instance> {
    kept.try_into().ok().filter(|_| !is_lost(kept))
}

fn is_lost(kept: &[u8]) -> bool {
    kept.iter().all(|byte| *byte == 0)
}

/// Why a party's folder for a run with a helper cannot be used.
#[derive(Debug)]
pub enum StateError {
    /// The folder itself is unusable.
    Folder(FolderError),
    /// The folder holds an unfinished run of another agreement, or of another party.
    OfAnother,
}

impl From<FolderError> for StateError {
    fn from(error: FolderError) -> Self {
        StateError::Folder(error)
    }
}

impl From<io::Error> for StateError {
    fn from(error: io::Error) -> Self {
        StateError::Folder(error.into())
    }
}

impl State {
    /// Opens the folder of `owner`, a party of a run, and creates it if it does not exist. Only one
    /// process at a time can have it open.
    ///
    /// Removes what is left of a run that was not deleted completely, or that never started.
    pub fn open(folder: &Path, owner: [u8; 32]) -> Result<Self, StateError> {
        let folder = Folder::open(folder)?;
        let mut state = Self { folder, owner, was_finished: false, is_damaged: false };
        let is_of_owner = |name| {
            Ok::<_, io::Error>(state.folder.read(name)?.is_some_and(|kept| kept[..] == owner[..]))
        };
        if state.has_started() {
            if is_of_owner(OWNER)? {
                // Without the helper's number of the run, a finished run would look like one that
                // has not started.
                state.is_damaged = state.instance()?.is_none();
                return Ok(state);
            }
            // If the owner of the run cannot be read, the run can only be abandoned.
            let is_whole = state
                .folder
                .read(OWNER)?
                .is_some_and(|kept| kept.len() == owner.len() && !is_lost(&kept));
            state.is_damaged = !is_whole;
            return if is_whole { Err(StateError::OfAnother) } else { Ok(state) };
        }
        state.was_finished = is_of_owner(FINISHED)?;
        state.forget()?;
        Ok(state)
    }

    /// Whether the folder holds an interrupted run that can continue.
    pub fn has_started(&self) -> bool {
        self.folder.has(MEETING)
    }

    /// Whether the unfinished run in this folder, or its owner, cannot be read, so that the run can
    /// only be abandoned.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Whether the last run here had finished, but its process ended before it had removed the
    /// folder.
    pub fn was_finished(&self) -> bool {
        self.was_finished
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The party's secrets of the run: the stored ones, or new ones.
    ///
    /// # Errors
    /// The errors of the file system; [`io::ErrorKind::InvalidData`] when they are damaged.
    pub fn secrets(&self) -> io::Result<(Meeting, Secret<[u8; 32]>)> {
        if let Some(bytes) = self.folder.read(MEETING)? {
            let (own, meeting) = bytes.split_at_checked(32).ok_or(io::ErrorKind::InvalidData)?;
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
        self.folder.write(OWNER, &self.owner)?;
        self.folder.write(MEETING, &bytes)?;
        Ok((meeting, secret))
    }

    /// What this party sends the other parties in the coin toss: the stored bytes if it has sent
    /// some before, otherwise what `make` returns, which is stored before the party sends it.
    pub fn shares(&self, make: impl FnOnce() -> Vec<u8>) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.folder.read(SHARES)? {
            return Ok(bytes.to_vec());
        }
        let bytes = make();
        self.folder.write(SHARES, &bytes)?;
        Ok(bytes)
    }

    /// Stores the digest of the rows that take part; returns `false` if the stored digest is of
    /// other rows.
    pub fn keep_rows(&self, digest: &[u8; 32]) -> io::Result<bool> {
        self.folder.keep_first(ROWS, digest)
    }

    /// The number of this run at the helper. `None` before the helper has given the run one, and if
    /// the file [is damaged](Self::is_damaged).
    pub fn instance(&self) -> io::Result<Option<Instance>> {
        Ok(self.folder.read(INSTANCE)?.and_then(|kept| as_instance(&kept)))
    }

    /// Stores the number of this run at the helper.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn keep_instance(&self, instance: &Instance) -> io::Result<()> {
        self.folder.write(INSTANCE, instance)
    }

    /// Stores what this party has learned from the helper's answer; its file has `rows` rows.
    pub fn keep_answer(&self, answer: &Answer, rows: u64) -> io::Result<()> {
        self.folder.write_by(ANSWER, |file| answer.write(&self.owner, rows, file))
    }

    /// What this party, one of `parties` and with this many rows, had learned before it was
    /// interrupted; `None` if it had learned nothing yet.
    ///
    /// # Errors
    /// The errors of the file system; [`io::ErrorKind::InvalidData`] when it is damaged.
    pub fn answer(&self, parties: usize, rows: u64) -> Option<io::Result<Answer>> {
        match self.folder.file(ANSWER) {
            Ok(file) => file.map(|file| Answer::read(&self.owner, parties, rows, file)),
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether this party has sent the helper its last message.
    pub fn has_sent_done(&self) -> io::Result<bool> {
        Ok(self.folder.read(DONE)?.is_some())
    }

    /// Whether a process that had sent the helper its last message was to write the result to
    /// `output`, so that a file there may be this party's own.
    pub fn may_have_written(&self, output: &Path) -> io::Result<bool> {
        self.folder.is_path(DONE, output)
    }

    /// Records that the last message has been sent to the helper, and where the result goes next,
    /// if it goes to a file.
    pub fn keep_done(&self, output: Option<&Path>) -> io::Result<()> {
        self.folder.keep_path(DONE, output)
    }

    /// Writes the owner again into a folder that [is damaged](Self::is_damaged).
    pub fn repair(&self) -> io::Result<()> {
        self.folder.write(OWNER, &self.owner)
    }

    /// Deletes the files of the run, so that the next run in this folder is a new one.
    pub fn forget(&self) -> io::Result<()> {
        self.folder.take_away(KEPT)
    }

    /// Deletes the files of an abandoned run with a helper. `finished` is removed first: if this
    /// process is killed halfway, the other files must not look like a run that ended well.
    pub fn give_up(&self) -> io::Result<()> {
        self.folder.take_away([FINISHED])?;
        self.forget()
    }

    /// Deletes the files of a run that ended well, and removes the folder.
    pub fn remove(self) -> io::Result<()> {
        // If this process is killed below, the other files must not look like a run that has not
        // started.
        self.folder.write(FINISHED, &self.owner)?;
        // Dropping this removes the last file and the folder.
        self.folder.take_away(KEPT.into_iter().take(KEPT.len() - 1))
    }
}

#[cfg(test)]
mod tests;
