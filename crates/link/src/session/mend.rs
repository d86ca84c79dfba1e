//! Another connection in place of a lost one.
//!
//! The peer's process proves first that it is in this session. Then each side says how many frames
//! of the other have arrived in all connections together, and sends again what did not arrive, in
//! order. So each frame counts once.
//!
//! A record that TLS rejects is no reason to mend: something on the way changes the data, and
//! people should know.

use super::demux::Demux;
use super::shared::Core;
use super::wire::{TICK, Wire};
use crate::establish::Mender;
use crate::sync::{Deadline, lock};
use crate::{LinkError, LinkEvent};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vesica_core::{StopReason, TransportError};

/// How long a side that has the peer's goodbye waits for another connection: the peer may have
/// ended already, and all that its program sent is here.
const LAST_LIMIT: Duration = Duration::from_secs(5);

/// Why a connection, and with it perhaps the session, ends.
pub(super) struct End {
    pub(super) error: TransportError,
    /// The reason to send to the peer.
    pub(super) farewell: Option<StopReason>,
    /// Only the connection is lost: another one can take its place.
    pub(super) is_loss: bool,
}

impl End {
    pub(super) fn over(error: TransportError, farewell: Option<StopReason>) -> Self {
        Self { error, farewell, is_loss: false }
    }

    pub(super) fn loss(error: TransportError, farewell: Option<StopReason>) -> Self {
        Self { error, farewell, is_loss: true }
    }
}

/// How long a session waits for other connections. Those over which nothing arrives, either way, do
/// not lengthen it: a line that breaks each of them would keep both sides busy for ever.
#[derive(Default)]
pub(super) struct Patience {
    until: Option<Deadline>,
    /// Frames that had arrived on both sides when the connection was lost.
    frames: u64,
}

impl Patience {
    /// How long the session waits now, and until when.
    fn time(&mut self, frames: u64, limit: Duration) -> (Duration, Deadline) {
        let before = self.until.filter(|_| frames == self.frames);
        self.frames = frames;
        let until = *self.until.insert(before.unwrap_or_else(|| Deadline::after(limit)));
        (before.map_or(limit, |until| until.remaining()), until)
    }
}

/// Waits until the session has another connection.
///
/// # Errors
/// Why it ends instead.
pub(super) fn mend(
    core: &Core,
    mender: &Arc<Mender>,
    wire: &Wire,
    demux: &mut Demux,
    patience: &mut Patience,
    error: TransportError,
    deadline: Option<Deadline>,
) -> Result<(), End> {
    core.lose(wire, error);
    let error = wire.lost().unwrap_or(error);
    // The sending thread puts back what it was sending.
    core.wait_until(Duration::MAX, |outbox| outbox.parked || core.ended.get().is_some());
    let (limit, arrived) = {
        let mut outbox = lock(&core.outbox);
        outbox.hold();
        let is_last = outbox.goodbye_received && outbox.is_shut();
        core.progress.notify_all();
        let limit = if is_last { mender.limit().min(LAST_LIMIT) } else { mender.limit() };
        (limit, outbox.arrived_frames())
    };
    let (wait, until) = patience.time(demux.frames() + arrived, limit);
    tracing::debug!(%error, ?wait, "the connection is lost");
    mender.wait_until(until);
    mender.tell(LinkEvent::Lost { error, wait });
    let no_resources = |error: std::io::Error| End::over(TransportError::Io(error.kind()), None);
    mender.look().map_err(no_resources)?;
    let next = loop {
        core.check_limits(deadline)?;
        match mender.next(TICK) {
            Some(Ok(next)) => break next,
            Some(Err(LinkError::NewRun)) => {
                return Err(End::over(TransportError::PeerRestarted, None));
            }
            Some(Err(_)) => return Err(End::over(error, None)),
            None if until.is_over() => return Err(End::over(error, None)),
            None => {}
        }
    };
    core.sent_bytes.fetch_add(next.sent_bytes, Ordering::Relaxed);
    core.received_bytes.fetch_add(next.received_bytes, Ordering::Relaxed);
    *lock(&core.wire) = Arc::new(Wire::new(*next).map_err(no_resources)?);
    demux.begin_again();
    let mut outbox = lock(&core.outbox);
    outbox.tell_arrived(demux.frames());
    outbox.parked = false;
    core.work.notify_all();
    Ok(())
}

impl Core {
    /// Notes that a connection has ended, and wakes the threads that use it.
    pub(super) fn lose(&self, wire: &Wire, error: TransportError) {
        {
            let _outbox = lock(&self.outbox);
            wire.lose(error);
            self.work.notify_all();
            self.progress.notify_all();
        }
        wire.shut();
    }

    /// Checks what ends a session with and without a connection.
    ///
    /// # Errors
    /// Why the session has ended.
    pub(super) fn check_limits(&self, deadline: Option<Deadline>) -> Result<(), End> {
        if self.ended.get().is_some() {
            return Err(End::over(self.ended_error(), None));
        }
        if let (Some(deadline), Some(total)) = (deadline, self.total)
            && deadline.is_over()
        {
            return Err(End::over(TransportError::Deadline(total), Some(StopReason::Timeout)));
        }
        match self.disappointed() {
            Some(limit) => Err(End::over(TransportError::Idle(limit), Some(StopReason::Timeout))),
            None => Ok(()),
        }
    }
}
