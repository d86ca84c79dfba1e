//! What a run with a helper tells while it goes on.

use crate::args::TalkArgs;
use crate::messages::input::warnings;
use crate::messages::{and, counted, helper, link};
use crate::progress::{Progress, Screen, WaitLog, duration};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_engine::aided::AidedAgreement;
use vesica_engine::explain::grouped;
use vesica_engine::{Event, Observer, Phase};
use vesica_helper::RemoteEvent;
use vesica_link::LinkEvent;

/// Bytes of another agreement's hash that are shown, as `vesica agree show` shows them first.
const SHORT_HASH_BYTES: usize = 8;

/// Tells a person what a run with a helper does.
pub(crate) struct AidedTeller {
    screen: Screen,
    helper: String,
    parties: Vec<String>,
    own: usize,
    state: Mutex<State>,
    helper_waits: WaitLog,
    party_waits: WaitLog,
}

#[derive(Default)]
struct State {
    is_connected: bool,
    /// Since when nothing came, and for whom the run waits.
    waits: Option<(Instant, Vec<u8>)>,
    is_away: bool,
    received_bytes: u64,
}

impl AidedTeller {
    /// A teller as `talk` asks for, of the run of the party `own` under `agreement`.
    pub(crate) fn new(talk: &TalkArgs, agreement: &AidedAgreement, own: usize) -> Self {
        Self {
            screen: Screen::new(talk),
            helper: agreement.helper.name.clone(),
            parties: agreement.parties.iter().map(|party| party.name.clone()).collect(),
            own,
            state: Mutex::default(),
            helper_waits: WaitLog::default(),
            party_waits: WaitLog::default(),
        }
    }

    /// Takes the bars off the terminal.
    pub(crate) fn finish(&self) {
        self.screen.finish();
    }

    /// Says where intermediate data is.
    fn folder(&self, folder: &Path, has_begun: bool, restart: bool) {
        let folder = folder.display();
        self.screen.say(&match (has_begun, restart) {
            (true, false) => format!("going on with the run in {folder}"),
            (true, true) => format!("forgetting the run in {folder}"),
            _ => format!("intermediate data, and what an interrupted run needs, goes to {folder}"),
        });
    }

    /// For how long other parties have been waited for, and their names.
    pub(super) fn waits(&self) -> Option<(Duration, Vec<String>)> {
        let state = self.state();
        let (since, parties) = state.waits.as_ref().filter(|(_, parties)| !parties.is_empty())?;
        Some((since.elapsed(), self.names(parties)))
    }

