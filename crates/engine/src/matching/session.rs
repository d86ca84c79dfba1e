//! Matching over a session with the peer.

mod computing;
mod detached;
mod sets;

use super::split::{Found, Large, Matched, Pieces, Splitting};
use super::{Checked, Match, OfSession, Run, Sizes, run_alone_and};
use crate::answer::{Asked, OwnRows, Told, Unchecked};
use crate::error::{ConfigFault, InputFault};
use crate::matching::exchange::{self, ROWS_LABEL};
use crate::meeting::{self, Closings, Counts, Purpose};
use crate::output::RunResult;
use crate::participants::Participants;
use crate::peer::{Peer, PeerLink};
use crate::reading::Reader;
use crate::report::Parts;
use crate::{Error, Event, Job, Phase, Report};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use vesica_agreement::choice::{Candidates, Choice};
use vesica_agreement::split::Joined;
use vesica_agreement::{Agreement, Network, Roles, split};
use vesica_core::hash::Transcript;
use vesica_core::{EarlyReveal, Item, Items, Learns, Operation, PsiParams, Role, SessionId};
use vesica_detached::DetachedMatches;
use vesica_net::{Connection, Context};
use vesica_own_rows::self_check::{CheckedSet, shared_items};
use vesica_own_rows::{RowEntries, RowItems, distinct};
use vesica_partitions::{DISK_BYTES_PER_ROW, Plan};
use vesica_protocols::Protocol;
use vesica_records::{KeyCounts, KeySet, Streamed};
use vesica_scratch::{FolderScratch, Scratch};
use vesica_tables::Progress;

const EXPORT_SESSION: &str = "EXPORTER-vesica-session";
/// The label of the progress over partitions.
const PARTITIONS: &str = "matching/partitions";
const EXPORT_CHECK_ITEMS: &str = "EXPORTER-vesica-self-check";

/// See the [module](self).
pub(crate) struct SessionRun<'a> {
    run: &'a Run<'a>,
    agreement: &'a Agreement,
    peer: Peer<'a>,
    scratch: Arc<FolderScratch>,
    spilling: Spilling,
}

/// When rows leave the memory and where to, and when sets are split. Tests use small limits.
struct Spilling {
    files: Arc<dyn Scratch>,
    memory_bytes: u64,
    /// The most keys that are not grouped while they are read.
    whole_set_len: u64,
    plan: fn(&Protocol, &PsiParams) -> Plan,
}

/// What this party's file holds.
pub(crate) enum OwnSet {
    /// A set that one run of a protocol can hold.
    Whole(Box<Whole>),
    /// Rows with more keys than that.
    Large(Box<Large>),
    /// Detached rows, which the workers have.
    Detached,
}

/// A set in memory.
pub(crate) struct Whole {
    keys: KeySet,
    rows: OwnRows,
    counts: KeyCounts,
}

/// The outcome of the matching, after both sides have sent the message that they finished. Nothing
/// of the result is checked yet.
pub(crate) struct Done {
    got: Got,
    counts: KeyCounts,
    closings: Closings,
    of: OfSession,
}

/// The unchecked outcome of the protocol.
enum Got {
    /// Of one run.
    Whole { unchecked: Unchecked, set: CheckedSet, rows: OwnRows },
    /// Of a run for each partition.
    Split { pieces: Pieces, found: Found },
    /// Of a run for each partition, by the workers, which have the rows.
    Detached(DetachedMatches),
}

impl Got {
    /// Exchanges with the peer what both parties need to remove self-check items; also returns what
    /// the closing message reveals.
    fn told(self, ctx: &mut Context, asked: &Asked<'_>) -> vesica_core::Result<(Self, Told)> {
        Ok(match self {
            Got::Whole { unchecked, set, rows } => {
                let unchecked = unchecked.settled(ctx, &set, asked)?;
                let told = unchecked.told(&set, asked.agreement);
                (Got::Whole { unchecked, set, rows }, told)
            }
            Got::Split { pieces, found } => {
                let told = found.told(asked.agreement.learns());
                (Got::Split { pieces, found }, told)
            }
            Got::Detached(found) => {
                let matched = found.matched.filter(|_| asked.agreement.learns() == Learns::Both);
                let told = matched.map_or(Told::Nothing, |one| Told::Number(one.into()));
                (Got::Detached(found), told)
            }
        })
    }
}

