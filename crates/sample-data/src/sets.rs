//! The input of the parties of a measurement, and the result that they must learn.
//!
//! The sender has items 0 to n_x − 1; the receiver the first of these, as many as are common, and
//! then others. Both number them alike, and an item's number gives its values and its text.

use std::io;
use std::sync::Arc;
use vesica_core::{
    Block, Bounds, Item, Items, Learns, PayloadLen, Query, Result, Role, Values, hash,
};
use vesica_net::Context;
use vesica_own_rows::RowSet;
use vesica_protocols::{Ids, Input, Output, Shares};
use vesica_simd::aes::Aes128;

const VALUE_LABEL: &str = "vesica v1 bench value";
const TEXT_LABEL: &str = "vesica v1 bench text";

/// Bytes that the parties show each other at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// Items made at once.
const BATCH: usize = 1 << 12;

/// One party's view of the made-up sets, and the question about them.
#[derive(Clone, Copy, Debug)]
pub struct MadeUp {
    /// Which party it is.
    pub role: Role,
    /// n_x, the sender's set size.
    pub sender_len: u64,
    /// n_y, the receiver's set size.
    pub receiver_len: u64,
    /// Number of common items, at most the size of the smaller set.
    pub common_len: u64,
    /// Who learns the answer.
    pub learns: Learns,
    /// The question.
    pub query: Query,
    /// How many common items there must be for an answer.
    pub bounds: Bounds,
    /// σ: 128 for digests, less for integers of a small domain.
    pub item_bits: u32,
    /// Whether no item may be zero.
    pub reserves_zero: bool,
}

impl MadeUp {
    /// The party's input.
    pub fn input(&self) -> Input {
        input(self)
    }

    /// Whether `output` is what the party must learn. If one party alone cannot judge the output,
    /// such as shares, it shows it to the other one.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn is_right(&self, output: Output, ctx: &mut Context) -> Result<bool> {
        is_right(self, output, ctx)
    }

    /// Whether `rows`, of a run in partitions, are what the party must learn.
    pub fn are_right(&self, rows: Option<RowSet>) -> bool {
        are_right(self, rows)
    }

    /// The items alone.
    pub fn items(&self) -> MadeUpItems<'_> {
        MadeUpItems { sets: self, role: self.role }
    }
}

fn input(sets: &MadeUp) -> Input {
    let items = Arc::new(items(sets, sets.role));
    if let Some(values) = sets.query.values_of(sets.role) {
        let values = numbers(sets, sets.role).flat_map(|i| values_of(i, values)).collect();
        return Input::with_values(items, Arc::new(values));
    }
    if let (Some(len), Role::Sender) = (sets.query.payload_len(), sets.role) {
        let payloads = numbers(sets, sets.role).flat_map(|i| payload(i, len)).collect();
        return Input::with_payloads(items, Arc::new(payloads));
    }
    match sets.query.text_len() {
        Some(len) => {
            let texts = numbers(sets, sets.role).flat_map(|i| text(i, len.bytes())).collect();
            Input::with_texts(items, Arc::new(texts))
        }
        None => items.into(),
    }
}

fn payload(i: u64, len: PayloadLen) -> impl Iterator<Item = u8> {
    i.to_le_bytes().into_iter().cycle().take(len.bytes())
}

fn is_right(sets: &MadeUp, output: Output, ctx: &mut Context) -> Result<bool> {
    let common = sets.common_len;
    let sums = |values: Values| -> Vec<i128> {
        let rows = (0..common).map(|i| values_of(i, values));
        rows.fold(vec![0; values.columns()], |mut sums, row| {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += values.number(value));
            sums
        })
    };
    Ok(match (output, sets.query) {
        (output, _) if !sets.bounds.contain(common) => output == Output::OutsideBounds,
        (output, _) if sets.role == Role::Sender && sets.learns == Learns::Receiver => {
            output == Output::Nothing
        }
        (Output::Positions(positions), Query::Intersection | Query::Payloads(_)) => {
            positions.into_iter().eq(0..common as usize)
        }
        (Output::Payloads { positions, payloads }, Query::Payloads(len)) => {
            let expected = (0..common).flat_map(|i| payload(i, len));
            positions.into_iter().eq(0..common as usize) && payloads.into_iter().eq(expected)
        }
        (Output::Cardinality(count), Query::Cardinality) => count == common,
        (Output::AtLeast(yes), Query::Threshold { min }) => yes == (common >= min),
        (Output::Sum(sum), Query::Sum(values)) => [sum as i128] == sums(values)[..],
        (Output::CountedSums { count, sums: given }, Query::Sum(values)) => {
            count == common && given == sums(values)
        }
        (Output::CountedSums { count, sums }, Query::InnerProduct { values, factors }) => {
            let mut products = vec![0; values.columns()];
            for i in 0..common {
                // Both parties make the same number of an item.
                let factor = factors.number(values_of(i, factors)[0]);
                let row = values_of(i, values);
                products
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += values.number(value) * factor);
            }
            count == common && sums == products
        }
        (Output::OnlyTheirs(texts), Query::Union(len)) => {
            let len = len.bytes();
            let peer = sets.role.other().unwrap_or(sets.role);
            let theirs = numbers(sets, peer).skip(common as usize).map(|i| text(i, len));
            sorted(texts.chunks(len).map(<[u8]>::to_vec)) == sorted(theirs)
        }
        (Output::Ids(ids), Query::PrivateId) => are_ids(sets, &ids, ctx)?,
        (Output::Shares(shares), query) => are_shares(sets, shares, query, ctx)?,
        _ => false,
    })
}

