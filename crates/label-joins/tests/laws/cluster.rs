//! A folder for a cluster: a thread that answers, answers that are refused, and what remains.

use super::{RUN, Written, at, common, lists, plain};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use vesica_label_joins::{Backend, BackendError, Copies, Digest, JoinRequest, RunName};
use vesica_labels::{Bits, Format};

/// The copies of lists in a request's folder.
struct Copied<'a>(&'a Path);

impl Copies for Copied<'_> {
    fn read_at(&self, list: usize, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len as usize];
        File::open(self.0.join(JoinRequest::list_file(list)))?.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// The outstanding requests in a folder.
fn requests(folder: &Path) -> Vec<(PathBuf, JoinRequest)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    let requests = folders.filter(|path| !path.join(JoinRequest::ANSWER_FILE).exists());
    let decoded = requests.filter_map(|path| {
        let bytes = fs::read(path.join(JoinRequest::FILE)).ok()?;
        Some((path, JoinRequest::decode(&bytes).unwrap()))
    });
    decoded.collect()
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let written = folder.join(format!("_{name}"));
    fs::write(&written, bytes)?;
    fs::rename(written, folder.join(name))
}

/// Compares the lists of a request in `parts` parts: the bytes of the answer.
fn compare(folder: &Path, request: &JoinRequest, parts: u32) -> io::Result<Vec<u8>> {
    let all = request.ranges();
    let each = all.div_ceil(parts);
    let mut digests: Vec<(Range<u32>, Digest)> = Vec::new();
    for first in (0..all).step_by(each as usize) {
        let ranges = first..(first + each).min(all);
        match request.compare(&Copied(folder), ranges.clone(), &|| false) {
            Ok(bits) => {
                let bits = bits.unwrap();
                put(folder, &JoinRequest::bits_file(&ranges), &bits)?;
                digests.push((ranges.clone(), request.digest_of_bits(&ranges, &bits)));
            }
            Err(BackendError::Malformed { list }) => {
                return Ok(request.answer_malformed(list as u32));
            }
            // The helper has removed them.
            Err(_) => return Err(io::ErrorKind::NotFound.into()),
        }
    }
    Ok(request.answer(&digests))
}

/// A thread that answers all requests in a folder.
pub(crate) struct Answering {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Answering {
    pub(crate) fn start(folder: PathBuf) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ended);
        let mut parts = 0;
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                for (path, request) in requests(&folder) {
                    parts = parts % 5 + 1;
                    let _ = compare(&path, &request, parts)
                        .and_then(|answer| put(&path, JoinRequest::ANSWER_FILE, &answer));
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { ended, thread: Some(thread) }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn backend(folder: &Path) -> Box<dyn Backend> {
    at(&format!("cluster:{}", folder.display()), 1)
}

/// What a call finds if `answer` gives the bytes of the answer to its request.
fn answered(
    folder: &Path,
    written: &[Written],
    answer: impl FnOnce(&Path, &JoinRequest) -> Vec<u8> + Send,
) -> Result<Option<Vec<Bits>>, BackendError> {
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            let (path, request) = loop {
                match requests(folder).pop() {
                    Some(request) => break request,
                    None => thread::sleep(Duration::from_millis(1)),
                }
            };
            let answer = answer(&path, &request);
            put(&path, JoinRequest::ANSWER_FILE, &answer).unwrap();
        });
        common(&*backend(folder), written, &|| false)
    });
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "something remains");
    found
}

/// Lists of 8 segments and of one, with labels of the same length.
fn some() -> Vec<Written> {
    let written = [(21, 0..9000), (13, 4000..12_001)]
        .map(|(scale, integers)| Written::of(Format::new(scale, 88), integers));
    written.into()
}

#[test]
fn an_answer_to_another_request_is_refused() {
    let (here, written) = (folder("stale"), some());
    let mut earlier = Vec::new();
    let found = answered(&here, &written, |path, request| {
        earlier = compare(path, request, 3).unwrap();
        earlier.clone()
    });
    assert!(found.unwrap() == Some(plain(&written)));
    let stale = answered(&here, &written, |path, request| {
        // Even though all bits are there.
        compare(path, request, 3).unwrap();
        earlier
    });
    assert_eq!(stale, Err(BackendError::Nonsense));
}

