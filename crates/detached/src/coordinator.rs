//! The coordinator of a run whose partitions are matched by workers in other processes, in turns.
//!
//! ```text
//!  peer ──▶ messages for each partition ──▶ a task for each partition that has enough ──▶ workers
//!  peer ◀── the partition's next messages ◀──────────── stored already, under their ids ◀──
//! ```

use crate::metered::counted;
use crate::run_spec::CheckedSpec;
use crate::walk::DAMAGED;
use crate::workers::{Workers, WorkersFault};
use crate::{PartitionResult, Point, ReceivedAt, RunSpec, Task, TaskResult, digest_of};
use std::collections::BTreeMap;
use std::time::Duration;
use vesica_core::{Error, Misbehaviour, Result, TransportError};
use vesica_net::{Connection, Context, Detached, Flight, Meter, Parcel, Received, StreamId};

/// How long the coordinator waits for messages to more partitions before it hands out tasks, and
/// how many times at most: a batch of tasks takes about a second, however many tasks it has.
const GATHER: (Duration, u32) = (Duration::from_millis(150), 20);

/// The coordinator fetches at most this many objects of the peer in a row before it hands out
/// tasks: a peer cannot delay the run by sending more.
const MOST_AT_ONCE: u32 = 4096;

/// Bytes of the peer's messages that the coordinator holds in memory before it has the workers
/// store them.
const GATHERED_BYTES: u64 = 256 << 20;

/// Most objects of the peer that a task reads. A partition receives about ten messages, each in
/// objects of up to 64 MiB; each of its tasks carries the list of all of them.
const MOST_OBJECTS: usize = 1024;

const DETACHED: Error = Error::Bug("this connection has no detached parts");

/// The combined result of the partitions, unchecked. The rows are with the workers that matched
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetachedMatches {
    /// How many own items are common; `None` if this party learns nothing.
    pub matched: Option<u64>,
    /// How many own rows have a common item.
    pub rows: u64,
    /// Why the result is refused, if it is.
    pub refused: Option<Misbehaviour>,
    /// The most changes between sending and receiving in any one partition.
    pub direction_changes: u64,
}

impl DetachedMatches {
    /// How many keys are common, if this party learns it; at most `most` are possible.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] for an impossible result.
    pub fn keys(&self, most: u64) -> Result<Option<u64>> {
        match (self.refused, self.matched) {
            (Some(why), _) => Err(why.into()),
            (None, Some(matched)) if matched > most => Err(Misbehaviour::SelfCheckFailed.into()),
            (None, matched) => Ok(matched),
        }
    }
}

/// An unfinished partition.
struct Part {
    index: u64,
    /// The first stream of each step of the protocol; of the whole run if it has no steps.
    roots: Vec<StreamId>,
    received: Vec<ReceivedAt>,
    /// Bytes of the peer that arrived for the partition and that the workers have not stored yet.
    fresh: Flight,
    /// How many bytes of each stream have arrived, and of all streams together.
    arrived: BTreeMap<StreamId, u64>,
    all: u64,
    opened: Vec<StreamId>,
    /// On which streams the partition waits, and for how many bytes; `None` if this process has not
    /// handed out a task for it.
    needs: Option<Vec<(StreamId, u64)>>,
    /// The result of a task that reveals something to the peer, held until every partition has
    /// reached that step.
    held: Option<TaskResult>,
}

impl Part {
    fn new(detached: &dyn Detached, index: u64, roots: Vec<StreamId>) -> Self {
        let mut opened = detached.sent(index).1;
        if opened.is_empty() {
            opened.extend(roots.first());
        }
        Self {
            index,
            roots,
            received: Vec::new(),
            fresh: Flight::default(),
            arrived: BTreeMap::new(),
            all: 0,
            opened,
            needs: None,
            held: None,
        }
    }

    /// The partition's next task.
    fn task(&mut self, detached: &dyn Detached, kept: &mut Vec<(String, Vec<u8>)>) -> Task {
        self.keep(kept);
        Task {
            part: self.index,
            roots: self.roots.iter().map(|root| root.as_u64()).collect(),
            id: rand::random(),
            key: rand::random(),
            sent: Point::all_of(&detached.sent(self.index).0),
            received: self.received.clone(),
        }
    }

    /// Takes a message of the peer to this partition; `most` bounds the bytes of all its messages
    /// together.
    fn receive(
        &mut self,
        received: Received,
        most: u64,
        kept: &mut Vec<(String, Vec<u8>)>,
    ) -> Result<()> {
        match received {
            Received::Bytes(flight) => {
                for (stream, bytes) in flight.iter() {
                    self.arrive(stream, bytes.len() as u64, most)?;
                }
                self.fresh.extend(&flight);
            }
            Received::Parcel(parcel, stream) => {
                let lens = parcel.streams.iter();
                let len = lens.filter(|(one, _)| *one == stream).map(|(_, len)| *len).sum();
                self.arrive(stream, len, most)?;
                self.keep(kept);
                if self.received.len() >= MOST_OBJECTS {
                    return Err(Misbehaviour::Flood.into());
                }
                self.received.push(ReceivedAt::Parcel((&parcel).into(), stream.as_u64()));
            }
        }
        Ok(())
    }

