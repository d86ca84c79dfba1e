//! # GMRSS21: set operations from oblivious switching
//!
//! G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private set operations from
//! oblivious switching", PKC 2021; and private ids from two complete OPRFs.
//!
//! The module of each operation says what both parties learn, under which assumption and in how
//! many flights. Payload bytes are those of the parts, see
//! [`bytes`](vesica_party::Protocol::bytes).
//!
//! The core is the *permuted characteristic*. Steps 1 to 10 have the numbers of the paper's Figure
//! 6:
//!
//! ```text
//!   sender: X                                           receiver: Y
//!
//!   1   each x in one of its bins, of m                 3   s_1 … s_m random, of ℓ bits
//!       (cuckoo hashing)
//!   2   f_j = F(x‖i), x in bin j by h_i  ◀── OPRF ───       key of F
//!   4                                    ◀─────────────     P: (y‖i) ↦ s_h_i(y) ⊕ F(y‖i)
//!   5   t_j = P(x‖i) ⊕ f_j, equal to s_j
//!       iff the item in bin j is common
//!   6   π̃: the full bins in random order
//!   7   a_i                       ◀── oblivious ────        b_i = a_i ⊕ s_π̃(i)
//!                                     switching
//!   8   a'_i = a_i ⊕ t_π̃(i)
//!   9                             ─── equality ─────▶       e_i = 1 iff a'_i = b_i
//!   10  π: the items in the bins π̃(1), π̃(2), …              e
//!
//!   11  [bounds] end, or continue ◀──────────────────       whether |e| is inside
//!   12  the operation: π          ◀─────────────────▶       e
//! ```
//!
//! | operation | step 12 |
//! |---|---|
//! | cardinality (§4.3), `count.rs` | nothing: the weight of e |
//! | intersection (Figure 8), `intersection.rs` | a transfer of each item: the receiver gets it where e_i = 1 |
//! | inner product (Figure 9), `inner_product.rs` | as the sum, of values times shares of the receiver's |
//! | sum (Figure 11), `sums.rs` | a transfer of a share of zero, or of the value where e_i = 1 |
//! | union (Figure 8), `union.rs` | a transfer of each item's text: the receiver gets it where e_i = 0 |
//! | shares of the intersection (Figure 13), `shares.rs` | oblivious switching of the items, in an order that the receiver chooses |
//! | shares of values (§4.3), `shared_values.rs` | as the sum, without adding up |
//! | private ids (Figure 15), `private_id.rs` | before step 1, R(z) of both sets; then the union of these |
//!
//! Three forms differ in the parts that the steps are made of, see `form.rs`. In low communication
//! step 9 comes before step 7, see `low_communication.rs`.
//!
//! The receiver knows how many items are common before it receives texts or values, and can stop
//! there. The size of a union says the same. With bounds the receiver's program ends the run there
//! and the sender learns it.
//!
//! # Deviations
//!
//! * Sets may be of any two sizes. Tests are made for the full bins only, which number n_x.
//! * A share of zero is drawn by the transfer itself, and the sender sends what the shares add up
//!   to (Figure 11 draws them beforehand): the receiver's view is the same.
//! * The values that are compared have ℓ = 41 + ⌈log n_x⌉ bits, 40 + ⌈log n_x⌉ in low
//!   communication.
//! * Identifiers have 128 bits. `Identifiers::Oprf` takes complete OPRFs, which are shorter than
//!   the sloppy ones: no hint.

mod additive;
mod bounds;
mod catalogue;
mod comparison;
mod cost;
mod count;
mod form;
mod identifiers;
mod inner_product;
mod intersection;
mod low_communication;
mod plan;
mod private_id;
mod shared_values;
mod shares;
mod sums;
#[cfg(test)]
mod tests;
mod transfers;
mod union;

pub use catalogue::{
    CARDINALITY_PAPER_ROW, CARDINALITY_ROW, CARDINALITY_SHORT_ROW, INNER_PRODUCT_ROW,
    INTERSECTION_PAPER_ROW, INTERSECTION_ROW, PRIVATE_ID_OPRF_ROW, PRIVATE_ID_PAPER_ROW,
    PRIVATE_ID_ROW, PRIVATE_ID_SHORT_ROW, SHARES_PAPER_ROW, SHARES_ROW, SUM_PAPER_ROW, SUM_ROW,
    UNION_PAPER_ROW, UNION_ROW, UNION_SHORT_ROW, VALUES_ROW,
};

use form::Variant;
use inner_product::Multiplied;
use plan::{CorePlan, CoreRun};
use rand::Rng;
use rand::seq::SliceRandom;
use vesica_core::{Block, Error, Item, ParameterError, PsiParams, Query, Result};
use vesica_net::Context;
use vesica_oprf::{equality, programmable};
use vesica_ot::Bits;
use vesica_party::{Input, Output, Party, check_distinct, check_set_len};
use vesica_switching::oblivious::Rows;
use zeroize::Zeroizing;

