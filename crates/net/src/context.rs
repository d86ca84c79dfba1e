use crate::handover::{Giver, Taker, handover};
use crate::meter::Meter;
use crate::{Channel, Limits, MessageOrder, Pool, StreamId, StreamPair, Streams};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use vesica_core::{Error, Result, Role, StopReason, TransportError};

/// Receives the progress of a long step of a protocol. Called from any thread, some tens of times a
/// second.
pub trait Progress: Send + Sync {
    /// `done` of `total` items of the step named `label` are finished.
    fn step(&self, label: &str, done: u64, total: u64);
}

struct Peer {
    streams: Arc<dyn Streams>,
    id: StreamId,
    channel: Channel,
}

/// The streams opened in a context and its forks.
#[derive(Clone, Default)]
pub struct OpenedStreams(Arc<Mutex<Vec<StreamId>>>);

impl OpenedStreams {
    fn add(&self, id: StreamId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// The streams so far, in the order in which they were opened.
    pub fn ids(&self) -> Vec<StreamId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A transport that records which of its streams are opened.
struct Watched {
    inner: Arc<dyn Streams>,
    opened: OpenedStreams,
}

impl Streams for Watched {
    fn open(&self, id: StreamId) -> std::result::Result<StreamPair, TransportError> {
        self.opened.add(id);
        self.inner.open(id)
    }

    fn abort(&self, reason: StopReason) {
        self.inner.abort(reason);
    }

    fn parts(&self, more: isize) {
        self.inner.parts(more);
    }
}

/// The environment of a protocol: its peers, randomness, CPU threads and labels.
///
/// The only argument of a protocol besides its private input, at every level.
pub struct Context {
    peers: BTreeMap<Role, Peer>,
    rng: ChaCha20Rng,
    pool: Pool,
    meter: Meter,
    limits: Limits,
    label: String,
    progress: Option<Arc<dyn Progress>>,
    forks: u64,
    joined_direction_changes: u64,
    /// The recorded order of messages in parallel parts that have ended; `None` if it is not
    /// recorded.
    joined_order: Option<Vec<[MessageOrder; 2]>>,
}

impl Context {
    /// Creates a context and opens the root stream to each peer.
    ///
    /// `seed` must be 32 fresh random bytes; only tests that compare with recorded vectors fix it.
    ///
    /// # Errors
    /// [`Error::Transport`] if a connection is already closed.
    pub fn new(
        peers: Vec<(Role, Arc<dyn Streams>)>,
        seed: [u8; 32],
        pool: Pool,
        meter: Meter,
    ) -> Result<Self> {
        Self::at(StreamId::ROOT, peers, seed, pool, meter)
    }

    /// A context for one fork, which runs without its siblings: its first stream to each peer is
    /// `root`, that of the fork.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn at(
        root: StreamId,
        peers: Vec<(Role, Arc<dyn Streams>)>,
        seed: [u8; 32],
        pool: Pool,
        meter: Meter,
    ) -> Result<Self> {
        let limits = Limits::default();
        let span = meter.span("");
        let mut open = BTreeMap::new();
        for (role, streams) in peers {
            let channel = Channel::new(streams.open(root)?, limits, Arc::clone(&span))?;
            open.insert(role, Peer { streams, id: root, channel });
        }
        Ok(Self {
            peers: open,
            rng: ChaCha20Rng::from_seed(seed),
            pool,
            meter,
            limits,
            label: String::new(),
            progress: None,
            forks: 0,
            joined_direction_changes: 0,
            joined_order: None,
        })
    }

    /// Reports progress to `progress` from now on.
    pub fn set_progress(&mut self, progress: Arc<dyn Progress>) {
        self.progress = Some(progress);
    }

    /// Reports no progress from now on. For parts of a protocol that run in parallel, whose caller
    /// counts the finished ones.
    pub fn without_progress(&mut self) {
        self.progress = None;
    }

    /// The channel to the other party of a two-party protocol, the only peer that is not a helper.
    ///
    /// # Errors
    /// [`Error::Bug`] unless there is exactly one peer besides helpers.
    pub fn peer(&mut self) -> Result<&mut Channel> {
        let mut others = self.peers.iter_mut().filter(|(role, _)| **role != Role::Helper);
        match (others.next(), others.next()) {
            (Some((_, peer)), None) => Ok(&mut peer.channel),
            _ => Err(Error::Bug("the protocol asked for its only peer and has none or several")),
        }
    }

    /// The channel to the party in `role`.
    ///
    /// # Errors
    /// [`Error::Bug`] if no party has that role.
    pub fn with(&mut self, role: Role) -> Result<&mut Channel> {
        self.peers
            .get_mut(&role)
            .map(|peer| &mut peer.channel)
            .ok_or(Error::Bug("the protocol asked for a role that no party has"))
    }

    /// This party's secret randomness.
    pub fn rng(&mut self) -> &mut ChaCha20Rng {
        &mut self.rng
    }

    /// The CPU threads of this party.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Applies `f` to each chunk of at most `chunk_len` items on all CPU threads; the results
    /// follow the order of the items.
    pub fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        chunk_len: NonZeroUsize,
        f: impl Fn(&[T]) -> R + Sync + Send,
    ) -> Vec<R> {
        self.pool.map_chunks(items, chunk_len, f)
    }

