//! Matching in partitions: sets that are larger than one run of a protocol should hold.
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
//! The self-check is one of the whole run: its items fall into partitions like all others, and are counted at the end.

use super::session::OverSession;
use crate::answer::{Asked, Told};
use crate::error::ConfigFault;
use crate::output::{RowSet, RunResult};
use crate::rows::{self, RowItems};
use crate::self_check::{CheckedSet, shared_items};
use crate::{Error, Phase};
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use vesica_agreement::choice::Choice;
use vesica_agreement::split::partition;
use vesica_core::{Item, Learns, Misbehaviour, Role, StopReason};
use vesica_link::Session;
use vesica_net::Context;
use vesica_partitions::{Buckets, Grouped, NO_PREFIX, PartitionBits, Plan, Splitter};
use vesica_protocols::Output;
use vesica_protocols::kmrs14::Items;
use vesica_records::{KeyCounts, NO_ITEM, Streamed};

/// Bytes of memory that a run takes for an item of either set, with what is read and padded: measured with `rr22`, the
/// largest of the protocols that are split.
const BYTES_PER_ITEM: u64 = 160;

/// The rows of a file with more keys than one partition holds.
pub(crate) struct Large {
    pub(super) items: RowItems,
    pub(super) streamed: Streamed,
}

/// A file's rows, grouped.
pub(super) struct Pieces {
    grouped: Grouped,
    splitter: Splitter,
    /// Whether rows have the same key.
    has_repeats: bool,
    pub(super) distinct: u64,
}

/// What the runs of all partitions gave, unchecked.
pub(super) struct Found {
    bits: PartitionBits,
    /// Common items of this party's own; `None` if it learns nothing.
    matched: Option<u64>,
    /// Why the result is refused.
    refused: Option<Misbehaviour>,
}

impl Pieces {
    /// The same where the distinct items have been counted.
    pub(super) fn with_distinct(self, counts: &KeyCounts) -> Self {
        Self { has_repeats: counts.duplicates > 0, distinct: counts.distinct, ..self }
    }
}

impl Found {
    /// What the closing message reveals; see [`Told`].
    pub(super) fn told(&self, learns: Learns) -> Told {
        match (learns, self.matched) {
            (Learns::Both, Some(matched)) => Told::Number(matched.into()),
            _ => Told::Nothing,
        }
    }

    /// The output of the job.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] for an impossible result; those of the scratch files.
    pub(super) fn answer(
        self,
        pieces: Pieces,
        asked: &Asked<'_>,
    ) -> Result<Result<RunResult, Misbehaviour>, io::Error> {
        Ok(match (self.refused, self.matched) {
            (Some(why), _) => Err(why),
            (None, Some(matched)) if asked.learns => match matched <= asked.most() {
                true => {
                    let rows = pieces.grouped.rows();
                    let words = pieces.grouped.into_rows(&self.bits)?;
                    Ok(RunResult::Rows(RowSet::new(words, rows, matched)))
                }
                false => Err(Misbehaviour::SelfCheckFailed),
            },
            _ => Ok(RunResult::Nothing),
        })
    }

    /// Takes the output of a partition. The work is the same whatever was found: the peer sees how soon the next
    /// partition begins.
    fn add(&mut self, index: u64, part: &Part, output: Output) {
        let (said, refused) = output.split();
        self.refused = self.refused.or(refused);
        let Output::Positions(positions) = said else { return };
        let mut common = vec![false; part.len];
        let mut wrong = false;
        for position in positions {
            match common.get_mut(position) {
                Some(common) => wrong |= std::mem::replace(common, true),
                None => wrong = true,
            }
        }
        let count = |range: &[bool]| range.iter().filter(|common| **common).count();
        let (own, others) = common.split_at(part.own_len);
        let (shared, padding) = others.split_at(part.shared_len);
        wrong |= count(shared) != part.shared_len || count(padding) > 0;
        *self.matched.get_or_insert(0) += count(own) as u64;
        self.refused = self.refused.or(wrong.then_some(Misbehaviour::SelfCheckFailed));
        match &part.ranks {
            Some(ranks) => self.bits.set(index, ranks.iter().map(|rank| own[*rank as usize])),
            None => self.bits.set(index, own.iter().copied()),
        }
    }
}

