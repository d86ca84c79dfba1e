//! The streams of one run, written as objects of the store and read from the peer's objects.

mod detached;
mod ending;
mod ends;
mod inbox;

pub(crate) use self::inbox::take_all;

use self::inbox::{Inbox, Named};
use crate::detached::DetachedKeys;
use crate::error::{ExchangeError, Waiting};
use crate::journal::{DetachedEntry, FinishedPart, Journal, Objects, Point};
use crate::name::what_of;
use crate::object::{self, HELLO, Opened, Pieces, SHARES};
use crate::poller::{ObjectPoller, digest, if_supported, put};
use crate::state::State;
use crate::store::Lengths;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Misbehaviour, Secret, StopReason, TransportError};
use vesica_link::letters::Sealer;
use vesica_net::{Connection, Detached, SentDigests, StreamId, Streams};

const OBJECT_LABEL: &str = "vesica exchange 2026 sealed object v1";
const EXPORT_LABEL: &str = "vesica exchange 2026 export";
const STREAM_LABEL: &str = "vesica exchange 2026 bytes of a stream v1";

/// An object with this many bytes of streams is full.
const OBJECT_BYTES: usize = 8 << 20;

/// How long a thread waits before it checks again for bytes that another thread is fetching from
/// the store.
const TICK: Duration = Duration::from_millis(20);

/// The pause in writing after which bytes are published, so that one flight is one object.
const REST: Duration = Duration::from_millis(1);

/// A run whose party has met its peer.
pub(crate) struct Run {
    pub(crate) poller: ObjectPoller,
    pub(crate) own: u8,
    /// How many runs before this one were abandoned.
    pub(crate) repeats: u32,
    /// The secret that both parties share.
    pub(crate) secret: Secret<[u8; 32]>,
    /// The seed of this party's randomness.
    pub(crate) seed: Secret<[u8; 32]>,
}

/// One run over a store; clones are handles of the same run.
#[derive(Clone)]
pub struct Conversation {
    core: Arc<Core>,
}

struct Core {
    run: Run,
    state: Arc<State>,
    /// The digests of the results of parts that had finished before this process started.
    parts: BTreeMap<u64, [u8; 32]>,
    ours: Sealer,
    theirs: Sealer,
    desk: DetachedKeys,
    inbox: Mutex<Inbox>,
    arrived: Condvar,
    /// How many concurrent parts of this party are not waiting for the peer.
    working: AtomicIsize,
    /// Held by the thread that fetches the peer's next object from the store.
    poller: Mutex<()>,
    outbox: Mutex<Outbox>,
    /// Held while an object is published, so that objects are published in order.
    publishing: Mutex<()>,
    ended: OnceLock<TransportError>,
    fault: Mutex<Option<ExchangeError>>,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
}

struct Outbox {
    streams: HashMap<StreamId, Written>,
    /// Pieces of streams that are in no object yet.
    pieces: Pieces,
    bytes: usize,
    /// The number of the next object.
    next: u32,
    journal: Journal,
    /// Finished parts whose last bytes are in no object yet.
    over: Vec<FinishedPart>,
    /// What each part has sent in detached objects, and the streams that it had opened when it sent
    /// the last one.
    detached: BTreeMap<u64, (SentDigests, Vec<StreamId>)>,
    /// The ids of the detached objects.
    ids: Vec<[u8; 16]>,
    /// Detached objects that no numbered object names yet.
    named: Vec<DetachedEntry>,
}

/// What this process has written to a stream.
struct Written {
    len: u64,
    transcript: Transcript,
    /// The points after `len` at which objects of earlier processes end.
    points: VecDeque<Point>,
    /// How many bytes of the stream are in objects.
    published: u64,
}

impl Written {
    fn new(points: VecDeque<Point>) -> Self {
        let published = points.back().map_or(0, |(end, _)| *end);
        Self { len: 0, transcript: Transcript::new(STREAM_LABEL, &[]), points, published }
    }

    /// Adds `bytes`; returns how many of them are in objects already, or `None` if those objects
    /// have other bytes.
    fn add(&mut self, mut bytes: &[u8]) -> Option<usize> {
        let old = self.published.saturating_sub(self.len).min(bytes.len() as u64) as usize;
        while let Some((end, digest)) = self.points.front().copied() {
            let missing = end - self.len;
            if missing > bytes.len() as u64 {
                break;
            }
            let (before, after) = bytes.split_at(missing as usize);
            self.push(before);
            if self.transcript.clone().finish() != digest {
                return None;
            }
            self.points.pop_front();
            bytes = after;
        }
        self.push(bytes);
        Some(old)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.transcript.update(bytes);
        self.len += bytes.len() as u64;
    }
}

