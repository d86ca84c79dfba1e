//! A store with no shared place: each side keeps all objects in a folder of its own, and sends over
//! a connection what the other side lacks. A lost connection is replaced, and the objects that are
//! still missing are sent over the new one.
//!
//! ```text
//!   folder of this side ──▶ connection ──▶ folder of the other side
//!                       ◀──            ◀──
//! ```
//!
//! | message | content |
//! |---|---|
//! | 0, have | how many (4 bytes); the names of all objects of this agreement that the sender has |
//! | 1, object | its name; the length n (4 bytes); n bytes |
//! | 2, leave | nothing: the sender has everything that it needs |
//!
//! A name is its length (1 byte) and that many bytes. Each side starts with one *have*.
//!
//! **A state restored from an older copy is detected here**: each object of this side is on its
//! disk before the other side gets it. So if the other side has an object of a run that this side
//! resumes, and this process neither found that object here at its start nor sent it, the state is
//! older than what this side has sent. This side then stores and sends nothing more: under the same
//! randomness it could send something else. It does not matter whether it has meanwhile written an
//! object of the same name again.

pub(crate) mod fuzzing;
mod receiving;
mod wire;

use self::wire::{Fault, Kind, LEAVE, have_of, object_of};
use crate::FolderStore;
use crate::error::{ObjectName, SetBack};
use crate::name::prefix_of;
use crate::object::{self, END, GIVEN_UP, HELLO};
use crate::store::{Lengths, Listed, Store};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};
use vesica_link::CancelToken;
use vesica_net::{Connection, StreamId, StreamWriter};

/// The stream of the messages above.
const LINE: StreamId = StreamId::from_u64(0x6d69_7272_6f72);

/// Maximum number of names in a *have*: more objects than a run has.
const HAVE_MAX: u32 = 1 << 20;

/// Maximum bytes of objects received from the other side before the run has asked for them.
const UNASKED_MAX_BYTES: u64 = 4 << 30;

/// What an object that the run has not asked for counts in addition to its bytes.
const OBJECT_COST_BYTES: u64 = 4096;

/// Maximum number of unnumbered objects that connections bring: enough for more runs than any party
/// abandons.
const SMALL_MAX: u32 = 1 << 12;

/// How many bytes of an object are read at once.
const READ_BYTES: usize = 1 << 20;

/// How often a waiting thread checks whether it should still wait.
const TICK: Duration = Duration::from_millis(50);

/// How long to pause before the next connection.
const REDIAL: Duration = Duration::from_millis(200);

/// How long a connected side that still has to send unnumbered objects may send nothing.
const MEET_LIMIT: Duration = Duration::from_secs(60);

/// While a party waits for an object, for at most a second, this many bytes on the connection are
/// more than keep-alives.
const MOVED_BYTES: u64 = 1 << 10;

/// How long a side that has everything it needs waits until the other one has too, while they are
/// connected.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);

/// How long such a side waits while the two are not connected.
const REDIAL_LIMIT: Duration = Duration::from_secs(2);

/// The outcome of an attempt to connect.
pub enum Dialled {
    /// A connection to the other side.
    Connected(Arc<dyn Connection>),
    /// No connection yet: try again.
    Again,
    /// No connection now or later.
    Never,
}

/// Connects to the other side; blocks until it is there or will not come. The token ends the wait.
pub type Dial = Box<dyn Fn(&CancelToken) -> Dialled + Send>;

