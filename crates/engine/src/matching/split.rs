//! Matching in partitions, for sets larger than one run of a protocol should hold.
//!
//! ```text
//!  items, row by row ──▶ grouped by partition, in memory or on disk
//!                         │ read, padded to the public length
//!                         ▼
//!  partition 0 ─▶ run of the protocol ─▶ bits ┐
//!  partition 1 ─▶ run of the protocol ─▶ bits ├─▶ closing ─▶ checked ─▶ a bit a row
//!  …              several in flight           ┘
//! ```
//!
//! A protocol against parties that deviate makes each of its steps in all partitions before the
//! next one in any ([`Steps`](vesica_protocols::Steps)): its parties fix whole sets before either
//! reveals anything.
//!
//! One self-check covers the whole run: its items fall into partitions like all others, and are
//! counted at the end.

mod in_memory;

use crate::answer::Told;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use vesica_agreement::split;
use vesica_core::sort::sort_distinct;
use vesica_core::{
    Block, Error, Item, Items, Learns, Misbehaviour, PsiParams, Result, Role, Secret,
};
use vesica_detached::{InSteps, PartRows, PartRun};
use vesica_net::{Connection, Context};
use vesica_own_rows::{RowEntries, RowItems, RowSet, Spread};
use vesica_partitions::{
    Buckets, Grouped, NO_PREFIX, PartitionBits, PartitionOutput, Plan, Splitter,
};
use vesica_protocols::Protocol;
use vesica_records::{NO_ITEM, Streamed};
use vesica_scratch::Scratch;

const EXPORT_PARTITIONS: &str = "EXPORTER-vesica-partitions";

/// Partitions matched at a time, if there is memory for them, where a party writes its messages to
/// a store.
const RUNS_OF_A_STORE: usize = 16;

/// Items read before repeated ones are dropped.
const LEAST_ROOM: usize = 1 << 20;

/// The rows of a file that has more keys than one partition holds.
pub(crate) struct Large {
    pub(super) items: RowItems,
    pub(super) streamed: Streamed,
}

/// A file's rows, grouped.
pub(crate) struct Pieces {
    grouped: Grouped,
    /// Whether rows have the same key.
    pub(super) has_repeats: bool,
}

impl Pieces {
    /// Counts the distinct items.
    ///
    /// # Errors
    /// Errors of the scratch files.
    pub(super) fn count_distinct(&mut self) -> Result<u64> {
        let (mut all, mut distinct) = (0, 0);
        for index in 0..self.grouped.partitions() {
            all += self.grouped.len(index);
            distinct += self.distinct(index)?.len() as u64;
        }
        self.has_repeats = distinct < all;
        Ok(distinct)
    }

    /// The items that a partition enters, each once.
    fn entered(&self, index: u64) -> Result<Vec<Item>> {
        if self.has_repeats {
            return self.distinct(index);
        }
        let mut entries = Vec::new();
        self.grouped.read(index, &mut entries).map_err(storage)?;
        Ok(entries)
    }

    /// The distinct items of a partition, ascending. Memory follows their count alone, even if one
    /// repeats often.
    fn distinct(&self, index: u64) -> Result<Vec<Item>> {
        let (mut items, mut room) = (Vec::new(), LEAST_ROOM);
        let read = self.grouped.each(index, &mut |some| {
            if items.len() + some.len() > room {
                sort_distinct(&mut items);
                room = LEAST_ROOM.max(2 * items.len());
            }
            items.extend_from_slice(some);
            Ok(())
        });
        read.map_err(storage)?;
        sort_distinct(&mut items);
        Ok(items)
    }

    /// Replaces each item by its value; `items` are the items of a partition as
    /// [`entered`](Self::entered) returns them.
    fn replace(&self, index: u64, items: &[Item], values: &[Block]) -> Result<()> {
        let item_of = |value: Block| Item::from_bytes(value.to_le_bytes());
        let mut next = values.iter().copied();
        let spread = self.has_repeats.then(|| Spread::new(items, values));
        let replaced = self.grouped.replace(index, &mut |entries| {
            match &spread {
                Some(spread) => {
                    let values: Vec<Item> = spread.of(entries).map(item_of).collect();
                    entries.copy_from_slice(&values);
                }
                None => {
                    let pairs = entries.iter_mut().zip(next.by_ref());
                    pairs.for_each(|(entry, value)| *entry = item_of(value));
                }
            }
            Ok(())
        });
        replaced.map_err(storage)
    }
}

