//! What a party keeps of an unfinished run, so that it can be interrupted and continue.
//!
//! A folder that only its owner may enter. It holds one run, and is removed when the run ends.

use super::answer::Answer;
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
pub(crate) struct State {
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
pub(crate) enum StateError {
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
    pub(crate) fn open(folder: &Path, owner: [u8; 32]) -> Result<Self, StateError> {
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
    pub(crate) fn has_begun(&self) -> bool {
        has_begun(&self.folder)
    }

    /// Whether the unfinished run here, or its owner, cannot be read, so that it can only be given up.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Whether the last run here was over, but its process ended before it had removed the folder.
    pub(crate) fn was_finished(&self) -> bool {
        self.was_finished
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The party's secrets of the run: the stored ones, or new ones.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::InvalidData`] when they are damaged.
    pub(crate) fn secrets(&self) -> io::Result<(Meeting, Secret<[u8; 32]>)> {
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
    pub(crate) fn shares(&self, make: impl FnOnce() -> Vec<u8>) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.read(SHARES)? {
            return Ok(bytes.to_vec());
        }
        let bytes = make();
        self.write(SHARES, &bytes)?;
        Ok(bytes)
    }

    /// Stores the digest of the rows that take part; `false` if the stored digest is of other rows.
    pub(crate) fn keep_rows(&self, digest: &[u8; 32]) -> io::Result<bool> {
        self.keep_first(ROWS, digest)
    }

    /// The number of this run at the helper. `None` before the helper has it, and if the file [is
    /// damaged](Self::is_damaged).
    pub(crate) fn instance(&self) -> io::Result<Option<Instance>> {
        Ok(self.read(INSTANCE)?.and_then(|kept| as_instance(&kept)))
    }

    pub(crate) fn keep_instance(&self, instance: &Instance) -> io::Result<()> {
        self.write(INSTANCE, instance)
    }

    /// Keeps what this party has learned, `rows` being the rows of its file.
    pub(crate) fn keep_answer(&self, answer: &Answer, rows: u64) -> io::Result<()> {
        self.write_by(ANSWER, |file| answer.write(&self.owner, rows, file))
    }

    /// What this party, one of `parties` with so many rows, had learned before it was interrupted.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::InvalidData`] when it is damaged.
    pub(crate) fn answer(&self, parties: usize, rows: u64) -> Option<io::Result<Answer>> {
        match File::open(self.folder.join(ANSWER)) {
            Ok(file) => Some(Answer::read(&self.owner, (parties, rows), file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether the helper has heard this party's last message.
    pub(crate) fn has_said(&self) -> io::Result<bool> {
        Ok(self.read(SAID)?.is_some())
    }

    /// Whether a process that had said its last message was to write the result to `output`, so that a file there may
    /// be its own.
    pub(crate) fn may_have_written(&self, output: &Path) -> io::Result<bool> {
        let place = place(output)?;
        Ok(self.read(SAID)?.is_some_and(|kept| kept[..] == place))
    }

    /// Keeps that the helper has heard the last message, and where the result goes next, if it goes to a file.
    pub(crate) fn keep_said(&self, output: Option<&Path>) -> io::Result<()> {
        match output {
            Some(output) => self.write(SAID, &place(output)?),
            None => self.write(SAID, &[]),
        }
    }

    /// Writes the owner again into a folder that [is damaged](Self::is_damaged).
    pub(crate) fn repair(&self) -> io::Result<()> {
        self.write(OWNER, &self.owner)
    }

    /// Deletes the run, so that the next one in this folder is a new one.
    pub(crate) fn forget(&self) -> io::Result<()> {
        self.take_away(&KEPT)
    }

    /// Deletes a run that was given up. `finished` is removed first: if this process is killed half-way,
    /// the rest must not look like a run that ended well.
    pub(crate) fn give_up(&self) -> io::Result<()> {
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
    pub(crate) fn remove(self) -> io::Result<()> {
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
mod tests {
    use super::super::answer::Learned;
    use super::*;
    use vesica_protocols::kmrs14::CommonRows;

    const OWN: [u8; 32] = [7; 32];

    /// One of a party with 70 rows.
    fn answer() -> Answer {
        let learned = Learned::Rows(CommonRows { rows: vec![5, 1], items: 2 });
        Answer { scales: vec![7, 7], list_lens: vec![90, 95], learned }
    }

    /// A run after the helper was reached and the secrets were made.
    fn begin(folder: &Path) -> State {
        let state = State::open(folder, OWN).unwrap();
        state.keep_instance(&[7; 16]).unwrap();
        state.secrets().unwrap();
        state
    }

    #[test]
    fn secrets_stay_the_same_until_the_run_is_forgotten() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let secrets = |state: &State| {
            let (meeting, own) = state.secrets().unwrap();
            (meeting.to_bytes().to_vec(), *own.expose())
        };
        let state = State::open(&folder, OWN).unwrap();
        let first = secrets(&state);
        assert_eq!(secrets(&state), first);
        drop(state);
        let state = State::open(&folder, OWN).unwrap();
        assert_eq!(secrets(&state), first);
        assert_eq!(state.shares(|| vec![1]).unwrap(), [1]);
        assert_eq!(state.shares(|| vec![2]).unwrap(), [1]);
        assert!(state.keep_rows(&[3; 32]).unwrap() && state.keep_rows(&[3; 32]).unwrap());
        assert!(!state.keep_rows(&[4; 32]).unwrap());
        state.forget().unwrap();
        assert_ne!(secrets(&state), first);
        state.remove().unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn what_a_forgetting_left_half_way_is_removed_before_the_next_run() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let begin = || {
            let state = State::open(&folder, OWN).unwrap();
            state.secrets().unwrap();
            state.keep_rows(&[3; 32]).unwrap();
            state.keep_answer(&answer(), 70).unwrap();
            state.keep_said(None).unwrap();
        };
        begin();
        let state = State::open(&folder, OWN).unwrap();
        assert!(state.has_said().unwrap());
        assert!(!state.may_have_written(Path::new("a.csv")).unwrap());
        assert_eq!(state.answer(2, 70).unwrap().unwrap(), answer());
        drop(state);
        fs::remove_file(folder.join(MEETING)).unwrap();
        fs::write(folder.join("another's"), "stays").unwrap();
        let state = State::open(&folder, OWN).unwrap();
        assert!(!state.has_said().unwrap() && state.answer(2, 70).is_none());
        assert!(state.keep_rows(&[4; 32]).unwrap());
        drop(state);
        assert_eq!(fs::read(folder.join("another's")).unwrap(), b"stays");
    }

    #[test]
    fn only_the_file_that_was_to_be_written_counts_as_the_runs_own() {
        let parent = tempfile::tempdir().unwrap();
        let state = begin(&parent.path().join("run"));
        let [own, other] = ["a.csv", "b.csv"].map(|name| parent.path().join(name));
        let may = |path: &Path| state.may_have_written(path).unwrap();
        assert!(!may(&own));
        state.keep_said(Some(&own)).unwrap();
        assert!(may(&own) && !may(&other));
        state.keep_said(None).unwrap();
        assert!(!may(&own) && state.has_said().unwrap());
    }

    #[test]
    fn what_the_helper_showed_is_remembered_until_the_run_is_forgotten() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let open = || State::open(&folder, OWN).unwrap();
        open().secrets().unwrap();
        for (kind, _) in SEEN {
            assert_eq!(open().is_same(kind, &[1; 32]), Ok(true));
            assert_eq!(open().is_same(kind, &[1; 32]), Ok(true));
            assert_eq!(open().is_same(kind, &[2; 32]), Ok(false));
        }
        open().forget().unwrap();
        let state = open();
        SEEN.iter().for_each(|(kind, _)| assert_eq!(state.is_same(*kind, &[2; 32]), Ok(true)));
        assert!(state.is_same(Kind::Answer, &[2; 32]).is_err());
        state.remove().unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_of_another_run_is_left_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let state = State::open(&folder, OWN).unwrap();
        let secret = *state.secrets().unwrap().1.expose();
        state.write(FINISHED, &OWN).unwrap();
        drop(state);
        assert!(matches!(State::open(&folder, [8; 32]), Err(StateError::OfAnother)));
        let state = State::open(&folder, OWN).unwrap();
        assert_eq!(*state.secrets().unwrap().1.expose(), secret);
        assert!(state.has_begun() && !state.was_finished());
    }

    #[test]
    fn a_folder_that_cannot_be_read_can_be_given_up() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        assert!(!begin(&folder).is_damaged());
        let damages = || [vec![], vec![7; 15], vec![0; 32], vec![0; 16], vec![7; 31]];
        for (name, whole) in [(OWNER, OWN.to_vec()), (INSTANCE, vec![7; 16])] {
            for damaged in damages() {
                fs::write(folder.join(name), &damaged).unwrap();
                let state = State::open(&folder, OWN).unwrap();
                assert!(state.is_damaged() && state.has_begun(), "{name}: {damaged:?}");
                assert!(name == OWNER || state.instance().unwrap().is_none());
            }
            fs::remove_file(folder.join(name)).unwrap();
            assert!(State::open(&folder, OWN).unwrap().is_damaged(), "no {name}");
            fs::write(folder.join(name), &whole).unwrap();
            assert!(!State::open(&folder, OWN).unwrap().is_damaged());
        }
        for name in [OWNER, INSTANCE] {
            fs::write(folder.join(name), []).unwrap();
        }
        let state = State::open(&folder, OWN).unwrap();
        state.repair().unwrap();
        state.keep_instance(&[8; 16]).unwrap();
        drop(state);
        let state = State::open(&folder, OWN).unwrap();
        assert!(!state.is_damaged() && state.instance().unwrap() == Some([8; 16]));
        state.write(FINISHED, &OWN).unwrap();
        state.give_up().unwrap();
        assert!(!state.has_begun() && !folder.join(FINISHED).exists());
        drop(state);
        assert!(!folder.exists());
    }

    #[test]
    fn a_run_that_was_over_is_known_to_be_until_the_folder_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        // A process that was killed while it removed the folder.
        let killed = || {
            let state = State::open(&folder, OWN).unwrap();
            state.secrets().unwrap();
            state.write(FINISHED, &OWN).unwrap();
            fs::remove_file(folder.join(MEETING)).unwrap();
            std::mem::forget(state);
        };
        killed();
        // The lock is held by the process that is simulated; another file has none.
        fs::remove_file(folder.join(LOCK)).unwrap();
        fs::write(folder.join(LOCK), "").unwrap();
        let state = State::open(&folder, OWN).unwrap();
        assert!(state.was_finished() && !state.has_begun());
        drop(state);
        assert!(!folder.exists());
        killed();
        fs::remove_file(folder.join(LOCK)).unwrap();
        fs::write(folder.join(LOCK), "").unwrap();
        assert!(!State::open(&folder, [8; 32]).unwrap().was_finished());
    }

    #[test]
    fn what_a_process_that_was_killed_was_writing_does_not_stay() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let state = State::open(&folder, OWN).unwrap();
        state.secrets().unwrap();
        fs::write(folder.join(UNFINISHED), "half of a secr").unwrap();
        state.keep_said(None).unwrap();
        assert!(!folder.join(UNFINISHED).exists());
        fs::write(folder.join(UNFINISHED), "half of a secr").unwrap();
        state.remove().unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn the_directory_is_private_and_used_by_one_process() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        let state = State::open(&folder, OWN).unwrap();
        state.secrets().unwrap();
        state.keep_answer(&answer(), 70).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        for name in [MEETING, ANSWER] {
            assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
        }
        assert!(matches!(State::open(&folder, OWN), Err(StateError::InUse)));
    }

    #[test]
    fn a_folder_with_something_else_in_it_is_left_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("mine");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.join(ROWS), "mine").unwrap();
        assert!(matches!(State::open(&folder, OWN), Err(StateError::NotOurs)));
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read(folder.join(ROWS)).unwrap(), b"mine");
        fs::remove_file(folder.join(ROWS)).unwrap();
        assert!(State::open(&folder, OWN).is_ok());
    }

    /// Only a superuser can give files away; `vesica_link::access_of_others` has the rule for everybody.
    #[test]
    fn a_folder_of_another_user_is_refused_and_unchanged() {
        let parent = tempfile::tempdir().unwrap();
        let [begun, empty] = ["run", "empty"].map(|name| parent.path().join(name));
        begin(&begun);
        fs::create_dir(&empty).unwrap();
        fs::set_permissions(&empty, fs::Permissions::from_mode(0o755)).unwrap();
        for folder in [begun, empty] {
            let mode = fs::metadata(&folder).unwrap().permissions().mode();
            match std::os::unix::fs::chown(&folder, Some(12_345), None) {
                Ok(()) => {
                    let opened = State::open(&folder, OWN);
                    assert!(matches!(opened, Err(StateError::OfAnotherUser)));
                    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode(), mode);
                    std::os::unix::fs::chown(&folder, Some(0), None).unwrap();
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            }
            assert!(State::open(&folder, OWN).is_ok());
        }
    }

    #[test]
    fn a_folder_of_a_run_that_others_can_enter_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        begin(&folder);
        for mode in [0o701, 0o710, 0o750, 0o770, 0o777, 0o755] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            let Err(StateError::TooOpen { mode: found }) = State::open(&folder, OWN) else {
                panic!("{mode:o}")
            };
            assert_eq!(found, mode);
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(State::open(&folder, OWN).unwrap().has_begun());
    }

    #[test]
    fn damaged_secrets_are_an_error_and_never_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let state = State::open(&parent.path().join("run"), OWN).unwrap();
        state.secrets().unwrap();
        let path = state.folder().join(MEETING);
        let mut bytes = fs::read(&path).unwrap();
        bytes[50] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(state.secrets().err().unwrap().kind(), io::ErrorKind::InvalidData);
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}
