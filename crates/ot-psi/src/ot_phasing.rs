//! # OT-Phasing: PSI from 1-out-of-N transfers and permutation-based hashing
//!
//! B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing: Private Set Intersection using
//! Permutation-based Hashing", USENIX Security 2015, §6, with the index of the hash function in
//! what is compared (§4, and M. Lambæk, ePrint 2016/665).
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 4, for 2^16 items each |
//! | payload bytes | setup + 32·t·β + 32·t_s·s + tags((h + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') with [`Learns::Both`] |
//! | t | ⌈(σ' − ⌊log β⌋ + 2)/8⌉ characters in a bin, t_s = ⌈σ'/8⌉ in the stash |
//! | σ' | the smaller of σ and λ + ⌈log n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉) |
//! | ℓ, ℓ' | λ + ⌈log (h + s)·n_x⌉ + ⌈log n_y⌉; λ + ⌈log n_x⌉ + ⌈log n_y⌉ |
//!
//! ```text
//!   sender P_1: X                                       receiver P_2: Y
//!
//!   1  T_1: every x in the bins of all h functions      T_2: every y in one bin (cuckoo), or in the stash
//!   2  t rows a bin, 1-out-of-256  ◀──────────────▶     chooses the characters of what is in its bin
//!   3  V: F_b(R, i) for x in bin b by function i        F_b(R, i) for y in bin b by function i
//!   4  V, sorted                   ───────────────▶     y is common iff its F is in V
//!   5  [both] x is common iff its tag came ◀──────      [both] tags of the common items, and random ones
//! ```
//!
//! Steps 2 and 3 run group by group of bins, then for the stash. A sender with many more items than
//! there are bins waits for the rows of all bins, and makes steps 1 and 3 item by item.
//!
//! F_b is [`vesica_oprf::characters`]: the paper's single mask a bin (§6.1).
//!
//! The sender does not pad its bins: the receiver does not see what is in which bin. In an empty
//! bin or place of the stash the receiver chooses no value at all
//! ([`NONE`](vesica_ot::coded::kk13::NONE)): any value could be an item of the sender's, and the
//! receiver would learn that.
//!
//! An item of σ > σ' bits is hashed to σ' first ([`vesica_hashing::ShortItems`]).
//!
//! The catalogue has two rows. `ot_phasing` has no stash: three functions and enough bins that
//! placing fails with probability below 2^-40, or where n_y ≪ n_x two functions and still more
//! bins, whichever takes fewer bytes. `ot_phasing_paper` has 1.2·n_y bins and the stash of the
//! paper's Table 4, or with n_y ≪ n_x two functions, 2.4·n_y bins and no stash (§8.2.2).
//!
//! **Where we differ from the paper.** The index of the function is compared too, and functions are
//! permutations of three rounds, see [`vesica_hashing::locations`]. Masks are sent as the
//! Elias–Fano code of their set, which hides their order as a random permutation would, and ℓ
//! counts all masks. With n_y ≪ n_x the paper, and `ot_phasing_paper` from n_y = 2^8 and n_x =
//! 16·n_y on, uses two functions, 2.4·n_y bins and no stash; then placing fails once in 56 runs at
//! n_y = 2^8, and the sender sees that. The wide table fails once in 2^40 runs. When both learn,
//! the sender gets tags of the common *items*: which of its masks were found would show where the
//! receiver placed them.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;
mod plan;
mod receiver;
mod sender;

pub use catalogue::bytes;
pub use catalogue::{PAPER_ROW, ROW};
pub use plan::Mode;

use plan::Plan;
use receiver::receiver_masks;
use sender::{Bins, Masks};
use std::sync::Arc;
use vesica_core::{Error, Item, PsiParams, Result};
use vesica_hashing::Cuckoo;
use vesica_net::Context;
use vesica_ot::coded::{ReceiverSetup, kk13};
use vesica_party::{Output, answer, sorted_tags};

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the
/// receiver has.
fn run_sender(
    mode: Mode,
    params: PsiParams,
    x: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let plan = Plan::new(mode, &params);
    let session = params.session();
    let transfers = ctx.child("setup", |ctx| kk13::Sender::setup(ctx, session))?;
    let masks = Masks::new(&plan, session, transfers);
    let v = if plan.is_lopsided() {
        // 2, then 1 and 3 item by item.
        masks.of_items(ctx, &params, &x)?
    } else {
        // 1. T_1: every x in the bins of all h functions
        let t_1 = ctx.child("hashing", |ctx| {
            Bins::new(ctx.pool(), &plan, session, plan.items.shorten(ctx.pool(), &params, &x))
        });
        // 2. t rows a bin  3. V: F_b(R, i) for x in bin b by function i; group by group
        masks.of_bins(ctx, t_1)?
    };
    // 4. V, sorted
    ctx.child("tags", |ctx| sorted_tags::send_gathered(ctx, plan.tags(), v))?;
    // 5. [both] x is common iff its tag came
    answer::receive_items(ctx, &params, &x)
}

/// P_2: learns which of its items the sender has.
fn run_receiver(
    mode: Mode,
    params: PsiParams,
    y: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    let plan = Plan::new(mode, &params);
    let session = params.session();
    let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
    // 1. T_2: every y in one bin (cuckoo), or in the stash
    let (short, t_2) = ctx.child("hashing", |ctx| {
        let short = plan.items.shorten(ctx.pool(), &params, &y);
        let bins = plan.locations(session).bins(ctx.pool(), &short);
        Ok::<_, Error>((short, Cuckoo::new(&plan.table, &bins)?))
    })?;
    let transfers = ctx.child("setup", |ctx| kk13::Receiver::new(ctx, setup))?;
    // 2. The characters of what is in its bin  3. F_b(R, i) for y in bin b by function i
    let masks =
        ctx.child("masks", |ctx| receiver_masks(ctx, &plan, session, transfers, &short, &t_2))?;
    drop((short, t_2));
    // 4. y is common iff its F is in V
    let matches = ctx.child("tags", |ctx| {
        sorted_tags::find(ctx, plan.tags(), &sorted_tags::gathered(plan.tags(), masks))
    })?;
    let common = sorted_tags::own_positions(&matches, y.len());
    // 5. [both] tags of the common items, and random ones
    answer::send_items(ctx, &params, &y, &common)?;
    Ok(Output::Positions(common))
}
