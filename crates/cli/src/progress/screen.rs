//! Bars on a terminal, lines without one, nothing when quiet.

use crate::args::groups::TalkArgs;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_agreement::figures::grouped;
use vesica_diagnostics::link::reason;
use vesica_diagnostics::words::duration;
use vesica_link::LinkError;

/// How often a running step prints a line when there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

const BAR: &str = "{prefix:<20} [{bar:28}] {percent:>3}%  {msg}  {eta} left";
const SPINNER: &str = "{spinner} {msg}";

/// The name of the step for waiting.
const WAITING: &str = "waiting";

/// How progress is shown.
enum Style {
    Silent,
    Lines,
    Bars(MultiProgress),
}

/// Shows the progress of a run.
pub(crate) struct Screen {
    style: Style,
    /// Whether standard error carries log lines only.
    log_on_stderr: bool,
    steps: Mutex<HashMap<String, Step>>,
    /// The warnings of a quiet run, which are printed at its end.
    warnings: Mutex<Vec<String>>,
}

/// A step that is in progress.
struct Step {
    start: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
}

/// How far a step has got.
pub(crate) struct Progress<'a> {
    pub(crate) name: &'a str,
    pub(crate) done: u64,
    pub(crate) total: u64,
    /// How many units are finished, for the rate.
    pub(crate) count: u64,
    pub(crate) unit: &'static str,
}

/// Writes a line at once: another thread may print an error in the middle of several writes.
fn write_line(line: impl Display) {
    drop(io::stderr().write_all(format!("{line}\n").as_bytes()));
}

impl Screen {
    /// The screen for the options `talk`.
    pub(crate) fn new(talk: &TalkArgs) -> Self {
        let log_on_stderr = talk.log.is_some() && talk.log_file.is_none();
        let style = if talk.quiet || log_on_stderr {
            Style::Silent
        } else if io::stderr().is_terminal() {
            Style::Bars(MultiProgress::with_draw_target(ProgressDrawTarget::stderr()))
        } else {
            Style::Lines
        };
        Self { style, log_on_stderr, steps: Mutex::default(), warnings: Mutex::default() }
    }

    /// Removes the bars from the terminal.
    pub(crate) fn finish(&self) {
        if let Style::Bars(bars) = &self.style {
            let _ = bars.clear();
        }
    }

    /// Shows that this party waits for `whom`, the time left, and why the `last` attempt failed.
    pub(crate) fn waiting_for(&self, whom: &str, remaining: Duration, last: &Option<LinkError>) {
        let why = last.as_ref().map_or(String::new(), |last| format!(" ({})", reason(last)));
        let left = duration(remaining);
        self.waiting(format!("waiting for {whom}, {left} left{why}"), false);
    }

    /// Removes the bars of steps that ended without reaching their total.
    pub(crate) fn finish_steps(&self, is_over: impl Fn(&str) -> bool) {
        for (name, step) in self.steps().iter() {
            if let Some(bar) = step.bar.as_ref().filter(|_| is_over(name)) {
                bar.finish_and_clear();
            }
        }
    }

    fn steps(&self) -> MutexGuard<'_, HashMap<String, Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line that stays.
    pub(crate) fn say(&self, line: &str) {
        match &self.style {
            Style::Silent => {}
            // A run continues even if standard error cannot be written to.
            Style::Lines => write_line(line),
            Style::Bars(bars) => drop(bars.println(line)),
        }
    }

    /// A warning about the result. A quiet run prints it at its end, with
    /// [`print_warnings`](Self::print_warnings).
    pub(crate) fn warn(&self, line: &str) {
        tracing::warn!("{line}");
        let line = format!("warning: {line}");
        match &self.style {
            Style::Silent if self.log_on_stderr => {}
            Style::Silent => self.warnings().push(line),
            _ => self.say(&line),
        }
    }

    /// Prints the warnings of a quiet run.
    pub(crate) fn print_warnings(&self) {
        for line in self.warnings().drain(..) {
            // A run continues even if standard error cannot be written to.
            write_line(line);
        }
    }

    fn warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows how far a step has got; without a terminal, as a line every few seconds.
    pub(crate) fn step(&self, progress: &Progress<'_>) {
        let mut steps = self.steps();
        let step = steps.entry(progress.name.to_owned()).or_insert_with(|| {
            let now = Instant::now();
            Step { start: now, last_line: now, bar: self.bar(progress.name, progress.total) }
        });
        let elapsed = step.start.elapsed();
        let rate = progress.count as f64 / elapsed.as_secs_f64().max(1e-3);
        let message = format!(
            "{} {}, {} per second",
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
        let Style::Bars(bars) = &self.style else { return None };
        let style = ProgressStyle::with_template(BAR).expect("the template is valid");
        let bar = bars.add(ProgressBar::new(total));
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(name.to_owned());
        Some(bar)
    }

    /// Shows a wait; without a terminal, as a line every few seconds, and at once when it
    /// `is_news`.
    pub(crate) fn waiting(&self, line: String, is_news: bool) {
        let mut steps = self.steps();
        let step = steps.entry(WAITING.to_owned()).or_insert_with(|| {
            let bar = match &self.style {
                Style::Bars(bars) => {
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
            None if is_news || step.last_line.elapsed() >= LINE_EVERY => {
                step.last_line = Instant::now();
                drop(steps);
                self.say(&line);
            }
            None => {}
        }
    }

    pub(crate) fn end_waiting(&self) {
        if let Some(Step { bar: Some(bar), .. }) = self.steps().remove(WAITING) {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_of_the_bars_are_valid() {
        for template in [BAR, SPINNER] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
