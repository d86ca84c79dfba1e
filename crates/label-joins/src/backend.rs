//! The interface of a backend.

use crate::BackendError;
use std::fmt;
use vesica_labels::{Bits, List};

/// Whether a computation shall end without an answer.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// One bit per label of each list; `None` if the computation was stopped.
pub type Answers = Result<Option<Vec<Bits>>, BackendError>;

/// Finds the common labels of lists.
pub trait Backend: Send + Sync + fmt::Debug {
    /// Name for logs and metrics: `memory`, `disk`, `redis`, `postgres` or `cluster`.
    fn name(&self) -> &'static str;

    /// For each list, one bit per label: whether all lists have it, compared in the bits of the
    /// shortest labels. Every backend returns the answer of
    /// [`join::common`](vesica_labels::join::common). `None` if `stop` returns true; it is called
    /// every some thousand labels.
    ///
    /// Removes first what an interrupted call for the same `run` left on a server. Do not make two
    /// calls for one `run` at the same time. After an error with [`BackendError::can_pass`], the
    /// same call can be made again.
    ///
    /// # Errors
    /// Any [`BackendError`].
    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers;

    /// Whether it can be reached and used; tries to use it.
    ///
    /// # Errors
    /// Any [`BackendError`] except those of lists.
    fn check(&self) -> Result<(), BackendError>;

    /// Removes what an interrupted [`Backend::common`] for `run` left.
    ///
    /// # Errors
    /// Any [`BackendError`] except those of lists.
    fn forget(&self, run: &RunName) -> Result<(), BackendError>;
}

/// The name of a run's data on a server: 16 bytes, different for all runs, in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunName(pub [u8; 16]);

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunName({self})")
    }
}