/// The unchecked outcome of the runs of all partitions.
pub(crate) struct Found {
    bits: PartitionBits,
    /// Number of this party's items that are common; `None` if it learns nothing.
    matched: Option<u64>,
    /// Why the result is refused.
    refused: Option<Misbehaviour>,
}

impl Found {
    /// What the closing message reveals; see [`Told`].
    pub(super) fn told(&self, learns: Learns) -> Told {
        match (learns, self.matched) {
            (Learns::Both, Some(matched)) => Told::Number(matched.into()),
            _ => Told::Nothing,
        }
    }

    /// The rows in the result, if this party learns it. At most `most` keys can be common.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] for an impossible result; errors of the scratch files.
    pub(crate) fn rows(
        self,
        pieces: Pieces,
        most: u64,
        entries: &RowEntries,
    ) -> Result<Option<RowSet>> {
        if let Some(why) = self.refused {
            return Err(why.into());
        }
        let Some(matched) = self.matched else { return Ok(None) };
        if matched > most {
            return Err(Misbehaviour::SelfCheckFailed.into());
        }
        let count = pieces.grouped.rows();
        let words = pieces.grouped.into_rows(&self.bits).map_err(storage)?;
        Ok(Some(RowSet::of_entries(words, count, entries, matched)))
    }

    /// Adds the outcome of one partition, except its bits.
    fn add(&mut self, given: &PartitionOutput) {
        self.refused = self.refused.or(given.refused);
        if let Some(own) = &given.own {
            *self.matched.get_or_insert(0) += count(own);
        }
    }
}

fn count(common: &[bool]) -> u64 {
    common.iter().filter(|common| **common).count() as u64
}

/// Adds the outcome of partition `index` of `pieces`; `repeated` are its items, if several rows may
/// have the same.
fn add(
    found: &Mutex<Found>,
    pieces: &Pieces,
    index: u64,
    repeated: Option<&[Item]>,
    given: &PartitionOutput,
) -> Result<()> {
    let found = || found.lock().unwrap_or_else(PoisonError::into_inner);
    found().add(given);
    let Some(own) = &given.own else { return Ok(()) };
    let Some(items) = repeated else {
        found().bits.set(index, 0, own.iter().copied());
        return Ok(());
    };
    let (spread, mut first) = (Spread::new(items, own), 0);
    let read = pieces.grouped.each(index, &mut |entries| {
        let bits: Vec<bool> = spread.of(entries).collect();
        found().bits.set(index, first, bits.into_iter());
        first += entries.len() as u64;
        Ok(())
    });
    read.map_err(storage)
}

/// The rows of a run, and the outcome so far.
struct Rows<'a> {
    pieces: &'a Pieces,
    found: &'a Mutex<Found>,
}

impl PartRows for Rows<'_> {
    fn entered(&self, index: u64) -> Result<Vec<Item>> {
        self.pieces.entered(index)
    }

    fn replace(&self, index: u64, items: &[Item], values: &[Block]) -> Result<()> {
        self.pieces.replace(index, items, values)
    }

    fn add(&self, index: u64, values: &[Item], given: &PartitionOutput) -> Result<()> {
        let repeated = self.pieces.has_repeats.then_some(values);
        add(self.found, self.pieces, index, repeated, given)
    }
}

/// The machine's resources for a run in partitions.
pub(crate) struct Splitting<'a> {
    session: &'a dyn Connection,
    secret: Secret<[u8; 32]>,
    splitter: Splitter,
    scratch: &'a dyn Scratch,
    memory_bytes: u64,
    threads: NonZeroUsize,
}

/// The protocol that runs in each partition.
#[derive(Clone, Copy)]
pub(crate) struct Matched<'a> {
    pub(crate) row: &'a Protocol,
    pub(crate) role: Role,
    /// Of the whole sets.
    pub(crate) params: &'a PsiParams,
    pub(crate) plan: Plan,
}