impl Conversation {
    /// Starts or resumes `run` with the objects that `state` records.
    pub(crate) fn start(run: Run, state: Arc<State>) -> Result<Self, ExchangeError> {
        let (mut objects, journal) = state.objects()?;
        let sealer = |party| Sealer::new(run.secret.expose(), OBJECT_LABEL, party);
        let (ours, theirs) = (sealer(run.own), sealer(1 - run.own));
        let next = objects.sent.len() as u32;
        match (state.next()?, objects.sent.last()) {
            // The object was kept but never put into the store, so no other party has seen it.
            (Some((number, _)), _) if number == next => {}
            (Some((number, object)), Some(last)) if number + 1 == next => {
                if digest(&object) != *last {
                    return Err(ExchangeError::Damaged);
                }
                put_numbered(&run, number, &object)?;
            }
            (None, None) => {}
            _ => return Err(ExchangeError::Damaged),
        }
        let (mut detached, mut ids) = (BTreeMap::new(), Vec::new());
        for DetachedEntry { part, id, points } in std::mem::take(&mut objects.detached) {
            let opened = points.iter().map(|(stream, _)| *stream).collect();
            let streams = points.into_iter().filter(|(_, (len, _))| *len > 0).collect();
            detached.insert(part, (SentDigests { streams }, opened));
            ids.push(id);
        }
        check_own(&run, next, &ids)?;
        let points = std::mem::take(&mut objects.points).into_iter();
        let outbox = Outbox {
            streams: points.map(|(stream, points)| (stream, Written::new(points))).collect(),
            pieces: Vec::new(),
            bytes: 0,
            next,
            journal,
            over: Vec::new(),
            detached,
            ids,
            named: Vec::new(),
        };
        let Objects { seen, closed, parts, .. } = objects;
        let inbox = Inbox::new(seen, closed, run.poller.options.memory_bytes);
        let desk = DetachedKeys::new(&run.poller.run, run.own, run.secret.expose());
        let core = Core {
            run,
            state,
            parts,
            ours,
            theirs,
            desk,
            inbox: Mutex::new(inbox),
            arrived: Condvar::new(),
            working: AtomicIsize::new(1),
            poller: Mutex::default(),
            outbox: Mutex::new(outbox),
            publishing: Mutex::default(),
            ended: OnceLock::new(),
            fault: Mutex::default(),
            sent_bytes: AtomicU64::default(),
            received_bytes: AtomicU64::default(),
        };
        Ok(Self { core: Arc::new(core) })
    }

    /// How many runs under this agreement were abandoned before this one since the last run that
    /// finished. Both sides have the same number.
    pub fn repeats(&self) -> u32 {
        self.core.run.repeats
    }

    /// The sealed object of this party with this number and any body.
    pub(crate) fn sealed(&self, number: u32, body: Vec<u8>) -> Vec<u8> {
        self.core.ours.seal(number, body)
    }

    /// The error that ended the run, which tells more than the error of a stream, if there was one.
    pub fn fault(&self) -> Option<ExchangeError> {
        *lock(&self.core.fault)
    }
}

/// Checks that the peer can read everything that this party has published: its hello, its coins,
/// `count` objects, and the detached objects with these `ids`.
fn check_own(run: &Run, count: u32, ids: &[[u8; 16]]) -> Result<(), ExchangeError> {
    let store = &*run.poller.options.store;
    // If the store cannot list its objects, it is the peer that notices a missing one.
    let Some(there) = if_supported(store.list(&run.poller.run))? else { return Ok(()) };
    let there: HashSet<&str> = there.iter().map(|object| &*object.name).collect();
    let own = run.own;
    let has = |what: &str| there.contains(&*format!("{own}-{what}"));
    let missing = (0..count).find(|number| !there.contains(&*format!("{own}-{number:06}")));
    match missing {
        _ if !has(HELLO) || !has(SHARES) => Err(ExchangeError::Gone { number: 0 }),
        Some(number) => Err(ExchangeError::Gone { number }),
        None if ids.iter().all(|id| has(&what_of(id))) => Ok(()),
        // A detached object is missing; one of the numbered objects names it.
        None => Err(ExchangeError::Gone { number: count }),
    }
}