fn are_right(sets: &MadeUp, rows: Option<RowSet>) -> bool {
    let learns = sets.role == Role::Receiver || sets.learns == Learns::Both;
    let Some(rows) = rows else { return !learns };
    let (common, words) = (sets.common_len, rows.words());
    // The first rows are the common ones.
    let expected = |word: u64| match common.saturating_sub(64 * word) {
        0 => 0,
        left @ 1..64 => (1 << left) - 1,
        _ => !0,
    };
    learns
        && rows.keys() == common
        && words.iter().zip(0..).all(|(word, index)| *word == expected(index))
}

/// Whether both have the same list, in which each own item has an identifier of its own, and common
/// items have the same identifier at both.
fn are_ids(sets: &MadeUp, ids: &Ids, ctx: &mut Context) -> Result<bool> {
    let union = sets.sender_len + sets.receiver_len - sets.common_len;
    let own = sorted(ids.own.iter().copied());
    let listed = ids.all.is_sorted_by(|one, other| one < other)
        && own.is_sorted_by(|one, other| one < other)
        && own.iter().all(|id| ids.all.binary_search(id).is_ok());
    let shown = [ids.all.as_flattened(), common_ids(sets, ids)].concat();
    let theirs = exchange(ctx, &shown)?;
    Ok(listed && ids.all.len() as u64 == union && shown == theirs)
}

fn common_ids<'a>(sets: &MadeUp, ids: &'a Ids) -> &'a [u8] {
    let common = (sets.common_len as usize).min(ids.own.len());
    ids.own[..common].as_flattened()
}

/// Whether the shares of both give the common items and their values, or the values or defaults of
/// all.
fn are_shares(sets: &MadeUp, mut shares: Shares, query: Query, ctx: &mut Context) -> Result<bool> {
    let bytes: Vec<u8> = shares.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let theirs = exchange(ctx, &[shares.items.as_flattened(), &bytes].concat())?;
    let (items, values) =
        theirs.split_at_checked(shares.items.len() * Item::LEN).unwrap_or_default();
    if values.len() != bytes.len() {
        return Ok(false);
    }
    for (item, other) in shares.items.as_flattened_mut().iter_mut().zip(items) {
        *item ^= other;
    }
    let adds = matches!(query, Query::SharedValues { .. });
    for (value, other) in shares.values.iter_mut().zip(values.as_chunks().0) {
        let other = u64::from_le_bytes(*other);
        *value = if adds { value.wrapping_add(other) } else { *value ^ other };
    }
    let common = sets.common_len;
    let columns = query.values().map_or(0, |values| values.columns());
    let of = |i: u64| query.values().map_or(Vec::new(), |values| values_of(i, values));
    let row = |i: usize| shares.values[i * columns..(i + 1) * columns].to_vec();
    if shares.values.len() != columns * shares.len {
        return Ok(false);
    }
    Ok(match query {
        Query::SharedValues { default, .. } => {
            let expected = (0..sets.sender_len)
                .map(|i| if i < common { of(i) } else { vec![default; columns] });
            shares.len as u64 == sets.sender_len
                && sorted((0..shares.len).map(row)) == sorted(expected)
        }
        _ => {
            let items = items_of(sets, 0..common).into_iter().map(|item| *item.as_bytes());
            let entries = shares.items.iter().enumerate().map(|(i, item)| (*item, row(i)));
            shares.len as u64 == common && sorted(entries) == sorted(items.zip((0..common).map(of)))
        }
    })
}

