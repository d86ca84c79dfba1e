//! Computes which items are common: over a session with the peer, or over a helper's board.

mod checked;
mod exchange;
mod session;
mod split;
mod with_helper;

pub(crate) use checked::{Checked, OfBoard, OfSession, Sizes};
pub(crate) use session::SessionRun;
pub(crate) use split::{Matched, Splitting};
pub(crate) use with_helper::HelperRun;

use crate::clock::PhaseClock;
use crate::reading::Reader;
use crate::report::Parts;
use crate::terms::own_position;
use crate::{Error, Event, Job, Observer, Report};
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_agreement::PartyTerms;
use vesica_detached::run_under;
use vesica_link::CancelToken;
use vesica_net::{Context, Meter, Progress};
use vesica_protocols::{Output, Party};
use vesica_report::Stopwatch;

/// State that the steps of one run share.
pub(crate) struct Run<'a> {
    pub(crate) job: &'a Job,
    /// This party's position in the agreement.
    pub(crate) position: usize,
    pub(crate) observer: &'a Arc<dyn Observer>,
    pub(crate) cancel: &'a CancelToken,
    pub(crate) meter: Meter,
    pub(crate) clock: PhaseClock,
    pub(crate) started_at: jiff::Timestamp,
    pub(crate) stopwatch: Stopwatch,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        job: &'a Job,
        observer: &'a Arc<dyn Observer>,
        cancel: &'a CancelToken,
    ) -> Result<Self, Error> {
        Ok(Self {
            position: own_position(&job.agreement, &job.identity)?,
            job,
            observer,
            cancel,
            meter: Meter::new(),
            clock: PhaseClock::default(),
            started_at: jiff::Timestamp::now(),
            stopwatch: Stopwatch::start(),
        })
    }

    pub(crate) fn terms(&self) -> &PartyTerms {
        &self.job.agreement.parties[self.position]
    }

    pub(crate) fn event(&self, event: &Event<'_>) {
        self.observer.event(event);
    }

    /// The protocol's progress goes to the observer.
    pub(crate) fn steps(&self) -> Arc<Steps> {
        Arc::new(Steps { observer: Arc::clone(self.observer) })
    }
}

/// A way to match: what happens between the rows of a file and the result over them.
///
/// A run calls the methods in this order, [`read`](Self::read) and [`meet`](Self::meet) in
/// parallel.
pub(crate) trait Match: Sync {
    /// This party's set as the protocol takes it.
    type Set: Send;
    /// The connection and context once the other side has been met.
    type Met;
    /// The unchecked outcome of the protocol.
    type Answer;
    /// What the report says about this way of matching alone.
    type Of;

    /// Whether an earlier process of this run may have written a file at the result's path.
    fn may_have_written(&self) -> bool {
        false
    }

    /// Called before reading begins, after the checks of the job.
    fn begin(&self) {}

    /// Reads this party's set.
    fn read(&self, reader: &Reader<'_>) -> Result<Self::Set, Error>;

    /// Tells the other side that reading failed.
    fn reading_failed(&self, _: &Error) {}

    /// Meets the other side, as far as this needs no set.
    fn meet(&self) -> Result<Self::Met, Error>;

    /// The set and the other side, or the error that caused the other one.
    fn both(
        &self,
        set: Result<Self::Set, Error>,
        met: Result<Self::Met, Error>,
    ) -> Result<(Self::Set, Self::Met), Error> {
        Ok((set?, met?))
    }

    /// Runs the protocol up to and including this party's last message. Checks nothing of the
    /// result.
    fn run(&self, set: Self::Set, met: Self::Met) -> Result<Self::Answer, Error>;

    /// Checks the result. No other party sees that this fails, or how long it takes.
    fn check(&self, answer: Self::Answer) -> Result<Checked<Self::Of>, Error>;

    /// [`Break`](ControlFlow::Break) once the caller has asked to stop.
    fn go_on(&self) -> ControlFlow<()>;

    /// Peak size in bytes of the files of intermediate data.
    fn peak_scratch_bytes(&self) -> u64;

    /// The report of the finished run.
    fn report(&self, parts: Parts<'_>, checked: &Checked<Self::Of>) -> Report;

    /// Deletes the state of the run. Called when the caller has the result.
    fn end(self) -> Result<(), Error>;
}

/// Reports the progress of the protocol to an observer.
pub(crate) struct Steps {
    observer: Arc<dyn Observer>,
}

impl Progress for Steps {
    fn step(&self, label: &str, done: u64, total: u64) {
        self.observer.event(&Event::Step { label, done, total });
    }
}

/// Runs `party` under `label` on its own streams, and returns its output and its changes of
/// direction.
///
/// # Errors
/// Those of the party and of the connection.
pub fn run_alone(
    party: Box<dyn Party>,
    ctx: &mut Context,
    label: &str,
) -> vesica_core::Result<(Output, u64)> {
    run_alone_and(party, ctx, label, |_, output| Ok(output))
}

/// As [`run_alone`], and then `more` with the party's output on the same streams.
fn run_alone_and<T>(
    party: Box<dyn Party>,
    ctx: &mut Context,
    label: &str,
    more: impl FnOnce(&mut Context, Output) -> vesica_core::Result<T>,
) -> vesica_core::Result<(T, u64)> {
    let mut forks = ctx.fork(1)?;
    let own = forks.first_mut().ok_or(vesica_core::Error::Bug("a fork made no context"))?;
    let given = run_under(own, label, |ctx| {
        let output = party.run(ctx)?;
        more(ctx, output)
    })?;
    Ok((given, own.direction_changes()))
}
