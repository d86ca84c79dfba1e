//! Partitions whose work programs elsewhere do, in turns.
//!
//! ```text
//!  peer ──▶ what each partition has heard ──▶ tasks of all partitions that can go on ──▶ hands
//!  peer ◀── what each partition says next ◀──────────────── stored already, by its id ◀──┘
//! ```

use crate::hands::{Hands, HandsFault};
use crate::{Ended, HeardAt, Orders, Point, Taken, Task};
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::time::Duration;
use vesica_core::{Error, Misbehaviour, Result, TransportError};
use vesica_net::{Apart, Connection, Context, Flight, Heard, Meter, Parcel, SpanReport, StreamId};
use vesica_partitions::Cost;

/// How long more messages may come before those that have come are dealt with, and how often that is asked: a batch of
/// tasks takes about a second, whatever their number.
const GATHER: (Duration, u32) = (Duration::from_millis(150), 20);

const APART: Error = Error::Bug("this connection has no parts elsewhere");

/// What was kept of a partition is not of that one.
const DAMAGED: Error = Error::Storage(ErrorKind::InvalidData);

/// What the partitions gave, unchecked. The rows are where the work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundElsewhere {
    /// How many own items are common; `None` if this party learns nothing.
    pub matched: Option<u64>,
    /// Why the result is refused.
    pub refused: Option<Misbehaviour>,
    /// The most changes of direction of a partition.
    pub direction_changes: u64,
}

impl FoundElsewhere {
    /// How many keys are common, if this party learns it. At most `most` can be.
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

/// A partition that is not over.
struct Part {
    index: u64,
    root: StreamId,
    heard: Vec<HeardAt>,
    /// What has come with the connection and was given to nobody yet.
    fresh: Flight,
    /// How many bytes of each stream have come.
    arrived: BTreeMap<StreamId, u64>,
    opened: Vec<StreamId>,
    /// Where it waits, for how many bytes; `None` if it has not run in this process.
    needs: Option<Vec<(StreamId, u64)>>,
}

impl Part {
    fn new(apart: &dyn Apart, index: u64, root: StreamId) -> Self {
        let mut opened = apart.said(index).1;
        if opened.is_empty() {
            opened.push(root);
        }
        Self {
            index,
            root,
            heard: Vec::new(),
            fresh: Flight::default(),
            arrived: BTreeMap::new(),
            opened,
            needs: None,
        }
    }

    /// The task that it has next.
    fn task(&mut self, apart: &dyn Apart, kept: &mut Vec<(String, Vec<u8>)>) -> Task {
        self.keep(kept);
        Task {
            part: self.index,
            root: self.root.as_u64(),
            id: rand::random(),
            said: Point::all_of(&apart.said(self.index).0),
            heard: self.heard.clone(),
        }
    }

    fn hear(&mut self, heard: Heard, kept: &mut Vec<(String, Vec<u8>)>) {
        let mut arrived = |stream, len| *self.arrived.entry(stream).or_default() += len;
        match heard {
            Heard::Bytes(flight) => {
                flight.iter().for_each(|(stream, bytes)| arrived(stream, bytes.len() as u64));
                self.fresh.extend(&flight);
            }
            Heard::Parcel(parcel) => {
                parcel.streams.iter().for_each(|(stream, len)| arrived(*stream, *len));
                self.keep(kept);
                self.heard.push(HeardAt::Parcel((&parcel).into()));
            }
        }
    }

    /// Has what is fresh kept under a name.
    fn keep(&mut self, kept: &mut Vec<(String, Vec<u8>)>) {
        if self.fresh.is_empty() {
            return;
        }
        let name = format!("heard-{}-{:032x}", self.index, rand::random::<u128>());
        kept.push((name.clone(), std::mem::take(&mut self.fresh).to_bytes()));
        self.heard.push(HeardAt::Kept(name));
    }