#[test]
fn a_damaged_answer_is_refused() {
    let (here, written) = (folder("damaged"), lists(&[900, 700], 300));
    for at in [0, 30, 60, 90, 100, 110, 150] {
        for cut in [false, true] {
            let found = answered(&here, &written, |path, request| {
                let mut answer = compare(path, request, 1).unwrap();
                let at = at.min(answer.len() - 1);
                if cut {
                    answer.truncate(at);
                } else {
                    answer[at] ^= 1;
                }
                answer
            });
            assert_eq!(found, Err(BackendError::Nonsense), "byte {at}");
        }
    }
    let long = answered(&here, &written, |_, _| vec![0; 1 << 16]);
    assert_eq!(long, Err(BackendError::Nonsense));
}

#[test]
fn damaged_foreign_and_missing_bits_are_refused() {
    let (here, written) = (folder("bits"), some());
    let all = |request: &JoinRequest| 0..request.ranges();
    let nonsense = |change: &(dyn Fn(&mut Vec<u8>) + Sync)| {
        let found = answered(&here, &written, |path, request| {
            let answer = compare(path, request, 1).unwrap();
            let file = path.join(JoinRequest::bits_file(&all(request)));
            let mut bytes = fs::read(&file).unwrap();
            change(&mut bytes);
            fs::write(file, bytes).unwrap();
            answer
        });
        assert_eq!(found, Err(BackendError::Nonsense));
    };
    nonsense(&|bytes| bytes[1000] ^= 1);
    nonsense(&|bytes| bytes.truncate(1000));
    nonsense(&|bytes| bytes.push(0));
    nonsense(&|bytes| bytes.extend(vec![0; 1 << 20]));
    // Its digest is right, and its contents cannot be.
    for change in [0, 1, 2] {
        let found = answered(&here, &written, |path, request| {
            compare(path, request, 1).unwrap();
            let file = path.join(JoinRequest::bits_file(&all(request)));
            let mut bytes = fs::read(&file).unwrap();
            match change {
                0 => bytes.push(0),
                // A label is common in one list alone.
                1 => bytes[0] ^= 1,
                // A bit after the last label.
                _ => *bytes.last_mut().unwrap() |= 0x80,
            }
            fs::write(file, &bytes).unwrap();
            request.answer(&[(all(request), request.digest_of_bits(&all(request), &bytes))])
        });
        assert_eq!(found, Err(BackendError::Nonsense), "{change}");
    }
    let missing = answered(&here, &written, |path, request| {
        let answer = compare(path, request, 1).unwrap();
        fs::remove_file(path.join(JoinRequest::bits_file(&all(request)))).unwrap();
        answer
    });
    assert_eq!(missing, Err(BackendError::Unreachable(io::ErrorKind::NotFound)));
}

#[test]
fn each_range_must_be_answered_once() {
    let (here, written) = (folder("ranges"), some());
    let cuts: [&[(u32, u32)]; 6] =
        [&[(0, 4)], &[(4, 8)], &[(0, 5), (4, 8)], &[(0, 3), (4, 8)], &[(0, 8), (8, 9)], &[]];
    for cut in cuts {
        let found = answered(&here, &written, |path, request| {
            assert_eq!(request.ranges(), 8);
            let parts = cut.iter().map(|(start, end)| {
                let ranges = *start..*end;
                let inside = ranges.start.min(7)..ranges.end.min(8);
                let bits = request.compare(&Copied(path), inside, &|| false).unwrap().unwrap();
                put(path, &JoinRequest::bits_file(&ranges), &bits).unwrap();
                let digest = request.digest_of_bits(&ranges, &bits);
                (ranges, digest)
            });
            request.answer(&parts.collect::<Vec<_>>())
        });
        assert_eq!(found, Err(BackendError::Nonsense), "{cut:?}");
    }
}

#[test]
fn a_party_is_blamed_only_if_its_list_is_malformed() {
    let (here, mut written) = (folder("blame"), some());
    let blamed = answered(&here, &written, |_, request| request.answer_malformed(1));
    assert_eq!(blamed, Err(BackendError::Nonsense));
    let nobody = answered(&here, &written, |_, request| request.answer_malformed(2));
    assert_eq!(nobody, Err(BackendError::Nonsense));
    // The counts of buckets: the first label of each second one moves to the one before.
    for counts in written[1].segments[0][4..204].as_chunks_mut().0 {
        let [one, other] = counts;
        (*one, *other) = (*one + 1, *other - 1);
    }
    let right = answered(&here, &written, |path, request| {
        // The cluster finds it out by itself.
        let found = compare(path, request, 2).unwrap();
        assert_eq!(found, request.answer_malformed(1));
        found
    });
    assert_eq!(right, Err(BackendError::Malformed { list: 1 }));
}

