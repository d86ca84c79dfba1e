//! The progress of a run with a helper.

use super::screen::{Progress, Screen};
use super::wait_log::WaitLog;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_agreement::{Agreement, HelperTerms};
use vesica_diagnostics::words::and;
use vesica_diagnostics::{helper, link};
use vesica_engine::{Event, Phase};
use vesica_helper_client::RemoteEvent;
use vesica_helper_client::Waits;
use vesica_link::LinkEvent;

/// How many bytes of another agreement's hash are shown: a prefix of what `vesica agree show`
/// prints.
const SHORT_HASH_BYTES: usize = 8;

/// Shows the connection to a helper, and what happens there.
pub(super) struct HelperReporter {
    helper: String,
    waits: Waits,
    own: Option<usize>,
    state: Mutex<State>,
    helper_waits: WaitLog,
    party_waits: WaitLog,
}

#[derive(Default)]
struct State {
    is_connected: bool,
    is_away: bool,
}

impl HelperReporter {
    /// For a run of the party `own` under `agreement`, which has this `helper`.
    pub(super) fn new(helper: &HelperTerms, agreement: &Agreement, own: Option<usize>) -> Self {
        Self {
            helper: helper.name.clone(),
            waits: Waits::new(agreement.parties.iter().map(|party| party.name.clone()).collect()),
            own,
            state: Mutex::default(),
            helper_waits: WaitLog::default(),
            party_waits: WaitLog::default(),
        }
    }

    /// Shows an event that only runs with a helper have, or that means something else in them.
    pub(super) fn event(&self, event: &Event<'_>, screen: &Screen) {
        self.log(event);
        match event {
            Event::Helper(event) => self.remote(event, screen),
            Event::Agreed => screen.say("all parties have the same agreement"),
            Event::Step { label, done, total } => {
                let (done, total) = (*done, *total);
                // Rows become labels; labels are sent in segments.
                let unit = if *label == "labels" { "rows" } else { "segments" };
                screen.step(&Progress { name: label, done, total, count: done, unit });
            }
            Event::Phase(Phase::Writing) => screen.finish_steps(|_| true),
            _ => {}
        }
    }

    /// How long this party has been waiting for others, and their names.
    pub(super) fn waits(&self) -> Option<(Duration, Vec<String>)> {
        self.waits.current()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remote(&self, event: &RemoteEvent, screen: &Screen) {
        let helper = &self.helper;
        match event {
            RemoteEvent::Link(event) => self.link(event, screen),
            RemoteEvent::Joined { present } => {
                let is_first = !std::mem::replace(&mut self.state().is_connected, true);
                let others: Vec<u8> = present
                    .iter()
                    .copied()
                    .filter(|party| Some(usize::from(*party)) != self.own)
                    .collect();
                if is_first && !others.is_empty() {
                    let names = self.waits.names(&others);
                    screen.say(&format!("already connected: {}", and(&names)));
                }
            }
            RemoteEvent::Waiting { parties } => {
                self.back(screen);
                self.waiting(parties, screen);
            }
            RemoteEvent::OtherAgreement { agreement } => screen.say(&format!(
                "another party waits at {helper} with a different agreement ({}): compare `vesica \
                 agree show`",
                short_hash(agreement)
            )),
            RemoteEvent::Reconnecting { error, .. } => self.away(error, screen),
            RemoteEvent::Resumed => self.back(screen),
            RemoteEvent::Moved { received_bytes, .. } if self.waits.received(*received_bytes) => {
                screen.end_waiting();
            }
            _ => {}
        }
    }

    fn away(&self, error: &vesica_core::Error, screen: &Screen) {
        if !std::mem::replace(&mut self.state().is_away, true) {
            screen.end_waiting();
            let why = helper::away(error);
            screen.say(&format!("{} cannot be reached ({why}); trying again", self.helper));
        }
    }

    fn back(&self, screen: &Screen) {
        if std::mem::take(&mut self.state().is_away) {
            screen.end_waiting();
            screen.say(&format!("{} can be reached again; the run continues", self.helper));
        }
    }

    fn waiting(&self, parties: &[u8], screen: &Screen) {
        let is_news = self.waits.wait_for(parties);
        let line = match parties {
            [] => format!("{} is comparing the lists", self.helper),
            parties => format!("waiting for {}", and(&self.waits.names(parties))),
        };
        screen.waiting(line, is_news);
    }

    fn link(&self, event: &LinkEvent, screen: &Screen) {
        match event {
            LinkEvent::Waiting { remaining, last } => {
                screen.waiting_for(&self.helper, *remaining, last);
            }
            LinkEvent::Connected { address, is_proxy, peer } => {
                screen.end_waiting();
                // Otherwise this is one of several connections, or replaces a lost one.
                if !self.state().is_connected {
                    screen.say(&link::connected(&self.helper, peer, *address, *is_proxy));
                }
            }
            _ => {}
        }
    }
}

impl HelperReporter {
    /// Logs an event.
    fn log(&self, event: &Event<'_>) {
        let helper = &*self.helper;
        match event {
            Event::Helper(RemoteEvent::Link(LinkEvent::Waiting { remaining, last })) => {
                let (remaining_s, why) = (remaining.as_secs(), last.as_ref().map(link::reason));
                if self.helper_waits.is_due(why.as_deref()) {
                    tracing::info!(helper, remaining_s, why, "waiting for the helper");
                }
            }
            Event::Helper(RemoteEvent::Link(LinkEvent::Connected { address, is_proxy, peer })) => {
                tracing::info!(helper, identity = %peer, %address, is_proxy, "connected");
            }
            Event::Helper(RemoteEvent::Waiting { parties }) => {
                let parties = self.waits.names(parties).join(", ");
                if self.party_waits.is_due(Some(&parties)) {
                    tracing::info!(parties, "waiting");
                }
            }
            Event::Helper(RemoteEvent::OtherAgreement { agreement }) => {
                let hash = hex(&agreement[..]);
                tracing::warn!(helper, agreement = hash, "another party has a different agreement");
            }
            Event::Helper(RemoteEvent::Reconnecting { error, pause }) => {
                let (why, pause_ms) = (helper::away(error), pause.as_millis() as u64);
                tracing::warn!(helper, why, pause_ms, "trying again");
            }
            Event::Helper(RemoteEvent::Resumed) => tracing::info!(helper, "resumed"),
            _ => {}
        }
    }
}

/// The first bytes of an agreement's hash.
pub(crate) fn short_hash(hash: &[u8; 32]) -> String {
    hex(&hash[..SHORT_HASH_BYTES])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
