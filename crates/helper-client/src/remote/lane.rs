//! The board of a run over a sequence of connections to the helper.

use super::connection::{Connection, Connections};
use super::options::RemoteEvent;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{Error, Misbehaviour, Refusal, Result, StopReason, TransportError};
use vesica_helper_wire::{Request, max_len};
use vesica_server_aided::kmrs14::{Board, Kind, Slot, Wanted};

/// First and longest pause before a reconnect to the helper.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Bytes of puts after which a sync asks whether the helper has stored them: the helper stores a
/// segment while the next one arrives.
const SYNC_EVERY_BYTES: usize = 2 << 20;

/// Most bytes of puts kept here until the helper confirms them; beyond that a put waits.
const UNCONFIRMED_BYTES: usize = 16 << 20;

/// Most requests, and expected bytes of their replies, sent before the helper's reply to the first
/// of them is received: what a distant helper sends in a round trip. However long the replies are,
/// the link's window bounds what waits in memory here.
const AHEAD: usize = 64;
const AHEAD_BYTES: usize = 8 << 20;

/// A lane: the run's board over one connection at a time, with the puts that the helper has not
/// confirmed.
pub(super) struct Lane {
    connections: Arc<Connections>,
    connection: Option<Connection>,
    /// Puts since the last sync that was sent.
    unsynced: Batch,
    /// Puts that the helper's next replies confirm as stored: a batch for each reply, oldest first.
    syncing: VecDeque<Batch>,
    outage: Option<Outage>,
}

/// A request, the most bytes of its reply, and the expected number.
type Question = (Request, usize, usize);

#[derive(Default)]
struct Batch {
    puts: Vec<(Slot, Vec<u8>)>,
    bytes: usize,
}

/// How long the helper has been unreachable.
struct Outage {
    since: Instant,
    pause: Duration,
}

impl Lane {
    pub(super) fn new(connections: Arc<Connections>) -> Self {
        let (unsynced, syncing) = (Batch::default(), VecDeque::new());
        Self { connections, connection: None, unsynced, syncing, outage: None }
    }

    /// Ensures that there is a connection to the helper.
    pub(super) fn connect(&mut self) -> Result<()> {
        self.persist(|_, _| Ok(()))
    }

    /// Sends the helper a request that has an empty reply.
    pub(super) fn command(&mut self, request: Request) -> Result<()> {
        self.request(request, 0).map(drop)
    }

    /// Sends the helper a request and waits for the reply.
    fn request(&mut self, request: Request, max_len: usize) -> Result<Vec<u8>> {
        let mut reply = Vec::new();
        self.request_each(&[(request, max_len, max_len)], &mut |_, body| {
            reply = body;
            Ok(())
        })?;
        Ok(reply)
    }

    /// Sends the helper requests, several ahead of the replies, and calls `take` with the number
    /// and the reply of each, in order. A sync for earlier puts goes first, in the same flight: the
    /// helper replies in order too.
    fn request_each(
        &mut self,
        requests: &[Question],
        take: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let (mut received, mut sent) = (0, 0);
        while received < requests.len() {
            let body = match self.next_reply(requests, received, &mut sent) {
                Ok(body) => body,
                Err(error) => {
                    self.pause(error)?;
                    continue;
                }
            };
            self.end_outage();
            if let Err(error) = take(received, body) {
                // Close the connection: replies that are still to come on it would be taken for
                // those to later requests.
                self.connection.take().into_iter().for_each(|one| self.connections.close(one));
                return Err(error);
            }
            received += 1;
        }
        Ok(())
    }

