//! # Triples from IKNP, as published
//!
//! G. Asharov, Y. Lindell, T. Schneider, M. Zohner, "More efficient oblivious transfer and
//! extensions for faster secure computation", ACM CCS 2013, §5.4; the OTs go both ways as in T.
//! Schneider, M. Zohner, "GMW vs. Yao?", FC 2013, and D. Demmler, T. Schneider, M. Zohner, "ABY",
//! NDSS 2015.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, if IKNP is ([`vesica_ot::softspoken`] with one bit) and π(x) ⊕ x is correlation robust |
//! | flights | 2, then one for each call for gates; [`flights`] |
//! | bytes | of each party, 127 bits for the OTs of a gate and 2 for the gate; [`bytes`] |
//! | memory | three bits a gate, and 32 bytes for each lane of one-sided gates |
//!
//! ```text
//!   sender                                    receiver
//!
//!   m_0, m_1                ── random OT ─▶   r, m_r             m_r = m_0 + r·(m_0 + m_1)
//!   s, n_s                  ◀─ random OT ──   n_0, n_1           n_s = n_0 + s·(n_0 + n_1)
//!   a_0 = m_0 + m_1                           a_1 = n_0 + n_1
//!   b_0 = s                                   b_1 = r
//!   c_0 = a_0·b_0 + m_0 + n_s                 c_1 = a_1·b_1 + n_0 + m_r
//! ```
//!
//! Then c_0 + c_1 = (a_0 + a_1)(b_0 + b_1): m_0 + m_r = a_0·b_1, and n_0 + n_s = a_1·b_0.
//!
//! The two extensions run at the same time, so that both directions of the network are used. The
//! one in which the sender chooses also has the OTs of one-sided gates.

