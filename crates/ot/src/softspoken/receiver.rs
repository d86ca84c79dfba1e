use super::check::{self, Columns, RESPONSE_LEN};
use super::expand::{Scratch, receiver_tile};
use super::layout::{
    BASE_TRANSFERS, COLUMNS, FieldBits, Request, TILE, VOLE_PIECE, binding, group_tiles,
};
use crate::{Bits, CotReceiver, Cots, base, pprf};
use rayon::prelude::*;
use std::marker::PhantomData;
use vesica_core::{Block, Malicious, Result, Security, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;

/// The party that holds the choices, after the setup: any number of extensions.
pub struct Receiver<S: Security> {
    bits: FieldBits,
    leaves: Vec<Aes128>,
    scratch: Scratch,
    next_block: u128,
    binding: [u8; 32],
    security: PhantomData<S>,
}

/// A receiver's VOLE correlations.
#[derive(Clone, Debug, Default)]
pub struct Voles {
    /// u_i, in the lowest bits: as many as the lift takes.
    pub values: Vec<u128>,
    /// M_i = K_i + lift(u_i)·Δ.
    pub blocks: Vec<Block>,
}

/// A receiver's part of the correlations of one extension.
#[derive(Default)]
pub struct ReceiverOutput {
    /// The correlated transfers.
    pub cots: Cots,
    /// The VOLEs.
    pub voles: Voles,
}

/// A receiver's correlations before it has answered the challenge. With [`SemiHonest`] that step
/// sends nothing and always succeeds.
#[must_use]
pub struct UncheckedReceiver<S: Security> {
    output: ReceiverOutput,
    choices: Vec<Block>,
    columns: Columns,
    binding: [u8; 32],
    security: PhantomData<S>,
}

impl<S: Security> Receiver<S> {
    /// Runs the setup: receives the sender's first message and sends the answer.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId, bits: FieldBits) -> Result<Self> {
        let base = base::send(ctx, session, BASE_TRANSFERS)?;
        let binding = binding::<S>(&base.transcript, bits);
        let leaves = pprf::send::<S>(ctx, bits.shape(), &binding, &base.keys)?;
        Ok(Self {
            bits,
            leaves: leaves.into_iter().map(Aes128::new).collect(),
            scratch: Scratch::default(),
            next_block: 0,
            binding,
            security: PhantomData,
        })
    }

    /// Computes the correlations of one extension and sends the corrections.
    ///
    /// # Errors
    /// Of the connection.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        request: Request<'_>,
    ) -> Result<UncheckedReceiver<S>> {
        let mut columns = Columns::default();
        let mut choices = vec![Block::ZERO; request.blocks::<S>()];
        let (cot_choices, rest) = choices.split_at_mut(request.cot_blocks());
        let (vole_choices, mask_choices) = rest.split_at_mut(request.vole_blocks());

        let mut cots = Block::zeros(cot_choices.len() * COLUMNS);
        self.columns(ctx, cot_choices, &mut cots)?;
        let voles = self.voles(ctx, request, vole_choices, &mut columns.voles)?;
        if S::MALICIOUS {
            columns.cot_rest = cots[request.cots..].to_vec();
            columns.mask = vec![Block::ZERO; COLUMNS];
            self.columns(ctx, mask_choices, &mut columns.mask)?;
        }
        cots.truncate(request.cots);
        let cots = Cots { choices: Bits::new(cot_choices.to_vec(), request.cots), blocks: cots };
        Ok(UncheckedReceiver {
            output: ReceiverOutput { cots, voles },
            choices: if S::MALICIOUS { choices } else { Vec::new() },
            columns,
            binding: self.binding,
            security: PhantomData,
        })
    }

    fn voles(
        &mut self,
        ctx: &mut Context,
        request: Request<'_>,
        choices: &mut [Block],
        kept: &mut Vec<Block>,
    ) -> Result<Voles> {
        let width = request.lift.width_bits();
        let mut voles = Voles::default();
        voles.values.reserve_exact(request.voles);
        voles.blocks.reserve_exact(request.voles);
        let mut piece = Vec::new();
        for choices in choices.chunks_mut(VOLE_PIECE * width / COLUMNS) {
            let count = VOLE_PIECE.min(request.voles - voles.blocks.len());
            piece.resize(choices.len() * COLUMNS, Block::ZERO);
            self.columns(ctx, choices, &mut piece)?;
            voles.values.extend((0..count).map(|i| request.lift.value_at(choices, i)));
            voles.blocks.extend(request.lift.combine_each(&piece[..count * width]));
            if S::MALICIOUS {
                kept.extend_from_slice(&piece);
            }
        }
        Ok(voles)
    }

    /// Fills `choices` and `columns` with the next positions.
    fn columns(
        &mut self,
        ctx: &mut Context,
        choices: &mut [Block],
        columns: &mut [Block],
    ) -> Result<()> {
        let Receiver { bits, ref leaves, ref mut scratch, .. } = *self;
        let tile_len = TILE * bits.corrections();
        let group_blocks = group_tiles(ctx.pool()) * TILE;
        let mut corrections =
            vec![Block::ZERO; group_blocks.min(choices.len()) * bits.corrections()];
        let groups = choices.chunks_mut(group_blocks);
        for (choices, columns) in groups.zip(columns.chunks_mut(group_blocks * COLUMNS)) {
            let corrections = &mut corrections[..choices.len() * bits.corrections()];
            let first = self.next_block;
            self.next_block += choices.len() as u128;
            let tile = |scratch: &mut Scratch, (i, ((u, c), columns)): (usize, ((_, _), _))| {
                let first = first + (i * TILE) as u128;
                receiver_tile(bits, leaves, first, scratch, (u, c, columns));
            };
            if ctx.pool().len() == 1 {
                let u = choices.chunks_mut(TILE);
                let tiles = u.zip(corrections.chunks_mut(tile_len));
                let tiles = tiles.zip(columns.chunks_mut(TILE * COLUMNS)).enumerate();
                tiles.for_each(|each| tile(scratch, each));
            } else {
                ctx.pool().run(|| {
                    let u = choices.par_chunks_mut(TILE);
                    let tiles = u.zip(corrections.par_chunks_mut(tile_len));
                    let tiles = tiles.zip(columns.par_chunks_mut(TILE * COLUMNS)).enumerate();
                    tiles.for_each_init(Scratch::default, tile);
                });
            }
            for message in corrections.chunks(tile_len) {
                ctx.peer()?.send(Block::as_bytes(message))?;
            }
        }
        Ok(())
    }
}

