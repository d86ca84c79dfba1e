use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Counts of one label, shared by all channels that work under it.
#[derive(Default, Debug)]
pub(crate) struct Span {
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    messages_sent: AtomicU64,
    messages_received: AtomicU64,
    flights: AtomicU64,
    wall_nanos: AtomicU64,
}

impl Span {
    pub(crate) fn count_sent(&self, len: usize) {
        self.bytes_sent.fetch_add(len as u64, Ordering::Relaxed);
        self.messages_sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_received(&self, len: usize) {
        self.bytes_received.fetch_add(len as u64, Ordering::Relaxed);
        self.messages_received.fetch_add(1, Ordering::Relaxed);
    }

    /// Streams of one label run in parallel, so the label has the flights of the stream with the
    /// most.
    pub(crate) fn count_flights(&self, on_one_stream: u64) {
        self.flights.fetch_max(on_one_stream, Ordering::Relaxed);
    }

    pub(crate) fn count_time(&self, elapsed: Duration) {
        self.wall_nanos.fetch_add(elapsed.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// The use of one label: payload bytes and messages in each direction, flights, wall time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanReport {
    /// The label, prefixed by the labels above it: `dh/points`.
    pub label: String,
    /// Payload bytes this party sent under this label, not those of labels below it.
    pub bytes_sent: u64,
    /// Payload bytes this party received under this label, not those of labels below it.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Changes between sending and receiving under this label, on the stream with the most.
    pub flights: u64,
    /// Wall time under the label, including labels below it. Labels that run in parallel overlap.
    pub wall: Duration,
}

/// Bytes, flights and time of one party, by label. Clones share their counts.
#[derive(Clone, Default, Debug)]
pub struct Meter {
    spans: Arc<Mutex<BTreeMap<String, Arc<Span>>>>,
}

impl Meter {
    /// A meter with nothing counted.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn span(&self, label: &str) -> Arc<Span> {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(spans.entry(label.to_owned()).or_default())
    }

    /// One row per label, in the order of the labels.
    pub fn report(&self) -> Vec<SpanReport> {
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans
            .iter()
            .map(|(label, span)| SpanReport {
                label: label.clone(),
                bytes_sent: span.bytes_sent.load(Ordering::Relaxed),
                bytes_received: span.bytes_received.load(Ordering::Relaxed),
                messages_sent: span.messages_sent.load(Ordering::Relaxed),
                messages_received: span.messages_received.load(Ordering::Relaxed),
                flights: span.flights.load(Ordering::Relaxed),
                wall: Duration::from_nanos(span.wall_nanos.load(Ordering::Relaxed)),
            })
            .collect()
    }

    /// Adds the counts of another meter.
    pub fn add(&self, rows: &[SpanReport]) {
        for row in rows {
            let span = self.span(&row.label);
            span.bytes_sent.fetch_add(row.bytes_sent, Ordering::Relaxed);
            span.bytes_received.fetch_add(row.bytes_received, Ordering::Relaxed);
            span.messages_sent.fetch_add(row.messages_sent, Ordering::Relaxed);
            span.messages_received.fetch_add(row.messages_received, Ordering::Relaxed);
            span.count_flights(row.flights);
            span.count_time(row.wall);
        }
    }

    /// Payload bytes (sent, received) over all labels that start with `prefix`.
    pub fn bytes_under(&self, prefix: &str) -> (u64, u64) {
        self.report()
            .iter()
            .filter(|row| row.label.starts_with(prefix))
            .fold((0, 0), |(s, r), row| (s + row.bytes_sent, r + row.bytes_received))
    }
}
