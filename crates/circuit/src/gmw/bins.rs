//! Compares one value of the receiver with several of the sender's, bin by bin.
//!
//! The first layers of an equality circuit work on private inputs, and one of the two is the same
//! for all slots of a bin. OTs of tables replace these layers. For each digit of at most four bits,
//! the receiver obtains the entry for its own digit from a table of the sender. The entry states
//! for each slot, under a mask, whether the slot's digit matches. The masks are the sender's
//! shares. (One-out-of-N OT from one-out-of-two; the first level of comparison of N. Chandran, D.
//! Gupta, A. Shah, PoPETs 2022.) AND gates combine the digits.
//!
//! For the digit with bits y_i, correlated OTs with random choices r_i, M_i = K_i + r_i·Δ, are
//! summed with weights x^i in GF(2^128). The receiver has M = K + r·Δ for its random digit r; the
//! sender has K. π(X) ⊕ X for X = K + v·Δ pads the table's entry for v: at most 15 different
//! multiples of Δ. The receiver sends y + r, and the sender rotates the table by it.

use super::sizes::{DIGIT_BITS, bins_of_pieces, bytes_len, digits, table_bits};
use super::{Gmw, transfers::Transfers};
use crate::{Bins, BitLanes, InBins};
use std::collections::VecDeque;
use vesica_core::{Block, Error, Result, Role, Secret};
use zeroize::Zeroize;

/// Values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;

/// Pieces of OTs whose corrections the receiver sends ahead of the tables.
const PIECES_AHEAD: usize = 64;

impl Gmw<'_> {
    /// For each digit, lowest first: the slots whose digit equals the receiver's, one lane per
    /// slot, bin after bin. Empty slots differ in every digit.
    ///
    /// Two flights, if the receiver can send its corrections for all bins at once.
    ///
    /// # Errors
    /// Connection errors; [`Error::Bug`] if this party passes the other party's input.
    pub(super) fn digits_in_bins(
        &mut self,
        bins: &Bins,
        mine: InBins<'_>,
    ) -> Result<Vec<BitLanes>> {
        if bins.slots > Bins::MAX_SLOTS {
            return Err(Error::Bug("too many slots in a bin"));
        }
        let mut shares: Vec<Lane> = digits(bins.width).iter().map(|_| Lane::default()).collect();
        match mine {
            InBins::Candidates(candidates) if self.role == Role::Sender => {
                self.send_tables(bins, candidates, &mut shares)?;
            }
            InBins::Values(values) if values.len() == bins.count && self.role == Role::Receiver => {
                self.choose_from_tables(bins, values, &mut shares)?;
            }
            _ => {
                return Err(Error::Bug("values of bins at the wrong party or of the wrong number"));
            }
        }
        Ok(shares.into_iter().map(Lane::into_lanes).collect())
    }

    fn send_tables(
        &mut self,
        bins: &Bins,
        candidates: &dyn Fn(usize, &mut Vec<u128>),
        shares: &mut [Lane],
    ) -> Result<()> {
        let delta = self
            .transfers
            .delta()
            .ok_or(Error::Bug("the sender of bins is the sender of the OTs"))?;
        let mut multiples = Secret::new([Block::ZERO; DIGITS]);
        let table = multiples.expose_mut();
        for v in 1..DIGITS {
            table[v] = times_x(table[v / 2]) ^ (*delta.expose() & Block::mask(v % 2 == 1));
        }
        let digits = digits(bins.width);
        let mut values = Vec::with_capacity(bins.slots);
        for part in bins_of_pieces(bins) {
            let keys = Secret::new(self.transfers.correlated(self.ctx)?);
            let hash = self.transfers.hash();
            let corrections = self.ctx.peer()?.recv(bytes_len(part.len() * bins.width) as usize)?;
            let mut corrections = Reader::new(&corrections);
            let mut pads = Secret::new(Vec::with_capacity(part.len() * digits.len() * DIGITS));
            let mut keys = keys.expose().iter();
            for _ in part.clone() {
                for bits in &digits {
                    let key = weighted(&mut keys, *bits);
                    pads.expose_mut().extend(
                        multiples.expose()[..1 << bits].iter().map(|multiple| key ^ *multiple),
                    );
                }
            }
            hash.mmo(pads.expose_mut());
            let mut tables = Writer::with_capacity(part.len() * table_bits(bins));
            let mut rest = &pads.expose()[..];
            for bin in part.clone() {
                values.clear();
                candidates(bin, &mut values);
                if values.len() > bins.slots {
                    return Err(Error::Bug("a bin has more candidates than slots"));
                }
                let mut shift = 0;
                for (bits, shares) in digits.iter().zip(&mut *shares) {
                    let turn = corrections.next(*bits) as usize;
                    let (pads, later) = rest.split_at(1 << bits);
                    rest = later;
                    let mut equal = [0_u128; DIGITS];
                    for (slot, value) in values.iter().enumerate() {
                        equal[(value >> shift) as usize & ((1 << bits) - 1)] |= 1 << slot;
                    }
                    let share = pads[turn].get() ^ equal[0];
                    shares.push(share, bins.slots);
                    for v in 1..1 << bits {
                        tables.push(pads[v ^ turn].get() ^ equal[v] ^ share, bins.slots);
                    }
                    shift += bits;
                }
            }
            self.ctx.peer()?.send(&tables.into_bytes())?;
            self.ctx.progress(part.end as u64, bins.count as u64);
        }
        values.zeroize();
        Ok(())
    }

    fn choose_from_tables(
        &mut self,
        bins: &Bins,
        values: &[u128],
        shares: &mut [Lane],
    ) -> Result<()> {
        let digits = digits(bins.width);
        let mut sent = VecDeque::new();
        let mut ahead = bins_of_pieces(bins);
        for part in bins_of_pieces(bins) {
            while sent.len() < PIECES_AHEAD {
                // The sender extends the OTs after it has sent all earlier tables, so the receiver
                // reads those first.
                if self.transfers.is_used_up() && !sent.is_empty() {
                    break;
                }
                let Some(part) = ahead.next() else { break };
                let (corrections, pads) =
                    chosen(self.ctx, &mut self.transfers, &digits, &values[part])?;
                self.ctx.peer()?.send(&corrections)?;
                sent.push_back(pads);
            }
            let pads = sent.pop_front().ok_or(Error::Bug("corrections come before tables"))?;
            let tables = self.ctx.peer()?.recv(bytes_len(part.len() * table_bits(bins)) as usize)?;
            let mut tables = Reader::new(&tables);
            let mut pads_left = pads.expose().iter();
            for bin in part.clone() {
                let mut shift = 0;
                for (bits, shares) in digits.iter().zip(&mut *shares) {
                    let own = (values[bin] >> shift) as usize & ((1 << bits) - 1);
                    let mut share = pads_left.next().map_or(0, |pad| pad.get());
                    for v in 1..1 << bits {
                        // Every entry is read in the same way, so the access pattern does not
                        // depend on the choice.
                        let is_own = u128::from(v == own).wrapping_neg();
                        share ^= tables.next(bins.slots) & is_own;
                    }
                    shares.push(share, bins.slots);
                    shift += bits;
                }
            }
            self.ctx.progress(part.end as u64, bins.count as u64);
        }
        Ok(())
    }
}

