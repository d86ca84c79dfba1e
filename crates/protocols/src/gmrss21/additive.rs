//! Additive shares of a value where an item is common, and of zero elsewhere (Figure 11 and §4.3).
//!
//! A correlated transfer a row: the receiver gets r, or r + v where the item is common; the sender
//! keeps r. Numbers are modulo 2^(8·bytes).

use super::Form;
use super::transfers::{bytes as transfer_bytes, chosen_pads, pads, recv_rows, send_rows, stretch};
use vesica_core::{Block, Result, SessionId};
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
    fn row_len(&self) -> usize {
        self.columns * self.bytes
    }

    /// What is left of `number` in a share's bytes.
    pub(super) fn reduced(&self, number: u128) -> u128 {
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
    transfer_bytes(form, layout.rows, layout.row_len())
}

/// The sender's part: shows `share` the r of each row and column, whose value is `value`.
pub(super) fn give(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    layout: Layout,
    value: impl Fn(usize, usize) -> u128,
    mut share: impl FnMut(usize, usize, u128),
) -> Result<()> {
    if layout.rows == 0 {
        return Ok(());
    }
    let pads = pads(ctx, session, form, layout.rows)?;
    let row_len = layout.row_len();
    let mut without = Zeroizing::new(vec![0; row_len]);
    let mut with = Zeroizing::new(vec![0; row_len]);
    send_rows(ctx, layout.rows, row_len, |i, out| {
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

/// The receiver's part: shows `share` its share of each row and column.
pub(super) fn take(
    ctx: &mut Context,
    session: &SessionId,
    form: Form,
    layout: Layout,
    is_common: &Bits,
    mut share: impl FnMut(usize, usize, u128),
) -> Result<()> {
    if layout.rows == 0 {
        return Ok(());
    }
    let pads = chosen_pads(ctx, session, form, is_common)?;
    let row_len = layout.row_len();
    let mut own = Zeroizing::new(vec![0; row_len]);
    recv_rows(ctx, layout.rows, row_len, |i, row| {
        stretch(pads[i], &mut own);
        // Without a branch: r, or the sum less the other pad and with it.
        let chosen = Block::mask(is_common.get(i)).get();
        for column in 0..layout.columns {
            let sum = layout.read(row, column) & chosen;
            let number = layout.read(&own, column).wrapping_add(sum);
            share(i, column, layout.reduced(number));
        }
    })
}
