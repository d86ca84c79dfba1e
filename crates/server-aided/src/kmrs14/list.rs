//! A party's list T_i: from items to labels on the board, and from the answer's bits back to rows.

use super::board::{Board, Boards};
use super::label_keys::Dummy;
use super::side_by_side::{side_by_side, useful_threads};
use super::slot::Slot;
use super::spec::Spec;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use vesica_core::{Error, Item, Items, Misbehaviour, Result};
use vesica_labels::{Bits, Format, Label, Order, Segment, Sorted, Spool};
use vesica_net::{Pool, Progress};
use vesica_scratch::Scratch;

/// Takes labels, each with the row or dummy that it labels.
type Sink<'a, T> = dyn FnMut(Label, T) -> io::Result<()> + 'a;

/// The resources of a party.
pub struct Means<'a> {
    /// The place for intermediate data.
    pub scratch: &'a dyn Scratch,
    /// About how many bytes of memory a step may use before it writes intermediate data.
    pub memory_bytes: u64,
    /// Its threads.
    pub pool: &'a Pool,
    /// Receives the progress of a step.
    pub progress: &'a dyn Progress,
}

/// The rows whose item all parties have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonRows {
    /// Bit r mod 64 of word ⌊r / 64⌋ is set if row r is one of them.
    pub rows: Vec<u64>,
    /// How many different items they have.
    pub items: u64,
}

/// A step's label for progress.
const LABELLING: &str = "labels";
const SENDING: &str = "sending";

/// T_i in order, before it is sent.
pub(super) struct OwnList {
    sorted: Sorted,
    order: Mutex<Order>,
    rows: u64,
}

/// T_i after it was sent: its length, and the row of each label. The labels and their intermediate
/// data are gone.
pub(super) struct SentList {
    order: Order,
    rows: u64,
    len: u64,
}

/// A segment of a list as it is sent.
pub(super) struct EncodedSegment {
    pub(super) bytes: Vec<u8>,
    /// How many labels it has.
    pub(super) labels: u64,
}

