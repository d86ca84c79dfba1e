//! One party's run with a helper: read, meet, match, write.

use super::AidedAgreement;
use super::items::RowItems;
use super::meeting::{self, Envelopes, MeetingError};
use super::report::{AidedReport, Parts};
use super::state::{State, StateError};
use crate::clock::PhaseClock;
use crate::error::{ConfigFault, InputFault};
use crate::job::{ITEM_LABEL, named_here};
use crate::report::InputReport;
use crate::resources::Stopwatch;
use crate::run::Steps;
use crate::{Error, Event, Observer, Phase};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use vesica_core::Refusal;
use vesica_core::hash::{ItemHash, Transcript, derive};
use vesica_helper::{FolderScratch, Remote, RemoteOptions};
use vesica_link::letters::LetterError;
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_net::{Meter, Pool};
use vesica_protocols::kmrs14::{self, Board, Boards, Matched, Means, Outcome};
use vesica_records::{
    KeyColumn, KeyItems, KeyLimits, OutputOptions, Source, StreamError, Streamed, check_output,
    stream_items, write_rows,
};

const OWNER_LABEL: &str = "vesica engine 2026 party of an aided run v1";
const ROWS_LABEL: &str = "vesica engine 2026 rows of an aided run v1";

/// Memory for intermediate data where nothing is said, in bytes.
pub const MEMORY_BYTES_DEFAULT: u64 = 512 << 20;

/// Everything one party brings to a run with a helper.
pub struct AidedJob {
    /// What was agreed.
    pub agreement: AidedAgreement,
    /// This party's secret identity; it also says which party this is.
    pub identity: Identity,
    /// This party's rows.
    pub source: Source,
    /// For a key of the agreement the column of the file that holds it, where the names differ.
    pub columns: BTreeMap<String, String>,
    /// Where the result goes when this party receives it.
    pub output: Option<OutputOptions>,
    /// Where the helper is: `host:port`.
    pub helper: String,
    /// How long to wait for it whenever it cannot be reached, and how long it may be silent. The endpoint is not
    /// looked at.
    pub link: LinkOptions,
    /// CPU threads to use, and connections to the helper.
    pub threads: NonZeroUsize,
    /// About how much memory intermediate data may take before it goes to files.
    pub memory_bytes: u64,
    /// The folder for intermediate data, and for what the party needs to come back to a run that was interrupted. It
    /// is made when it is not there, and removed when the run is over.
    pub state: PathBuf,
    /// Forgets a run that was interrupted, ends it for the other parties, and begins a new one.
    pub restart: bool,
    /// Whether a refused value is an error rather than a skipped and counted row.
    pub strict: bool,
}

/// The key columns of `agreement` as they are named in a party's file.
///
/// # Errors
/// [`ConfigFault::UnknownKey`] when `columns` names no key of the agreement.
pub fn aided_key_columns(
    agreement: &AidedAgreement,
    columns: &BTreeMap<String, String>,
) -> Result<Vec<KeyColumn>, Error> {
    let known = || agreement.keys.iter().map(|key| key.name.clone());
    if let Some(given) = columns.keys().find(|name| !known().any(|known| known == **name)) {
        return Err(
            ConfigFault::UnknownKey { given: given.clone(), known: known().collect() }.into()
        );
    }
    let column = |key: &crate::agreement::Key| KeyColumn {
        name: key.name.clone(),
        column: named_here(&key.name, columns),
        profile: key.profile,
    };
    Ok(agreement.keys.iter().map(column).collect())
}

/// How encoded keys become items under `agreement`: digests bound to it.
pub fn aided_key_items(agreement: &AidedAgreement) -> KeyItems {
    KeyItems::digests(ItemHash::new(ITEM_LABEL, &[agreement.hash().as_bytes()]))
}

