//! One way to the board, over one connection after the other.

use super::is_of_use;
use super::line::{Line, Lines, RemoteEvent};
use crate::wire::{Request, max_len};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{Error, Misbehaviour, Refusal, Result, StopReason, TransportError};
use vesica_protocols::kmrs14::{Board, Kind, Slot};

/// First and longest pause before a connection is made again.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Bytes after which the helper is asked whether it has kept them.
const SYNC_EVERY_BYTES: usize = 4 << 20;

/// Bytes kept until the helper has confirmed them; beyond it a put waits.
const UNCONFIRMED_BYTES: usize = 16 << 20;

/// A board of the run, with what the helper has not confirmed.
pub(super) struct Lane {
    lines: Arc<Lines>,
    line: Option<Line>,
    /// What was put since the last sync that was sent, and before it for each sync without a reply, oldest first.
    unsynced: Batch,
    syncing: VecDeque<Batch>,
    outage: Option<Outage>,
}

#[derive(Default)]
struct Batch {
    puts: Vec<(Slot, Vec<u8>)>,
    bytes: usize,
}

/// Since when the helper cannot be reached.
struct Outage {
    since: Instant,
    pause: Duration,
}

impl Lane {
    pub(super) fn new(lines: Arc<Lines>) -> Self {
        let (unsynced, syncing) = (Batch::default(), VecDeque::new());
        Self { lines, line: None, unsynced, syncing, outage: None }
    }

    /// Makes sure that there is a connection.
    pub(super) fn connect(&mut self) -> Result<()> {
        self.persist(|_, _| Ok(()))
    }

    /// Says something that has an empty reply.
    pub(super) fn tell(&mut self, request: Request) -> Result<()> {
        self.confirm()?;
        self.ask(request, 0).map(drop)
    }

    /// Asks, and waits for the reply.
    fn ask(&mut self, request: Request, max_len: usize) -> Result<Vec<u8>> {
        let reply = self.persist(|line, lines| {
            line.ask(request, &[])?;
            line.hear(lines, max_len)
        })?;
        self.heard();
        Ok(reply)
    }

    /// The helper has said something else than that it cannot go on.
    fn heard(&mut self) {
        if self.outage.take().is_some() {
            self.lines.tell(RemoteEvent::Resumed);
        }
    }

    /// Takes `step` on a connection, and once more on another when that is lost, until the helper could not be
    /// reached for too long.
    fn persist<R>(&mut self, mut step: impl FnMut(&mut Line, &Lines) -> Result<R>) -> Result<R> {
        loop {
            let lines = Arc::clone(&self.lines);
            let result = self.ready().and_then(|line| step(line, &lines));
            match result {
                Ok(result) => return Ok(result),
                Err(error) => self.pause(error)?,
            }
        }
    }

    /// The connection; a new one after what was not confirmed was put on it again.
    fn ready(&mut self) -> Result<&mut Line> {
        if self.line.is_none() {
            let mut line = self.lines.take()?;
            // All of it, and one sync for all: it is in order again before anything else is said.
            let batches = self.syncing.drain(..).chain([std::mem::take(&mut self.unsynced)]);
            let mut all = Batch::default();
            for mut batch in batches {
                all.puts.append(&mut batch.puts);
                all.bytes += batch.bytes;
            }
            self.unsynced = all;
            let sent = self.unsynced.puts.iter().try_for_each(|(slot, body)| {
                line.ask(Request::Put { slot: *slot, len: body.len() }, body)
            });
            if let Err(error) = sent {
                self.lines.close(line);
                return Err(error);
            }
            self.line = Some(line);
        }
        self.line.as_mut().ok_or(Error::Bug("a line is there"))
    }

    /// Gives the connection up and waits before the next try; an error when there is none.
    fn pause(&mut self, error: Error) -> Result<()> {
        if let Some(line) = self.line.take() {
            if line.goes_on() {
                self.outage = None;
            }
            self.lines.close(line);
        }
        let options = &self.lines.options;
        let error = judged(error, self.lines.link_error().is_some())?;
        let since = self.outage.as_ref().map_or_else(Instant::now, |outage| outage.since);
        let pause = self.outage.as_ref().map_or(FIRST_PAUSE, |outage| outage.pause);
        if since.elapsed() + pause > options.link.wait {
            return Err(error);
        }
        self.outage = Some(Outage { since, pause: (pause * 2).min(LONGEST_PAUSE) });
        self.lines.tell(RemoteEvent::Reconnecting { error, pause });
        if options.cancel.wait(pause) {
            return Err(TransportError::CancelledHere.into());
        }
        Ok(())
    }