impl<S: Security> UncheckedReceiver<S> {
    /// The output before the check.
    pub fn provisional(&self) -> &ReceiverOutput {
        &self.output
    }

    /// Receives the challenge, sends the response and gives the output.
    ///
    /// # Errors
    /// Of the connection.
    pub fn prove(self, ctx: &mut Context) -> Result<ReceiverOutput> {
        let UncheckedReceiver { output, choices, columns, binding, .. } = self;
        if !S::MALICIOUS {
            return Ok(output);
        }
        let mut chi = [0; Block::LEN];
        ctx.peer()?.recv_into(&mut chi)?;
        let chi = Block::from_le_bytes(chi);
        let u = check::hash_choices(&choices, output.cots.blocks.len(), chi);
        let rows = check::hash_rows(ctx.pool(), &output.cots.blocks, &columns, chi);
        let mut response = Vec::with_capacity(RESPONSE_LEN);
        response.extend_from_slice(&u.to_le_bytes());
        response.extend_from_slice(&check::digest(&binding, chi, u, &rows));
        ctx.peer()?.send(&response)?;
        Ok(output)
    }
}

impl UncheckedReceiver<SemiHonest> {
    /// The output; there is no check.
    pub fn into_output(self) -> ReceiverOutput {
        self.output
    }
}

impl CotReceiver for Receiver<SemiHonest> {
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Cots> {
        Ok(Receiver::extend(self, ctx, Request::cots(len))?.into_output().cots)
    }
}

impl CotReceiver for Receiver<Malicious> {
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Cots> {
        Ok(Receiver::extend(self, ctx, Request::cots(len))?.prove(ctx)?.cots)
    }
}