    fn is_ready(&self) -> bool {
        let has = |(stream, len): &(StreamId, u64)| {
            self.arrived.get(stream).is_some_and(|arrived| arrived >= len)
        };
        self.needs.as_ref().is_none_or(|needs| needs.iter().any(has))
    }
}

/// Has `hands` run the protocol on each partition of the run over `session`; returns what was found. All is counted under
/// the label of `orders`; `progress` takes how many partitions are done.
///
/// # Errors
/// Those of the protocol and of the connection; [`TransportError::CancelledHere`] if `hands` ends the run.
pub fn run_elsewhere(
    ctx: &mut Context,
    session: &dyn Connection,
    hands: &dyn Hands,
    orders: &Orders,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<FoundElsewhere> {
    let apart = session.apart().ok_or(APART)?;
    apart.recall()?;
    let mut board = Board {
        apart,
        hands,
        orders,
        meter: ctx.meter().clone(),
        parts: Vec::new(),
        owners: HashMap::new(),
        kept: Vec::new(),
        found: FoundElsewhere::default(),
    };
    for index in 0..orders.partitions {
        let (_, opened) = ctx.fork_apart()?;
        let root = *opened.ids().first().ok_or(APART)?;
        match session.kept_part(index)? {
            Some(kept) => board.end(&Ended::from_bytes(&kept).ok_or(DAMAGED)?),
            None => {
                let part = Part::new(apart, index, root);
                board.own(index, &part.opened)?;
                board.parts.push(part);
            }
        }
    }
    loop {
        progress(orders.partitions - board.parts.len() as u64);
        if board.parts.is_empty() {
            return Ok(board.found);
        }
        board.listen()?;
        for (index, opened, ended) in board.turn()? {
            session.keep_part(index, &opened, &ended.to_bytes())?;
        }
    }
}

/// What is known of the partitions.
struct Board<'a> {
    apart: &'a dyn Apart,
    hands: &'a dyn Hands,
    orders: &'a Orders,
    meter: Meter,
    /// Those that are not over.
    parts: Vec<Part>,
    /// Whose each stream is that a partition has opened or heard.
    owners: HashMap<StreamId, u64>,
    /// What `hands` must keep before the next tasks.
    kept: Vec<(String, Vec<u8>)>,
    found: FoundElsewhere,
}

impl Board<'_> {
    fn end(&mut self, ended: &Ended) {
        if let Some(matched) = ended.matched {
            *self.found.matched.get_or_insert(0) += matched;
        }
        self.found.refused = self.found.refused.or(ended.refused());
        let Cost { payload: (bytes_sent, bytes_received), direction_changes } = ended.cost();
        self.found.direction_changes = self.found.direction_changes.max(direction_changes);
        let label = self.orders.label.clone();
        let span = SpanReport { label, bytes_sent, bytes_received, ..SpanReport::default() };
        self.meter.add(&[span]);
    }

    /// Checks that nobody else has these `streams` of partition `index`: what one partition hears, no other one would.
    fn own(&mut self, index: u64, streams: &[StreamId]) -> Result<()> {
        let is_own = |stream| *self.owners.entry(stream).or_insert(index) == index;
        match streams.iter().copied().all(is_own) {
            true => Ok(()),
            false => Err(Misbehaviour::BrokenFraming.into()),
        }
    }

    fn hear(&mut self) -> Result<()> {
        for at in 0..self.parts.len() {
            for heard in self.apart.hear(&self.parts[at].opened) {
                self.own(self.parts[at].index, &streams_of(&heard))?;
                self.parts[at].hear(heard, &mut self.kept);
            }
        }
        Ok(())
    }

    /// Waits until a partition can go on, and then while more messages come soon.
    fn listen(&mut self) -> Result<()> {
        self.hear()?;
        while !self.parts.iter().any(Part::is_ready) {
            self.apart.listen(true)?;
            self.hear()?;
        }
        let (pause, most) = GATHER;
        for _ in 0..most {
            while self.apart.listen(false)? {}
            let before = self.ready();
            self.hear()?;
            if self.ready() == self.parts.len()
                || self.parts.iter().all(|part| part.needs.is_none())
            {
                break;
            }
            std::thread::sleep(pause);
            let has_more = self.apart.listen(false)?;
            if !has_more && self.ready() == before {
                break;
            }
        }
        self.hear()
    }

    fn ready(&self) -> usize {
        self.parts.iter().filter(|part| part.is_ready()).count()
    }

    /// Has the tasks taken of all partitions that can go on; returns those that are over.
    fn turn(&mut self) -> Result<Vec<(u64, Vec<StreamId>, Ended)>> {
        let (apart, kept) = (self.apart, &mut self.kept);
        let ready = self.parts.iter_mut().filter(|part| part.is_ready());
        let tasks: Vec<Task> = ready.map(|part| part.task(apart, kept)).collect();
        let taken = self.hands.take(self.orders, &tasks, std::mem::take(&mut self.kept));
        let taken = taken.map_err(|HandsFault| TransportError::CancelledHere)?;
        if !taken.iter().map(|one| one.part).eq(tasks.iter().map(|task| task.part)) {
            return Err(Error::Bug("what came of tasks is not of these tasks"));
        }
        if let Some(fault) = taken.iter().find_map(|one| one.fault) {
            return Err(Misbehaviour::from(fault).into());
        }
        let mut over = Vec::new();
        for one in taken {
            self.take(&one)?;
            if let Some(ended) = one.ended {
                self.end(&ended);
                over.push((one.part, one.opened(), ended));
            }
        }
        self.parts.retain(|part| over.iter().all(|(index, ..)| *index != part.index));
        Ok(over)
    }

    fn take(&mut self, taken: &Taken) -> Result<()> {
        self.own(taken.part, &taken.opened())?;
        let part = self.parts.iter_mut().find(|part| part.index == taken.part).ok_or(APART)?;
        part.opened = taken.opened();
        let needs = taken.needs.iter().map(|(id, len)| (StreamId::from_u64(*id), *len));
        part.needs = Some(needs.collect());
        if let Some(parcel) = &taken.parcel {
            self.apart.say(part.index, &Parcel::from(parcel), &taken.said(), &part.opened)?;
        }
        Ok(())
    }
}

fn streams_of(heard: &Heard) -> Vec<StreamId> {
    match heard {
        Heard::Bytes(flight) => flight.iter().map(|(stream, _)| stream).collect(),
        Heard::Parcel(parcel) => parcel.streams.iter().map(|(stream, _)| *stream).collect(),
    }
}