/// The session with the peer, and the context of the run over it.
pub(crate) struct Met {
    session: Arc<dyn Connection>,
    ctx: Context,
}

/// A set before its size is announced, with the counts of its rows.
enum Grouped {
    /// In memory, in the order of the rows.
    Not(Box<Whole>),
    /// By partitions.
    Pieces(Pieces, KeyCounts),
    /// By partitions, detached.
    Detached(KeyCounts),
}

impl Grouped {
    fn counts(&self) -> &KeyCounts {
        match self {
            Grouped::Not(set) => &set.counts,
            Grouped::Pieces(_, counts) | Grouped::Detached(counts) => counts,
        }
    }
}

impl<'a> SessionRun<'a> {
    /// Opens the folder of the run, if it has one.
    pub(crate) fn open(run: &'a Run<'a>) -> Result<Self, Error> {
        Ok(Self::new(run, exchange::open(run)?))
    }

    pub(crate) fn new(run: &'a Run<'a>, link: Box<dyn PeerLink>) -> Self {
        let job = run.job;
        let Job { agreement, identity, link: options, .. } = job;
        let participants = Participants::of(agreement, run.position);
        let observer = &**run.observer;
        let peer =
            Peer::new(agreement, identity, options, participants, observer, run.cancel, link);
        let scratch = Arc::new(FolderScratch::new(job.scratch_folder()));
        let spilling = Spilling {
            files: Arc::clone(&scratch) as _,
            memory_bytes: job.memory_bytes,
            whole_set_len: agreement.partition_rows,
            plan: split::plan,
        };
        Self { run, agreement, peer, scratch, spilling }
    }

    fn at(&self, phase: Phase) -> impl Fn(vesica_core::Error) -> Error {
        move |error| self.peer_error(error, phase)
    }

    fn exchange_sizes(&self, ctx: &mut Context, distinct: u64) -> Result<Sizes, Error> {
        self.run.event(&Event::Phase(Phase::Sizes));
        let hidden = self.agreement.hide_sizes;
        let terms = self.agreement.peer_of(&self.peer.participants().party);
        let here = if hidden { self.run.terms().max_items() } else { distinct };
        let exchange = |ctx: &mut Context| meeting::exchange_sizes(ctx, here, terms, hidden);
        let there = ctx.child(Phase::Sizes.name(), exchange).map_err(self.at(Phase::Sizes))?;
        self.run.event(&Event::Sizes { here, there });
        Ok(Sizes { here, there })
    }

    /// The protocol and the roles for sets of these sizes.
    fn choose(&self, ctx: &mut Context, id: SessionId, sizes: Sizes) -> Result<Choice, Error> {
        let seat = self.peer.participants().seat;
        let by_seat = match seat {
            Role::Sender => [sizes.here, sizes.there],
            _ => [sizes.there, sizes.here],
        };
        let at = self.at(Phase::Choosing);
        let allowed = Roles::allowed(self.agreement, id, by_seat).map_err(&at)?;
        self.run.event(&Event::Phase(Phase::Choosing));
        let mut choice = ctx
            .child(Phase::Choosing.name(), |ctx| {
                let candidates = Candidates::new(self.agreement, &allowed);
                let measure = |least| vesica_network_probe::measure(ctx, seat, least);
                let measured = if self.peer.link().is_repeatable() {
                    // Another measurement would not give the same figures.
                    candidates.worth_measuring().map(|_| Network::STORE)
                } else {
                    candidates.worth_measuring().map(measure).transpose()?
                };
                Ok(candidates.choose(measured))
            })
            .map_err(at)?;
        choice.roles.params = of_link(choice.roles.params, self.peer.link().is_repeatable());
        self.run.event(&Event::Chosen(&choice));
        Ok(choice)
    }

