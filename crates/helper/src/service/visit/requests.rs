//! What a party of a run asks, and the replies.

use super::{Seat, Visit};
use crate::service::desk::RunDesk;
use crate::service::metrics::Counted;
use crate::service::run::{Over, Run};
use crate::store::{Kept, charge};
use crate::wire::{Reply, Request};
use std::io;
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

impl Visit<'_> {
    /// The body of the reply to anything but a put.
    pub(super) fn answer(
        &mut self,
        seat: &Seat<'_>,
        request: Request,
    ) -> Result<Result<Vec<u8>, Refusal>> {
        let (run, party) = (&seat.run, seat.party);
        let malformed = Refusal::Malformed { party };
        match (run.over(), request) {
            (Some(Over::Finished), Request::Done | Request::Sync) => return Ok(Ok(Vec::new())),
            (Some(over), _) => return Ok(Err(over.refusal())),
            (None, _) if self.core.is_stopping() => return Ok(Err(Refusal::ShuttingDown)),
            _ => {}
        }
        Ok(match request {
            Request::Put { .. } | Request::Sync => Ok(Vec::new()),
            Request::Get { slot } if slot.may_be_got_by(party, &run.record.spec) => {
                self.get(seat, slot)?
            }
            Request::Get { .. } => Err(malformed),
            Request::Filled { kind, parts } if kind.is_written_by_party() => {
                Ok(run.store.filled(kind, party, parts))
            }
            Request::Filled { .. } => Err(malformed),
            Request::Done => self.done(seat),
            Request::End => self.end(seat),
        })
    }

    pub(super) fn keep(&self, seat: &Seat<'_>, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
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
        check_put(&run.record.spec, &desk, slot, body)
            .map_err(|refusal| run.over().map_or(refusal, Over::refusal))?;
        let member = &self.core.members[self.member];
        let bytes = charge(body.len() as u64);
        if !member.reserve(bytes) {
            let (name, most) = (&member.limits.name, member.limits.max_stored_bytes);
            return Err(self.over(name, "max_stored_mb", most / 1_000_000 + 1, most / 1_000_000));
        }
        let kept = run.store.put(slot, body, &run.record);
        if !matches!(kept, Ok(Kept::New)) {
            member.release(bytes);
        }
        match kept {
            Ok(Kept::New) => {}
            Ok(Kept::Same) => return Ok(()),
            Ok(Kept::Other) => return Err(Refusal::AlreadyThere),
            Err(error) => return Err(self.failed(run, &error)),
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

    fn get(&mut self, seat: &Seat<'_>, slot: Slot) -> Result<Result<Vec<u8>, Refusal>> {
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
        Ok(run.store.read(slot).map_err(|error| self.failed(run, &error)))
    }

    fn end(&self, seat: &Seat<'_>) -> Result<Vec<u8>, Refusal> {
        let run = &seat.run;
        let desk = RunDesk::new(self.core, run);
        let over = Over::Refused(Refusal::Ended { party: seat.party });
        let may = || may_be_ended(&run.record.spec, &desk);
        if self.core.end_if(run, over, Counted::Ended, 1 << seat.party, may) {
            return Ok(Vec::new());
        }
        Err(run.over().map_or(Refusal::TooLate, Over::refusal))
    }

    fn done(&self, seat: &Seat<'_>) -> Result<Vec<u8>, Refusal> {
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
            None => self.core.storage(error),
        }
    }
}
