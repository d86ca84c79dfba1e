//! Matching over a helper's board.

use super::{Checked, Match, OfBoard, Run};
use crate::error::{ConfigFault, InputFault};
use crate::output::{RowSet, RunResult};
use crate::reading::Reader;
use crate::report::Parts;
use crate::{Error, Event, Phase, Report};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use vesica_agreement::{AidedAgreement, PartyTerms};
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Item, Refusal};
use vesica_helper_client::{Answer, Envelopes, Learned, MeetingError, State, StateError, meet};
use vesica_helper_client::{Remote, RemoteOptions};

use vesica_link::Endpoint;
use vesica_link::letters::LetterError;
use vesica_net::Pool;
use vesica_own_rows::RowItems;
use vesica_protocols::kmrs14::{self, Board, Boards, Means};
use vesica_records::Streamed;
use vesica_scratch::FolderScratch;

const OWNER_LABEL: &str = "vesica engine 2026 party of an aided run v1";
const ROWS_LABEL: &str = "vesica engine 2026 rows of an aided run v1";

/// See the [module](self).
pub(crate) struct HelperRun<'a> {
    run: &'a Run<'a>,
    agreement: AidedAgreement<'a>,
    party: u8,
    terms: &'a PartyTerms,
    folder: PathBuf,
    state: State,
    scratch: Arc<FolderScratch>,
    /// Whether an earlier process has sent `done`, so that a file at the result's path may be its
    /// own.
    had_written: bool,
    pool: Pool,
}

/// This party's items, one per row.
pub(crate) struct OwnRows {
    items: RowItems,
    streamed: Streamed,
    digest: [u8; 32],
}

/// The answer, from the helper or from the state of an earlier process.
pub(crate) struct Learnt {
    answer: Answer,
    wire_bytes: (u64, u64),
    streamed: Streamed,
}

impl<'a> HelperRun<'a> {
    /// Opens the folder of the run.
    pub(crate) fn open(run: &'a Run<'a>, agreement: AidedAgreement<'a>) -> Result<Self, Error> {
        let job = run.job;
        let party = run.position as u8;
        let terms = &job.agreement.parties[run.position];
        let folder = job.state.folder_of(&job.agreement, &terms.name);
        let owner = derive(OWNER_LABEL, &[&agreement.spec().id(), &[party]]);
        let state = State::open(&folder, owner).map_err(|error| state_error(&folder, error))?;
        let kept = |error: std::io::Error| ConfigFault::scratch(&folder, error.kind());
        if state.is_damaged() && !job.state.restart {
            return Err(kept(std::io::ErrorKind::InvalidData.into()));
        }
        if state.was_finished() && !job.state.restart {
            return Err(Error::AlreadyFinished);
        }
        let had_written = match &job.output {
            Some(output) => state.may_have_written(&output.path).map_err(kept)?,
            None => false,
        };
        let place = job.scratch.as_deref().unwrap_or(state.folder());
        let scratch = Arc::new(FolderScratch::new(place.to_path_buf()));
        let pool = Pool::new(job.threads).map_err(|_| ConfigFault::NoThreads)?;
        Ok(Self { run, agreement, party, terms, folder, state, scratch, had_written, pool })
    }

    /// A client of the helper, and its first connection.
    fn connect(&self) -> Result<(Remote, Box<dyn Board>), Error> {
        let (job, agreement) = (self.run.job, self.agreement);
        let helper = agreement.helper();
        let Endpoint::Connect(address) = &job.link.endpoint else {
            return Err(Error::Bug("a party waits for its helper"));
        };
        self.run.event(&Event::Phase(Phase::Connecting));
        let observer = Arc::clone(self.run.observer);
        let remote = Remote::new(RemoteOptions {
            identity: job.identity.clone(),
            helper: helper.identity,
            address: address.clone(),
            link: job.link.clone(),
            spec: agreement.spec(),
            lanes: job.threads.get(),
            instance: self.state.instance().map_err(|error| self.storage(error))?,
            pool: self.pool.clone(),
            meter: self.run.meter.clone(),
            cancel: self.run.cancel.clone(),
            on_event: Arc::new(move |event| observer.event(&Event::Helper(&event))),
        });
        let board = remote.open().map_err(|error| match (error, remote.link_error()) {
            (vesica_core::Error::Transport(_), Some(link)) => Error::from_link(link, &helper.name),
            (error, _) => self.error(error, Phase::Connecting),
        })?;
        Ok((remote, board))
    }

    /// Stores the number of the run at the helper, before this party sends anything that belongs to
    /// the run.
    fn keep_instance(&self, remote: &Remote) -> Result<(), Error> {
        let instance = remote.instance().ok_or(Error::Bug("a connected run has no instance"))?;
        self.state.keep_instance(&instance).map_err(|error| self.storage(error))
    }

