//! # Garbled Bloom filters: oblivious Bloom intersection
//!
//! C. Dong, L. Chen, Z. Wen, "When private set intersection meets big data: an efficient and
//! scalable protocol", ACM CCS 2013, §4 (full version of 2016).
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption, `gbf` | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gbf_iknp`, `gbf_paper` | gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 5 (`gbf`), 3 (`gbf_iknp`, `gbf_paper`), for 2^16 items each |
//! | payload bytes | transfers(m) + 32 + ⌈m/8⌉ + m·s, and tags(min(n_x, n_y)) with [`Learns::Both`] |
//!
//! ```text
//!   sender: X                                          receiver: Y
//!
//!   1  setup of the transfers        ◀────────────▶    setup of the transfers
//!   2  m transfers: p_0, p_1         ◀────────────▶    c ←$ {0,1}^m, p_c
//!   3                                ◀─────────────    r ←$ {0,1}^256
//!   4  d                             ◀─────────────    B = Bloom(Y), d = c + B
//!   5  G = GarbledBloom({(x, t(x))})
//!      G_i + p_{i, 1+d_i}            ─────────────▶    G_i where B_i = 1
//!   6                                                  y is common iff Σ_{i ∈ h*(y)} G_i = t(y)
//!   7  [both] x is common iff t'(x) is among them ◀    [both] t'(y) of the common y, and random ones
//! ```
//!
//! Steps 4 to 6 run block by block, on two forks: strings of a block leave while the corrections d
//! of the next come. Steps 2, 4 and 5 are the transfers of the paper's step 2 (Figure 2), step 6 is
//! its step 3.
//!
//! m = 1.5·k·max(n_x, n_y) + 1024 slots, k = λ + ⌈log n_x⌉ hash functions, strings of s bytes with
//! 8·s ≥ λ + ⌈log n_y⌉. The catalogue has three rows: `gbf` with silent transfers, `gbf_iknp` with
//! IKNP, and `gbf_paper` with the paper's parameters: IKNP, k = κ = 128, m = 1.44·k·max(n_x, n_y),
//! strings of 128 bits.
//!
//! **Where we differ from the paper.** An item's indices count once each: where two hash functions
//! agree, the paper's sum loses the slot. The value of an item is a hash t(x) in place of x. Where
//! its filter has a zero, the receiver has the transfer's own pad as its random string, so only one
//! string a slot is sent. Filters are built in blocks, see [`vesica_okvs::bloom`], which stay in
//! the cache. The receiver adds up an item's pads in step 4 and its strings in step 6, and keeps
//! neither.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;
mod hashing;
mod plan;
mod receiver;
mod sender;
mod transfers;

pub use catalogue::bytes;
pub use catalogue::{IKNP_ROW, PAPER_ROW, SILENT_ROW};
pub use plan::Mode;

use hashing::Hashing;
use plan::{Plan, SEED_LEN};
use rand::Rng;
use receiver::{GROUP_BLOCKS, GROUPS_AHEAD, Query};
use sender::{Garbling, Transfers};
use std::sync::Arc;
use transfers::{Choices, Keys};
use vesica_core::{Item, PsiParams, Result};
use vesica_net::Context;
use vesica_okvs::bloom::Share;
use vesica_party::{Output, answer};

/// Garbles its set; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its
/// items the receiver has.
fn run_sender(
    mode: Mode,
    params: PsiParams,
    x: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    let session = params.session();
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let plan = Plan::new(mode, &params);
    // 1. Setup of the transfers.
    let mut keys = ctx.child("setup", |ctx| Keys::setup(ctx, session, mode))?;
    // 2. m transfers: p_0, p_1
    ctx.child("transfers", |ctx| keys.extend(ctx, plan.shape.len()))?;
    // 3. r
    let mut r = [0; SEED_LEN];
    ctx.peer()?.recv_into(&mut r)?;
    let hashing = Hashing::new(&plan, session, &r);
    // 4 to 7. Strings of up to 8 bytes are u64.
    if plan.is_narrow() {
        send_filter::<u64>(ctx, &plan, &hashing, keys, &params, &x)
    } else {
        send_filter::<u128>(ctx, &plan, &hashing, keys, &params, &x)
    }
}