    /// The helper's reply to the request with the number `received`, when `sent` requests have been
    /// sent on the current connection.
    fn next_reply(
        &mut self,
        requests: &[Question],
        received: usize,
        sent: &mut usize,
    ) -> Result<Vec<u8>> {
        if self.connection.is_none() {
            *sent = received;
        }
        let connections = Arc::clone(&self.connections);
        self.ready()?;
        let Some(connection) = self.connection.as_mut() else {
            return Err(Error::Bug("a lane has no connection"));
        };
        if !self.unsynced.puts.is_empty() {
            connection.send(Request::Sync, &[])?;
            self.syncing.push_back(std::mem::take(&mut self.unsynced));
        }
        let mut ahead: usize =
            requests[received..*sent].iter().map(|(_, _, expected_len)| expected_len).sum();
        // Send more requests only when half of those sent are answered, so that requests share
        // packets.
        let is_low = *sent - received < AHEAD / 2 && ahead < AHEAD_BYTES / 2;
        while is_low
            && let Some((request, _, expected_len)) = requests.get(*sent)
            && (*sent == received || ahead + expected_len <= AHEAD_BYTES)
            && *sent - received < AHEAD
        {
            connection.send(*request, &[])?;
            ahead += expected_len;
            *sent += 1;
        }
        while !self.syncing.is_empty() {
            connection.receive(&connections, 0)?;
            self.syncing.pop_front();
            if self.outage.take().is_some() {
                connections.report(RemoteEvent::Resumed);
            }
        }
        connection.receive(&connections, requests[received].1)
    }

    /// Ends the outage: the helper has replied.
    fn end_outage(&mut self) {
        if self.outage.take().is_some() {
            self.connections.report(RemoteEvent::Resumed);
        }
    }

    /// Runs `step` on a connection to the helper, and again on another one if that is lost, until
    /// the helper has been unreachable for too long.
    fn persist<R>(
        &mut self,
        mut step: impl FnMut(&mut Connection, &Connections) -> Result<R>,
    ) -> Result<R> {
        loop {
            let connections = Arc::clone(&self.connections);
            let result = self.ready().and_then(|connection| step(connection, &connections));
            match result {
                Ok(result) => return Ok(result),
                Err(error) => self.pause(error)?,
            }
        }
    }

    /// The current connection to the helper; on a new one, unconfirmed puts are sent again first.
    fn ready(&mut self) -> Result<&mut Connection> {
        if self.connection.is_none() {
            let mut connection = self.connections.take()?;
            // Send all unconfirmed puts, which then have one sync, before anything else, so that
            // their order holds.
            let batches = self.syncing.drain(..).chain([std::mem::take(&mut self.unsynced)]);
            let mut all = Batch::default();
            for mut batch in batches {
                all.puts.append(&mut batch.puts);
                all.bytes += batch.bytes;
            }
            self.unsynced = all;
            let sent = self.unsynced.puts.iter().try_for_each(|(slot, body)| {
                connection.send(Request::Put { slot: *slot, len: body.len() }, body)
            });
            if let Err(error) = sent {
                self.connections.close(connection);
                return Err(error);
            }
            self.connection = Some(connection);
        }
        self.connection.as_mut().ok_or(Error::Bug("a lane has no connection"))
    }

    /// Closes the connection and waits before the next attempt to reach the helper; returns `error`
    /// if there is to be no attempt.
    fn pause(&mut self, error: Error) -> Result<()> {
        if let Some(connection) = self.connection.take() {
            if connection.has_resumed() {
                self.outage = None;
            }
            self.connections.close(connection);
        }
        let options = &self.connections.options;
        let error = if_temporary(error, self.connections.link_error().is_some())?;
        let since = self.outage.as_ref().map_or_else(Instant::now, |outage| outage.since);
        let pause = self.outage.as_ref().map_or(FIRST_PAUSE, |outage| outage.pause);
        if since.elapsed() + pause > options.link.wait {
            return Err(error);
        }
        self.outage = Some(Outage { since, pause: (pause * 2).min(LONGEST_PAUSE) });
        self.connections.report(RemoteEvent::Reconnecting { error, pause });
        if options.cancel.wait(pause) {
            return Err(TransportError::CancelledHere.into());
        }
        Ok(())
    }

    fn unconfirmed_bytes(&self) -> usize {
        self.syncing.iter().map(|batch| batch.bytes).sum::<usize>() + self.unsynced.bytes
    }