    /// The answer that an earlier process stored.
    fn kept_answer(&self, own: &OwnRows) -> Result<Option<Answer>, Error> {
        let parties = self.agreement.parties.len();
        let answer = self.state.answer(parties, own.streamed.rows);
        if answer.is_some() {
            self.check_rows(&own.digest)?;
        }
        answer.transpose().map_err(|error| self.storage(error))
    }

    /// Checks that the rows are those with which the run began.
    fn check_rows(&self, digest: &[u8; 32]) -> Result<(), Error> {
        if self.state.keep_rows(digest).map_err(|error| self.storage(error))? {
            Ok(())
        } else {
            Err(InputFault::OtherRows { state: self.folder.clone() }.into())
        }
    }

    /// Takes part in the run up to its last message; returns the answer, and the bytes on the
    /// connections, which are then closed.
    fn learn(&self, own: &OwnRows) -> Result<(Answer, (u64, u64)), Error> {
        let (job, state) = (self.run.job, &self.state);
        let (remote, board) = match self.connect() {
            Ok((remote, board)) if job.state.restart => {
                drop(board);
                self.restart(&remote)?;
                drop(remote);
                self.connect()?
            }
            // The helper has already ended or forgotten the old run.
            Err(error) if job.state.restart && is_over(&error) => {
                state.give_up().map_err(|error| self.storage(error))?;
                self.connect()?
            }
            Ok(connected) => connected,
            Err(error) => return Err(self.ended(error)),
        };
        self.keep_instance(&remote)?;
        match self.take_part(&remote, board, own) {
            Ok(answer) => Ok((answer, remote.wire_bytes())),
            Err(error) => {
                // Do not let the others wait for a run that can no longer succeed. The state is
                // deleted first: a helper that was caught, and delays the end of the run, must not
                // see the same labels and dummies again.
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
        remote: &Remote,
        mut board: Box<dyn Board>,
        OwnRows { items, streamed, digest }: &OwnRows,
    ) -> Result<Answer, Error> {
        let (meter, clock) = (&self.run.meter, &self.run.clock);
        let (job, spec) = (self.run.job, self.agreement.spec());
        let kept = |error| self.storage(error);
        self.check_rows(digest)?;

        self.run.event(&Event::Phase(Phase::Meeting));
        let start = Instant::now();
        let (secrets, own_secret) = self.state.secrets().map_err(kept)?;
        let scale = spec.scale(streamed.keyed) as u8;
        let common =
            meet(&mut *board, &spec, self.party, &job.identity, &self.state, &secrets, scale)
                .map_err(|error| self.meeting_error(error))?;
        // The run reuses the connection of the meeting.
        drop(board);
        self.run.event(&Event::Agreed);
        // Bytes exchanged since the connection was made belong to the meeting phase.
        let met = meter.bytes_under("");
        clock.add_with_bytes(Phase::Meeting, start.elapsed(), met);

        self.run.event(&Event::Phase(Phase::Matching));
        let start = Instant::now();
        let at = |error| self.error(error, Phase::Matching);
        let means = Means {
            scratch: &*self.scratch,
            memory_bytes: job.memory_bytes / 2,
            pool: &self.pool,
            progress: &*self.run.steps(),
        };
        let facts = kmrs14::RunFacts {
            spec: &spec,
            party: self.party,
            scales: &common.scales,
            secret: &common.secret,
            own_secret: &own_secret,
            seal: &Envelopes::new(&common.secret),
            memory: &self.state,
        };
        let outcome = kmrs14::run(&facts, items, &means, remote).map_err(at)?;
        let answer = Answer::new(common.scales, outcome);
        // The answer is on disk before the helper receives `done`, since it may then forget the
        // run.
        self.state.keep_answer(&answer, streamed.rows).map_err(kept)?;
        self.send_done(remote)?;
        clock.add_with_bytes(Phase::Matching, start.elapsed(), since(met, meter.bytes_under("")));
        Ok(answer)
    }

    /// Tells the helper that this party needs nothing more, even after an answer that this party
    /// refuses: a helper, or another party, that caused the refusal would learn from a different
    /// message whether it hit something.
    fn send_done(&self, remote: &Remote) -> Result<(), Error> {
        match remote.done().map_err(|error| self.error(error, Phase::Checking)) {
            // The answer here remains valid.
            Err(error) if !is_over(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// As [`send_done`](Self::send_done), after an interruption; returns the bytes on the
    /// connection.
    fn send_done_again(&self) -> Result<(u64, u64), Error> {
        if self.state.has_sent_done().map_err(|error| self.storage(error))? {
            return Ok((0, 0));
        }
        match self.connect() {
            Ok((remote, board)) => {
                drop(board);
                self.send_done(&remote)?;
                Ok(remote.wire_bytes())
            }
            // The helper had received `done`, or another party has ended the run.
            Err(error) if is_over(&error) => Ok((0, 0)),
            Err(error) => Err(error),
        }
    }

    /// Ends an interrupted run for all parties, and deletes its state.
    ///
    /// The state is deleted only after the helper has confirmed the end: until then an answer may
    /// wait there, and only the secrets in the folder give access to it.
    ///
    /// # Errors
    /// As [`HelperRun::error`]. The folder then still holds the run: the same command continues it,
    /// with or without a restart.
    fn restart(&self, remote: &Remote) -> Result<(), Error> {
        let kept = |error| self.storage(error);
        match remote.end().map_err(|error| self.error(error, Phase::Connecting)) {
            Ok(()) => {}
            // Another party has already ended it.
            Err(error) if is_over(&error) => {}
            Err(error @ Error::Refused { refusal: Refusal::TooLate, .. }) => {
                if self.state.is_damaged() {
                    // All parties have put their lists into the run at the helper: it is the one in
                    // the folder.
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

    /// The error for the caller. Deletes the state of a run that the helper has ended or forgotten,
    /// so that the next run is a new one.
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
        Error::from_helper(error, phase, &self.agreement.helper().name, &names, &self.folder)
    }

    fn storage(&self, error: std::io::Error) -> Error {
        ConfigFault::scratch(&self.folder, error.kind())
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

impl Match for HelperRun<'_> {
    type Set = OwnRows;
    type Met = ();
    type Answer = Learnt;
    type Of = OfBoard;

    fn may_have_written(&self) -> bool {
        self.had_written
    }

    fn begin(&self) {
        self.run.event(&Event::State {
            folder: self.state.folder(),
            has_started: self.state.has_started(),
            restart: self.run.job.state.restart,
        });
    }

    fn read(&self, reader: &Reader<'_>) -> Result<OwnRows, Error> {
        // A quarter of the memory: sorting needs the rest while these are still there.
        let memory_bytes = self.run.job.memory_bytes / 4;
        let mut items = RowItems::new(memory_bytes, Arc::clone(&self.scratch) as _);
        let mut digest = Transcript::new(ROWS_LABEL, &[]);
        let mut sink = |batch: &[Item]| {
            batch.iter().for_each(|item| digest.update(item.as_bytes()));
            items.push(batch).map_err(|error| self.storage(error))
        };
        // A list is refused later if repeated keys leave too few different ones.
        let streamed = reader.items(&mut sink, |_| self.go_on())?;
        self.run.event(&Event::KeysRead(&streamed.counts));
        Ok(OwnRows { items, streamed, digest: digest.finish() })
    }

    /// Reports that the parties meet at the helper, after the sets have been read.
    fn meet(&self) -> Result<(), Error> {
        Ok(())
    }

    fn run(&self, own: OwnRows, (): ()) -> Result<Learnt, Error> {
        let kept_answer = if self.run.job.state.restart { None } else { self.kept_answer(&own)? };
        let (answer, wire_bytes) = match kept_answer {
            Some(answer) => (answer, self.send_done_again()?),
            None => self.learn(&own)?,
        };
        Ok(Learnt { answer, wire_bytes, streamed: own.streamed })
    }

    fn check(&self, learnt: Learnt) -> Result<Checked<OfBoard>, Error> {
        let Learnt { answer, wire_bytes, streamed } = learnt;
        let kept = |error| self.storage(error);
        let place = self.run.job.output.as_ref().map(|output| &*output.path);
        self.state.keep_done(place).map_err(kept)?;
        let Answer { scales, list_lens, learned } = answer;
        let output = match learned {
            Learned::Refused(why) => {
                let error = self.error(why.into(), Phase::Checking);
                self.state.forget().map_err(kept)?;
                return Err(error);
            }
            Learned::Nothing => RunResult::Nothing,
            Learned::Rows(matched) => {
                self.run.event(&Event::Checked);
                RunResult::Rows(RowSet::new(matched.rows, streamed.rows, matched.items))
            }
        };
        let of = OfBoard { keyed: streamed.keyed, scales, list_lens, wire_bytes };
        Ok(Checked { output, counts: streamed.counts, of })
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.run.cancel.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn peak_scratch_bytes(&self) -> u64 {
        self.scratch.peak_bytes()
    }

    fn report(&self, parts: Parts<'_>, checked: &Checked<OfBoard>) -> Report {
        parts.of_board(self.agreement, checked)
    }

    fn end(self) -> Result<(), Error> {
        let Self { folder, state, .. } = self;
        state.remove().map_err(|error| ConfigFault::scratch(&folder, error.kind()))
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

fn state_error(folder: &Path, error: StateError) -> Error {
    let in_folder = || folder.to_owned();
    match error {
        StateError::OfAnother => ConfigFault::StateOfAnother { folder: in_folder() }.into(),
        StateError::Folder(error) => ConfigFault::of_folder(folder, error),
    }
}
