//! Steps 1 and 2, and c and p of step 4: the transfers, one block of the filter after the other.

use super::plan::{Mode, Plan};
use std::collections::VecDeque;
use vesica_core::{Block, Error, Result, Secret, SemiHonest, SessionId};
use vesica_net::{Context, Pool};
use vesica_ot::silent::cot;
use vesica_ot::softspoken::{self, FieldBits, Request};
use vesica_ot::{CotReceiver, CotSender, Traffic};

/// IKNP.
const FIELD_BITS: FieldBits = FieldBits::One;

/// The most silent transfers of one extension.
const PER_EXTENSION: usize = 1 << 32;

/// Lengths of the silent extensions.
fn extensions(len: usize) -> impl Iterator<Item = usize> {
    (0..len.div_ceil(PER_EXTENSION)).map(move |i| PER_EXTENSION.min(len - i * PER_EXTENSION))
}

/// Payload bytes of all transfers.
pub(super) fn bytes(plan: &Plan) -> Traffic {
    let (blocks, block_len) = (plan.shape.blocks() as u64, plan.shape.block_len());
    match plan.mode {
        Mode::Silent => extensions(plan.shape.len())
            .fold(cot::setup_bytes::<SemiHonest>(), |sum, len| {
                sum + cot::extend_bytes::<SemiHonest>(len)
            }),
        Mode::Iknp | Mode::Paper => {
            let setup = softspoken::setup_bytes::<SemiHonest>(FIELD_BITS);
            let of_block =
                softspoken::extend_bytes::<SemiHonest>(FIELD_BITS, Request::cots(block_len));
            Traffic {
                sender_to_receiver: setup.sender_to_receiver + blocks * of_block.sender_to_receiver,
                receiver_to_sender: setup.receiver_to_sender + blocks * of_block.receiver_to_sender,
            }
        }
    }
}

/// Flights of all transfers with the corrections, which the receiver sends last.
pub(super) fn flights(plan: &Plan) -> u64 {
    match plan.mode {
        // The setup's first is one for all extensions.
        Mode::Silent => extensions(plan.shape.len())
            .fold(1, |sum, len| sum + cot::flights::<SemiHonest>(len) - 1)
            .next_multiple_of(2),
        Mode::Iknp | Mode::Paper => 2,
    }
}

/// The sender's part, after the setup.
pub(super) enum Keys {
    /// Silent; the streams once they are extended.
    Silent(Box<cot::Sender<SemiHonest>>, VecDeque<cot::SenderStream>),
    /// IKNP.
    Iknp(Box<softspoken::Sender<SemiHonest>>),
}

impl Keys {
    pub(super) fn setup(ctx: &mut Context, session: &SessionId, mode: Mode) -> Result<Self> {
        Ok(match mode {
            Mode::Silent => {
                Keys::Silent(Box::new(cot::Sender::setup(ctx, session)?), VecDeque::new())
            }
            Mode::Iknp | Mode::Paper => {
                Keys::Iknp(Box::new(softspoken::Sender::setup(ctx, session, FIELD_BITS)?))
            }
        })
    }

    pub(super) fn delta(&self) -> Secret<Block> {
        match self {
            Keys::Silent(sender, _) => sender.delta(),
            Keys::Iknp(sender) => sender.delta(),
        }
    }

    /// The communication of `len` transfers that comes before any of them.
    pub(super) fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<()> {
        if let Keys::Silent(sender, streams) = self {
            for len in extensions(len) {
                streams.push_back(sender.extend(ctx, len)?);
            }
        }
        Ok(())
    }

    /// K of the next transfers, a block of them.
    pub(super) fn fill(&mut self, ctx: &mut Context, keys: &mut [Block]) -> Result<()> {
        match self {
            Keys::Silent(_, streams) => fill(ctx.pool(), streams, keys),
            Keys::Iknp(sender) => {
                keys.copy_from_slice(&CotSender::extend(&mut **sender, ctx, keys.len())?);
                Ok(())
            }
        }
    }
}

