//! # 1-out-of-N oblivious transfer
//!
//! KK13 with the Walsh–Hadamard code: N = 2^μ ≤ 256, W = 256. Bit j of the codeword of c is the
//! inner product of the bits of c and of j, so any two of the 256 codewords differ in exactly 128
//! places. For a smaller N the first N codewords are the code of that length, repeated. So N
//! affects only which values the caller uses.
//!
//! The code is linear, so its columns are sums of the columns of the choices' bits, and no codeword
//! is transposed or looked up. Choices and the sender's values are secret, and a table would reveal
//! them through the addresses that are read.
//!
//! ```text
//!   let mut receiver = kk13::Receiver::setup(ctx, session)?;        // sender: Sender::setup
//!   receiver.extend(ctx, &choices, |first, rows| { … t_i … })?;     // sender: extend(ctx, m, …)
//! ```
//!
//! A receiver without a value for a row chooses [`NONE`] and cannot compute the string of any value
//! there: its word is all ones, which differs from the codeword of 0 in every place and from the
//! others in 128. The sender cannot tell, and the number of bytes is the same.
//!
//! Rows are the plain t_i and q_i, of 2 blocks, numbered from 0 in each extension;
//! [`Sender::masks`] returns C(c) ∧ s. Rows must be hashed before anything derived from them is
//! sent, under the number of the row, counted over all extensions;
//! [`RowHash`](super::random::RowHash) does this. [`random`](super::random) returns the hashed
//! strings.

use super::setup::SenderSeeds;
use super::stream::{self, ROWS_PER_BLOCK, Scratch, blocks, rows_of_columns};
use super::{ReceiverSetup, setup_bytes as setup_bytes_of_width};
use crate::Traffic;
use vesica_core::{Block, Result, SessionId};
use vesica_net::Context;
use vesica_simd::aes::{Aes128, ctr_bit_sums};
use vesica_simd::xor::xor;
use zeroize::Zeroizing;

/// Blocks per row.
pub const ROW_BLOCKS: usize = 2;

/// W, the number of columns.
const WIDTH: usize = ROW_BLOCKS * 128;

/// Bits per choice.
const CHOICE_BITS: usize = 8;

/// Maximum number of values of a choice.
pub const MAX_VALUES: usize = 1 << CHOICE_BITS;

/// The receiver's choice in a row: a value below [`MAX_VALUES`], or [`NONE`].
pub type Choice = u16;

/// No value.
pub const NONE: Choice = 1 << CHOICE_BITS;

/// Columns of bits that represent choices: the bits of the value, and whether there is no value.
const BIT_COLUMNS: usize = CHOICE_BITS + 1;

/// A row: t_i at the receiver, q_i at the sender.
pub type Row = [Block; ROW_BLOCKS];

/// Payload bytes of a setup.
pub fn setup_bytes() -> Traffic {
    setup_bytes_of_width(WIDTH)
}

/// Payload bytes of an extension by `rows` rows: 32 per row, in blocks of 128 rows.
pub const fn extend_bytes(rows: usize) -> Traffic {
    Traffic { sender_to_receiver: 0, receiver_to_sender: message_len(rows) as u64 }
}

const fn message_len(rows: usize) -> usize {
    WIDTH * blocks(rows) * Block::LEN
}

/// Bit b of j in place j, for the places of a word.
const PLACES: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// C(c). Neither time nor addresses depend on c.
#[inline]
pub fn codeword(c: u8) -> Row {
    let mask = |b: usize| u64::from(c >> b & 1).wrapping_neg();
    let word = PLACES.iter().enumerate().fold(0, |word, (b, places)| word ^ places & mask(b));
    // Bits 6 and 7 of a place are constant within a word and within a block.
    let block = Block::new(u128::from(word) | u128::from(word ^ mask(6)) << 64);
    [block, block ^ Block::mask(c >> 7 == 1)]
}

/// C(c) ∧ s: XORed with q_i it gives the receiver's row for the choice c.
#[derive(Clone)]
pub struct Masks {
    s: Zeroizing<Row>,
}

impl Masks {
    /// The masks for `s`.
    pub fn new(s: Row) -> Self {
        Self { s: Zeroizing::new(s) }
    }

    /// C(c) ∧ s. Neither time nor addresses depend on c.
    #[inline]
    pub fn get(&self, c: u8) -> Row {
        let [low, high] = codeword(c);
        [low & self.s[0], high & self.s[1]]
    }
}

/// The party with one value for each row.
pub struct Receiver {
    seeds: Vec<[Aes128; 2]>,
    next_block: u128,
}

impl Receiver {
    /// Runs the setup.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let setup = ReceiverSetup::send(ctx, session)?;
        Self::new(ctx, setup)
    }

    /// Finishes a setup: receives the sender's answer.
    ///
    /// # Errors
    /// As [`setup`](Receiver::setup).
    pub fn new(ctx: &mut Context, setup: ReceiverSetup) -> Result<Self> {
        Ok(Self { seeds: setup.receive(ctx, WIDTH)?, next_block: 0 })
    }

    /// The number of the next extension's first row, counted over all extensions. Hashes must use
    /// this number plus the row's index in the extension.
    pub fn next_row(&self) -> u64 {
        self.next_block as u64 * ROWS_PER_BLOCK as u64
    }

    /// Extends by one row for each of `choices`. Sends the corrections, and passes t_i to `consume`
    /// in order, a few thousand at a time, with the index of the first of them in this extension.
    /// Choices above [`NONE`] count as [`NONE`].
    ///
    /// # Errors
    /// Connection errors.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        choices: &[Choice],
        consume: impl FnMut(usize, &[Row]),
    ) -> Result<()> {
        let Receiver { seeds, next_block } = self;
        let tile = |scratch: &mut Scratch<ROW_BLOCKS>,
                    first_row,
                    first_block,
                    u: &mut [Block],
                    rows: &mut [Row]| {
            let choices = &choices[first_row..][..rows.len()];
            receiver_tile(seeds, first_block, scratch, choices, u, rows);
        };
        stream::receiver(ctx, next_block, message_len, choices.len(), tile, consume)
    }
}