/// What is kept of a partition while its protocol runs.
struct Part {
    own_len: usize,
    shared_len: usize,
    /// Items in all, with padding.
    len: usize,
    /// The place of each entry's item among the distinct ones, if entries repeat.
    ranks: Option<Vec<u32>>,
}

impl OverSession<'_> {
    /// Groups `items`, in the order of the rows, under the `secret` of the session.
    pub(super) fn group(
        &self,
        items: &dyn Items,
        secret: &[u8; 32],
        most_partitions: u64,
    ) -> Result<Pieces, Error> {
        let splitter = Splitter::new(secret);
        let mut buckets = Buckets::new(most_partitions, self.memory_bytes() / 4, self.scratch());
        let mut prefixes = Vec::new();
        let grouped = items.each(&mut |_, items| {
            splitter.prefixes(items, &mut prefixes);
            for (prefix, item) in prefixes.iter_mut().zip(items) {
                if *item == NO_ITEM {
                    *prefix = NO_PREFIX;
                }
            }
            buckets.push(items, &prefixes)
        });
        let grouped = grouped.and_then(|()| buckets.finish(most_partitions));
        let grouped = grouped.map_err(|error| self.storage(&error))?;
        Ok(Pieces { grouped, splitter, has_repeats: false, distinct: items.rows() })
    }

    /// Counts the distinct items.
    pub(super) fn count_distinct(&self, pieces: Pieces) -> Result<Pieces, Error> {
        let Pieces { grouped, splitter, .. } = pieces;
        let (mut entries, mut all, mut distinct) = (Vec::new(), 0, 0);
        for index in 0..grouped.partitions() {
            grouped.read(index, &mut entries).map_err(|error| self.storage(&error))?;
            all += entries.len() as u64;
            vesica_records::sort_distinct(&mut entries);
            distinct += entries.len() as u64;
        }
        Ok(Pieces { grouped, splitter, has_repeats: distinct < all, distinct })
    }

    /// Runs the protocol on each partition of `plan`; returns what was found, and the most changes of direction of a
    /// run.
    pub(super) fn run_in_partitions(
        &self,
        (session, ctx): (&Session, &mut Context),
        pieces: Pieces,
        (plan, choice): (Plan, &Choice),
        check_secret: &[u8; 32],
    ) -> Result<(Pieces, Found, u64), Error> {
        let grouped = pieces.grouped.in_partitions(plan.partitions());
        let pieces = Pieces { grouped, ..pieces };
        let shared = self.shared_of(&pieces, plan, check_secret);
        let bits = PartitionBits::new(&pieces.grouped);
        let found = Mutex::new(Found { bits, matched: None, refused: None });
        let (changes, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let partitions = plan.partitions();
        ctx.progress(0, partitions);
        let work = |index: u64, ctx: &mut Context| {
            let run = self.run_partition(ctx, &pieces, (plan, choice), &shared, index)?;
            changes.fetch_max(ctx.direction_changes(), Ordering::Relaxed);
            let (part, output) = run;
            found.lock().unwrap_or_else(PoisonError::into_inner).add(index, &part, output);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.progress(done, partitions);
            Ok(())
        };
        in_flight(ctx, session, partitions, self.runs_in_flight(plan, choice), work)?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((pieces, found, changes.into_inner()))
    }

    /// The shared self-check items of each partition.
    fn shared_of(&self, pieces: &Pieces, plan: Plan, secret: &[u8; 32]) -> Vec<Vec<Item>> {
        let all = shared_items(secret, self.self_check_items());
        let mut prefixes = Vec::new();
        pieces.splitter.prefixes(&all, &mut prefixes);
        let mut shared = vec![Vec::new(); plan.partitions() as usize];
        for (item, prefix) in all.into_iter().zip(prefixes) {
            shared[plan.partition_of(prefix) as usize].push(item);
        }
        shared
    }

    fn run_partition(
        &self,
        ctx: &mut Context,
        pieces: &Pieces,
        (plan, choice): (Plan, &Choice),
        shared: &[Vec<Item>],
        index: u64,
    ) -> Result<(Part, Output), Error> {
        let mut entries = Vec::new();
        pieces.grouped.read(index, &mut entries).map_err(|error| self.storage(&error))?;
        let (items, ranks) = match pieces.has_repeats {
            true => {
                let (items, ranks) = rows::ranked(&entries);
                (items, Some(ranks))
            }
            false => (entries, None),
        };
        let at = self.at(Phase::Matching);
        let shared = &shared[index as usize];
        let params = partition(plan, &choice.roles.params, index, shared.len() as u64);
        let params = params.map_err(&at)?;
        let role = choice.roles.role(self.seat());
        let len = match role {
            Role::Sender => params.sender_len(),
            _ => params.receiver_len(),
        };
        if items.len() + shared.len() > len {
            return Err(Error::Bug("a partition is longer than 2^-40 allows"));
        }
        let part = Part { own_len: items.len(), shared_len: shared.len(), len, ranks };
        let set = CheckedSet::of_partition(items, shared, len, ctx.rng());
        let set = set.ok_or(ConfigFault::OutOfMemory { items: len as u64 })?;
        let party = choice.row.party(role, params, set.input()).map_err(&at)?;
        let output = ctx.child(Phase::Matching.name(), |ctx| {
            let output = party.run(ctx)?;
            ctx.finish()?;
            Ok::<_, vesica_core::Error>(output)
        });
        Ok((part, output.map_err(at)?))
    }

    /// How many partitions are matched at a time: one more than threads, so that one can wait for the peer, as far as
    /// there is memory for them.
    fn runs_in_flight(&self, plan: Plan, choice: &Choice) -> NonZeroUsize {
        let params = &choice.roles.params;
        let longest = plan.bound(params.sender_len().max(params.receiver_len()) as u64);
        let room = self.memory_bytes() / 2 / (BYTES_PER_ITEM * longest).max(1);
        let runs = room.min(self.threads().get() as u64 + 1) as usize;
        NonZeroUsize::new(runs).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Stops the session when the thread that holds it panics, so that the others, which may wait for the peer, end too.
struct StopOnPanic<'a>(&'a Session);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(StopReason::Internal);
        }
    }
}

