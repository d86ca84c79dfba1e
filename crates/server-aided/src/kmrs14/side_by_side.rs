//! Labels on several threads, each with a spool of its own.

use std::io;
use std::sync::{Arc, Mutex, mpsc};
use vesica_labels::{Sorted, Spool};

/// Rows of a list from which threads are worth their start.
pub(super) const ROWS_FOR_THREADS: u64 = 1 << 16;

/// What is done with each piece.
type Take<'a, P> = &'a mut dyn FnMut(P) -> io::Result<()>;

/// Calls `label` with all pieces that `each` gives, on `threads` threads, and with a spool, of which `spool` gives so many
/// as it is asked for; returns the labels of all of them. One thread takes what `each` gives, the others have a spool.
///
/// # Errors
/// Those of `label` and of the spools; those of `each`.
pub(super) fn side_by_side<'a, P: Send>(
    threads: usize,
    spools: impl FnOnce(usize) -> Vec<Spool<'a>>,
    each: &dyn Fn(Take<'_, P>) -> io::Result<()>,
    label: &(dyn Fn(&mut Spool<'_>, &P) -> io::Result<()> + Sync),
) -> io::Result<Vec<Sorted>> {
    let mut spools = spools(threads.saturating_sub(1).max(1));
    if let ([spool], ..=1) = (&mut spools[..], threads) {
        each(&mut |piece| label(spool, &piece))?;
        return spools.into_iter().map(Spool::finish).collect();
    }
    let (sender, receiver) = mpsc::sync_channel::<P>(2 * spools.len());
    // Gone with the last thread that takes pieces.
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        let threads: Vec<_> = spools
            .into_iter()
            .map(|mut spool| {
                let receiver = Arc::clone(&receiver);
                let next = move || {
                    receiver.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv().ok()
                };
                scope.spawn(move || {
                    while let Some(piece) = next() {
                        label(&mut spool, &piece)?;
                    }
                    spool.finish()
                })
            })
            .collect();
        drop(receiver);
        let read = each(&mut |piece| sender.send(piece).map_err(|_| io::ErrorKind::Other.into()));
        drop(sender);
        // A thread that failed says more than the one that could not pass its pieces on.
        let sorted = threads.into_iter().map(|thread| match thread.join() {
            Ok(sorted) => sorted,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let sorted = sorted.collect::<Vec<_>>().into_iter().collect::<io::Result<Vec<_>>>()?;
        read.map(|()| sorted)
    })
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
