//! One party's run with a helper: read, meet, match, write.

use super::answer::{Answer, Learned};
use super::meeting::{self, Envelopes, MeetingError};
use super::state::{State, StateError};
use crate::clock::PhaseClock;
use crate::error::{ConfigFault, InputFault};
use crate::job::{check_place, key_columns, key_items, key_limits, own_position};
use crate::output::{self, Finished, RowSet, RunResult};
use crate::report::{InputReport, OfHelper, Parts};
use crate::resources::Stopwatch;
use crate::rows::{self, RowItems};
use crate::run::Steps;
use crate::{Error, Event, Job, Observer, Phase};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use vesica_agreement::{AidedAgreement, PartyTerms};
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Item, Refusal};
use vesica_helper::{FolderScratch, Remote, RemoteOptions};
use vesica_link::letters::LetterError;
use vesica_link::{CancelToken, Endpoint};
use vesica_net::{Meter, Pool};
use vesica_protocols::kmrs14::{self, Board, Boards, Means};
use vesica_records::{OutputOptions, Streamed};

const OWNER_LABEL: &str = "vesica engine 2026 party of an aided run v1";
const ROWS_LABEL: &str = "vesica engine 2026 rows of an aided run v1";

/// Runs `job`, whose agreement has a helper: see [`crate::job::run_and`].
pub(crate) fn run<R>(
    job: Job,
    observer: Arc<dyn Observer>,
    cancel: &CancelToken,
    say: impl FnOnce(Finished) -> ControlFlow<R, R>,
) -> Result<R, Error> {
    let started_at = jiff::Timestamp::now();
    let stopwatch = Stopwatch::start();
    observer.event(&Event::Phase(Phase::Preparing));
    let agreement = job.agreement.with_helper().ok_or(Error::Bug("the agreement has no helper"))?;
    let position = own_position(&agreement, &job.identity)?;
    let terms = &agreement.parties[position];
    check_place(&job, &terms.name)?;
    let party = position as u8;
    let folder = job.state.folder_of(&agreement, &terms.name);
    let kept = |error| storage(&folder, error);
    let owner = derive(OWNER_LABEL, &[&agreement.spec().id(), &[party]]);
    let state = State::open(&folder, owner).map_err(|error| state_error(&folder, error))?;
    if state.is_damaged() && !job.state.restart {
        return Err(kept(std::io::ErrorKind::InvalidData.into()));
    }
    if state.was_finished() && !job.state.restart {
        return Err(Error::AlreadyFinished);
    }
    // A file of that name can be one that an earlier process of the run has written.
    let may_be_own = |output: &OutputOptions| state.may_have_written(&output.path);
    let had_written = job.output.as_ref().map_or(Ok(false), may_be_own).map_err(kept)?;
    if let Some(output) = &job.output {
        let output = OutputOptions { force: output.force || had_written, ..output.clone() };
        output::check(&agreement, &job.source, &output)?;
    }
    observer.event(&Event::State {
        folder: state.folder(),
        has_begun: state.has_begun(),
        restart: job.state.restart,
    });
    let key = key_columns(&agreement, Some(&terms.name), &job.columns)?;
    let mut clock = PhaseClock::default();

    let scratch = FolderScratch::new(state.folder().to_path_buf());
    let start = Instant::now();
    // A quarter: the rest is for sorting, while these are still there.
    let mut items = RowItems::new(job.state.memory_bytes / 4, &scratch);
    let hash = key_items(&agreement, &key);
    let mut digest = Transcript::new(ROWS_LABEL, &[]);
    observer.event(&Event::Phase(Phase::Reading));
    let mut sink = |batch: &[Item]| {
        batch.iter().for_each(|item| digest.update(item.as_bytes()));
        items.push(batch)
    };
    // A list is refused later when repeated keys leave too few different ones.
    let wanted = (&key_limits(terms, job.strict), terms.min_rows);
    let read = (&*key, &hash);
    let go_on = || go_on(cancel);
    let streamed = rows::read(&job.source, read, wanted, &mut sink, kept, &*observer, go_on)?;
    observer.event(&Event::KeysRead(&streamed.counts));
    let digest = digest.finish();
    clock.add(Phase::Reading, start.elapsed());

    let meter = Meter::new();
    let pool = Pool::new(job.threads).map_err(|_| ConfigFault::NoThreads)?;
    let run = AidedRun {
        job: &job,
        agreement,
        party,
        terms,
        folder: &folder,
        state: &state,
        had_written,
        observer: &observer,
        cancel,
        meter: &meter,
        pool: &pool,
    };
    let kept_answer = match job.state.restart {
        true => None,
        false => run.kept_answer(&streamed, &digest)?,
    };
    let (answer, wire_bytes) = match kept_answer {
        Some(answer) => (answer, run.say_done_again()?),
        None => run.learn(&items, &streamed, &digest, &scratch, &mut clock)?,
    };
    // Nobody else sees what follows, nor that it fails.
    observer.event(&Event::LastMessage);
    let place = job.output.as_ref().map(|output| &*output.path);
    state.keep_said(place).map_err(kept)?;
    let Answer { scales, list_lens, learned } = answer;
    let output = match learned {
        Learned::Refused(why) => {
            let error = run.error(why.into(), Phase::Checking);
            state.forget().map_err(kept)?;
            return Err(error);
        }
        Learned::Nothing => RunResult::Nothing,
        Learned::Rows(matched) => {
            observer.event(&Event::Checked);
            RunResult::Rows(RowSet::new(matched.rows, streamed.rows, matched.items))
        }
    };
    let start = Instant::now();
    let rows_written = match &job.output {
        Some(options) => run.write(&output, options)?,
        None => None,
    };
    clock.add(Phase::Writing, start.elapsed());
    let of_helper = OfHelper {
        agreement,
        keyed: streamed.keyed,
        scales: &scales,
        list_lens: &list_lens,
        output: &output,
    };
    let report = Parts {
        agreement: &agreement,
        party: position,
        started_at,
        input: InputReport::new(job.source.format().to_string(), &streamed.counts),
        rows_written,
        wire_bytes,
        clock: &clock,
        meter: &meter,
        threads: job.threads,
        used: stopwatch.read(),
    }
    .with_helper(of_helper);
    match say(Finished { report, output }) {
        ControlFlow::Continue(said) => {
            state.remove().map_err(kept)?;
            Ok(said)
        }
        ControlFlow::Break(said) => Ok(said),
    }
}