    fn arrive(&mut self, stream: StreamId, len: u64, most: u64) -> Result<()> {
        self.all = self.all.saturating_add(len);
        *self.arrived.entry(stream).or_default() += len;
        if self.all > most { Err(Misbehaviour::BrokenFraming.into()) } else { Ok(()) }
    }

    /// Gives a file name to the received bytes that no worker has stored yet, and adds both to
    /// `kept`. The workers will store the bytes under that name.
    fn keep(&mut self, kept: &mut Vec<(String, Vec<u8>)>) {
        if self.fresh.is_empty() {
            return;
        }
        let name = format!("heard-{}-{:032x}", self.index, rand::random::<u128>());
        let bytes = std::mem::take(&mut self.fresh).to_bytes();
        self.received.push(ReceivedAt::Kept(name.clone(), digest_of(&bytes)));
        kept.push((name, bytes));
    }

    fn is_ready(&self) -> bool {
        let has = |(stream, len): &(StreamId, u64)| {
            self.arrived.get(stream).is_some_and(|arrived| arrived >= len)
        };
        self.held.is_none() && self.needs.as_ref().is_none_or(|needs| needs.iter().any(has))
    }
}

/// Has `workers` run the protocol on each partition of the run over `session`; returns the matches.
/// All bytes are counted under the label of `run_spec`; `progress` is called with the number of
/// finished partitions.
///
/// # Errors
/// The errors of the protocol and of the connection; [`TransportError::CancelledHere`] if `workers`
/// ends the run.
pub fn run_detached(
    ctx: &mut Context,
    session: &dyn Connection,
    workers: &dyn Workers,
    run_spec: &RunSpec,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<DetachedMatches> {
    let detached = session.detached().ok_or(DETACHED)?;
    let known = CheckedSpec::of(run_spec)?;
    let mut coordinator = Coordinator {
        detached,
        workers,
        run_spec,
        meter: ctx.meter().clone(),
        parts: Vec::new(),
        most_received_bytes: known.most_received_bytes(),
        may_reveal: false,
        kept: Vec::new(),
        found: DetachedMatches::default(),
    };
    let mut roots: Vec<Vec<StreamId>> = vec![Vec::new(); run_spec.partitions as usize];
    // Open streams in the same order as a process that has the rows: the first streams of one step
    // in all partitions, then those of the next step.
    for _ in 0..known.steps() {
        for roots in &mut roots {
            let (_, opened) = ctx.fork_detached()?;
            roots.push(*opened.ids().first().ok_or(DETACHED)?);
        }
    }
    for (index, roots) in (0..).zip(roots) {
        match session.kept_part(index)? {
            Some(kept) => {
                coordinator.end(&PartitionResult::from_bytes(&kept).ok_or(DAMAGED)?);
                // A partition finishes only after all partitions have reached the step that
                // reveals.
                coordinator.may_reveal = true;
            }
            None => coordinator.parts.push(Part::new(detached, index, roots)),
        }
    }
    while detached.recall()? {
        coordinator.receive()?;
        coordinator.make_room()?;
    }
    loop {
        progress(run_spec.partitions - coordinator.parts.len() as u64);
        if coordinator.parts.is_empty() {
            return Ok(coordinator.found);
        }
        coordinator.listen()?;
        for (index, opened, ended) in coordinator.turn()? {
            session.keep_part(index, &opened, &ended.to_bytes())?;
        }
    }
}

/// What the coordinator knows of the partitions.
struct Coordinator<'a> {
    detached: &'a dyn Detached,
    workers: &'a dyn Workers,
    run_spec: &'a RunSpec,
    meter: Meter,
    /// The unfinished partitions.
    parts: Vec<Part>,
    /// Whether all partitions have reached the step in which this party reveals something.
    may_reveal: bool,
    /// An honest peer sends fewer bytes than this to a partition.
    most_received_bytes: u64,
    /// Bytes of the peer, by name, that the workers must store before the next tasks.
    kept: Vec<(String, Vec<u8>)>,
    found: DetachedMatches,
}