    /// Reports that `done` of `total` items of the current label are finished.
    pub fn progress(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            progress.step(&self.label, done, total);
        }
    }

    /// Runs `step` under `label`, below the current label; its bytes, flights and time are counted
    /// under `label`.
    pub fn child<R>(&mut self, label: &str, step: impl FnOnce(&mut Context) -> R) -> R {
        let outer = std::mem::take(&mut self.label);
        self.label = if outer.is_empty() { label.to_owned() } else { format!("{outer}/{label}") };
        let span = self.meter.span(&self.label);
        let mut outer_spans = Vec::new();
        for peer in self.peers.values_mut() {
            outer_spans.push(peer.channel.set_span(Arc::clone(&span)));
        }
        let start = Instant::now();
        let result = step(self);
        span.count_time(start.elapsed());
        for (peer, outer_span) in self.peers.values_mut().zip(outer_spans) {
            peer.channel.set_span(outer_span);
        }
        self.label = outer;
        result
    }

    /// `count` contexts with their own streams, for parallel work.
    ///
    /// The n-th fork here is connected to the n-th fork at the peer, so both must fork in the same
    /// order. Takes no round trip.
    ///
    /// # Errors
    /// [`Error::Transport`] if the connection is closed.
    pub fn fork(&mut self, count: usize) -> Result<Vec<Context>> {
        (0..count).map(|_| self.fork_one()).collect()
    }

    /// A [fork](Self::fork) with its own meter, and the streams that it and its forks open.
    ///
    /// # Errors
    /// [`Error::Transport`] if the connection is closed.
    pub fn fork_detached(&mut self) -> Result<(Context, OpenedStreams)> {
        let mut fork = self.fork_one()?;
        let opened = OpenedStreams::default();
        fork.meter = Meter::new();
        let span = fork.meter.span(&fork.label);
        for peer in fork.peers.values_mut() {
            opened.add(peer.id);
            peer.channel.set_span(Arc::clone(&span));
            let inner = Arc::clone(&peer.streams);
            peer.streams = Arc::new(Watched { inner, opened: opened.clone() });
        }
        Ok((fork, opened))
    }

    /// Another fork of this context's parent, for a program that runs without the parent
    /// ([`crate::Replay`]). It has the same peers and threads, a meter of its own, and `root` as
    /// its first stream to each peer.
    ///
    /// `seed` must be 32 fresh random bytes.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn sibling(&self, root: StreamId, seed: [u8; 32]) -> Result<Context> {
        let peers = self.peers.iter().map(|(role, peer)| (*role, Arc::clone(&peer.streams)));
        Self::at(root, peers.collect(), seed, self.pool.clone(), Meter::new())
    }

    fn fork_one(&mut self) -> Result<Context> {
        let span = self.meter.span(&self.label);
        let mut peers = BTreeMap::new();
        for (role, peer) in &self.peers {
            let id = peer.id.child(self.forks);
            let stream = peer.streams.open(id)?;
            let mut channel = Channel::new(stream, self.limits, Arc::clone(&span))?;
            if self.joined_order.is_some() {
                channel.note_order();
            }
            peers.insert(*role, Peer { streams: Arc::clone(&peer.streams), id, channel });
        }
        self.forks += 1;
        Ok(Context {
            peers,
            rng: ChaCha20Rng::from_rng(&mut self.rng),
            pool: self.pool.clone(),
            meter: self.meter.clone(),
            limits: self.limits,
            label: self.label.clone(),
            progress: self.progress.clone(),
            forks: 0,
            joined_direction_changes: 0,
            joined_order: self.joined_order.is_some().then(Vec::new),
        })
    }

    /// Runs two parts of a protocol in parallel, each in a fork of this context under its label.
    ///
    /// The first part here communicates with the first part at the peer. If one part fails, the
    /// connection is aborted so that the other ends too; the first error is returned.
    ///
    /// # Errors
    /// The error of the part that failed first.
    pub fn join<A: Send, B: Send>(
        &mut self,
        (label_a, part_a): (&str, impl FnOnce(&mut Context) -> Result<A> + Send),
        (label_b, part_b): (&str, impl FnOnce(&mut Context) -> Result<B> + Send),
    ) -> Result<(A, B)> {
        let mut context_a = self.fork_one()?;
        let mut context_b = self.fork_one()?;
        let first_error = Mutex::new(None);
        // The thread that forks the parts only waits for them.
        self.parts(1);
        let joined = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _guard = AbortOnPanic(context_b.streams());
                let result = context_b.child(label_b, part_b);
                context_b.settle(result, &first_error)
            });
            let _guard = AbortOnPanic(context_a.streams());
            let result = context_a.child(label_a, part_a);
            let a = context_a.settle(result, &first_error);
            thread.join().map(|b| (a, b))
        });
        let (a, b) = match joined {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        self.parts(1);
        self.joined_direction_changes +=
            context_a.direction_changes().max(context_b.direction_changes());
        if let Some(joined) = &mut self.joined_order {
            joined.push([context_a.message_order(), context_b.message_order()]);
        }
        match (a, b, first_error.into_inner().unwrap_or_else(PoisonError::into_inner)) {
            (Some(a), Some(b), None) => Ok((a, b)),
            (_, _, Some(error)) => Err(error),
            _ => Err(Error::Bug("a parallel part ended without a result")),
        }
    }

    fn parts(&self, more: isize) {
        self.peers.values().for_each(|peer| peer.streams.parts(more));
    }

    /// A queue of up to `room` values between two parts that [`join`](Self::join) runs: one gives,
    /// the other takes. A part may wait for the other one only through this queue, so that the
    /// transport knows that it waits.
    pub fn handover<T>(&self, room: usize) -> (Giver<T>, Taker<T>) {
        handover(room, self.streams())
    }

    fn streams(&self) -> Vec<Arc<dyn Streams>> {
        self.peers.values().map(|peer| Arc::clone(&peer.streams)).collect()
    }

    /// Ends a parallel part: writes everything that it sent to the transport or, after an error,
    /// aborts the connections.
    fn settle<R>(&mut self, result: Result<R>, first_error: &Mutex<Option<Error>>) -> Option<R> {
        let settled = result.and_then(|value| self.finish().map(|()| value));
        let settled = match settled {
            Ok(value) => Some(value),
            Err(error) => {
                let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                if first.is_none() {
                    *first = Some(error.clone());
                    drop(first);
                    for peer in self.peers.values() {
                        peer.streams.abort(error.stop_reason());
                    }
                }
                None
            }
        };
        // Count this part as ended only after the abort: otherwise waiting parts could end for lack
        // of bytes, which would hide the error.
        self.parts(-1);
        settled
    }

    /// Flushes every channel and waits until everything is written to the transport.
    ///
    /// # Errors
    /// [`Error::Transport`].
    pub fn finish(&mut self) -> Result<()> {
        self.peers.values_mut().try_for_each(|peer| peer.channel.finish())
    }

    /// Changes between sending and receiving so far, including the first message. Parts that
    /// [`join`](Self::join) ran in parallel count as the longest of them. This equals the number of
    /// flights if no block is answered before the last is sent.
    pub fn direction_changes(&self) -> u64 {
        let own = self.peers.values().map(|peer| peer.channel.direction_changes()).max();
        own.unwrap_or(0) + self.joined_direction_changes
    }

    /// Records from now on the order of messages, here and in the parts that [`join`](Self::join)
    /// runs.
    pub fn note_order(&mut self) {
        self.joined_order.get_or_insert_default();
        self.peers.values_mut().for_each(|peer| peer.channel.note_order());
    }

    /// The order of messages recorded so far: empty before [`note_order`](Self::note_order), and
    /// with several peers.
    pub fn message_order(&self) -> MessageOrder {
        let mut peers = self.peers.values();
        match (peers.next(), peers.next()) {
            (Some(peer), None) => MessageOrder {
                own: peer.channel.order().to_vec(),
                joined: self.joined_order.clone().unwrap_or_default(),
            },
            _ => MessageOrder::default(),
        }
    }

    /// Bytes, flights and time so far.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
}

/// Aborts the connections if the part of the protocol that holds this guard panics, so that the
/// sibling part, which may be waiting for the peer, ends too and the panic can propagate.
struct AbortOnPanic(Vec<Arc<dyn Streams>>);

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.iter().for_each(|streams| streams.abort(StopReason::Internal));
        }
    }
}
