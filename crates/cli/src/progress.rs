//! What a run tells while it goes on: bars on a terminal, lines elsewhere, nothing when quiet.

use crate::args::TalkArgs;
use crate::messages::link::reason;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_engine::agreement::Agreement;
use vesica_engine::explain::grouped;
use vesica_engine::{Event, Observer, Phase};
use vesica_link::LinkEvent;

/// How often a step that goes on says so, without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

const BAR: &str = "{prefix:<20} [{bar:28}] {percent:>3}%  {msg}  {eta} left";
const SPINNER: &str = "{spinner} {msg}";

/// How it is told.
enum Manner {
    Silent,
    Lines,
    Bars(MultiProgress),
}

/// Tells a person what a run does.
pub(crate) struct Teller {
    manner: Manner,
    peer: String,
    has_self_check: bool,
    steps: Mutex<HashMap<String, Step>>,
}

/// A step that takes its time.
struct Step {
    start: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
}

/// How far a step is.
struct Progress<'a> {
    name: &'a str,
    done: u64,
    total: u64,
    /// How many of what are done, for the rate.
    count: u64,
    unit: &'static str,
}

impl Teller {
    /// A teller as `talk` asks for, of a run with `peer` under `agreement`.
    pub(crate) fn new(talk: &TalkArgs, peer: &str, agreement: &Agreement) -> Self {
        let log_on_stderr = talk.log.is_some() && talk.log_file.is_none();
        let manner = if talk.quiet || log_on_stderr {
            Manner::Silent
        } else if io::stderr().is_terminal() {
            Manner::Bars(MultiProgress::with_draw_target(ProgressDrawTarget::stderr()))
        } else {
            Manner::Lines
        };
        let has_self_check = agreement.self_check > 0;
        Self { manner, peer: peer.to_owned(), has_self_check, steps: Mutex::default() }
    }

    /// Takes the bars off the terminal.
    pub(crate) fn finish(&self) {
        if let Manner::Bars(bars) = &self.manner {
            let _ = bars.clear();
        }
    }

    fn steps(&self) -> MutexGuard<'_, HashMap<String, Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        match &self.manner {
            Manner::Silent => {}
            // Standard error that cannot be written is no reason to end a run.
            Manner::Lines => drop(writeln!(io::stderr(), "{line}")),
            Manner::Bars(bars) => drop(bars.println(line)),
        }
    }

    /// A line that says how far something is; now and then without a terminal.
    fn step(&self, progress: &Progress<'_>) {
        let mut steps = self.steps();
        let step = steps.entry(progress.name.to_owned()).or_insert_with(|| {
            let now = Instant::now();
            Step { start: now, last_line: now, bar: self.bar(progress.name, progress.total) }
        });
        let elapsed = step.start.elapsed();
        let rate = progress.count as f64 / elapsed.as_secs_f64().max(1e-3);
        let message = format!(
            "{} {}, {} a second",
            grouped(progress.count),
            progress.unit,
            grouped(rate as u64)
        );
        if let Some(bar) = &step.bar {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            bar.set_message(message);
            if progress.done >= progress.total {
                bar.finish_and_clear();
            }
            return;
        }
        if step.last_line.elapsed() >= LINE_EVERY && progress.done < progress.total {
            step.last_line = Instant::now();
            let share = progress.done as f64 / progress.total as f64;
            let left = elapsed.mul_f64((1.0 - share) / share.max(1e-9));
            let line = format!(
                "{}: {:.0}%, {message}, {} left",
                progress.name,
                100.0 * share,
                duration(left)
            );
            drop(steps);
            self.say(&line);
        }
    }

    fn bar(&self, name: &str, total: u64) -> Option<ProgressBar> {
        let Manner::Bars(bars) = &self.manner else { return None };
        let style = ProgressStyle::with_template(BAR).expect("the template is valid");
        let bar = bars.add(ProgressBar::new(total));
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(name.to_owned());
        Some(bar)
    }

    fn waiting(&self, remaining: Duration, why: Option<String>) {
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        let line = format!("waiting for {}, {} left{why}", self.peer, duration(remaining));
        let mut steps = self.steps();
        let step = steps.entry("waiting".to_owned()).or_insert_with(|| {
            let bar = match &self.manner {
                Manner::Bars(bars) => {
                    let style =
                        ProgressStyle::with_template(SPINNER).expect("the template is valid");
                    let bar = bars.add(ProgressBar::new_spinner());
                    bar.set_style(style);
                    Some(bar)
                }
                _ => None,
            };
            let now = Instant::now();
            Step { start: now, last_line: now, bar }
        });
        match &step.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None if step.last_line.elapsed() >= LINE_EVERY => {
                step.last_line = Instant::now();
                drop(steps);
                self.say(&line);
            }
            None => {}
        }
    }

    fn end_waiting(&self) {
        if let Some(Step { bar: Some(bar), .. }) = self.steps().remove("waiting") {
            bar.finish_and_clear();
        }
    }

    fn link(&self, event: &LinkEvent) {
        match event {
            LinkEvent::Listening { address } => {
                self.say(&format!("listening on {address} for {}", self.peer));
            }
            LinkEvent::Waiting { remaining, last } => {
                self.waiting(*remaining, last.as_ref().map(reason));
            }
            LinkEvent::TurnedAway { from, reason: why, count } => {
                let so_far = if *count > 1 { format!(", {count} so far") } else { String::new() };
                self.say(&format!("turned away a connection from {from}: {}{so_far}", reason(why)));
            }
            LinkEvent::Connected { address, peer } => {
                self.end_waiting();
                let fingerprint = peer.fingerprint();
                self.say(&format!("connected to {} ({fingerprint}) at {address}", self.peer));
            }
            _ => {}
        }
    }
}