/// Runs `job` to its end: on success the result file is in place, and the helper knows that this party has all it
/// needs. When it fails half-way, the same job goes on where it was; so do the other parties.
///
/// `say` tells what came of it, and only then is the folder of the run removed: of a process that was killed before it
/// had said so, the next one is told that the run was finished.
///
/// # Errors
/// Any [`Error`]; no result file, or part of one, is left behind.
pub fn run_aided<R>(
    job: AidedJob,
    observer: Arc<dyn Observer>,
    cancel: &CancelToken,
    say: impl FnOnce(&AidedReport) -> R,
) -> Result<R, Error> {
    let started_at = jiff::Timestamp::now();
    let stopwatch = Stopwatch::start();
    observer.event(&Event::Phase(Phase::Preparing));
    let party = seat(&job)?;
    let owner = derive(OWNER_LABEL, &[&job.agreement.spec().id(), &[party]]);
    let state = State::open(&job.state, owner).map_err(|error| state_error(&job, error))?;
    if state.is_damaged() && !job.restart {
        return Err(storage(&job, std::io::ErrorKind::InvalidData.into()));
    }
    if state.was_finished() && !job.restart {
        return Err(Error::AlreadyFinished);
    }
    if let Some(output) = &job.output {
        let own = state.has_written().map_err(|error| storage(&job, error))?;
        let output = OutputOptions { force: output.force || own, ..output.clone() };
        check_output(&job.source, &output)?;
    }
    observer.event(&Event::State {
        folder: state.folder(),
        has_begun: state.has_begun(),
        restart: job.restart,
    });
    let key = aided_key_columns(&job.agreement, &job.columns)?;
    let mut clock = PhaseClock::default();

    let scratch = FolderScratch::new(state.folder().to_path_buf());
    let start = Instant::now();
    // A quarter: the rest is for sorting, while these are still there.
    let mut items = RowItems::new(job.memory_bytes / 4, &scratch);
    let (streamed, digest) = read(&job, &key, &mut items, &*observer, cancel)?;
    clock.add(Phase::Reading, start.elapsed());

    let meter = Meter::new();
    let pool = Pool::new(job.threads).map_err(|_| ConfigFault::NoThreads)?;
    let run = Run {
        job: &job,
        party,
        state: &state,
        observer: &observer,
        cancel,
        meter: &meter,
        pool: &pool,
    };
    let connected = run.connect();
    let (remote, board) = match connected {
        Ok((remote, board)) if job.restart => {
            drop(board);
            run.restart(&remote)?;
            drop(remote);
            run.connect()?
        }
        // The helper has ended or forgotten the old run already.
        Err(error) if job.restart && is_over(&error) => {
            state.give_up().map_err(|error| storage(&job, error))?;
            run.connect()?
        }
        Ok(connected) => connected,
        Err(error) => return Err(run.ended(error)),
    };
    run.keep_instance(&remote)?;
    let done =
        match run.take_part((&remote, board), &items, &streamed, &digest, &scratch, &mut clock) {
            Ok(done) => done,
            Err(error) => {
                // What cannot go well any more, nobody should wait for. It is forgotten first: a helper that was
                // caught, and lets the end of the run hang, must not see the same labels and dummies again.
                if run.is_final(&error) {
                    let forgotten = state.forget();
                    let _ = remote.end();
                    forgotten.map_err(|error| storage(&job, error))?;
                }
                return Err(run.ended(error));
            }
        };
    let wire_bytes = remote.wire_bytes();
    drop(remote);
    // A result that failed its checks is none, and the run is over for this party all the same.
    if let Some(why) = done.outcome.refused {
        let error = run.error(why.into(), Phase::Checking);
        state.remove().map_err(|error| storage(&job, error))?;
        return Err(error);
    }
    let report = Parts {
        job: &job,
        party,
        started_at,
        counts: InputReport::new(job.source.format().to_string(), &streamed.counts),
        keyed: streamed.keyed,
        scales: &done.scales,
        outcome: &done.outcome,
        rows_written: done.rows_written,
        wire_bytes,
        clock: &clock,
        meter: &meter,
        used: stopwatch.read(),
    }
    .report();
    let said = say(&report);
    state.remove().map_err(|error| storage(&job, error))?;
    Ok(said)
}

/// What a finished run left.
struct Done {
    scales: Vec<u32>,
    outcome: Outcome,
    rows_written: Option<u64>,
}

fn seat(job: &AidedJob) -> Result<u8, Error> {
    let (agreement, public) = (&job.agreement, job.identity.public());
    let party = agreement.party_of(&public).ok_or(ConfigFault::NotAParty { identity: public })?;
    if let (true, Some(on)) = (agreement.is_expired(jiff::Timestamp::now()), agreement.expires) {
        return Err(ConfigFault::Expired { on }.into());
    }
    let name = || agreement.parties[party].name.clone();
    match (agreement.receives(party), &job.output) {
        (true, None) => Err(ConfigFault::OutputMissing { party: name() }.into()),
        (false, Some(_)) => Err(ConfigFault::OutputNotLearned { party: name() }.into()),
        _ => Ok(party as u8),
    }
}

