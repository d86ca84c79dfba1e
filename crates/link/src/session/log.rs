//! The frames of a session that can be mended which the peer may not have.
//!
//! ```text
//!   numbers   … arrived │ kept ……… │ (with the sending thread) │ again …… │ made next
//! ```

use super::spare::Spare;
use crate::frame::{Frame, MAX_DATA_LEN, Packet};
use std::collections::VecDeque;
use vesica_core::TransportError;

/// Upper bound on the cost of a frame in addition to its payload.
pub(super) const FRAME_COST: usize = 64;

/// No new frame is sent while this many bytes are unacknowledged. Enough for 1.6 Gbit/s at 80 ms
/// round trip; the peer acknowledges what has arrived, even if its program does not read.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// Most bytes of a batch of frames that are sent again.
const BATCH_BYTES: usize = 4 * MAX_DATA_LEN;

#[derive(Default)]
pub(super) struct Log {
    /// Frames made so far.
    made: u64,
    /// Of these, frames that have arrived.
    arrived: u64,
    /// The number of the frame with which the goodbye comes, once it is made.
    goodbye: Option<u64>,
    /// Sent frames, oldest first; the first has the number `kept_from`.
    kept: VecDeque<Packet>,
    kept_from: u64,
    /// Frames to send again, which follow the kept ones.
    again: VecDeque<Packet>,
    /// The cost of the frames that have not arrived.
    bytes: usize,
    /// The connection is lost, or the peer has not yet reported on the new one what arrived.
    holds: bool,
    /// The number of the peer's frames that have arrived, if they must be acknowledged.
    told: Option<u64>,
}

fn cost(packet: &Packet) -> usize {
    packet.1.len() + FRAME_COST
}

impl Log {
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Frames that have arrived.
    pub(super) fn arrived_frames(&self) -> u64 {
        self.arrived
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The connection is lost: nothing may be sent until the peer has reported what arrived.
    pub(super) fn hold(&mut self) {
        self.holds = true;
        self.told = None;
    }

    /// Tells the peer how many of its frames have arrived.
    pub(super) fn tell(&mut self, frames: u64) {
        self.told = Some(frames);
    }

    /// Removes what is to be sent before new frames. Returns whether new frames may follow now.
    pub(super) fn first(&mut self, batch: &mut Vec<Packet>) -> bool {
        if let Some(frames) = self.told.take() {
            batch.push((Frame::Arrived { frames }.encode(), Vec::new()));
        }
        if self.holds {
            return false;
        }
        let mut bytes = 0;
        while bytes < BATCH_BYTES
            && let Some(packet) = self.again.pop_front()
        {
            bytes += cost(&packet);
            batch.push(packet);
        }
        bytes == 0 && self.bytes < MAX_KEPT_BYTES
    }

    /// Numbers new frames, the goodbye last if it is among them.
    pub(super) fn number(&mut self, packets: &[Packet], goodbye: bool) {
        self.made += packets.len() as u64;
        self.bytes += packets.iter().map(cost).sum::<usize>();
        if goodbye {
            self.goodbye = Some(self.made);
        }
    }

    /// Keeps a sent frame until it has arrived.
    pub(super) fn keep(&mut self, packet: Packet, spare: &mut Spare) {
        self.kept.push_back(packet);
        self.forget(spare);
    }

    /// Records that `frames` frames have arrived at the peer.
    ///
    /// # Errors
    /// [`TransportError::PeerBrokeFraming`] if these are more than were made, or fewer than it said
    /// before.
    pub(super) fn arrived(&mut self, frames: u64, spare: &mut Spare) -> Result<(), TransportError> {
        if frames < self.arrived || frames > self.made {
            return Err(TransportError::PeerBrokeFraming);
        }
        self.arrived = frames;
        if std::mem::take(&mut self.holds) {
            self.kept.append(&mut self.again);
            self.forget(spare);
            self.again = std::mem::take(&mut self.kept);
            self.kept_from = self.arrived;
        } else {
            self.forget(spare);
        }
        Ok(())
    }

    /// Whether the peer has our goodbye.
    pub(super) fn goodbye_has_arrived(&self) -> bool {
        self.goodbye.is_some_and(|number| number <= self.arrived)
    }

    /// The peer has all: it has ended the session in order.
    pub(super) fn all_has_arrived(&mut self) {
        self.arrived = self.made;
    }

    fn forget(&mut self, spare: &mut Spare) {
        while self.kept_from < self.arrived
            && let Some(packet) = self.kept.pop_front()
        {
            self.kept_from += 1;
            self.bytes -= cost(&packet);
            spare.put(packet.1);
        }
    }
}
