//! The party whose items are put in an order of its own; the values are its.

use super::additive::{self, Layout};
use super::characteristic::{self, step};
use super::{Identifiers, Plan, announce, private_id, transfers};
use crate::party::check_set_len;
use crate::{Ids, Input, Output, Party, Shares, answer};
use std::collections::HashMap;
use vesica_core::{Error, Item, Learns, PsiParams, Query, Result, Role, Values};
use vesica_net::Context;
use vesica_switching::oblivious::{self, Rows};
use zeroize::Zeroizing;

/// Holds X, and values or texts of it.
pub(super) struct Sender {
    plan: Plan,
    params: PsiParams,
    input: Input,
}

impl Sender {
    pub(super) fn new(plan: Plan, params: PsiParams, input: Input) -> Result<Self> {
        check_set_len(params.sender_len(), input.items().len())?;
        Ok(Self { plan, params, input })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { plan, params, input } = *self;
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
    let learns = params.learns() == Learns::Both;
    let x = input.items();
    let order = characteristic::sender(ctx, session, form, x, params.receiver_len())?;
    if !announce::hear(ctx, params)? {
        return Ok(Output::OutsideBounds);
    }
    let session = &step(session, "payload");
    let is_empty = params.has_empty_set();
    ctx.child("result", |ctx| match params.query() {
        Query::Cardinality if !learns => Ok(Output::Nothing),
        Query::Cardinality if is_empty => Ok(Output::Cardinality(0)),
        Query::Cardinality => Ok(Output::Cardinality(announce::recv_count(ctx, params)?)),
        Query::Sum(values) => {
            if !is_empty {
                give_sums(ctx, plan, params, &order, input_values(input)?, values)?;
            }
            match learns {
                false => Ok(Output::Nothing),
                true => announce::recv_sums(ctx, params, values),
            }
        }
        Query::Union(len) => {
            let len = len.bytes();
            let texts = input.texts().ok_or(Error::Bug("a union without texts"))?;
            transfers::give(ctx, session, form, (order.len(), len), |i, out| {
                out.copy_from_slice(&texts[order[i] as usize * len..][..len]);
            })?;
            match learns {
                false => Ok(Output::Nothing),
                true => others_of_union(ctx, params, texts, len),
            }
        }
        Query::Shares(values) => shares_of_common(ctx, plan, params, &order, input, values),
        Query::SharedValues { values, default } => {
            let own = input_values(input)?;
            let columns = values.columns();
            let layout = Layout { rows: order.len(), columns, bytes: 8 };
            let mut shares = vec![0_u64; order.len() * columns];
            let value = |i: usize, column: usize| {
                let value = own[order[i] as usize * columns + column];
                u128::from(value.wrapping_sub(default))
            };
            additive::give(ctx, session, form, layout, value, |i, column, r| {
                shares[i * columns + column] = (r as u64).wrapping_neg();
            })?;
            Ok(Output::Shares(Shares { len: order.len(), items: Vec::new(), values: shares }))
        }
        _ => {
            if is_empty {
                return Ok(if learns { Output::Positions(Vec::new()) } else { Output::Nothing });
            }
            transfers::give(ctx, session, form, (order.len(), Item::LEN), |i, out| {
                out.copy_from_slice(x[order[i] as usize].as_bytes());
            })?;
            answer::take_places(ctx, params, &order)
        }
    })
}

fn input_values(input: &Input) -> Result<&[u64]> {
    input.values().map(|values| values.as_slice()).ok_or(Error::Bug("a query without its values"))
}

/// Gives shares of the values that sum up to zero where items are not common (Figure 11).
fn give_sums(
    ctx: &mut Context,
    plan: &Plan,
    params: &PsiParams,
    order: &[u32],
    own: &[u64],
    values: Values,
) -> Result<()> {
    let session = step(params.session(), "payload");
    let layout = super::sum_layout(params, values);
    let columns = layout.columns;
    let mut totals = vec![0_u128; columns];
    let value =
        |i: usize, column: usize| values.number(own[order[i] as usize * columns + column]) as u128;
    additive::give(ctx, &session, plan.form, layout, value, |_, column, r| {
        totals[column] = totals[column].wrapping_sub(r);
    })?;
    // The paper draws shares of zero; to send their sum is the same, and needs one pass.
    transfers::send_rows(ctx, columns, layout.bytes, |column, out| {
        out.copy_from_slice(&totals[column].to_le_bytes()[..layout.bytes]);
    })
}

/// The texts of the union without this party's own, of which each stands for one item: others may have the same.
/// Refused when one of its own is missing, of which the receiver must not learn: it does not know whose they are.
fn others_of_union(
    ctx: &mut Context,
    params: &PsiParams,
    own: &[u8],
    len: usize,
) -> Result<Output> {
    let union = announce::recv_union(ctx, params, len)?;
    let mut left: HashMap<&[u8], usize> = HashMap::with_capacity(params.sender_len());
    own.chunks_exact(len).for_each(|text| *left.entry(text).or_default() += 1);
    let mut others = Vec::new();
    for text in union.chunks_exact(len) {
        match left.get_mut(text) {
            Some(count) if *count > 0 => *count -= 1,
            _ => others.extend_from_slice(text),
        }
    }
    let is_missing = left.values().any(|count| *count > 0);
    // As many as the receiver expects.
    others.truncate(union.len().saturating_sub(own.len()));
    Ok(Output::unless(is_missing, Output::OnlyTheirs(others)))
}

/// A second network, which the receiver sets (Figure 13).
fn shares_of_common(
    ctx: &mut Context,
    plan: &Plan,
    params: &PsiParams,
    order: &[u32],
    input: &Input,
    values: Option<Values>,
) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Shares(Shares::default()));
    }
    let common = announce::recv_count(ctx, params)? as usize;
    let columns = values.map_or(0, |values| values.columns());
    let own = match values {
        Some(_) => input_values(input)?,
        None => &[],
    };
    let mut rows = Rows::zeros(order.len(), super::shared_bits(columns));
    for (i, position) in order.iter().enumerate() {
        let position = *position as usize;
        let item = input.items()[position].integer();
        let row = rows.row_mut(i);
        row[0] = item as u64;
        row[1] = (item >> 64) as u64;
        row[2..].copy_from_slice(&own[position * columns..][..columns]);
    }
    let session = step(params.session(), "payload");
    let shares = oblivious::hold(ctx, &session, plan.form.switching(), &rows, common)?;
    Ok(Output::Shares(super::shares_of_rows(&shares)))
}

