//! The state that the threads of a run and Python share: events, and the result.

use crate::checked::Checked;
use crate::failure::Failed;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_diagnostics::Speech;
use vesica_diagnostics::helper::away;
use vesica_diagnostics::input::warnings;
use vesica_diagnostics::link::reason;
use vesica_engine::{Event, Finished, Observer};
use vesica_helper_client::RemoteEvent;
use vesica_helper_client::Waits;
use vesica_link::LinkEvent;

/// Most events that are kept until Python takes them.
const MAX_NOTES: usize = 256;

/// An event for Python: its kind, a text, and two numbers (how much is done, and of how much).
pub(crate) type Note = (&'static str, String, u64, u64);

/// The result of background work.
pub(crate) enum Done {
    /// The result of a run.
    Run(Box<Finished>),
    /// The result of a check of rows.
    Checked(Box<Checked>),
    /// The parties that were connected.
    Present(Vec<String>),
}

/// What has happened in a run, and its result.
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
    /// The parties for which the run waits at the helper.
    waits: Waits,
    /// How long the run may wait for other parties at the helper; the link watches over other
    /// waits.
    limit: Duration,
}

#[derive(Default)]
struct State {
    notes: VecDeque<Note>,
    /// The latest progress of a step.
    step: Option<Note>,
    result: Option<Result<Done, Failed>>,
    has_ended: bool,
    /// Whether Python has the result, or will not ask for it.
    is_taken: bool,
    /// Whether the thread of the run has nothing left to do.
    is_over: bool,
    /// The parties that did not connect in time.
    absent: Option<Vec<String>>,
}

impl Watch {
    pub(crate) fn new(agreement: &Agreement, limit: Duration) -> Self {
        let parties = agreement.parties.iter().map(|party| party.name.clone()).collect();
        let waits = Waits::new(parties);
        Self { state: Mutex::default(), changed: Condvar::new(), waits, limit }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, kind: &'static str, text: impl Into<String>, done: u64, total: u64) {
        let mut state = self.lock();
        if state.notes.len() < MAX_NOTES {
            state.notes.push_back((kind, text.into(), done, total));
        }
    }

    /// The latest progress replaces an earlier one.
    fn step(&self, label: &str, done: u64, total: u64) {
        self.lock().step = Some(("step", label.to_owned(), done, total));
    }

    /// `rows` rows were read.
    pub(crate) fn reading(&self, rows: u64) {
        self.step("reading", rows, 0);
    }

    /// The result is there.
    fn end(&self, result: Result<Done, Failed>) {
        let mut state = self.lock();
        state.result = Some(result);
        state.has_ended = true;
        self.changed.notify_all();
    }

    /// Passes the result of a run to Python, and waits until Python has it, or will not ask for it.
    /// Returns whether Python has it: a run with a helper then no longer needs its state.
    pub(crate) fn hand_over(&self, finished: Finished) -> bool {
        self.end(Ok(Done::Run(Box::new(finished))));
        let waited = self.changed.wait_while(self.lock(), |state| !state.is_taken);
        waited.unwrap_or_else(PoisonError::into_inner).result.is_none()
    }

    /// The thread of the run has nothing left to do. `result` is its result, unless it was already
    /// passed on.
    pub(crate) fn close(&self, result: Option<Result<Done, Failed>>) {
        if let Some(result) = result {
            self.end(result);
        }
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Whether the thread of the run has nothing left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits until the thread of the run has nothing left to do, at most until `until`.
    pub(crate) fn wait_over(&self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(self.lock(), left, |state| !state.is_over);
        drop(waited);
    }

    /// Python will not ask for the result.
    pub(crate) fn abandon(&self) {
        self.lock().is_taken = true;
        self.changed.notify_all();
    }

    /// Waits at most `limit` for the end; returns whether it has come.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !state.has_ended);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.has_ended
    }

    pub(crate) fn take_notes(&self) -> Vec<Note> {
        let mut state = self.lock();
        let step = state.step.take();
        state.notes.drain(..).chain(step).collect()
    }