impl OwnList {
    /// Sorts the labels that `make` makes of batches of items, on all threads, and those that
    /// `dummies` makes.
    pub(super) fn make(
        items: &dyn Items,
        format: Format,
        means: &Means<'_>,
        make: impl Fn(&[Item], &mut Sink<'_, usize>) -> io::Result<()> + Sync,
        dummies: impl FnOnce(&mut Sink<'_, Dummy>) -> io::Result<()>,
    ) -> Result<Self> {
        let rows = items.rows();
        // The two numbers after the rows mark dummies.
        let number_bits = (rows + 2).next_power_of_two().ilog2();
        let spool = |memory_bytes| {
            Spool::new(format, number_bits, memory_bytes, means.scratch)
                .filter(|_| number_bits <= Order::NUMBER_BITS)
                .ok_or(Error::Bug("a label and a row do not fit together"))
        };
        // Whether there is a spool depends only on the formats: the next spools exist too.
        let for_dummies = means.memory_bytes / 8;
        let mut of_dummies = spool(for_dummies)?;
        dummies(&mut |label, kind| of_dummies.push(label, rows + u64::from(kind == Dummy::Own)))
            .map_err(storage)?;
        let of_dummies = of_dummies.finish().map_err(storage)?;
        let for_items = means.memory_bytes - for_dummies;
        let threads = useful_threads(means.pool.len(), rows, for_items);
        let of_items = side_by_side(
            threads,
            |count| (0..count).flat_map(|_| spool(for_items / count as u64)).collect(),
            &|take| {
                items.each(&mut |first, items| {
                    pieces(first, items).try_for_each(&mut *take)?;
                    means.progress.step(LABELLING, first + items.len() as u64, rows);
                    Ok(())
                })
            },
            &|spool, piece: &Piece| {
                make(&piece.items, &mut |label, at| spool.push(label, piece.rows[at]))
            },
        );
        let mut all = of_items.map_err(storage)?.into_iter();
        let sorted = all.try_fold(of_dummies, Sorted::and);
        let sorted = sorted.ok_or(Error::Bug("the spools of a list differ"))?;
        let order = Order::new(format.segments(), means.scratch).map_err(storage)?;
        Ok(Self { sorted, order: Mutex::new(order), rows })
    }

    /// Puts the segments that are not on the board yet.
    pub(super) fn send(
        self,
        place: Slot,
        board: &mut dyn Board,
        boards: &dyn Boards,
        means: &Means<'_>,
    ) -> Result<SentList> {
        let len = send_segments(&self.sorted, place, board, boards, means, &|index, segment| {
            let mut order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            order.keep(index, segment).map_err(storage)
        })?;
        Ok(self.sent(len))
    }

    /// The list, once all its segments, with `len` labels together, have been put.
    pub(super) fn sent(self, len: u64) -> SentList {
        let order = self.order.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        SentList { order, rows: self.rows, len }
    }

    /// Segment `index`. The list keeps its order.
    pub(super) fn encoded(&self, index: u32) -> Result<EncodedSegment> {
        let segment = self.sorted.segment(index).map_err(storage)?;
        let bytes = self.sorted.encode(&segment).map_err(storage)?;
        let mut order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        order.keep(index, &segment).map_err(storage)?;
        Ok(EncodedSegment { bytes, labels: segment.labels.len() as u64 })
    }
}

impl SentList {
    /// |T_i|, with copies and dummies.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The rows whose labels' bits are set, after the checks of Figure 2, step 6, which Figures 3
    /// and 4 share: (a) all of D_0 is in I and nothing of D_i, (b) of each item all copies are in
    /// I, or none.
    ///
    /// # Errors
    /// [`Misbehaviour::CommonMissing`], [`Misbehaviour::OwnFound`], [`Misbehaviour::CopiesDiffer`];
    /// [`Error::Storage`].
    pub(super) fn common_rows(self, spec: &Spec, bits: &Bits) -> Result<CommonRows> {
        let mut rows = vec![0_u64; self.rows.div_ceil(64) as usize];
        let mut copies = vec![0_u8; if spec.copies > 1 { self.rows as usize } else { 0 }];
        let (mut found_labels, mut failed) = (0_u64, None);
        self.order
            .each(bits, |number, is_first, found| {
                if number >= self.rows {
                    let wrong = match (number == self.rows, found) {
                        (true, false) => Some(Misbehaviour::CommonMissing),
                        (false, true) => Some(Misbehaviour::OwnFound),
                        _ => None,
                    };
                    failed = failed.or(wrong);
                } else {
                    // No branch depends on what is common: the helper sees when the next message
                    // arrives.
                    found_labels += u64::from(is_first & found);
                    rows[(number / 64) as usize] |= u64::from(found) << (number % 64);
                    if let Some(count) = copies.get_mut(number as usize) {
                        *count += u8::from(found);
                    }
                }
            })
            .map_err(storage)?;
        let differs = |count: &u8| (*count != 0) & (u32::from(*count) != spec.copies);
        let differ = copies.iter().fold(false, |differ, count| differ | differs(count));
        if let Some(failed) = failed {
            return Err(failed.into());
        }
        if differ {
            return Err(Misbehaviour::CopiesDiffer.into());
        }
        Ok(CommonRows { rows, items: found_labels / u64::from(spec.copies) })
    }
}

/// Items labelled at once.
const PIECE: usize = 1 << 12;

/// Items that have a key, and the row of each.
struct Piece {
    items: Vec<Item>,
    rows: Vec<u64>,
}

/// Cuts items of consecutive rows, starting at row `first`, into pieces.
fn pieces(first: u64, items: &[Item]) -> impl Iterator<Item = Piece> {
    items.chunks(PIECE).zip((first..).step_by(PIECE)).map(|(piece, first)| {
        let keyed = piece.iter().zip(first..).filter(|(item, _)| item.integer() != 0);
        let (items, rows) = keyed.unzip();
        Piece { items, rows }
    })
}

/// Puts the segments of `sorted` that are not on the board yet into the parts of `place`, and
/// returns the number of all labels. Later puts of `board` come after all of them.
pub(super) fn send_segments(
    sorted: &Sorted,
    place: Slot,
    board: &mut dyn Board,
    boards: &dyn Boards,
    means: &Means<'_>,
    keep: &(dyn Fn(u32, &Segment) -> Result<()> + Sync),
) -> Result<u64> {
    let segments = sorted.format().segments();
    let filled = if boards.is_new() {
        vec![false; segments as usize]
    } else {
        board.filled(place.kind, segments)?
    };
    let (next, total) = (AtomicU32::new(0), AtomicU64::new(0));
    let lane = |board: &mut dyn Board| -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= segments {
                return Ok(());
            }
            let segment = sorted.segment(index).map_err(storage)?;
            total.fetch_add(segment.labels.len() as u64, Ordering::Relaxed);
            if !filled[index as usize] {
                let body = sorted.encode(&segment).map_err(storage)?;
                board.put(Slot { part: index, ..place }, &body)?;
            }
            keep(index, &segment)?;
            means.progress.step(SENDING, u64::from(index) + 1, u64::from(segments));
        }
    };
    let bytes = sorted.format().list_bytes(sorted.len());
    let others = boards.lanes(bytes).min(segments as usize).saturating_sub(1);
    std::thread::scope(|scope| {
        // Each lane waits until its slots are stored. Nothing else orders them before the next put
        // of `board`.
        let one = || {
            let mut board = boards.open()?;
            lane(&mut *board)?;
            board.sync()
        };
        let others: Vec<_> = (0..others).map(|_| scope.spawn(one)).collect();
        let own = lane(board);
        // All lanes end before this returns the first failure.
        let all = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(all).collect::<Vec<_>>().into_iter().collect::<Result<()>>()
    })?;
    Ok(total.into_inner())
}

/// The error when intermediate data fails on this machine.
pub(super) fn storage(error: io::Error) -> Error {
    Error::Storage(error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_leave_out_rows_without_a_key() {
        let items: Vec<Item> =
            (0..2 * PIECE as u128).map(|at| Item::from_integer(at % 3)).collect();
        let rows: Vec<u64> = pieces(5, &items).flat_map(|piece| piece.rows).collect();
        let expected = (5..).zip(&items).filter(|(_, item)| item.integer() != 0);
        assert_eq!(rows, expected.map(|(row, _)| row).collect::<Vec<_>>());
    }
}
