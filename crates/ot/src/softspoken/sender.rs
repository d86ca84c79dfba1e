use super::check::{Challenge, Columns};
use super::expand::{Scratch, sender_tile};
use super::layout::{
    BASE_TRANSFERS, COLUMNS, FieldBits, RESPONSE_LEN, Request, TILE, VOLE_PIECE, binding,
    group_tiles,
};
use crate::poison::Poison;
use crate::{CotSender, base, pprf};
use rand::Rng;
use rayon::prelude::*;
use std::marker::PhantomData;
use vesica_core::hash::Transcript;
use vesica_core::{Block, Misbehaviour, Result, Secret, Security, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

/// The party with Δ, after its first message of the setup.
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
    /// Connection errors.
    pub fn send(
        ctx: &mut Context,
        session: &SessionId,
        bits: FieldBits,
        delta: Secret<Block>,
    ) -> Result<Self> {
        // Transfer l of tree j serves bit k − 1 − l of Δ_j; the choice is the negated bit.
        let k = bits.k();
        let choice = |i: usize| !delta.expose().bit((i / k * k + k - 1 - i % k) as u32);
        let base = base::Receiver::send(ctx, session, (0..BASE_TRANSFERS).map(choice))?;
        Ok(Self { base, bits, delta, security: PhantomData })
    }

    /// Receives the answer.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`]; [`Misbehaviour::CorrelationCheckFailed`].
    pub fn receive(self, ctx: &mut Context) -> Result<Sender<S>> {
        let sizes = self.bits.sizes();
        let base = self.base.receive(ctx)?;
        let binding = binding::<S>(&base.transcript, self.bits);
        let delta = self.delta.expose();
        let alphas = (0..sizes.trees)
            .map(|j| (delta.get() >> (j * sizes.depth)) as u32 & (sizes.leaves() as u32 - 1))
            .collect();
        let alphas: Zeroizing<Vec<u32>> = Zeroizing::new(alphas);
        let trees = pprf::receive::<S>(ctx, sizes, &binding, &base.keys, &alphas)?;
        let known = trees.leaves.chunks_exact(sizes.leaves()).flat_map(|tree| &tree[1..]);
        Ok(Sender {
            bits: self.bits,
            leaves: known.map(|leaf| Aes128::new(*leaf)).collect(),
            delta: self.delta,
            scratch: Scratch::default(),
            next_block: 0,
            extensions: 0,
            binding: trees.transcript,
            poison: Poison::default(),
            security: PhantomData,
        })
    }
}

/// A uniformly random block, without a copy left behind.
pub(crate) fn random_block(ctx: &mut Context) -> Secret<Block> {
    let mut block = Secret::new(Block::ZERO);
    ctx.rng().fill_bytes(Block::as_bytes_mut(std::slice::from_mut(block.expose_mut())));
    block
}

/// The party with Δ, after the setup; runs any number of extensions.
pub struct Sender<S: Security> {
    bits: FieldBits,
    leaves: Vec<Aes128>,
    scratch: Scratch,
    delta: Secret<Block>,
    pub(super) next_block: u128,
    pub(super) extensions: u64,
    binding: [u8; 32],
    pub(super) poison: Poison,
    security: PhantomData<S>,
}

/// A sender's correlations from one extension.
#[derive(Default)]
pub struct SenderOutput {
    /// K_i of each correlated transfer.
    pub cots: Vec<Block>,
    /// K_i of each VOLE.
    pub voles: Vec<Block>,
}

impl Drop for SenderOutput {
    fn drop(&mut self) {
        self.cots.zeroize();
        self.voles.zeroize();
    }
}

impl<S: Security> Sender<S> {
    /// Runs the setup with a random Δ.
    ///
    /// # Errors
    /// As [`SenderSetup::receive`].
    pub fn setup(ctx: &mut Context, session: &SessionId, bits: FieldBits) -> Result<Self> {
        let delta = random_block(ctx);
        Self::setup_with_delta(ctx, session, bits, delta)
    }

    /// Runs the setup with the given Δ.
    ///
    /// # Errors
    /// As [`SenderSetup::receive`].
    pub fn setup_with_delta(
        ctx: &mut Context,
        session: &SessionId,
        bits: FieldBits,
        delta: Secret<Block>,
    ) -> Result<Self> {
        SenderSetup::send(ctx, session, bits, delta)?.receive(ctx)
    }

