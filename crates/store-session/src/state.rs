//! What a party keeps of an unfinished run through a store.

use crate::error::ExchangeError;
use crate::journal::{DIGEST_LEN, Journal, Objects, read_objects};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use vesica_core::Secret;
use vesica_core::hash::derive;
use vesica_link::letters::Meeting;
use vesica_state_folder::{Folder, Opened};

const OWNER: &str = "owner";
const NUMBER: &str = "number";
const MEETING: &str = "meeting";
const SHARES: &str = "shares";
const ROWS: &str = "rows";
const SEEN_HELLO: &str = "seen-hello";
const SEEN_SHARES: &str = "seen-shares";
/// The digests of all objects, in the order in which they were seen or written.
const OBJECTS: &str = "objects";
/// The object that goes to the store next.
const NEXT: &str = "next";

/// The folder of a mirror's copy of the objects.
const MIRROR: &str = "mirror";

/// Where the result goes; written after this party has sent everything.
const DONE: &str = "said";
/// The result has been delivered.
const FINISHED: &str = "finished";

/// How many runs before this one were abandoned, as this party's hello says.
const REPEATS: &str = "repeats";

/// All files that are kept of a run. Without the first one the run cannot resume. The last one says
/// that the run has finished.
const KEPT: [&str; 12] = [
    MEETING,
    NEXT,
    OBJECTS,
    SHARES,
    ROWS,
    SEEN_HELLO,
    SEEN_SHARES,
    DONE,
    OWNER,
    NUMBER,
    REPEATS,
    FINISHED,
];

/// How many runs were started since the last one that finished, and of which agreement and party.
/// The count outlives abandoned runs.
const STARTS: &str = "begun";

/// The folder of the results of parts.
const PARTS: &str = "parts";
const PART_LABEL: &str = "vesica exchange 2026 result of a part v1";

/// The folder of one party of one run through a store.
pub struct State {
    folder: Folder,
    owner: [u8; 32],
    was_finished: bool,
    /// Whether the run was deleted: another process may own the folder by now.
    is_forgotten: AtomicBool,
}

impl Drop for State {
    /// Removes the folder if it holds no run that can resume.
    fn drop(&mut self) {
        if !self.is_forgotten.load(Ordering::Relaxed) && !self.has_started() {
            let _ = self.remove_folders();
            let _ = self.remove_run();
        }
    }
}

impl State {
    /// Opens the folder of `owner`, a party of an agreement, and creates it if it does not exist.
    /// Only one process at a time can have it open.
    ///
    /// # Errors
    /// [`ExchangeError::Folder`], [`ExchangeError::OfAnother`].
    pub fn open(folder: &Path, owner: [u8; 32]) -> Result<Self, ExchangeError> {
        let folder = Folder::open(folder)?;
        let is_forgotten = AtomicBool::new(false);
        let mut state = Self { folder, owner, was_finished: false, is_forgotten };
        if state.is_finished().map_err(ExchangeError::kept)? {
            state.was_finished = true;
            state.folder.take_away([STARTS]).map_err(ExchangeError::kept)?;
            state.take_away().map_err(ExchangeError::kept)?;
        }
        if !state.has_started() {
            state.take_away().map_err(ExchangeError::kept)?;
            return Ok(state);
        }
        match state.read(OWNER)?.as_deref() {
            Some(kept) if *kept == owner => Ok(state),
            Some(kept) if kept.len() == owner.len() => Err(ExchangeError::OfAnother),
            _ => Err(ExchangeError::Damaged),
        }
    }

    /// Whether the last run here had finished, but its process ended before it had removed
    /// everything.
    pub fn was_finished(&self) -> bool {
        self.was_finished
    }

    /// Records where the result goes, before it is written.
    ///
    /// # Errors
    /// File system errors.
    pub fn keep_done(&self, output: Option<&Path>) -> io::Result<()> {
        self.folder.keep_path(DONE, output)
    }

