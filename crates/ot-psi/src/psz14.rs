//! # OT-PSI with a mask for every place of a bin
//!
//! B. Pinkas, T. Schneider, M. Zohner, "Faster private set intersection based on OT extension",
//! USENIX Security 2014, as described in B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing",
//! USENIX Security 2015, §3.5 and Figure 1. The baseline that OT-Phasing improves on.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 4, for 2^16 items each |
//! | payload bytes | setup + 32·t·(β + s) + tags((2 + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') with [`Learns::Both`] |
//! | t | ⌈σ'/8⌉ characters; σ' is the smaller of σ and λ + ⌈log n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉) |
//! | ℓ | λ + ⌈log (2 + s)·n_x⌉ + ⌈log (β·max_β + s·n_x)⌉ |
//!
//! ```text
//!   sender P_1: X                                       receiver P_2: Y
//!
//!   1  T_1: every x in the bins of both functions,      T_2: every y in one of β = 2.4·n_y bins,
//!      in a random place k < max_β of each              or in the stash of s
//!   2  t rows a bin, 1-out-of-256  ◀──────────────▶     chooses the characters of what is in its bin
//!   3  V: F_{b,k}(x) for x in bin b at place k,         F_{b,k}(y) for y in bin b and each k < max_β,
//!      F_{p,k}(x) for stash place p and x number k      F_{p,k}(y) for y in stash place p and each k < n_x
//!   4  V, sorted                   ───────────────▶     y is common iff one of its F is in V
//!   5  [both] x is common iff its tag came ◀──────      [both] tags of the common items, and random ones
//! ```
//!
//! Steps 1, 2 to 3, and 4 are the three steps of Figure 1. Steps 2 and 3 run group by group of
//! bins, then for the stash.
//!
//! F_{b,k} is part k of the long strings of the paper's transfers, [`vesica_oprf::characters`] in
//! slot k. The receiver computes max_β of them for each of its items, which is what makes the
//! protocol slow; the sender computes those of its items, and none for empty places.
//!
//! Bins and places of the stash without an item have no value at all
//! ([`NONE`](vesica_ot::coded::kk13::NONE)): any value could be an item of the sender's, and the
//! receiver would learn that.
//!
//! **Where we differ from the paper.** The places in a bin are drawn at random, so that they do not
//! show how many items it holds; the numbers k of the items for the stash are drawn too. Masks are
//! sent as the Elias–Fano code of their set and not in random order, and ℓ counts all pairs that
//! are compared. In a bin both functions of an x may meet only in different bins. max_β is the
//! smallest number that a bin exceeds with probability below 2^-40, computed exactly
//! ([`vesica_hashing::max_load`]); if a bin exceeds it, the run ends with an error. The receiver
//! computes the masks of every stash place, and of as many bins as it has items, regardless of what
//! it holds there: the time does not depend on how many of its items are in the stash.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;
mod places;
mod plan;

pub use catalogue::ROW;
pub use catalogue::bytes;

use places::{FreePlaces, Held, NO_ITEM, Places, numbering, stash_slot};
use plan::Plan;
use std::sync::Arc;
use vesica_core::tagged::{Gathered, Tagged};
use vesica_core::{Error, Item, ParameterError, PsiParams, Result, SessionId};
use vesica_hashing::{Cuckoo, Simple};
use vesica_net::Context;
use vesica_oprf::characters::{Choices, Outputs};
use vesica_ot::coded::{ReceiverSetup, kk13};
use vesica_party::{Output, answer, sorted_tags};

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the
/// receiver has.
fn run_sender(params: PsiParams, x: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let plan = Plan::new(&params);
    let session = params.session();
    let transfers = ctx.child("setup", |ctx| kk13::Sender::setup(ctx, session))?;
    // 1. T_1: every x in the bins of both functions
    let (short, t_1) = ctx.child("hashing", |ctx| {
        let short = plan.items.shorten(ctx.pool(), &params, &x);
        let t_1 = Simple::new(ctx.pool(), &plan.locations(session), &short);
        (short, t_1)
    });
    // 2. t rows a bin  3. V: F_{b,k}(x), F_{p,k}(x)
    let v = ctx.child("masks", |ctx| sender_masks(ctx, &plan, session, transfers, &short, &t_1))?;
    drop((short, t_1));
    // 4. V, sorted
    ctx.child("tags", |ctx| sorted_tags::send_gathered(ctx, plan.tags(), v))?;
    // 5. [both] x is common iff its tag came
    answer::receive_items(ctx, &params, &x)
}

/// P_2: learns which of its items the sender has.
fn run_receiver(params: PsiParams, y: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    let plan = Plan::new(&params);
    let session = params.session();
    let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
    // 1. T_2: every y in one of β bins, or in the stash of s
    let (short, t_2) = ctx.child("hashing", |ctx| {
        let short = plan.items.shorten(ctx.pool(), &params, &y);
        let bins = plan.locations(session).bins(ctx.pool(), &short);
        Ok::<_, Error>((short, Cuckoo::new(&plan.table, &bins)?))
    })?;
    let transfers = ctx.child("setup", |ctx| kk13::Receiver::new(ctx, setup))?;
    // 2. The characters of what is in its bin  3. F_{b,k}(y), F_{p,k}(y)
    let masks =
        ctx.child("masks", |ctx| receiver_masks(ctx, &plan, session, transfers, &short, &t_2))?;
    drop((short, t_2));
    // 4. y is common iff one of its F is in V
    let mut matches = ctx.child("tags", |ctx| {
        sorted_tags::find(ctx, plan.tags(), &sorted_tags::gathered(plan.tags(), masks))
    })?;
    debug_assert!(matches.iter().all(|found| found.own != NO_ITEM), "no item is common");
    matches.retain(|found| found.own != NO_ITEM);
    let common = sorted_tags::own_positions(&matches, y.len());
    // 5. [both] tags of the common items, and random ones
    answer::send_items(ctx, &params, &y, &common)?;
    Ok(Output::Positions(common))
}

