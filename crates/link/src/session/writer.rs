//! The thread that sends.

use super::shared::{Core, FAREWELL_LIMIT, Silence};
use super::wire::{TICK, Wire};
use crate::frame::{Frame, Packet};
use crate::sync::{Deadline, lock, wait, wait_timeout};
use std::io::{self, IoSlice, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};

/// How long the receiving thread may look for the peer's stop message when sending fails.
const PEER_REASON_LIMIT: Duration = Duration::from_millis(250);

pub(super) fn run(core: &Core) {
    let _done = Done(core);
    let mut sender = Sender {
        core,
        wire: core.wire(),
        packets: Vec::new(),
        used: Vec::new(),
        records: Vec::new(),
        sent: 0,
        sent_at: Instant::now(),
        has_data: false,
    };
    while let Err(error) = sender.run() {
        // A peer that ends the session sends a reason and closes; our next write may fail before
        // the reason is read, which is the better error.
        core.wait_until(PEER_REASON_LIMIT, |_| {
            core.ended.get().is_some() || sender.wire.lost().is_some()
        });
        if core.mender.is_none() || core.ended.get().is_some() || lock(&core.outbox).disconnect {
            return core.end(error, None);
        }
        core.lose(&sender.wire, error);
    }
}

/// The next action.
enum Task {
    Send { goodbye: bool },
    Disconnect,
    Farewell(StopReason),
    End,
}

struct Sender<'a> {
    core: &'a Core,
    wire: Arc<Wire>,
    packets: Vec<Packet>,
    /// Sealed packets, to keep or for reuse.
    used: Vec<Packet>,
    /// Sealed records, and how many of their bytes the socket has taken.
    records: Vec<u8>,
    sent: usize,
    sent_at: Instant,
    /// Whether they are data of streams.
    has_data: bool,
}

impl Sender<'_> {
    fn run(&mut self) -> Result<(), TransportError> {
        loop {
            match self.next_task() {
                Task::Send { goodbye } => {
                    self.seal()?;
                    if self.send(None)? && goodbye {
                        lock(&self.core.outbox).goodbye_sent = true;
                        self.core.progress.notify_all();
                    }
                }
                Task::Disconnect => return self.disconnect(None),
                Task::Farewell(reason) => {
                    // After the record that is partly sent: it cannot be taken back.
                    let limit = Deadline::after(FAREWELL_LIMIT);
                    if self.send(Some(limit))? {
                        // After damage, TLS's own alert says why.
                        if self.core.ended_error() != TransportError::Tls {
                            self.packets.push((Frame::Stop(reason).encode(), Vec::new()));
                        }
                        self.seal()?;
                        self.disconnect(Some(limit))?;
                    }
                    return Ok(());
                }
                Task::End => return Ok(()),
            }
        }
    }

    /// Waits for work.
    fn next_task(&mut self) -> Task {
        let core = self.core;
        let mut outbox = lock(&core.outbox);
        loop {
            if core.ended.get().is_some() {
                return outbox.farewell.map_or(Task::End, Task::Farewell);
            }
            for packet in self.used.drain(..).chain(self.packets.drain(..)) {
                outbox.take_back(packet);
            }
            if self.wire.lost().is_some() {
                outbox.parked = true;
                core.progress.notify_all();
                while outbox.parked && core.ended.get().is_none() {
                    outbox = wait(&core.work, outbox);
                }
                self.begin_again();
                continue;
            }
            let goodbye = outbox.next_packets(&mut self.packets);
            if std::mem::take(&mut outbox.tls_output) || !self.packets.is_empty() {
                return Task::Send { goodbye };
            }
            if outbox.disconnect {
                return Task::Disconnect;
            }
            let quiet = core.keepalive.saturating_sub(self.sent_at.elapsed());
            if quiet.is_zero() {
                self.packets.push((Frame::KeepAlive.encode(), Vec::new()));
                return Task::Send { goodbye: false };
            }
            outbox.writer_asleep = true;
            outbox = wait_timeout(&core.work, outbox, quiet);
            outbox.writer_asleep = false;
        }
    }

    /// Takes the session's next connection.
    fn begin_again(&mut self) {
        self.wire = self.core.wire();
        self.records.clear();
        (self.sent, self.sent_at, self.has_data) = (0, Instant::now(), false);
    }

    /// Encrypts the packets, and TLS's own messages, into `records`.
    fn seal(&mut self) -> Result<(), TransportError> {
        let slices: Vec<IoSlice<'_>> = self
            .packets
            .iter()
            .flat_map(|(header, payload)| [IoSlice::new(header), IoSlice::new(payload)])
            .collect();
        let len: usize = slices.iter().map(|slice| slice.len()).sum();
        self.has_data |= self.packets.iter().any(|(_, payload)| !payload.is_empty());
        let mut tls = lock(&self.wire.tls);
        // After damage, TLS takes nothing more; its alert can still be sent.
        if len > 0 {
            let taken = tls.writer().write_vectored(&slices).map_err(|_| TransportError::Tls)?;
            if taken != len {
                return Err(TransportError::Tls);
            }
        }
        while tls.wants_write() {
            tls.write_tls(&mut self.records).map_err(|_| TransportError::Tls)?;
        }
        drop(tls);
        self.used.append(&mut self.packets);
        Ok(())
    }

    /// Writes the records to the socket; returns whether all were written. Without a limit it stops
    /// when the session ends, and fails when the peer accepts nothing for the idle limit.
    fn send(&mut self, limit: Option<Deadline>) -> Result<bool, TransportError> {
        let mut silence = Silence::new(self.core.idle, TICK);
        while self.sent < self.records.len() {
            let stop = match limit {
                Some(limit) => limit.is_over(),
                None => self.core.ended.get().is_some() || self.wire.lost().is_some(),
            };
            if stop {
                return Ok(false);
            }
            match (&self.wire.socket).write(&self.records[self.sent..]) {
                Ok(len) => {
                    self.sent += len;
                    self.core.sent_bytes.fetch_add(len as u64, Ordering::Relaxed);
                    silence.broken();
                    if self.has_data {
                        self.core.has_moved();
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        if limit.is_none() && silence.is_over() {
                            return Err(TransportError::Idle(self.core.idle));
                        }
                    }
                    io::ErrorKind::Interrupted => {}
                    _ => return Err(error.into()),
                },
            }
        }
        self.records.clear();
        self.has_data = false;
        self.sent = 0;
        self.sent_at = Instant::now();
        Ok(true)
    }

    /// Closes our direction of the connection in order.
    fn disconnect(&mut self, limit: Option<Deadline>) -> Result<(), TransportError> {
        lock(&self.wire.tls).send_close_notify();
        self.seal()?;
        self.send(limit)?;
        let _ = self.wire.socket.shutdown(Shutdown::Write);
        Ok(())
    }
}

/// When the thread ends for any reason, no thread may wait for it afterwards.
struct Done<'a>(&'a Core);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let outbox = lock(&self.0.outbox);
        let orderly = outbox.disconnect;
        drop(outbox);
        if !orderly {
            self.0.end(TransportError::Closed, None);
        }
        lock(&self.0.outbox).writer_done = true;
        self.0.progress.notify_all();
    }
}
