use super::check::{Challenge, Columns};
use super::expand::{Scratch, receiver_tile};
use super::layout::{
    BASE_TRANSFERS, COLUMNS, FieldBits, Request, TILE, VOLE_PIECE, binding, group_tiles,
};
use crate::poison::Poison;
use crate::{Bits, CotReceiver, Cots, base, pprf};
use rayon::prelude::*;
use std::marker::PhantomData;
use vesica_core::hash::Transcript;
use vesica_core::{Block, Result, Security, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

/// The party with the choices, after the setup; runs any number of extensions.
pub struct Receiver<S: Security> {
    bits: FieldBits,
    leaves: Vec<Aes128>,
    scratch: Scratch,
    pub(super) next_block: u128,
    pub(super) extensions: u64,
    binding: [u8; 32],
    pub(super) poison: Poison,
    /// Changes the corrections of a tile, for tests of a deviating receiver.
    #[cfg(test)]
    pub(crate) cheat: Option<Cheat>,
    security: PhantomData<S>,
}

/// Changes the corrections of a tile; the number is the tile's blocks per row.
#[cfg(test)]
pub(crate) type Cheat = Box<dyn Fn(&mut [Block], usize) + Send>;

/// A receiver's VOLE correlations.
#[derive(Clone, Debug, Default)]
pub struct Voles {
    /// u_i, in the lowest bits; the lift determines how many.
    pub values: Vec<u128>,
    /// M_i = K_i + lift(u_i)·Δ.
    pub blocks: Vec<Block>,
}

/// A receiver's correlations from one extension.
#[derive(Default)]
pub struct ReceiverOutput {
    /// The correlated transfers.
    pub cots: Cots,
    /// The VOLEs.
    pub voles: Voles,
}

impl Drop for Voles {
    fn drop(&mut self) {
        self.values.zeroize();
        self.blocks.zeroize();
    }
}

impl<S: Security> Receiver<S> {
    /// Runs the setup: receives the sender's first message and sends the answer.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId, bits: FieldBits) -> Result<Self> {
        let base = base::send(ctx, session, BASE_TRANSFERS)?;
        let binding = binding::<S>(&base.transcript, bits);
        let trees = pprf::send::<S>(ctx, bits.sizes(), &binding, &base.keys)?;
        Ok(Self {
            bits,
            leaves: trees.leaves.iter().map(|leaf| Aes128::new(*leaf)).collect(),
            scratch: Scratch::default(),
            next_block: 0,
            extensions: 0,
            binding: trees.transcript,
            poison: Poison::default(),
            #[cfg(test)]
            cheat: None,
            security: PhantomData,
        })
    }

    /// A digest of the setup that both parties hold; public.
    pub(crate) fn binding(&self) -> &[u8; 32] {
        &self.binding
    }

    /// Computes the correlations of one extension, and sends the corrections with the response of
    /// the check.
    ///
    /// # Errors
    /// Connection errors. After an error every further call returns the same one.
    pub fn extend(&mut self, ctx: &mut Context, request: Request<'_>) -> Result<ReceiverOutput> {
        self.poison.check()?;
        let result = self.extend_once(ctx, request);
        self.poison.keep(result)
    }

    fn extend_once(&mut self, ctx: &mut Context, request: Request<'_>) -> Result<ReceiverOutput> {
        let mut transcript = Challenge::transcript(&self.binding, self.extensions, &request);
        self.extensions += 1;
        let mut columns = Columns::default();
        let mut choices = Zeroizing::new(vec![Block::ZERO; request.blocks::<S>()]);
        let (cot_choices, rest) = choices.split_at_mut(request.cot_blocks());
        let (vole_choices, mask_choices) = rest.split_at_mut(request.vole_blocks());

        let mut cots = Block::zeros(cot_choices.len() * COLUMNS);
        self.columns(ctx, &mut transcript, cot_choices, &mut cots)?;
        let voles = self.voles(ctx, &mut transcript, request, vole_choices, &mut columns.voles)?;
        if S::MALICIOUS {
            columns.cot_rest = cots[request.cots..].to_vec();
            columns.mask = vec![Block::ZERO; mask_choices.len() * COLUMNS];
            self.columns(ctx, &mut transcript, mask_choices, &mut columns.mask)?;
            let challenge = Challenge::new(transcript);
            let cots = &cots[..request.cots];
            let response = challenge.response(ctx.pool(), &choices, cots, &columns);
            ctx.peer()?.send(&response)?;
        }
        cots.truncate(request.cots);
        let cot_choices = choices[..request.cot_blocks()].to_vec();
        let cots = Cots { choices: Bits::new(cot_choices, request.cots), blocks: cots };
        Ok(ReceiverOutput { cots, voles })
    }

    fn voles(
        &mut self,
        ctx: &mut Context,
        transcript: &mut Transcript,
        request: Request<'_>,
        choices: &mut [Block],
        kept: &mut Vec<Block>,
    ) -> Result<Voles> {
        let width = request.lift.width_bits();
        let mut voles = Voles::default();
        voles.values.reserve_exact(request.voles);
        voles.blocks.reserve_exact(request.voles);
        let mut piece = Zeroizing::new(Vec::new());
        if S::MALICIOUS {
            kept.reserve_exact(request.vole_blocks() * COLUMNS);
        }
        for choices in choices.chunks_mut(VOLE_PIECE * width / COLUMNS) {
            let count = VOLE_PIECE.min(request.voles - voles.blocks.len());
            piece.resize(choices.len() * COLUMNS, Block::ZERO);
            self.columns(ctx, transcript, choices, &mut piece)?;
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
        transcript: &mut Transcript,
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
                receiver_tile(bits, leaves, first, scratch, u, c, columns);
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
            #[cfg(test)]
            if let Some(cheat) = &self.cheat {
                let lens = choices.chunks(TILE).map(<[Block]>::len);
                corrections.chunks_mut(tile_len).zip(lens).for_each(|(c, len)| cheat(c, len));
            }
            for message in corrections.chunks(tile_len) {
                let message = Block::as_bytes(message);
                if S::MALICIOUS {
                    transcript.update(message);
                }
                ctx.peer()?.send(message)?;
            }
        }
        Ok(())
    }
}

impl<S: Security> CotReceiver for Receiver<S> {
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Cots> {
        Ok(Receiver::extend(self, ctx, Request::cots(len))?.cots)
    }
}
