//! Splits gates and bits into messages, in the same way at both parties.

use super::labels::Labels;
use crate::{BitLanes, Cost, Known, Lanes};
use std::ops::Range;
use vesica_core::{Block, Error, Result};
use vesica_net::{Channel, Context, Pool};
use vesica_ot::Bits;

/// Private input at the wrong party or of the wrong size.
pub(super) const MISPLACED: Error =
    Error::Bug("private input at the wrong party or of the wrong size");

/// The setup assumed an evaluator without private bits.
pub(super) const NO_TRANSFERS: Error =
    Error::Bug("the evaluator has more private bits than announced");

/// Maximum payload bytes per message.
pub(super) const BYTES: usize = 256 << 10;

/// Blocks of the longest message.
pub(super) const BLOCKS: usize = BYTES / Block::LEN;

/// Consecutive gates of one list within one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The index of the list.
    pub(super) list: usize,
    /// Its lanes.
    pub(super) lanes: Range<usize>,
    /// Gates of the message before this piece.
    pub(super) before: usize,
    /// Gates of the whole message.
    pub(super) message: usize,
}

impl Piece {
    /// Whether this piece starts its message.
    pub(super) fn is_first(&self) -> bool {
        self.before == 0
    }

    /// Whether this piece ends its message.
    pub(super) fn is_last(&self) -> bool {
        self.before + self.lanes.len() == self.message
    }
}

/// Splits lists of gates of these lengths into messages of at most `most` gates, in order.
pub(super) fn pieces(
    lens: impl Iterator<Item = usize> + Clone,
    most: usize,
) -> impl Iterator<Item = Piece> {
    let mut left: usize = lens.clone().sum();
    let mut lists = lens.enumerate();
    let (mut list, mut lanes) = (0, 0..0);
    let (mut before, mut message) = (0, left.min(most));
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        while lanes.is_empty() {
            let (next, len) = lists.next()?;
            (list, lanes) = (next, 0..len);
        }
        if before == message {
            (before, message) = (0, left.min(most));
        }
        let n = lanes.len().min(message - before);
        let piece = Piece { list, lanes: lanes.start..lanes.start + n, before, message };
        lanes.start += n;
        before += n;
        left -= n;
        Some(piece)
    })
}

/// A buffer for the longest message, or for `len` blocks if they are more. Allocated once.
pub(super) fn buffer(table: &mut Vec<Block>, len: usize) -> &mut [Block] {
    if table.len() < len.max(BLOCKS) {
        *table = Block::zeros(len.max(BLOCKS));
    }
    table
}

/// With fewer gates, waking another thread takes longer than the work.
const GATES_PER_THREAD: usize = 4096;

/// How many threads of `pool` share this many gates.
pub(super) fn threads(pool: &Pool, gates: usize) -> usize {
    pool.len().min(gates / GATES_PER_THREAD).max(1)
}

/// Calls `f` for each of `tasks`, which have this many gates, on several threads if that is faster.
pub(super) fn for_each<T: Send>(
    pool: &Pool,
    gates: usize,
    tasks: Vec<T>,
    f: impl Fn(T) + Sync + Send,
) {
    match threads(pool, gates).min(tasks.len()) {
        0 | 1 => tasks.into_iter().for_each(f),
        _ => pool.for_each(tasks, f),
    }
}

/// The pieces of each message.
pub(super) fn by_message(pieces: impl Iterator<Item = Piece>) -> impl Iterator<Item = Vec<Piece>> {
    let mut pieces = pieces.peekable();
    std::iter::from_fn(move || {
        let mut message = vec![pieces.next()?];
        message.extend(std::iter::from_fn(|| pieces.next_if(|piece| !piece.is_first())));
        Some(message)
    })
}