/// Calls `work` with each number below `count` and a fork of `ctx`, at most `at_once` at a time and in ascending order.
/// The forks are connected to those of the peer with the same number, whatever number it works on at once.
///
/// # Errors
/// The first error of `work`, which stops the session.
fn in_flight(
    ctx: &mut Context,
    session: &Session,
    count: u64,
    at_once: NonZeroUsize,
    work: impl Fn(u64, &mut Context) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let failed = Mutex::new(None);
    let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let fail = |error: Error| {
        let mut first = failure();
        if first.is_none() {
            session.stop(error.stop_reason());
            *first = Some(error);
        }
    };
    let (give, take) = sync_channel::<(u64, Context)>(0);
    let take = Mutex::new(take);
    std::thread::scope(|scope| {
        for _ in 0..at_once.get().min(usize::try_from(count).unwrap_or(usize::MAX)) {
            scope.spawn(|| {
                let _guard = StopOnPanic(session);
                loop {
                    let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((index, mut ctx)) = next else { return };
                    if failure().is_none()
                        && let Err(error) = work(index, &mut ctx)
                    {
                        fail(error);
                    }
                }
            });
        }
        for index in 0..count {
            if failure().is_some() {
                break;
            }
            let fork = ctx.fork(1).map(Vec::into_iter).map(|mut forks| forks.next());
            match fork {
                Ok(Some(mut fork)) => {
                    fork.without_progress();
                    if give.send((index, fork)).is_err() {
                        break;
                    }
                }
                Ok(None) => fail(Error::Bug("a fork made no context")),
                Err(error) => fail(Error::from_run(error, Phase::Matching, "")),
            }
        }
        drop(give);
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
