//! Log lines of the libraries below, kept until Python takes them to `logging`.

use pyo3::prelude::*;
use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};

/// Most lines that are kept; later ones are dropped.
const MAX_LINES: usize = 4096;

/// The name of the level, and the text.
type Line = (&'static str, String);

static LINES: Mutex<VecDeque<Line>> = Mutex::new(VecDeque::new());

fn lines() -> MutexGuard<'static, VecDeque<Line>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lines that were logged since the last call.
#[pyfunction]
pub(crate) fn log_lines() -> Vec<Line> {
    lines().drain(..).collect()
}

/// Starts keeping lines.
pub(crate) fn start() {
    // Fails only if it was started before.
    let _ = tracing::subscriber::set_global_default(Keeper);
}

struct Keeper;

/// The text of an event: its message, then its fields.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.insert_str(0, &format!("{value:?}"));
        } else {
            let _ = write!(self.0, " {}={value:?}", field.name());
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {}={value}", field.name());
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO && metadata.is_event()
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            _ => "info",
        };
        let mut lines = lines();
        if lines.len() < MAX_LINES {
            lines.push_back((level, text.0));
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
