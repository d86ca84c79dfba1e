use crate::adapters::random;
use crate::softspoken::{self, FieldBits, Request};
use crate::{Bits, Traffic};
use vesica_core::{Block, Result, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;

/// Bytes matter little here; two bits per tree are the cheapest to compute.
const FIELD_BITS: FieldBits = FieldBits::Two;

/// Payload bytes of a setup for codewords of `width` bits.
pub fn setup_bytes(width: usize) -> Traffic {
    let transfers = softspoken::extend_bytes::<SemiHonest>(FIELD_BITS, Request::cots(width));
    (softspoken::setup_bytes::<SemiHonest>(FIELD_BITS) + transfers).reversed()
}

/// The receiver in a setup, after it has sent its message.
///
/// The sender answers as soon as it has the message. The receiver should do its other computations
/// between [`send`](ReceiverSetup::send) and the extension's own `new`.
pub struct ReceiverSetup {
    cots: softspoken::SenderSetup<SemiHonest>,
    session: SessionId,
}

impl ReceiverSetup {
    /// Sends the first message of the setup.
    ///
    /// # Errors
    /// Connection errors.
    pub fn send(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let delta = softspoken::random_block(ctx);
        let cots = softspoken::SenderSetup::send(ctx, session, FIELD_BITS, delta)?;
        ctx.peer()?.flush()?;
        Ok(Self { cots, session: *session })
    }

    /// Receives the answer: for each of the `width` columns the seeds `[k_1, k_0]`, in this order.
    pub(super) fn receive(self, ctx: &mut Context, width: usize) -> Result<Vec<[Aes128; 2]>> {
        let mut transfers = random::Sender::new(self.cots.receive(ctx)?, &self.session);
        let pairs = zeroize::Zeroizing::new(transfers.extend(ctx, width)?);
        Ok(pairs.iter().map(|[zero, one]| [Aes128::new(*one), Aes128::new(*zero)]).collect())
    }
}

/// The sender's result of a setup.
pub(super) struct SenderSeeds {
    /// s.
    pub(super) choices: Bits,
    /// The stream of k_j^{s_j}, for each column.
    pub(super) streams: Vec<Aes128>,
}

impl SenderSeeds {
    /// Runs the sender's side of a setup.
    pub(super) fn setup(ctx: &mut Context, session: &SessionId, width: usize) -> Result<Self> {
        let cots = softspoken::Receiver::<SemiHonest>::setup(ctx, session, FIELD_BITS)?;
        let received = random::Receiver::new(cots, session).extend(ctx, width)?;
        ctx.peer()?.flush()?;
        let seeds = zeroize::Zeroizing::new(received.messages);
        let streams = seeds.iter().map(|seed| Aes128::new(*seed)).collect();
        Ok(Self { choices: received.choices, streams })
    }

    /// s, with the first column in the lowest bit of the first block; zero beyond the last.
    pub(super) fn mask<const K: usize>(&self) -> [Block; K] {
        let mut mask = [Block::ZERO; K];
        mask[..self.choices.blocks().len()].copy_from_slice(self.choices.blocks());
        mask
    }
}