    /// Δ, in a wrapper that wipes it.
    pub fn delta(&self) -> Secret<Block> {
        Secret::new(*self.delta.expose())
    }

    /// A digest of the setup that both parties hold; public.
    pub(crate) fn binding(&self) -> &[u8; 32] {
        &self.binding
    }

    /// Receives the corrections of one extension, computes the correlations, and checks them.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::CorrelationCheckFailed`] if a receiver deviates, in the
    /// malicious form. After an error every further call returns the same one.
    pub fn extend(&mut self, ctx: &mut Context, request: Request<'_>) -> Result<SenderOutput> {
        self.poison.check()?;
        let result = self.extend_once(ctx, request);
        self.poison.keep(result)
    }

    fn extend_once(&mut self, ctx: &mut Context, request: Request<'_>) -> Result<SenderOutput> {
        let mut transcript = Challenge::transcript(&self.binding, self.extensions, &request);
        self.extensions += 1;
        let mut columns = Columns::default();
        let mut output = SenderOutput::default();
        output.cots = Block::zeros(request.cot_blocks() * COLUMNS);
        self.columns(ctx, &mut transcript, &mut output.cots)?;
        output.voles = self.voles(ctx, &mut transcript, request, &mut columns.voles)?;
        if S::MALICIOUS {
            columns.cot_rest = output.cots[request.cots..].to_vec();
            let mask_blocks = request.blocks::<S>() - request.cot_blocks() - request.vole_blocks();
            columns.mask = vec![Block::ZERO; mask_blocks * COLUMNS];
            self.columns(ctx, &mut transcript, &mut columns.mask)?;
            let challenge = Challenge::new(transcript);
            let mut response = [0; RESPONSE_LEN];
            ctx.peer()?.recv_into(&mut response)?;
            let cots = &output.cots[..request.cots];
            if !challenge.is_answered(ctx.pool(), &self.delta, cots, &columns, &response) {
                return Err(Misbehaviour::CorrelationCheckFailed.into());
            }
        }
        output.cots.truncate(request.cots);
        Ok(output)
    }

    fn voles(
        &mut self,
        ctx: &mut Context,
        transcript: &mut Transcript,
        request: Request<'_>,
        kept: &mut Vec<Block>,
    ) -> Result<Vec<Block>> {
        let width = request.lift.width_bits();
        let mut voles = Vec::with_capacity(request.voles);
        let mut piece = Zeroizing::new(Vec::new());
        if S::MALICIOUS {
            kept.reserve_exact(request.vole_blocks() * COLUMNS);
        }
        while voles.len() < request.voles {
            let count = VOLE_PIECE.min(request.voles - voles.len());
            piece.resize((count * width).next_multiple_of(COLUMNS), Block::ZERO);
            self.columns(ctx, transcript, &mut piece)?;
            voles.extend(request.lift.combine_each(&piece[..count * width]));
            if S::MALICIOUS {
                kept.extend_from_slice(&piece);
            }
        }
        Ok(voles)
    }

    /// Fills `columns` with the next positions.
    fn columns(
        &mut self,
        ctx: &mut Context,
        transcript: &mut Transcript,
        columns: &mut [Block],
    ) -> Result<()> {
        let Sender { bits, ref leaves, ref delta, ref mut scratch, .. } = *self;
        let tile_len = TILE * bits.corrections();
        let group_blocks = (group_tiles(ctx.pool()) * TILE).min(columns.len() / COLUMNS);
        let mut corrections = vec![Block::ZERO; group_blocks * bits.corrections()];
        for group in columns.chunks_mut(group_tiles(ctx.pool()) * TILE * COLUMNS) {
            let blocks = group.len() / COLUMNS;
            let corrections = &mut corrections[..blocks * bits.corrections()];
            for message in corrections.chunks_mut(tile_len) {
                let message = Block::as_bytes_mut(message);
                ctx.peer()?.recv_into(message)?;
                if S::MALICIOUS {
                    transcript.update(message);
                }
            }
            let first = self.next_block;
            let tile = |scratch: &mut Scratch, (i, (c, columns)): (usize, (_, _))| {
                let first = first + (i * TILE) as u128;
                sender_tile(bits, leaves, delta, first, scratch, c, columns);
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

impl<S: Security> CotSender for Sender<S> {
    fn delta(&self) -> Secret<Block> {
        Sender::delta(self)
    }

    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<Block>> {
        let mut output = Sender::extend(self, ctx, Request::cots(len))?;
        Ok(std::mem::take(&mut output.cots))
    }
}