/// A store with no shared place: each side keeps a copy of all objects, and sends the other side
/// those that it lacks.
pub struct Mirror {
    core: Arc<Core>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

struct Core {
    local: FolderStore,
    /// The start of the names of all runs.
    prefix: String,
    own: u8,
    line: Mutex<Line>,
    changed: Condvar,
    cancel: CancelToken,
}

/// What is known about the link to the other side.
#[derive(Default)]
struct Line {
    connection: Option<Arc<dyn Connection>>,
    /// Whether the other side has sent its *have* over this connection.
    knows: bool,
    /// Unnumbered objects that the other side has and this side does not.
    awaited: HashSet<String>,
    /// Whether this side has received all unnumbered objects of the other side, over any
    /// connection.
    has_met: bool,
    /// The objects that the other side has, or that this side has sent it over this connection.
    theirs: HashSet<String>,
    /// Objects to send unless the other side has them.
    fresh: VecDeque<String>,
    /// Runs that the other side has started and still knows.
    runs: HashSet<String>,
    /// Objects of the other side that the run has not asked for, with their bytes.
    unasked: HashMap<String, u64>,
    unasked_bytes: u64,
    /// How many unnumbered objects the other side has sent.
    small: u32,
    /// When the other side last sent something.
    moved: Option<Instant>,
    /// Why nothing more will come.
    failed: Option<io::ErrorKind>,
    /// Runs that this side has started, without those whose objects it got back from the other side
    /// after it had lost them.
    started: HashSet<String>,
    /// Objects of this side that the other side may have: those here before this process started,
    /// and those that this process has sent.
    sent: HashSet<String>,
    /// Objects of this side that the other side has and that are not in `sent`.
    unknown: Vec<String>,
    /// An object in `unknown` of a run that this side has started, so this side's state was
    /// restored from an older copy.
    set_back: Option<SetBack>,
    /// Why this side stops before the run has finished.
    stop: Option<StopReason>,
    /// This side has everything that it needs.
    leaves: bool,
    /// The other side has everything that it needs.
    has_left: bool,
}

impl Mirror {
    /// Keeps the objects of all runs under the agreement with this hash in `folder`, for party
    /// `own`, and connects by `dial`. Creates the folder if it does not exist. `cancel` ends all
    /// waits.
    ///
    /// # Errors
    /// File system errors.
    pub fn open(
        folder: &Path,
        agreement: &[u8; 32],
        own: u8,
        dial: Dial,
        cancel: &CancelToken,
    ) -> io::Result<Self> {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let core = Core {
            local: FolderStore::open(folder)?,
            prefix: prefix_of(agreement),
            own,
            line: Mutex::default(),
            changed: Condvar::new(),
            cancel: CancelToken::new(),
        };
        let (started, sent) = (core.started()?, core.names()?.into_iter().collect());
        {
            let mut line = core.line();
            (line.started, line.sent) = (started, sent);
        }
        let core = Arc::new(core);
        let (for_worker, for_cancel) = (Arc::clone(&core), Arc::downgrade(&core));
        let worker = std::thread::Builder::new()
            .name("vesica-mirror".into())
            .spawn(move || for_worker.work(&*dial))?;
        cancel.on_cancel(move || {
            if let Some(core) = for_cancel.upgrade() {
                core.end(StopReason::Cancelled);
            }
        });
        Ok(Self { core, worker: Mutex::new(Some(worker)) })
    }

    /// Stops the mirror, and waits until it uses neither the connection nor the folder any more.
    fn end(&self, reason: StopReason) {
        self.core.end(reason);
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = worker.map(JoinHandle::join);
    }

    /// Waits until this side has the object `last` and the other side has everything that it needs.
    fn wait_for_the_end(&self, last: &str, limit: Duration) -> Result<(), TransportError> {
        let mut line = self.core.line();
        let start = Instant::now();
        while !self.core.local.has(last) {
            if line.failed.is_some() {
                return Err(TransportError::Closed);
            }
            // A side that is connected but sends nothing must not hold this one up forever.
            if line.moved.unwrap_or(start).max(start).elapsed() >= limit {
                return Err(TransportError::Idle(limit));
            }
            line = self.core.wait(line);
        }
        line.leaves = true;
        self.core.changed.notify_all();
        let start = Instant::now();
        while !line.has_left && line.failed.is_none() {
            let limit = if line.connection.is_some() { LEAVE_LIMIT } else { REDIAL_LIMIT };
            if start.elapsed() >= limit {
                return Err(TransportError::Idle(limit));
            }
            line = self.core.wait(line);
        }
        if line.has_left { Ok(()) } else { Err(TransportError::Closed) }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.end(StopReason::Cancelled);
    }
}

impl Store for Mirror {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        {
            let mut line = self.core.line();
            if name == object::name(run_of(name), self.core.own, HELLO) {
                line.started.insert(run_of(name).to_owned());
            }
            line.check()?;
        }
        let is_new = self.core.local.put_if_absent(name, bytes)?;
        if is_new {
            self.core.line().fresh.push_back(name.to_owned());
            self.core.changed.notify_all();
        }
        Ok(is_new)
    }

