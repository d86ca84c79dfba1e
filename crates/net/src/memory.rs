//! Two parties in one process: streams are queues in memory, plain or shaped.

use crate::shape::{Pacer, Shape};
use crate::{StreamId, StreamPair, StreamReader, StreamWriter, Streams};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};

/// Bytes one direction of one stream holds before its writer waits.
const PIPE_BYTES: usize = 4 << 20;

/// Idle limit of [`pair`]: a party of a test that waits longer for its peer hangs.
pub const DEFAULT_IDLE: Duration = Duration::from_secs(60);

/// How long both ends of [`pair_in_turns`] wait for each other before they fail.
pub const BOTH_WAIT: Duration = Duration::from_millis(50);

/// One end of an in-memory connection.
pub struct MemoryStreams {
    end: usize,
    wires: Arc<Wires>,
}

/// Both directions of one stream, indexed by the end that writes.
type Pipes = [Arc<Pipe>; 2];

struct Wires {
    pipes: Mutex<HashMap<StreamId, Pipes>>,
    pacers: [Mutex<Pacer>; 2],
    stopped: Mutex<Option<(usize, StopReason)>>,
    idle: Duration,
    turns: Option<Turns>,
}

#[derive(Default)]
struct Turns {
    /// How many readers of each end wait for unwritten bytes.
    waiting: [AtomicUsize; 2],
    /// Bytes written and read so far.
    written: AtomicUsize,
    read: AtomicUsize,
    /// Bytes that a party has sent and its queue has not written: under load the queue's thread
    /// does not run yet.
    unwritten: Arc<AtomicUsize>,
}

struct Pipe {
    writer_end: usize,
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Default)]
struct PipeState {
    blocks: VecDeque<(Instant, Vec<u8>)>,
    offset: usize,
    held_bytes: usize,
    writer_gone: bool,
    reader_gone: bool,
}

/// The two ends of a plain in-memory connection.
pub fn pair() -> (Arc<MemoryStreams>, Arc<MemoryStreams>) {
    pair_with(Shape::LOOPBACK, DEFAULT_IDLE)
}

/// The two ends of an in-memory connection that behaves like a network of `shape`; each waits at
/// most `idle` for the other.
pub fn pair_with(shape: Shape, idle: Duration) -> (Arc<MemoryStreams>, Arc<MemoryStreams>) {
    ends(shape, idle, None)
}

/// The two ends of a plain in-memory connection between single-threaded parties. Such parties are
/// in a deadlock once both wait: then both fail after [`BOTH_WAIT`], however long `idle` is.
pub fn pair_in_turns(idle: Duration) -> (Arc<MemoryStreams>, Arc<MemoryStreams>) {
    ends(Shape::LOOPBACK, idle, Some(Turns::default()))
}

fn ends(
    shape: Shape,
    idle: Duration,
    turns: Option<Turns>,
) -> (Arc<MemoryStreams>, Arc<MemoryStreams>) {
    let wires = Arc::new(Wires {
        pipes: Mutex::default(),
        pacers: [Mutex::new(Pacer::new(shape)), Mutex::new(Pacer::new(shape))],
        stopped: Mutex::new(None),
        idle,
        turns,
    });
    let end = |end| Arc::new(MemoryStreams { end, wires: Arc::clone(&wires) });
    (end(0), end(1))
}

impl Streams for MemoryStreams {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        if let Some(error) = self.wires.stop_error(self.end) {
            return Err(error);
        }
        let mut pipes = lock(&self.wires.pipes);
        let both = pipes.entry(id).or_insert_with(|| {
            [0, 1].map(|writer_end| {
                Arc::new(Pipe { writer_end, state: Mutex::default(), changed: Condvar::new() })
            })
        });
        let outgoing = Arc::clone(&both[self.end]);
        let incoming = Arc::clone(&both[1 - self.end]);
        let wires = || Arc::clone(&self.wires);
        Ok((
            Box::new(MemoryReader { pipe: incoming, wires: wires() }),
            Box::new(MemoryWriter { pipe: outgoing, wires: wires() }),
        ))
    }

    fn abort(&self, reason: StopReason) {
        lock(&self.wires.stopped).get_or_insert((self.end, reason));
        for pipe in lock(&self.wires.pipes).values().flatten() {
            // The lock ensures that a waiting thread sees the stop before it sleeps again.
            drop(lock(&pipe.state));
            pipe.changed.notify_all();
        }
    }
}

impl Wires {
    fn stop_error(&self, end: usize) -> Option<TransportError> {
        lock(&self.stopped).map(|(by, reason)| {
            if by == end {
                TransportError::CancelledHere
            } else {
                TransportError::PeerStopped(reason)
            }
        })
    }
}

struct MemoryReader {
    pipe: Arc<Pipe>,
    wires: Arc<Wires>,
}