use super::messages::circuit_bytes;
use super::transfers::{PIECE, Piece};
use super::triples::Triples;
use super::{known, triples};
use crate::{Cost, Count};
use std::collections::VecDeque;
use vesica_core::{Result, Role, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::silent::pieces::Hashes;
use vesica_ot::softspoken::{self, FieldBits, Request, extend_bytes, setup_bytes};
use vesica_ot::{CotReceiver, CotSender, Traffic};
use vesica_simd::low_bits::low_bits;
use zeroize::Zeroize;

const SENDER_CHOOSES: &str = "vesica circuit 2026 IKNP, the sender chooses";
const RECEIVER_CHOOSES: &str = "vesica circuit 2026 IKNP, the receiver chooses";

/// IKNP.
const FIELD_BITS: FieldBits = FieldBits::One;

/// Who chooses in the OTs of one-sided gates: the generator, which knows their bits.
pub(super) const CHOOSER: Role = Role::Sender;

/// Flights of the two setups and extensions, which run at the same time.
const FLIGHTS: u64 = 2;

/// OTs of the triples of a computation in each direction: whole blocks of an extension.
fn triples_len(count: &Count) -> usize {
    (count.words.next_multiple_of(2) * u64::from(u64::BITS)) as usize
}

/// OTs of the one-sided gates.
fn known_len(count: &Count) -> usize {
    count.known_blocks as usize * known::LANES
}

/// Payload bytes of a computation.
pub fn bytes(cost: &Cost) -> Traffic {
    let of = |len| {
        setup_bytes::<SemiHonest>(FIELD_BITS)
            + extend_bytes::<SemiHonest>(FIELD_BITS, Request::cots(len))
    };
    let triples = triples_len(&cost.count);
    let of_sender = of(triples + known_len(&cost.count)).reversed();
    of_sender + of(triples) + circuit_bytes(cost)
}

/// Flights of a computation.
pub fn flights(cost: &Cost) -> u64 {
    FLIGHTS + cost.count.rounds + cost.results.len() as u64
}

/// Makes all triples and the OTs of one-sided gates.
pub(super) fn make(
    ctx: &mut Context,
    session: &SessionId,
    role: Role,
    count: &Count,
) -> Result<(triples::Source, known::Source)> {
    let lens = [triples_len(count), known_len(count)];
    let one_way = |label, chooser, lens| {
        move |ctx: &mut Context| make_one_way(ctx, session, label, role == chooser, lens)
    };
    let (of_sender, of_receiver) = ctx.join(
        ("sender", one_way(SENDER_CHOOSES, CHOOSER, lens)),
        ("receiver", one_way(RECEIVER_CHOOSES, Role::Receiver, [lens[0], 0])),
    )?;
    let known = known::Source::made(of_sender.known);
    let (chosen, sent) = match role {
        Role::Sender => (of_sender.halves, of_receiver.halves),
        _ => (of_receiver.halves, of_sender.halves),
    };
    Ok((triples::Source::made(joined(sent, chosen)), known))
}

/// What one direction gives a party.
struct OneWay {
    halves: Halves,
    known: VecDeque<Piece>,
}

/// A party's halves of triples, 64 to a word: at the sender of the OTs a and m_0, at their receiver
/// b and m_r.
#[derive(Default)]
struct Halves {
    factors: Vec<u64>,
    shares: Vec<u64>,
}

impl Drop for Halves {
    fn drop(&mut self) {
        self.factors.zeroize();
        self.shares.zeroize();
    }
}

impl Halves {
    fn push(&mut self, piece: &Piece) {
        let first = self.shares.len();
        let end = first + piece.len() / u64::BITS as usize;
        self.shares.resize(end, 0);
        match piece {
            Piece::Sender { zeros, ones } => {
                self.factors.resize(end, 0);
                low_bits(zeros, &mut self.shares[first..]);
                low_bits(ones, &mut self.factors[first..]);
                let sums = self.factors[first..].iter_mut().zip(&self.shares[first..]);
                sums.for_each(|(one, zero)| *one ^= zero);
            }
            Piece::Receiver { choices, messages } => {
                self.factors.extend_from_slice(choices);
                low_bits(messages, &mut self.shares[first..]);
            }
        }
    }
}

/// a, b and c = a·b + the shares of both products of the parties.
fn joined(mut sent: Halves, mut chosen: Halves) -> Triples {
    let mut triples = Triples {
        a: std::mem::take(&mut sent.factors),
        b: std::mem::take(&mut chosen.factors),
        c: std::mem::take(&mut sent.shares),
    };
    let factors = triples.a.iter().zip(&triples.b).zip(&chosen.shares);
    triples.c.iter_mut().zip(factors).for_each(|(c, ((a, b), share))| *c ^= a & b ^ share);
    triples
}

fn make_one_way(
    ctx: &mut Context,
    session: &SessionId,
    label: &'static str,
    chooses: bool,
    [triples, known]: [usize; 2],
) -> Result<OneWay> {
    let mut extension = Extension::setup(ctx, session, chooses)?;
    let mut hashes = Hashes::new(label, session);
    let words = triples / u64::BITS as usize;
    let mut halves =
        Halves { factors: Vec::with_capacity(words), shares: Vec::with_capacity(words) };
    let mut done = 0;
    for len in pieces(triples) {
        halves.push(&extension.random(ctx, &mut hashes, len)?);
        done += len;
        // One of the two directions tells how far both are.
        if chooses {
            ctx.progress(done as u64, triples as u64);
        }
    }
    let known = pieces(known).map(|len| extension.random(ctx, &mut hashes, len));
    Ok(OneWay { halves, known: known.collect::<Result<_>>()? })
}

/// The lengths of the pieces of `len` OTs.
fn pieces(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(PIECE).map(move |first| PIECE.min(len - first))
}

/// One party's side of IKNP.
enum Extension {
    Sender(Box<softspoken::Sender<SemiHonest>>),
    Receiver(Box<softspoken::Receiver<SemiHonest>>),
}

impl Extension {
    fn setup(ctx: &mut Context, session: &SessionId, chooses: bool) -> Result<Self> {
        Ok(if chooses {
            Self::Receiver(Box::new(softspoken::Receiver::setup(ctx, session, FIELD_BITS)?))
        } else {
            Self::Sender(Box::new(softspoken::Sender::setup(ctx, session, FIELD_BITS)?))
        })
    }

    /// The next `len` OTs, whole blocks of an extension, as random OTs.
    fn random(&mut self, ctx: &mut Context, hashes: &mut Hashes, len: usize) -> Result<Piece> {
        let hash = hashes.next_piece();
        Ok(match self {
            Self::Sender(sender) => {
                let keys = CotSender::extend(&mut **sender, ctx, len)?;
                Piece::of_sender(keys, &sender.delta(), &hash)
            }
            Self::Receiver(receiver) => {
                let mut cots = CotReceiver::extend(&mut **receiver, ctx, len)?;
                let blocks = cots.choices.blocks().iter();
                let choices = blocks.flat_map(|b| [b.get() as u64, (b.get() >> 64) as u64]);
                let choices = choices.collect();
                Piece::of_receiver(choices, std::mem::take(&mut cots.blocks), &hash)
            }
        })
    }
}