#[test]
fn a_damaged_copy_is_not_the_partys_fault() {
    let (here, written) = (folder("copy"), some());
    let found = answered(&here, &written, |path, request| {
        let file = path.join(JoinRequest::list_file(0));
        let whole = fs::read(&file).unwrap();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 4;
        fs::write(&file, damaged).unwrap();
        let all = 0..request.ranges();
        let compared = request.compare(&Copied(path), all, &|| false);
        let kind = io::ErrorKind::InvalidData;
        assert_eq!(compared, Err(BackendError::Storage { list: 0, kind }));
        fs::write(&file, whole).unwrap();
        compare(path, request, 8).unwrap()
    });
    assert!(found.unwrap() == Some(plain(&written)));
}

#[test]
fn what_an_interrupted_call_left_is_removed() {
    let (here, written) = (folder("left"), lists(&[900, 700], 300));
    let (own, other) = (format!("join-{RUN}-1"), format!("join-{}-1", RunName([1; 16])));
    for name in [&own, &other] {
        fs::create_dir(here.join(name)).unwrap();
        fs::write(here.join(name).join("list-0"), "labels").unwrap();
    }
    fs::write(here.join("mine"), "another program's").unwrap();
    let left = || {
        let mut names: Vec<_> =
            fs::read_dir(&here).unwrap().map(|one| one.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let answering = Answering::start(here.clone());
    assert!(common(&*backend(&here), &written, &|| false).unwrap() == Some(plain(&written)));
    assert_eq!(left(), [&*other, "mine"]);
    fs::create_dir(here.join(&own)).unwrap();
    assert_eq!(backend(&here).forget(&RUN), Ok(()));
    assert_eq!(left(), [&*other, "mine"]);
    assert_eq!(backend(&here).check(), Ok(()));
    assert_eq!(left(), [&*other, "mine"]);
    drop(answering);
}

#[test]
fn a_call_that_nobody_answers_can_be_stopped() {
    let (here, written) = (folder("stopped"), lists(&[900, 700], 300));
    let is_there = AtomicBool::new(false);
    let stop = || {
        let there = requests(&here);
        for (path, _) in &there {
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7;
            assert_eq!((mode(path), mode(&path.join("list-0"))), (0, 0), "for others");
        }
        is_there.fetch_or(!there.is_empty(), Ordering::Relaxed)
    };
    assert_eq!(common(&*backend(&here), &written, &stop), Ok(None));
    assert!(is_there.into_inner(), "it waited");
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0);
    let vanished = || {
        if let Some((path, _)) = requests(&here).pop() {
            fs::remove_dir_all(path).unwrap();
        }
        false
    };
    let gone = common(&*backend(&here), &written, &vanished);
    assert_eq!(gone, Err(BackendError::Unreachable(io::ErrorKind::NotFound)));
}

#[test]
fn a_missing_folder_is_reported() {
    let backend = at("cluster:/nowhere/at/all", 1);
    assert_eq!(backend.check(), Err(BackendError::Directory(io::ErrorKind::NotFound)));
    let found = common(&*backend, &lists(&[9, 7], 3), &|| false);
    assert_eq!(found, Err(BackendError::Unreachable(io::ErrorKind::NotFound)));
    assert!(found.unwrap_err().can_pass());
}

#[test]
fn a_damaged_request_is_none() {
    let (here, written) = (folder("request"), lists(&[900, 700], 300));
    answered(&here, &written, |path, request| {
        let bytes = fs::read(path.join(JoinRequest::FILE)).unwrap();
        assert!(JoinRequest::decode(&bytes).as_ref() == Some(request));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(JoinRequest::decode(&damaged).is_none(), "byte {at}");
            assert!(JoinRequest::decode(&bytes[..at]).is_none(), "{at} bytes");
        }
        compare(path, request, 1).unwrap()
    })
    .unwrap();
}
