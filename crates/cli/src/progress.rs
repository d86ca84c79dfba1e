//! The progress of a run, on the terminal and in the log.

mod helper;
mod screen;
mod wait_log;

pub(crate) use helper::short_hash;
pub(crate) use screen::{Progress, Screen};

use crate::args::groups::TalkArgs;
use helper::HelperReporter;
use std::path::Path;
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_agreement::figures::grouped;
use vesica_diagnostics::input::warnings;
use vesica_diagnostics::link::{connected, reason};
use vesica_diagnostics::words::{duration, keys_read};
use vesica_diagnostics::{Speech, engine};
use vesica_engine::{Event, Observer, Phase};
use vesica_link::LinkEvent;
use vesica_records::KeyCounts;
use vesica_store_session::{Repeats, Waiting};
use wait_log::WaitLog;

/// Shows the progress of a run.
pub(crate) struct Reporter {
    screen: Screen,
    has_self_check: bool,
    other: Other,
}

/// The other end of this party's connection.
enum Other {
    Peer { name: String, waits: WaitLog },
    Helper(HelperReporter),
}

impl Reporter {
    /// A reporter with the options `talk` for a run of `party` under `agreement`. If the party is
    /// unknown, there is no connection to report.
    pub(crate) fn new(talk: &TalkArgs, agreement: &Agreement, party: Option<&str>) -> Self {
        let own = party.map(|party| agreement.position(party));
        let other = match &agreement.helper {
            Some(helper) => Other::Helper(HelperReporter::new(helper, agreement, own)),
            None => Other::Peer {
                name: party.map_or(String::new(), |party| agreement.peer_of(party).name.clone()),
                waits: WaitLog::default(),
            },
        };
        let has_self_check = agreement.helper.is_some() || agreement.self_check > 0;
        Self { screen: Screen::new(talk), has_self_check, other }
    }

    /// Removes the bars from the terminal.
    pub(crate) fn finish(&self) {
        self.screen.finish();
    }

    /// Prints the warnings of a quiet run, which are about its result.
    pub(crate) fn print_warnings(&self) {
        self.screen.print_warnings();
    }

    /// With a helper: how long this party has waited for others, and their names.
    pub(crate) fn waits(&self) -> Option<(Duration, Vec<String>)> {
        match &self.other {
            Other::Peer { .. } => None,
            Other::Helper(helper) => helper.waits(),
        }
    }

    /// Shows where intermediate data is.
    fn folder(&self, folder: &Path, has_started: bool, restart: bool) {
        let folder = folder.display();
        self.screen.say(&match (has_started, restart) {
            (true, false) => format!("continuing the run in {folder}"),
            (true, true) => format!("abandoning the run in {folder}"),
            _ => format!(
                "intermediate data, and the state for continuing after an interruption, is in \
                 {folder}"
            ),
        });
    }

    fn link(&self, peer: &str, event: &LinkEvent) {
        match event {
            LinkEvent::Listening { address } => {
                self.screen.say(&format!("listening on {address} for {peer}"));
            }
            LinkEvent::Waiting { remaining, last } => {
                self.screen.waiting_for(peer, *remaining, last)
            }
            LinkEvent::Rejected { from, reason: why, count } => {
                let so_far = if *count > 1 { format!(", {count} so far") } else { String::new() };
                let why = reason(why);
                self.screen.say(&format!("rejected a connection from {from}: {why}{so_far}"));
            }
            LinkEvent::Lost { error, wait } => {
                self.screen.say(&engine::mending(peer, *error, *wait, Speech::Command));
            }
            LinkEvent::Mended { .. } => {
                self.screen.end_waiting();
                self.screen.say(&format!("connected to {peer} again; the run resumes"));
            }
            LinkEvent::Connected { address, is_proxy, peer: identity } => {
                self.screen.end_waiting();
                self.screen.say(&connected(peer, identity, *address, *is_proxy));
            }
            _ => {}
        }
    }

    fn keys_read(&self, counts: &KeyCounts) {
        let is_list = matches!(self.other, Other::Helper(_));
        self.screen.say(&keys_read(counts, is_list));
        warnings(counts).iter().for_each(|line| self.screen.warn(line));
    }

    /// Shows a line about a run, and how many earlier runs were abandoned.
    fn run(&self, line: &str, Repeats { count, max }: Repeats) {
        match count {
            0 => self.screen.say(line),
            // The error message says it.
            _ if count > max => {}
            1 if max == 1 => self.screen.say(&format!("{line}; 1 of at most 1 repeat")),
            _ => self.screen.say(&format!("{line}; {count} of at most {max} repeats")),
        }
    }

