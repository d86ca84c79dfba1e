//! The requests of a party in a run, and the replies.

use super::{Connection, Participant, Reading};
use crate::service::log_names::short;
use crate::service::metrics::Counted;
use crate::service::run::{Over, Run};
use crate::service::run_slots::RunSlots;
use crate::store::{Kept, charge};
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vesica_core::{Refusal, Result};
use vesica_helper_wire::{Reply, Request};
use vesica_server_aided::kmrs14::helper::{check_put, is_out, may_be_ended};
use vesica_server_aided::kmrs14::{Kind, Slot};

/// How often a waiting get checks whether its party is still connected.
const POLL: Duration = Duration::from_millis(100);

/// How long a get waits before its party learns for whom.
const PATIENCE: Duration = Duration::from_millis(300);

/// How often it checks for parties that wait under another agreement.
const LOOK_AROUND_EVERY: Duration = Duration::from_secs(1);

impl<'a> Connection<'a> {
    /// The body of the reply to anything but a put.
    pub(super) fn answer(
        &mut self,
        participant: &Participant,
        request: Request,
    ) -> Result<Result<Reading<'a>, Refusal>> {
        let (run, party) = (&participant.run, participant.party);
        let malformed = Refusal::Malformed { party };
        match (run.over(), request) {
            (Some(Over::Finished), Request::Done | Request::Sync) => {
                return Ok(Ok(Vec::new().into()));
            }
            (Some(over), _) => return Ok(Err(over.refusal())),
            (None, _) if self.core.is_stopping() => return Ok(Err(Refusal::ShuttingDown)),
            _ => {}
        }
        if let Err(refusal) = self.settle(participant) {
            return Ok(Err(refusal));
        }
        let answer = match request {
            Request::Get { slot } if slot.may_be_got_by(party, &run.record.spec) => {
                return self.get(participant, slot);
            }
            Request::Put { .. } | Request::Sync => Ok(Vec::new()),
            Request::Get { .. } => Err(malformed),
            Request::Filled { kind, parts } if kind.is_written_by_party() => {
                Ok(run.store.filled(kind, party, parts))
            }
            Request::Filled { .. } => Err(malformed),
            Request::Done => self.done(participant),
            Request::End => self.end(participant),
        };
        Ok(answer.map(Reading::from))
    }

    pub(super) fn keep(
        &self,
        participant: &Participant,
        slot: Slot,
        body: &[u8],
    ) -> Result<(), Refusal> {
        let (run, party) = (&participant.run, participant.party);
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
        let slots = RunSlots::new(self.core, run);
        // Data that does not fit because the run has just ended is not malformed. Nor is data that
        // does not fit because something before it could not be synced: the party puts it again.
        check_put(&run.record.spec, &slots, slot, body).map_err(|refusal| match run.over() {
            Some(over) => over.refusal(),
            None if run.store.mark() != participant.mark => Refusal::Storage,
            None => refusal,
        })?;
        // A slot that marks a list as complete must not survive the list, and so on.
        if !matches!(slot.kind, Kind::Labels | Kind::Opened | Kind::Relayed | Kind::Found) {
            self.settle(participant)?;
        }
        let kept = match slot.kind {
            Kind::Hello => self.put_hello(participant, &slots, slot, body)?,
            _ => self.put(participant, slot, body)?,
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
        // A list is checked when its party marks it as complete, or asks.
        if !matches!(slot.kind, Kind::Labels | Kind::Opened | Kind::Relayed) {
            self.core.consider(run);
        }
        Ok(())
    }

    /// Stores a hello, if there is space for it and everything that follows.
    fn put_hello(
        &self,
        participant: &Participant,
        slots: &RunSlots<'_>,
        slot: Slot,
        body: &[u8],
    ) -> Result<io::Result<Kept>, Refusal> {
        let (run, core) = (&participant.run, self.core);
        // One at a time: the last finds all others stored.
        let _one = run.admitting.lock();
        let before = run.holding().reserved();
        core.ledger
            .admit(&core.members, &core.store, run, slots, participant.party, body)
            .map_err(|why| why.refusal(&short(run)))?;
        let kept = run.store.put(slot, body, &run.record);
        if matches!(kept, Ok(Kept::New)) {
            let bytes = charge(body.len() as u64);
            run.holding().put_hello(usize::from(participant.party), bytes);
            core.members.get(self.member).stored_bytes.fetch_add(bytes, Ordering::Relaxed);
        } else {
            core.ledger.restore(&core.members, &core.store, run, before);
        }
        Ok(kept)
    }

    /// Stores any other slot, within the reservation.
    fn put(
        &self,
        participant: &Participant,
        slot: Slot,
        body: &[u8],
    ) -> Result<io::Result<Kept>, Refusal> {
        let (run, party) = (&participant.run, usize::from(participant.party));
        let bytes = charge(body.len() as u64);
        let mut fits = run.holding().put(party, bytes);
        if fits.is_none() {
            // The needs of the run could not be read before.
            self.core.take_on(run).map_err(|error| self.failed(run, &error))?;
            fits = run.holding().put(party, bytes);
        }
        match fits {
            Some(true) => {}
            // More than its hello announced.
            Some(false) => return Err(Refusal::Malformed { party: participant.party }),
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

    fn get(
        &mut self,
        participant: &Participant,
        slot: Slot,
    ) -> Result<Result<Reading<'a>, Refusal>> {
        let (run, core) = (&participant.run, self.core);
        let started = Instant::now();
        let (mut reported, mut looked_at) = (None, None::<Instant>);
        let mut other_agreement = [0; 32];
        let slots = RunSlots::new(core, run);
        while !run.wait(POLL, || is_out(&run.record.spec, &slots, slot)) {
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
            self.sign(&Reply::NotYet.encode())?;
            if started.elapsed() < PATIENCE {
                continue;
            }
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_AROUND_EVERY) {
                looked_at = Some(Instant::now());
                other_agreement = core.runs.other_agreement(run, participant.party);
            }
            let waiting = run.missing_for(slot, other_agreement);
            if waiting.parties & run.store.done() != 0 {
                // That party's slots are lost, and it sends nothing more.
                let over = Over::Refused(Refusal::Expired);
                core.end(run, over, Counted::Failed, 1 << participant.party);
                return Ok(Err(run.over().unwrap_or(over).refusal()));
            }
            if reported != Some(waiting) {
                reported = Some(waiting);
                let channel = self.channel()?;
                channel.send(&Reply::Waiting.encode())?;
                channel.send(&waiting.encode())?;
                channel.flush()?;
            }
        }
        // Together with its inputs.
        if let Err(refusal) = self.settle(participant) {
            return Ok(Err(refusal));
        }
        // Read, and as much being sent.
        let len = run.store.slot_len(slot).unwrap_or(0);
        let Some(memory) = self.memory(2 * len as usize) else {
            return Ok(Err(Refusal::ShuttingDown));
        };
        let body = run.store.read(slot).map_err(|error| self.failed(run, &error));
        Ok(body.map(|body| Reading { body, memory: Some(memory) }))
    }

    fn end(&self, participant: &Participant) -> Result<Vec<u8>, Refusal> {
        let run = &participant.run;
        if !self.core.members.get(self.member).may_change_runs() {
            return Err(self.too_often());
        }
        let slots = RunSlots::new(self.core, run);
        let over = Over::Refused(Refusal::Ended { party: participant.party });
        let may = || may_be_ended(&run.record.spec, &slots);
        if self.core.end_if(run, over, Counted::Ended, 1 << participant.party, may) {
            return Ok(Vec::new());
        }
        Err(run.over().map_or(Refusal::TooLate, Over::refusal))
    }

    fn done(&self, participant: &Participant) -> Result<Vec<u8>, Refusal> {
        let run = &participant.run;
        // Every party has a list before it can be done. Where it may have been lost since, the
        // party may have its answer, and the helper takes its word: it speaks only for itself.
        let has_list = run.store.is_filled(Slot::new(Kind::Size, participant.party));
        if !has_list && !run.store.may_have_lost() {
            // No slot is filled in a run that has just ended.
            return match run.over() {
                Some(Over::Finished) => Ok(Vec::new()),
                over => {
                    Err(over.map_or(Refusal::Malformed { party: participant.party }, Over::refusal))
                }
            };
        }
        let done = run
            .store
            .mark_done(participant.party, &run.record)
            .map_err(|error| self.failed(run, &error))?;
        if done.count_ones() == u32::from(run.parties()) {
            self.core.end(run, Over::Finished, Counted::Finished, 0);
        }
        Ok(Vec::new())
    }

    /// The refusal for a failure of the file system; in a run that has just ended it is not one.
    pub(super) fn failed(&self, run: &Run, error: &io::Error) -> Refusal {
        match run.over() {
            Some(over) => over.refusal(),
            None => {
                // The helper's intermediate data may be lost with it, and is computed again.
                self.core.recount(run);
                run.set_dirty();
                self.core.storage(error)
            }
        }
    }
}
