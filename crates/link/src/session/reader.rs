//! The thread that receives and watches the time limits.

use super::demux::Demux;
use super::mend::{End, Patience, mend};
use super::shared::{Core, DISCONNECT_LIMIT, FAREWELL_LIMIT, Silence};
use super::wire::{TICK, Wire};
use crate::LinkEvent;
use crate::sync::{Deadline, lock};
use std::convert::Infallible;
use std::io::{self, BufRead, Read};
use std::sync::atomic::Ordering;
use std::time::Duration;
use vesica_core::{StopReason, TransportError};

/// Bytes requested from the socket at once.
const READ_BYTES: usize = 256 << 10;

/// The result of one read of the socket.
enum Got {
    Bytes(usize),
    Nothing,
    End,
}

pub(super) fn run(core: &Core) {
    let _done = Done(core);
    let (mut demux, mut patience) = (Demux::default(), Patience::default());
    let deadline = core.total.map(Deadline::after);
    loop {
        let wire = core.wire();
        let Err(end) = receive(core, &wire, &mut demux, deadline);
        if let Some(mender) = core.mender.as_ref().filter(|_| end.is_loss && !core.is_done()) {
            match mend(core, mender, &wire, &mut demux, &mut patience, end.error, deadline) {
                Ok(()) => continue,
                Err(End { error, farewell, .. }) => return core.end(error, farewell),
            }
        }
        core.end(end.error, end.farewell);
        // Until the peer has our stop message: closing a socket with unread data would reset it.
        drain(core, &wire, FAREWELL_LIMIT);
        return;
    }
}

/// Receives until the connection or the session ends.
fn receive(
    core: &Core,
    wire: &Wire,
    demux: &mut Demux,
    deadline: Option<Deadline>,
) -> Result<Infallible, End> {
    let mut buf = vec![0; READ_BYTES];
    let mut silence = Silence::new(core.idle, TICK);

    // Data that arrived with the end of the handshake.
    core.take(wire, demux, &[])?;
    loop {
        core.check_limits(deadline)?;
        if let Some(mender) = &core.mender {
            if let Some(error) = wire.lost() {
                return Err(End::loss(error, None));
            }
            // The peer has abandoned this connection.
            if mender.has_arrival() {
                return Err(End::loss(TransportError::Closed, None));
            }
        }
        match read(core, wire, &mut buf) {
            Ok(Got::Bytes(len)) => {
                silence.broken();
                core.take(wire, demux, &buf[..len])?;
            }
            Ok(Got::Nothing) if silence.is_over() => {
                return Err(End::loss(TransportError::Idle(core.idle), Some(StopReason::Timeout)));
            }
            Ok(Got::Nothing) => {}
            Ok(Got::End) => {
                if core.mender.is_some() {
                    if wire.is_closed() {
                        lock(&core.outbox).all_has_arrived();
                        core.progress.notify_all();
                    }
                } else {
                    // A peer that closes in order has our goodbye, even if the sending thread has
                    // not yet recorded it.
                    core.wait_until(DISCONNECT_LIMIT, |outbox| {
                        !outbox.is_saying_goodbye() || core.ended.get().is_some()
                    });
                }
                return Err(End::loss(TransportError::Closed, None));
            }
            Err(error) => return Err(End::loss(error.into(), None)),
        }
    }
}

fn read(core: &Core, wire: &Wire, buf: &mut [u8]) -> io::Result<Got> {
    match (&wire.socket).read(buf) {
        Ok(0) => Ok(Got::End),
        Ok(len) => {
            core.received_bytes.fetch_add(len as u64, Ordering::Relaxed);
            Ok(Got::Bytes(len))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {
                Ok(Got::Nothing)
            }
            _ => Err(error),
        },
    }
}

/// Discards what arrives until the peer closes.
fn drain(core: &Core, wire: &Wire, limit: Duration) {
    let deadline = Deadline::after(limit);
    let mut rubbish = [0; 16 << 10];
    while !deadline.is_over() {
        match read(core, wire, &mut rubbish) {
            Ok(Got::Bytes(_) | Got::Nothing) => {}
            Ok(Got::End) | Err(_) => break,
        }
    }
}

impl Core {
    /// Whether no other connection is needed: the session has ended, or both goodbyes have arrived.
    fn is_done(&self) -> bool {
        let outbox = lock(&self.outbox);
        (outbox.goodbye_sent && outbox.goodbye_received) || self.ended.get().is_some()
    }

    /// Handles what arrived together.
    fn take(&self, wire: &Wire, demux: &mut Demux, records: &[u8]) -> Result<(), End> {
        let opened = self.open_records(wire, demux, records);
        lock(&self.inbox).wake_served();
        if let Some(mender) = &self.mender
            && std::mem::take(&mut demux.mended)
        {
            mender.tell(LinkEvent::Mended { address: wire.address });
        }
        opened.map_err(|(error, farewell)| End::over(error, farewell))
    }

    /// Decrypts `records` and passes their content to the demultiplexer.
    fn open_records(
        &self,
        wire: &Wire,
        demux: &mut Demux,
        mut records: &[u8],
    ) -> Result<(), (TransportError, Option<StopReason>)> {
        // In a session that can be mended, the peer is to hear of it: it would wait for us
        // otherwise.
        let damaged = (TransportError::Tls, self.mender.as_ref().map(|_| StopReason::Internal));
        let mut tls = lock(&wire.tls);
        loop {
            let processed = tls.process_new_packets();
            let wants_write = tls.wants_write();
            loop {
                let mut reader = tls.reader();
                let len = match reader.fill_buf() {
                    Ok(bytes) if !bytes.is_empty() => {
                        demux.feed(self, bytes).map_err(|error| (error, farewell_for(error)))?;
                        bytes.len()
                    }
                    // Empty, or the peer's orderly end of TLS, which the socket reports too.
                    _ => break,
                };
                reader.consume(len);
            }
            if wants_write {
                let mut outbox = lock(&self.outbox);
                outbox.tls_output = true;
                self.wake_writer(&mut outbox);
            }
            match processed {
                Ok(state) if state.peer_has_closed() => wire.close(),
                Ok(_) => {}
                Err(_) => return Err(damaged),
            }
            if records.is_empty() {
                return Ok(());
            }
            // Accepts nothing after the peer's orderly end of TLS.
            match tls.read_tls(&mut records) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(_) => return Err(damaged),
            }
        }
    }
}

fn farewell_for(error: TransportError) -> Option<StopReason> {
    match error {
        TransportError::PeerStopped(_) => None,
        _ => Some(StopReason::Misbehaviour),
    }
}

/// When the thread ends for any reason, no thread may wait for it afterwards.
struct Done<'a>(&'a Core);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.end(TransportError::Closed, None);
        self.0.wire().shut();
        lock(&self.0.outbox).reader_done = true;
        self.0.progress.notify_all();
    }
}