    fn match_sets(
        &self,
        own: OwnSet,
        session: &dyn Connection,
        ctx: &mut Context,
    ) -> Result<Done, Error> {
        let hash = self.agreement.hash();
        let secret = |label| session.export(label, hash.as_bytes());
        let Spilling { files, memory_bytes, plan, .. } = &self.spilling;
        let threads = self.run.job.threads;
        let splitting = Splitting::new(session, hash.as_bytes(), &**files, *memory_bytes, threads);
        let set = self.grouped(own, &splitting)?;
        let sizes = self.exchange_sizes(ctx, set.counts().distinct)?;
        let id = SessionId::from_bytes(secret(EXPORT_SESSION));
        let choice = self.choose(ctx, id, sizes)?;
        let role = choice.roles.role(self.peer.participants().seat);

        self.run.event(&Event::Phase(Phase::Matching));
        let params = &choice.roles.params;
        let plan = plan(choice.row, params);
        let joined = split::joined(choice.row, params);
        let computed = self.most_computed(params, role).map_err(self.at(Phase::Matching))?;
        session.expect(split::most_ahead(choice.row, params, role).saturating_add(computed));
        let matched = Matched { row: choice.row, role, params, plan };
        let check_secret = secret(EXPORT_CHECK_ITEMS);
        let counts = set.counts().clone();
        let set = match set {
            Grouped::Not(set) if plan.is_split() && joined == Some(Joined::Sets) => {
                let rows = RowItems::from(set.rows.items);
                let mut pieces =
                    splitting.group(&rows, plan.partitions()).map_err(self.at(Phase::Matching))?;
                pieces.has_repeats = counts.duplicates > 0 || self.peer.link().is_repeatable();
                Grouped::Pieces(pieces, set.counts)
            }
            set => set,
        };
        let (got, direction_changes) = match set {
            Grouped::Not(set) => {
                let Whole { keys, rows, .. } = *set;
                let set = self.checked_set(ctx, keys, sizes.here, matched, &check_secret)?;
                self.match_whole(ctx, set, rows, matched, &splitting)?
            }
            Grouped::Pieces(pieces, _) => {
                let shared = shared_items(&check_secret, self.agreement.self_check as usize);
                self.match_pieces(ctx, pieces, matched, &splitting, &shared)?
            }
            Grouped::Detached(_) => {
                self.match_detached(ctx, session, matched, &splitting, &check_secret)?
            }
        };

        self.run.event(&Event::Phase(Phase::Checking));
        let (sent, received) = ctx.meter().bytes_under(Phase::Matching.name());
        let of = OfSession { role, choice, sizes, direction_changes, wire_bytes: (0, 0) };
        let (got, closings) = ctx
            .child(Phase::Checking.name(), |ctx| {
                let (got, told) = got.told(ctx, &self.asked(&of))?;
                let counts = Counts { sent, received, told };
                Ok((got, meeting::exchange_closings(ctx, role, &counts)?))
            })
            .map_err(self.at(Phase::Checking))?;
        Ok(Done { got, counts, closings, of })
    }

