use super::labels::Labels;
use super::lane_wise::Part;
use super::messages::{
    self, BLOCKS, BYTES, Progress, colours, pieces, receive_bits, receive_values, send_bits,
};
use super::{LANES_AT_ONCE, transfers};
use crate::{BitLanes, Computation, Cost, Gates, Known, LaneWise, Lanes, Reveal};
use rand::Rng;
use vesica_core::{
    Block, Error, Misbehaviour, Result, Role, Secret, Security, SemiHonest, SessionId,
};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_ot::silent::cot;
use vesica_simd::aes::Aes128;
use vesica_simd::garble::{GateHash, KnownBits, garble_and, garble_known, halves_mut};

/// The garbling party: the sender, the circuit's generator.
pub struct Garbler<'c> {
    ctx: &'c mut Context,
    delta: Secret<Block>,
    hash: GateHash,
    gates: Progress,
    /// The stream of active labels for this party's inputs, and how many are used.
    own: Aes128,
    own_taken: u128,
    /// Labels for the evaluator's inputs.
    keys: Option<cot::SenderStream>,
    /// The current message of ciphertexts.
    table: Vec<Block>,
}

impl<'c> Garbler<'c> {
    /// Sets up for a computation with at most the evaluator inputs of `cost`.
    ///
    /// # Errors
    /// Errors of the connection and of the OTs ([`cot::Sender`]).
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
        let [start, seed] = [random(ctx), random(ctx)];
        ctx.peer()?.send(Block::as_bytes(&[start, seed]))?;
        let (delta, keys) = if transfers(cost) == 0 {
            (Secret::new(Block::new(random(ctx).get() | 1)), None)
        } else {
            ctx.child("transfers", |ctx| {
                let mut sender = cot::Sender::<S>::setup(ctx, session)?;
                let keys = sender.extend(ctx, transfers(cost))?;
                Ok::<_, Error>((sender.delta(), Some(keys)))
            })?
        };
        Ok(Self {
            ctx,
            delta,
            hash: GateHash::new(start),
            gates: Progress::new(cost),
            own: Aes128::new(seed),
            own_taken: 0,
            keys,
            table: Vec::new(),
        })
    }

    fn own_input(&mut self, bits: &Bits) -> Labels {
        let mut labels = Labels::zeros(bits.len());
        self.own.ctr(self.own_taken, labels.blocks_mut());
        self.own_taken += bits.len() as u128;
        labels.add_where(&BitLanes::from(bits), *self.delta.expose());
        labels
    }

    fn other_input(&mut self, width: usize, len: usize) -> Result<Vec<Labels>> {
        let mut wires: Vec<_> = (0..width).map(|_| Labels::zeros(len)).collect();
        for wires in wires.iter_mut().filter(|wires| !wires.is_empty()) {
            let keys = self.keys.as_mut().ok_or(messages::NO_TRANSFERS)?;
            keys.fill(self.ctx.pool(), wires.blocks_mut())?;
        }
        let differences = receive_bits(self.ctx.peer()?, width * len)?;
        let differences: Vec<_> = messages::by_wire(&differences, &wires).collect();
        for (wires, differences) in wires.iter_mut().zip(&differences) {
            wires.add_where(differences, *self.delta.expose());
        }
        Ok(wires)
    }

    /// Rejects labels that are neither of the two of their lane.
    fn check(&self, wires: &Labels, active: &[Block]) -> Result<()> {
        let delta = &self.delta;
        // Constant time: the timing does not show which lane is wrong.
        let wrong = wires.blocks().iter().zip(active).fold(Block::ZERO, |wrong, (zero, active)| {
            let difference = *zero ^ *active;
            let expected = *delta.expose() & Block::mask(difference.bit(0));
            Block::new(wrong.get() | (difference ^ expected).get())
        });
        if wrong == Block::ZERO { Ok(()) } else { Err(Misbehaviour::InvalidValue.into()) }
    }
}

/// A uniformly random block.
fn random(ctx: &mut Context) -> Block {
    let mut block = [0; Block::LEN];
    ctx.rng().fill_bytes(&mut block);
    Block::from_le_bytes(block)
}