/// The corrections for the digits of `values`, and the pad of each digit.
fn chosen(
    ctx: &mut vesica_net::Context,
    transfers: &mut Transfers,
    digits: &[usize],
    values: &[u128],
) -> Result<(Vec<u8>, Secret<Vec<Block>>)> {
    let messages = Secret::new(transfers.correlated(ctx)?);
    let hash = transfers.hash();
    let width: usize = digits.iter().sum();
    let mut corrections = Writer::with_capacity(values.len() * width);
    let mut pads = Vec::with_capacity(values.len() * digits.len());
    let mut rest = &messages.expose()[..];
    for value in values {
        let mut shift = 0;
        for bits in digits {
            let (now, later) = rest.split_at(*bits);
            rest = later;
            let choices = now.iter().rev().fold(0, |r, m| r << 1 | u128::from(m.bit(0)));
            corrections.push(value >> shift ^ choices, *bits);
            pads.push(weighted(&mut now.iter(), *bits));
            shift += bits;
        }
    }
    let mut pads = Secret::new(pads);
    hash.mmo(pads.expose_mut());
    Ok((corrections.into_bytes(), pads))
}

/// Σ x^i·b_i over the next `count` blocks.
fn weighted<'a>(blocks: &mut impl Iterator<Item = &'a Block>, count: usize) -> Block {
    let mut next = [Block::ZERO; DIGIT_BITS];
    next.iter_mut().zip(blocks.take(count)).for_each(|(to, block)| *to = *block);
    next[..count].iter().rev().fold(Block::ZERO, |sum, block| times_x(sum) ^ *block)
}

/// x·b in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1.
fn times_x(block: Block) -> Block {
    let overflow = Block::mask(block.bit(127));
    Block::new(block.get() << 1) ^ (overflow & Block::new(0x87))
}

/// Appends bit strings to whole words, without gaps.
#[derive(Default)]
struct Writer {
    words: Vec<u64>,
    len: usize,
}

impl Writer {
    fn with_capacity(bits: usize) -> Self {
        Self { words: Vec::with_capacity(bits.div_ceil(64)), len: 0 }
    }

    /// Appends the lowest `bits` bits of `value`; `bits` ≤ 128.
    fn push(&mut self, value: u128, bits: usize) {
        let mut left = bits;
        let mut value = value;
        while left > 0 {
            let at = self.len % 64;
            if at == 0 {
                self.words.push(0);
            }
            let n = (64 - at).min(left);
            let mask = u64::MAX >> (64 - n);
            if let Some(last) = self.words.last_mut() {
                *last |= (value as u64 & mask) << at;
            }
            value >>= n;
            self.len += n;
            left -= n;
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        super::to_bytes(&self.words)
    }
}

/// Reads the output of a [`Writer`].
struct Reader {
    words: Vec<u64>,
    taken: usize,
}

impl Reader {
    fn new(bytes: &[u8]) -> Self {
        Self { words: super::to_words(bytes), taken: 0 }
    }

    /// The next `bits` bits, `bits` ≤ 128; zeros beyond the last word.
    fn next(&mut self, bits: usize) -> u128 {
        let (word, at) = (self.taken / 64, self.taken % 64);
        let word_at = |i: usize| u128::from(self.words.get(word + i).copied().unwrap_or(0));
        let mut value = (word_at(0) | word_at(1) << 64) >> at;
        if at + bits > 128 {
            value |= word_at(2) << (128 - at);
        }
        self.taken += bits;
        if bits < 128 { value & ((1 << bits) - 1) } else { value }
    }
}

/// Shares of the slots, bin after bin.
#[derive(Default)]
struct Lane(Writer);

impl Lane {
    fn push(&mut self, share: u128, slots: usize) {
        self.0.push(share, slots);
    }

    fn into_lanes(self) -> BitLanes {
        BitLanes::from_words(self.0.words, self.0.len)
    }
}
