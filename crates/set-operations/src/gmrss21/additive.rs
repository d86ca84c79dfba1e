//! Additive shares of a value for common items, and of zero for all others (Figure 11 and §4.3).
//!
//! One correlated transfer a row: the receiver gets r, or r + v where the item is common; the
//! sender has r. Numbers are modulo 2^(8·bytes).

use super::form::Form;
use super::plan::CoreRun;
use super::transfers::{
    self, Payloads, recv_pads, recv_payloads, send_pads, send_payloads, stretch,
};
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use zeroize::Zeroizing;

/// How values are shared.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Rows: items of the sender.
    pub(super) rows: usize,
    /// Values of each.
    pub(super) columns: usize,
    /// Bytes of a share, at most 16.
    pub(super) bytes: usize,
}

impl Layout {
    fn payloads(&self) -> Payloads {
        Payloads { count: self.rows, len: self.columns * self.bytes }
    }

    /// `number` modulo 2^(8·bytes).
    fn reduced(&self, number: u128) -> u128 {
        number & (u128::MAX >> (128 - 8 * self.bytes))
    }

    fn read(&self, row: &[u8], column: usize) -> u128 {
        let mut number = [0; 16];
        number[..self.bytes].copy_from_slice(&row[column * self.bytes..][..self.bytes]);
        u128::from_le_bytes(number)
    }

    fn write(&self, number: u128, row: &mut [u8], column: usize) {
        row[column * self.bytes..][..self.bytes]
            .copy_from_slice(&number.to_le_bytes()[..self.bytes]);
    }
}

/// Payload bytes.
pub(super) fn bytes(form: Form, layout: Layout) -> Traffic {
    transfers::bytes(form, layout.payloads())
}

/// The sender's side: calls `share` with the r of each row and column, whose value is `value`.
pub(super) fn send(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    layout: Layout,
    value: impl Fn(usize, usize) -> u128,
    mut share: impl FnMut(usize, usize, u128),
) -> Result<()> {
    let payloads = layout.payloads();
    if payloads.count == 0 {
        return Ok(());
    }
    let pads = send_pads(ctx, run, payloads.count)?;
    let mut without = Zeroizing::new(vec![0; payloads.len]);
    let mut with = Zeroizing::new(vec![0; payloads.len]);
    send_payloads(ctx, payloads, |i, out| {
        stretch(pads[i][0], &mut without);
        stretch(pads[i][1], &mut with);
        for column in 0..layout.columns {
            let r = layout.read(&without, column);
            let other = layout.read(&with, column);
            share(i, column, r);
            let sum = r.wrapping_add(value(i, column)).wrapping_sub(other);
            layout.write(sum, out, column);
        }
    })
}

/// The receiver's side: calls `share` with its share of each row and column.
pub(super) fn recv(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    layout: Layout,
    e: &Bits,
    mut share: impl FnMut(usize, usize, u128),
) -> Result<()> {
    let payloads = layout.payloads();
    if payloads.count == 0 {
        return Ok(());
    }
    let pads = recv_pads(ctx, run, e)?;
    let mut own = Zeroizing::new(vec![0; payloads.len]);
    recv_payloads(ctx, payloads, |i, row| {
        stretch(pads[i], &mut own);
        // Without a branch: r, or the sum less the other pad and with it.
        let chosen = Block::mask(e.get(i)).get();
        for column in 0..layout.columns {
            let sum = layout.read(row, column) & chosen;
            let number = layout.read(&own, column).wrapping_add(sum);
            share(i, column, layout.reduced(number));
        }
    })
}
