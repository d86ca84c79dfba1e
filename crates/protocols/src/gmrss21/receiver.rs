//! The party that is told which items in the sender's order are common.

use super::additive::{self, Layout};
use super::characteristic::{self, step};
use super::{Identifiers, Plan, announce, private_id, transfers};
use crate::party::check_set_len;
use crate::{Ids, Input, Output, Party, Shares, answer};
use rand::seq::SliceRandom;
use vesica_core::{
    Block, Error, Item, Learns, Misbehaviour, PsiParams, Query, Result, Role, Values,
};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_switching::oblivious;
use zeroize::Zeroizing;

/// Holds Y; learns first.
pub(super) struct Receiver {
    plan: Plan,
    params: PsiParams,
    input: Input,
}

impl Receiver {
    pub(super) fn new(plan: Plan, params: PsiParams, input: Input) -> Result<Self> {
        check_set_len(params.receiver_len(), input.items().len())?;
        Ok(Self { plan, params, input })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { plan, params, input } = *self;
        let output = match plan.identifiers {
            Some(identifiers) => ids(ctx, &plan, &params, identifiers, &input)?,
            None => answer_query(ctx, &plan, &params, &input)?,
        };
        ctx.finish()?;
        Ok(output)
    }
}

fn answer_query(
    ctx: &mut Context,
    plan: &Plan,
    params: &PsiParams,
    input: &Input,
) -> Result<Output> {
    let (session, form) = (params.session(), plan.form);
    let both = params.learns() == Learns::Both;
    let y = input.items();
    let is_common = characteristic::receiver(ctx, session, form, params.sender_len(), y)?;
    let count = is_common.iter().filter(|is| *is).count() as u64;
    if !announce::tell(ctx, params, count)? {
        return Ok(Output::OutsideBounds);
    }
    let session = &step(session, "payload");
    let is_empty = params.has_empty_set();
    ctx.child("result", |ctx| match params.query() {
        Query::Cardinality => {
            if both && !is_empty {
                announce::send_count(ctx, count)?;
            }
            Ok(Output::Cardinality(count))
        }
        Query::Sum(values) => {
            let sums = match is_empty {
                true => vec![0; values.columns()],
                false => take_sums(ctx, plan, params, &is_common, values)?,
            };
            if both {
                announce::send_sums(ctx, params, count, &sums)?;
            }
            Ok(Output::CountedSums { count, sums })
        }
        Query::Union(len) => {
            let len = len.bytes();
            let theirs = transfers::take(ctx, session, form, len, &is_common)?;
            let theirs = transfers::chosen(theirs, len, &is_common);
            if both {
                let texts = input.texts().ok_or(Error::Bug("a union without texts"))?;
                let mut union: Vec<&[u8]> =
                    texts.chunks_exact(len).chain(theirs.chunks_exact(len)).collect();
                // In the order in which they came it would show which are whose.
                union.shuffle(ctx.rng());
                announce::send_union(ctx, len, &union)?;
            }
            Ok(Output::OnlyTheirs(theirs))
        }
        Query::Shares(values) => {
            shares_of_common(ctx, plan, params, &is_common, values.map_or(0, |v| v.columns()))
        }
        Query::SharedValues { values, default } => {
            let columns = values.columns();
            let layout = Layout { rows: is_common.len(), columns, bytes: 8 };
            let mut shares = vec![0_u64; layout.rows * columns];
            additive::take(ctx, session, form, layout, &is_common, |i, column, share| {
                shares[i * columns + column] = (share as u64).wrapping_add(default);
            })?;
            Ok(Output::Shares(Shares { len: layout.rows, items: Vec::new(), values: shares }))
        }
        _ => {
            if is_empty {
                return Ok(Output::Positions(Vec::new()));
            }
            let not_common = complement(&is_common);
            let taken = transfers::take(ctx, session, form, Item::LEN, &not_common)?;
            if both {
                answer::send(ctx, &is_common.to_bytes())?;
            }
            Ok(positions_of(y, &taken, &is_common))
        }
    })
}

fn complement(bits: &Bits) -> Bits {
    Bits::new(
        bits.blocks().iter().map(|block| *block ^ Block::new(u128::MAX)).collect(),
        bits.len(),
    )
}