    /// Whether an earlier process was to write its result to `output`, so that a file there may be
    /// this party's own.
    ///
    /// # Errors
    /// File system errors.
    pub fn may_have_written(&self, output: &Path) -> io::Result<bool> {
        self.folder.is_path(DONE, output)
    }

    /// Records that the run has finished and need not resume.
    ///
    /// # Errors
    /// File system errors.
    pub fn finish(&self) -> io::Result<()> {
        self.folder.write(FINISHED, &self.owner)
    }

    /// Whether [`finish`](Self::finish) was called.
    fn is_finished(&self) -> io::Result<bool> {
        Ok(self.folder.read(FINISHED)?.is_some_and(|kept| kept[..] == self.owner))
    }

    /// Removes what is kept of a run and, if nothing else is kept, the folder.
    fn remove_run(&self) -> io::Result<()> {
        self.folder.take_away(KEPT)?;
        if !self.folder.has(STARTS) {
            self.folder.remove(KEPT);
        }
        Ok(())
    }

    /// Whether the folder holds a run that can resume.
    pub fn has_started(&self) -> bool {
        self.folder.has(MEETING)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder for a mirror's copy of the objects.
    pub fn mirror(&self) -> PathBuf {
        self.folder.path().join(MIRROR)
    }

    /// Removes all that is kept of a run. The run can no longer resume once this has started; the
    /// record that it finished is removed last.
    fn take_away(&self) -> io::Result<()> {
        self.folder.take_away([MEETING])?;
        self.remove_folders()?;
        self.folder.take_away(KEPT)
    }

    /// Removes what is in subfolders: a mirror's copy of the objects, and the results of parts.
    fn remove_folders(&self) -> io::Result<()> {
        [MIRROR, PARTS].iter().try_for_each(|folder| self.folder.directory().remove_all(folder))
    }

    /// Stores the digest of the rows that take part; `false` if the stored digest is of other rows.
    ///
    /// # Errors
    /// File system errors.
    pub fn keep_rows(&self, digest: &[u8; 32]) -> io::Result<bool> {
        self.folder.keep_first(ROWS, digest)
    }

    /// Deletes the run, so that the next run here is a new one. Also deletes the folder if the run
    /// has [finished](Self::finish); otherwise keeps the number of runs started.
    ///
    /// # Errors
    /// File system errors.
    pub fn forget(&self) -> io::Result<()> {
        self.is_forgotten.store(true, Ordering::Relaxed);
        // Remove the count while the record that the run finished is still there.
        if self.is_finished()? {
            self.folder.take_away([STARTS])?;
        }
        self.take_away()?;
        self.remove_run()
    }

    /// How many runs `of` an agreement and party were started here since the last one that
    /// finished.
    pub(crate) fn starts(&self, of: &[u8; 32]) -> Result<u32, ExchangeError> {
        let Some(kept) = self.read(STARTS)? else { return Ok(0) };
        match kept.split_first_chunk::<4>() {
            Some((count, kept)) if kept == of => Ok(u32::from_le_bytes(*count)),
            Some((_, kept)) if kept.len() == of.len() => Err(ExchangeError::OfAnother),
            _ => Err(ExchangeError::Damaged),
        }
    }

    /// Records that at least `count` runs were started.
    pub(crate) fn keep_starts(&self, of: &[u8; 32], count: u32) -> Result<(), ExchangeError> {
        if self.starts(of)? < count {
            self.write(STARTS, &[&count.to_le_bytes()[..], of].concat())
        } else {
            Ok(())
        }
    }

    /// How many runs before this one were abandoned, as this party's hello says.
    pub(crate) fn repeats(&self) -> Result<u32, ExchangeError> {
        let kept = self.read(REPEATS)?.ok_or(ExchangeError::Damaged)?;
        let count = kept.as_slice().try_into().map_err(|_| ExchangeError::Damaged)?;
        Ok(u32::from_le_bytes(count))
    }

    /// The number of the run, if it has started.
    pub(crate) fn number(&self) -> Result<Option<u32>, ExchangeError> {
        if !self.has_started() {
            return Ok(None);
        }
        let kept = self.read(NUMBER)?.ok_or(ExchangeError::Damaged)?;
        let number = kept.as_slice().try_into().map_err(|_| ExchangeError::Damaged)?;
        Ok(Some(u32::from_le_bytes(number)))
    }

    /// Starts the run with this number, after `repeats` abandoned ones, unless one has started;
    /// returns the party's secrets of the run.
    pub(crate) fn secrets(
        &self,
        number: u32,
        repeats: u32,
    ) -> Result<(Meeting, Secret<[u8; 32]>), ExchangeError> {
        if let Some(bytes) = self.read(MEETING)? {
            let (own, meeting) = bytes.split_at_checked(32).ok_or(ExchangeError::Damaged)?;
            let mut secret = Secret::new([0; 32]);
            secret.expose_mut().copy_from_slice(own);
            let meeting = Meeting::from_bytes(meeting).ok_or(ExchangeError::Damaged)?;
            return Ok((meeting, secret));
        }
        let meeting = Meeting::new()?;
        let mut secret = Secret::new([0; 32]);
        rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, secret.expose_mut())
            .map_err(|_| vesica_link::letters::LetterError::NoRandomness)?;
        let mut bytes = zeroize::Zeroizing::new(secret.expose().to_vec());
        bytes.extend_from_slice(&meeting.to_bytes());
        self.write(NUMBER, &number.to_le_bytes())?;
        self.write(REPEATS, &repeats.to_le_bytes())?;
        self.write(OWNER, &self.owner)?;
        self.write(OBJECTS, &[])?;
        // The next write makes the folder durable.
        self.folder.directory().create_folder(PARTS, 0o700).map_err(ExchangeError::kept)?;
        self.write(MEETING, &bytes)?;
        Ok((meeting, secret))
    }

