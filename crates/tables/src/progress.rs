//! The progress of a pass, reported at most some tens of times a second.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use vesica_inputs::InputError;

const INTERVAL: Duration = Duration::from_millis(40);

/// The progress of a pass over a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file consumed (of the compressed bytes if it is compressed).
    pub bytes_done: u64,
    /// Length of the file in bytes.
    pub bytes_total: u64,
    /// Rows read.
    pub rows: u64,
}

/// Calls the caller's closure at intervals, and turns its request to stop into an error.
pub struct Meter<'a> {
    report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    last: Instant,
    bytes_total: u64,
}

impl<'a> Meter<'a> {
    /// For a pass over `bytes_total` bytes. `report` answers `Break` to stop it, which is then
    /// [`InputError::Interrupted`].
    pub fn new(bytes_total: u64, report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        Self { report, last: Instant::now(), bytes_total }
    }

    /// Reports if enough time has passed.
    pub(crate) fn tick(&mut self, bytes_done: u64, rows: u64) -> Result<(), InputError> {
        if self.last.elapsed() < INTERVAL {
            return Ok(());
        }
        self.report(bytes_done, rows)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Reports the end of the pass.
    pub(crate) fn finish(&mut self, rows: u64) -> Result<(), InputError> {
        self.report(self.bytes_total, rows)
    }

    fn report(&mut self, bytes_done: u64, rows: u64) -> Result<(), InputError> {
        let bytes_done = bytes_done.min(self.bytes_total);
        match (self.report)(Progress { bytes_done, bytes_total: self.bytes_total, rows }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(InputError::Interrupted),
        }
    }
}
