//! # Random 1-out-of-N transfer
//!
//! The strings of [`kk13`] hashed: the receiver has the string of its choice in each row,
//! the sender can compute the string of any value in any row, and the strings look independent and
//! random.
//!
//! The string of value c in row i is BLAKE3 keyed by the session of q_i ⊕ (C(c) ∧ s) and i: correlation
//! robust, i being counted over all extensions of a setup.

use super::ReceiverSetup;
use super::kk13::{self, Choice, Masks, Row};
use vesica_core::hash::derive;
use vesica_core::{Block, Result, SessionId};
use vesica_net::Context;
use vesica_simd::short_hash::{BLOCK_LEN, INPUTS, keyed_hash_16};
use zeroize::{Zeroize, Zeroizing};

const STRING: &str = "vesica ot 2026 KK13 string";

/// Bytes that are hashed: a row and its number.
const INPUT_LEN: usize = size_of::<Row>() + size_of::<u64>();

/// Rows that a CPU thread hashes at a time.
const ROWS_PER_TASK: usize = 1 << 10;

/// The hash from rows to strings of 128 bits.
pub struct RowHash {
    key: [u8; 32],
}

impl RowHash {
    /// The hash of one setup in this session.
    pub fn new(session: &SessionId) -> Self {
        Self { key: derive(STRING, &[session.as_bytes()]) }
    }

    /// The string of row number `number` for each pair, sixteen at a time.
    ///
    /// # Panics
    /// If there are not as many places as rows.
    pub fn strings(&self, rows: impl ExactSizeIterator<Item = (u64, Row)>, out: &mut [Block]) {
        assert_eq!(rows.len(), out.len(), "a place for each string");
        let mut rows = rows;
        let mut inputs = [[0; BLOCK_LEN]; INPUTS];
        for out in out.chunks_mut(INPUTS) {
            for ((number, row), input) in rows.by_ref().take(out.len()).zip(&mut inputs) {
                input[..size_of::<Row>()].copy_from_slice(Block::as_bytes(&row));
                input[size_of::<Row>()..INPUT_LEN].copy_from_slice(&number.to_le_bytes());
            }
            let digests = keyed_hash_16(&self.key, &inputs, &[INPUT_LEN as u8; INPUTS]);
            for (out, digest) in out.iter_mut().zip(digests) {
                *out = Block::from_le_bytes(digest);
            }
        }
        inputs.as_flattened_mut().zeroize();
    }
}

/// The party that has one value for each row.
pub struct Receiver {
    rows: kk13::Receiver,
    hash: RowHash,
}

impl Receiver {
    /// Runs the setup.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let setup = ReceiverSetup::send(ctx, session)?;
        Self::new(ctx, setup, session)
    }

    /// Ends a setup: receives the sender's answer.
    ///
    /// # Errors
    /// As [`setup`](Receiver::setup).
    pub fn new(ctx: &mut Context, setup: ReceiverSetup, session: &SessionId) -> Result<Self> {
        Ok(Self { rows: kk13::Receiver::new(ctx, setup)?, hash: RowHash::new(session) })
    }

    /// The string that each of `choices` chooses: to `consume` in order, some thousands at a time, with
    /// the number of the first of them in this extension.
    ///
    /// # Errors
    /// Of the connection.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        choices: &[u8],
        mut consume: impl FnMut(usize, &[Block]),
    ) -> Result<()> {
        let Receiver { rows, hash } = self;
        let first = rows.next_row();
        let pool = ctx.pool().clone();
        let mut strings = Vec::new();
        let choices: Zeroizing<Vec<Choice>> =
            choices.iter().copied().map(Choice::from).collect::<Vec<_>>().into();
        let result = rows.extend(ctx, &choices, |first_of_part, part| {
            strings.resize(part.len(), Block::ZERO);
            let first = first + first_of_part as u64;
            let numbers = (first..).step_by(ROWS_PER_TASK);
            let parts = part.chunks(ROWS_PER_TASK).zip(strings.chunks_mut(ROWS_PER_TASK));
            pool.for_each(numbers.zip(parts).collect(), |(first, (rows, strings))| {
                let numbered = rows.iter().enumerate().map(|(i, row)| (first + i as u64, *row));
                hash.strings(numbered, strings);
            });
            consume(first_of_part, &strings);
        });
        strings.zeroize();
        result
    }
}

/// The party that can compute the string of any value in each row.
pub struct Sender {
    rows: kk13::Sender,
    hash: RowHash,
}

impl Sender {
    /// Runs the setup.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let rows = kk13::Sender::setup(ctx, session)?;
        Ok(Self { rows, hash: RowHash::new(session) })
    }

    /// What gives the strings of `rows` rows, as many as the receiver has choices: to `consume` in order,
    /// some thousands at a time, with the number of the first of them in this extension.
    ///
    /// # Errors
    /// Of the connection.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        rows: usize,
        mut consume: impl FnMut(usize, Strings<'_>),
    ) -> Result<()> {
        let first = self.rows.next_row();
        let masks = self.rows.masks();
        let hash = &self.hash;
        self.rows.extend(ctx, rows, |first_of_part, rows| {
            let first = first + first_of_part as u64;
            consume(first_of_part, Strings { masks: &masks, hash, first, rows });
        })
    }
}

/// Rows of a sender, and what computes their strings.
pub struct Strings<'a> {
    masks: &'a Masks,
    hash: &'a RowHash,
    first: u64,
    rows: &'a [Row],
}

impl Strings<'_> {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sets `out[n]` to the string of value `wanted[n].1` in row `wanted[n].0`, the first of these rows
    /// being number 0.
    ///
    /// # Panics
    /// If there is no such row, or not a place for each string.
    pub fn compute(&self, wanted: &[(u32, u8)], out: &mut [Block]) {
        let masked = wanted.iter().map(|(row, value)| {
            let mut string = self.rows[*row as usize];
            let mask = self.masks.of(*value);
            string.iter_mut().zip(mask).for_each(|(string, mask)| *string ^= mask);
            (self.first + u64::from(*row), string)
        });
        self.hash.strings(masked, out);
    }
}