/// Reads the file's items, and their digest.
fn read(
    job: &AidedJob,
    key: &[KeyColumn],
    items: &mut RowItems<'_>,
    observer: &dyn Observer,
    cancel: &CancelToken,
) -> Result<(Streamed, [u8; 32]), Error> {
    observer.event(&Event::Phase(Phase::Reading));
    let terms = &job.agreement.parties[usize::from(seat(job)?)];
    let limits = KeyLimits {
        max_rows: Some(terms.max_rows),
        strict: job.strict,
        may_be_empty: terms.min_rows == 0,
    };
    let mut digest = Transcript::new(ROWS_LABEL, &[]);
    let mut progress = |progress: vesica_records::Progress| {
        observer.event(&Event::Reading {
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
            rows: progress.rows,
        });
        go_on(cancel)
    };
    let mut sink = |batch: &[vesica_core::Item]| {
        batch.iter().for_each(|item| digest.update(item.as_bytes()));
        items.push(batch)
    };
    let hash = aided_key_items(&job.agreement);
    let streamed = stream_items(&job.source, key, &hash, &limits, &mut sink, &mut progress)
        .map_err(|error| match error {
            StreamError::Input(error) => error.into(),
            StreamError::Sink(error) => storage(job, error),
        })?;
    // Repeated keys are not known yet; a list is refused when they leave too few different ones.
    if streamed.keyed < terms.min_rows {
        return Err(InputFault::TooFewKeys { distinct: streamed.keyed, min: terms.min_rows }.into());
    }
    observer.event(&Event::KeysRead(&streamed.counts));
    Ok((streamed, digest.finish()))
}

/// What the steps of one run share.
struct Run<'a> {
    job: &'a AidedJob,
    party: u8,
    state: &'a State,
    observer: &'a Arc<dyn Observer>,
    cancel: &'a CancelToken,
    meter: &'a Meter,
    pool: &'a Pool,
}