    /// The object that this side has; an error if it lacks the object and nothing more can come.
    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        let object = self.core.local.get(name, lengths)?;
        let mut line = self.core.line();
        line.check()?;
        match &object {
            Some(_) => {
                let bytes = line.unasked.remove(name).unwrap_or(0);
                line.unasked_bytes -= bytes;
                self.core.changed.notify_all();
            }
            None => line.failed.map_or(Ok(()), |kind| Err(io::Error::from(kind)))?,
        }
        drop(line);
        Ok(object)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.core.local.list(folder)
    }

    /// The folders of both sides: waits until the other side has sent all its unnumbered objects.
    fn folders(&self) -> io::Result<Vec<String>> {
        let mut line = self.core.line();
        let mut there = Instant::now();
        while !line.has_met {
            line.check()?;
            if let Some(kind) = line.failed {
                return Err(kind.into());
            }
            // The caller's `dial` limits the time without a connection.
            if line.connection.is_none() {
                there = Instant::now();
            } else if line.moved.unwrap_or(there).max(there).elapsed() >= MEET_LIMIT {
                return Err(io::ErrorKind::TimedOut.into());
            }
            line = self.core.wait(line);
        }
        drop(line);
        self.core.local.folders()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.core.local.remove(name)
    }

    fn place(&self) -> String {
        self.core.local.place()
    }

    fn wait(&self, name: &str, pause: Duration, _: &CancelToken) -> bool {
        let mut line = self.core.line();
        let (begin, bytes) = (Instant::now(), line.wire_bytes());
        let until = begin + pause;
        // An object is stored before its arrival is signalled under this lock, so no signal is
        // missed.
        while line.failed.is_none() && !self.core.local.has(name) && Instant::now() < until {
            line = self.core.wait(line);
        }
        line.wire_bytes().saturating_sub(bytes) >= MOVED_BYTES
            || line.moved.is_some_and(|moved| moved >= begin)
    }

    fn stop(&self, reason: StopReason) {
        self.core.end(reason);
    }

    /// The connection is closed when this returns: the other side does not see what this side does
    /// next, or how long that takes.
    fn settle(&self, last: &str, limit: Duration) -> Result<(), TransportError> {
        let settled = self.wait_for_the_end(last, limit);
        self.end(StopReason::Timeout);
        settled
    }
}

impl Line {
    /// Bytes that the connection has moved, in both directions; 0 without one.
    fn wire_bytes(&self) -> u64 {
        let (sent, received) = self.connection.as_ref().map_or((0, 0), |line| line.wire_bytes());
        sent.saturating_add(received)
    }

    /// # Errors
    /// [`SetBack`].
    fn check(&mut self) -> io::Result<()> {
        if self.set_back.is_none() {
            let of_started = self.unknown.iter().find(|name| self.started.contains(run_of(name)));
            self.set_back = of_started.map(|name| SetBack { name: ObjectName::new(name) });
        }
        self.set_back.map_or(Ok(()), |fault| Err(fault.into()))
    }
}

impl Core {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, line: MutexGuard<'a, Line>) -> MutexGuard<'a, Line> {
        let waited = self.changed.wait_timeout(line, TICK);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Whether both sides have everything that they need.
    fn is_over(&self) -> bool {
        let line = self.line();
        line.leaves && line.has_left
    }

    /// Records why the link to the peer failed: no more objects arrive, and waiting for one ends.
    fn fail(&self, kind: io::ErrorKind) {
        self.line().failed.get_or_insert(kind);
        self.changed.notify_all();
    }

    /// Stops the mirror, and gives the other side the reason unless both sides have everything that
    /// they need.
    fn end(&self, reason: StopReason) {
        let (connection, is_over) = {
            let mut line = self.line();
            line.stop.get_or_insert(reason);
            line.failed.get_or_insert(io::ErrorKind::Interrupted);
            (line.connection.clone(), line.leaves && line.has_left)
        };
        self.changed.notify_all();
        self.cancel.cancel();
        if let Some(connection) = connection.filter(|_| !is_over) {
            connection.stop(reason);
        }
    }

    /// The runs that this side has started and that have not ended, according to the folder. When a
    /// process starts, the folder holds no objects that the other side sent back of a run that this
    /// side had lost: a process that does not resume a run starts with an empty folder, and one
    /// that abandons a run publishes that.
    fn started(&self) -> io::Result<HashSet<String>> {
        let has = |run: &str, what: &str| self.local.has(&object::name(run, self.own, what));
        let mut runs = self.local.folders()?;
        runs.retain(|run| has(run, HELLO) && !has(run, END) && !has(run, GIVEN_UP));
        Ok(runs.into_iter().collect())
    }

    fn work(&self, dial: &dyn Fn(&CancelToken) -> Dialled) {
        let _guard = FailOnPanic(self);
        loop {
            let is_over = |line: &Line| line.failed.is_some() || (line.leaves && line.has_left);
            if is_over(&self.line()) {
                return;
            }
            match dial(&self.cancel) {
                Dialled::Connected(connection) => self.serve(&connection),
                Dialled::Again => {}
                Dialled::Never => return self.fail(io::ErrorKind::ConnectionAborted),
            }
            if !is_over(&self.line()) {
                self.cancel.wait(REDIAL);
            }
        }
    }

    /// Sends and receives objects until the connection ends.
    fn serve(&self, connection: &Arc<dyn Connection>) {
        let Ok((mut reader, mut writer)) = connection.open(LINE) else { return };
        let stop = {
            let mut line = self.line();
            line.connection = Some(Arc::clone(connection));
            (line.knows, line.theirs, line.runs) = (false, HashSet::new(), HashSet::new());
            // A *leave* that came before this side's own was sent by a process that ended an
            // earlier run.
            line.has_left &= line.leaves;
            line.stop
        };
        if let Some(reason) = stop {
            connection.stop(reason);
        }
        std::thread::scope(|scope| {
            let receiving = std::thread::Builder::new().spawn_scoped(scope, || {
                if let Err(fault) = self.receive(&mut *reader) {
                    self.end_line(&**connection, fault);
                }
            });
            let sent = match receiving {
                Ok(_) => self.send(&mut *writer),
                Err(error) => Err(Fault::here(error)),
            };
            match sent {
                Ok(()) => drop(connection.close()),
                Err(fault) => self.end_line(&**connection, fault),
            }
        });
        self.line().connection = None;
        self.changed.notify_all();
    }

