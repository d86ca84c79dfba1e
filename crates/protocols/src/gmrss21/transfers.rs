//! Oblivious transfer of what the receiver has chosen, or else of nothing: one ciphertext a row.

use super::Form;
use vesica_core::{Block, ParameterError, Result, SemiHonest, SessionId};
use vesica_heap::may_fail;
use vesica_net::Context;
use vesica_ot::adapters::random;
use vesica_ot::silent::cot;
use vesica_ot::softspoken::{self, FieldBits, Request};
use vesica_ot::{Bits, CotReceiver, CotSender, Traffic};
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

/// IKNP, of the paper's implementation.
const FIELD_BITS: FieldBits = FieldBits::One;

/// Bytes of ciphertexts in one message.
const BYTES_PER_MESSAGE: usize = 1 << 17;

/// Payload bytes of `rows` transfers of `row_len` bytes.
pub(super) fn bytes(form: Form, rows: usize, row_len: usize) -> Traffic {
    if rows == 0 {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let correlated = match form {
        Form::Silent | Form::LowCommunication => cot::bytes::<SemiHonest>(rows),
        Form::Paper => {
            softspoken::setup_bytes::<SemiHonest>(FIELD_BITS)
                + softspoken::extend_bytes::<SemiHonest>(FIELD_BITS, Request::cots(rows))
        }
    };
    correlated
        + Traffic {
            sender_to_receiver: (rows * row_len) as u64,
            receiver_to_sender: Bits::bytes_len(rows) as u64,
        }
}

/// Messages in a row that wait for each other, after one from the sender.
pub(super) fn flights(form: Form, rows: usize) -> u64 {
    let is_asked = |rows| cot::extend_bytes::<SemiHonest>(rows).sender_to_receiver > 0;
    match form {
        _ if rows == 0 => 0,
        Form::Silent | Form::LowCommunication if is_asked(rows) => 4,
        Form::Silent | Form::LowCommunication => 2,
        Form::Paper => 3,
    }
}

/// Both pads of each of `rows` transfers: the one that comes with the choice 0, and the other.
pub(super) fn pads(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    rows: usize,
) -> Result<Zeroizing<Vec<[Block; 2]>>> {
    let (mut silent, mut iknp);
    let cots: &mut dyn CotSender = match form {
        Form::Silent | Form::LowCommunication => {
            silent = cot::Sender::<SemiHonest>::setup(ctx, session)?;
            &mut silent
        }
        Form::Paper => {
            iknp = softspoken::Sender::<SemiHonest>::setup(ctx, session, FIELD_BITS)?;
            &mut iknp
        }
    };
    let mut pads = Zeroizing::new(random::Sender::new(cots, session).extend(ctx, rows)?);
    let corrections = recv_bits(ctx, rows)?;
    for ([zero, one], correction) in pads.iter_mut().zip(corrections.iter()) {
        let swap = (*zero ^ *one) & Block::mask(correction);
        *zero ^= swap;
        *one ^= swap;
    }
    Ok(pads)
}

/// The pads that `choices` choose.
pub(super) fn chosen_pads(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    choices: &Bits,
) -> Result<Zeroizing<Vec<Block>>> {
    let (mut silent, mut iknp);
    let cots: &mut dyn CotReceiver = match form {
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

/// Sends the rows that `fill` writes, `row_len` bytes each: the receiver gets those whose bit it left 0.
pub(super) fn give(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    (rows, row_len): (usize, usize),
    mut fill: impl FnMut(usize, &mut [u8]),
) -> Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let pads = pads(ctx, session, form, rows)?;
    let mut stream = Zeroizing::new(vec![0; row_len]);
    send_rows(ctx, rows, row_len, |i, out| {
        fill(i, out);
        stretch(pads[i][0], &mut stream);
        out.iter_mut().zip(stream.iter()).for_each(|(byte, pad)| *byte ^= pad);
    })
}

/// All rows, one after the other: what was sent where the bit in `without` is 0, and elsewhere something random.
///
/// What is done does not depend on the bits.
///
/// # Errors
/// [`ParameterError::OutOfMemory`], and those of the connection.
pub(super) fn take(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    row_len: usize,
    without: &Bits,
) -> Result<Vec<u8>> {
    let mut taken = Vec::new();
    if without.is_empty() {
        return Ok(taken);
    }
    reserve(&mut taken, without.len(), row_len)?;
    let pads = chosen_pads(ctx, session, form, without)?;
    let mut stream = Zeroizing::new(vec![0; row_len]);
    recv_rows(ctx, without.len(), row_len, |i, row| {
        stretch(pads[i], &mut stream);
        stream.iter_mut().zip(row).for_each(|(pad, byte)| *pad ^= byte);
        taken.extend_from_slice(&stream);
    })?;
    Ok(taken)
}

/// Those of `rows` whose bit in `without` is 0: each is moved, so that it takes as long for few as for many.
pub(super) fn chosen(mut rows: Vec<u8>, row_len: usize, without: &Bits) -> Vec<u8> {
    let mut end = 0;
    for (i, is_without) in without.iter().enumerate() {
        rows.copy_within(i * row_len..(i + 1) * row_len, end);
        end += row_len * usize::from(!is_without);
    }
    rows.truncate(end);
    rows
}

/// Room for `rows` rows, of which the other party may have said how many.
pub(super) fn reserve(bytes: &mut Vec<u8>, rows: usize, row_len: usize) -> Result<()> {
    let reserved = rows.checked_mul(row_len).map(|len| may_fail(|| bytes.try_reserve_exact(len)));
    match reserved {
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

/// Receives what [`send_bits`] sent.
pub(super) fn recv_bits(ctx: &mut Context, len: usize) -> Result<Bits> {
    let mut bytes = vec![0; Bits::bytes_len(len)];
    bytes.chunks_mut(BYTES_PER_MESSAGE).try_for_each(|part| ctx.peer()?.recv_into(part))?;
    Ok(Bits::from_bytes(&bytes, len))
}

/// Sends `rows` rows that `fill` writes into zeros, some in each message.
pub(super) fn send_rows(
    ctx: &mut Context,
    rows: usize,
    row_len: usize,
    mut fill: impl FnMut(usize, &mut [u8]),
) -> Result<()> {
    let per_message = (BYTES_PER_MESSAGE / row_len).max(1);
    let mut message = Vec::new();
    for first in (0..rows).step_by(per_message) {
        let len = per_message.min(rows - first);
        message.clear();
        message.resize(len * row_len, 0);
        message.chunks_exact_mut(row_len).enumerate().for_each(|(i, row)| fill(first + i, row));
        ctx.peer()?.send(&message)?;
        ctx.progress((first + len) as u64, rows as u64);
    }
    ctx.peer()?.flush()
}

/// Receives what [`send_rows`] sent.
pub(super) fn recv_rows(
    ctx: &mut Context,
    rows: usize,
    row_len: usize,
    mut take: impl FnMut(usize, &[u8]),
) -> Result<()> {
    let per_message = (BYTES_PER_MESSAGE / row_len).max(1);
    let mut message = vec![0; per_message.min(rows) * row_len];
    for first in (0..rows).step_by(per_message) {
        let len = per_message.min(rows - first);
        let message = &mut message[..len * row_len];
        ctx.peer()?.recv_into(message)?;
        message.chunks_exact(row_len).enumerate().for_each(|(i, row)| take(first + i, row));
        ctx.progress((first + len) as u64, rows as u64);
    }
    Ok(())
}
