//! What a run tells while it goes on.

mod screen;

pub(crate) use screen::{Progress, Screen};

use crate::args::TalkArgs;
use crate::messages::counted;
use crate::messages::input::warnings;
use crate::messages::link::reason;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use vesica_engine::agreement::Agreement;
use vesica_engine::explain::grouped;
use vesica_engine::{Event, Observer, Phase};
use vesica_link::LinkEvent;

/// Tells a person what a run does.
pub(crate) struct Teller {
    screen: Screen,
    peer: String,
    has_self_check: bool,
    waits: WaitLog,
}

impl Teller {
    /// A teller as `talk` asks for, of a run with `peer` under `agreement`.
    pub(crate) fn new(talk: &TalkArgs, peer: &str, agreement: &Agreement) -> Self {
        let has_self_check = agreement.self_check > 0;
        let (screen, waits) = (Screen::new(talk), WaitLog::default());
        Self { screen, peer: peer.to_owned(), has_self_check, waits }
    }

    /// Takes the bars off the terminal.
    pub(crate) fn finish(&self) {
        self.screen.finish();
    }

    fn say(&self, line: &str) {
        self.screen.say(line);
    }

    fn waiting(&self, remaining: Duration, why: Option<String>) {
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        let line = format!("waiting for {}, {} left{why}", self.peer, duration(remaining));
        self.screen.waiting(line, false);
    }

    fn link(&self, event: &LinkEvent) {
        match event {
            LinkEvent::Listening { address } => {
                self.say(&format!("listening on {address} for {}", self.peer));
            }
            LinkEvent::Waiting { remaining, last } => {
                self.waiting(*remaining, last.as_ref().map(reason));
            }
            LinkEvent::Rejected { from, reason: why, count } => {
                let so_far = if *count > 1 { format!(", {count} so far") } else { String::new() };
                self.say(&format!("turned away a connection from {from}: {}{so_far}", reason(why)));
            }
            LinkEvent::Connected { address, peer } => {
                self.screen.end_waiting();
                let fingerprint = peer.fingerprint();
                self.say(&format!("connected to {} ({fingerprint}) at {address}", self.peer));
            }
            _ => {}
        }
    }
}

impl Observer for Teller {
    fn event(&self, event: &Event<'_>) {
        log(event, &self.peer, self.has_self_check, &self.waits);
        match event {
            Event::Reading { bytes_done, bytes_total, rows } => self.screen.step(&Progress {
                name: "reading",
                done: *bytes_done,
                total: *bytes_total,
                count: *rows,
                unit: "rows",
            }),
            Event::KeysRead(counts) => {
                self.say(&format!(
                    "read {}: {}, {} repeated, {} empty, {} refused",
                    counted(counts.rows, "row"),
                    counted(counts.distinct, "different key"),
                    grouped(counts.duplicates),
                    grouped(counts.empty),
                    grouped(counts.refused),
                ));
                warnings(counts).iter().for_each(|line| self.screen.warn(line));
            }
            Event::Link(event) => self.link(event),
            Event::Agreed => self.say("both sides hold the same agreement"),
            Event::Sizes { here, there } => self.say(&format!(
                "{} keys here, {} at {}",
                grouped(*here),
                grouped(*there),
                self.peer
            )),
            Event::Chosen(choice) => {
                self.say(&format!("protocol {}: {choice}", choice.row.id));
            }
            Event::Step { label, done, total } => {
                let name = label.replace('/', ": ");
                let (done, total) = (*done, *total);
                self.screen.step(&Progress {
                    name: &name,
                    done,
                    total,
                    count: done,
                    unit: "items",
                });
            }
            Event::Checked if self.has_self_check => self.say("the result passed its self-check"),
            Event::Checked => self.say("this operation has no self-check"),
            Event::NoGoodbye(_) => self.screen.say(
                "the connection broke while the sides said goodbye; both are done, and the result stands",
            ),
            Event::Writing { bytes_done, bytes_total, rows } => self.screen.step(&Progress {
                name: "writing",
                done: *bytes_done,
                total: *bytes_total,
                count: *rows,
                unit: "rows",
            }),
            Event::Phase(Phase::Checking) => {
                self.screen.finish_steps(|name| name.starts_with("matching"));
            }
            _ => {}
        }
    }
}

/// How often a wait that goes on for the same reason is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Lets a wait that goes on into the log now and then.
#[derive(Default)]
pub(crate) struct WaitLog {
    last: Mutex<Option<(Instant, Option<String>)>>,
}

impl WaitLog {
    /// Whether a wait for the reason `why` is to be logged: at first, when the reason changes, and every minute.
    pub(crate) fn is_due(&self, why: Option<&str>) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = last
            .as_ref()
            .is_some_and(|(at, known)| at.elapsed() < LOG_EVERY && known.as_deref() == why);
        if !is_known {
            *last = Some((Instant::now(), why.map(str::to_owned)));
        }
        !is_known
    }
}

/// The event for the log. Progress is left out: it would say the same many times.
fn log(event: &Event<'_>, peer: &str, has_self_check: bool, waits: &WaitLog) {
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
        Event::Link(LinkEvent::Listening { address }) => tracing::info!(%address, "listening"),
        Event::Link(LinkEvent::Waiting { remaining, last }) => {
            let why = last.as_ref().map(reason);
            if waits.is_due(why.as_deref()) {
                tracing::info!(peer, remaining_s = remaining.as_secs(), why, "waiting");
            }
        }
        Event::Link(LinkEvent::Rejected { from, reason: why, count }) => {
            tracing::warn!(%from, why = reason(why), count, "turned away");
        }
        Event::Link(LinkEvent::Connected { address, peer: identity }) => {
            tracing::info!(peer, %identity, %address, "connected");
        }
        Event::Agreed => tracing::info!("agreements equal"),
        Event::Sizes { here, there } => tracing::info!(here, there, "sizes"),
        Event::Chosen(choice) => {
            let (protocol, reason) = (choice.row.id, choice.to_string());
            tracing::info!(protocol, reason, "protocol chosen");
        }
        Event::Checked if has_self_check => tracing::info!("self-check passed"),
        Event::Checked => tracing::info!("no self-check"),
        Event::NoGoodbye(error) => {
            tracing::warn!(%error, "no goodbye; both sides are done, and the result stands");
        }
        _ => {}
    }
}

/// A time for people: `1.5 s`, `42 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 if time.subsec_millis() > 0 => format!("{:.1} s", time.as_secs_f64()),
        0..60 => format!("{seconds} s"),
        60..3600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_logged_at_first_and_when_its_reason_changes() {
        let waits = WaitLog::default();
        let due =
            [None, None, Some("a"), Some("a"), Some("b"), None, None].map(|why| waits.is_due(why));
        assert_eq!(due, [true, false, true, false, true, true, false]);
    }

    #[test]
    fn times_are_told_in_the_units_that_suit() {
        let cases = [
            (0, "0 s"),
            (1500, "1.5 s"),
            (42_000, "42 s"),
            (60_000, "1 min"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
        ];
        for (ms, expected) in cases {
            assert_eq!(duration(Duration::from_millis(ms)), expected);
        }
    }
}