    fn end_line(&self, connection: &dyn Connection, fault: Fault) {
        match fault {
            // The other side closed the session first.
            Fault::Line if self.is_over() => return,
            // The next connection brings the rest.
            Fault::Line => connection.stop(StopReason::Timeout),
            Fault::Here(kind) => {
                self.fail(kind);
                connection.stop(StopReason::Config);
            }
            Fault::SetBack => {
                self.fail(io::ErrorKind::InvalidInput);
                connection.stop(StopReason::Config);
            }
            Fault::There => {
                self.fail(io::ErrorKind::InvalidData);
                connection.stop(StopReason::Misbehaviour);
            }
        }
        self.line().connection = None;
        self.changed.notify_all();
    }

    /// The names of all objects of this agreement that this side has, grouped by run, in the order
    /// in which they are written.
    fn names(&self) -> io::Result<Vec<String>> {
        let mut runs = self.local.folders()?;
        runs.retain(|run| run.starts_with(&self.prefix));
        runs.sort_unstable();
        let mut names = Vec::new();
        for run in runs {
            let mut of_run: Vec<(u8, String)> = Vec::new();
            for Listed { name, .. } in self.local.list(&run)? {
                let name = format!("{run}/{name}");
                if let Some(kind) = Kind::of(&name, &self.prefix, self.own) {
                    of_run.push((kind.rank(), name));
                }
            }
            of_run.sort_unstable();
            names.extend(of_run.into_iter().map(|(_, name)| name));
        }
        Ok(names)
    }

    fn send(&self, writer: &mut dyn StreamWriter) -> Result<(), Fault> {
        self.line().fresh.clear();
        let names = self.names().map_err(Fault::here)?;
        writer.write_all(&have_of(&names))?;
        writer.flush()?;
        // Leave out the numbered objects of the other side: if it has lost its state, it must learn
        // that there was a run, but cannot use its old messages.
        let names = names
            .into_iter()
            .filter(|name| Kind::of(name, &self.prefix, self.own) != Some(Kind::Numbered));
        let (mut names, mut has_sent_leave) = (Some(names), false);
        loop {
            match self.next(&mut names, has_sent_leave)? {
                Next::Object(name) => {
                    // An object that was removed in between is of an earlier run.
                    let bytes = self.local.get(&name, Lengths::ANY).map_err(Fault::here)?;
                    let Some(bytes) = bytes else { continue };
                    writer.write_all(&object_of(&name, bytes.len()))?;
                    writer.write_all(&bytes)?;
                }
                Next::Leave => {
                    has_sent_leave = true;
                    writer.write_all(&[LEAVE])?;
                }
                Next::Close => return Ok(()),
            }
            writer.flush()?;
        }
    }

    /// What this side sends next; waits until there is something. It sends `old` objects before new
    /// ones.
    fn next(
        &self,
        old: &mut Option<impl Iterator<Item = String>>,
        has_sent_leave: bool,
    ) -> Result<Next, Fault> {
        let mut line = self.line();
        loop {
            if line.connection.is_none() {
                return Err(Fault::Line);
            }
            if line.knows {
                if let Some(old) = old.take() {
                    let new = std::mem::take(&mut line.fresh);
                    line.fresh = old.chain(new).collect();
                }
                while let Some(name) = line.fresh.pop_front() {
                    // The other side has no use for the messages of a run that it has lost.
                    let is_lost = Kind::of(&name, &self.prefix, self.own) == Some(Kind::Own)
                        && !line.runs.contains(run_of(&name));
                    if !is_lost && line.theirs.insert(name.clone()) {
                        line.sent.insert(name.clone());
                        return Ok(Next::Object(name));
                    }
                }
                match (line.leaves, has_sent_leave, line.has_left) {
                    (true, false, _) => return Ok(Next::Leave),
                    (true, true, true) => return Ok(Next::Close),
                    _ => {}
                }
            }
            line = self.wait(line);
        }
    }
}

/// Records that nothing more will come if the thread that holds this guard panics.
struct FailOnPanic<'a>(&'a Core);

impl Drop for FailOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(io::ErrorKind::Other);
        }
    }
}

/// What to send next to the other side.
enum Next {
    Object(String),
    Leave,
    /// Nothing more: both have everything that they need.
    Close,
}

/// The run in the name of an object.
fn run_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}
