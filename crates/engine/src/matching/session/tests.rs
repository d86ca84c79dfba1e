//! Runs in partitions on bad disks and with files that change. Sets are small: they are split, and
//! leave the memory, long before the sets of a real run.

use super::*;
use crate::follow::follow;
use crate::peer::MendedLink;
use crate::{Finished, Job, Observer, RowSet, TransportFault};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use vesica_core::params::WHOLE_SET_LEN;
use vesica_core::{StopReason, TransportError};
use vesica_link::{CancelToken, Endpoint};
use vesica_scratch::{MemoryScratch, ScratchFile};
use vesica_tables::InputError;

mod kills;
#[path = "../../../tests/integration/support.rs"]
mod support;
use support::{Listening, Pair, no_leftovers};

/// Rows of each file: more than one run of a [`vesica_partitions::Buckets`].
const ROWS: u64 = 70_000;

/// Different keys of each file, half of which are common.
const KEYS: u64 = 3_000;

/// Upper bound on the time from an error to the end of both runs.
const SOON: Duration = Duration::from_secs(15);

/// Operations of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Create,
    Write,
    Read,
}

/// A disk that is full for all calls of one operation from this number on; 0 is the first.
#[derive(Clone)]
struct Disk {
    full: Option<(Call, usize)>,
    calls: Arc<[AtomicUsize; 3]>,
    files: Arc<AtomicUsize>,
}

impl Disk {
    fn new(full: Option<(Call, usize)>) -> Self {
        Self { full, calls: Arc::default(), files: Arc::default() }
    }

    fn ask(&self, call: Call) -> io::Result<()> {
        let number = self.calls[call as usize].fetch_add(1, Ordering::Relaxed);
        match self.full {
            Some((bad, first)) if bad == call && number >= first => {
                Err(ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    /// Calls of each operation so far.
    fn calls(&self) -> [usize; 3] {
        [0, 1, 2].map(|kind| self.calls[kind].load(Ordering::Relaxed))
    }

    fn files(&self) -> usize {
        self.files.load(Ordering::Relaxed)
    }
}

impl Scratch for Disk {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
        self.ask(Call::Create)?;
        self.files.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(OnDisk { disk: self.clone(), file: MemoryScratch.create()? }))
    }
}

struct OnDisk {
    disk: Disk,
    file: Box<dyn ScratchFile>,
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        self.disk.files.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ScratchFile for OnDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.ask(Call::Write)?;
        self.file.append(bytes)
    }

    fn overwrite_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.ask(Call::Write)?;
        self.file.overwrite_at(offset, bytes)
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.ask(Call::Read)?;
        self.file.read_exact_at(offset, out)
    }

    fn len(&self) -> u64 {
        self.file.len()
    }
}

/// The key in `row` of the file of `party`.
fn key(party: usize, row: u64) -> u64 {
    row % KEYS + party as u64 * KEYS / 2
}

fn text(party: usize) -> String {
    let mut text = String::from("email\n");
    for row in 0..ROWS {
        writeln!(text, "{}@a.org", key(party, row)).unwrap();
    }
    text
}

fn pair(protocol: &str) -> (Pair, Agreement) {
    let pair = Pair::new();
    fs::write(pair.path("one.csv"), text(0)).unwrap();
    fs::write(pair.path("two.csv"), text(1)).unwrap();
    let head = format!(
        "operation = \"intersection\"\nreceives = \"all\"\nsecurity = \"semi-honest\"\n\
         protocol = \"{protocol}\""
    );
    let key = "[[key]]\nname = \"email\"\nprofile = \"email\"";
    let agreement = pair.agreement_of(&head, key, ["max_rows = 6000000"; 2]);
    (pair, agreement)
}

