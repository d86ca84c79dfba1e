//! The thread that receives and watches the time limits.

use super::demux::Demux;
use super::{Core, DISCONNECT_LIMIT, FAREWELL_LIMIT, Silence, TICK};
use crate::sync::{Deadline, lock};
use std::io::{self, BufRead, Read};
use std::net::Shutdown;
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
    let (error, farewell) = receive(core);
    core.end(error, farewell);
    // Until the peer has our stop message: closing a socket with unread data would reset it.
    drain(core, FAREWELL_LIMIT);
}

/// Receives until the session ends; returns why, and the reason to send to the peer.
fn receive(core: &Core) -> (TransportError, Option<StopReason>) {
    let mut demux = Demux::default();
    let mut buf = vec![0; READ_BYTES];
    let mut silence = Silence::new(core.idle, TICK);
    let deadline = core.total.map(Deadline::after);

    // Data that arrived with the end of the handshake.
    let opened = core.open_records(&mut demux, &[]);
    lock(&core.inbox).wake_served();
    if let Err(error) = opened {
        return error;
    }
    loop {
        if core.ended.get().is_some() {
            return (core.ended_error(), None);
        }
        if let (Some(deadline), Some(total)) = (deadline, core.total)
            && deadline.is_over()
        {
            return (TransportError::Deadline(total), Some(StopReason::Timeout));
        }
        if let Some(limit) = core.disappointed() {
            return (TransportError::Idle(limit), Some(StopReason::Timeout));
        }
        match read(core, &mut buf) {
            Ok(Got::Bytes(len)) => {
                silence.broken();
                let opened = core.open_records(&mut demux, &buf[..len]);
                lock(&core.inbox).wake_served();
                if let Err(error) = opened {
                    return error;
                }
            }
            Ok(Got::Nothing) if silence.is_over() => {
                return (TransportError::Idle(core.idle), Some(StopReason::Timeout));
            }
            Ok(Got::Nothing) => {}
            Ok(Got::End) => {
                // A peer that closes in order has our goodbye, even if the sending thread has not yet
                // recorded it.
                core.wait_until(DISCONNECT_LIMIT, |outbox| {
                    !outbox.is_saying_goodbye() || core.ended.get().is_some()
                });
                return (TransportError::Closed, None);
            }
            Err(error) => return (error.into(), None),
        }
    }
}

fn read(core: &Core, buf: &mut [u8]) -> io::Result<Got> {
    match (&core.socket).read(buf) {
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
fn drain(core: &Core, limit: Duration) {
    let deadline = Deadline::after(limit);
    let mut rubbish = [0; 16 << 10];
    while !deadline.is_over() {
        match read(core, &mut rubbish) {
            Ok(Got::Bytes(_) | Got::Nothing) => {}
            Ok(Got::End) | Err(_) => break,
        }
    }
}

impl Core {
    /// Decrypts `records` and passes their content to the demultiplexer.
    fn open_records(
        &self,
        demux: &mut Demux,
        mut records: &[u8],
    ) -> Result<(), (TransportError, Option<StopReason>)> {
        let mut tls = lock(&self.tls);
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
            if processed.is_err() {
                return Err((TransportError::Tls, None));
            }
            if records.is_empty() {
                return Ok(());
            }
            // Accepts nothing after the peer's orderly end of TLS.
            match tls.read_tls(&mut records) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(_) => return Err((TransportError::Tls, None)),
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

/// However the thread ends, nobody may wait for it afterwards.
struct Done<'a>(&'a Core);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.end(TransportError::Closed, None);
        let _ = self.0.socket.shutdown(Shutdown::Both);
        lock(&self.0.outbox).reader_done = true;
        self.0.progress.notify_all();
    }
}
