//! # GMW: computation on secret shares
//!
//! O. Goldreich, S. Micali, A. Wigderson, "How to play any mental game", STOC 1987, with
//! multiplication triples (D. Beaver, CRYPTO 1991) from silent OT. Each party holds a share of
//! every bit; the bit is the XOR of the shares.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, if silent OT is ([`vesica_ot::silent::cot`]) and π(x) ⊕ x is correlation robust |
//! | flights | 3, then one for each call for gates; [`flights`] |
//! | bytes | 2 bits per gate and party, and the OTs; [`bytes`] |
//! | work | two OTs per gate |
//!
//! ```text
//!   sender: x_0, y_0                          receiver: x_1, y_1      x = x_0 + x_1, y = y_0 + y_1
//!   triple a_0, b_0, c_0                      a_1, b_1, c_1           (a_0 + a_1)(b_0 + b_1) = c_0 + c_1
//!          ─────  x_0 + a_0, y_0 + b_0  ─────▶
//!          ◀────  x_1 + a_1, y_1 + b_1  ──────
//!   d = x + a, e = y + b                      d, e
//!   z_0 = c_0 + d·b_0 + e·a_0 + d·e           z_1 = c_1 + d·b_1 + e·a_1
//! ```
//!
//! A party's private input is its share, and the other party's share is zero. Inputs cost no
//! message, because every gate masks its inputs.
//!
//! [`iknp`] has the triples as they were published, from IKNP.

mod bins;
pub mod iknp;
mod known;
mod messages;
mod sizes;
mod transfers;
mod triples;

use crate::gadgets::all;
use crate::{Bins, BitLanes, Computation, Cost, EachBins, Gates, InBins, Known, Lanes, Reveal};
use known::LaneBlock;
pub(crate) use sizes::{digits_len, parts};
use transfers::{PIECE, Transfers};
use vesica_core::{Block, Error, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};

/// Lanes per call: many, because each call is a round, but few enough that their shares stay small.
const LANES_AT_ONCE: usize = 1 << 23;

/// One party of a computation on shares.
pub struct Gmw<'c> {
    ctx: &'c mut Context,
    role: Role,
    ot_receiver: Role,
    transfers: Transfers,
    triples: triples::Source,
    known: known::Source,
    /// Words of gates evaluated so far, and in total.
    words: [u64; 2],
}

/// Words per message of a result.
const WORDS_AT_ONCE: usize = 1 << 15;

/// A [`crate::Counting`] that counts as this evaluator works.
pub fn counting() -> crate::Counting {
    crate::Counting::shared(LANES_AT_ONCE)
}

/// Number of random OTs in a computation.
pub fn transfers(cost: &Cost) -> u64 {
    let pieces = cost.count.words.div_ceil(triples::WORDS_PER_PIECE as u64)
        + cost.count.known_blocks.div_ceil(known::BLOCKS_PER_PIECE as u64)
        + cost.bins.iter().map(sizes::pieces).sum::<u64>();
    pieces * PIECE as u64
}

/// Payload bytes of a computation; `ot_receiver` is as in [`Gmw::new`].
pub fn bytes(cost: &Cost, ot_receiver: Role) -> Traffic {
    let transfers = transfers::bytes(transfers(cost));
    let transfers = if ot_receiver == Role::Receiver { transfers } else { transfers.reversed() };
    transfers + messages::circuit_bytes(cost)
}