    /// What this party sends in the coin toss: the stored bytes if it has sent some before, or else
    /// what `make` returns.
    pub(crate) fn shares(&self, make: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, ExchangeError> {
        if let Some(bytes) = self.read(SHARES)? {
            return Ok(bytes.to_vec());
        }
        let bytes = make();
        self.write(SHARES, &bytes)?;
        Ok(bytes)
    }

    /// Whether this process, or an earlier one, has kept the digest of the peer's hello.
    pub(crate) fn has_seen_hello(&self) -> bool {
        self.folder.has(SEEN_HELLO)
    }

    /// Stores the digest of the peer's hello; `false` if another one was seen before.
    pub(crate) fn see_hello(&self, digest: &[u8; 32]) -> Result<bool, ExchangeError> {
        self.folder.keep_first(SEEN_HELLO, digest).map_err(ExchangeError::kept)
    }

    /// Stores the digest of the peer's coins; `false` if other coins were seen before.
    pub(crate) fn see_shares(&self, digest: &[u8; 32]) -> Result<bool, ExchangeError> {
        self.folder.keep_first(SEEN_SHARES, digest).map_err(ExchangeError::kept)
    }

    /// The objects so far, and the journal to which the next ones are appended.
    pub(crate) fn objects(&self) -> Result<(Objects, Journal), ExchangeError> {
        let mut read = self
            .folder
            .file(OBJECTS)
            .map_err(ExchangeError::kept)?
            .ok_or(ExchangeError::Damaged)?;
        let mut bytes = Vec::new();
        read.read_to_end(&mut bytes).map_err(ExchangeError::kept)?;
        let file = self.folder.directory().append(OBJECTS).map_err(ExchangeError::kept)?;
        let (objects, whole) = read_objects(&bytes).ok_or(ExchangeError::Damaged)?;
        // Cut off a last entry that is incomplete: the process that was killed while it wrote the
        // entry has not used that object.
        file.set_len(whole).map_err(ExchangeError::kept)?;
        Ok((objects, Journal { file, has_failed: false }))
    }

    /// Keeps the object that goes to the store next.
    pub(crate) fn keep_next(&self, number: u32, object: &[u8]) -> Result<(), ExchangeError> {
        let written = self.folder.write_by(NEXT, |file| {
            file.write_all(&number.to_le_bytes())?;
            file.write_all(object)
        });
        written.map_err(ExchangeError::kept)
    }

    /// The object that was to go to the store next.
    pub(crate) fn next(&self) -> Result<Option<(u32, Vec<u8>)>, ExchangeError> {
        let Some(mut file) = self.folder.file(NEXT).map_err(ExchangeError::kept)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(ExchangeError::kept)?;
        let object = bytes.split_off_checked_at(4).ok_or(ExchangeError::Damaged)?;
        let number = bytes.as_slice().try_into().map_err(|_| ExchangeError::Damaged)?;
        Ok(Some((u32::from_le_bytes(number), object)))
    }

    /// Keeps the result of a part, durably; returns its digest.
    pub(crate) fn keep_part(
        &self,
        number: u64,
        result: &[u8],
    ) -> Result<[u8; DIGEST_LEN], ExchangeError> {
        let keep = || -> io::Result<()> {
            let folder = self.folder.directory().folder(PARTS)?;
            let mut file = folder.overwrite(&number.to_string(), 0o600)?;
            file.write_all(result)?;
            file.sync_all()?;
            folder.sync()
        };
        keep().map_err(ExchangeError::kept)?;
        Ok(derive(PART_LABEL, &[result]))
    }

    /// The result of a part, which must have this digest.
    pub(crate) fn part(
        &self,
        number: u64,
        digest: &[u8; DIGEST_LEN],
    ) -> Result<Vec<u8>, ExchangeError> {
        let read = || -> io::Result<Vec<u8>> {
            let folder = self.folder.directory().folder(PARTS)?;
            let Opened::File(mut file) = folder.file(&number.to_string())? else {
                return Err(io::ErrorKind::NotFound.into());
            };
            let mut result = Vec::new();
            file.read_to_end(&mut result)?;
            Ok(result)
        };
        let result = read().map_err(|error| match error.kind() {
            // The journal has the part, so its result must be there.
            io::ErrorKind::NotFound => ExchangeError::Damaged,
            _ => ExchangeError::kept(error),
        })?;
        if derive(PART_LABEL, &[&result]) == *digest {
            Ok(result)
        } else {
            Err(ExchangeError::Damaged)
        }
    }

    fn read(&self, name: &str) -> Result<Option<zeroize::Zeroizing<Vec<u8>>>, ExchangeError> {
        self.folder.read(name).map_err(ExchangeError::kept)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ExchangeError> {
        self.folder.write(name, bytes).map_err(ExchangeError::kept)
    }
}

trait SplitOff {
    fn split_off_checked_at(&mut self, at: usize) -> Option<Vec<u8>>;
}

impl SplitOff for Vec<u8> {
    fn split_off_checked_at(&mut self, at: usize) -> Option<Vec<u8>> {
        (self.len() >= at).then(|| self.split_off(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::DetachedEntry;
    use vesica_net::StreamId;
    use vesica_state_folder::FolderError;

    #[test]
    fn a_journal_reads_back_without_an_entry_that_was_cut() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let state = State::open(&path, [1; 32]).unwrap();
        state.secrets(3, 2).unwrap();
        let stream = StreamId::from_u64(7);
        let detached = [1, 2].map(|part| {
            let (id, points) = ([5; 16], vec![(stream, (4, [part as u8; 32]))]);
            DetachedEntry { part, id, points }
        });
        {
            let (objects, mut journal) = state.objects().unwrap();
            assert_eq!(objects, Objects::default());
            journal.send(&[1; 32], &[(stream, (5, [9; 32]))], &[]).unwrap();
            journal.see(&[2; 32]).unwrap();
            journal.send(&[3; 32], &[(stream, (6, [8; 32]))], &detached).unwrap();
        }
        let expected = || Objects {
            sent: vec![[1; 32], [3; 32]],
            points: [(stream, [(5, [9; 32]), (6, [8; 32])].into())].into(),
            seen: vec![[2; 32]],
            detached: vec![detached[0].clone(), detached[1].clone()],
            ..Objects::default()
        };
        assert_eq!(state.objects().unwrap().0, expected());
        let file = path.join(OBJECTS);
        let whole = std::fs::read(&file).unwrap();
        // Detached objects are dropped together with the object that names them.
        for cut in 1..3 * (37 + 48) {
            std::fs::write(&file, &whole[..whole.len() - cut]).unwrap();
            let (objects, mut journal) = state.objects().unwrap();
            assert_eq!((objects.sent.len(), objects.seen.len(), objects.detached.len()), (1, 1, 0));
            journal.send(&[3; 32], &[(stream, (6, [8; 32]))], &detached).unwrap();
            assert_eq!(state.objects().unwrap().0, expected(), "{cut}");
        }
        // No entry comes between a detached object and the object that names it.
        let (sent, seen) = (37 + 48, 37);
        let cut = [&whole[..whole.len() - sent], &whole[sent..sent + seen]].concat();
        for damaged in [&cut[..], &[0; 100]] {
            std::fs::write(&file, damaged).unwrap();
            assert!(matches!(state.objects(), Err(ExchangeError::Damaged)));
        }
    }

    #[test]
    fn a_folder_holds_the_run_of_one_owner() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let state = State::open(&path, [1; 32]).unwrap();
        let own = *state.secrets(3, 2).unwrap().1.expose();
        drop(state);
        assert!(matches!(State::open(&path, [2; 32]), Err(ExchangeError::OfAnother)));
        let state = State::open(&path, [1; 32]).unwrap();
        assert_eq!(state.number().unwrap(), Some(3));
        assert_eq!(*state.secrets(4, 0).unwrap().1.expose(), own);
        state.keep_next(9, b"object").unwrap();
        assert_eq!(state.next().unwrap(), Some((9, b"object".to_vec())));
        let output = parent.path().join("out.csv");
        state.keep_done(Some(&output)).unwrap();
        assert!(state.may_have_written(&output).unwrap());
        assert!(!state.may_have_written(&path).unwrap());
        state.finish().unwrap();
        drop(state);
        let state = State::open(&path, [1; 32]).unwrap();
        assert_eq!((state.was_finished(), state.number().unwrap()), (true, None));
        assert_eq!(State::open(&path, [1; 32]).err(), Some(FolderError::InUse.into()));
        state.forget().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn the_count_outlives_runs_that_are_given_up() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let open = || State::open(&path, [1; 32]).unwrap();
        let of = [5; 32];
        for count in 0..3 {
            let state = open();
            assert_eq!(state.starts(&of).unwrap(), count);
            state.secrets(1 + count, count).unwrap();
            state.keep_starts(&of, count + 1).unwrap();
            // The count never falls.
            state.keep_starts(&of, count).unwrap();
            drop(state);
            let state = open();
            assert_eq!(state.repeats().unwrap(), count);
            state.forget().unwrap();
            drop(state);
        }
        // A process that does not start a run changes nothing.
        drop(open());
        let state = open();
        assert_eq!(state.starts(&of).unwrap(), 3);
        assert_eq!(state.starts(&[6; 32]), Err(ExchangeError::OfAnother));
        state.secrets(4, 3).unwrap();
        state.finish().unwrap();
        drop(state);
        // Its process ended before it had removed anything.
        let state = open();
        assert!(state.was_finished());
        assert_eq!(state.starts(&of).unwrap(), 0);
        drop(state);
        assert!(!path.exists());
        std::fs::create_dir(&path).unwrap();
        let state = open();
        state.write(STARTS, &[1, 2, 3]).unwrap();
        assert_eq!(state.starts(&of), Err(ExchangeError::Damaged));
    }
}