impl Observer for Teller {
    fn event(&self, event: &Event<'_>) {
        log(event, &self.peer, self.has_self_check);
        match event {
            Event::Reading { bytes_done, bytes_total, rows } => self.step(&Progress {
                name: "reading",
                done: *bytes_done,
                total: *bytes_total,
                count: *rows,
                unit: "rows",
            }),
            Event::KeysRead(counts) => self.say(&format!(
                "read {} rows: {} different keys, {} repeated, {} empty, {} refused",
                grouped(counts.rows),
                grouped(counts.distinct),
                grouped(counts.duplicates),
                grouped(counts.empty),
                grouped(counts.refused),
            )),
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
                self.step(&Progress { name: &name, done, total, count: done, unit: "items" });
            }
            Event::Checked if self.has_self_check => self.say("the result passed its self-check"),
            Event::Checked => self.say("this operation has no self-check"),
            Event::Writing { bytes_done, bytes_total, rows } => self.step(&Progress {
                name: "writing",
                done: *bytes_done,
                total: *bytes_total,
                count: *rows,
                unit: "rows",
            }),
            Event::Phase(Phase::Checking) => self.finish_bars(),
            _ => {}
        }
    }
}

impl Teller {
    /// Steps of the protocol that ended without a last word.
    fn finish_bars(&self) {
        for (name, step) in self.steps().iter() {
            if let Some(bar) = step.bar.as_ref().filter(|_| name.starts_with("matching")) {
                bar.finish_and_clear();
            }
        }
    }
}

/// The event for the log. Progress is left out: it would say the same many times.
fn log(event: &Event<'_>, peer: &str, has_self_check: bool) {
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
        Event::Link(LinkEvent::Waiting { remaining, last: Some(last) }) => {
            let why = reason(last);
            tracing::info!(peer, remaining_s = remaining.as_secs(), why, "waiting");
        }
        Event::Link(LinkEvent::Waiting { remaining, last: None }) => {
            tracing::info!(peer, remaining_s = remaining.as_secs(), "waiting");
        }
        Event::Link(LinkEvent::TurnedAway { from, reason: why, count }) => {
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

    #[test]
    fn the_templates_of_the_bars_are_valid() {
        for template in [BAR, SPINNER] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
