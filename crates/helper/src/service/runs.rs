//! All open runs, and the ended ones of which some party has not been notified.

use super::log_names::short;
use super::run::{Over, Run, Standing};
use crate::locks::{Guard, Lock, Rank};
use crate::store::{EndedRecord, Record, RunId, Store};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use vesica_core::{Excess, Limit, Refusal};
use vesica_helper_wire::{Instance, NO_INSTANCE, Purpose, Welcome};
use vesica_label_joins::RunName;

/// Most ended runs that are remembered.
const MAX_ENDED: usize = 10_000;

/// Why a run ended, for parties that have not been notified.
struct Ended {
    instance: Instance,
    refusal: Refusal,
    unnotified: u16,
    at: Instant,
    /// The same on the wall clock, for the time after a restart.
    on_the_clock: SystemTime,
}

impl Ended {
    /// Marks a party as notified; returns whether that is new.
    fn mark_notified(&mut self, party: u8) -> bool {
        let unnotified = self.unnotified & !(1 << party);
        std::mem::replace(&mut self.unnotified, unnotified) != unnotified
    }

    fn record(&self) -> EndedRecord {
        let Self { instance, refusal, unnotified, at: _, on_the_clock: at } = *self;
        EndedRecord { instance, refusal, unnotified, at }
    }
}

/// Stores how a run ended.
fn keep(id: &RunId, ended: &EndedRecord, store: &Store) {
    if let Err(error) = store.keep_ended(id, ended) {
        tracing::warn!(error = %error.kind(), "the record of an ended run could not be stored");
    }
}

#[derive(Default)]
struct Table {
    open: HashMap<RunId, Arc<Run>>,
    ended: HashMap<RunId, Ended>,
}

/// A run of the table, and how it ended.
type Known = (Arc<Run>, Option<Over>);

/// All runs of a service.
pub(super) struct Runs {
    table: Lock<Table>,
    /// Held while the file of how a run ended changes; by the first byte of the run's id, so that a
    /// slow disk delays few others.
    ended_files: [Lock<()>; ENDED_LOCKS],
}

const ENDED_LOCKS: usize = 16;

impl Default for Runs {
    fn default() -> Self {
        let table = Lock::new(Rank::Runs, Table::default());
        Self { table, ended_files: std::array::from_fn(|_| Lock::new(Rank::Ended, ())) }
    }
}

/// A party that connects to a run.
pub(super) struct Entering<'a> {
    pub(super) id: RunId,
    /// Its description of the run, if the run is to be started.
    pub(super) record: Record,
    /// The party's number in the run.
    pub(super) party: u8,
    pub(super) members: &'a [usize],
    pub(super) purpose: Purpose,
    /// The instance it knows.
    pub(super) known: Instance,
    /// Most runs it may take part in.
    pub(super) max_runs: u32,
    /// Whether it may begin one more now.
    pub(super) may_begin: &'a dyn Fn() -> bool,
}

/// A party that was accepted.
pub(super) struct Entered {
    /// The run; `None` for a party that only looks.
    pub(super) run: Option<Arc<Run>>,
    pub(super) welcome: Welcome,
    /// An empty run that makes room, to be [forgotten](Runs::forget).
    pub(super) gives_way: Option<Arc<Run>>,
}

/// What remains of an ended run.
pub(super) struct Remains {
    pub(super) run: String,
    pub(super) name: RunName,
    pub(super) gone: Option<PathBuf>,
}

impl Remains {
    /// What remains of `run`, and where its files are now.
    fn of(run: &Run, gone: Option<PathBuf>) -> Self {
        Self { run: short(run), name: RunName(run.record.instance), gone }
    }
}

impl Runs {
    /// Adds a run of an earlier process.
    pub(super) fn adopt(&self, run: Run) -> Arc<Run> {
        let run = Arc::new(run);
        self.table().open.insert(run.id, Arc::clone(&run));
        run
    }

    /// Adds the records of runs that an earlier process has ended.
    pub(super) fn adopt_ended(&self, found: Vec<(RunId, EndedRecord)>) {
        let mut table = self.table();
        for (id, record) in found {
            let EndedRecord { instance, refusal, unnotified, at: on_the_clock } = record;
            // Setting the clock back makes nothing young.
            let age = on_the_clock.elapsed().unwrap_or_default();
            let at = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
            table.ended.insert(id, Ended { instance, refusal, unnotified, at, on_the_clock });
        }
    }