/// Groups the results by list.
pub(super) fn by_list(results: Vec<Labels>, lists: &[(Known<'_>, &[&Labels])]) -> Vec<Vec<Labels>> {
    let mut results = results.into_iter();
    lists.iter().map(|(_, wires)| results.by_ref().take(wires.len()).collect()).collect()
}

/// Whether `bits` is `width` lists of `len` bits.
pub(super) fn have_size(bits: &[Bits], width: usize, len: usize) -> bool {
    bits.len() == width && bits.iter().all(|bits| bits.len() == len)
}

/// The colours of all wires, one after the other.
pub(super) fn colours(wires: &[Labels]) -> BitLanes {
    let colours: Vec<_> = wires.iter().map(Labels::colours).collect();
    BitLanes::concat(&colours)
}

/// Sends bits.
pub(super) fn send_bits(peer: &mut Channel, bits: &BitLanes) -> Result<()> {
    let mut bytes: Vec<u8> = bits.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(Bits::bytes_len(bits.len()));
    bytes.chunks(BYTES).try_for_each(|part| peer.send(part))
}

/// Receives `len` bits.
pub(super) fn receive_bits(peer: &mut Channel, len: usize) -> Result<BitLanes> {
    let mut bytes = vec![0; Bits::bytes_len(len)];
    bytes.chunks_mut(BYTES).try_for_each(|part| peer.recv_into(part))?;
    bytes.resize(8 * len.div_ceil(64), 0);
    let (words, _) = bytes.as_chunks::<8>();
    Ok(BitLanes::from_words(words.iter().map(|word| u64::from_le_bytes(*word)).collect(), len))
}

/// The values of `wires`, from the colours that the peer sends.
pub(super) fn receive_values(peer: &mut Channel, wires: &[Labels]) -> Result<Vec<Bits>> {
    let colours = colours(wires);
    let values = receive_bits(peer, colours.len())?.xor(&colours);
    Ok(by_wire(&values, wires).map(|bits| Bits::from(&bits)).collect())
}

/// Splits the bits of all wires into those of each.
pub(super) fn by_wire(bits: &BitLanes, wires: &[Labels]) -> impl Iterator<Item = BitLanes> {
    let mut first = 0;
    wires.iter().map(move |wires| {
        first += wires.len();
        bits.slice(first - wires.len(), wires.len())
    })
}

/// Counts gates and reports progress.
#[derive(Debug)]
pub(super) struct Progress {
    done: u64,
    total: u64,
    reported: u64,
}

/// Gates between two reports.
const REPORT: u64 = 1 << 20;

impl Progress {
    pub(super) fn new(cost: &Cost) -> Self {
        Self { done: 0, total: cost.count.ands + cost.count.one_sided, reported: 0 }
    }

    /// The number of the first of the next `n` gates.
    pub(super) fn number(&mut self, n: usize) -> u64 {
        let first = self.done;
        self.done += n as u64;
        first
    }

    pub(super) fn report(&mut self, ctx: &Context) {
        if self.done >= self.reported + REPORT {
            self.reported = self.done;
            ctx.progress(self.done, self.total.max(self.done));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gate_is_in_one_piece_and_all_messages_but_the_last_are_full() {
        for lens in [&[][..], &[0], &[0, 0, 3], &[10], &[3, 4, 3], &[1; 25], &[0, 35, 0, 1, 9]] {
            let total: usize = lens.iter().sum();
            let pieces: Vec<_> = pieces(lens.iter().copied(), 10).collect();
            let mut at = vec![0; lens.len()];
            let mut place = 0;
            for piece in &pieces {
                assert_eq!(piece.lanes.start, at[piece.list]);
                assert!(!piece.lanes.is_empty() && lens[piece.list + 1..].len() < lens.len());
                at[piece.list] = piece.lanes.end;
                assert_eq!((piece.before, piece.is_first()), (place % 10, place % 10 == 0));
                assert_eq!(piece.message, (total - (place - piece.before)).min(10));
                place += piece.lanes.len();
                assert_eq!(piece.is_last(), place % 10 == 0 || place == total);
            }
            assert_eq!((at.as_slice(), place), (lens, total));
            assert!(pieces.is_sorted_by_key(|piece| piece.list));
        }
    }
}
