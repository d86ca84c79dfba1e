use super::check::{self, Columns, RESPONSE_LEN};
use super::expand::{Scratch, sender_tile};
use super::layout::{
    BASE_TRANSFERS, COLUMNS, FieldBits, Request, TILE, VOLE_PIECE, binding, group_tiles,
};
use crate::{CotSender, base, pprf};
use rand::Rng;
use rayon::prelude::*;
use std::marker::PhantomData;
use vesica_core::{
    Block, Malicious, Misbehaviour, Result, Secret, Security, SemiHonest, SessionId,
};
use vesica_net::Context;
use vesica_simd::aes::Aes128;

/// The party that holds Δ, after its first message of the setup.
pub struct SenderSetup<S: Security> {
    base: base::Receiver,
    bits: FieldBits,
    delta: Secret<Block>,
    security: PhantomData<S>,
}

impl<S: Security> SenderSetup<S> {
    /// Sends the setup's first message.
    ///
    /// # Errors
    /// Of the connection.
    pub fn send(
        ctx: &mut Context,
        session: &SessionId,
        bits: FieldBits,
        delta: Block,
    ) -> Result<Self> {
        // Transfer l of tree j serves bit k − 1 − l of Δ_j, and the choice is that bit negated.
        let k = bits.k();
        let choice = |i: usize| !delta.bit((i / k * k + k - 1 - i % k) as u32);
        let base = base::Receiver::send(ctx, session, (0..BASE_TRANSFERS).map(choice))?;
        Ok(Self { base, bits, delta: Secret::new(delta), security: PhantomData })
    }

    /// Receives the answer.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::InvalidPoint`];
    /// [`Misbehaviour::CorrelationCheckFailed`].
    pub fn receive(self, ctx: &mut Context) -> Result<Sender<S>> {
        let shape = self.bits.shape();
        let base = self.base.receive(ctx)?;
        let binding = binding::<S>(&base.transcript, self.bits);
        let delta = self.delta.expose();
        let alphas: Vec<_> = (0..shape.trees)
            .map(|j| (delta.get() >> (j * shape.depth)) as u32 & (shape.leaves() as u32 - 1))
            .collect();
        let leaves = pprf::receive::<S>(ctx, shape, &binding, &base.keys, &alphas)?;
        let known = leaves.chunks_exact(shape.leaves()).flat_map(|tree| &tree[1..]);
        Ok(Sender {
            bits: self.bits,
            leaves: known.map(|leaf| Aes128::new(*leaf)).collect(),
            delta: self.delta,
            scratch: Scratch::default(),
            next_block: 0,
            binding,
            security: PhantomData,
        })
    }
}

/// The party that holds Δ, after the setup: any number of extensions.
pub struct Sender<S: Security> {
    bits: FieldBits,
    leaves: Vec<Aes128>,
    scratch: Scratch,
    delta: Secret<Block>,
    next_block: u128,
    binding: [u8; 32],
    security: PhantomData<S>,
}

/// A sender's part of the correlations of one extension.
#[derive(Default)]
pub struct SenderOutput {
    /// K_i of each correlated transfer.
    pub cots: Vec<Block>,
    /// K_i of each VOLE.
    pub voles: Vec<Block>,
}

/// A sender's correlations before it has sent the challenge. With [`SemiHonest`] the steps send
/// nothing and always succeed.
#[must_use]
pub struct UncheckedSender<S: Security> {
    output: SenderOutput,
    columns: Columns,
    delta: Secret<Block>,
    binding: [u8; 32],
    security: PhantomData<S>,
}

/// A sender's correlations after it has sent the challenge.
#[must_use]
pub struct ChallengedSender<S: Security> {
    unchecked: UncheckedSender<S>,
    chi: Block,
}

impl<S: Security> Sender<S> {
    /// Runs the setup with a random Δ.
    ///
    /// # Errors
    /// As [`SenderSetup::receive`].
    pub fn setup(ctx: &mut Context, session: &SessionId, bits: FieldBits) -> Result<Self> {
        let mut delta = [0; Block::LEN];
        ctx.rng().fill_bytes(&mut delta);
        Self::setup_with_delta(ctx, session, bits, Block::from_le_bytes(delta))
    }

    /// Runs the setup with the given Δ.
    ///
    /// # Errors
    /// As [`SenderSetup::receive`].
    pub fn setup_with_delta(
        ctx: &mut Context,
        session: &SessionId,
        bits: FieldBits,
        delta: Block,
    ) -> Result<Self> {
        SenderSetup::send(ctx, session, bits, delta)?.receive(ctx)
    }

    /// Δ.
    pub fn delta(&self) -> Block {
        *self.delta.expose()
    }

