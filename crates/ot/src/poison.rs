use vesica_core::{Error, Result};

/// The first error of a party; every later use returns the same error.
///
/// A failed check may have revealed a bit of a secret to the peer, and after a failed connection
/// the parties are out of step.
#[derive(Default)]
pub(crate) struct Poison(Option<Error>);

impl Poison {
    /// # Errors
    /// The first error, if there was one.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.clone().map_or(Ok(()), Err)
    }

    /// Returns `result` and keeps its error.
    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.0 = Some(error.clone());
        }
        result
    }
}