    fn exchange(&self, peer: &str, event: &vesica_store_session::Event) {
        match event {
            vesica_store_session::Event::Run { number, has_started, repeats } => {
                let verb = if *has_started { "resumes" } else { "starts" };
                self.run(&format!("run {number} of this agreement {verb}"), *repeats);
            }
            vesica_store_session::Event::Repeats { number, repeats } => {
                self.run(&format!("run {number} of this agreement, according to {peer}"), *repeats);
            }
            vesica_store_session::Event::Waiting { waiting, after } => {
                let what = match waiting {
                    Waiting::Hello => peer.to_owned(),
                    _ => format!("{peer}'s next message"),
                };
                let since = match after.as_secs() {
                    0..5 => String::new(),
                    _ => format!(" for {}", duration(*after)),
                };
                self.screen.say(&format!(
                    "waiting for {what}{since}; you can stop here, and run the same command again \
                     later"
                ));
            }
            vesica_store_session::Event::Arrived => {}
            vesica_store_session::Event::Lost(error) => {
                self.screen.say(&engine::lost(peer, *error, Speech::Command));
            }
        }
    }

    /// Shows an event that only runs between two parties have.
    fn of_peer(&self, peer: &str, event: &Event<'_>) {
        match event {
            Event::Link(event) => self.link(peer, event),
            Event::Exchange(event) => self.exchange(peer, event),
            Event::Agreed => self.screen.say("both sides have the same agreement"),
            Event::Sizes { here, there } => self.screen.say(&format!(
                "{} keys here, {} at {peer}",
                grouped(*here),
                grouped(*there)
            )),
            Event::Chosen(choice) => {
                self.screen.say(&format!("protocol {}: {choice}", choice.row.id));
            }
            Event::Step { label, done, total } => {
                let (done, total) = (*done, *total);
                let name = &label.replace('/', ": ");
                let unit = if label.ends_with("partitions") { "partitions" } else { "items" };
                self.screen.step(&Progress { name, done, total, count: done, unit });
            }
            Event::NoGoodbye(_) => self.screen.say(
                "the connection broke at the end of the session; both sides are done, and the \
                 result is valid",
            ),
            Event::Phase(Phase::Checking) => {
                self.screen.finish_steps(|name| name.starts_with("matching"));
            }
            _ => {}
        }
    }
}

impl Observer for Reporter {
    fn event(&self, event: &Event<'_>) {
        log(event, self.has_self_check);
        let pass = |name, bytes_done: u64, bytes_total: u64, rows: u64| {
            let (done, total) = (bytes_done, bytes_total);
            self.screen.step(&Progress { name, done, total, count: rows, unit: "rows" });
        };
        match event {
            Event::Reading { bytes_done, bytes_total, rows } => {
                pass("reading", *bytes_done, *bytes_total, *rows);
            }
            Event::Writing { bytes_done, bytes_total, rows } => {
                pass("writing", *bytes_done, *bytes_total, *rows);
            }
            Event::State { folder, has_started, restart } => {
                self.folder(folder, *has_started, *restart);
            }
            Event::KeysRead(counts) => self.keys_read(counts),
            Event::Checked if self.has_self_check => {
                self.screen.say("the result passed its self-check");
            }
            Event::Checked => self.screen.say("this operation has no self-check"),
            _ => {}
        }
        match &self.other {
            Other::Peer { name, waits } => {
                log_of_peer(event, name, waits);
                self.of_peer(name, event);
            }
            Other::Helper(helper) => helper.event(event, &self.screen),
        }
    }
}

/// Logs an event. Progress is left out: it would be logged many times.
fn log(event: &Event<'_>, has_self_check: bool) {
    match event {
        Event::Phase(phase) => tracing::info!(%phase, "phase"),
        Event::KeysRead(counts) => tracing::info!(
            rows = counts.rows,
            distinct = counts.distinct,
            duplicates = counts.duplicates,
            empty = counts.empty,
            refused = counts.refused,
            "keys read"
        ),
        Event::Agreed => tracing::info!("agreements equal"),
        Event::Checked if has_self_check => tracing::info!("self-check passed"),
        Event::Checked => tracing::info!("no self-check"),
        _ => {}
    }
}

/// Logs an event that only runs between two parties have.
fn log_of_peer(event: &Event<'_>, peer: &str, waits: &WaitLog) {
    match event {
        Event::Link(LinkEvent::Listening { address }) => tracing::info!(%address, "listening"),
        Event::Link(LinkEvent::Waiting { remaining, last }) => {
            let why = last.as_ref().map(reason);
            if waits.is_due(why.as_deref()) {
                tracing::info!(peer, remaining_s = remaining.as_secs(), why, "waiting");
            }
        }
        Event::Link(LinkEvent::Rejected { from, reason: why, count }) => {
            tracing::warn!(%from, why = reason(why), count, "connection rejected");
        }
        Event::Link(LinkEvent::Connected { address, is_proxy, peer: identity }) => {
            tracing::info!(peer, %identity, %address, is_proxy, "connected");
        }
        Event::Link(LinkEvent::Lost { error, .. }) => tracing::warn!(%error, "connection lost"),
        Event::Link(LinkEvent::Mended { address }) => tracing::info!(%address, "connected again"),
        Event::Sizes { here, there } => tracing::info!(here, there, "sizes"),
        Event::Chosen(choice) => {
            let (protocol, reason) = (choice.row.id, choice.to_string());
            tracing::info!(protocol, reason, "protocol chosen");
        }
        Event::NoGoodbye(error) => {
            tracing::warn!(%error, "the connection broke at the end; both sides are done, and the \
                                    result is valid");
        }
        _ => {}
    }
}