    fn names(&self, parties: &[u8]) -> Vec<String> {
        let known = parties.iter().filter_map(|party| self.parties.get(usize::from(*party)));
        known.cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remote(&self, event: &RemoteEvent) {
        let helper = &self.helper;
        match event {
            RemoteEvent::Link(event) => self.link(event),
            RemoteEvent::Joined { present } => {
                let is_first = !std::mem::replace(&mut self.state().is_connected, true);
                let others: Vec<u8> = present
                    .iter()
                    .copied()
                    .filter(|party| usize::from(*party) != self.own)
                    .collect();
                if is_first && !others.is_empty() {
                    let names = self.names(&others);
                    self.screen.say(&format!("{} came before", and(&names)));
                }
            }
            RemoteEvent::Waiting { parties } => {
                self.back();
                self.waiting(parties);
            }
            RemoteEvent::OtherAgreement { agreement } => self.screen.say(&format!(
                "another party waits at {helper} with another agreement ({}): compare `vesica \
                 agree show`",
                short_hash(agreement)
            )),
            RemoteEvent::Reconnecting { error, .. } => self.away(error),
            RemoteEvent::Resumed => self.back(),
            RemoteEvent::Moved { received_bytes, .. } => {
                let mut state = self.state();
                // What is sent meanwhile is no news of the others.
                if *received_bytes > state.received_bytes {
                    state.received_bytes = *received_bytes;
                    if state.waits.take().is_some() {
                        drop(state);
                        self.screen.end_waiting();
                    }
                }
            }
            _ => {}
        }
    }

    fn away(&self, error: &vesica_core::Error) {
        if !std::mem::replace(&mut self.state().is_away, true) {
            self.screen.end_waiting();
            let why = helper::away(error);
            self.screen.say(&format!("{} is away ({why}); trying again", self.helper));
        }
    }

    fn back(&self) {
        if std::mem::take(&mut self.state().is_away) {
            self.screen.end_waiting();
            self.screen.say(&format!("{} is back; resumed", self.helper));
        }
    }

    fn waiting(&self, parties: &[u8]) {
        let is_news = {
            let mut state = self.state();
            match &mut state.waits {
                // They do not come sooner because one of them came.
                Some((_, known)) if !known.is_empty() && !parties.is_empty() => {
                    let is_news = known != parties;
                    *known = parties.to_vec();
                    is_news
                }
                waits => {
                    let is_news =
                        waits.as_ref().is_none_or(|(_, known)| known.as_slice() != parties);
                    *waits = Some((Instant::now(), parties.to_vec()));
                    is_news
                }
            }
        };
        let line = match parties {
            [] => format!("{} compares the lists", self.helper),
            parties => format!("waiting for {}", and(&self.names(parties))),
        };
        self.screen.waiting(line, is_news);
    }

    fn link(&self, event: &LinkEvent) {
        match event {
            LinkEvent::Waiting { remaining, last } => {
                let why = last
                    .as_ref()
                    .map_or(String::new(), |last| format!(" ({})", link::reason(last)));
                let left = duration(*remaining);
                self.screen
                    .waiting(format!("waiting for {}, {left} left{why}", self.helper), false);
            }
            LinkEvent::Connected { address, peer } => {
                self.screen.end_waiting();
                // One of several connections, or once more the one that was lost.
                if !self.state().is_connected {
                    let fingerprint = peer.fingerprint();
                    let line = format!("connected to {} ({fingerprint}) at {address}", self.helper);
                    self.screen.say(&line);
                }
            }
            _ => {}
        }
    }
}

impl Observer for AidedTeller {
    fn event(&self, event: &Event<'_>) {
        self.log(event);
        match event {
            Event::Reading { bytes_done, bytes_total, rows } => self.screen.step(&Progress {
                name: "reading",
                done: *bytes_done,
                total: *bytes_total,
                count: *rows,
                unit: "rows",
            }),
            Event::State { folder, has_begun, restart } => {
                self.folder(folder, *has_begun, *restart);
            }
            Event::KeysRead(counts) => {
                self.screen.say(&format!(
                    "read {}: {} with a key, {} empty, {} refused",
                    counted(counts.rows, "row"),
                    grouped(counts.rows - counts.empty - counts.refused),
                    grouped(counts.empty),
                    grouped(counts.refused),
                ));
                warnings(counts).iter().for_each(|line| self.screen.warn(line));
            }
            Event::Helper(event) => self.remote(event),
            Event::Agreed => self.screen.say("all parties hold the same agreement"),
            Event::Step { label, done, total } => {
                let (done, total) = (*done, *total);
                // Rows become labels; labels are sent in segments.
                let unit = if *label == "labels" { "rows" } else { "segments" };
                self.screen.step(&Progress { name: label, done, total, count: done, unit });
            }
            Event::Checked => self.screen.say("the answer passed its self-check"),
            Event::Writing { bytes_done, bytes_total, rows } => self.screen.step(&Progress {
                name: "writing",
                done: *bytes_done,
                total: *bytes_total,
                count: *rows,
                unit: "rows",
            }),
            Event::Phase(Phase::Writing) => self.screen.finish_steps(|_| true),
            _ => {}
        }
    }
}

impl AidedTeller {
    /// The event for the log. Progress is left out: it would say the same many times.
    fn log(&self, event: &Event<'_>) {
        let helper = &*self.helper;
        match event {
            Event::Phase(phase) => tracing::info!(%phase, "phase"),
            Event::KeysRead(counts) => tracing::info!(
                rows = counts.rows,
                empty = counts.empty,
                refused = counts.refused,
                "keys read"
            ),
            Event::Agreed => tracing::info!("agreements equal"),
            Event::Checked => tracing::info!("self-check passed"),
            Event::Helper(RemoteEvent::Link(LinkEvent::Waiting { remaining, last })) => {
                let (remaining_s, why) = (remaining.as_secs(), last.as_ref().map(link::reason));
                if self.helper_waits.is_due(why.as_deref()) {
                    tracing::info!(helper, remaining_s, why, "waiting for the helper");
                }
            }
            Event::Helper(RemoteEvent::Link(LinkEvent::Connected { address, peer })) => {
                tracing::info!(helper, identity = %peer, %address, "connected");
            }
            Event::Helper(RemoteEvent::Waiting { parties }) => {
                let parties = self.names(parties).join(", ");
                if self.party_waits.is_due(Some(&parties)) {
                    tracing::info!(parties, "waiting");
                }
            }
            Event::Helper(RemoteEvent::OtherAgreement { agreement }) => {
                let hash = hex(&agreement[..]);
                tracing::warn!(helper, agreement = hash, "another party has another agreement");
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

/// The beginning of an agreement's hash.
pub(super) fn short_hash(hash: &[u8; 32]) -> String {
    hex(&hash[..SHORT_HASH_BYTES])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
