use super::labels::Labels;
use super::lane_wise::Part;
use super::messages::{self, BLOCKS, BYTES, Progress, colours, pieces, receive_values, send_bits};
use super::{LANES_AT_ONCE, transfers};
use crate::{BitLanes, Computation, Cost, Gates, Known, LaneWise, Lanes, Reveal};
use vesica_core::{Block, Error, Result, Role, Security, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_ot::silent::cot;
use vesica_simd::aes::Aes128;
use vesica_simd::garble::{GateHash, evaluate_and, evaluate_known, halves};

/// The evaluating party: the receiver.
pub struct Evaluator<'c> {
    ctx: &'c mut Context,
    hash: GateHash,
    gates: Progress,
    /// The stream of active labels for the garbler's inputs, and how many are used.
    other: Aes128,
    other_taken: u128,
    /// Labels for this party's inputs.
    chosen: Option<cot::ReceiverStream>,
    /// The current message of ciphertexts.
    table: Vec<Block>,
}

impl<'c> Evaluator<'c> {
    /// Sets up for a computation with at most the evaluator inputs of `cost`.
    ///
    /// # Errors
    /// Errors of the connection and of the OTs ([`cot::Receiver`]).
    pub fn new(ctx: &'c mut Context, session: &SessionId, cost: &Cost) -> Result<Self> {
        Self::over::<SemiHonest>(ctx, session, cost)
    }

    /// The same over transfers against the adversary `S`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn over<S: Security>(
        ctx: &'c mut Context,
        session: &SessionId,
        cost: &Cost,
    ) -> Result<Self> {
        let mut seeds = [Block::ZERO; 2];
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut seeds))?;
        let [start, seed] = seeds;
        let chosen = if transfers(cost) == 0 {
            None
        } else {
            Some(ctx.child("transfers", |ctx| {
                let mut receiver = cot::Receiver::<S>::setup(ctx, session)?;
                receiver.extend(ctx, transfers(cost))
            })?)
        };
        Ok(Self {
            ctx,
            hash: GateHash::new(start),
            gates: Progress::new(cost),
            other: Aes128::new(seed),
            other_taken: 0,
            chosen,
            table: Vec::new(),
        })
    }

    fn own_input(&mut self, bits: &[Bits], len: usize) -> Result<Vec<Labels>> {
        let mut wires: Vec<_> = bits.iter().map(|_| Labels::zeros(len)).collect();
        for wires in wires.iter_mut().filter(|wires| !wires.is_empty()) {
            let chosen = self.chosen.as_mut().ok_or(messages::NO_TRANSFERS)?;
            chosen.fill(self.ctx.pool(), wires.blocks_mut())?;
        }
        let bits: Vec<_> = bits.iter().map(BitLanes::from).collect();
        send_bits(self.ctx.peer()?, &BitLanes::concat(&bits).xor(&colours(&wires)))?;
        Ok(wires)
    }

    fn other_input(&mut self, len: usize) -> Labels {
        let mut labels = Labels::zeros(len);
        self.other.ctr(self.other_taken, labels.blocks_mut());
        self.other_taken += len as u128;
        labels
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
        let table = messages::buffer(&mut self.table, 0);
        for piece in pieces(pairs.iter().map(|(a, _)| a.len()), BLOCKS / 2) {
            let (a, b) = pairs[piece.list];
            assert_eq!(a.len(), b.len(), "the same number of lanes");
            if piece.is_first() {
                let message = &mut table[..2 * piece.message];
                self.ctx.peer()?.recv_into(Block::as_bytes_mut(message))?;
                self.gates.report(self.ctx);
            }
            let (first, lanes) = (self.gates.number(piece.lanes.len()), piece.lanes.clone());
            evaluate_and(
                self.hash,
                first,
                &a.blocks()[lanes.clone()],
                &b.blocks()[lanes.clone()],
                halves(&table[2 * piece.before..2 * (piece.before + lanes.len())]),
                &mut results[piece.list].blocks_mut()[lanes],
            );
        }
        Ok(results)
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&Labels])]) -> Result<Vec<Vec<Labels>>> {
        let mut wires = Vec::new();
        for (known, list) in lists {
            if matches!(known, Known::Mine(_)) {
                return Err(Error::Bug("only the generator knows the bits of one-sided gates"));
            }
            wires.extend(list.iter().map(|a| (known.len(), *a)));
        }
        let mut results: Vec<_> = wires.iter().map(|(_, a)| Labels::zeros(a.len())).collect();
        let table = messages::buffer(&mut self.table, 0);
        let mut outputs: Vec<&mut [Block]> = results.iter_mut().map(Labels::blocks_mut).collect();
        let pieces = pieces(wires.iter().map(|(_, a)| a.len()), BLOCKS);
        for message in messages::by_message(pieces) {
            let len = message[0].message;
            self.ctx.peer()?.recv_into(Block::as_bytes_mut(&mut table[..len]))?;
            let mut rest = &table[..len];
            let mut tasks = Vec::with_capacity(message.len());
            for piece in message {
                let n = piece.lanes.len();
                let (known_len, a) = wires[piece.list];
                assert_eq!(known_len, a.len(), "a bit for each lane");
                let out = outputs[piece.list].split_off_mut(..n).unwrap_or_default();
                let ciphertexts = rest.split_off(..n).unwrap_or_default();
                tasks.push((self.gates.number(n), &a.blocks()[piece.lanes], ciphertexts, out));
            }
            let hash = self.hash;
            messages::for_each(self.ctx.pool(), len, tasks, |(first, a, table, out)| {
                evaluate_known(hash, first, a, table, out);
            });
            self.gates.report(self.ctx);
        }
        Ok(messages::by_list(results, lists))
    }

    fn lane_wise(&mut self, circuit: &impl LaneWise, words: &[&[Labels]]) -> Result<Vec<Labels>> {
        let Some(part) = Part::new(self.ctx.pool(), &mut self.gates, circuit, words)? else {
            return circuit.evaluate(self, words);
        };
        let table = &mut messages::buffer(&mut self.table, part.table_len())[..part.table_len()];
        let mut rest = &mut *table;
        for message in part.messages() {
            let message = rest.split_off_mut(..message).unwrap_or_default();
            self.ctx.peer()?.recv_into(Block::as_bytes_mut(message))?;
        }
        self.gates.report(self.ctx);
        part.evaluate(self.ctx.pool(), self.hash, circuit, words, table)
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
            (Role::Receiver, Some(bits)) if messages::have_size(bits, width, len) => {
                self.own_input(bits, len)
            }
            (Role::Sender, None) => Ok((0..width).map(|_| self.other_input(len)).collect()),
            _ => Err(messages::MISPLACED),
        }
    }

    fn context(&mut self) -> Option<&mut Context> {
        Some(self.ctx)
    }

    fn reveal(&mut self, wires: &[Labels], to: Reveal) -> Result<Option<Vec<Bits>>> {
        let values = if to.includes(Role::Receiver) {
            Some(receive_values(self.ctx.peer()?, wires)?)
        } else {
            None
        };
        if to.includes(Role::Sender) {
            send_bits(self.ctx.peer()?, &colours(wires))?;
        }
        Ok(values)
    }

    fn reveal_checked(&mut self, wires: &[Labels]) -> Result<Vec<Bits>> {
        let peer = self.ctx.peer()?;
        for wires in wires {
            let mut parts = Block::as_bytes(wires.blocks()).chunks(BYTES);
            parts.try_for_each(|part| peer.send(part))?;
        }
        receive_values(peer, wires)
    }
}
