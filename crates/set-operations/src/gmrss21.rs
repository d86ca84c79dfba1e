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
mod characteristic;
mod comparison;
mod cost;
mod count;
mod form;
mod identifiers;
mod inner_product;
mod input;
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

use characteristic::{ReceiverCore, SenderCore, receiver_core, sender_core};
use form::Variant;
use inner_product::Multiplied;
use input::{check, values_of};
use plan::CoreRun;
use vesica_core::{PsiParams, Query, Result};
use vesica_net::Context;
use vesica_party::{Input, Output, Party};

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