impl StreamReader for MemoryReader {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        let end = 1 - self.pipe.writer_end;
        let mut filled = 0;
        let mut state = lock(&self.pipe.state);
        let mut waiting_since = Instant::now();
        while filled < buf.len() {
            let now = Instant::now();
            let ready_at = state.blocks.front().map(|(at, _)| *at);
            let wait = match ready_at {
                Some(at) if at <= now => {
                    let taken = state.take(&mut buf[filled..]);
                    if let Some(turns) = &self.wires.turns {
                        turns.read.fetch_add(taken, Ordering::SeqCst);
                    }
                    filled += taken;
                    self.pipe.changed.notify_all();
                    waiting_since = now;
                    continue;
                }
                Some(at) => at - now,
                None if state.writer_gone => {
                    return Err(self.wires.stop_error(end).unwrap_or(TransportError::Closed));
                }
                None => self.wires.idle.saturating_sub(waiting_since.elapsed()),
            };
            if let Some(error) = self.wires.stop_error(end) {
                return Err(error);
            }
            if wait.is_zero() {
                return Err(TransportError::Idle(self.wires.idle));
            }
            state = match &self.wires.turns {
                Some(turns) if ready_at.is_none() => {
                    let (state, both_wait) = turns.wait(end, &self.pipe.changed, state, wait);
                    if both_wait && state.is_silent() {
                        return Err(TransportError::Idle(BOTH_WAIT));
                    }
                    state
                }
                _ => wait_on(&self.pipe.changed, state, wait),
            };
        }
        Ok(())
    }
}

impl Turns {
    /// Waits for at most `limit`. Also returns whether both ends waited the whole time, on a
    /// machine that wakes waiting threads in time.
    fn wait<'a>(
        &self,
        end: usize,
        changed: &Condvar,
        state: MutexGuard<'a, PipeState>,
        limit: Duration,
    ) -> (MutexGuard<'a, PipeState>, bool) {
        self.waiting[end].fetch_add(1, Ordering::SeqCst);
        let written = self.written.load(Ordering::SeqCst);
        let since = Instant::now();
        let state = wait_on(changed, state, limit.min(BOTH_WAIT));
        let is_other_waiting = self.waiting[1 - end].load(Ordering::SeqCst) > 0;
        // A waiting end has unread bytes only until it is woken.
        let is_quiet = self.written.load(Ordering::SeqCst) == written
            && self.read.load(Ordering::SeqCst) == written
            && self.unwritten.load(Ordering::SeqCst) == 0;
        self.waiting[end].fetch_sub(1, Ordering::SeqCst);
        // Under load a reader that has its bytes may not have run yet. A machine in that state
        // wakes this thread late, too.
        let is_on_time = (BOTH_WAIT..BOTH_WAIT * 5 / 4).contains(&since.elapsed());
        (state, is_other_waiting && is_quiet && is_on_time)
    }
}

impl Drop for MemoryReader {
    fn drop(&mut self) {
        lock(&self.pipe.state).reader_gone = true;
        self.pipe.changed.notify_all();
    }
}

struct MemoryWriter {
    pipe: Arc<Pipe>,
    wires: Arc<Wires>,
}

impl StreamWriter for MemoryWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let end = self.pipe.writer_end;
        let since = Instant::now();
        let mut state = lock(&self.pipe.state);
        loop {
            if let Some(error) = self.wires.stop_error(end) {
                return Err(error);
            }
            if state.reader_gone {
                return Err(TransportError::Closed);
            }
            if state.held_bytes < PIPE_BYTES {
                break;
            }
            let wait = self.wires.idle.saturating_sub(since.elapsed());
            if wait.is_zero() {
                return Err(TransportError::Idle(self.wires.idle));
            }
            state = wait_on(&self.pipe.changed, state, wait);
        }
        // In pieces, so that a reader on a slow link sees the first byte before the last is due.
        for piece in bytes.chunks(16 << 10) {
            let at = lock(&self.wires.pacers[end]).release_at(Instant::now(), piece.len());
            state.blocks.push_back((at, piece.to_vec()));
        }
        state.held_bytes += bytes.len();
        if let Some(turns) = &self.wires.turns {
            turns.written.fetch_add(bytes.len(), Ordering::SeqCst);
        }
        drop(state);
        self.pipe.changed.notify_all();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }

    fn unwritten(&self) -> Option<Arc<AtomicUsize>> {
        self.wires.turns.as_ref().map(|turns| Arc::clone(&turns.unwritten))
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        lock(&self.pipe.state).writer_gone = true;
        self.pipe.changed.notify_all();
    }
}

impl PipeState {
    /// Whether the pipe has no data now, but its writer may still write some.
    fn is_silent(&self) -> bool {
        self.blocks.is_empty() && !self.writer_gone
    }

    fn take(&mut self, buf: &mut [u8]) -> usize {
        let Some((_, block)) = self.blocks.front() else { return 0 };
        let len = buf.len().min(block.len() - self.offset);
        buf[..len].copy_from_slice(&block[self.offset..self.offset + len]);
        self.offset += len;
        self.held_bytes -= len;
        if self.offset == block.len() {
            self.blocks.pop_front();
            self.offset = 0;
        }
        len
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_on<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: Duration,
) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, timeout).unwrap_or_else(PoisonError::into_inner).0
}