/// The identifiers of both sets.
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
        Role::Sender,
        input.items(),
        params.receiver_len(),
    )?;
    let x: Vec<Item> = own.iter().map(|id| Item::from_bytes(id.to_le_bytes())).collect();
    let union = step(session, "union");
    let order = characteristic::sender(ctx, &union, plan.form, &x, params.receiver_len())?;
    let all = ctx.child("result", |ctx| {
        let session = step(&union, "payload");
        transfers::give(ctx, &session, plan.form, (order.len(), Item::LEN), |i, out| {
            out.copy_from_slice(x[order[i] as usize].as_bytes());
        })?;
        announce::recv_union(ctx, params, Item::LEN)
    })?;
    let (all, _) = all.as_chunks::<{ Item::LEN }>();
    let ids = Ids { own: x.iter().map(|id| *id.as_bytes()).collect(), all: all.to_vec() };
    let mut sorted = Zeroizing::new(ids.own.clone());
    sorted.sort_unstable();
    let mut rest = ids.all.iter();
    let has_own = sorted.iter().all(|id| rest.any(|other| other == id));
    let is_wrong = !ids.all.is_sorted_by(|a, b| a < b) || !has_own;
    // The receiver must not learn of one that is missing: it does not know which of its own are common.
    Ok(Output::unless(is_wrong, Output::Ids(ids)))
}
