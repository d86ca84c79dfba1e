//! # Random 1-out-of-N transfer
//!
//! The hashed rows of [`kk13`]. The receiver has the string of its choice in each row. The sender
//! can compute the string of any value in any row. The strings look independent and random.
//!
//! The string of value c in row i is BLAKE3, keyed by the session, of q_i ⊕ (C(c) ∧ s) and i. It is
//! correlation robust, since i counts over all extensions of a setup.

use super::ReceiverSetup;
use super::kk13::{self, Choice, Masks, Row};
use vesica_core::hash::derive;
use vesica_core::{Block, Result, SessionId};
use vesica_net::Context;
use vesica_simd::short_hash::{BLOCK_LEN, INPUTS, keyed_hash_16};
use zeroize::{Zeroize, Zeroizing};

const STRING: &str = "vesica ot 2026 KK13 string";

/// Hash input: a row and its number.
const INPUT_LEN: usize = size_of::<Row>() + size_of::<u64>();

/// Rows per task of a CPU thread.
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

    /// The string of each pair of row number and row, computed sixteen at a time.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn strings(&self, rows: impl ExactSizeIterator<Item = (u64, Row)>, out: &mut [Block]) {
        assert_eq!(rows.len(), out.len(), "one output per row");
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

/// The party with one value for each row.
pub struct Receiver {
    rows: kk13::Receiver,
    hash: RowHash,
}

impl Receiver {
    /// Runs the setup.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let setup = ReceiverSetup::send(ctx, session)?;
        Self::new(ctx, setup, session)
    }

    /// Finishes a setup: receives the sender's answer.
    ///
    /// # Errors
    /// As [`setup`](Receiver::setup).
    pub fn new(ctx: &mut Context, setup: ReceiverSetup, session: &SessionId) -> Result<Self> {
        Ok(Self { rows: kk13::Receiver::new(ctx, setup)?, hash: RowHash::new(session) })
    }

    /// Passes the strings of `choices` to `consume` in order, a few thousand at a time, with the
    /// index of the first of them in this extension.
    ///
    /// # Errors
    /// Connection errors.
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
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let rows = kk13::Sender::setup(ctx, session)?;
        Ok(Self { rows, hash: RowHash::new(session) })
    }

    /// Extends by `rows` rows, the number of the receiver's choices. Passes [`Strings`] to
    /// `consume` in order, for a few thousand rows at a time, with the index of the first of them
    /// in this extension.
    ///
    /// # Errors
    /// Connection errors.
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

/// The sender's rows, for computing their strings.
pub struct Strings<'a> {
    masks: &'a Masks,
    hash: &'a RowHash,
    first: u64,
    rows: &'a [Row],
}

impl Strings<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sets `out[n]` to the string of value `wanted[n].1` in row `wanted[n].0`, an index into these
    /// rows.
    ///
    /// # Panics
    /// If a row is out of range, or the lengths differ.
    pub fn compute(&self, wanted: &[(u32, u8)], out: &mut [Block]) {
        let masked = wanted.iter().map(|(row, value)| {
            let mut string = self.rows[*row as usize];
            let mask = self.masks.get(*value);
            string.iter_mut().zip(mask).for_each(|(string, mask)| *string ^= mask);
            (self.first + u64::from(*row), string)
        });
        self.hash.strings(masked, out);
    }
}