/// Shows `ours` to the other party and returns what the other party shows.
fn exchange(ctx: &mut Context, ours: &[u8]) -> Result<Vec<u8>> {
    let channel = ctx.peer()?;
    channel.send(&(ours.len() as u64).to_le_bytes())?;
    let mut len = [0; 8];
    channel.recv_into(&mut len)?;
    let len = u64::from_le_bytes(len) as usize;
    let mut theirs = Vec::new();
    let mut blocks = ours.chunks(BLOCK_BYTES);
    loop {
        let block = blocks.next();
        if let Some(block) = block {
            channel.send(block)?;
        }
        let left = len.saturating_sub(theirs.len()).min(BLOCK_BYTES);
        if left > 0 {
            theirs.extend(channel.recv(left)?);
        } else if block.is_none() {
            return Ok(theirs);
        }
    }
}

fn sorted<T: Ord>(list: impl Iterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = list.collect();
    list.sort_unstable();
    list
}

/// The numbers of the items of the party in `role`.
fn numbers(sets: &MadeUp, role: Role) -> impl Iterator<Item = u64> + use<> {
    let (first, others) = match role {
        Role::Sender => (sets.sender_len, 0..0),
        _ => {
            let others = sets.receiver_len.saturating_sub(sets.common_len);
            (sets.common_len, sets.sender_len..sets.sender_len + others)
        }
    };
    (0..first).chain(others)
}

/// The items of the party in `role`, made as they are needed.
#[derive(Clone, Copy, Debug)]
pub struct MadeUpItems<'a> {
    sets: &'a MadeUp,
    role: Role,
}

impl Items for MadeUpItems<'_> {
    fn rows(&self) -> u64 {
        match self.role {
            Role::Sender => self.sets.sender_len,
            _ => self.sets.receiver_len,
        }
    }

    fn each(&self, take: &mut dyn FnMut(u64, &[Item]) -> io::Result<()>) -> io::Result<()> {
        let mut numbers = numbers(self.sets, self.role);
        let (mut first, mut items) = (0, Vec::with_capacity(BATCH));
        loop {
            items.clear();
            items.extend(items_of(self.sets, numbers.by_ref().take(BATCH)));
            if items.is_empty() {
                return Ok(());
            }
            take(first, &items)?;
            first += items.len() as u64;
        }
    }
}

fn items(sets: &MadeUp, role: Role) -> Vec<Item> {
    let mut numbers = numbers(sets, role);
    let mut items = Vec::new();
    loop {
        let batch = items_of(sets, numbers.by_ref().take(BATCH));
        if batch.is_empty() {
            return items;
        }
        items.extend(batch);
    }
}

fn items_of(sets: &MadeUp, numbers: impl Iterator<Item = u64>) -> Vec<Item> {
    let (offset, bits) = (u64::from(sets.reserves_zero), sets.item_bits);
    let numbers = numbers.map(|number| u128::from(number + offset));
    if bits < Item::BITS {
        // An odd factor permutes the domain and keeps zero, so different numbers stay different.
        let spread = |number: u128| number * 0x9e37_79b9_7f4a_7c15;
        return numbers.map(|n| Item::from_integer(spread(n) & ((1 << bits) - 1))).collect();
    }
    // A permutation: different numbers give different items.
    let mut blocks: Vec<Block> = numbers.map(Block::new).collect();
    Aes128::new(Block::new(0x76_65_73_69_63_61)).encrypt(&mut blocks);
    blocks.into_iter().map(|block| Item::from_integer(block.get())).collect()
}

/// The values of an item, one of each column.
fn values_of(number: u64, values: Values) -> Vec<u64> {
    let of = |column: u64| {
        let digest = match column {
            0 => hash::derive(VALUE_LABEL, &[&number.to_le_bytes()]),
            _ => hash::derive(VALUE_LABEL, &[&number.to_le_bytes(), &column.to_le_bytes()]),
        };
        let [a, b, c, d, e, f, g, h, ..] = digest;
        let whole = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let shift = u64::BITS - values.bits();
        if values.are_signed() { ((whole as i64) >> shift) as u64 } else { whole >> shift }
    };
    (0..values.columns() as u64).map(of).collect()
}

fn text(number: u64, len: usize) -> Vec<u8> {
    let mut text = number.to_le_bytes().to_vec();
    text.extend(hash::derive(TEXT_LABEL, &[&number.to_le_bytes()]));
    text.resize(len, 0x20);
    text
}
