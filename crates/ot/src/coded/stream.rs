//! The walk over the rows, tile by tile, on as many threads as there are.

use rayon::prelude::*;
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_simd::transpose::transpose_128;
use zeroize::{Zeroize, Zeroizing};

/// Rows in a block of rows: a column has one block of bits for them.
pub(super) const ROWS_PER_BLOCK: usize = 128;

/// Rows that are worked on and sent together: columns and rows stay in the second-level cache.
pub(super) const TILE_ROWS: usize = 16 * ROWS_PER_BLOCK;

/// Tiles for each CPU thread in what the caller gets at a time.
const TILES_PER_THREAD: usize = 2;

/// What the caller gets at a time begins at a multiple of so many rows, and ends at one or with the
/// last row.
pub const PART_ROWS: usize = TILES_PER_THREAD * TILE_ROWS;

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
/// `message_len(n)` bytes; the room for them is a row longer.
pub(super) fn receiver<const K: usize>(
    ctx: &mut Context,
    next_block: &mut u128,
    message_len: impl Fn(usize) -> usize,
    count: usize,
    tile: impl Fn(&mut Scratch<K>, usize, u128, &mut [Block], &mut [[Block; K]]) + Sync,
    mut consume: impl FnMut(usize, &[[Block; K]]),
) -> Result<()> {
    let part_rows = PART_ROWS * ctx.pool().len();
    let message_blocks = message_len(TILE_ROWS).div_ceil(Block::LEN) + K;
    let mut rows = Zeroizing::new(vec![[Block::ZERO; K]; part_rows.min(count)]);
    let mut corrections = vec![Block::ZERO; rows.len().div_ceil(TILE_ROWS) * message_blocks];
    let mut scratch = Scratch::default();
    let mut done = 0;
    while done < count {
        let rows = &mut rows[..part_rows.min(count - done)];
        let first = *next_block;
        *next_block += blocks(rows.len()) as u128;
        let one = |scratch: &mut Scratch<K>, i: usize, c: &mut [Block], rows: &mut [[Block; K]]| {
            let block = first + (i * blocks(TILE_ROWS)) as u128;
            tile(scratch, done + i * TILE_ROWS, block, c, rows);
        };
        let threads = ctx.pool().len();
        if threads > 1 {
            ctx.pool().run(|| {
                let corrections = corrections.par_chunks_mut(message_blocks);
                let tiles = corrections.zip(rows.par_chunks_mut(TILE_ROWS)).enumerate();
                let one =
                    |scratch: &mut Scratch<K>, (i, (c, rows)): (usize, (&mut [_], &mut [_]))| {
                        one(scratch, i, c, rows);
                    };
                tiles.for_each_init(Scratch::default, one);
            });
        }
        let messages = corrections.chunks_mut(message_blocks);
        for (i, (rows, message)) in rows.chunks_mut(TILE_ROWS).zip(messages).enumerate() {
            if threads == 1 {
                one(&mut scratch, i, message, rows);
            }
            ctx.peer()?.send(&Block::as_bytes(message)[..message_len(rows.len())])?;
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
    message_len: impl Fn(usize) -> usize,
    count: usize,
    tile: impl Fn(&mut Scratch<K>, u128, &[Block], &mut [[Block; K]]) + Sync,
    mut consume: impl FnMut(usize, &[[Block; K]]),
) -> Result<()> {
    let part_rows = PART_ROWS * ctx.pool().len();
    let message_blocks = message_len(TILE_ROWS).div_ceil(Block::LEN) + K;
    let mut rows = Zeroizing::new(vec![[Block::ZERO; K]; part_rows.min(count)]);
    let mut corrections = vec![Block::ZERO; rows.len().div_ceil(TILE_ROWS) * message_blocks];
    let mut scratch = Scratch::default();
    let mut done = 0;
    while done < count {
        let rows = &mut rows[..part_rows.min(count - done)];
        let first = *next_block;
        *next_block += blocks(rows.len()) as u128;
        let one = |scratch: &mut Scratch<K>, i: usize, c: &[Block], rows: &mut [[Block; K]]| {
            tile(scratch, first + (i * blocks(TILE_ROWS)) as u128, c, rows);
        };
        let threads = ctx.pool().len();
        let messages = corrections.chunks_mut(message_blocks);
        for (i, (rows, message)) in rows.chunks_mut(TILE_ROWS).zip(messages).enumerate() {
            let bytes = &mut Block::as_bytes_mut(message)[..message_len(rows.len())];
            ctx.peer()?.recv_into(bytes)?;
            if threads == 1 {
                one(&mut scratch, i, message, rows);
            }
        }
        if threads > 1 {
            ctx.pool().run(|| {
                let corrections = corrections.par_chunks(message_blocks);
                let tiles = corrections.zip(rows.par_chunks_mut(TILE_ROWS)).enumerate();
                let one = |scratch: &mut Scratch<K>, (i, (c, rows)): (usize, (&[_], &mut [_]))| {
                    one(scratch, i, c, rows);
                };
                tiles.for_each_init(Scratch::default, one);
            });
        }
        consume(done, rows);
        done += rows.len();
    }
    Ok(())
}