    /// Receives the corrections of one extension and computes the correlations.
    ///
    /// # Errors
    /// Of the connection.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        request: Request<'_>,
    ) -> Result<UncheckedSender<S>> {
        let mut columns = Columns::default();
        let mut cots = Block::zeros(request.cot_blocks() * COLUMNS);
        self.columns(ctx, &mut cots)?;
        let voles = self.voles(ctx, request, &mut columns.voles)?;
        if S::MALICIOUS {
            columns.cot_rest = cots[request.cots..].to_vec();
            columns.mask = vec![Block::ZERO; COLUMNS];
            self.columns(ctx, &mut columns.mask)?;
        }
        cots.truncate(request.cots);
        Ok(UncheckedSender {
            output: SenderOutput { cots, voles },
            columns,
            delta: Secret::new(self.delta()),
            binding: self.binding,
            security: PhantomData,
        })
    }

    fn voles(
        &mut self,
        ctx: &mut Context,
        request: Request<'_>,
        kept: &mut Vec<Block>,
    ) -> Result<Vec<Block>> {
        let width = request.lift.width_bits();
        let mut voles = Vec::with_capacity(request.voles);
        let mut piece = Vec::new();
        while voles.len() < request.voles {
            let count = VOLE_PIECE.min(request.voles - voles.len());
            piece.resize((count * width).next_multiple_of(COLUMNS), Block::ZERO);
            self.columns(ctx, &mut piece)?;
            voles.extend(request.lift.combine_each(&piece[..count * width]));
            if S::MALICIOUS {
                kept.extend_from_slice(&piece);
            }
        }
        Ok(voles)
    }

    /// Fills `columns` with the next positions.
    fn columns(&mut self, ctx: &mut Context, columns: &mut [Block]) -> Result<()> {
        let delta = self.delta();
        let Sender { bits, ref leaves, ref mut scratch, .. } = *self;
        let tile_len = TILE * bits.corrections();
        let group_blocks = (group_tiles(ctx.pool()) * TILE).min(columns.len() / COLUMNS);
        let mut corrections = vec![Block::ZERO; group_blocks * bits.corrections()];
        for group in columns.chunks_mut(group_tiles(ctx.pool()) * TILE * COLUMNS) {
            let blocks = group.len() / COLUMNS;
            let corrections = &mut corrections[..blocks * bits.corrections()];
            for message in corrections.chunks_mut(tile_len) {
                ctx.peer()?.recv_into(Block::as_bytes_mut(message))?;
            }
            let first = self.next_block;
            let tile = |scratch: &mut Scratch, (i, tile): (usize, (_, _))| {
                let first = first + (i * TILE) as u128;
                sender_tile(bits, leaves, delta, first, scratch, tile);
            };
            if ctx.pool().len() == 1 {
                let columns = group.chunks_mut(TILE * COLUMNS);
                let tiles = corrections.chunks(tile_len).zip(columns).enumerate();
                tiles.for_each(|each| tile(scratch, each));
            } else {
                ctx.pool().run(|| {
                    let columns = group.par_chunks_mut(TILE * COLUMNS);
                    let tiles = corrections.par_chunks(tile_len).zip(columns).enumerate();
                    tiles.for_each_init(Scratch::default, tile);
                });
            }
            self.next_block += blocks as u128;
        }
        Ok(())
    }
}

impl<S: Security> UncheckedSender<S> {
    /// The output, not yet to be relied on: nothing that depends on this party's private input
    /// may be sent because of it.
    pub fn provisional(&self) -> &SenderOutput {
        &self.output
    }

    /// Sends the challenge.
    ///
    /// # Errors
    /// Of the connection.
    pub fn challenge(self, ctx: &mut Context) -> Result<ChallengedSender<S>> {
        let mut chi = [0; Block::LEN];
        if S::MALICIOUS {
            ctx.rng().fill_bytes(&mut chi);
            ctx.peer()?.send(&chi)?;
        }
        Ok(ChallengedSender { unchecked: self, chi: Block::from_le_bytes(chi) })
    }
}

impl UncheckedSender<SemiHonest> {
    /// The output; there is no check.
    pub fn into_output(self) -> SenderOutput {
        self.output
    }
}

impl<S: Security> ChallengedSender<S> {
    /// As [`UncheckedSender::provisional`].
    pub fn provisional(&self) -> &SenderOutput {
        &self.unchecked.output
    }

    /// Receives the response and gives the output if it is right.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::CorrelationCheckFailed`].
    pub fn verify(self, ctx: &mut Context) -> Result<SenderOutput> {
        let UncheckedSender { output, columns, delta, binding, .. } = self.unchecked;
        if !S::MALICIOUS {
            return Ok(output);
        }
        let mut response = [0; RESPONSE_LEN];
        ctx.peer()?.recv_into(&mut response)?;
        let (u, expected) = response.split_first_chunk().expect("longer than a block");
        let u = Block::from_le_bytes(*u);
        let mut rows = check::hash_rows(ctx.pool(), &output.cots, &columns, self.chi);
        for (row, j) in rows.iter_mut().zip(0..) {
            *row ^= u & Block::mask(delta.expose().bit(j));
        }
        if check::digest(&binding, self.chi, u, &rows) != expected {
            return Err(Misbehaviour::CorrelationCheckFailed.into());
        }
        Ok(output)
    }
}

impl CotSender for Sender<SemiHonest> {
    fn delta(&self) -> Block {
        Sender::delta(self)
    }

    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<Block>> {
        Ok(Sender::extend(self, ctx, Request::cots(len))?.into_output().cots)
    }
}

impl CotSender for Sender<Malicious> {
    fn delta(&self) -> Block {
        Sender::delta(self)
    }

    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<Block>> {
        let unchecked = Sender::extend(self, ctx, Request::cots(len))?;
        Ok(unchecked.challenge(ctx)?.verify(ctx)?.cots)
    }
}