impl Run<'_> {
    /// A way to the helper, and a first connection to it.
    fn connect(&self) -> Result<(Remote, Box<dyn Board>), Error> {
        let (job, agreement) = (self.job, &self.job.agreement);
        let kept = |error| storage(job, error);
        self.observer.event(&Event::Phase(Phase::Connecting));
        let observer = Arc::clone(self.observer);
        let remote = Remote::new(RemoteOptions {
            identity: job.identity.clone(),
            helper: agreement.helper.identity,
            address: job.helper.clone(),
            link: job.link.clone(),
            spec: agreement.spec(),
            lanes: job.threads.get(),
            instance: self.state.instance().map_err(kept)?,
            pool: self.pool.clone(),
            meter: self.meter.clone(),
            cancel: self.cancel.clone(),
            on_event: Arc::new(move |event| observer.event(&Event::Helper(&event))),
        });
        let board = remote.open().map_err(|error| match (error, remote.link_error()) {
            (vesica_core::Error::Transport(_), Some(link)) => {
                Error::from_link(link, &agreement.helper.name)
            }
            (error, _) => self.error(error, Phase::Connecting),
        })?;
        Ok((remote, board))
    }

    /// Stores the number of the run at the helper, before this party sends anything that belongs to the run.
    fn keep_instance(&self, remote: &Remote) -> Result<(), Error> {
        let instance = remote.instance().ok_or(Error::Bug("a connected run has no instance"))?;
        self.state.keep_instance(&instance).map_err(|error| storage(self.job, error))
    }

    fn take_part(
        &self,
        (remote, mut board): (&Remote, Box<dyn Board>),
        items: &RowItems<'_>,
        streamed: &Streamed,
        digest: &[u8; 32],
        scratch: &FolderScratch,
        clock: &mut PhaseClock,
    ) -> Result<Done, Error> {
        let (job, spec) = (self.job, self.job.agreement.spec());
        let kept = |error| storage(job, error);
        if !self.state.keep_rows(digest).map_err(kept)? {
            return Err(InputFault::OtherRows { state: job.state.clone() }.into());
        }

        self.observer.event(&Event::Phase(Phase::Meeting));
        let start = Instant::now();
        let (secrets, own_secret) = self.state.secrets().map_err(kept)?;
        let scale = spec.scale(streamed.keyed) as u8;
        let common = meeting::meet(
            &mut *board,
            &spec,
            self.party,
            &job.identity,
            self.state,
            (&secrets, scale),
        )
        .map_err(|error| self.meeting_error(error))?;
        self.observer.event(&Event::Agreed);
        // What was said when the connection was made belongs to it.
        let met = self.meter.bytes_under("");
        clock.add_with_bytes(Phase::Meeting, start.elapsed(), met);

        self.observer.event(&Event::Phase(Phase::Matching));
        let start = Instant::now();
        let at = |error| self.error(error, Phase::Matching);
        let steps = Steps { observer: Arc::clone(self.observer) };
        let means = Means {
            scratch,
            memory_bytes: job.memory_bytes / 2,
            pool: self.pool,
            progress: &steps,
        };
        let facts = kmrs14::Run {
            spec: &spec,
            party: self.party,
            scales: &common.scales,
            secret: &common.secret,
            own_secret: &own_secret,
            seal: &Envelopes::new(&common.secret),
            memory: self.state,
        };
        let outcome = kmrs14::run(&facts, items, &means, remote).map_err(at)?;
        if outcome.matched.is_some() {
            self.observer.event(&Event::Checked);
        }
        let matched = self.meter.bytes_under("");
        clock.add_with_bytes(Phase::Matching, start.elapsed(), since(met, matched));

        let start = Instant::now();
        if outcome.refused.is_some() {
            self.leave_unnoticed(remote)?;
            return Ok(Done { scales: common.scales, outcome, rows_written: None });
        }
        let rows_written = match (&job.output, &outcome.matched) {
            (Some(output), Some(matched)) => Some(self.write(output, streamed.rows, matched)?),
            _ => None,
        };
        let written = start.elapsed();
        self.state.keep_finished().map_err(|error| storage(job, error))?;
        remote.done().map_err(|error| self.error(error, Phase::Checking))?;
        // Its last words are among the bytes of its last phase.
        let done = self.meter.bytes_under("");
        clock.add_with_bytes(Phase::Writing, written, since(matched, done));
        Ok(Done { scales: common.scales, outcome, rows_written })
    }

    /// Says `done` after an answer that this party refuses, as after any other: a helper, or another party, that made
    /// it what it is would learn from another word whether it hit something. For the same reason the file is read
    /// once more first, as if rows of it were written.
    fn leave_unnoticed(&self, remote: &Remote) -> Result<(), Error> {
        let job = self.job;
        let mut progress = |_| go_on(self.cancel);
        let limits = KeyLimits { max_rows: None, strict: false, may_be_empty: true };
        let key = aided_key_columns(&job.agreement, &job.columns)?;
        let hash = aided_key_items(&job.agreement);
        // What the file is by now does not matter any more.
        let mut drop = |_: &[vesica_core::Item]| Ok::<_, std::io::Error>(());
        let _ = stream_items(&job.source, &key, &hash, &limits, &mut drop, &mut progress);
        // First, so that the same labels and dummies are never seen again.
        self.state.forget().map_err(|error| storage(job, error))?;
        let _ = remote.done();
        Ok(())
    }

    fn write(&self, output: &OutputOptions, rows: u64, matched: &Matched) -> Result<u64, Error> {
        self.observer.event(&Event::Phase(Phase::Writing));
        let kept = |error| storage(self.job, error);
        let force = output.force || self.state.has_written().map_err(kept)?;
        let output = OutputOptions { force, ..output.clone() };
        self.state.keep_written().map_err(kept)?;
        let mut progress = |progress: vesica_records::Progress| {
            self.observer.event(&Event::Writing {
                bytes_done: progress.bytes_done,
                bytes_total: progress.bytes_total,
                rows: progress.rows,
            });
            go_on(self.cancel)
        };
        Ok(write_rows(&self.job.source, rows, &matched.rows, &output, &mut progress)?.rows)
    }

    /// Ends a run that was interrupted for all parties, and forgets it.
    ///
    /// It is forgotten only once the helper has said that it is over: until then an answer may wait there, and the
    /// secrets in the folder are the only way to it.
    ///
    /// # Errors
    /// As [`Run::error`]. The folder then still holds the run: the same command continues it, with or without a restart.
    fn restart(&self, remote: &Remote) -> Result<(), Error> {
        let kept = |error| storage(self.job, error);
        match remote.end().map_err(|error| self.error(error, Phase::Connecting)) {
            Ok(()) => {}
            // Somebody else was faster.
            Err(error) if is_over(&error) => {}
            Err(error @ Error::Refused { refusal: Refusal::TooLate, .. }) => {
                if self.state.is_damaged() {
                    // All parties have put their lists into the run that the helper has: it is the one in the folder.
                    self.state.repair().map_err(kept)?;
                    self.keep_instance(remote)?;
                }
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        self.state.give_up().map_err(kept)
    }

    /// Whether the run cannot go well any more, so that the others need not wait for it.
    fn is_final(&self, error: &Error) -> bool {
        matches!(error, Error::PeerMisbehaved { .. } | Error::Letter { .. })
            || matches!(error, Error::Input(InputFault::TooFewDifferent { .. }))
    }

    /// What `error` means to a party that comes back: of a run that is over at the helper nothing is kept, so that
    /// the next is a new one.
    fn ended(&self, error: Error) -> Error {
        if !is_over(&error) {
            return error;
        }
        let has_finished = self.state.has_finished().unwrap_or_default();
        if let Err(error) = self.state.forget() {
            return storage(self.job, error);
        }
        match error {
            // Its last words had arrived, and those of all others.
            Error::Refused { refusal: Refusal::Expired, .. } if has_finished => {
                Error::AlreadyFinished
            }
            error => error,
        }
    }

    fn error(&self, error: vesica_core::Error, phase: Phase) -> Error {
        if let vesica_core::Error::Refused(Refusal::TooFew { party }) = error
            && party == self.party
        {
            let min = self.job.agreement.parties[usize::from(party)].min_rows;
            return InputFault::TooFewDifferent { min }.into();
        }
        let names = self.job.agreement.parties.iter().map(|party| &*party.name).collect::<Vec<_>>();
        Error::from_helper(error, phase, &self.job.agreement.helper.name, &names, &self.job.state)
    }

    fn meeting_error(&self, error: MeetingError) -> Error {
        match error {
            MeetingError::Run(error) => self.error(error, Phase::Meeting),
            MeetingError::Storage(error) => storage(self.job, error),
            MeetingError::Letter(kind) => {
                let party = match kind {
                    LetterError::Malformed { party }
                    | LetterError::BadSignature { party }
                    | LetterError::NotSealedForUs { party }
                    | LetterError::NotTheCommitment { party } => Some(party),
                    _ => None,
                };
                let named = party.and_then(|party| self.job.agreement.parties.get(party));
                Error::Letter { party: named.map(|party| party.name.clone()), kind }
            }
        }
    }
}

/// Whether the helper has ended the run, or forgotten it.
fn is_over(error: &Error) -> bool {
    let Error::Refused { refusal, .. } = error else {
        return matches!(error, Error::Input(InputFault::TooFewDifferent { .. }));
    };
    matches!(
        refusal,
        Refusal::Ended { .. }
            | Refusal::Revoked { .. }
            | Refusal::Expired
            | Refusal::Malformed { .. }
            | Refusal::TooFew { .. }
            | Refusal::OpenedOther { .. }
            | Refusal::OpenedDifferently
            | Refusal::AtOdds
            | Refusal::Broken
    )
}

/// Bytes sent and received between two readings.
fn since(before: (u64, u64), now: (u64, u64)) -> (u64, u64) {
    (now.0 - before.0, now.1 - before.1)
}

fn go_on(cancel: &CancelToken) -> ControlFlow<()> {
    if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn storage(job: &AidedJob, error: std::io::Error) -> Error {
    ConfigFault::Scratch { folder: job.state.clone(), kind: error.kind() }.into()
}

fn state_error(job: &AidedJob, error: StateError) -> Error {
    match error {
        StateError::InUse => ConfigFault::StateInUse { folder: job.state.clone() }.into(),
        StateError::NotOurs => ConfigFault::StateNotOurs { folder: job.state.clone() }.into(),
        StateError::OfAnother => ConfigFault::StateOfAnother { folder: job.state.clone() }.into(),
        StateError::Io(error) => storage(job, error),
    }
}
