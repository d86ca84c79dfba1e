//! # GMW: computation on shares
//!
//! O. Goldreich, S. Micali, A. Wigderson, "How to play any mental game", STOC 1987, with multiplication triples
//! (D. Beaver, CRYPTO 1991) from silent transfers. Each party holds a share of every bit; the bit is their sum.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of silent transfers ([`vesica_ot::silent::cot`]) and of π(x) ⊕ x as a correlation-robust hash |
//! | flights | 3, then one for each call for gates; [`flights`] |
//! | bytes | 2 bits a gate and party, and the transfers; [`bytes`] |
//! | work | two transfers a gate |
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
//! Private inputs are shares as they are, the other party's being zero: nothing is sent for them, as every
//! gate masks its inputs.

mod bins;
mod known;
mod transfers;
mod triples;

use crate::gadgets::all;
use crate::{Bins, BitLanes, Computation, Cost, EachBins, Gates, InBins, Known, Lanes, Reveal};
use known::LaneBlock;
use transfers::{PIECE, Transfers};
use vesica_core::{Block, Error, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};

/// Lanes that circuits work on at a time: a round each, and few enough that their shares stay small.
const LANES_AT_ONCE: usize = 1 << 23;

/// One party of a computation on shares.
pub struct Gmw<'c> {
    ctx: &'c mut Context,
    role: Role,
    chooser: Role,
    transfers: Transfers,
    triples: triples::Source,
    known: known::Source,
    /// Words of gates done, and all of them.
    words: [u64; 2],
}

/// Words of a result in one message.
const WORDS_AT_ONCE: usize = 1 << 15;

/// Lanes of slots that are compared in bins at a time.
const SLOTS_AT_ONCE: usize = 1 << 26;

/// What [`crate::Counting`] has to count like, for the costs of a computation on shares.
pub fn counting() -> crate::Counting {
    crate::Counting::shared(LANES_AT_ONCE)
}

/// How many random transfers a computation takes.
pub fn transfers(cost: &Cost) -> u64 {
    let pieces = cost.count.words.div_ceil(triples::WORDS_PER_PIECE as u64)
        + cost.count.known_blocks.div_ceil(known::BLOCKS_PER_PIECE as u64)
        + cost.bins.iter().map(bins::pieces).sum::<u64>();
    pieces * PIECE as u64
}

/// Payload bytes of a computation; `chooser` is as in [`Gmw::new`].
pub fn bytes(cost: &Cost, chooser: Role) -> Traffic {
    let transfers = transfers::bytes(transfers(cost));
    let transfers = if chooser == Role::Receiver { transfers } else { transfers.reversed() };
    let open = 16 * cost.count.words;
    let gates = Traffic {
        sender_to_receiver: open + 16 * cost.count.known_blocks,
        receiver_to_sender: open + 16 * cost.count.known_words,
    };
    let bins = cost.bins.iter().map(bins::bytes);
    let results = cost.results.iter().map(|(bits, to)| reveal_bytes(*bits, *to));
    bins.chain(results).fold(transfers + gates, |sum, bytes| sum + bytes)
}

/// Flights of a computation, unless small sizes make it take fewer.
pub fn flights(cost: &Cost) -> u64 {
    let setup = transfers::flights(transfers(cost));
    // The receiver's corrections wait where an extension comes between them.
    let interrupted =
        if cost.bins.is_empty() { 0 } else { transfers::extensions_len(transfers(cost)) - 1 };
    setup
        + cost.count.rounds
        + 2 * (cost.bins.len() as u64 + interrupted)
        + cost.results.len() as u64
}

fn reveal_bytes(bits: u64, to: Reveal) -> Traffic {
    let bytes = bits.div_ceil(64) * 8;
    Traffic {
        sender_to_receiver: if to.to(Role::Receiver) { bytes } else { 0 },
        receiver_to_sender: if to.to(Role::Sender) { bytes } else { 0 },
    }
}

/// The parts of a comparison in bins that are done together.
pub(crate) fn parts(bins: &Bins) -> impl Iterator<Item = (usize, Bins)> + use<> {
    let bins = *bins;
    let at_once = (SLOTS_AT_ONCE / bins.slots.max(1)).max(1);
    (0..bins.count)
        .step_by(at_once)
        .map(move |first| (first, Bins { count: at_once.min(bins.count - first), ..bins }))
}

/// How many digits of at most four bits a value of `width` bits has.
pub(crate) fn digits_len(width: usize) -> usize {
    bins::digits(width).len()
}

