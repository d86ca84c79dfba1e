//! Oblivious transfers in which the receiver gets a payload or nothing: one ciphertext each.

use super::form::Form;
use super::plan::CoreRun;
use vesica_core::{Block, ParameterError, Result, SemiHonest};
use vesica_heap::may_fail;
use vesica_net::Context;
use vesica_ot::adapters::random;
use vesica_ot::silent::cot;
use vesica_ot::softspoken::{self, FieldBits, Request};
use vesica_ot::{Bits, CotReceiver, CotSender, Traffic};
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

/// IKNP, as in the paper's implementation.
const FIELD_BITS: FieldBits = FieldBits::One;

/// Bytes of ciphertexts in one message.
const BYTES_PER_MESSAGE: usize = 1 << 17;

/// `count` payloads of `len` bytes each.
#[derive(Clone, Copy)]
pub(super) struct Payloads {
    pub(super) count: usize,
    pub(super) len: usize,
}

impl Payloads {
    /// How many go into one message.
    fn per_message(&self) -> usize {
        (BYTES_PER_MESSAGE / self.len).max(1)
    }
}

/// Payload bytes of the transfers.
pub(super) fn bytes(form: Form, payloads: Payloads) -> Traffic {
    let Payloads { count, len } = payloads;
    if count == 0 {
        return Traffic::default();
    }
    let correlated = match form {
        Form::Silent | Form::LowCommunication => cot::bytes::<SemiHonest>(count),
        Form::Paper => {
            softspoken::setup_bytes::<SemiHonest>(FIELD_BITS)
                + softspoken::extend_bytes::<SemiHonest>(FIELD_BITS, Request::cots(count))
        }
    };
    correlated
        + Traffic {
            sender_to_receiver: (count * len) as u64,
            receiver_to_sender: Bits::bytes_len(count) as u64,
        }
}

/// Messages in a row that wait for each other, the first and the last of them from the sender.
pub(super) fn flights(form: Form, count: usize) -> u64 {
    match form {
        _ if count == 0 => 0,
        // The corrections follow the transfers, and the ciphertexts those.
        Form::Silent | Form::LowCommunication => {
            cot::flights::<SemiHonest>(count).next_multiple_of(2) + 1
        }
        Form::Paper => 3,
    }
}

/// The sender's side of `count` random transfers: both pads of each, that of the receiver's choice
/// 0 first.
pub(super) fn send_pads(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    count: usize,
) -> Result<Zeroizing<Vec<[Block; 2]>>> {
    let session = &run.payload_session();
    let (mut silent, mut iknp);
    let cots: &mut dyn CotSender = match run.form {
        Form::Silent | Form::LowCommunication => {
            silent = cot::Sender::<SemiHonest>::setup(ctx, session)?;
            &mut silent
        }
        Form::Paper => {
            iknp = softspoken::Sender::<SemiHonest>::setup(ctx, session, FIELD_BITS)?;
            &mut iknp
        }
    };
    let mut pads = Zeroizing::new(random::Sender::new(cots, session).extend(ctx, count)?);
    let corrections = recv_bits(ctx, count)?;
    for ([zero, one], correction) in pads.iter_mut().zip(corrections.iter()) {
        let swap = (*zero ^ *one) & Block::mask(correction);
        *zero ^= swap;
        *one ^= swap;
    }
    Ok(pads)
}

/// The receiver's side: the pads of its `choices`.
pub(super) fn recv_pads(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    choices: &Bits,
) -> Result<Zeroizing<Vec<Block>>> {
    let session = &run.payload_session();
    let (mut silent, mut iknp);
    let cots: &mut dyn CotReceiver = match run.form {
        Form::Silent | Form::LowCommunication => {
            silent = cot::Receiver::<SemiHonest>::setup(ctx, session)?;
            &mut silent
        }
        Form::Paper => {
            iknp = softspoken::Receiver::<SemiHonest>::setup(ctx, session, FIELD_BITS)?;
            &mut iknp
        }
    };
    let random::Received { choices: random, messages } =
        random::Receiver::new(cots, session).extend(ctx, choices.len())?;
    send_bits(ctx, &choices.xor(&random))?;
    Ok(Zeroizing::new(messages))
}

/// `pad` stretched to the length of `out`.
pub(super) fn stretch(pad: Block, out: &mut [u8]) {
    if out.len() <= Block::LEN {
        out.copy_from_slice(&pad.to_le_bytes()[..out.len()]);
        return;
    }
    let mut stream = Block::zeros(out.len().div_ceil(Block::LEN));
    Aes128::new(pad).ctr(0, &mut stream);
    out.copy_from_slice(&Block::as_bytes(&stream)[..out.len()]);
    stream.zeroize();
}

