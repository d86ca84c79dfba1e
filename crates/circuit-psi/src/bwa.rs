//! # BWA: sets of a small domain as bit vectors
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom
//! protocols?", NDSS 2012, §3; auditing: §6.
//!
//! | | |
//! |---|---|
//! | security, `bwa`, `bwa_gmw` | semi-honest |
//! | security, `bwa_one_sided` | one-sided |
//! | assumption | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the common items, or the answer to the query; the size of the sender's set |
//! | sender learns, `bwa`, `bwa_gmw` | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | sender learns, `bwa_one_sided` | the size of the receiver's set |
//! | flights | 5 (`bwa`, `bwa_gmw`), 7 (`bwa_one_sided`), for 2^16 items each |
//! | engine | [`vesica_circuit::yao`] or [`vesica_circuit::gmw`] |
//! | bytes | of the engine: a one-sided gate for each of the N items of the domain, and N − wt(N) gates for counting N |
//! | cost | grows with the domain, N ≤ 2^σ, and not with the sets: σ ≤ 24 |
//!
//! ```text
//!   sender: X                                  receiver: Y
//!
//!   1. x_i = (i ∈ X), for all i < N            1. y_i = (i ∈ Y), for all i < N
//!
//!      in the circuit:
//!      [one-sided] audit: Σ x_i = n_x and Σ y_i = n_y, with the shared items; if not, all m_i are 0
//!   2. m_i = x_i ∧ y_i
//!   3. bounds min ≤ Σ m_i ≤ max, revealed to both first; answers to other queries than the intersection
//!   4. [both] m                                4. m: the intersection
//! ```
//!
//! # Deviations
//!
//! * The sender knows its vector, so each gate is one-sided: a ciphertext or a transfer in place of
//!   two.
//! * Nothing keeps a party from bringing the whole domain and so learning the other set, as the
//!   paper says. Bounds are the remedy between parties that follow the protocol; nothing checks a
//!   vector, except with the audit.
//! * The audit is the paper's "self-auditing step to ensure that … neither input set is too large",
//!   which it leaves open. With it both vectors are inputs, and no gate is one-sided: what the
//!   audit counts is what the gates take.

mod catalogue;
#[cfg(test)]
mod tests;

use crate::computed::{self, Audit, Circuit, Unaudited, reveal_to, value_bits};
pub use catalogue::{GMW_ROW, ONE_SIDED_ROW, ROW};
use std::marker::PhantomData;
use std::sync::Arc;
use vesica_circuit::gadgets::{and, mask};
use vesica_circuit::{Computation, Known, Lanes};
use vesica_core::{Error, Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{Input, Output, answer::positions_of_flags};

/// Largest σ: 2^24 gates.
const MAX_ITEM_BITS: u32 = 24;

/// Most bits of the values of a whole domain, each of which is a label of 16 bytes.
const MAX_VALUE_BITS: u64 = 1 << 26;

struct Bwa<A = Unaudited> {
    params: PsiParams,
    own: Option<Own>,
    audit: PhantomData<fn() -> A>,
}

impl<A: Audit> Circuit for Bwa<A> {
    const CHOOSER: Role = Role::Sender;

    /// Step 1.
    fn private(_: &mut Context, params: &PsiParams, _: Role, input: Input) -> Result<Self> {
        Ok(Self { own: Some(Own::new(params, &input)), ..Self::public(params) })
    }

    /// Steps 2 to 4.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let params = &self.params;
        let len = domain_len(params);
        let role = c.role();
        let own = |of: Role| self.own.as_ref().filter(|_| role == of);
        let is_right;
        let m = if A::IS_MADE {
            let [x, y] = [self.vector(c, Role::Sender)?, self.vector(c, Role::Receiver)?];
            // Σ x_i = n_x and Σ y_i = n_y, with the shared items.
            let audited = self.are_right(c, &x, &y)?;
            // 2. m_i = x_i ∧ y_i, or 0
            let m = and(c, &x, &y)?;
            let m = computed::kept_if(c, &audited, &m)?;
            is_right = computed::tell(c, audited)?;
            m
        } else {
            is_right = true;
            // 2. m_i = x_i ∧ y_i
            let x = match own(Role::Sender) {
                Some(own) => Known::Mine(&own.set),
                None => Known::Theirs { len },
            };
            let y = self.vector(c, Role::Receiver)?;
            let m = c.and_known(&[(x, &[&y])])?.pop().and_then(|mut wires| wires.pop());
            m.ok_or(Error::Bug("a gate has no output"))?
        };
        let mut values = Vec::new();
        if let Query::Sum(of) = params.query() {
            let bits =
                value_bits(own(of.holder()).and_then(|own| own.values.as_deref()), of.bits());
            let all = c.input(of.holder(), bits.as_deref(), of.bits() as usize, len)?;
            values = mask(c, &m, &all)?;
        }
        // 3. min ≤ Σ m_i ≤ max; answers to other queries.
        if let Some(output) = computed::answer(c, params, &m, &values)? {
            return Ok(computed::unless_refused(is_right, output));
        }
        // 4. m, to both where both learn
        let to = reveal_to(params);
        let bits = c.reveal(&[m], to)?.filter(|_| to.includes(role));
        let output = match (bits.as_deref(), &self.own) {
            (Some([m]), Some(own)) => {
                let is_common: Vec<bool> =
                    own.items.iter().map(|item| m.get(place(item))).collect();
                positions_of_flags(&is_common)
            }
            _ => Output::Nothing,
        };
        Ok(computed::unless_refused(is_right, output))
    }

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, own: None, audit: PhantomData }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        if let Query::Sum(of) = params.query()
            && u64::from(of.bits()).saturating_mul(domain_len(params) as u64) > MAX_VALUE_BITS
        {
            return Err(ParameterError::ItemBits { bits: params.item_bits() }.into());
        }
        computed::check_set(params, role, input)
    }
}

