use super::LANES_AT_ONCE;
use super::labels::Labels;
use super::messages::{self, BLOCKS, BYTES, pieces, receive_bits, send_bits};
use crate::{Computation, Gates, Known, Lanes, Reveal};
use vesica_core::{Block, Error, Result, Role, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_ot::silent::cot;
use vesica_simd::aes::Aes128;
use vesica_simd::garble::{GateHash, evaluate_and, evaluate_known};

/// The party that evaluates: the receiver.
pub struct Evaluator<'c> {
    ctx: &'c mut Context,
    hash: GateHash,
    /// Gates so far.
    gates: u64,
    /// The stream of the active labels of the garbler's inputs, and how many are taken.
    other: Aes128,
    other_taken: u128,
    /// Labels for this party's inputs.
    chosen: Option<cot::ReceiverStream>,
    /// The message of ciphertexts that is being used.
    table: Vec<Block>,
}

impl<'c> Evaluator<'c> {
    /// Sets up for a circuit with no more than `evaluator_bits` private bits of this party.
    ///
    /// # Errors
    /// Of the connection and of the transfers ([`cot::Receiver`]).
    pub fn new(ctx: &'c mut Context, session: &SessionId, evaluator_bits: usize) -> Result<Self> {
        let mut seeds = [Block::ZERO; 2];
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut seeds))?;
        let [start, seed] = seeds;
        let chosen = if evaluator_bits == 0 {
            None
        } else {
            Some(ctx.child("transfers", |ctx| {
                let mut receiver = cot::Receiver::<SemiHonest>::setup(ctx, session)?;
                receiver.extend(ctx, evaluator_bits)
            })?)
        };
        Ok(Self {
            ctx,
            hash: GateHash::new(start),
            gates: 0,
            other: Aes128::new(seed),
            other_taken: 0,
            chosen,
            table: Vec::new(),
        })
    }

    /// The context, for progress.
    pub fn context(&mut self) -> &mut Context {
        self.ctx
    }

    /// The numbers of the next `n` gates: the first.
    fn number(&mut self, n: usize) -> u64 {
        let first = self.gates;
        self.gates += n as u64;
        first
    }

    fn own_input(&mut self, bits: &Bits) -> Result<Labels> {
        let chosen = self.chosen.as_mut().ok_or(messages::NO_TRANSFERS)?;
        let mut labels = Labels::zeros(bits.len());
        chosen.fill(self.ctx.pool(), labels.blocks_mut())?;
        send_bits(self.ctx.peer()?, &bits.xor(&labels.colours()))?;
        Ok(labels)
    }

    fn other_input(&mut self, len: usize) -> Labels {
        let mut labels = Labels::zeros(len);
        self.other.ctr(self.other_taken, labels.blocks_mut());
        self.other_taken += len as u128;
        labels
    }

    /// The values of `wires`, by the colours that the garbler sends.
    fn decode(&mut self, wires: &[Labels]) -> Result<Vec<Bits>> {
        let peer = self.ctx.peer()?;
        let value = |wires: &Labels| Ok(receive_bits(peer, wires.len())?.xor(&wires.colours()));
        wires.iter().map(value).collect()
    }
}

impl Gates for Evaluator<'_> {
    type Wires = Labels;

    fn constant(&mut self, _: bool, len: usize) -> Labels {
        Labels::zeros(len)
    }

    fn xor(&self, a: &Labels, b: &Labels) -> Labels {
        a.xor(b)
    }

    fn not(&self, a: &Labels) -> Labels {
        a.clone()
    }

    fn and(&mut self, pairs: &[(&Labels, &Labels)]) -> Result<Vec<Labels>> {
        let mut results: Vec<_> = pairs.iter().map(|(a, _)| Labels::zeros(a.len())).collect();
        for piece in pieces(pairs.iter().map(|(a, _)| a.len()), BLOCKS / 2) {
            let (a, b) = pairs[piece.list];
            assert_eq!(a.len(), b.len(), "equally many lanes");
            if piece.is_first() {
                self.table.resize(2 * piece.message, Block::ZERO);
                self.ctx.peer()?.recv_into(Block::as_bytes_mut(&mut self.table))?;
            }
            let (first, lanes) = (self.number(piece.lanes.len()), piece.lanes.clone());
            evaluate_and(
                self.hash,
                first,
                &a.blocks()[lanes.clone()],
                &b.blocks()[lanes.clone()],
                &self.table[2 * piece.before..2 * (piece.before + lanes.len())],
                &mut results[piece.list].blocks_mut()[lanes],
            );
        }
        Ok(results)
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&Labels])]) -> Result<Vec<Vec<Labels>>> {
        let mut wires = Vec::new();
        for (known, list) in lists {
            if matches!(known, Known::Mine(_)) {
                return Err(Error::Bug("the generator knows the bits of one-sided gates"));
            }
            wires.extend(list.iter().map(|a| (known.len(), *a)));
        }
        let mut results: Vec<_> = wires.iter().map(|(_, a)| Labels::zeros(a.len())).collect();
        for piece in pieces(wires.iter().map(|(_, a)| a.len()), BLOCKS) {
            let (known_len, a) = wires[piece.list];
            assert_eq!(known_len, a.len(), "a bit for each lane");
            if piece.is_first() {
                self.table.resize(piece.message, Block::ZERO);
                self.ctx.peer()?.recv_into(Block::as_bytes_mut(&mut self.table))?;
            }
            let (first, lanes) = (self.number(piece.lanes.len()), piece.lanes.clone());
            evaluate_known(
                self.hash,
                first,
                &a.blocks()[lanes.clone()],
                &self.table[piece.before..piece.before + lanes.len()],
                &mut results[piece.list].blocks_mut()[lanes],
            );
        }
        Ok(messages::by_list(results, lists))
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn prefers_depth(&self) -> bool {
        false
    }
}

impl Computation for Evaluator<'_> {
    fn role(&self) -> Role {
        Role::Receiver
    }

    fn input(
        &mut self,
        of: Role,
        bits: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<Labels>> {
        match (of, bits) {
            (Role::Receiver, Some(bits)) if messages::are(bits, width, len) => {
                bits.iter().map(|bits| self.own_input(bits)).collect()
            }
            (Role::Sender, None) => Ok((0..width).map(|_| self.other_input(len)).collect()),
            _ => Err(messages::MISPLACED),
        }
    }

    fn reveal(&mut self, wires: &[Labels], to: Reveal) -> Result<Option<Vec<Bits>>> {
        let values = if to.to(Role::Receiver) { Some(self.decode(wires)?) } else { None };
        if to.to(Role::Sender) {
            let peer = self.ctx.peer()?;
            wires.iter().try_for_each(|wires| send_bits(peer, &wires.colours()))?;
        }
        Ok(values)
    }

    fn reveal_checked(&mut self, wires: &[Labels]) -> Result<Vec<Bits>> {
        let peer = self.ctx.peer()?;
        for wires in wires {
            let mut parts = Block::as_bytes(wires.blocks()).chunks(BYTES);
            parts.try_for_each(|part| peer.send(part))?;
        }
        self.decode(wires)
    }
}