/// Learns which of its items the sender has.
fn run_receiver(
    mode: Mode,
    params: PsiParams,
    y: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    let session = params.session();
    if params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    let plan = Plan::new(mode, &params);
    // 1. Setup of the transfers.
    let mut choices = ctx.child("setup", |ctx| Choices::setup(ctx, session, mode))?;
    // 2. m transfers: c ←$ {0,1}^m, p_c
    ctx.child("transfers", |ctx| choices.extend(ctx, plan.shape.len()))?;
    // 3. r ←$ {0,1}^256
    let mut r = [0; SEED_LEN];
    ctx.rng().fill_bytes(&mut r);
    ctx.peer()?.send(&r)?;
    ctx.peer()?.flush()?;
    let hashing = Hashing::new(&plan, session, &r);
    // 4 to 7. Strings of up to 8 bytes are u64.
    let common = if plan.is_narrow() {
        recv_filter::<u64>(ctx, &plan, &hashing, choices, &params, &y)
    } else {
        recv_filter::<u128>(ctx, &plan, &hashing, choices, &params, &y)
    }?;
    Ok(Output::Positions(common))
}

/// Steps 4 to 7 of the sender.
fn send_filter<S: Share>(
    ctx: &mut Context,
    plan: &Plan,
    hashing: &Hashing,
    mut keys: Keys,
    params: &PsiParams,
    x: &[Item],
) -> Result<Output> {
    let rows = &ctx.child("filter", |ctx| hashing.rows(ctx.pool(), plan, x));
    let garbling = &Garbling::new(ctx.rng(), plan, hashing, keys.delta());
    let blocks = plan.shape.blocks();
    let at_once = ctx.pool().len().min(blocks);
    // Transfers of twice as many blocks as are garbled at once; they go round.
    let (ready, take_ready) = ctx.handover(2 * at_once);
    let (spare, take_spare) = ctx.handover(2 * at_once);
    for _ in 0..2 * at_once {
        // The other end is in this function.
        let _ = spare.give(Transfers::new(plan));
    }
    // A fork whose channel has closed ends quietly: the other fork has the error.
    let receive = move |ctx: &mut Context| -> Result<()> {
        for _ in 0..blocks {
            let Some(mut transfers) = take_spare.take() else { break };
            keys.fill(ctx, &mut transfers.keys)?;
            // 4. d
            ctx.peer()?.recv_into(&mut transfers.d)?;
            if !ready.give(transfers) {
                break;
            }
        }
        Ok(())
    };
    let send = move |ctx: &mut Context| {
        // 5. G = GarbledBloom({(x, t(x))}); G_i + p_{i, 1+d_i}
        if !garbling.send::<S>(ctx, rows, take_ready, spare)? {
            return Ok(Output::Nothing);
        }
        // 7. [both] x is common iff t'(x) is among the tags
        answer::receive_items(ctx, params, x)
    };
    ctx.join(("choices", receive), ("strings", send)).map(|((), output)| output)
}

/// Steps 4 to 7 of the receiver: the positions of the common items, ascending.
fn recv_filter<S: Share>(
    ctx: &mut Context,
    plan: &Plan,
    hashing: &Hashing,
    mut choices: Choices,
    params: &PsiParams,
    y: &[Item],
) -> Result<Vec<usize>> {
    let rows = &ctx.child("filter", |ctx| hashing.rows(ctx.pool(), plan, y));
    let at_once = ctx.pool().len().min(plan.shape.blocks()).min(GROUP_BLOCKS);
    let query = &Query { plan, hashing, rows, at_once };
    let (sums, take_sums) = ctx.handover(GROUPS_AHEAD);
    // A fork whose channel has closed ends quietly: the other fork has the error.
    let choose = |ctx: &mut Context| {
        // 4. B = Bloom(Y), d = c + B
        query.choose::<S>(ctx, &mut choices, sums)
    };
    let look_up = |ctx: &mut Context| {
        // 5. G_i where B_i = 1  6. y is common iff Σ_{i ∈ h*(y)} G_i = t(y)
        let Some(common) = query.look_up::<S>(ctx, take_sums, y.len())? else {
            return Ok(Vec::new());
        };
        // 7. [both] t'(y) of the common y, and random ones
        answer::send_items(ctx, params, y, &common)?;
        Ok(common)
    };
    let ((), common) = ctx.join(("choices", choose), ("strings", look_up))?;
    Ok(common)
}
