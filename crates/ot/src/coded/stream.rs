//! Processing of rows, tile by tile, on all threads.

use rayon::prelude::*;
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_simd::transpose::transpose_128;
use zeroize::{Zeroize, Zeroizing};

/// Rows per block: a column has one block of bits for them.
pub(super) const ROWS_PER_BLOCK: usize = 128;

/// Rows per tile: their columns stay in the second-level cache.
const TILE_ROWS: usize = 16 * ROWS_PER_BLOCK;

/// Rows per message of corrections, of up to 256 KiB. Each part that the caller receives starts at
/// a multiple of this number, and ends at one or at the last row.
pub const PART_ROWS: usize = 2 * TILE_ROWS;

/// Blocks per column, for `rows` rows.
pub(super) const fn blocks(rows: usize) -> usize {
    rows.div_ceil(ROWS_PER_BLOCK)
}

/// Memory for one tile, reused for the next.
#[derive(Default)]
pub(super) struct Scratch<const K: usize> {
    /// Columns, one after the other.
    pub(super) columns: Vec<Block>,
    /// Other columns.
    pub(super) more: Vec<Block>,
    /// Other rows.
    pub(super) words: Vec<[Block; K]>,
    /// One block of each row.
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

/// Transposes `columns`, 128·K columns of equal length, into `rows`; `part` is scratch space.
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

/// The receiver's side for `count` rows. `tile` makes the rows and their corrections; this function
/// sends the corrections, and passes the rows to `consume` with the index of the first.
///
/// `tile` gets the index of its first row, the number of its first block of rows over all
/// extensions, and space for the corrections and the rows. Corrections of `n` rows have
/// `message_len(n)` bytes. Their space is one row longer; its last row is ignored. A message has
/// the corrections of [`PART_ROWS`] rows.
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

/// The sender's side for `count` rows: receives the corrections, makes the rows with `tile`, and
/// passes them to `consume` with the index of the first. Lengths are as in [`receiver`].
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

/// Blocks for the corrections of a part, plus one row.
fn message_blocks<const K: usize>(message_len: impl Fn(usize) -> usize) -> usize {
    message_len(PART_ROWS) / Block::LEN + K
}