/// Flights of a computation; `ot_receiver` is as in [`Gmw::new`]. If comparisons in bins take more
/// than one extension of the transfers, it is the most: an extension can fall where the direction
/// changes anyway.
pub fn flights(cost: &Cost, ot_receiver: Role) -> u64 {
    let setup = transfers::flights(transfers(cost));
    // Each extension after the first interrupts the receiver's corrections.
    let interrupted =
        if cost.bins.is_empty() { 0 } else { transfers::extensions_len(transfers(cost)) - 1 };
    // Comparisons in bins begin with the receiver, which ends the setup where it takes the shorter
    // way. Without gates the first result follows a message of its own sender.
    let last = match ot_receiver {
        _ if !cost.bins.is_empty() => Role::Sender,
        role if setup.is_multiple_of(2) => role,
        Role::Sender => Role::Receiver,
        _ => Role::Sender,
    };
    let is_next = match cost.results.first() {
        Some((_, Reveal::Receiver)) => last == Role::Sender,
        Some((_, Reveal::Sender)) => last != Role::Sender,
        _ => false,
    };
    let first_bins_join = !cost.bins.is_empty() && setup.is_multiple_of(2);
    let joined = u64::from(first_bins_join) + u64::from(cost.count.rounds == 0 && is_next);
    setup
        + cost.count.rounds
        + 2 * (cost.bins.len() as u64 + interrupted)
        + cost.results.len() as u64
        - joined
}

impl<'c> Gmw<'c> {
    /// Sets up for a computation that costs at most `cost`.
    ///
    /// The party in role `ot_receiver` is the receiver of the OTs: the sender of the circuit for
    /// one-sided gates, the receiver of the circuit for comparisons in bins.
    ///
    /// # Errors
    /// Connection errors; [`vesica_core::Misbehaviour`] in the OTs.
    pub fn new(
        ctx: &'c mut Context,
        session: &SessionId,
        role: Role,
        ot_receiver: Role,
        cost: &Cost,
    ) -> Result<Self> {
        let transfers = ctx.child("transfers", |ctx| {
            let mut transfers = Transfers::setup(ctx, session, role, ot_receiver, transfers(cost))?;
            transfers.prepare(ctx)?;
            Ok::<_, Error>(transfers)
        })?;
        Ok(Self {
            ctx,
            role,
            ot_receiver,
            transfers,
            triples: triples::Source::default(),
            known: known::Source::default(),
            words: [0, cost.count.words],
        })
    }

    /// Sets up for a computation that costs at most `cost`, with triples from IKNP, as published:
    /// all of them are made before the circuit and kept, three bits a gate. There are no
    /// comparisons in bins but by gates. [`iknp::bytes`], [`iknp::flights`].
    ///
    /// # Errors
    /// Connection errors; [`vesica_core::Misbehaviour`] in the OTs.
    pub fn over_iknp(
        ctx: &'c mut Context,
        session: &SessionId,
        role: Role,
        cost: &Cost,
    ) -> Result<Self> {
        let (triples, known) =
            ctx.child("transfers", |ctx| iknp::make(ctx, session, role, &cost.count))?;
        Ok(Self {
            ctx,
            role,
            ot_receiver: iknp::CHOOSER,
            transfers: Transfers::made(session),
            triples,
            known,
            words: [0, cost.count.words],
        })
    }

    /// Whether this party is the sender of the OTs of one-sided gates.
    fn is_ot_sender(&self) -> bool {
        self.role != self.ot_receiver
    }

    /// Exchanges shares: sends `mine`, and returns as many words from the other party.
    fn exchange(&mut self, mine: &[u64]) -> Result<Vec<u64>> {
        let mut theirs = vec![0; 8 * mine.len()];
        self.ctx.peer()?.exchange(&to_bytes(mine), &mut theirs)?;
        Ok(to_words(&theirs))
    }
}