    /// Whether this very run has ended: the earlier process was killed before it had removed the
    /// rest.
    pub(super) fn has_ended(&self, id: &RunId, instance: &Instance) -> bool {
        self.table().ended.get(id).is_some_and(|ended| ended.instance == *instance)
    }

    /// All open runs.
    pub(super) fn open(&self) -> Vec<Arc<Run>> {
        self.table().open.values().cloned().collect()
    }

    /// Accepts a party into a run, which is started if missing, or refuses it. A party that only
    /// looks enters nothing.
    pub(super) fn enter(
        &self,
        entering: Entering<'_>,
        store: &Arc<Store>,
    ) -> Result<Entered, Refusal> {
        let (mut table, found) = self.table_and_run(entering.id);
        // Another run may have started by now; the party still learns how its own ended.
        if let Some(ended) = table.ended.get_mut(&entering.id)
            && entering.known == ended.instance
        {
            let (refusal, is_new) = (ended.refusal, ended.mark_notified(entering.party));
            drop(table);
            if is_new {
                self.settle_ended(&entering.id, store);
            }
            return Err(refusal);
        }
        let party = entering.party;
        let other_agreement = table.other_agreement(&entering.record, party);
        if let Some((run, over)) = found {
            if ![NO_INSTANCE, run.record.instance].contains(&entering.known) {
                return Err(Refusal::Expired);
            }
            if let Some(over) = over {
                return Err(over.refusal());
            }
            let (present, instance) = (run.present(), run.record.instance);
            let welcome = Welcome { present, instance, other_agreement };
            if entering.purpose == Purpose::Look {
                return Ok(Entered { run: None, welcome, gives_way: None });
            }
            let mut gives_way = None;
            if run.joined() >> party & 1 == 0 {
                gives_way = table.make_room(&entering)?;
            }
            run.enter(party);
            return Ok(Entered { run: Some(run), welcome, gives_way });
        }
        if let Some(ended) = table.ended.get_mut(&entering.id)
            && entering.known == NO_INSTANCE
            && ended.unnotified >> party & 1 == 1
        {
            let refusal = ended.refusal;
            ended.mark_notified(party);
            drop(table);
            self.settle_ended(&entering.id, store);
            return Err(refusal);
        }
        if entering.known != NO_INSTANCE {
            return Err(Refusal::Expired);
        }
        if entering.purpose == Purpose::Look {
            let welcome = Welcome { present: 0, instance: NO_INSTANCE, other_agreement };
            return Ok(Entered { run: None, welcome, gives_way: None });
        }
        if !(entering.may_begin)() {
            return Err(Refusal::TooOften);
        }
        let gives_way = table.make_room(&entering)?;
        let (id, record, members) = (entering.id, entering.record, entering.members.to_vec());
        let welcome = Welcome { present: 0, instance: record.instance, other_agreement };
        let run = Arc::new(Run::new(id, record, store.run(&id), members, true));
        run.enter(party);
        table.open.insert(id, Arc::clone(&run));
        Ok(Entered { run: Some(run), welcome, gives_way })
    }

    /// Runs that have been empty for at least `keep`, to be [forgotten](Self::forget).
    pub(super) fn empty(&self, keep: Duration) -> Vec<Arc<Run>> {
        let Some(than) = Instant::now().checked_sub(keep) else { return Vec::new() };
        let table = self.table();
        table.open.values().filter(|run| run.begin_to_forget(than)).cloned().collect()
    }

    /// Removes an empty run; returns what remains of it to sweep.
    pub(super) fn forget(&self, run: &Arc<Run>) -> Remains {
        let (_, gone) = run.store.remove(0);
        let mut table = self.table();
        if table.is_open(run) {
            table.open.remove(&run.id);
        }
        run.end(Over::Refused(Refusal::Expired));
        drop(table);
        tracing::debug!(run = %short(run), "an empty run was forgotten");
        Remains::of(run, gone)
    }