    /// The result, if there is one. Until [`release`](Self::release) the run keeps what it needs to
    /// produce it again.
    pub(crate) fn take_result(&self) -> Option<Result<Done, Failed>> {
        self.lock().result.take()
    }

    /// Python has kept the result; returns when the thread of the run has nothing left to do.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        state.is_taken = true;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.is_over));
    }

    /// A warning for the log.
    pub(crate) fn warn(&self, text: String) {
        self.note("warning", text, 0, 0);
    }

    /// Whether the run has waited too long for other parties; records which.
    pub(crate) fn has_lost_patience(&self) -> bool {
        let absent = self.waits.current().filter(|(waited, _)| *waited >= self.limit);
        let Some((_, parties)) = absent else { return false };
        self.lock().absent = Some(parties);
        true
    }

    /// The parties that did not connect in time, so that the run was ended.
    pub(crate) fn absent(&self) -> Option<Vec<String>> {
        self.lock().absent.take()
    }

    fn link(&self, event: &LinkEvent) {
        match event {
            LinkEvent::Listening { address } => self.note("listening", address.to_string(), 0, 0),
            LinkEvent::Connected { address, .. } => {
                self.note("connected", address.to_string(), 0, 0);
            }
            LinkEvent::Lost { error, wait } => {
                let text = vesica_diagnostics::engine::mending(
                    "the other side",
                    *error,
                    *wait,
                    Speech::Python,
                );
                self.note("warning", text, 0, 0);
            }
            LinkEvent::Mended { address } => {
                self.note("connected", address.to_string(), 0, 0);
            }
            LinkEvent::Waiting { remaining, .. } => {
                self.step("waiting", 0, remaining.as_secs());
            }
            LinkEvent::Rejected { from, reason: why, count } => {
                let text = format!("a connection from {from} was rejected: {}", reason(why));
                self.note("warning", text, *count, 0);
            }
            _ => {}
        }
    }

    fn remote(&self, event: &RemoteEvent) {
        match event {
            RemoteEvent::Link(event) => self.link(event),
            RemoteEvent::Waiting { parties } => self.waiting(parties),
            RemoteEvent::OtherAgreement { .. } => {
                self.note("warning", "another party waits with a different agreement", 0, 0);
            }
            RemoteEvent::Reconnecting { error, .. } => {
                let text = format!("the helper cannot be reached ({}); trying again", away(error));
                self.note("warning", text, 0, 0);
            }
            RemoteEvent::Moved { received_bytes, .. } => {
                self.waits.received(*received_bytes);
            }
            _ => {}
        }
    }

    fn waiting(&self, parties: &[u8]) {
        if self.waits.wait_for(parties) {
            self.note("waiting", self.waits.names(parties).join(", "), 0, 0);
        }
    }
}

impl Observer for Watch {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Phase(phase) => self.note("phase", phase.name(), 0, 0),
            Event::Reading { rows, .. } => self.reading(*rows),
            Event::Writing { rows, .. } => self.step("writing", *rows, 0),
            Event::Step { label, done, total } => self.step(label, *done, *total),
            Event::KeysRead(counts) => {
                self.note("keys", "", counts.distinct, counts.rows);
                for text in warnings(counts) {
                    self.note("warning", text, 0, 0);
                }
            }
            Event::State { folder, .. } => {
                self.note("state", folder.display().to_string(), 0, 0);
            }
            Event::Link(event) => self.link(event),
            Event::Helper(event) => self.remote(event),
            Event::Exchange(vesica_store_session::Event::Lost(error)) => {
                let text =
                    vesica_diagnostics::engine::lost("the other side", *error, Speech::Python);
                self.note("warning", text, 0, 0);
            }
            Event::Exchange(vesica_store_session::Event::Waiting { after, .. }) => {
                self.step("waiting", after.as_secs(), 0);
            }
            Event::Sizes { here, there } => self.note("sizes", "", *here, *there),
            Event::Chosen(choice) => self.note("protocol", choice.row.id, 0, 0),
            Event::Checked => self.note("checked", "", 0, 0),
            _ => {}
        }
    }
}