    fn unconfirmed_bytes(&self) -> usize {
        self.syncing.iter().map(|batch| batch.bytes).sum::<usize>() + self.unsynced.bytes
    }

    /// Asks whether all so far is kept, without waiting for the reply.
    fn send_sync(&mut self) -> Result<()> {
        self.persist(|line, _| line.ask(Request::Sync, &[]))?;
        self.syncing.push_back(std::mem::take(&mut self.unsynced));
        Ok(())
    }

    /// Waits for the reply to the oldest sync. When the connection is lost over it, everything stands in
    /// `unsynced` again.
    fn hear_sync(&mut self) -> Result<()> {
        let lines = Arc::clone(&self.lines);
        let Some(line) = self.line.as_mut() else { return self.connect() };
        match line.hear(&lines, 0) {
            Ok(_) => {
                self.syncing.pop_front();
                self.heard();
                Ok(())
            }
            Err(error) => {
                self.pause(error)?;
                self.connect()
            }
        }
    }

    /// Waits until the helper has confirmed all.
    fn confirm(&mut self) -> Result<()> {
        while !(self.syncing.is_empty() && self.unsynced.puts.is_empty()) {
            if self.syncing.is_empty() || !self.unsynced.puts.is_empty() {
                self.send_sync()?;
            }
            while !self.syncing.is_empty() {
                self.hear_sync()?;
            }
        }
        Ok(())
    }
}

impl Board for Lane {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        if body.len() > max_len(slot.kind) {
            return Err(Error::Bug("a slot's bytes are more than its kind has"));
        }
        // First on the line: should that be lost here, it goes once more with all the rest.
        self.persist(|line, _| line.ask(Request::Put { slot, len: body.len() }, body))?;
        self.unsynced.puts.push((slot, body.to_vec()));
        self.unsynced.bytes += body.len();
        self.lines.moved(body.len(), 0);
        if self.unsynced.bytes >= SYNC_EVERY_BYTES {
            self.send_sync()?;
        }
        while self.unconfirmed_bytes() > UNCONFIRMED_BYTES && !self.syncing.is_empty() {
            self.hear_sync()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.confirm()
    }

    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        self.confirm()?;
        let body = self.ask(Request::Get { slot }, max_len)?;
        self.lines.moved(0, body.len());
        Ok(body)
    }

    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        self.confirm()?;
        let len = parts.div_ceil(8) as usize;
        let bits = self.ask(Request::Filled { kind, parts }, len)?;
        if bits.len() != len {
            return Err(Misbehaviour::InvalidValue.into());
        }
        Ok((0..parts as usize).map(|part| bits[part / 8] >> (part % 8) & 1 == 1).collect())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let Some(line) = self.line.take() else { return };
        // What was put and never confirmed has no claim to arrive.
        let is_confirmed = self.syncing.is_empty() && self.unsynced.puts.is_empty();
        if is_confirmed && is_of_use(&line) {
            self.lines.put_back(line);
        } else {
            self.lines.close(line);
        }
    }
}

/// The error when it may pass by itself; else it is the end. What came may have been damaged on the way, and the
/// connection with it is lost, unless none could be made in the first place.
fn judged(error: Error, is_unreachable: bool) -> Result<Error> {
    match error {
        Error::Transport(TransportError::Tls) if !is_unreachable => Ok(error),
        Error::Refused(refusal) if refusal.passes() => Ok(error),
        // This machine has no memory for the connection: the helper cannot help that.
        Error::Transport(TransportError::Io(ErrorKind::OutOfMemory)) => Err(error),
        // The helper's side of the connection met a defect of its own.
        Error::Transport(TransportError::PeerStopped(StopReason::Internal)) => {
            Err(Refusal::Internal.into())
        }
        Error::Transport(
            TransportError::Closed
            | TransportError::PeerStopped(StopReason::Cancelled | StopReason::Timeout)
            | TransportError::Idle(_)
            | TransportError::Io(_)
            | TransportError::Poisoned,
        ) => Ok(error),
        other => Err(other),
    }
}