impl Gates for Garbler<'_> {
    type Wires = Labels;

    fn constant(&mut self, bit: bool, len: usize) -> Labels {
        Labels::new(vec![*self.delta.expose() & Block::mask(bit); len])
    }

    fn xor(&self, a: &Labels, b: &Labels) -> Labels {
        a.xor(b)
    }

    fn not(&self, a: &Labels) -> Labels {
        a.plus(*self.delta.expose())
    }

    fn and(&mut self, pairs: &[(&Labels, &Labels)]) -> Result<Vec<Labels>> {
        let mut results: Vec<_> = pairs.iter().map(|(a, _)| Labels::zeros(a.len())).collect();
        let table = messages::buffer(&mut self.table, 0);
        for piece in pieces(pairs.iter().map(|(a, _)| a.len()), BLOCKS / 2) {
            let (a, b) = pairs[piece.list];
            assert_eq!(a.len(), b.len(), "the same number of lanes");
            let (first, lanes) = (self.gates.number(piece.lanes.len()), piece.lanes.clone());
            garble_and(
                self.hash,
                first,
                *self.delta.expose(),
                &a.blocks()[lanes.clone()],
                &b.blocks()[lanes.clone()],
                &mut results[piece.list].blocks_mut()[lanes.clone()],
                halves_mut(&mut table[2 * piece.before..2 * (piece.before + lanes.len())]),
            );
            if piece.is_last() {
                self.ctx.peer()?.send(Block::as_bytes(&table[..2 * piece.message]))?;
                self.gates.report(self.ctx);
            }
        }
        Ok(results)
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&Labels])]) -> Result<Vec<Vec<Labels>>> {
        let mut wires = Vec::new();
        for (known, list) in lists {
            let Known::Mine(bits) = known else {
                return Err(Error::Bug("only the generator knows the bits of one-sided gates"));
            };
            wires.extend(list.iter().map(|a| (*bits, *a)));
        }
        let mut results: Vec<_> = wires.iter().map(|(_, a)| Labels::zeros(a.len())).collect();
        let table = messages::buffer(&mut self.table, 0);
        let mut outputs: Vec<&mut [Block]> = results.iter_mut().map(Labels::blocks_mut).collect();
        let pieces = pieces(wires.iter().map(|(_, a)| a.len()), BLOCKS);
        for message in messages::by_message(pieces) {
            let len = message[0].message;
            let mut rest = &mut table[..len];
            let mut tasks = Vec::with_capacity(message.len());
            for piece in message {
                let n = piece.lanes.len();
                let (known, a) = wires[piece.list];
                assert_eq!(known.len(), a.len(), "a bit for each lane");
                let known = KnownBits { blocks: known.blocks(), first: piece.lanes.start };
                let out = outputs[piece.list].split_off_mut(..n).unwrap_or_default();
                let ciphertexts = rest.split_off_mut(..n).unwrap_or_default();
                let labels = &a.blocks()[piece.lanes];
                tasks.push((self.gates.number(n), known, labels, out, ciphertexts));
            }
            let (hash, delta) = (self.hash, &self.delta);
            messages::for_each(self.ctx.pool(), len, tasks, |(first, known, a, out, table)| {
                garble_known(hash, first, *delta.expose(), known, a, out, table);
            });
            self.ctx.peer()?.send(Block::as_bytes(&table[..len]))?;
            self.gates.report(self.ctx);
        }
        Ok(messages::by_list(results, lists))
    }

    fn lane_wise(&mut self, circuit: &impl LaneWise, words: &[&[Labels]]) -> Result<Vec<Labels>> {
        let Some(part) = Part::new(self.ctx.pool(), &mut self.gates, circuit, words)? else {
            return circuit.evaluate(self, words);
        };
        let mut table =
            &mut messages::buffer(&mut self.table, part.table_len())[..part.table_len()];
        let pool = self.ctx.pool();
        let results = part.garble(pool, self.hash, &self.delta, circuit, words, table)?;
        for message in part.messages() {
            let message = table.split_off_mut(..message).unwrap_or_default();
            self.ctx.peer()?.send(Block::as_bytes(message))?;
        }
        self.gates.report(self.ctx);
        Ok(results)
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn prefers_depth(&self) -> bool {
        false
    }
}

impl Computation for Garbler<'_> {
    fn role(&self) -> Role {
        Role::Sender
    }

    fn input(
        &mut self,
        of: Role,
        bits: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<Labels>> {
        match (of, bits) {
            (Role::Sender, Some(bits)) if messages::have_size(bits, width, len) => {
                Ok(bits.iter().map(|bits| self.own_input(bits)).collect())
            }
            (Role::Receiver, None) => self.other_input(width, len),
            _ => Err(messages::MISPLACED),
        }
    }

    fn context(&mut self) -> Option<&mut Context> {
        Some(self.ctx)
    }

    fn reveal(&mut self, wires: &[Labels], to: Reveal) -> Result<Option<Vec<Bits>>> {
        let peer = self.ctx.peer()?;
        if to.includes(Role::Receiver) {
            send_bits(peer, &colours(wires))?;
        }
        if to.includes(Role::Sender) { receive_values(peer, wires).map(Some) } else { Ok(None) }
    }

    fn reveal_checked(&mut self, wires: &[Labels]) -> Result<Vec<Bits>> {
        let mut values = Vec::with_capacity(wires.len());
        for wires in wires {
            let mut active = Labels::zeros(wires.len());
            let mut parts = Block::as_bytes_mut(active.blocks_mut()).chunks_mut(BYTES);
            let peer = self.ctx.peer()?;
            parts.try_for_each(|part| peer.recv_into(part))?;
            self.check(wires, active.blocks())?;
            values.push(Bits::from(&active.colours().xor(&wires.colours())));
        }
        send_bits(self.ctx.peer()?, &colours(wires))?;
        Ok(values)
    }
}