fn put_numbered(run: &Run, number: u32, object: &[u8]) -> Result<(), ExchangeError> {
    let name = object::numbered(&run.poller.run, run.own, number);
    put(&*run.poller.options.store, &name, object)
        .map_err(|error| error.unwrap_or(ExchangeError::ForeignObject { number }))
}

impl Core {
    /// Ends the run with `fault`.
    fn fail(&self, fault: ExchangeError) -> TransportError {
        let error = match &fault {
            ExchangeError::NotYet { after, .. } => TransportError::Idle(*after),
            ExchangeError::Cancelled => TransportError::CancelledHere,
            ExchangeError::Stopped { reason } => TransportError::PeerStopped(*reason),
            ExchangeError::Store(kind) => TransportError::Io(*kind),
            ExchangeError::PeerMisbehaved(Misbehaviour::Flood) => TransportError::PeerFlood,
            ExchangeError::PeerMisbehaved(_) => TransportError::PeerBrokeFraming,
            _ => TransportError::Closed,
        };
        {
            let mut kept = lock(&self.fault);
            if self.ended.set(error).is_ok() {
                *kept = Some(fault);
            }
        }
        drop(lock(&self.inbox));
        self.arrived.notify_all();
        self.ended_error()
    }

    fn ended_error(&self) -> TransportError {
        self.ended.get().copied().unwrap_or(TransportError::Closed)
    }

    fn check_open(&self) -> Result<(), TransportError> {
        self.ended.get().map_or(Ok(()), |error| Err(*error))
    }

    fn write(&self, stream: StreamId, bytes: &[u8]) -> Result<(), TransportError> {
        self.check_open()?;
        let is_full = {
            let mut outbox = lock(&self.outbox);
            let written =
                outbox.streams.entry(stream).or_insert_with(|| Written::new(VecDeque::new()));
            let Some(old) = written.add(bytes) else {
                drop(outbox);
                return Err(self.fail(ExchangeError::OtherBytes));
            };
            let new = &bytes[old..];
            outbox.bytes += new.len();
            match outbox.pieces.last_mut() {
                _ if new.is_empty() => {}
                Some((last, piece)) if *last == stream => piece.extend_from_slice(new),
                _ => outbox.pieces.push((stream, new.to_vec())),
            }
            outbox.bytes >= OBJECT_BYTES
        };
        if is_full { self.publish() } else { Ok(()) }
    }

    /// Puts the bytes that are in no object yet into the store, as the next object. After a failure
    /// nothing more is published: the next object would replace the one that is kept for the next
    /// process.
    fn publish(&self) -> Result<(), TransportError> {
        // The upload counts as work: it may take long, and this party does not only wait for the
        // peer meanwhile.
        self.working.fetch_add(1, Ordering::Relaxed);
        let published = {
            let _in_order = lock(&self.publishing);
            self.check_open().and_then(|()| self.publish_next().map_err(|fault| self.fail(fault)))
        };
        self.working.fetch_sub(1, Ordering::Relaxed);
        published
    }