/// A run in four partitions with a minimal memory limit.
fn run(job: &Job, disk: &Disk, observer: &Arc<dyn Observer>) -> Result<Finished, Error> {
    let cancel = CancelToken::new();
    let run = Run::new(job, observer, &cancel)?;
    let mut way =
        SessionRun::new(&run, Box::new(MendedLink { observer: Arc::clone(run.observer) }));
    way.spilling = Spilling {
        files: Arc::new(disk.clone()),
        memory_bytes: 4 << 20,
        whole_set_len: 1_000,
        plan: |_, _| Plan::new(4 * WHOLE_SET_LEN, 1, WHOLE_SET_LEN),
    };
    follow(&run, way, ControlFlow::Continue)
}

/// A test's callback for each event of a party.
type OnEvent = Arc<dyn Fn(usize, &Event<'_>) + Send + Sync>;

struct Watching {
    party: usize,
    on_event: OnEvent,
    listening: Listening,
}

impl Observer for Watching {
    fn event(&self, event: &Event<'_>) {
        self.listening.event(event);
        (self.on_event)(self.party, event);
    }
}

/// The outcomes of both parties' runs, each with its disk.
fn both(
    (pair, agreement): &(Pair, Agreement),
    disks: &[Disk; 2],
    on_event: &OnEvent,
) -> [Result<Finished, Error>; 2] {
    let start = Instant::now();
    let (told, address) = std::sync::mpsc::channel();
    let side = |party: usize, endpoint| {
        let listening = Listening(Mutex::new(told.clone()));
        let observer: Arc<dyn Observer> =
            Arc::new(Watching { party, on_event: Arc::clone(on_event), listening });
        let job = pair.job_of(party, agreement.clone(), endpoint);
        run(&job, &disks[party], &observer)
    };
    let ended = std::thread::scope(|scope| {
        let one = scope.spawn(|| side(0, Endpoint::Listen("127.0.0.1:0".into())));
        let address = address.recv_timeout(SOON).unwrap();
        let two = side(1, Endpoint::Connect(address));
        [one.join().unwrap(), two]
    });
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert_eq!(disks.each_ref().map(Disk::files), [0; 2], "scratch files that are left");
    ended
}

fn silent() -> OnEvent {
    Arc::new(|_, _| {})
}

/// Whether `party` has the complete result, in memory and in its file, which is then removed;
/// otherwise checks that it has none.
fn has_result(pair: &Pair, party: usize, ended: &Result<Finished, Error>) -> bool {
    let path = pair.path(["one.out.csv", "two.out.csv"][party]);
    let Ok(finished) = ended else {
        assert!(!path.exists(), "{ended:?}");
        return false;
    };
    let is_common = |row: u64| (KEYS / 2..KEYS).contains(&key(party, row));
    let rows: &RowSet = finished.output.rows().unwrap();
    assert_eq!((rows.len(), rows.keys()), (ROWS, KEYS / 2));
    assert!((0..ROWS).all(
        |row| rows.words()[(row / 64) as usize] >> (row % 64) & 1 == u64::from(is_common(row))
    ));
    let text = text(party);
    let mut expected = String::from("email\n");
    for (row, line) in (0..).zip(text.lines().skip(1)) {
        if is_common(row) {
            expected += line;
            expected.push('\n');
        }
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    fs::remove_file(path).unwrap();
    true
}

/// Whether the only error is that the peer ended the run for this reason.
fn is_told(ended: &Result<Finished, Error>, reason: StopReason) -> bool {
    let Err(Error::Transport { kind: TransportFault::Stream(kind), .. }) = ended else {
        return false;
    };
    *kind == TransportError::PeerStopped(reason)
}

/// For each kind of call of party `bad` to its disk, makes runs in which the disk is full from the
/// first, a middle or the last call on.
fn full_disk(bad: usize, protocol: &str) {
    let place = pair(protocol);
    let good = || Disk::new(None);
    let disks = [good(), good()];
    let ended = both(&place, &disks, &silent());
    assert!((0..2).all(|party| has_result(&place.0, party, &ended[party])), "{ended:?}");
    let calls = disks[bad].calls();
    assert!(calls[0] == 3 && calls[1] > 5 && calls[2] > 20, "{calls:?}");
    for call in [Call::Create, Call::Write, Call::Read] {
        let last = calls[call as usize] - 1;
        let mut numbers: Vec<_> = (0..=3).map(|part| part * last / 3).collect();
        numbers.dedup();
        for number in numbers {
            let mut disks = [good(), good()];
            disks[bad] = Disk::new(Some((call, number)));
            let ended = both(&place, &disks, &silent());
            let which = format!("{call:?} {number} of {last}: {ended:?}");
            let full = ConfigFault::Scratch { folder: ".".into(), kind: ErrorKind::StorageFull };
            let error = ended[bad].as_ref().expect_err(&which);
            assert_eq!(error.to_string(), Error::from(full).to_string(), "{which}");
            assert!(!has_result(&place.0, bad, &ended[bad]));
            let other = &ended[1 - bad];
            // The last read comes after the last message, so the other party does not learn that it
            // fails.
            match (call, number == last) {
                (Call::Read, true) => assert!(has_result(&place.0, 1 - bad, other), "{which}"),
                _ => assert!(is_told(other, StopReason::Config), "{which}"),
            }
            no_leftovers(&place.0);
        }
    }
}

#[test]
fn a_full_disk_at_any_time_ends_the_run_of_the_receiver() {
    full_disk(0, "rr22");
    full_disk(0, "rr22_malicious");
}

#[test]
fn a_full_disk_at_any_time_ends_the_run_of_the_sender() {
    full_disk(1, "rr22");
    full_disk(1, "rr22_malicious");
}

/// When the file of party `one` loses all rows but the first ones.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shrinks {
    Reading,
    Matching,
    Writing,
}

#[test]
fn a_file_that_shrinks_gives_no_result() {
    for shrinks in [Shrinks::Reading, Shrinks::Matching, Shrinks::Writing] {
        let place = pair("rr22");
        let path = place.0.path("one.csv");
        // It ends with a row.
        let len = "email\n".len() + 10 * "0@a.org\n".len();
        let on_event: OnEvent = {
            let path = path.clone();
            Arc::new(move |party, event| {
                let now = match event {
                    // Not `Event::Reading`: once it arrives, the file may have been read whole.
                    Event::Phase(Phase::Reading) => Shrinks::Reading,
                    Event::Phase(Phase::Matching) => Shrinks::Matching,
                    Event::Writing { .. } => Shrinks::Writing,
                    _ => return,
                };
                if (party, now) == (0, shrinks) {
                    let file = OpenOptions::new().write(true).open(&path).unwrap();
                    file.set_len(len as u64).unwrap();
                }
            })
        };
        let ended = both(&place, &[Disk::new(None), Disk::new(None)], &on_event);
        let changed = InputError::Changed { path };
        let error = ended[0].as_ref().expect_err("it has shrunk");
        assert_eq!(error.to_string(), Error::from(changed).to_string(), "{shrinks:?}");
        assert!(!has_result(&place.0, 0, &ended[0]));
        match shrinks {
            Shrinks::Reading => assert!(is_told(&ended[1], StopReason::Input), "{ended:?}"),
            // The other side's result is correct, and in place.
            _ => assert!(has_result(&place.0, 1, &ended[1]), "{ended:?}"),
        }
        no_leftovers(&place.0);
    }
}

#[test]
fn nothing_that_a_store_has_depends_on_time() {
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), 5, 5, Learns::Both).unwrap();
    for asked in [EarlyReveal::Never, EarlyReveal::InStep, EarlyReveal::Paced] {
        let [live, stored] = [false, true]
            .map(|stored| of_link(params.with_early_reveal(asked), stored).early_reveal());
        assert_eq!(live, asked);
        assert_ne!(stored, EarlyReveal::Paced);
    }
}
