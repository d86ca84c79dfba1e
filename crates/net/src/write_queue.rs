//! The writing side of a channel: a queue and its thread.

use crate::StreamWriter;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vesica_core::{ParameterError, Result, TransportError};

/// Queued bytes above which [`WriteQueue::push`] waits.
const HIGH_WATER_BYTES: usize = 4 << 20;

/// How long a full queue may stall before it may grow: long enough that a slow link (256 KiB at 2
/// Mbit/s) does not count as stalled.
const STALL: Duration = Duration::from_secs(1);

#[derive(Default)]
struct State {
    blocks: VecDeque<Vec<u8>>,
    queued_bytes: usize,
    high_water_bytes: usize,
    written_bytes: u64,
    writing: bool,
    closed: bool,
    error: Option<TransportError>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    not_empty: Condvar,
    progress: Condvar,
    /// The stream's own count of what is queued, if it has one.
    unwritten: Option<Arc<AtomicUsize>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A queue of blocks that a separate thread writes to a stream.
///
/// While the peer accepts data, a push waits at a high-water mark, so memory stays small. When
/// nothing moves, both parties may be writing, each waiting for the other to read: then the mark
/// doubles and the push proceeds, so that two writing parties never deadlock below the hard limit.
/// At the hard limit the push waits for the transport, which has its own time limits.
pub(crate) struct WriteQueue {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    limit_bytes: usize,
}

impl WriteQueue {
    pub(crate) fn start(writer: Box<dyn StreamWriter>, limit_bytes: usize) -> Result<Self> {
        let shared = Arc::new(Shared { unwritten: writer.unwritten(), ..Shared::default() });
        shared.lock().high_water_bytes = HIGH_WATER_BYTES;
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("vesica-write".into())
            .spawn(move || write_loop(&for_thread, writer))
            .map_err(|_| ParameterError::NoThreads)?;
        Ok(Self { shared, thread: Some(thread), limit_bytes })
    }

    /// Queues `block`. Waits while the queue is full and its thread makes progress.
    pub(crate) fn push(&self, block: Vec<u8>) -> Result<()> {
        let mut state = self.shared.lock();
        loop {
            if let Some(error) = state.error {
                return Err(error.into());
            }
            let fits = state.queued_bytes + block.len() <= self.limit_bytes;
            if state.queued_bytes == 0 || (fits && state.queued_bytes < state.high_water_bytes) {
                break;
            }
            let before = state.written_bytes;
            let (next, timeout) = self
                .shared
                .progress
                .wait_timeout(state, STALL)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() && state.written_bytes == before {
                state.high_water_bytes = self.limit_bytes.min(2 * state.high_water_bytes);
            }
        }
        state.queued_bytes += block.len();
        if let Some(unwritten) = &self.shared.unwritten {
            unwritten.fetch_add(block.len(), Ordering::SeqCst);
        }
        state.blocks.push_back(block);
        drop(state);
        self.shared.not_empty.notify_one();
        Ok(())
    }

    /// Waits until all queued blocks are written and flushed.
    pub(crate) fn drain(&self) -> Result<()> {
        let mut state = self.shared.lock();
        while state.error.is_none() && (state.queued_bytes > 0 || state.writing) {
            state = self.shared.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.error.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.not_empty.notify_one();
        // The thread ends when the queue is written or the stream fails; streams have time limits,
        // so this cannot hang.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_loop(shared: &Shared, mut writer: Box<dyn StreamWriter>) {
    loop {
        let block = {
            let mut state = shared.lock();
            loop {
                if let Some(block) = state.blocks.pop_front() {
                    state.writing = true;
                    break block;
                }
                if state.closed {
                    return;
                }
                state = shared.not_empty.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let mut result = writer.write_all(&block);
        let last = shared.lock().blocks.is_empty();
        if result.is_ok() && last {
            result = writer.flush();
        }
        let mut state = shared.lock();
        state.writing = false;
        let queued_bytes = state.queued_bytes;
        state.queued_bytes -= block.len();
        state.written_bytes += block.len() as u64;
        if let Err(error) = result {
            state.error = Some(error);
            state.blocks.clear();
            state.queued_bytes = 0;
        }
        if let Some(unwritten) = &shared.unwritten {
            unwritten.fetch_sub(queued_bytes - state.queued_bytes, Ordering::SeqCst);
        }
        let failed = state.error.is_some();
        drop(state);
        shared.progress.notify_all();
        if failed {
            return;
        }
    }
}