/// The receiver's part, after the setup.
pub(super) enum Choices {
    /// Silent; the streams once they are extended.
    Silent(Box<cot::Receiver<SemiHonest>>, VecDeque<cot::ReceiverStream>),
    /// IKNP.
    Iknp(Box<softspoken::Receiver<SemiHonest>>),
}

impl Choices {
    pub(super) fn setup(ctx: &mut Context, session: &SessionId, mode: Mode) -> Result<Self> {
        Ok(match mode {
            Mode::Silent => {
                Choices::Silent(Box::new(cot::Receiver::setup(ctx, session)?), VecDeque::new())
            }
            Mode::Iknp | Mode::Paper => {
                Choices::Iknp(Box::new(softspoken::Receiver::setup(ctx, session, FIELD_BITS)?))
            }
        })
    }

    /// The communication of `len` transfers that comes before any of them.
    pub(super) fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<()> {
        if let Choices::Silent(receiver, streams) = self {
            for len in extensions(len) {
                streams.push_back(receiver.extend(ctx, len)?);
            }
        }
        Ok(())
    }

    /// c and M = K + c·Δ of the next transfers, a block of them; c 64 to a word.
    pub(super) fn fill(
        &mut self,
        ctx: &mut Context,
        choices: &mut [u64],
        blocks: &mut [Block],
    ) -> Result<()> {
        match self {
            Choices::Silent(_, streams) => {
                fill(ctx.pool(), streams, blocks)?;
                for (word, blocks) in choices.iter_mut().zip(blocks.chunks(64)) {
                    let bits = blocks.iter().enumerate();
                    *word = bits.fold(0, |word, (i, block)| word | (block.get() as u64 & 1) << i);
                }
            }
            Choices::Iknp(receiver) => {
                let cots = CotReceiver::extend(&mut **receiver, ctx, blocks.len())?;
                blocks.copy_from_slice(&cots.blocks);
                let halves = cots.choices.blocks().iter().flat_map(|block| {
                    let bits = block.get();
                    [bits as u64, (bits >> 64) as u64]
                });
                choices.iter_mut().zip(halves).for_each(|(word, bits)| *word = bits);
            }
        }
        Ok(())
    }
}

/// The streams of both parties.
trait Stream {
    fn left(&self) -> usize;
    fn fill(&mut self, pool: &Pool, blocks: &mut [Block]) -> Result<()>;
}

impl Stream for cot::SenderStream {
    fn left(&self) -> usize {
        self.left()
    }

    fn fill(&mut self, pool: &Pool, blocks: &mut [Block]) -> Result<()> {
        self.fill(pool, blocks)
    }
}

impl Stream for cot::ReceiverStream {
    fn left(&self) -> usize {
        self.left()
    }

    fn fill(&mut self, pool: &Pool, blocks: &mut [Block]) -> Result<()> {
        self.fill(pool, blocks)
    }
}

/// Fills `blocks` from one stream after the other, on the threads of `pool` only, because other
/// parts of the run work at the same time.
fn fill<S: Stream + Send>(
    pool: &Pool,
    streams: &mut VecDeque<S>,
    blocks: &mut [Block],
) -> Result<()> {
    pool.run(|| fill_here(pool, streams, blocks))
}

fn fill_here<S: Stream>(
    pool: &Pool,
    streams: &mut VecDeque<S>,
    blocks: &mut [Block],
) -> Result<()> {
    let mut rest = blocks;
    while !rest.is_empty() {
        let stream = streams.front_mut().ok_or(Error::Bug("all transfers were taken"))?;
        if stream.left() == 0 {
            streams.pop_front();
            continue;
        }
        let (now, later) = rest.split_at_mut(stream.left().min(rest.len()));
        stream.fill(pool, now)?;
        rest = later;
    }
    Ok(())
}