impl<'a> Matched<'a> {
    fn part_run(self, label: &'a str) -> PartRun<'a> {
        let Self { row, role, params, plan } = self;
        PartRun { row, role, params, plan, label }
    }
}

impl<'a> Splitting<'a> {
    /// Partitions under a secret of the `session`; `context` is bound into it.
    pub(crate) fn new(
        session: &'a dyn Connection,
        context: &[u8],
        scratch: &'a dyn Scratch,
        memory_bytes: u64,
        threads: NonZeroUsize,
    ) -> Self {
        let secret = Secret::new(session.export(EXPORT_PARTITIONS, context));
        let splitter = Splitter::new(secret.expose());
        Self { session, secret, splitter, scratch, memory_bytes, threads }
    }

    /// The facts from which partitions are derived.
    pub(crate) fn secret(&self) -> &[u8; 32] {
        self.secret.expose()
    }

    /// Groups `items`, in the order of the rows.
    ///
    /// # Errors
    /// Errors of the scratch files.
    pub(crate) fn group(&self, items: &dyn Items, most_partitions: u64) -> Result<Pieces> {
        let mut buckets = Buckets::new(most_partitions, self.memory_bytes / 4, self.scratch);
        let mut prefixes = Vec::new();
        let grouped = items
            .each(&mut |_, items| {
                self.splitter.prefixes(items, &mut prefixes);
                for (prefix, item) in prefixes.iter_mut().zip(items) {
                    if *item == NO_ITEM {
                        *prefix = NO_PREFIX;
                    }
                }
                buckets.push(items, &prefixes)
            })
            .and_then(|()| buckets.finish(most_partitions))
            .map_err(storage)?;
        Ok(Pieces { grouped, has_repeats: false })
    }

    /// Runs the protocol on each partition; returns the outcome, and the most changes of direction
    /// of a run. The items of `shared` are in both sets. Bytes and times count under `label`;
    /// `progress` receives the number of finished partitions.
    ///
    /// # Errors
    /// The first error of a run, which stops the session.
    pub(crate) fn run(
        &self,
        ctx: &mut Context,
        pieces: Pieces,
        matched: Matched<'_>,
        label: &str,
        shared: &[Item],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Pieces, Found, u64)> {
        let partitions = matched.plan.partitions();
        let pieces = Pieces { grouped: pieces.grouped.in_partitions(partitions), ..pieces };
        let shared = self.shared_of(matched.plan, shared);
        let bits = PartitionBits::new(&pieces.grouped);
        let found = Mutex::new(Found { bits, matched: None, refused: None });
        progress(0);
        let rows = Rows { pieces: &pieces, found: &found };
        let run = InSteps::new(self.session, &rows, matched.part_run(label), &shared);
        let changes = run.run(ctx, self.runs_in_flight(matched), progress)?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((pieces, found, changes))
    }

    /// The `shared` items of each partition.
    fn shared_of(&self, plan: Plan, shared: &[Item]) -> Vec<Vec<Item>> {
        let mut prefixes = Vec::new();
        self.splitter.prefixes(shared, &mut prefixes);
        let mut of = vec![Vec::new(); plan.partitions() as usize];
        for (item, prefix) in shared.iter().zip(prefixes) {
            of[plan.partition_of(prefix) as usize].push(*item);
        }
        of
    }

    /// How many partitions are matched at a time, as far as memory allows: one more than threads,
    /// so that one can wait for the peer, or more where each message takes long.
    fn runs_in_flight(&self, matched: Matched<'_>) -> NonZeroUsize {
        let room = self.memory_bytes / 2 / split::memory_in_flight(matched.plan, matched.params);
        let wanted = self.threads.get() + 1;
        let wanted =
            if self.session.seed().is_some() { wanted.max(RUNS_OF_A_STORE) } else { wanted };
        let runs = room.min(wanted as u64) as usize;
        NonZeroUsize::new(runs).unwrap_or(NonZeroUsize::MIN)
    }
}

fn storage(error: io::Error) -> Error {
    Error::Storage(error.kind())
}

#[cfg(test)]
mod tests;
