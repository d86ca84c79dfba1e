//! Labels on several threads, each with its own spool.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread;
use vesica_labels::{Sorted, Spool};

/// How many rows a list must have for threads to be worth starting.
const ROWS_FOR_THREADS: u64 = 1 << 16;

/// A spool with this much memory makes few runs. Each run has an index of all segments.
const BYTES_OF_A_SPOOL: u64 = 32 << 20;

/// What is done with each piece.
type Take<'a, P> = &'a mut dyn FnMut(P) -> io::Result<()>;

/// How many of `threads` label this many rows, with this much memory for their spools.
pub(super) fn useful_threads(threads: usize, rows: u64, memory_bytes: u64) -> usize {
    match rows {
        0..ROWS_FOR_THREADS => 1,
        _ => threads.min(usize::try_from(memory_bytes / BYTES_OF_A_SPOOL + 1).unwrap_or(threads)),
    }
}

/// Calls `label` with each piece that `each` produces, and with a spool; returns the labels of all
/// spools. The calling thread takes what `each` produces, and the rest of `threads` label, each
/// with its own spool: `spools` makes as many as it is asked for. If the system refuses threads,
/// fewer label; if there is no other thread, the calling thread labels.
///
/// # Errors
/// The errors of `label` and of the spools, after which `each` is stopped; those of `each`.
pub(super) fn side_by_side<'a, P: Send>(
    threads: usize,
    spools: impl FnOnce(usize) -> Vec<Spool<'a>>,
    each: &dyn Fn(Take<'_, P>) -> io::Result<()>,
    label: &(dyn Fn(&mut Spool<'_>, &P) -> io::Result<()> + Sync),
) -> io::Result<Vec<Sorted>> {
    let spools = Mutex::new(spools(threads.saturating_sub(1).max(1)));
    let (sender, receiver) = mpsc::sync_channel::<P>(2 * threads);
    // Dropped with the last thread that takes pieces.
    let receiver = Arc::new(Mutex::new(receiver));
    let has_failed = AtomicBool::new(false);
    let labelled = |receiver: &Mutex<mpsc::Receiver<P>>| {
        let mut end = End { is_early: true, has_failed: &has_failed };
        let mut sorted = None;
        if let Some(mut spool) = locked(&spools).pop() {
            let next = || locked(receiver).recv().ok();
            while let Some(piece) = next() {
                label(&mut spool, &piece)?;
            }
            sorted = Some(spool.finish()?);
        }
        end.is_early = false;
        Ok(sorted)
    };
    thread::scope(|scope| {
        let started: Vec<_> = (1..threads)
            .map_while(|_| {
                let receiver = Arc::clone(&receiver);
                let labelled = &labelled;
                thread::Builder::new().spawn_scoped(scope, move || labelled(&receiver)).ok()
            })
            .collect();
        drop(receiver);
        let mut own = if started.is_empty() { locked(&spools).pop() } else { None };
        let read = each(&mut |piece| match &mut own {
            Some(spool) => label(spool, &piece),
            None if has_failed.load(Ordering::Relaxed) => Err(io::ErrorKind::Other.into()),
            None => sender.send(piece).map_err(|_| io::ErrorKind::Other.into()),
        });
        drop(sender);
        // The error of a thread that failed explains more than that of the thread that could not
        // pass its pieces on.
        let results: Vec<io::Result<Option<Sorted>>> = started
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let mut sorted = Vec::with_capacity(results.len() + 1);
        for one in results {
            sorted.extend(one?);
        }
        read?;
        if let Some(spool) = own {
            sorted.push(spool.finish()?);
        }
        Ok(sorted)
    })
}

/// Tells the others when a thread ends early, by an error or a panic.
struct End<'a> {
    is_early: bool,
    has_failed: &'a AtomicBool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        if self.is_early {
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_labels::{Format, Segment};
    use vesica_scratch::MemoryScratch;

    const MANY: u64 = 100;

    fn spools(count: usize) -> Vec<Spool<'static>> {
        (0..count).map(|_| Spool::new(Format::new(8, 60), 20, 0, &MemoryScratch).unwrap()).collect()
    }

    #[test]
    fn every_piece_is_labelled_once() {
        for threads in [1, 2, 4] {
            let sorted = side_by_side(
                threads,
                spools,
                &|take| (0..MANY).try_for_each(&mut *take),
                &|spool, piece| spool.push(0, *piece),
            );
            let sorted = sorted.unwrap();
            assert_eq!(sorted.len(), (threads - 1).max(1));
            let mut numbers: Vec<u64> = sorted
                .iter()
                .flat_map(|part| part.segment(0).unwrap().numbers)
                .map(|number| number & !Segment::FIRST)
                .collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..MANY), "{threads}");
        }
    }

    #[test]
    fn one_thread_that_fails_stops_the_others() {
        let given = std::cell::Cell::new(0_u64);
        let failed = side_by_side(
            4,
            spools,
            &|take| {
                // Endless.
                loop {
                    given.set(given.get() + 1);
                    take(given.get())?;
                }
            },
            &|spool, piece| match piece {
                7 => Err(io::ErrorKind::StorageFull.into()),
                _ => spool.push(0, *piece % MANY),
            },
        );
        assert_eq!(failed.err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }

    #[test]
    fn spools_have_memory_for_few_runs() {
        let rows = ROWS_FOR_THREADS;
        assert_eq!(useful_threads(8, rows - 1, 1 << 30), 1);
        assert_eq!(useful_threads(8, rows, 1 << 30), 8);
        assert_eq!(useful_threads(8, rows, 3 * BYTES_OF_A_SPOOL), 4);
        assert_eq!(useful_threads(8, rows, 0), 1);
    }

    #[test]
    fn a_full_disk_or_a_lost_file_ends_all_threads() {
        for threads in [1, 2, 4] {
            let full = side_by_side(
                threads,
                spools,
                &|take| (0..MANY).try_for_each(&mut *take),
                &|_, _| Err(io::ErrorKind::StorageFull.into()),
            );
            assert_eq!(full.err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
            let lost = side_by_side(
                threads,
                spools,
                &|take| take(1).and(Err(io::ErrorKind::NotFound.into())),
                &|spool, piece| spool.push(0, *piece),
            );
            assert_eq!(lost.err().map(|error| error.kind()), Some(io::ErrorKind::NotFound));
        }
    }
}