impl<A: Audit> Bwa<A> {
    /// x or y, on wires.
    fn vector<C: Computation>(&self, c: &mut C, of: Role) -> Result<C::Wires> {
        let own = self.own.as_ref().filter(|_| c.role() == of).map(|own| vec![own.set.clone()]);
        let wires = c.input(of, own.as_deref(), 1, domain_len(&self.params))?.pop();
        wires.ok_or(Error::Bug("an input has no wires"))
    }

    /// Whether both vectors have as many ones as their party announced items, those of the items
    /// that both know among them: one lane.
    fn are_right<C: Computation>(&self, c: &mut C, x: &C::Wires, y: &C::Wires) -> Result<C::Wires> {
        let params = &self.params;
        let shared = match &self.own {
            Some(own) => own.shared.clone(),
            // Only their number counts.
            None => (0..params.shared_len() as u32).collect(),
        };
        let parts = [
            computed::has_len(c, x, params.sender_len())?,
            computed::has_len(c, y, params.receiver_len())?,
            x.gather(&shared),
            y.gather(&shared),
        ];
        computed::all_lanes(c, C::Wires::concat(&parts))
    }
}

/// A party's set, and its values, as vectors over the domain.
struct Own {
    /// x or y.
    set: Bits,
    /// The lanes of the items that both parties know.
    shared: Vec<u32>,
    values: Option<Vec<u64>>,
    items: Arc<Vec<Item>>,
}

impl Own {
    fn new(params: &PsiParams, input: &Input) -> Self {
        let items = Arc::clone(input.items());
        let mut set = vec![false; domain_len(params)];
        items.iter().for_each(|item| set[place(item)] = true);
        let values = input.values().map(|values| {
            let mut by_place = vec![0; domain_len(params)];
            items
                .iter()
                .zip(values.iter())
                .for_each(|(item, value)| by_place[place(item)] = *value);
            by_place
        });
        let shared = items[input.shared()].iter().map(|item| place(item) as u32).collect();
        Self { set: set.into_iter().collect(), shared, values, items }
    }
}

/// The lanes: one for each item of the domain, of which the row's lengths of items say how large it
/// can be.
fn domain_len(params: &PsiParams) -> usize {
    params.largest_item().min((1 << MAX_ITEM_BITS) - 1) as usize + 1
}

/// The lane of an item, which the constructor has checked.
fn place(item: &Item) -> usize {
    item.integer() as usize
}