    fn publish_next(&self) -> Result<(), ExchangeError> {
        let (number, pieces, points, over, named) = {
            let mut outbox = lock(&self.outbox);
            let over = std::mem::take(&mut outbox.over);
            if outbox.bytes == 0 {
                return over.iter().try_for_each(|part| outbox.journal.close(part));
            }
            outbox.bytes = 0;
            let pieces = std::mem::take(&mut outbox.pieces);
            let mut points: Vec<(StreamId, Point)> = Vec::new();
            for (stream, _) in &pieces {
                if points.iter().any(|(known, _)| known == stream) {
                    continue;
                }
                let Some(written) = outbox.streams.get_mut(stream) else { continue };
                written.published = written.len;
                points.push((*stream, (written.len, written.transcript.clone().finish())));
            }
            let number = outbox.next;
            outbox.next += 1;
            (number, pieces, points, over, std::mem::take(&mut outbox.named))
        };
        let object = object::seal(&self.ours, number, &pieces);
        drop(pieces);
        // The object and its journal entry are on the disk before the peer can see the object, so
        // that this party sends the same bytes after a restart.
        self.state.keep_next(number, &object)?;
        {
            let mut outbox = lock(&self.outbox);
            outbox.journal.send(&digest(&object), &points, &named)?;
            over.iter().try_for_each(|part| outbox.journal.close(part))?;
        }
        put_numbered(&self.run, number, &object)?;
        self.sent_bytes.fetch_add(object.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Keeps the result of a finished part. The journal has the part at once or, if the next object
    /// has bytes of the part, together with that object.
    fn keep_part(
        &self,
        number: u64,
        streams: &[StreamId],
        result: &[u8],
    ) -> Result<(), TransportError> {
        if self.parts.contains_key(&number) {
            return Err(self.fail(ExchangeError::OtherBytes));
        }
        let digest = self.state.keep_part(number, result).map_err(|fault| self.fail(fault))?;
        let part = FinishedPart { number, streams: streams.to_vec(), digest };
        let _in_order = lock(&self.publishing);
        self.check_open()?;
        let is_published = {
            let mut outbox = lock(&self.outbox);
            outbox.over.push(part);
            outbox.bytes == 0
        };
        if is_published { self.publish_next().map_err(|fault| self.fail(fault)) } else { Ok(()) }
    }

    /// Publishes what was written once nothing more has been written for [`REST`].
    fn publish_at_rest(&self) -> Result<(), TransportError> {
        loop {
            let before = lock(&self.outbox).bytes;
            if before == 0 {
                return Ok(());
            }
            std::thread::sleep(REST);
            if lock(&self.outbox).bytes == before {
                return self.publish();
            }
        }
    }

    /// Reads the peer's next object from the store into the inbox. Waits for the object if `wait`
    /// is true; `None` if it is not there and there is no more reason to wait for it.
    fn fetch(&self, wait: bool) -> Result<Option<()>, ExchangeError> {
        let (number, seen) = {
            let inbox = lock(&self.inbox);
            (inbox.next, inbox.seen.get(inbox.next as usize).copied())
        };
        let Run { poller, .. } = &self.run;
        let name = object::numbered(&poller.run, poller.peer, number);
        let object = if wait {
            self.look(&name, Lengths::ANY, number)?
        } else {
            poller.options.store.get(&name, Lengths::ANY).map_err(ExchangeError::store)?
        };
        let Some(object) = object else { return Ok(None) };
        let len = object.len() as u64;
        let found = digest(&object);
        if seen.is_some_and(|seen| seen != found) {
            return Err(ExchangeError::WrongObject { number });
        }
        // An object that does not open is not the peer's, so it is not recorded.
        let body =
            self.theirs.open(number, object).map_err(|_| ExchangeError::WrongObject { number })?;
        if seen.is_none() {
            lock(&self.outbox).journal.see(&found)?;
        }
        self.received_bytes.fetch_add(len, Ordering::Relaxed);
        // Only the peer can have sealed this object, so a malformed body is the peer's.
        let opened = Opened::of(body).ok_or(Misbehaviour::BrokenFraming);
        let added = opened.and_then(|opened| lock(&self.inbox).add(&opened));
        added.map_err(ExchangeError::PeerMisbehaved)?;
        self.arrived.notify_all();
        Ok(Some(()))
    }

    /// Reads a detached object of the peer's from the store into the inbox. The object that names
    /// it has its digest, and is recorded on the disk.
    fn fetch_detached(&self, named: &Arc<Named>) -> Result<(), ExchangeError> {
        let Named { parcel, number, .. } = &**named;
        let name = self.desk.name_of(parcel);
        let lengths = Lengths::exactly(parcel.len);
        // An honest peer stores the object before it names it. While the object is transferred,
        // threads that wait for other objects do not count the time against the peer.
        self.working.fetch_add(1, Ordering::Relaxed);
        let there = self.run.poller.options.store.get(&name, lengths);
        self.working.fetch_sub(1, Ordering::Relaxed);
        let object = match there.map_err(ExchangeError::store)? {
            Some(object) => object,
            None => match self.look(&name, lengths, *number)? {
                Some(object) => object,
                None => return Ok(()),
            },
        };
        self.received_bytes.fetch_add(object.len() as u64, Ordering::Relaxed);
        let flight = self.desk.open(parcel, object, *number)?;
        let filled = lock(&self.inbox).fill(named, &flight);
        filled.map_err(ExchangeError::PeerMisbehaved)?;
        self.arrived.notify_all();
        Ok(())
    }

    /// Waits for the object `name` in the store: the peer's object with this number, or a detached
    /// object that this one names.
    fn look(
        &self,
        name: &str,
        lengths: Lengths,
        number: u32,
    ) -> Result<Option<Vec<u8>>, ExchangeError> {
        // End the wait if another thread has written bytes: the peer may be waiting for them.
        let is_over = || self.ended.get().is_some() || lock(&self.outbox).bytes > 0;
        let works = || self.working.load(Ordering::Relaxed) > 0;
        match self.run.poller.get(name, lengths, Waiting::Object(number), &is_over, &works) {
            Err(ExchangeError::Cancelled) if !self.is_cancelled() => Ok(None),
            object => object.map(Some),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.ended.get().is_some() || self.run.poller.options.cancel.is_cancelled()
    }

    fn read(&self, stream: StreamId, buf: &mut [u8]) -> Result<(), TransportError> {
        self.working.fetch_sub(1, Ordering::Relaxed);
        let read = self.read_when_there(stream, buf);
        self.working.fetch_add(1, Ordering::Relaxed);
        read
    }

    fn read_when_there(&self, stream: StreamId, buf: &mut [u8]) -> Result<(), TransportError> {
        let mut filled = 0;
        loop {
            filled += lock(&self.inbox).read(stream, &mut buf[filled..]);
            if filled == buf.len() {
                return Ok(());
            }
            self.check_open()?;
            self.publish_at_rest()?;
            if !self.fetch_for(stream).map_err(|fault| self.fail(fault))? {
                let inbox = lock(&self.inbox);
                drop(self.arrived.wait_timeout(inbox, TICK));
            }
        }
    }

    /// Fetches the object with the next bytes of `stream`: a detached one, at once, even if another
    /// thread is waiting for the next numbered object; otherwise that numbered object. Returns
    /// `false` if another thread is already fetching it.
    fn fetch_for(&self, stream: StreamId) -> Result<bool, ExchangeError> {
        let next = || lock(&self.inbox).next_detached(stream);
        if let Some(named) = next() {
            let Ok(_guard) = named.fetching.try_lock() else { return Ok(false) };
            // Another thread may have fetched it in the meantime.
            if next().is_some_and(|next| Arc::ptr_eq(&next, &named)) {
                self.fetch_detached(&named)?;
            }
            return Ok(true);
        }
        let Ok(_guard) = self.poller.try_lock() else { return Ok(false) };
        let has_come = {
            let inbox = lock(&self.inbox);
            inbox.has(stream) || inbox.next_detached(stream).is_some()
        };
        if !has_come {
            self.fetch(true)?;
        }
        Ok(true)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection for Conversation {
    fn export(&self, label: &str, context: &[u8]) -> [u8; 32] {
        derive(EXPORT_LABEL, &[self.core.run.secret.expose(), label.as_bytes(), context])
    }

    fn seed(&self) -> Option<[u8; 32]> {
        Some(*self.core.run.seed.expose())
    }

    fn ended(&self) -> Option<TransportError> {
        self.core.ended.get().copied()
    }

    fn expect(&self, bytes: u64) {
        lock(&self.core.inbox).expect(bytes);
    }

    /// The peer keeps waiting, because the run can resume later.
    fn stop(&self, reason: StopReason) {
        self.abort(reason);
        self.core.run.poller.options.store.stop(reason);
    }

    fn close(&self) -> Result<(), TransportError> {
        self.core.publish()
    }

    fn detached(&self) -> Option<&dyn Detached> {
        Some(self)
    }

    fn kept_part(&self, part: u64) -> Result<Option<Vec<u8>>, TransportError> {
        let Some(digest) = self.core.parts.get(&part) else { return Ok(None) };
        let result = self.core.state.part(part, digest);
        result.map(Some).map_err(|fault| self.core.fail(fault))
    }

    fn keep_part(
        &self,
        part: u64,
        streams: &[StreamId],
        result: &[u8],
    ) -> Result<(), TransportError> {
        self.core.keep_part(part, streams, result)
    }

    fn wire_bytes(&self) -> (u64, u64) {
        let core = &self.core;
        (core.sent_bytes.load(Ordering::Relaxed), core.received_bytes.load(Ordering::Relaxed))
    }
}