    /// Asks the helper whether it has stored all puts so far, without waiting for the reply.
    fn send_sync(&mut self) -> Result<()> {
        self.persist(|connection, _| connection.send(Request::Sync, &[]))?;
        self.syncing.push_back(std::mem::take(&mut self.unsynced));
        Ok(())
    }

    /// Waits for the helper's reply to the oldest sync. If the connection is lost in the meantime,
    /// all unconfirmed puts are in `unsynced` again.
    fn receive_sync(&mut self) -> Result<()> {
        let connections = Arc::clone(&self.connections);
        let Some(connection) = self.connection.as_mut() else { return self.connect() };
        match connection.receive(&connections, 0) {
            Ok(_) => {
                self.syncing.pop_front();
                self.end_outage();
                Ok(())
            }
            Err(error) => {
                self.pause(error)?;
                self.connect()
            }
        }
    }

    /// Waits until the helper has confirmed all puts.
    fn confirm(&mut self) -> Result<()> {
        while !(self.syncing.is_empty() && self.unsynced.puts.is_empty()) {
            if self.syncing.is_empty() || !self.unsynced.puts.is_empty() {
                self.send_sync()?;
            }
            while !self.syncing.is_empty() {
                self.receive_sync()?;
            }
        }
        Ok(())
    }
}

impl Board for Lane {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        if body.len() > max_len(slot.kind) {
            return Err(Error::Bug("the bytes for a slot are more than its kind allows"));
        }
        // Send the put before it is recorded as unconfirmed: if the connection is lost meanwhile,
        // the recorded puts and then this one are sent again.
        self.persist(|connection, _| {
            connection.send(Request::Put { slot, len: body.len() }, body)
        })?;
        self.unsynced.puts.push((slot, body.to_vec()));
        self.unsynced.bytes += body.len();
        self.connections.moved(body.len(), 0);
        if self.unsynced.bytes >= SYNC_EVERY_BYTES {
            self.send_sync()?;
        }
        while self.unconfirmed_bytes() > UNCONFIRMED_BYTES && !self.syncing.is_empty() {
            self.receive_sync()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.confirm()
    }

    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        let body = self.request(Request::Get { slot }, max_len)?;
        self.connections.moved(0, body.len());
        Ok(body)
    }

    fn get_each(
        &mut self,
        wanted: &[Wanted],
        take: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        if wanted.is_empty() {
            return self.confirm();
        }
        let question = |&Wanted { slot, max_len, expected_len }| -> Question {
            (Request::Get { slot }, max_len, expected_len)
        };
        let gets: Vec<_> = wanted.iter().map(question).collect();
        let connections = Arc::clone(&self.connections);
        self.request_each(&gets, &mut |number, body| {
            connections.moved(0, body.len());
            take(number, body)
        })
    }

    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        let len = parts.div_ceil(8) as usize;
        let bits = self.request(Request::Filled { kind, parts }, len)?;
        if bits.len() != len {
            return Err(Misbehaviour::InvalidValue.into());
        }
        Ok((0..parts as usize).map(|part| bits[part / 8] >> (part % 8) & 1 == 1).collect())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        // Puts that the helper has not confirmed need not arrive, so the connection is closed.
        let is_confirmed = self.syncing.is_empty() && self.unsynced.puts.is_empty();
        if is_confirmed && !connection.has_pending_replies() {
            self.connections.put_back(connection);
        } else {
            self.connections.close(connection);
        }
    }
}

/// Returns `Ok` with an error after which the party tries to reach the helper again, and `Err` with
/// a final one. An error of TLS is final if no connection could be made; otherwise received bytes
/// may have been damaged in transit.
fn if_temporary(error: Error, is_unreachable: bool) -> Result<Error> {
    match error {
        Error::Transport(TransportError::Tls) if !is_unreachable => Ok(error),
        Error::Refused(refusal) if refusal.passes() => Ok(error),
        // This machine has no memory for the connection, which is not the helper's fault.
        Error::Transport(TransportError::Io(ErrorKind::OutOfMemory)) => Err(error),
        // The helper's side of the connection has a defect.
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