/// Holds X, and values or texts of its items.
struct Sender {
    variant: Variant,
    params: PsiParams,
    input: Input,
}

/// Holds Y, and texts of its items in a union; learns first.
struct Receiver {
    variant: Variant,
    params: PsiParams,
    input: Input,
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { variant, params, input } = *self;
        let run = &CoreRun { form: variant.form, params: &params, session: *params.session() };
        let x = input.items();
        let output = if let Some(identifiers) = variant.identifiers {
            private_id::sender(ctx, run, identifiers, x)?
        } else {
            // 1 to 10. The core.
            let SenderCore { pi, factors: alpha } = &sender_core(ctx, run, x)?;
            // 11. Bounds.
            if bounds::sender(ctx, &params)? {
                // 12. The operation.
                ctx.child("result", |ctx| match params.query() {
                    Query::Cardinality => count::sender(ctx, &params),
                    Query::Sum(values) => sums::sender(ctx, run, values, pi, values_of(&input)?),
                    Query::InnerProduct { values, factors } => {
                        let multiplied = Multiplied { values, factors, shares: alpha };
                        inner_product::sender(ctx, run, &multiplied, pi, values_of(&input)?)
                    }
                    Query::Union(len) => union::sender(ctx, run, len, pi, &input),
                    Query::Shares(values) => shares::sender(ctx, run, values, pi, &input),
                    Query::SharedValues { values, default } => {
                        shared_values::sender(ctx, run, values, default, pi, values_of(&input)?)
                    }
                    _ => intersection::sender(ctx, run, pi, x),
                })?
            } else {
                Output::OutsideBounds
            }
        };
        ctx.finish()?;
        Ok(output)
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { variant, params, input } = *self;
        let run = &CoreRun { form: variant.form, params: &params, session: *params.session() };
        let y = input.items();
        let output = if let Some(identifiers) = variant.identifiers {
            private_id::receiver(ctx, run, identifiers, y)?
        } else {
            // 1 to 10. The core.
            let factors = match params.query() {
                Query::InnerProduct { .. } => values_of(&input)?,
                _ => &[],
            };
            let ReceiverCore { e, factors: beta } = &receiver_core(ctx, run, y, factors)?;
            // 11. Bounds.
            let count = e.iter().filter(|is_common| *is_common).count() as u64;
            if bounds::receiver(ctx, &params, count)? {
                // 12. The operation.
                ctx.child("result", |ctx| match params.query() {
                    Query::Cardinality => count::receiver(ctx, &params, count),
                    Query::Sum(values) => sums::receiver(ctx, run, values, e, count),
                    Query::InnerProduct { values, factors } => {
                        let multiplied = Multiplied { values, factors, shares: beta };
                        inner_product::receiver(ctx, run, &multiplied, e, count)
                    }
                    Query::Union(len) => union::receiver(ctx, run, len, e, &input),
                    Query::Shares(values) => shares::receiver(ctx, run, values, e),
                    Query::SharedValues { values, default } => {
                        shared_values::receiver(ctx, run, values, default, e)
                    }
                    _ => intersection::receiver(ctx, run, e, y),
                })?
            } else {
                Output::OutsideBounds
            }
        };
        ctx.finish()?;
        Ok(output)
    }
}

/// What the core gives the sender.
struct SenderCore {
    /// π, the positions of its items in the order of e.
    pi: Zeroizing<Vec<u32>>,
    /// With an inner product, its share of the receiver's value of each item, in the order of e:
    /// random where the item is not common.
    factors: Zeroizing<Vec<u64>>,
}

/// What the core gives the receiver.
struct ReceiverCore {
    /// Whether the items are common, in the order of π.
    e: Bits,
    /// With an inner product, its shares of its values, in the order of π.
    factors: Zeroizing<Vec<u64>>,
}

