use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;
use vesica_party::Protocol;

/// More than the cores of most machines: laws over slow networks mostly wait.
const AT_ONCE: usize = 4;

/// Applies `law` to each of `rows`, several at the same time.
///
/// # Panics
/// If `law` does.
pub fn side_by_side(
    rows: impl Iterator<Item = &'static Protocol> + Send,
    law: impl Fn(&Protocol) + Sync,
) {
    let rows = Mutex::new(rows);
    let next = || rows.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        let work = || {
            while let Some(row) = next() {
                law(row);
            }
        };
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        }
    });
}