/// The values that the steps of one run share.
struct AidedRun<'a> {
    job: &'a Job,
    agreement: AidedAgreement<'a>,
    party: u8,
    terms: &'a PartyTerms,
    folder: &'a Path,
    state: &'a State,
    /// Whether an earlier process has said `done`, so that a file where the result goes may be its own.
    had_written: bool,
    observer: &'a Arc<dyn Observer>,
    cancel: &'a CancelToken,
    meter: &'a Meter,
    pool: &'a Pool,
}

impl AidedRun<'_> {
    /// A way to the helper, and a first connection to it.
    fn connect(&self) -> Result<(Remote, Box<dyn Board>), Error> {
        let (job, agreement) = (self.job, self.agreement);
        let helper = agreement.helper();
        let Endpoint::Connect(address) = &job.link.endpoint else {
            return Err(Error::Bug("a party waits for its helper"));
        };
        self.observer.event(&Event::Phase(Phase::Connecting));
        let observer = Arc::clone(self.observer);
        let remote = Remote::new(RemoteOptions {
            identity: job.identity.clone(),
            helper: helper.identity,
            address: address.clone(),
            link: job.link.clone(),
            spec: agreement.spec(),
            lanes: job.threads.get(),
            instance: self.state.instance().map_err(|error| self.storage(error))?,
            pool: self.pool.clone(),
            meter: self.meter.clone(),
            cancel: self.cancel.clone(),
            on_event: Arc::new(move |event| observer.event(&Event::Helper(&event))),
        });
        let board = remote.open().map_err(|error| match (error, remote.link_error()) {
            (vesica_core::Error::Transport(_), Some(link)) => Error::from_link(link, &helper.name),
            (error, _) => self.error(error, Phase::Connecting),
        })?;
        Ok((remote, board))
    }

    /// Stores the number of the run at the helper, before this party sends anything that belongs to the run.
    fn keep_instance(&self, remote: &Remote) -> Result<(), Error> {
        let instance = remote.instance().ok_or(Error::Bug("a connected run has no instance"))?;
        self.state.keep_instance(&instance).map_err(|error| self.storage(error))
    }

    /// The answer that an earlier process has kept.
    fn kept_answer(&self, streamed: &Streamed, digest: &[u8; 32]) -> Result<Option<Answer>, Error> {
        let parties = self.agreement.parties.len();
        let answer = self.state.answer(parties, streamed.rows);
        if answer.is_some() {
            self.check_rows(digest)?;
        }
        answer.transpose().map_err(|error| self.storage(error))
    }

    /// Checks that the rows are those with which the run began.
    fn check_rows(&self, digest: &[u8; 32]) -> Result<(), Error> {
        match self.state.keep_rows(digest).map_err(|error| self.storage(error))? {
            true => Ok(()),
            false => Err(InputFault::OtherRows { state: self.folder.to_owned() }.into()),
        }
    }

    /// Takes part in the run up to its last message; returns the answer, and the bytes on the connections, which are
    /// closed.
    fn learn(
        &self,
        items: &RowItems<'_>,
        streamed: &Streamed,
        digest: &[u8; 32],
        scratch: &FolderScratch,
        clock: &mut PhaseClock,
    ) -> Result<(Answer, (u64, u64)), Error> {
        let (job, state) = (self.job, self.state);
        let (remote, board) = match self.connect() {
            Ok((remote, board)) if job.state.restart => {
                drop(board);
                self.restart(&remote)?;
                drop(remote);
                self.connect()?
            }
            // The helper has ended or forgotten the old run already.
            Err(error) if job.state.restart && is_over(&error) => {
                state.give_up().map_err(|error| self.storage(error))?;
                self.connect()?
            }
            Ok(connected) => connected,
            Err(error) => return Err(self.ended(error)),
        };
        self.keep_instance(&remote)?;
        match self.take_part((&remote, board), items, streamed, digest, scratch, clock) {
            Ok(answer) => Ok((answer, remote.wire_bytes())),
            Err(error) => {
                // What cannot go well any more, nobody should wait for. It is forgotten first: a helper that was
                // caught, and lets the end of the run hang, must not see the same labels and dummies again.
                if self.is_final(&error) {
                    let forgotten = state.forget();
                    let _ = remote.end();
                    forgotten.map_err(|error| self.storage(error))?;
                }
                Err(self.ended(error))
            }
        }
    }

    fn take_part(
        &self,
        (remote, mut board): (&Remote, Box<dyn Board>),
        items: &RowItems<'_>,
        streamed: &Streamed,
        digest: &[u8; 32],
        scratch: &FolderScratch,
        clock: &mut PhaseClock,
    ) -> Result<Answer, Error> {
        let (job, spec) = (self.job, self.agreement.spec());
        let kept = |error| self.storage(error);
        self.check_rows(digest)?;

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
            memory_bytes: job.state.memory_bytes / 2,
            pool: self.pool,
            progress: &steps,
        };
        let facts = kmrs14::RunFacts {
            spec: &spec,
            party: self.party,
            scales: &common.scales,
            secret: &common.secret,
            own_secret: &own_secret,
            seal: &Envelopes::new(&common.secret),
            memory: self.state,
        };
        let outcome = kmrs14::run(&facts, items, &means, remote).map_err(at)?;
        let answer = Answer::new(common.scales, outcome);
        // What was learned is on the disk before anybody hears that it was: the helper may forget the run then.
        self.state.keep_answer(&answer, streamed.rows).map_err(kept)?;
        self.say_done(remote)?;
        clock.add_with_bytes(
            Phase::Matching,
            start.elapsed(),
            since(met, self.meter.bytes_under("")),
        );
        Ok(answer)
    }

    /// Tells the helper that this party needs nothing more. It does so after an answer that it refuses as well: a
    /// helper, or another party, that caused the refusal would learn from a different message whether it hit something.
    fn say_done(&self, remote: &Remote) -> Result<(), Error> {
        match remote.done().map_err(|error| self.error(error, Phase::Checking)) {
            // What is known here stays known.
            Err(error) if !is_over(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// As [`say_done`](Self::say_done), after an interruption; returns the bytes on the connection.
    fn say_done_again(&self) -> Result<(u64, u64), Error> {
        if self.state.has_said().map_err(|error| self.storage(error))? {
            return Ok((0, 0));
        }
        match self.connect() {
            Ok((remote, board)) => {
                drop(board);
                self.say_done(&remote)?;
                Ok(remote.wire_bytes())
            }
            // It had heard this party, or somebody else has ended the run.
            Err(error) if is_over(&error) => Ok((0, 0)),
            Err(error) => Err(error),
        }
    }

    fn write(&self, output: &RunResult, options: &OutputOptions) -> Result<Option<u64>, Error> {
        let options = OutputOptions { force: options.force || self.had_written, ..options.clone() };
        output.keep(&self.job.source, &options, &**self.observer, || go_on(self.cancel))
    }

    /// Ends an interrupted run for all parties, and deletes it.
    ///
    /// It is deleted only after the helper has confirmed the end: until then an answer may wait there, and only the
    /// secrets in the folder give access to it.
    ///
    /// # Errors
    /// As [`AidedRun::error`]. The folder then still holds the run: the same command continues it, with
    /// or without a restart.
    fn restart(&self, remote: &Remote) -> Result<(), Error> {
        let kept = |error| self.storage(error);
        match remote.end().map_err(|error| self.error(error, Phase::Connecting)) {
            Ok(()) => {}
            // Another party has ended it already.
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

    /// Whether the run can no longer succeed, so that the others need not wait for it.
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
        match self.state.forget() {
            Ok(()) => error,
            Err(error) => self.storage(error),
        }
    }

    fn error(&self, error: vesica_core::Error, phase: Phase) -> Error {
        if let vesica_core::Error::Refused(Refusal::TooFew { party }) = error
            && party == self.party
        {
            return InputFault::TooFewDifferent { min: self.terms.min_rows }.into();
        }
        let names = self.agreement.parties.iter().map(|party| &*party.name).collect::<Vec<_>>();
        Error::from_helper(error, phase, &self.agreement.helper().name, &names, self.folder)
    }

    fn storage(&self, error: std::io::Error) -> Error {
        storage(self.folder, error)
    }

    fn meeting_error(&self, error: MeetingError) -> Error {
        match error {
            MeetingError::Run(error) => self.error(error, Phase::Meeting),
            MeetingError::Storage(error) => self.storage(error),
            MeetingError::Letter(kind) => {
                let party = match kind {
                    LetterError::Malformed { party }
                    | LetterError::BadSignature { party }
                    | LetterError::NotSealedForUs { party }
                    | LetterError::NotTheCommitment { party } => Some(party),
                    _ => None,
                };
                let named = party.and_then(|party| self.agreement.parties.get(party));
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

fn storage(folder: &Path, error: std::io::Error) -> Error {
    ConfigFault::Scratch { folder: folder.to_owned(), kind: error.kind() }.into()
}

fn state_error(folder: &Path, error: StateError) -> Error {
    let in_folder = || folder.to_owned();
    match error {
        StateError::InUse => ConfigFault::StateInUse { folder: in_folder() }.into(),
        StateError::NotOurs => ConfigFault::StateNotOurs { folder: in_folder() }.into(),
        StateError::OfAnother => ConfigFault::StateOfAnother { folder: in_folder() }.into(),
        StateError::OfAnotherUser => ConfigFault::StateOfAnotherUser { folder: in_folder() }.into(),
        StateError::TooOpen { mode } => {
            ConfigFault::StateTooOpen { folder: in_folder(), mode }.into()
        }
        StateError::Io(error) => storage(folder, error),
    }
}