    fn asked(&self, of: &OfSession) -> Asked<'a> {
        let params = &of.choice.roles.params;
        let plan = (self.spilling.plan)(of.choice.row, params);
        let peer = if of.role == Role::Sender { Role::Receiver } else { Role::Sender };
        Asked {
            agreement: self.agreement,
            position: self.run.position,
            learns: self.agreement.is_receiver_of_result(&self.peer.participants().party),
            here: of.sizes.here,
            there: of.sizes.there,
            entered: [of.role, peer].map(|role| split::entered_len(plan, params, role)),
            role: of.role,
            session: *params.session(),
        }
    }

    /// The set as it is read, or, if it is large, grouped by partitions and counted.
    fn grouped(&self, own: OwnSet, splitting: &Splitting<'_>) -> Result<Grouped, Error> {
        match own {
            OwnSet::Whole(set) => Ok(Grouped::Not(set)),
            OwnSet::Large(large) => {
                let Large { items, streamed } = *large;
                let at = self.at(Phase::Sizes);
                let party = &self.peer.participants().party;
                let most = split::most_partitions(self.agreement, party, streamed.items);
                let mut pieces = splitting.group(&items, most).map_err(&at)?;
                drop(items);
                let distinct = pieces.count_distinct().map_err(at)?;
                // Sorted again in each partition: otherwise their order follows from the memory
                // limit.
                pieces.has_repeats |= self.peer.link().is_repeatable();
                Ok(Grouped::Pieces(pieces, self.count(streamed, distinct)?))
            }
            OwnSet::Detached => self.group_detached(splitting),
        }
    }

    /// Matches a set in memory: in one run, or, if it is large and the result is no intersection,
    /// in partitions.
    fn match_whole(
        &self,
        ctx: &mut Context,
        set: CheckedSet,
        rows: OwnRows,
        matched: Matched<'_>,
        splitting: &Splitting<'_>,
    ) -> Result<(Got, u64), Error> {
        let (label, Matched { row, role, params, plan }) = (Phase::Matching.name(), matched);
        let step = |done| self.step(done, plan);
        let joined = split::joined(row, params).filter(|_| plan.is_split());
        let (unchecked, direction_changes) = match joined {
            Some(Joined::Lists) => splitting
                .run_lists(ctx, &set, matched, label, &step)
                .map(|(output, changes)| (Unchecked::new(output), changes)),
            Some(_) => splitting
                .run_addends(ctx, &set, matched, label, &step)
                .map(|(output, changes)| (Unchecked::new(output), changes)),
            None => row.party(role, *params, set.input()).and_then(|party| {
                run_alone_and(party, ctx, label, |ctx, output| {
                    let answers = self.compute(ctx, matched, &output)?;
                    Ok(Unchecked::new(output).with_answers(answers))
                })
            }),
        }
        .map_err(self.at(Phase::Matching))?;
        Ok((Got::Whole { unchecked, set, rows }, direction_changes))
    }

    /// Matches a grouped set, partition by partition. The items of `shared` are in both sets.
    fn match_pieces(
        &self,
        ctx: &mut Context,
        pieces: Pieces,
        matched: Matched<'_>,
        splitting: &Splitting<'_>,
        shared: &[Item],
    ) -> Result<(Got, u64), Error> {
        let (least, given) =
            (split::least_memory(matched.plan, matched.params), self.run.job.memory_bytes);
        if matched.plan.is_split() && given < least {
            return Err(ConfigFault::MemoryTooSmall { least, given }.into());
        }
        let (label, step) = (Phase::Matching.name(), |done| self.step(done, matched.plan));
        let (pieces, found, direction_changes) = splitting
            .run(ctx, pieces, matched, label, shared, &step)
            .map_err(self.at(Phase::Matching))?;
        Ok((Got::Split { pieces, found }, direction_changes))
    }

    fn step(&self, done: u64, plan: Plan) {
        let total = plan.partitions();
        self.run.event(&Event::Step { label: PARTITIONS, done, total });
    }

    /// The counts of a file's rows, which have this many distinct keys.
    fn count(&self, streamed: Streamed, distinct: u64) -> Result<KeyCounts, Error> {
        let mut counts = streamed.counts;
        counts.distinct = distinct;
        counts.duplicates = streamed.items - distinct;
        let min = self.run.terms().min_rows;
        if distinct < min {
            return Err(InputFault::TooFewKeys { distinct, min }.into());
        }
        self.run.event(&Event::KeysRead(&counts));
        Ok(counts)
    }

    /// Compares the free disk space with the needs of the whole file. The estimate follows from the
    /// `rows` read so far, and from the fraction of the file that they are: `seen`.
    ///
    /// # Errors
    /// [`ConfigFault::ScratchTooSmall`].
    fn check_disk(&self, rows: u64, seen: Progress) -> Result<(), Error> {
        let Progress { bytes_done, bytes_total, .. } = seen;
        let of_file = bytes_total as f64 / bytes_done.max(1) as f64;
        let rows = (rows as f64 * of_file.max(1.0)).min(self.run.terms().max_items() as f64);
        let needed = rows as u64 * (Item::LEN as u64 + DISK_BYTES_PER_ROW);
        let free = self.scratch.free_bytes().map_err(|error| self.storage(&error))?;
        if needed <= free {
            return Ok(());
        }
        let folder = self.run.job.scratch_folder();
        Err(ConfigFault::ScratchTooSmall { folder, needed, free }.into())
    }

    fn storage(&self, error: &std::io::Error) -> Error {
        ConfigFault::scratch(&self.run.job.scratch_folder(), error.kind())
    }

    fn peer_error(&self, error: vesica_core::Error, phase: Phase) -> Error {
        match error {
            vesica_core::Error::Storage(kind) => self.storage(&kind.into()),
            error => self.peer.error(error, phase),
        }
    }
}