/// The sender's side of the core.
fn sender_core(ctx: &mut Context, run: &CoreRun<'_>, x: &[Item]) -> Result<SenderCore> {
    let n_y = run.params.receiver_len();
    if x.is_empty() || n_y == 0 {
        let mut pi = Zeroizing::new((0..x.len() as u32).collect::<Vec<_>>());
        pi.shuffle(ctx.rng());
        return Ok(SenderCore { pi, factors: Zeroizing::default() });
    }
    let core = CorePlan::new(run.form, run.params);
    // 1, 2, 4, 5. The items in their bins, and t.
    let programmable::Received { cuckoo, values: t } = ctx
        .child("oprf", |ctx| programmable::receive(ctx, &run.step("oprf"), &core.programmed, x))?;
    let t = Zeroizing::new(t);
    // 6. The order is uniform, and independent of where the items were placed.
    let full = (0..cuckoo.len())
        .filter_map(|bin| cuckoo.bin(bin).map(|placed| (bin as u32, placed.position)));
    let mut full: Zeroizing<Vec<(u32, u32)>> = Zeroizing::new(full.collect());
    drop(cuckoo);
    full.shuffle(ctx.rng());
    let pi_tilde: Zeroizing<Vec<u32>> = Zeroizing::new(full.iter().map(|(bin, _)| *bin).collect());
    let mut factors = Zeroizing::default();
    if run.form.compares_first() {
        // 9, 7, 8, in this order.
        low_communication::sender(ctx, run, &core, &t, &pi_tilde)?;
    } else {
        // 7.
        let a = core.switch_by_order(ctx, run, &pi_tilde)?;
        // 8.
        let a_prime = pi_tilde.iter().enumerate().map(|(i, bin)| a.block(i) ^ t[*bin as usize]);
        let mut a_prime: Zeroizing<Vec<Block>> = Zeroizing::new(a_prime.collect());
        factors = core.split(&mut a_prime);
        // 9.
        ctx.child("equality", |ctx| {
            let (session, runs) = (&run.step("equality"), run.params.runs());
            equality::send(ctx, session, run.form.equality(), runs, &a_prime)
        })?;
    }
    // 10.
    let pi = Zeroizing::new(full.iter().map(|(_, position)| *position).collect());
    Ok(SenderCore { pi, factors })
}

/// The receiver's side of the core. With an inner product `values` are those of its items, without
/// others none.
fn receiver_core(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    y: &[Item],
    values: &[u64],
) -> Result<ReceiverCore> {
    let n_x = run.params.sender_len();
    if n_x == 0 || y.is_empty() {
        let e = (0..n_x).map(|_| false).collect();
        return Ok(ReceiverCore { e, factors: Zeroizing::default() });
    }
    let core = CorePlan::new(run.form, run.params);
    // 3. s, of ℓ bits each; with an inner product, m_j of as many bits as its values follows.
    let mut s = Zeroizing::new(Block::zeros(core.programmed.bins()));
    ctx.rng().fill_bytes(Block::as_bytes_mut(&mut s));
    let mask = Block::new(u128::MAX >> (128 - core.programmed.bits()));
    s.iter_mut().for_each(|s_j| *s_j = *s_j & mask);
    // 2, 4. The OPRF's key, and P.
    ctx.child("oprf", |ctx| {
        programmable::program(ctx, &run.step("oprf"), &core.programmed, y, |entry| {
            let value = values.get(entry.position as usize).copied().unwrap_or(0);
            s[entry.bin as usize] ^ Block::new(u128::from(value) << core.compared_bits)
        })
    })?;
    let mut factors = Zeroizing::default();
    let e = if run.form.compares_first() {
        // 9, 7, 8, in this order.
        low_communication::receiver(ctx, run, &core, &s, n_x)?
    } else {
        // 7.
        let b = core.switch_rows(ctx, run, &Rows::from_blocks(&s, core.programmed.bits()))?;
        let mut b: Zeroizing<Vec<Block>> = Zeroizing::new((0..n_x).map(|i| b.block(i)).collect());
        factors = core.split(&mut b);
        // 9.
        ctx.child("equality", |ctx| {
            let (session, runs) = (&run.step("equality"), run.params.runs());
            equality::receive(ctx, session, run.form.equality(), runs, &b)
        })?
    };
    // 10.
    if e.len() == n_x {
        Ok(ReceiverCore { e, factors })
    } else {
        Err(Error::Bug("a comparison gave another number of bits"))
    }
}

impl Sender {
    fn new(variant: Variant, params: PsiParams, input: Input) -> Result<Self> {
        check(&params, params.sender_len(), &input)?;
        Ok(Self { variant, params, input })
    }
}

impl Receiver {
    fn new(variant: Variant, params: PsiParams, input: Input) -> Result<Self> {
        check(&params, params.receiver_len(), &input)?;
        Ok(Self { variant, params, input })
    }
}

/// Largest set: bins and the hash functions' entries are numbered with 32 bits.
const MAX_ITEMS: u64 = 1 << 30;

/// Refuses sets that are too large, of another size than `len`, or that hold an item twice.
fn check(params: &PsiParams, len: usize, input: &Input) -> Result<()> {
    for len in [params.sender_len() as u64, params.receiver_len() as u64] {
        if len > MAX_ITEMS {
            return Err(ParameterError::SetTooLarge { len, max: MAX_ITEMS }.into());
        }
    }
    check_distinct(input.items())?;
    check_set_len(len, input.items().len())
}

/// This party's values, in the order of its items.
fn values_of(input: &Input) -> Result<&[u64]> {
    input.values().map(|values| values.as_slice()).ok_or(Error::Bug("a query without its values"))
}
