//! # BWA: sets of a small domain as bit vectors
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom protocols?", NDSS
//! 2012, §3; auditing: §6.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of the engine: [`vesica_circuit::yao`] or [`vesica_circuit::gmw`] |
//! | receiver learns | the common items and the sender's size, or the answer to the query |
//! | sender learns | the receiver's size; with bounds whether the number of matches is inside |
//! | flights, bytes | of the engine: a one-sided gate for each item of the domain, and N − wt(N) gates for counting N |
//! | cost | grows with the domain, 2^σ, and not with the sets: σ ≤ 24 |
//!
//! ```text
//!   sender: bit i is set when i ∈ X          receiver: bit i is set when i ∈ Y
//!
//!            m_i = x_i ∧ y_i                for all i < 2^σ
//!            audit: min ≤ Σ m_i ≤ max       told both first, where there are bounds
//!                                            m: the intersection
//! ```
//!
//! # Deviations
//!
//! * The sender knows its vector, so each gate is one-sided: a ciphertext or a transfer in place of two.
//! * Alone it lets a party that brings the whole domain learn the other set, as the paper says. Bounds
//!   are the remedy between parties that follow the protocol; nothing checks a vector.

use crate::assumptions;
use crate::catalogue::{
    BoundsKept, Compared, Operation, Parameter, Protocol, Security, UsableSetLen,
};
use crate::computed::{self, Circuit, Gmw, Yao, told, value_bits};
use crate::{Input, Output};
use std::sync::Arc;
use vesica_circuit::gadgets::mask;
use vesica_circuit::{Computation, Known};
use vesica_core::{Error, Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;

/// Largest σ: 2^24 gates.
const MAX_ITEM_BITS: u32 = 24;

/// Most bits of the values of a whole domain, each of which is a label of 16 bytes.
const MAX_VALUE_BITS: u64 = 1 << 26;

pub(crate) const ROW: Protocol = Protocol {
    id: "bwa",
    name: "BWA: bit vectors of a small domain, garbled",
    source: "Huang, Evans, Katz, NDSS 2012, sections 3 and 6",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_TRANSFERS,
    operations: Operation::OF_INTERSECTION,
    sender_learns: "the receiver's set size; with bounds, whether the number of matches is inside",
    receiver_learns: "the common items, or the answer to the query; the sender's set size",
    flights: computed::flights::<Bwa, Yao>,
    bytes_formula: "16 * 2^sigma for the gates and 32 * 2^sigma for counting them; inputs and transfers besides",
    bytes: computed::bytes::<Bwa, Yao>,
    seconds: |params| 0.02 + 2.0e-8 * computed::gates::<Bwa, Yao>(params),
    usable_set_len: Some(domain_len),
    named_only: true,
    item_bits: 1..=MAX_ITEM_BITS,
    reserves_zero: false,
    bounds: BoundsKept::ByComputation,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::items(params.item_bits()),
    parameters: PARAMETERS,
    sender: computed::sender::<Bwa, Yao>,
    receiver: computed::receiver::<Bwa, Yao>,
};

pub(crate) const GMW_ROW: Protocol = Protocol {
    id: "bwa_gmw",
    name: "BWA: bit vectors of a small domain, on shares",
    flights: computed::flights::<Bwa, Gmw>,
    bytes_formula: "1 bit each way for 2^sigma gates and 4 bits for 2^sigma of counting; transfers besides",
    bytes: computed::bytes::<Bwa, Gmw>,
    seconds: |params| 0.02 + 5.0e-8 * computed::gates::<Bwa, Gmw>(params),
    sender: computed::sender::<Bwa, Gmw>,
    receiver: computed::receiver::<Bwa, Gmw>,
    ..ROW
};

const PARAMETERS: &[Parameter] = &[Parameter {
    name: "domain",
    value: "2^sigma items, sigma at most 24 bits",
    source: "NDSS 2012, section 3",
}];

/// A party can bring every item of the domain.
fn domain_len(params: &PsiParams) -> UsableSetLen {
    let len = 1 << params.item_bits().min(MAX_ITEM_BITS);
    UsableSetLen { free: len, most: len }
}

struct Bwa {
    params: PsiParams,
    own: Option<Own>,
}

/// A party's set, and its values, as vectors over the domain.
struct Own {
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

impl Circuit for Bwa {
    const CHOOSER: Role = Role::Sender;

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

    fn private(_: &mut Context, params: &PsiParams, _: Role, input: Input) -> Result<Self> {
        Ok(Self { params: *params, own: Some(Own::new(params, &input)) })
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let params = &self.params;
        let len = 1 << params.item_bits();
        let role = c.role();
        let own = |of: Role| self.own.as_ref().filter(|_| role == of);
        let known = match own(Role::Sender) {
            Some(own) => Known::Mine(&own.set),
            None => Known::Theirs { len },
        };
        let receivers = own(Role::Receiver).map(|own| vec![own.set.clone()]);
        let y = c.input(Role::Receiver, receivers.as_deref(), 1, len)?;
        let list: Vec<_> = y.iter().collect();
        let matches = c.and_known(&[(known, &list)])?.pop().and_then(|mut wires| wires.pop());
        let is_match = matches.ok_or(Error::Bug("a gate has no output"))?;
        let mut values = Vec::new();
        if let Query::Sum(of) = params.query() {
            let bits =
                value_bits(own(of.holder()).and_then(|own| own.values.as_deref()), of.bits());
            let all = c.input(of.holder(), bits.as_deref(), of.bits() as usize, len)?;
            values = mask(c, &is_match, &all)?;
        }
        if let Some(output) = computed::answer(c, params, &is_match, &values)? {
            return Ok(output);
        }
        let to = told(params);
        let bits = c.reveal(&[is_match], to)?.filter(|_| to.includes(role));
        Ok(match (bits.as_deref(), &self.own) {
            (Some([bits]), Some(own)) => {
                let items = own.items.iter().enumerate();
                let common = items.filter(|(_, item)| bits.get(place(item))).map(|(i, _)| i);
                Output::Positions(common.collect())
            }
            _ => Output::Nothing,
        })
    }
}
