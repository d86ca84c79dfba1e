//! Parts of a run that run in other processes: what they send and receive is in detached objects of
//! the store.

use super::{Conversation, DetachedEntry, OBJECT_BYTES, lock};
use crate::detached;
use crate::object::DETACHED;
use std::sync::atomic::Ordering;
use vesica_core::TransportError;
use vesica_net::{Detached, Parcel, Received, SentDigests, StreamId};

impl Detached for Conversation {
    fn desk(&self) -> Vec<u8> {
        self.core.desk.to_bytes()
    }

    fn sent(&self, part: u64) -> (SentDigests, Vec<StreamId>) {
        lock(&self.core.outbox).detached.get(&part).cloned().unwrap_or_default()
    }

    fn send(
        &self,
        part: u64,
        parcels: &[Parcel],
        sent: &SentDigests,
        opened: &[StreamId],
    ) -> Result<(), TransportError> {
        self.core.check_open()?;
        let is_full = {
            let mut outbox = lock(&self.core.outbox);
            let nothing = (0, [0; 32]);
            let point = |id: &StreamId| (*id, sent.streams.get(id).copied().unwrap_or(nothing));
            let points: Vec<_> = opened.iter().map(point).collect();
            for parcel in parcels {
                let bytes = detached::to_bytes(parcel);
                outbox.bytes += bytes.len();
                outbox.pieces.push((DETACHED, bytes));
                outbox.named.push(DetachedEntry { part, id: parcel.id, points: points.clone() });
                outbox.ids.push(parcel.id);
                self.core.sent_bytes.fetch_add(parcel.len, Ordering::Relaxed);
            }
            outbox.detached.insert(part, (sent.clone(), opened.to_vec()));
            outbox.bytes >= OBJECT_BYTES
        };
        if is_full { self.core.publish() } else { Ok(()) }
    }

    fn recall(&self) -> Result<bool, TransportError> {
        let core = &self.core;
        {
            let inbox = lock(&core.inbox);
            if inbox.next as usize >= inbox.seen.len() {
                return Ok(false);
            }
        }
        self.listen(true)?;
        Ok(true)
    }

    fn receive(&self, streams: &[StreamId]) -> Vec<Received> {
        let received = lock(&self.core.inbox).take(streams);
        for one in &received {
            // A parcel, which is a detached object, counts once, with the first of its streams.
            if let Received::Parcel(parcel, stream) = one
                && parcel.streams.first().is_some_and(|(first, _)| first == stream)
            {
                self.core.received_bytes.fetch_add(parcel.len, Ordering::Relaxed);
            }
        }
        received
    }

    fn listen(&self, wait: bool) -> Result<bool, TransportError> {
        let core = &self.core;
        core.publish()?;
        core.working.fetch_sub(1, Ordering::Relaxed);
        let fetched = {
            let _guard = lock(&core.poller);
            core.fetch(wait)
        };
        core.working.fetch_add(1, Ordering::Relaxed);
        fetched.map(|fetched| fetched.is_some()).map_err(|fault| core.fail(fault))
    }
}