/// The party that can compute the string of any value for each row.
pub struct Sender {
    seeds: SenderSeeds,
    masks: Masks,
    next_block: u128,
}

impl Sender {
    /// Runs the setup.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let seeds = SenderSeeds::setup(ctx, session, WIDTH)?;
        let masks = Masks::new(seeds.mask());
        Ok(Self { seeds, masks, next_block: 0 })
    }

    /// As [`Receiver::next_row`].
    pub fn next_row(&self) -> u64 {
        self.next_block as u64 * ROWS_PER_BLOCK as u64
    }

    /// C(c) ∧ s for the 256 values c, for use during an extension.
    pub fn masks(&self) -> Masks {
        self.masks.clone()
    }

    /// Extends by `rows` rows, the number of the receiver's choices. Receives the corrections, and
    /// passes q_i to `consume` as [`Receiver::extend`] does t_i.
    ///
    /// # Errors
    /// Connection errors.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        rows: usize,
        consume: impl FnMut(usize, &[Row]),
    ) -> Result<()> {
        let Sender { seeds, next_block, .. } = self;
        let tile =
            |scratch: &mut Scratch<ROW_BLOCKS>, first_block, u: &[Block], rows: &mut [Row]| {
                sender_tile(seeds, first_block, scratch, u, rows);
            };
        stream::sender(ctx, next_block, message_len, rows, tile, consume)
    }
}

/// The corrections `u`, column by column, and the rows of one tile.
fn receiver_tile(
    seeds: &[[Aes128; 2]],
    first_block: u128,
    scratch: &mut Scratch<ROW_BLOCKS>,
    choices: &[Choice],
    u: &mut [Block],
    rows: &mut [Row],
) {
    let len = blocks(choices.len());
    scratch.columns.resize(WIDTH * len, Block::ZERO);
    scratch.more.resize((BIT_COLUMNS + 1) * len, Block::ZERO);
    let (bits, sum) = scratch.more.split_at_mut(BIT_COLUMNS * len);
    bit_columns(choices, bits);
    let (bits, none) = bits.split_at(CHOICE_BITS * len);
    sum.fill(Block::ZERO);
    // In the order of a Gray code, each column of codewords is the previous one plus one column of
    // bits.
    for g in 0..WIDTH {
        if g > 0 {
            xor(sum, &bits[g.trailing_zeros() as usize * len..][..len]);
        }
        let j = g ^ (g >> 1);
        let u = &mut u[j * len..][..len];
        ctr_bit_sums(&seeds[j], first_block, &mut scratch.columns[j * len..][..len], u);
        xor(u, sum);
        xor(u, none);
    }
    rows_of_columns(&scratch.columns, &mut scratch.part, rows);
}

/// Sets column b of `columns` to bit b of each of `choices`, padded with zeros. The last column
/// states where there is no value; the other columns are zero there.
fn bit_columns(choices: &[Choice], columns: &mut [Block]) {
    let column_len = columns.len() / BIT_COLUMNS * Block::LEN;
    columns.fill(Block::ZERO);
    let columns = Block::as_bytes_mut(columns);
    for (i, eight) in choices.chunks(8).enumerate() {
        let (mut bytes, mut none) = ([0; 8], 0);
        for (k, (byte, choice)) in bytes.iter_mut().zip(eight).enumerate() {
            // Branch-free: the time must not show where there is no value.
            let is_none = (choice >> CHOICE_BITS).min(1) as u8;
            *byte = *choice as u8 & is_none.wrapping_sub(1);
            none |= is_none << k;
        }
        columns[CHOICE_BITS * column_len + i] = none;
        // Three exchanges transpose the square of bits.
        let mut square = u64::from_le_bytes(bytes);
        for (by, mask) in
            [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0xf0f0_f0f0)]
        {
            let moved = (square ^ (square >> by)) & mask;
            square ^= moved ^ (moved << by);
        }
        for (b, byte) in square.to_le_bytes().into_iter().enumerate() {
            columns[b * column_len + i] = byte;
        }
    }
}

/// The rows of one tile, from the corrections `u`.
fn sender_tile(
    seeds: &SenderSeeds,
    first_block: u128,
    scratch: &mut Scratch<ROW_BLOCKS>,
    u: &[Block],
    rows: &mut [Row],
) {
    let len = blocks(rows.len());
    scratch.columns.resize(WIDTH * len, Block::ZERO);
    let columns = scratch.columns.chunks_exact_mut(len).zip(u.chunks_exact(len));
    for ((stream, s), (column, u)) in seeds.streams.iter().zip(seeds.choices.iter()).zip(columns) {
        stream.ctr(first_block, column);
        let s = Block::mask(s);
        column.iter_mut().zip(u).for_each(|(q, u)| *q ^= *u & s);
    }
    rows_of_columns(&scratch.columns, &mut scratch.part, rows);
}