impl Coordinator<'_> {
    fn end(&mut self, ended: &PartitionResult) {
        if let Some(matched) = ended.matched {
            *self.found.matched.get_or_insert(0) += matched;
        }
        self.found.rows += ended.rows;
        self.found.refused = self.found.refused.or(ended.refused());
        let cost = ended.cost();
        self.found.direction_changes = self.found.direction_changes.max(cost.direction_changes);
        self.meter.add(&[counted(&cost, &self.run_spec.label)]);
    }

    fn receive(&mut self) -> Result<()> {
        for part in &mut self.parts {
            for received in self.detached.receive(&part.opened) {
                part.receive(received, self.most_received_bytes, &mut self.kept)?;
            }
        }
        Ok(())
    }

    /// Fetches messages of the peer that have arrived, while there is room for them. Returns
    /// whether there were any.
    fn gather(&mut self) -> Result<bool> {
        let mut has_more = false;
        for _ in 0..MOST_AT_ONCE {
            if self.gathered() >= GATHERED_BYTES || !self.detached.listen(false)? {
                break;
            }
            has_more = true;
            self.receive()?;
        }
        Ok(has_more)
    }

    /// Has the workers store the messages in memory if there are many.
    fn make_room(&mut self) -> Result<()> {
        if self.gathered() < GATHERED_BYTES {
            return Ok(());
        }
        for part in &mut self.parts {
            part.keep(&mut self.kept);
        }
        let kept = self.workers.take(self.run_spec, &[], std::mem::take(&mut self.kept));
        kept.map(drop).map_err(|WorkersFault| TransportError::CancelledHere.into())
    }

    /// Bytes of the peer's messages in memory.
    fn gathered(&self) -> u64 {
        let fresh: u64 = self.parts.iter().map(|part| part.fresh.len()).sum();
        fresh + self.kept.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>()
    }

    /// Waits until a partition has the bytes that it needs, then a moment more for messages to
    /// other partitions, while they keep arriving.
    fn listen(&mut self) -> Result<()> {
        self.receive()?;
        while !self.parts.iter().any(Part::is_ready) {
            self.make_room()?;
            self.detached.listen(true)?;
            self.receive()?;
        }
        let (pause, most) = GATHER;
        for _ in 0..most {
            self.gather()?;
            let before = self.ready();
            self.receive()?;
            if self.ready() == self.parts.len()
                || self.parts.iter().all(|part| part.needs.is_none())
            {
                break;
            }
            std::thread::sleep(pause);
            if !self.gather()? && self.ready() == before {
                break;
            }
        }
        self.receive()
    }

    fn ready(&self) -> usize {
        self.parts.iter().filter(|part| part.is_ready()).count()
    }

    /// Hands out a task for each partition that has the bytes it needs. Returns the partitions that
    /// finished.
    fn turn(&mut self) -> Result<Vec<(u64, Vec<StreamId>, PartitionResult)>> {
        let (detached, kept) = (self.detached, &mut self.kept);
        let ready = self.parts.iter_mut().filter(|part| part.is_ready());
        let tasks: Vec<Task> = ready.map(|part| part.task(detached, kept)).collect();
        let taken = self
            .workers
            .take(self.run_spec, &tasks, std::mem::take(&mut self.kept))
            .map_err(|WorkersFault| TransportError::CancelledHere)?;
        if !taken.iter().map(|one| one.part).eq(tasks.iter().map(|task| task.part)) {
            return Err(Error::Bug("the results do not belong to these tasks"));
        }
        if let Some(fault) = taken.iter().find_map(|one| one.fault) {
            return Err(Misbehaviour::from(fault).into());
        }
        let (mut now, may_reveal) = (Vec::new(), self.may_reveal);
        for one in taken {
            let part = self.part(one.part)?;
            part.opened = one.opened();
            let needs = one.needs.iter().map(|(id, len)| (StreamId::from_u64(*id), *len));
            part.needs = Some(needs.collect());
            // The partition would be ready again at once: the peer has announced more bytes than
            // its objects hold.
            if one.ended.is_none() && part.is_ready() {
                return Err(Misbehaviour::BrokenFraming.into());
            }
            if one.reveals && !may_reveal { part.held = Some(one) } else { now.push(one) }
        }
        if !self.may_reveal && self.parts.iter().all(|part| part.held.is_some()) {
            self.may_reveal = true;
            now.extend(self.parts.iter_mut().filter_map(|part| part.held.take()));
        }
        let mut over = Vec::new();
        for one in now {
            self.send(&one)?;
            if let Some(ended) = one.ended {
                self.end(&ended);
                over.push((one.part, one.opened(), ended));
            }
        }
        self.parts.retain(|part| over.iter().all(|(index, ..)| *index != part.index));
        Ok(over)
    }

    fn part(&mut self, index: u64) -> Result<&mut Part> {
        self.parts.iter_mut().find(|part| part.index == index).ok_or(DETACHED)
    }

    fn send(&mut self, taken: &TaskResult) -> Result<()> {
        let detached = self.detached;
        let part = self.part(taken.part)?;
        let parcels: Vec<Parcel> = taken.parcels.iter().map(Parcel::from).collect();
        if !parcels.is_empty() {
            detached.send(part.index, &parcels, &taken.sent(), &part.opened)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
