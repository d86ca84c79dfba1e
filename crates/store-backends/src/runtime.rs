//! The runtime for the asynchronous libraries.

use std::future::Future;
use std::io;
use std::time::Duration;
use tokio::runtime;

/// Enough for a few concurrent transfers, which mostly wait for the network.
const THREADS: usize = 2;

/// A runtime that never delays the end of its owner.
#[derive(Debug)]
pub(crate) struct Runtime(Option<runtime::Runtime>);

impl Runtime {
    /// # Errors
    /// System errors; the system may refuse a thread.
    pub(crate) fn new() -> io::Result<Self> {
        let mut builder = runtime::Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("vesica-store").enable_all();
        builder.build().map(|runtime| Self(Some(runtime)))
    }

    /// Waits for `future`.
    ///
    /// # Errors
    /// The errors of `future`; [`io::ErrorKind::TimedOut`] after `limit`.
    pub(crate) fn wait<T>(
        &self,
        limit: Duration,
        future: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let runtime = self.0.as_ref().expect("the runtime is there until it is dropped");
        runtime.block_on(async {
            match tokio::time::timeout(limit, future).await {
                Ok(result) => result,
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            }
        })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // A name look-up cannot be interrupted, so do not wait for it.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