    /// Ends a run if `may` permits it, and removes it; returns what remains to sweep. `None` if it
    /// may not be ended, or has ended. `notified` are the parties that know.
    ///
    /// The run is off the disk before any party is notified: it must not return after a power
    /// failure.
    pub(super) fn close(
        &self,
        run: &Arc<Run>,
        over: Over,
        notified: u16,
        store: &Store,
        may: impl FnOnce() -> bool,
    ) -> Option<Remains> {
        if !run.begin_end(may) {
            return None;
        }
        // Without the table: the disk may be slow.
        let ended = match over {
            Over::Finished => None,
            Over::Refused(refusal) => {
                let (instance, unnotified) = (run.record.instance, run.joined() & !notified);
                let (at, on_the_clock) = (Instant::now(), SystemTime::now());
                Some(Ended { instance, refusal, unnotified, at, on_the_clock })
            }
        };
        // First, so that at every moment the run or its end is known.
        let file = ended.as_ref().map(|ended| {
            let file = self.ended_file(&run.id);
            keep(&run.id, &ended.record(), store);
            file
        });
        let (_, gone) = run.store.remove(0);
        let mut table = self.table();
        if table.is_open(run) {
            table.open.remove(&run.id);
        }
        let mut excess = None;
        if let Some(ended) = ended {
            table.ended.insert(run.id, ended);
            excess = table.bound_ended();
        }
        run.end(over);
        drop((table, file));
        excess.inspect(|id| self.settle_ended(id, store));
        Some(Remains::of(run, gone))
    }

    /// Records that a party was notified of the end of `run`.
    pub(super) fn mark_notified(&self, run: &Run, party: u8, store: &Store) {
        let is_new = {
            let mut table = self.table();
            let ended =
                table.ended.get_mut(&run.id).filter(|ended| ended.instance == run.record.instance);
            ended.is_some_and(|ended| ended.mark_notified(party))
        };
        if is_new {
            self.settle_ended(&run.id, store);
        }
    }

    /// Forgets runs that ended at least `keep` ago.
    pub(super) fn forget_ended(&self, keep: Duration, store: &Store) {
        let old: Vec<RunId> = {
            let mut table = self.table();
            let old = table.ended.extract_if(|_, ended| ended.at.elapsed() >= keep);
            old.map(|(id, _)| id).collect()
        };
        old.iter().for_each(|id| self.settle_ended(id, store));
    }

    /// Stores how the run `id` ended, or removes that, as the table has it now: a run of the same
    /// name may end meanwhile.
    fn settle_ended(&self, id: &RunId, store: &Store) {
        let _file = self.ended_file(id);
        let ended = self.table().ended.get(id).map(Ended::record);
        match ended {
            Some(ended) => keep(id, &ended, store),
            None => store.forget_ended(id),
        }
    }

    fn ended_file(&self, id: &RunId) -> Guard<'_, ()> {
        self.ended_files[usize::from(id[0]) % ENDED_LOCKS].lock()
    }

    /// Like [`Table::other_agreement`], for a run.
    pub(super) fn other_agreement(&self, run: &Run, party: u8) -> [u8; 32] {
        self.table().other_agreement(&run.record, party)
    }

    /// The table, the run of this name, if there is one, and how it ended. A run that is about to
    /// end is waited for, and never under the lock: its end takes the table.
    fn table_and_run(&self, id: RunId) -> (Guard<'_, Table>, Option<Known>) {
        loop {
            let table = self.table();
            let Some(run) = table.open.get(&id).cloned() else { return (table, None) };
            match run.standing() {
                Standing::Open => return (table, Some((run, None))),
                Standing::Over(over) => return (table, Some((run, Some(over)))),
                Standing::Ending => {}
            }
            drop(table);
            run.over();
        }
    }

    fn table(&self) -> Guard<'_, Table> {
        self.table.lock()
    }
}

impl Table {
    fn is_open(&self, run: &Arc<Run>) -> bool {
        self.open.get(&run.id).is_some_and(|open| Arc::ptr_eq(open, run))
    }

    /// The empty run that makes room for one more of the party, if one must, to be
    /// [forgotten](Runs::forget).
    fn make_room(&self, entering: &Entering<'_>) -> Result<Option<Arc<Run>>, Refusal> {
        let Some(member) = entering.members.get(usize::from(entering.party)) else {
            return Err(Refusal::NotAParty);
        };
        let is_in = |run: &&Arc<Run>| {
            if run.standing() == Standing::Ending {
                return false;
            }
            let place = run.members.iter().position(|other| other == member);
            place.is_some_and(|place| run.joined() >> place & 1 == 1)
        };
        let count = self.open.values().filter(is_in).count();
        let over = Excess::new(Some(entering.party), Limit::Runs, entering.max_runs.into());
        if count < entering.max_runs as usize {
            return Ok(None);
        }
        if count > entering.max_runs as usize {
            return Err(Refusal::OverLimit(over));
        }
        self.open
            .values()
            .find(|run| run.opener() == *member && run.begin_to_forget(Instant::now()))
            .cloned()
            .map(Some)
            .ok_or(Refusal::OverLimit(over))
    }

