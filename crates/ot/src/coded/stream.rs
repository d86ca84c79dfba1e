//! The walk over the rows, tile by tile, on as many threads as there are.

use rayon::prelude::*;
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_simd::transpose::transpose_128;
use zeroize::{Zeroize, Zeroizing};

/// Rows in a block of rows: a column has one block of bits for them.
pub(super) const ROWS_PER_BLOCK: usize = 128;

/// Rows that are worked on together: their columns stay in the second-level cache.
const TILE_ROWS: usize = 16 * ROWS_PER_BLOCK;

/// Rows whose corrections are in one message, of up to 256 KiB. What the caller gets at a time begins at
/// a multiple of so many rows, and ends at one or with the last row.
pub const PART_ROWS: usize = 2 * TILE_ROWS;

/// Blocks of bits of `rows` rows in a column.
pub(super) const fn blocks(rows: usize) -> usize {
    rows.div_ceil(ROWS_PER_BLOCK)
}

/// Room for one tile, used again for the next.
#[derive(Default)]
pub(super) struct Scratch<const K: usize> {
    /// Columns, one after the other.
    pub(super) columns: Vec<Block>,
    /// Columns of something else.
    pub(super) more: Vec<Block>,
    /// Rows of something else.
    pub(super) words: Vec<[Block; K]>,
    /// A block of each row.
    pub(super) part: Vec<Block>,
}

impl<const K: usize> Drop for Scratch<K> {
    fn drop(&mut self) {
        self.columns.zeroize();
        self.more.zeroize();
        self.words.zeroize();
        self.part.zeroize();
    }
}

/// Sets `rows` to the rows of `columns`, which are 128·K of as many blocks as they need; `part` is
/// room.
pub(super) fn rows_of_columns<const K: usize>(
    columns: &[Block],
    part: &mut Vec<Block>,
    rows: &mut [[Block; K]],
) {
    let len = ROWS_PER_BLOCK * blocks(rows.len());
    part.resize(len, Block::ZERO);
    for (k, columns) in columns.chunks_exact(len).enumerate() {
        transpose_128(columns, part);
        rows.iter_mut().zip(&*part).for_each(|(row, block)| row[k] = *block);
    }
}

/// The receiver's walk over `count` rows: makes them and their corrections by `tile`, sends the
/// corrections, and gives the rows to `consume` with the number of the first.
///
/// `tile` is called with the number of the tile's first row, that of its first block of rows over all
/// extensions, and room for the corrections and the rows. Corrections of `n` rows have
/// `message_len(n)` bytes; the room for them is a row longer, what is written there being of no
/// account. A message has those of [`PART_ROWS`].
pub(super) fn receiver<const K: usize>(
    ctx: &mut Context,
    next_block: &mut u128,
    message_len: impl Fn(usize) -> usize + Sync,
    count: usize,
    tile: impl Fn(&mut Scratch<K>, usize, u128, &mut [Block], &mut [[Block; K]]) + Sync,
    mut consume: impl FnMut(usize, &[[Block; K]]),
) -> Result<()> {
    let threads = ctx.pool().len();
    let message_blocks = message_blocks::<K>(&message_len);
    let mut rows = Zeroizing::new(vec![[Block::ZERO; K]; (threads * PART_ROWS).min(count)]);
    let mut corrections = vec![Block::ZERO; rows.len().div_ceil(PART_ROWS) * message_blocks];
    let mut scratch = Scratch::default();
    let mut done = 0;
    while done < count {
        let rows = &mut rows[..(threads * PART_ROWS).min(count - done)];
        let first = *next_block;
        *next_block += blocks(rows.len()) as u128;
        let part = |scratch: &mut Scratch<K>, (i, (rows, c)): (usize, Part<'_, K>)| {
            for (j, rows) in rows.chunks_mut(TILE_ROWS).enumerate() {
                let row = i * PART_ROWS + j * TILE_ROWS;
                let c = &mut c[j * message_len(TILE_ROWS) / Block::LEN..];
                tile(scratch, done + row, first + blocks(row) as u128, c, rows);
            }
        };
        if threads > 1 {
            ctx.pool().run(|| {
                let parts = rows.par_chunks_mut(PART_ROWS);
                let parts = parts.zip(corrections.par_chunks_mut(message_blocks)).enumerate();
                parts.for_each_init(Scratch::default, part);
            });
        }
        let parts = rows.chunks_mut(PART_ROWS).zip(corrections.chunks_mut(message_blocks));
        for (i, (rows, c)) in parts.enumerate() {
            if threads == 1 {
                part(&mut scratch, (i, (&mut *rows, &mut *c)));
            }
            ctx.peer()?.send(&Block::as_bytes(c)[..message_len(rows.len())])?;
        }
        consume(done, rows);
        done += rows.len();
    }
    Ok(())
}

/// The sender's walk over `count` rows: receives the corrections, makes the rows by `tile`, and gives
/// them to `consume` with the number of the first. Lengths are as in [`receiver`].
pub(super) fn sender<const K: usize>(
    ctx: &mut Context,
    next_block: &mut u128,
    message_len: impl Fn(usize) -> usize + Sync,
    count: usize,
    tile: impl Fn(&mut Scratch<K>, u128, &[Block], &mut [[Block; K]]) + Sync,
    mut consume: impl FnMut(usize, &[[Block; K]]),
) -> Result<()> {
    let threads = ctx.pool().len();
    let message_blocks = message_blocks::<K>(&message_len);
    let mut rows = Zeroizing::new(vec![[Block::ZERO; K]; (threads * PART_ROWS).min(count)]);
    let mut corrections = vec![Block::ZERO; rows.len().div_ceil(PART_ROWS) * message_blocks];
    let mut scratch = Scratch::default();
    let mut done = 0;
    while done < count {
        let rows = &mut rows[..(threads * PART_ROWS).min(count - done)];
        let first = *next_block;
        *next_block += blocks(rows.len()) as u128;
        let part = |scratch: &mut Scratch<K>, (i, (rows, c)): (usize, Part<'_, K>)| {
            for (j, rows) in rows.chunks_mut(TILE_ROWS).enumerate() {
                let row = i * PART_ROWS + j * TILE_ROWS;
                let c = &c[j * message_len(TILE_ROWS) / Block::LEN..];
                tile(scratch, first + blocks(row) as u128, c, rows);
            }
        };
        let parts = rows.chunks_mut(PART_ROWS).zip(corrections.chunks_mut(message_blocks));
        for (i, (rows, c)) in parts.enumerate() {
            ctx.peer()?.recv_into(&mut Block::as_bytes_mut(c)[..message_len(rows.len())])?;
            if threads == 1 {
                part(&mut scratch, (i, (&mut *rows, &mut *c)));
            }
        }
        if threads > 1 {
            ctx.pool().run(|| {
                let parts = rows.par_chunks_mut(PART_ROWS);
                let parts = parts.zip(corrections.par_chunks_mut(message_blocks)).enumerate();
                parts.for_each_init(Scratch::default, part);
            });
        }
        consume(done, rows);
        done += rows.len();
    }
    Ok(())
}

/// Rows and corrections of a part.
type Part<'a, const K: usize> = (&'a mut [[Block; K]], &'a mut [Block]);

/// Blocks of room for the corrections of a part, and one row more.
fn message_blocks<const K: usize>(message_len: impl Fn(usize) -> usize) -> usize {
    message_len(PART_ROWS) / Block::LEN + K
}
