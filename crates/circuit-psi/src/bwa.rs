//! # BWA: sets of a small domain as bit vectors
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom protocols?", NDSS
//! 2012, §3; auditing: §6.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the common items, or the answer to the query; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 5, for 2^16 items each |
//! | engine | [`vesica_circuit::yao`] or [`vesica_circuit::gmw`] |
//! | bytes | of the engine: a one-sided gate for each item of the domain, and N − wt(N) gates for counting N |
//! | cost | grows with the domain, 2^σ, and not with the sets: σ ≤ 24 |
//!
//! ```text
//!   sender: X                                  receiver: Y
//!
//!   1. x_i = (i ∈ X), for all i < 2^σ          1. y_i = (i ∈ Y), for all i < 2^σ
//!
//!      in the circuit:
//!   2. m_i = x_i ∧ y_i
//!   3. bounds min ≤ Σ m_i ≤ max, revealed to both first; answers to other queries than the intersection
//!   4. [both] m                                4. m: the intersection
//! ```
//!
//! # Deviations
//!
//! * The sender knows its vector, so each gate is one-sided: a ciphertext or a transfer in place of two.
//! * Nothing keeps a party from bringing the whole domain and so learning the other set, as the paper says. Bounds
//!   are the remedy between parties that follow the protocol; nothing checks a vector.

mod rows;

use crate::computed::{self, Circuit, reveal_to, value_bits};
pub use rows::{GMW_ROW, ROW};
use std::sync::Arc;
use vesica_circuit::gadgets::mask;
use vesica_circuit::{Computation, Known};
use vesica_core::{Error, Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{Input, Output};

/// Largest σ: 2^24 gates.
const MAX_ITEM_BITS: u32 = 24;

/// Most bits of the values of a whole domain, each of which is a label of 16 bytes.
const MAX_VALUE_BITS: u64 = 1 << 26;

struct Bwa {
    params: PsiParams,
    own: Option<Own>,
}

impl Circuit for Bwa {
    const CHOOSER: Role = Role::Sender;

    /// Step 1.
    fn private(_: &mut Context, params: &PsiParams, _: Role, input: Input) -> Result<Self> {
        Ok(Self { params: *params, own: Some(Own::new(params, &input)) })
    }

    /// Steps 2 to 4.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let params = &self.params;
        let len = 1 << params.item_bits();
        let role = c.role();
        let own = |of: Role| self.own.as_ref().filter(|_| role == of);
        // 2. m_i = x_i ∧ y_i
        let x = match own(Role::Sender) {
            Some(own) => Known::Mine(&own.set),
            None => Known::Theirs { len },
        };
        let y = own(Role::Receiver).map(|own| vec![own.set.clone()]);
        let y = c.input(Role::Receiver, y.as_deref(), 1, len)?;
        let y: Vec<_> = y.iter().collect();
        let m = c.and_known(&[(x, &y)])?.pop().and_then(|mut wires| wires.pop());
        let m = m.ok_or(Error::Bug("a gate has no output"))?;
        let mut values = Vec::new();
        if let Query::Sum(of) = params.query() {
            let bits =
                value_bits(own(of.holder()).and_then(|own| own.values.as_deref()), of.bits());
            let all = c.input(of.holder(), bits.as_deref(), of.bits() as usize, len)?;
            values = mask(c, &m, &all)?;
        }
        // 3. min ≤ Σ m_i ≤ max; answers to other queries.
        if let Some(output) = computed::answer(c, params, &m, &values)? {
            return Ok(output);
        }
        // 4. m, to both where both learn
        let to = reveal_to(params);
        let bits = c.reveal(&[m], to)?.filter(|_| to.includes(role));
        Ok(match (bits.as_deref(), &self.own) {
            (Some([m]), Some(own)) => {
                let items = own.items.iter().enumerate();
                let common = items.filter(|(_, item)| m.get(place(item))).map(|(i, _)| i);
                Output::Positions(common.collect())
            }
            _ => Output::Nothing,
        })
    }

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, own: None }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        if let Query::Sum(of) = params.query()
            && u64::from(of.bits()) << params.item_bits() > MAX_VALUE_BITS
        {
            return Err(ParameterError::ItemBits { bits: params.item_bits() }.into());
        }
        computed::check_set(params, role, input)
    }
}

/// A party's set, and its values, as vectors over the domain.
struct Own {
    /// x or y.
    set: Bits,
    values: Option<Vec<u64>>,
    items: Arc<Vec<Item>>,
}

impl Own {
    fn new(params: &PsiParams, input: &Input) -> Self {
        let items = Arc::clone(input.items());
        let mut set = vec![false; 1 << params.item_bits()];
        items.iter().for_each(|item| set[place(item)] = true);
        let values = input.values().map(|values| {
            let mut by_place = vec![0; 1 << params.item_bits()];
            items
                .iter()
                .zip(values.iter())
                .for_each(|(item, value)| by_place[place(item)] = *value);
            by_place
        });
        Self { set: set.into_iter().collect(), values, items }
    }
}

/// The lane of an item, which the constructor has checked.
fn place(item: &Item) -> usize {
    item.integer() as usize
}