impl<'c> Gmw<'c> {
    /// Sets up for a computation that takes no more than `cost`.
    ///
    /// The party in role `chooser` chooses in the transfers: the sender where the circuit has one-sided gates, the
    /// receiver where bins are compared.
    ///
    /// # Errors
    /// Of the connection; [`vesica_core::Misbehaviour`] of the transfers.
    pub fn new(
        ctx: &'c mut Context,
        session: &SessionId,
        role: Role,
        chooser: Role,
        cost: &Cost,
    ) -> Result<Self> {
        let transfers = ctx.child("transfers", |ctx| {
            let mut transfers = Transfers::setup(ctx, session, role, chooser, transfers(cost))?;
            transfers.prepare(ctx)?;
            Ok::<_, Error>(transfers)
        })?;
        Ok(Self {
            ctx,
            role,
            chooser,
            transfers,
            triples: triples::Source::default(),
            known: known::Source::default(),
            words: [0, cost.count.words],
        })
    }

    /// The shares of the other party, as many words as `mine`.
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
            assert_eq!(x.len(), y.len(), "equally many lanes");
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
        if self.chooser != Role::Sender {
            return Err(Error::Bug(
                "one-sided gates need transfers in which the generator chooses",
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
        // Shares of r times the evaluator's share of each wire, r being random; and how the known bit differs.
        let to_evaluator = work.len();
        let to_generator: usize = work.iter().map(|(_, _, part, ..)| part.len()).sum();
        let mut mine = Vec::new();
        let mut reply = Vec::new();
        for (i, _, part, block, lanes) in &work {
            match lanes {
                LaneBlock::Given { pads: _, sums } => {
                    let masked = part.iter().zip(sums).map(|(w, sum)| block_of(w, *block) ^ *sum);
                    mine.extend(masked);
                }
                LaneBlock::Chosen { choices, .. } => {
                    mine.push(known_block(&lists[*i].0, *block)? ^ *choices);
                }
            }
        }
        let theirs = if self.transfers.is_giver() { to_evaluator } else { to_generator };
        reply.resize(theirs, Block::ZERO);
        self.ctx.peer()?.exchange(Block::as_bytes(&mine), Block::as_bytes_mut(&mut reply))?;

        let mut results: Vec<Vec<Vec<u64>>> =
            lists.iter().map(|(_, wires)| vec![Vec::new(); wires.len()]).collect();
        let mut reply = reply.iter();
        let missing = Error::Bug("a block of the reply was counted and is missing");
        for (i, first, part, block, lanes) in &work {
            let difference = if self.transfers.is_giver() {
                *reply.next().ok_or(missing.clone())?
            } else {
                known_block(&lists[*i].0, *block)?
            };
            for (k, wires) in part.iter().enumerate() {
                let own = block_of(wires, *block);
                let share = match lanes {
                    LaneBlock::Given { pads, .. } => pads[k] ^ (difference & own),
                    LaneBlock::Chosen { choices, pads } => {
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
            _ => Err(Error::Bug("private bits are not where they belong")),
        }
    }

    fn reveal(&mut self, wires: &[BitLanes], to: Reveal) -> Result<Option<Vec<Bits>>> {
        let mine = BitLanes::concat(wires);
        let theirs = match to {
            Reveal::Both => self.exchange(mine.words())?,
            _ if to.to(self.role) => {
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

    /// The first digits by transfers of tables, see the module `bins`; then gates join them.
    fn equal_in_bins(
        &mut self,
        bins: &Bins,
        mine: Option<InBins<'_>>,
        _none: u128,
        each: EachBins<'_, Self>,
    ) -> Result<()> {
        let missing = Error::Bug("the values of bins are not where they belong");
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
        values.ok_or(Error::Bug("a result for both is nobody's"))
    }
}

/// Lanes 128·`block` and on of `wires`.
fn block_of(wires: &BitLanes, block: usize) -> Block {
    let word = |i: usize| u128::from(wires.words().get(i).copied().unwrap_or(0));
    Block::new(word(2 * block) | word(2 * block + 1) << 64)
}

/// The same of known bits.
fn known_block(known: &Known<'_>, block: usize) -> Result<Block> {
    match known {
        Known::Mine(bits) => Ok(bits.blocks()[block]),
        Known::Theirs { .. } => Err(Error::Bug("the generator knows the bits of one-sided gates")),
    }
}

fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