    /// The agreement of another run of exactly the same parties in which another of them waits now,
    /// and this one does not take part; zeros without one.
    fn other_agreement(&self, record: &Record, party: u8) -> [u8; 32] {
        let own = record.spec.parties.get(usize::from(party)).map(|party| party.identity);
        let identities = |record: &Record| -> BTreeSet<[u8; 32]> {
            record.spec.parties.iter().map(|party| party.identity).collect()
        };
        let all = identities(record);
        let is_other = |run: &&Arc<Run>| {
            let spec = &run.record.spec;
            let place = spec.parties.iter().position(|party| Some(party.identity) == own);
            spec.agreement != record.spec.agreement
                && place.is_some_and(|place| run.joined() >> place & 1 == 0)
                && run.has_connections()
                && identities(&run.record) == all
        };
        let other = self.open.values().filter(is_other).map(|run| run.record.spec.agreement);
        other.min().unwrap_or_default()
    }

    /// Drops the oldest end if there are too many; returns whose it was.
    fn bound_ended(&mut self) -> Option<RunId> {
        if self.ended.len() <= MAX_ENDED {
            return None;
        }
        let oldest = self.ended.iter().min_by_key(|(_, ended)| ended.at).map(|(id, _)| *id)?;
        self.ended.remove(&oldest);
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Disk, Keeping};
    use std::sync::mpsc;
    use vesica_server_aided::kmrs14::{PartySpec, Spec, Variant};

    fn record(agreement: u8) -> Record {
        let party =
            |number| PartySpec { identity: [number; 32], max_rows: 9, min_rows: 0, receives: true };
        let spec = Spec {
            variant: Variant::SemiHonest,
            agreement: [agreement; 32],
            parties: vec![party(1), party(2)],
            copies: 1,
            dummies: 20,
        };
        Record { spec, instance: [agreement; 16], created: SystemTime::now(), opener: 0 }
    }

    fn entering(agreement: u8, party: u8) -> Entering<'static> {
        let (id, record) = ([agreement; 32], record(agreement));
        let (purpose, known) = (Purpose::TakePart, NO_INSTANCE);
        let may_begin = &|| true;
        Entering { id, record, party, members: &[0, 1], purpose, known, max_runs: 9, may_begin }
    }

    #[test]
    fn a_run_that_begins_to_end_while_a_party_enters_blocks_no_other_run() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(dir.path(), Keeping::Files, Disk::default()).unwrap();
        let runs = Arc::new(Runs::default());
        let enter = |agreement, party| {
            let (runs, store) = (Arc::clone(&runs), Arc::clone(&store));
            let (entered, result) = mpsc::channel();
            std::thread::spawn(move || {
                let refused = runs.enter(entering(agreement, party), &store).err();
                let _ = entered.send(refused);
            });
            result
        };
        let wait = |result: &mpsc::Receiver<_>| result.recv_timeout(Duration::from_secs(10));
        assert_eq!((wait(&enter(1, 0)), wait(&enter(2, 0))), (Ok(None), Ok(None)));
        let [ending, other] = [1, 2].map(|agreement| {
            let all = runs.open();
            all.into_iter().find(|run| run.id == [agreement; 32]).unwrap()
        });
        // The entering party looks at the other run of the same parties, and waits for its lock.
        let (hold, held) = mpsc::channel::<()>();
        let (holds, is_held) = mpsc::channel();
        let holding = std::thread::spawn(move || {
            other.begin_end(|| {
                holds.send(()).unwrap();
                held.recv().is_ok()
            })
        });
        is_held.recv().unwrap();
        let entered = enter(1, 1);
        std::thread::sleep(Duration::from_millis(200));
        assert!(ending.begin_end(|| true));
        drop(hold);
        assert!(!holding.join().unwrap());
        assert_eq!(wait(&enter(3, 0)), Ok(None), "a party of another run");
        assert_eq!(wait(&entered), Ok(None), "it was open when the party came");
        let late = enter(1, 1);
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(wait(&enter(4, 0)), Ok(None), "a party of another run");
        assert!(late.try_recv().is_err(), "it waits for the end");
        let over = Over::Refused(Refusal::Ended { party: 0 });
        ending.end(over);
        assert_eq!(wait(&late), Ok(Some(over.refusal())));
    }
}