/// The sender's side: sends the payloads that `fill` writes. The receiver can read those with
/// choice 0.
pub(super) fn send(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    payloads: Payloads,
    mut fill: impl FnMut(usize, &mut [u8]),
) -> Result<()> {
    if payloads.count == 0 {
        return Ok(());
    }
    let pads = send_pads(ctx, run, payloads.count)?;
    let mut stream = Zeroizing::new(vec![0; payloads.len]);
    send_payloads(ctx, payloads, |i, out| {
        fill(i, out);
        stretch(pads[i][0], &mut stream);
        out.iter_mut().zip(stream.iter()).for_each(|(byte, pad)| *byte ^= pad);
    })
}

/// The receiver's side: all payloads of `len` bytes, one after the other. Those with choice 0 are
/// what the sender sent, the others are random.
///
/// Time does not depend on the choices.
///
/// # Errors
/// [`ParameterError::OutOfMemory`], and those of the connection.
pub(super) fn recv(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    len: usize,
    choices: &Bits,
) -> Result<Vec<u8>> {
    let payloads = Payloads { count: choices.len(), len };
    let mut received = Vec::new();
    if payloads.count == 0 {
        return Ok(received);
    }
    reserve(&mut received, payloads)?;
    let pads = recv_pads(ctx, run, choices)?;
    let mut stream = Zeroizing::new(vec![0; len]);
    recv_payloads(ctx, payloads, |i, payload| {
        stretch(pads[i], &mut stream);
        stream.iter_mut().zip(payload).for_each(|(pad, byte)| *pad ^= byte);
        received.extend_from_slice(&stream);
    })?;
    Ok(received)
}

/// Those of the `received` payloads with choice 0. Every payload is moved, so that the time does
/// not depend on how many there are.
pub(super) fn chosen(mut received: Vec<u8>, len: usize, choices: &Bits) -> Vec<u8> {
    let mut end = 0;
    for (i, choice) in choices.iter().enumerate() {
        received.copy_within(i * len..(i + 1) * len, end);
        end += len * usize::from(!choice);
    }
    received.truncate(end);
    received
}

/// Room for payloads, whose number the other party may have chosen.
pub(super) fn reserve(bytes: &mut Vec<u8>, payloads: Payloads) -> Result<()> {
    let total = payloads.count.checked_mul(payloads.len);
    match total.map(|total| may_fail(|| bytes.try_reserve_exact(total))) {
        Some(Ok(())) => Ok(()),
        _ => Err(ParameterError::OutOfMemory.into()),
    }
}

/// Sends bits.
pub(super) fn send_bits(ctx: &mut Context, bits: &Bits) -> Result<()> {
    let bytes = bits.to_bytes();
    bytes.chunks(BYTES_PER_MESSAGE).try_for_each(|part| ctx.peer()?.send(part))?;
    ctx.peer()?.flush()
}

/// Receives the bits of [`send_bits`].
pub(super) fn recv_bits(ctx: &mut Context, len: usize) -> Result<Bits> {
    let mut bytes = vec![0; Bits::bytes_len(len)];
    bytes.chunks_mut(BYTES_PER_MESSAGE).try_for_each(|part| ctx.peer()?.recv_into(part))?;
    Ok(Bits::from_bytes(&bytes, len))
}

/// Sends the payloads that `fill` writes into zeros, several in each message.
pub(super) fn send_payloads(
    ctx: &mut Context,
    payloads: Payloads,
    mut fill: impl FnMut(usize, &mut [u8]),
) -> Result<()> {
    let Payloads { count, len } = payloads;
    let mut message = Vec::new();
    for first in (0..count).step_by(payloads.per_message()) {
        let now = payloads.per_message().min(count - first);
        message.clear();
        message.resize(now * len, 0);
        message.chunks_exact_mut(len).enumerate().for_each(|(i, out)| fill(first + i, out));
        ctx.peer()?.send(&message)?;
        ctx.progress((first + now) as u64, count as u64);
    }
    ctx.peer()?.flush()
}

/// Receives the payloads of [`send_payloads`], and gives each to `each`.
pub(super) fn recv_payloads(
    ctx: &mut Context,
    payloads: Payloads,
    mut each: impl FnMut(usize, &[u8]),
) -> Result<()> {
    let Payloads { count, len } = payloads;
    let mut message = vec![0; payloads.per_message().min(count) * len];
    for first in (0..count).step_by(payloads.per_message()) {
        let now = payloads.per_message().min(count - first);
        let message = &mut message[..now * len];
        ctx.peer()?.recv_into(message)?;
        message.chunks_exact(len).enumerate().for_each(|(i, payload)| each(first + i, payload));
        ctx.progress((first + now) as u64, count as u64);
    }
    Ok(())
}
