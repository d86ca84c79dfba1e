use vesica_core::{Error, Result};

/// The first error of a party: after it every further use gives the same error.
///
/// A check that failed may have told the peer a bit of a secret, and what is left of a connection that
/// failed is not in step.
#[derive(Default)]
pub(crate) struct Poison(Option<Error>);

impl Poison {
    /// # Errors
    /// The first error, if there was one.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.clone().map_or(Ok(()), Err)
    }

    /// `result`, whose error is kept.
    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.0 = Some(error.clone());
        }
        result
    }
}