/// The positions in `y` of those of the items that came that are common.
///
/// Every item is looked up, and what it takes does not depend on how many are common.
fn positions_of(y: &[Item], taken: &[u8], is_common: &Bits) -> Output {
    let (taken, _) = taken.as_chunks::<{ Item::LEN }>();
    let mut order: Vec<u32> = (0..y.len() as u32).collect();
    order.sort_unstable_by_key(|position| y[*position as usize]);
    // The last place is for all that is not common.
    let mut found = vec![false; y.len() + 1];
    let mut is_missing = false;
    for (item, is_common) in taken.iter().zip(is_common.iter()) {
        let item = Item::from_bytes(*item);
        let search = order.binary_search_by_key(&item, |position| y[*position as usize]);
        let (Ok(place) | Err(place)) = search;
        let position = order.get(place).map_or(y.len(), |position| *position as usize);
        found[if is_common { position } else { y.len() }] = true;
        is_missing |= is_common && search.is_err();
    }
    found.truncate(y.len());
    // A false match of the comparison has probability 2^-40; only a peer that deviates makes another. It must not
    // learn that this happened: it happens only where the item that it replaced is common.
    Output::unless(is_missing, crate::computed::positions_of_flags(&found))
}

fn take_sums(
    ctx: &mut Context,
    plan: &Plan,
    params: &PsiParams,
    is_common: &Bits,
    values: Values,
) -> Result<Vec<i128>> {
    let session = step(params.session(), "payload");
    let layout = super::sum_layout(params, values);
    let mut totals = vec![0_u128; layout.columns];
    additive::take(ctx, &session, plan.form, layout, is_common, |_, column, share| {
        totals[column] = totals[column].wrapping_add(share);
    })?;
    transfers::recv_rows(ctx, layout.columns, layout.bytes, |column, row| {
        let mut number = [0; 16];
        number[..row.len()].copy_from_slice(row);
        totals[column] = totals[column].wrapping_add(u128::from_le_bytes(number));
    })?;
    let sign = 128 - 8 * layout.bytes as u32;
    // One bit more than any sum needs: the highest one is the sign.
    Ok(totals.into_iter().map(|total| (total << sign) as i128 >> sign).collect())
}

fn shares_of_common(
    ctx: &mut Context,
    plan: &Plan,
    params: &PsiParams,
    is_common: &Bits,
    columns: usize,
) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Shares(Shares::default()));
    }
    let places = is_common.iter().enumerate().filter(|(_, is)| *is);
    let mut injection = Zeroizing::new(places.map(|(place, _)| place as u32).collect::<Vec<u32>>());
    injection.shuffle(ctx.rng());
    announce::send_count(ctx, injection.len() as u64)?;
    let session = step(params.session(), "payload");
    let shape = super::shared_shape(params, columns, injection.len());
    let rows = oblivious::route(ctx, &session, plan.form.switching(), &injection, &shape)?;
    Ok(Output::Shares(super::shares_of_rows(&rows)))
}

fn ids(
    ctx: &mut Context,
    plan: &Plan,
    params: &PsiParams,
    identifiers: Identifiers,
    input: &Input,
) -> Result<Output> {
    let session = params.session();
    let own = private_id::of_items(
        ctx,
        session,
        identifiers,
        Role::Receiver,
        input.items(),
        params.sender_len(),
    )?;
    let y: Vec<Item> = own.iter().map(|id| Item::from_bytes(id.to_le_bytes())).collect();
    let union = step(session, "union");
    let is_common = characteristic::receiver(ctx, &union, plan.form, params.sender_len(), &y)?;
    ctx.child("result", |ctx| {
        let session = step(&union, "payload");
        let theirs = transfers::take(ctx, &session, plan.form, Item::LEN, &is_common)?;
        let theirs = transfers::chosen(theirs, Item::LEN, &is_common);
        let own: Vec<[u8; Item::LEN]> = y.iter().map(|id| *id.as_bytes()).collect();
        let (theirs, _) = theirs.as_chunks::<{ Item::LEN }>();
        let mut all = [&own[..], theirs].concat();
        all.sort_unstable();
        // The list is told the sender, and one that is there twice would show in it as well.
        if !all.is_sorted_by(|a, b| a < b) {
            return Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue));
        }
        let texts: Vec<&[u8]> = all.iter().map(|id| &id[..]).collect();
        announce::send_union(ctx, Item::LEN, &texts)?;
        Ok(Output::Ids(Ids { own, all }))
    })
}