impl Gates for Gmw<'_> {
    type Wires = BitLanes;

    fn constant(&mut self, bit: bool, len: usize) -> BitLanes {
        BitLanes::constant(bit && self.role == Role::Sender, len)
    }

    fn xor(&self, a: &BitLanes, b: &BitLanes) -> BitLanes {
        a.xor(b)
    }

    fn not(&self, a: &BitLanes) -> BitLanes {
        if self.role == Role::Sender { a.not() } else { a.clone() }
    }

    fn and(&mut self, pairs: &[(&BitLanes, &BitLanes)]) -> Result<Vec<BitLanes>> {
        let words: usize = pairs.iter().map(|(a, _)| a.words().len()).sum();
        let triples = self.triples.take(self.ctx, &mut self.transfers, words)?;
        let mut mine = Vec::with_capacity(2 * words);
        let mut first = 0;
        for (x, y) in pairs {
            assert_eq!(x.len(), y.len(), "the same number of lanes");
            let n = x.words().len();
            mine.extend(x.words().iter().zip(&triples.a[first..]).map(|(x, a)| x ^ a));
            mine.extend(y.words().iter().zip(&triples.b[first..]).map(|(y, b)| y ^ b));
            first += n;
        }
        let mut opened = self.exchange(&mine)?;
        opened.iter_mut().zip(&mine).for_each(|(theirs, mine)| *theirs ^= mine);
        self.words[0] += words as u64;
        self.ctx.progress(self.words[0], self.words[1].max(self.words[0]));
        let with_both = if self.role == Role::Sender { u64::MAX } else { 0 };
        let mut results = Vec::with_capacity(pairs.len());
        let mut first = 0;
        for (x, _) in pairs {
            let n = x.words().len();
            let (d, e) = opened[2 * first..2 * (first + n)].split_at(n);
            let of = first..first + n;
            let z = d.iter().zip(e).zip(&triples.a[of.clone()]).zip(&triples.b[of.clone()]);
            let z = z
                .zip(&triples.c[of])
                .map(|((((d, e), a), b), c)| c ^ d & b ^ e & a ^ with_both & d & e);
            results.push(BitLanes::from_words(z.collect(), x.len()));
            first += n;
        }
        Ok(results)
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&BitLanes])]) -> Result<Vec<Vec<BitLanes>>> {
        if self.ot_receiver != Role::Sender {
            return Err(Error::Bug(
                "one-sided gates need the generator as the receiver of the OTs",
            ));
        }
        let mut work = Vec::new();
        for (i, (known, wires)) in lists.iter().enumerate() {
            for (j, part) in wires.chunks(known::LANES).enumerate() {
                for block in 0..known.len().div_ceil(known::LANES) {
                    let lanes = self.known.take(self.ctx, &mut self.transfers)?;
                    work.push((i, j * known::LANES, part, block, lanes));
                }
            }
        }
        // The OTs yield shares of r times the evaluator's share of each wire, for random r. The
        // generator sends the difference of r and the known bit.
        let to_evaluator = work.len();
        let to_generator: usize = work.iter().map(|(_, _, part, ..)| part.len()).sum();
        let mut mine = Vec::new();
        let mut reply = Vec::new();
        for (i, _, part, block, lanes) in &work {
            match lanes {
                LaneBlock::Sender { pads: _, sums } => {
                    let masked = part.iter().zip(sums).map(|(w, sum)| block_of(w, *block) ^ *sum);
                    mine.extend(masked);
                }
                LaneBlock::Receiver { choices, .. } => {
                    mine.push(known_block(&lists[*i].0, *block)? ^ *choices);
                }
            }
        }
        let theirs = if self.is_ot_sender() { to_evaluator } else { to_generator };
        reply.resize(theirs, Block::ZERO);
        self.ctx.peer()?.exchange(Block::as_bytes(&mine), Block::as_bytes_mut(&mut reply))?;

        let mut results: Vec<Vec<Vec<u64>>> =
            lists.iter().map(|(_, wires)| vec![Vec::new(); wires.len()]).collect();
        let mut reply = reply.iter();
        let missing = Error::Bug("a counted block of the reply is missing");
        for (i, first, part, block, lanes) in &work {
            let difference = if self.is_ot_sender() {
                *reply.next().ok_or(missing.clone())?
            } else {
                known_block(&lists[*i].0, *block)?
            };
            for (k, wires) in part.iter().enumerate() {
                let own = block_of(wires, *block);
                let share = match lanes {
                    LaneBlock::Sender { pads, .. } => pads[k] ^ (difference & own),
                    LaneBlock::Receiver { choices, pads } => {
                        let masked = *reply.next().ok_or(missing.clone())?;
                        pads[k] ^ (*choices & masked) ^ (difference & own)
                    }
                };
                let share = share.get();
                results[*i][first + k].extend([share as u64, (share >> 64) as u64]);
            }
        }
        let lanes = |(words, (known, _)): (Vec<Vec<u64>>, &(Known<'_>, &[&BitLanes]))| {
            words.into_iter().map(|words| BitLanes::from_words(words, known.len())).collect()
        };
        Ok(results.into_iter().zip(lists).map(lanes).collect())
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn prefers_depth(&self) -> bool {
        true
    }
}

impl Computation for Gmw<'_> {
    fn role(&self) -> Role {
        self.role
    }

    fn input(
        &mut self,
        of: Role,
        bits: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<BitLanes>> {
        match (of == self.role, bits) {
            (true, Some(bits)) if bits.len() == width && bits.iter().all(|b| b.len() == len) => {
                Ok(bits.iter().map(BitLanes::from).collect())
            }
            (false, None) => Ok(vec![BitLanes::constant(false, len); width]),
            _ => Err(Error::Bug("private input at the wrong party or of the wrong size")),
        }
    }

    fn reveal(&mut self, wires: &[BitLanes], to: Reveal) -> Result<Option<Vec<Bits>>> {
        let mine = BitLanes::concat(wires);
        let theirs = match to {
            Reveal::Both => self.exchange(mine.words())?,
            _ if to.includes(self.role) => {
                let mut theirs = Vec::with_capacity(mine.words().len());
                for part in mine.words().chunks(WORDS_AT_ONCE) {
                    theirs.extend(to_words(&self.ctx.peer()?.recv(8 * part.len())?));
                }
                theirs
            }
            _ => {
                for part in mine.words().chunks(WORDS_AT_ONCE) {
                    self.ctx.peer()?.send(&to_bytes(part))?;
                }
                return Ok(None);
            }
        };
        let values = BitLanes::from_words(theirs, mine.len()).xor(&mine);
        let mut first = 0;
        let values = wires.iter().map(|wires| {
            first += wires.len();
            Bits::from(&values.slice(first - wires.len(), wires.len()))
        });
        Ok(Some(values.collect()))
    }

    fn context(&mut self) -> Option<&mut Context> {
        Some(self.ctx)
    }

    /// The digits by OTs of tables, see the module `bins`; AND gates then combine them.
    fn equal_in_bins(
        &mut self,
        bins: &Bins,
        mine: Option<InBins<'_>>,
        _none: u128,
        each: EachBins<'_, Self>,
    ) -> Result<()> {
        let missing = Error::Bug("values of bins at the wrong party or of the wrong number");
        for (first, part) in parts(bins) {
            let digits = match mine {
                Some(InBins::Candidates(of)) => {
                    let of = |bin: usize, out: &mut Vec<u128>| of(first + bin, out);
                    self.digits_in_bins(&part, InBins::Candidates(&of))?
                }
                Some(InBins::Values(values)) => {
                    let values = values.get(first..first + part.count).ok_or(missing.clone())?;
                    self.digits_in_bins(&part, InBins::Values(values))?
                }
                None => return Err(missing),
            };
            let is_equal = all(self, digits)?;
            each(self, first, is_equal)?;
        }
        Ok(())
    }

    fn reveal_checked(&mut self, wires: &[BitLanes]) -> Result<Vec<Bits>> {
        let values = self.reveal(wires, Reveal::Both)?;
        values.ok_or(Error::Bug("a result for both parties reaches both"))
    }
}

/// The 128 lanes of `wires` that start at lane 128·`block`.
fn block_of(wires: &BitLanes, block: usize) -> Block {
    let word = |i: usize| u128::from(wires.words().get(i).copied().unwrap_or(0));
    Block::new(word(2 * block) | word(2 * block + 1) << 64)
}

/// Like [`block_of`], for known bits.
fn known_block(known: &Known<'_>, block: usize) -> Result<Block> {
    match known {
        Known::Mine(bits) => Ok(bits.blocks()[block]),
        Known::Theirs { .. } => {
            Err(Error::Bug("only the generator knows the bits of one-sided gates"))
        }
    }
}

fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