impl Match for SessionRun<'_> {
    type Set = OwnSet;
    type Met = Met;
    type Answer = Done;
    type Of = OfSession;

    fn may_have_written(&self) -> bool {
        self.peer.link().had_written()
    }

    fn begin(&self) {
        if let Some((folder, has_started)) = self.peer.link().state() {
            let restart = self.run.job.state.restart;
            self.run.event(&Event::State { folder, has_started, restart });
        }
    }

    fn read(&self, reader: &Reader<'_>) -> Result<OwnSet, Error> {
        if self.workers().is_some() {
            return self.check_detached().map(|()| OwnSet::Detached);
        }
        if self.agreement.operation() != Operation::Intersection || reader.sends_columns() {
            return self.read_with_more(reader);
        }
        let Spilling { files, memory_bytes, .. } = &self.spilling;
        let mut items = RowItems::new(memory_bytes / 4, Arc::clone(files));
        let seen = Cell::new(Progress::default());
        let mut digest = self.peer.link().is_repeatable().then(|| Transcript::new(ROWS_LABEL, &[]));
        let mut sink = |batch: &[Item]| {
            if let Some(digest) = &mut digest {
                batch.iter().for_each(|item| digest.update(item.as_bytes()));
            }
            let was_in_memory = items.are_in_memory();
            items.push(batch).map_err(|error| self.storage(&error))?;
            if was_in_memory && !items.are_in_memory() {
                self.check_disk(items.rows(), seen.get())
            } else {
                Ok(())
            }
        };
        let go_on = |progress| {
            seen.set(progress);
            self.peer.go_on_reading()
        };
        let streamed = reader.items(&mut sink, go_on)?;
        if let Some(digest) = digest {
            self.peer.link().keep_rows(digest.finish())?;
        }
        // Under rules a row without a key has empty entries, which take memory as well.
        let entries = match self.agreement.items_per_row() {
            1 => streamed.keyed,
            per_row => streamed.rows.saturating_mul(per_row),
        };
        let is_long = entries > self.spilling.whole_set_len;
        if is_long && split::splits_large_sets(self.agreement) {
            return Ok(OwnSet::Large(Box::new(Large { items, streamed })));
        }
        let items = items.into_memory().map_err(|error| self.storage(&error))?;
        let distinct = distinct(&items).ok_or(ConfigFault::OutOfMemory { items: entries })?;
        let counts = self.count(streamed, distinct.len() as u64)?;
        let keys = KeySet {
            items: distinct,
            values: None,
            texts: None,
            payloads: None,
            rows: None,
            counts: counts.clone(),
        };
        let rows = OwnRows { items, keys: None };
        Ok(OwnSet::Whole(Box::new(Whole { keys, rows, counts })))
    }

    fn reading_failed(&self, error: &Error) {
        self.peer.abort(error.stop_reason());
    }

    fn meet(&self) -> Result<Met, Error> {
        let Run { job, clock, meter, .. } = self.run;
        let start = Instant::now();
        let met = self.peer.connect().and_then(|session| {
            clock.add(Phase::Connecting, start.elapsed());
            let mut ctx = self.peer.agree(&session, job.threads, meter, Purpose::Run)?;
            ctx.set_progress(self.run.steps());
            Ok(Met { session, ctx })
        });
        met.inspect_err(|_| self.peer.stop_reading())
    }

    fn both(
        &self,
        set: Result<OwnSet, Error>,
        met: Result<Met, Error>,
    ) -> Result<(OwnSet, Met), Error> {
        match (set, met) {
            // The failed link interrupted the reader, so it is the cause.
            (Err(Error::Interrupted { .. }), Err(error)) => Err(error),
            (Err(error), _) => Err(self.peer.left(error)),
            (set, met) => Ok((set?, met?)),
        }
    }

    fn run(&self, set: OwnSet, met: Met) -> Result<Done, Error> {
        let Met { session, mut ctx } = met;
        let mut done = self
            .match_sets(set, &*session, &mut ctx)
            .map_err(|error| self.peer.fail(&*session, error))?;
        drop(ctx);
        self.peer.close(&*session)?;
        done.of.wire_bytes = session.wire_bytes();
        Ok(done)
    }

    fn check(&self, answer: Done) -> Result<Checked<OfSession>, Error> {
        let Done { got, counts, closings, of } = answer;
        let asked = self.asked(&of);
        let place = self.run.job.output.as_ref().map(|output| &*output.path);
        self.peer.link().keep_finished(place)?;
        let at = self.at(Phase::Checking);
        let output = closings
            .compare()
            .map_err(vesica_core::Error::from)
            .and_then(|()| match got {
                Got::Whole { unchecked, set, rows } => unchecked.answer(&set, &asked, rows),
                Got::Split { pieces, found } => {
                    let entries = RowEntries::of(self.agreement);
                    found.rows(pieces, asked.most(), &entries).map(|rows| {
                        rows.filter(|_| asked.learns).map_or(RunResult::Nothing, RunResult::Rows)
                    })
                }
                Got::Detached(found) => found.keys(asked.most()).map(|keys| {
                    let (rows, of) = (found.rows, counts.rows);
                    let result = |keys| RunResult::Detached { keys, rows, of };
                    keys.filter(|_| asked.learns).map_or(RunResult::Nothing, result)
                }),
            })
            .map_err(at)
            .or_else(|error| match error {
                // A refused result is as final as a good one. After a full disk the run can
                // continue.
                Error::PeerMisbehaved { .. } => self.peer.link().finish().and(Err(error)),
                error => Err(error),
            })?;
        self.run.event(&Event::Checked);
        Ok(Checked { output, counts, of })
    }

    fn go_on(&self) -> ControlFlow<()> {
        self.peer.go_on()
    }

    fn peak_scratch_bytes(&self) -> u64 {
        self.scratch.peak_bytes()
    }

    fn report(&self, parts: Parts<'_>, checked: &Checked<OfSession>) -> Report {
        Report { repeats: self.peer.link().repeats(), ..parts.of_session(checked) }
    }

    fn end(self) -> Result<(), Error> {
        self.peer.link().finish()
    }
}

/// The parameters of a run over a connection or through a store, where a restarted party must send
/// the same messages, and each flight takes long.
fn of_link(params: PsiParams, is_through_a_store: bool) -> PsiParams {
    match params.early_reveal() {
        EarlyReveal::Paced if is_through_a_store => params.with_early_reveal(EarlyReveal::Never),
        _ => params,
    }
}

#[cfg(test)]
mod tests;
