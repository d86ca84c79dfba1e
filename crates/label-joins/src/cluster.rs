//! In a cluster that reaches the same folder: the helper writes the lists and a request there,
//! programs of the cluster compare them range by range, and their answer appears in the folder of
//! the request.
//!
//! ```text
//! DIR/join-<run>-<random>/list-0, list-1, …   the lists
//! DIR/join-<run>-<random>/request             comes last: a program that sees it sees all lists
//! DIR/join-<run>-<random>/bits-A-B            the cluster's, for some ranges of leading bits
//! DIR/join-<run>-<random>/answer              comes last
//! ```
//!
//! The folder may be a mounted one. Files appear whole: they are written under another name, synced
//! and renamed. Nothing needs to survive a crash: the next call for the run starts from the
//! beginning. The helper removes the request's folder when it has the answer, or none is needed any
//! more.
//!
//! A user who can read the folder sees the labels. A user who can write there can forge the answer,
//! so the cluster must be as trusted as the helper. Digests detect answers to other requests and
//! damaged files, not a cluster that lies.

mod request;

pub(crate) use request::{Copied, JoinAnswer};
pub use request::{Copies, Digest, JoinRequest};

use crate::backend::{Answers, Backend, RunName, Stop};
use crate::error::BackendError;
use crate::local::check_directory;
use rand::TryRng;
use request::digest_of_segment;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use vesica_labels::{Bits, List};

/// The helper's group may be the cluster's; other users of the machine have no access.
const FOLDER_MODE: u32 = 0o770;
const FILE_MODE: u32 = 0o660;

/// Between two looks for the answer: the first time, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often `stop` is called meanwhile.
const TICK: Duration = Duration::from_millis(50);
/// How often the log says that there is no answer yet.
const SAY_EVERY: Duration = Duration::from_secs(60);
/// How often a folder is removed in which a late program of the cluster writes.
const REMOVALS: u32 = 5;

/// A folder that a cluster reaches.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: PathBuf,
}

impl Cluster {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn random() -> Result<[u8; 16], BackendError> {
        let mut id = [0; 16];
        let filled = rand::rngs::SysRng.try_fill_bytes(&mut id);
        filled.map_err(|_| BackendError::Unreachable(ErrorKind::Other))?;
        Ok(id)
    }
}

impl Backend for Cluster {
    fn name(&self) -> &'static str {
        "cluster"
    }

    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        if lists.is_empty() {
            return Ok(Some(Vec::new()));
        }
        self.forget(run)?;
        let id = Self::random()?;
        let folder = self.folder.join(JoinRequest::new(*run, id, Vec::new()).folder());
        let found = Call { folder: &folder, run: *run, id, lists, stop }.common();
        if let Err(error) = remove(&folder) {
            let error = error.kind();
            tracing::warn!(%error, "what was written for the cluster is not removed");
        }
        found
    }

    fn check(&self) -> Result<(), BackendError> {
        // Another helper can use the same folder at the same time.
        let name = format!(".vesica-check-{}", RunName(Self::random()?));
        check_directory(&self.folder, &name)
    }

    fn forget(&self, run: &RunName) -> Result<(), BackendError> {
        let of_run = format!("{}{run}-", JoinRequest::FOLDER_PREFIX);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(of_run.as_bytes()) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Removes the folder of a request; first the request, so that no cluster begins with it.
fn remove(folder: &Path) -> io::Result<()> {
    let absent = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    match fs::remove_file(folder.join(JoinRequest::FILE)) {
        Err(error) if !absent(&error) => return Err(error),
        _ => {}
    }
    let mut left = REMOVALS;
    loop {
        left -= 1;
        match fs::remove_dir_all(folder) {
            Err(error) if absent(&error) => return Ok(()),
            Err(error) if left > 0 && error.kind() == ErrorKind::DirectoryNotEmpty => sleep(TICK),
            removed => return removed,
        }
    }
}

/// One comparison.
struct Call<'a> {
    folder: &'a Path,
    run: RunName,
    id: [u8; 16],
    lists: &'a [List<'a>],
    stop: Stop<'a>,
}

/// Adds the group's permissions in `mode`, which the usual umask takes away.
fn open_for_group(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_mode(permissions.mode() | mode & 0o070);
    fs::set_permissions(path, permissions)
}