/// V; `x` are the items as they are compared, T_1 their places in bins.
fn sender_masks(
    ctx: &mut Context,
    plan: &Plan,
    session: &SessionId,
    mut transfers: kk13::Sender,
    x: &[Item],
    t_1: &Simple,
) -> Result<Gathered> {
    let shape = plan.shape();
    let codes = transfers.masks();
    let mut v = sorted_tags::gather(plan.tags());
    let mut done = 0;
    let mut rows = Vec::new();
    let mut make = |ctx: &Context, f: &Outputs, rows: &[_], values: &[_]| {
        let mut made = vec![0; values.len()];
        f.of_values(ctx.pool(), rows, &codes, values, &mut made);
        made.iter().for_each(|mask| v.push(*mask));
        done += made.len() as u64;
        ctx.progress(done, plan.masks());
    };
    let mut extensions = plan.extensions();
    for (group, len) in (0..t_1.groups()).zip(&mut extensions) {
        // 2. t rows a bin, 1-out-of-256
        rows.clear();
        transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))?;
        // 1. In a random place k < max_β of each bin.
        let mut of_places = vec![Vec::new(); plan.places];
        let mut free = FreePlaces::new(t_1.bins(group).len(), plan.places);
        for entry in t_1.entries(group) {
            let bin = entry.bin as usize - t_1.bins(group).start;
            let k = free.take(bin, ctx.rng()).ok_or(ParameterError::HashingFailed)?;
            let value = x[entry.position as usize].integer();
            of_places[k].push(((bin * shape.rows()) as u32, value));
        }
        // 3. F_{b,k}(x) for x in bin b at place k
        for (k, values) in of_places.iter().enumerate() {
            make(ctx, &Outputs::new(shape, session, k as u64), &rows, values);
        }
    }
    // The same for the stash.
    rows.clear();
    let len = extensions.next().unwrap_or(0);
    transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))?;
    if plan.table.stash() > 0 {
        // A match in the stash shows the receiver the number k of the item, so the numbers are
        // random.
        for (k, position) in numbering(x.len(), ctx.rng()).into_iter().enumerate() {
            let item = &x[position as usize];
            let firsts = (0..plan.table.stash()).map(|p| (p * shape.rows()) as u32);
            let values: Vec<_> = firsts.map(|first| (first, item.integer())).collect();
            make(ctx, &Outputs::new(shape, session, stash_slot(k)), &rows, &values);
        }
    }
    Ok(v)
}

/// The receiver's masks with the positions of their items; `y` are the items as they are compared,
/// T_2 their bins.
fn receiver_masks(
    ctx: &mut Context,
    plan: &Plan,
    session: &SessionId,
    mut transfers: kk13::Receiver,
    y: &[Item],
    t_2: &Cuckoo,
) -> Result<Vec<Tagged>> {
    let shape = plan.shape();
    let mut masks = Vec::with_capacity(plan.own_masks() as usize);
    let mut make = |ctx: &Context, f: &Outputs, rows: &[_], own: &[(u32, u32)]| {
        let firsts: Vec<u32> = own.iter().map(|(_, first)| *first).collect();
        let mut made = vec![0; own.len()];
        f.of_own(ctx.pool(), rows, &firsts, &mut made);
        masks.extend(own.iter().zip(&made).map(|(own, mask)| Tagged::new(*mask, own.0)));
        ctx.progress(masks.len() as u64, plan.own_masks());
    };
    let (mut rows, mut choices, mut own) = (Vec::new(), Choices::new(shape), Vec::new());
    for (held, is_stash) in Places::new(&plan.table, t_2, y.len()) {
        // 2. Without an item there is no choice: any value could be an item of the sender's.
        choices.begin(held.len());
        own.clear();
        for (bin, held) in held.iter().enumerate() {
            let position = match held {
                Held::Item(position) => {
                    choices.set(bin, y[*position as usize].integer());
                    *position
                }
                Held::Dummy => NO_ITEM,
                Held::Nothing => continue,
            };
            own.push((position, (bin * shape.rows()) as u32));
        }
        rows.clear();
        transfers.extend(ctx, choices.rows(), |_, tile| rows.extend_from_slice(tile))?;
        // 3. F_{p,k}(y) for each k < n_x, F_{b,k}(y) for each k < max_β
        if is_stash {
            for k in 0..plan.n_x {
                make(ctx, &Outputs::new(shape, session, stash_slot(k)), &rows, &own);
            }
        } else {
            for k in 0..plan.places {
                make(ctx, &Outputs::new(shape, session, k as u64), &rows, &own);
            }
        }
    }
    ctx.finish()?;
    Ok(masks)
}
