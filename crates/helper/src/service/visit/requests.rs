//! What a party of a run asks, and the replies.

use super::{Reading, Seat, Visit};
use crate::service::core::short;
use crate::service::desk::RunDesk;
use crate::service::metrics::Counted;
use crate::service::run::{Over, Run};
use crate::store::{Kept, charge};
use crate::wire::{Reply, Request};
use std::io;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vesica_core::{Refusal, Result};
use vesica_protocols::kmrs14::helper::{check_put, is_out, may_be_ended};
use vesica_protocols::kmrs14::{Kind, Slot};

/// How often a waiting get looks whether its party is still there.
const POLL: Duration = Duration::from_millis(100);

/// How long a get waits before its party is told for whom.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often it looks for others who wait under another agreement.
const LOOK_AROUND_EVERY: Duration = Duration::from_secs(1);

impl<'a> Visit<'a> {
    /// The body of the reply to anything but a put.
    pub(super) fn answer(
        &mut self,
        seat: &Seat,
        request: Request,
    ) -> Result<Result<Reading<'a>, Refusal>> {
        let (run, party) = (&seat.run, seat.party);
        let malformed = Refusal::Malformed { party };
        match (run.over(), request) {
            (Some(Over::Finished), Request::Done | Request::Sync) => {
                return Ok(Ok(Vec::new().into()));
            }
            (Some(over), _) => return Ok(Err(over.refusal())),
            (None, _) if self.core.is_stopping() => return Ok(Err(Refusal::ShuttingDown)),
            _ => {}
        }
        if let Err(refusal) = self.settle(seat) {
            return Ok(Err(refusal));
        }
        let answer = match request {
            Request::Get { slot } if slot.may_be_got_by(party, &run.record.spec) => {
                return self.get(seat, slot);
            }
            Request::Put { .. } | Request::Sync => Ok(Vec::new()),
            Request::Get { .. } => Err(malformed),
            Request::Filled { kind, parts } if kind.is_written_by_party() => {
                Ok(run.store.filled(kind, party, parts))
            }
            Request::Filled { .. } => Err(malformed),
            Request::Done => self.done(seat),
            Request::End => self.end(seat),
        };
        Ok(answer.map(Reading::from))
    }

    pub(super) fn keep(&self, seat: &Seat, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
        let (run, party) = (&seat.run, seat.party);
        if let Some(over) = run.over() {
            return Err(over.refusal());
        }
        if self.core.is_stopping() {
            return Err(Refusal::ShuttingDown);
        }
        if !slot.may_be_put_by(party, &run.record.spec) {
            return Err(Refusal::Malformed { party });
        }
        match run.store.compare(slot, body) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Refusal::AlreadyThere),
            None => {}
        }
        let desk = RunDesk::new(self.core, run);
        // What does not fit because the run has just come to its end is not malformed.
        // Nor is what does not fit because something before it could not be synced: the party puts it again.
        check_put(&run.record.spec, &desk, slot, body).map_err(|refusal| match run.over() {
            Some(over) => over.refusal(),
            None if run.store.mark() != seat.mark => Refusal::Storage,
            None => refusal,
        })?;
        // Of what says that a list is complete nothing must be left without the list, and so on.
        if !matches!(slot.kind, Kind::Labels | Kind::Opened | Kind::Relayed | Kind::Found) {
            self.settle(seat)?;
        }
        let kept = match slot.kind {
            Kind::Hello => self.put_hello(seat, &desk, slot, body)?,
            _ => self.put(seat, slot, body)?,
        };
        match kept {
            Ok(Kept::New) => {}
            Ok(Kept::Same) => return Ok(()),
            Ok(Kept::Other) => return Err(Refusal::AlreadyThere),
            Err(error) => return Err(self.failed(run, &error)),
        }
        if slot.kind == Kind::Release {
            tracing::info!(run = %short(run), "places of the labels released");
        }
        if slot.kind == Kind::Labels {
            let count = body.first_chunk().map_or(0, |count| u32::from_le_bytes(*count));
            self.core.metrics.labels_received(count.into());
        }
        run.set_dirty();
        run.wake();
        // A list is looked at when its party says that it is complete, or asks.
        if !matches!(slot.kind, Kind::Labels | Kind::Opened | Kind::Relayed) {
            self.core.consider(run);
        }
        Ok(())
    }

    /// Keeps a hello, for which and for all that follows it there must be room.
    fn put_hello(
        &self,
        seat: &Seat,
        desk: &RunDesk<'_>,
        slot: Slot,
        body: &[u8],
    ) -> Result<io::Result<Kept>, Refusal> {
        let (run, core) = (&seat.run, self.core);
        // One at a time: the last finds all others there.
        let _one = run.admitting.lock().unwrap_or_else(PoisonError::into_inner);
        let before = run.holding().reserved();
        let hello = (seat.party, body);
        core.ledger
            .admit(&core.members, &core.store, run, desk, hello)
            .map_err(|why| why.refusal(&short(run)))?;
        let kept = run.store.put(slot, body, &run.record);
        if matches!(kept, Ok(Kept::New)) {
            let bytes = charge(body.len() as u64);
            run.holding().put_hello(usize::from(seat.party), bytes);
            core.members.get(self.member).stored_bytes.fetch_add(bytes, Ordering::Relaxed);
        } else {
            core.ledger.restore(&core.members, &core.store, run, before);
        }
        Ok(kept)
    }

    /// Keeps any other slot, within what is reserved.
    fn put(&self, seat: &Seat, slot: Slot, body: &[u8]) -> Result<io::Result<Kept>, Refusal> {
        let (run, party) = (&seat.run, usize::from(seat.party));
        let bytes = charge(body.len() as u64);
        let mut fits = run.holding().put(party, bytes);
        if fits.is_none() {
            // It could not be read before how much the run needs.
            self.core.take_on(run).map_err(|error| self.failed(run, &error))?;
            fits = run.holding().put(party, bytes);
        }
        match fits {
            Some(true) => {}
            // More than its hello said.
            Some(false) => return Err(Refusal::Malformed { party: seat.party }),
            None => return Err(run.over().map_or(Refusal::Storage, Over::refusal)),
        }
        let stored = &self.core.members.get(self.member).stored_bytes;
        stored.fetch_add(bytes, Ordering::Relaxed);
        let kept = run.store.put(slot, body, &run.record);
        if !matches!(kept, Ok(Kept::New)) {
            let back = run.holding().take_back(party, bytes);
            stored.fetch_sub(back, Ordering::Relaxed);
        }
        Ok(kept)
    }

    fn get(&mut self, seat: &Seat, slot: Slot) -> Result<Result<Reading<'a>, Refusal>> {
        let (run, core) = (&seat.run, self.core);
        let started = Instant::now();
        let (mut told, mut looked_at) = (None, None::<Instant>);
        let mut other_agreement = [0; 32];
        let desk = RunDesk::new(core, run);
        while !run.wait(POLL, || is_out(&run.record.spec, &desk, slot)) {
            if let Some(over) = run.over() {
                return Ok(Err(over.refusal()));
            }
            if let Some(hindrance) = run.hindrance() {
                return Ok(Err(hindrance));
            }
            if core.is_stopping() {
                return Ok(Err(Refusal::ShuttingDown));
            }
            if let Some(ended) = self.session.ended() {
                return Err(ended.into());
            }
            if started.elapsed() < PATIENCE {
                continue;
            }
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_AROUND_EVERY) {
                looked_at = Some(Instant::now());
                other_agreement = core.runs.other_agreement(run, seat.party);
            }
            let waiting = run.missing_for(slot, other_agreement);
            if told != Some(waiting) {
                told = Some(waiting);
                let channel = self.channel()?;
                channel.send(&Reply::Waiting.encode())?;
                channel.send(&waiting.encode())?;
                channel.flush()?;
            }
        }
        // With what it was made of.
        if let Err(refusal) = self.settle(seat) {
            return Ok(Err(refusal));
        }
        // Read, and as much on its way.
        let len = run.store.slot_len(slot).unwrap_or(0);
        let Some(memory) = self.memory(2 * len as usize) else {
            return Ok(Err(Refusal::ShuttingDown));
        };
        let body = run.store.read(slot).map_err(|error| self.failed(run, &error));
        Ok(body.map(|body| Reading { body, memory: Some(memory) }))
    }

    fn end(&self, seat: &Seat) -> Result<Vec<u8>, Refusal> {
        let run = &seat.run;
        let desk = RunDesk::new(self.core, run);
        let over = Over::Refused(Refusal::Ended { party: seat.party });
        let may = || may_be_ended(&run.record.spec, &desk);
        if self.core.end_if(run, over, Counted::Ended, 1 << seat.party, may) {
            return Ok(Vec::new());
        }
        Err(run.over().map_or(Refusal::TooLate, Over::refusal))
    }

    fn done(&self, seat: &Seat) -> Result<Vec<u8>, Refusal> {
        let run = &seat.run;
        // Every party has a list before it can have all it needs.
        if !run.store.is_filled(Slot::new(Kind::Size, seat.party)) {
            // Nothing is filled of a run that has just come to its end.
            return match run.over() {
                Some(Over::Finished) => Ok(Vec::new()),
                over => Err(over.map_or(Refusal::Malformed { party: seat.party }, Over::refusal)),
            };
        }
        let done = run
            .store
            .mark_done(seat.party, &run.record)
            .map_err(|error| self.failed(run, &error))?;
        if done.count_ones() == u32::from(run.parties()) {
            self.core.end(run, Over::Finished, Counted::Finished, 0);
        }
        Ok(Vec::new())
    }

    /// What a failure of the file system means: one of a run that has just gone is none.
    pub(super) fn failed(&self, run: &Run, error: &io::Error) -> Refusal {
        match run.over() {
            Some(over) => over.refusal(),
            None => {
                // What the helper had made may be lost with it, and is made again.
                self.core.recount(run);
                run.set_dirty();
                self.core.storage(error)
            }
        }
    }
}