impl Call<'_> {
    fn common(&self) -> Answers {
        DirBuilder::new().mode(FOLDER_MODE).create(self.folder)?;
        open_for_group(self.folder, FOLDER_MODE)?;
        let mut copied = Vec::with_capacity(self.lists.len());
        for at in 0..self.lists.len() {
            match self.copy(at)? {
                Some(list) => copied.push(list),
                None => return Ok(None),
            }
        }
        let request = JoinRequest::new(self.run, self.id, copied);
        self.whole(JoinRequest::FILE, |file| Ok(Some(file.write_all(&request.encode())?)))?;
        let labels: u64 = request.lens().iter().sum();
        let name = request.folder();
        tracing::info!(request = name, labels, "waiting for the cluster to compare lists");
        let Some(answer) = self.wait(&request)? else { return Ok(None) };
        match request.decode_answer(&answer).ok_or(BackendError::Nonsense)? {
            JoinAnswer::Parts(parts) => self.gather(&request, &parts),
            JoinAnswer::Malformed(list) => self.blame(list),
        }
    }

    /// Writes the copy of list `at`; `None` if stopped.
    fn copy(&self, at: usize) -> Result<Option<Copied>, BackendError> {
        let list = &self.lists[at];
        let format = list.format();
        let (mut counts, mut digests) = (Vec::new(), Vec::new());
        let of_list = |error| BackendError::of_list((at, error));
        let written = self.whole(&JoinRequest::list_file(at), |file| {
            for segment in 0..format.segments() {
                if (self.stop)() {
                    return Ok(None);
                }
                let bytes = list.encoded(segment).map_err(of_list)?;
                counts.push((list.start(segment + 1) - list.start(segment)) as u32);
                digests.push(digest_of_segment(&self.id, at, segment, &bytes));
                file.write_all(&bytes)?;
            }
            Ok(Some(()))
        })?;
        Ok(written.map(|()| Copied { format, counts, digests }))
    }

    /// Writes a file that appears whole; none if `write` gives `None`.
    fn whole(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> Result<Option<()>, BackendError>,
    ) -> Result<Option<()>, BackendError> {
        let written = self.folder.join(format!(".{name}"));
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&written)?;
        open_for_group(&written, FILE_MODE)?;
        if write(&mut file)?.is_none() {
            return Ok(None);
        }
        // A network's file system may say only now that it has no room.
        file.sync_all()?;
        drop(file);
        Ok(Some(fs::rename(&written, self.folder.join(name))?))
    }

    /// The bytes of the answer, as soon as there is one; `None` if stopped.
    fn wait(&self, request: &JoinRequest) -> Result<Option<Vec<u8>>, BackendError> {
        let (started, mut logged) = (Instant::now(), Instant::now());
        let mut pause = FIRST_PAUSE;
        loop {
            match self.read(JoinRequest::ANSWER_FILE, request.answer_max_len()) {
                Err(BackendError::Unreachable(ErrorKind::NotFound)) => {}
                answer => return answer.map(Some),
            }
            // Without it, no program answers.
            fs::metadata(self.folder.join(JoinRequest::FILE))?;
            if logged.elapsed() >= SAY_EVERY {
                logged = Instant::now();
                let (request, waited_s) = (request.folder(), started.elapsed().as_secs());
                tracing::info!(request, waited_s, "the cluster has not answered yet");
            }
            let until = Instant::now() + pause;
            loop {
                if (self.stop)() {
                    return Ok(None);
                }
                match until.checked_duration_since(Instant::now()) {
                    Some(rest) if !rest.is_zero() => sleep(rest.min(TICK)),
                    _ => break,
                }
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    fn read(&self, name: &str, max_len: u64) -> Result<Vec<u8>, BackendError> {
        let mut bytes = Vec::new();
        File::open(self.folder.join(name))?.take(max_len + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_len { Err(BackendError::Nonsense) } else { Ok(bytes) }
    }

    /// The bits in the files of an answer.
    fn gather(
        &self,
        request: &JoinRequest,
        parts: &[(Range<u32>, Digest)],
    ) -> Result<Option<Vec<Bits>>, BackendError> {
        let mut bits = request.no_bits();
        for (ranges, digest) in parts {
            if (self.stop)() {
                return Ok(None);
            }
            let bytes = self.read(&JoinRequest::bits_file(ranges), request.bits_len(ranges))?;
            if request.digest_of_bits(ranges, &bytes) != *digest {
                return Err(BackendError::Nonsense);
            }
            request.add(&mut bits, ranges, &bytes).ok_or(BackendError::Nonsense)?;
        }
        if request.can_be(&bits) { Ok(Some(bits)) } else { Err(BackendError::Nonsense) }
    }

    /// The cluster says that a list is malformed, for which its party is blamed: this must be true.
    fn blame(&self, at: usize) -> Answers {
        let mut labels = Vec::new();
        for segment in 0..self.lists[at].format().segments() {
            if (self.stop)() {
                return Ok(None);
            }
            let read = self.lists[at].segment(segment, &mut labels);
            read.map_err(|error| BackendError::of_list((at, error)))?;
        }
        Err(BackendError::Nonsense)
    }
}
