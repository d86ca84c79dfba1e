//! A store that retries requests.

use crate::store::{Lengths, Listed, Store};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use vesica_core::{StopReason, TransportError};
use vesica_link::CancelToken;

/// The pauses before the retries of a request.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

/// A store that passes requests on to another store, which sometimes fails and then works again. A
/// request that fails in a way that may pass, as when a connection was cut or the store is busy, is
/// retried three times within about a second. A request for something missing, forbidden or
/// malformed is not retried, nor one to a store that cannot be reached.
pub struct RetryingStore(Arc<dyn Store>);

impl RetryingStore {
    /// Retries requests to `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    fn again<T>(request: impl Fn() -> io::Result<T>) -> io::Result<T> {
        for pause in PAUSES {
            match request() {
                Err(error) if may_pass(error.kind()) => std::thread::sleep(pause),
                done => return done,
            }
        }
        request()
    }
}

fn may_pass(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::BrokenPipe
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::ResourceBusy
            | ErrorKind::UnexpectedEof
            // Another machine is writing to the file, or has it in its cache.
            | ErrorKind::WouldBlock
    )
}

impl Store for RetryingStore {
    /// After an error the first try may have stored the object: then this returns `false`, and the
    /// object there is the same.
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        Self::again(|| self.0.put_if_absent(name, bytes))
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        Self::again(|| self.0.get(name, lengths))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        Self::again(|| self.0.list(folder))
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        Self::again(|| self.0.folders())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Self::again(|| self.0.remove(name))
    }

    fn unfinished(&self, folder: &str) -> io::Result<Vec<Listed>> {
        Self::again(|| self.0.unfinished(folder))
    }

    fn place(&self) -> String {
        self.0.place()
    }

    fn wait(&self, name: &str, pause: Duration, cancel: &CancelToken) -> bool {
        self.0.wait(name, pause, cancel)
    }

    fn settle(&self, last: &str, limit: Duration) -> Result<(), TransportError> {
        self.0.settle(last, limit)
    }

    fn stop(&self, reason: StopReason) {
        self.0.stop(reason);
    }
}
