//! # PSTY19: circuit PSI by a programmable OPRF
//!
//! B. Pinkas, T. Schneider, O. Tkachenko, A. Yanai, "Efficient circuit-based PSI with linear communication",
//! EUROCRYPT 2019; with the OPRF of S. Raghuraman, P. Rindal, ACM CCS 2022, and a key-value store for the hint, as
//! P. Rindal, P. Schoppmann, EUROCRYPT 2021, §5, do it.
//!
//! | | |
//! |---|---|
//! | security | semi-honest, of [`vesica_oprf::programmable`] and of [`vesica_circuit::gmw`] |
//! | receiver learns | the common items and the sender's size, or the answer to the query |
//! | sender learns | the receiver's size; with bounds whether the number of matches is inside |
//! | comparisons | m = 1.32·n_y of ℓ bits: ℓ − 1 gates each |
//! | depth | ⌈log ℓ⌉, and that of the query |
//!
//! ```text
//!   sender: X, random s_1 … s_m                receiver: Y, y in one of its bins, m in all (cuckoo hashing)
//!
//!   (x‖i) ↦ s_h_i(x)  ── programmable OPRF ──▶  t_j, equal to s_j iff the item in bin j is common
//!
//!              e_j = whether s_j = t_j, on shares: one bit of difference is a share at each party as it is
//!              audit, other queries
//!                                              e: which of Y are common
//! ```
//!
//! A sum of the sender's values takes them along: (x‖i) ↦ s_h_i(x) ‖ v_x ⊕ m_h_i(x), the masks m_j being the sender's
//! input of the circuit.
//!
//! # Deviations
//!
//! * The hint is a key-value store in place of polynomials, and the OPRF one with a single key; both are shorter.
//! * Nothing tells the number of matches where it is not asked for: neither party holds more than shares of e.

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security};
use crate::computed::{self, Circuit, Gmw, positions_of_flags, value_bits};
use crate::{Input, Output, Traffic};
use rand::Rng;
use std::sync::Arc;
use vesica_circuit::gadgets::{all, mask};
use vesica_circuit::{Computation, Lanes, Reveal, word};
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Block, Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_oprf::programmable::{self, Hint, Oprf};
use vesica_ot::Bits;
use zeroize::Zeroizing;

/// Most items of a set.
const MAX_ITEMS: u64 = 1 << 24;

pub(crate) const ROW: Protocol = Protocol {
    id: "psty19",
    name: "Circuit PSI by a programmable OPRF, on shares",
    source: "Pinkas, Schneider, Tkachenko, Yanai, EUROCRYPT 2019, with the OPRF of Raghuraman, Rindal, ACM CCS 2022",
    security: Security::SemiHonest,
    assumption: assumptions::SILENT_AND_VOLE,
    operations: Operation::OF_INTERSECTION,
    sender_learns: "the receiver's set size; with bounds, whether the number of matches is inside",
    receiver_learns: "the common items, or the answer to the query; the sender's set size",
    flights: computed::flights::<Opprf, Gmw>,
    bytes_formula: "OPRF of n_y + hint of 3·n_x values of ℓ bits + half a byte for each of (ℓ − 1)·1.32·n_y gates; ℓ = 40 + ⌈log 1.32·n_y⌉; with a sum of the sender's values ℓ and their length in the hint; transfers and the gates of the query besides",
    bytes: computed::bytes::<Opprf, Gmw>,
    seconds,
    usable_set_len: None,
    named_only: true,
    item_bits: 1..=128,
    reserves_zero: false,
    bounds: BoundsKept::ByComputation,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::outputs(Plan::new(params).bits),
    parameters: PARAMETERS,
    sender: computed::sender::<Opprf, Gmw>,
    receiver: computed::receiver::<Opprf, Gmw>,
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "hash table",
        value: "3-way cuckoo without stash, (40 + log n_y + 256)/240 bins an item; failure below 2^-40",
        source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018",
    },
    Parameter {
        name: "length of what is compared",
        value: "ℓ = λ + ⌈log of the bins⌉ bits, λ = 40",
        source: "Pinkas, Schneider, Tkachenko, Yanai 2019, section 5",
    },
    Parameter {
        name: "learning parity with noise",
        value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
        source: "docs/lpn.md, computed by parameters/lpn",
    },
    Parameter {
        name: "key-value store",
        value: "random band over 3·n_x keys; failure below 2^-40",
        source: "Bienstock, Patel, Seo, Yeo 2023; parameters/okvs",
    },
];

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    0.06 + 0.8e-6 * n_x + 3.2e-6 * n_y
}

/// The public shape of a run.
struct Plan {
    programmed: programmable::Plan,
    /// ℓ
    bits: u32,
    /// Bits of a value that comes with it.
    carried: u32,
}

impl Plan {
    fn new(params: &PsiParams) -> Self {
        let (n_x, n_y) = (params.sender_len(), params.receiver_len());
        let bins = programmable::Plan::new(Oprf::VoleFast, Hint::Store, n_y, n_x, 1).bins();
        // Of empty bins as well: what the receiver has there must not pass for the sender's.
        let bits = STATISTICAL_SECURITY_BITS + ceil_log2(bins as u64);
        let carried = match params.query() {
            Query::Sum(of) if of.holder() == Role::Sender => of.bits(),
            _ => 0,
        };
        let all = bits + carried;
        let programmed =
            programmable::Plan::new(Oprf::VoleFast, Hint::Store, n_y, n_x, all.min(128));
        Self { programmed, bits, carried }
    }
}

struct Opprf {
    params: PsiParams,
    plan: Plan,
    own: Option<Own>,
}

struct Own {
    items: Arc<Vec<Item>>,
    /// s or t, with masks or masked values above its lowest ℓ bits.
    compared: Zeroizing<Vec<Block>>,
    /// The receiver's item in each bin.
    positions: Vec<Option<u32>>,
    /// The receiver's value in each bin, where it has them.
    values: Option<Zeroizing<Vec<u64>>>,
}

impl Circuit for Opprf {
    const CHOOSER: Role = Role::Sender;

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, plan: Plan::new(params), own: None }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        for len in [params.sender_len() as u64, params.receiver_len() as u64] {
            if len > MAX_ITEMS {
                return Err(ParameterError::SetTooLarge { len, max: MAX_ITEMS }.into());
            }
        }
        if let (Query::Sum(of), false) = (params.query(), params.has_empty_set()) {
            let plan = Plan::new(params);
            if plan.bits + plan.carried > 128 {
                return Err(ParameterError::ValueBits { bits: of.bits() }.into());
            }
        }
        computed::check_set(params, role, input)
    }

    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let plan = Plan::new(params);
        let session = params.session();
        let values = input.values().cloned();
        let items = input.into_items();
        let own = match role {
            Role::Sender => {
                let mut compared = Zeroizing::new(Block::zeros(plan.programmed.bins()));
                ctx.rng().fill_bytes(Block::as_bytes_mut(&mut compared));
                let shown = Block::new(u128::MAX >> (128 - plan.bits - plan.carried));
                compared.iter_mut().for_each(|block| *block = *block & shown);
                let values = values.as_ref().filter(|_| plan.carried > 0);
                programmable::program(ctx, session, &plan.programmed, &items, |entry| {
                    let value = values.map_or(0, |values| values[entry.position as usize]);
                    let value = u128::from(value).checked_shl(plan.bits).unwrap_or(0);
                    compared[entry.bin as usize] ^ Block::new(value)
                })?;
                Own { items, compared, positions: Vec::new(), values: None }
            }
            _ => {
                let received = programmable::receive(ctx, session, &plan.programmed, &items)?;
                let compared = Zeroizing::new(received.values);
                let position = |bin| received.cuckoo.bin(bin).map(|placed| placed.position);
                let positions: Vec<Option<u32>> = (0..compared.len()).map(position).collect();
                let values = values.map(|values| {
                    let value = |position: &Option<u32>| position.map_or(0, |i| values[i as usize]);
                    Zeroizing::new(positions.iter().map(value).collect())
                });
                Own { items, compared, positions, values }
            }
        };
        Ok(Self { params: *params, plan, own: Some(own) })
    }

    fn private_bytes(params: &PsiParams) -> Traffic {
        let bytes = Plan::new(params).programmed.bytes();
        Traffic {
            sender_to_receiver: bytes.sender_to_receiver,
            receiver_to_sender: bytes.receiver_to_sender,
        }
    }

    fn private_flights(params: &PsiParams) -> u64 {
        Plan::new(params).programmed.flights()
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let bins = self.plan.programmed.bins();
        let (mut matches, mut sums) = (Vec::new(), Vec::new());
        for first in (0..bins).step_by(c.lanes_at_once()) {
            let lanes = first..bins.min(first + c.lanes_at_once());
            let (is_match, values) = self.compare(c, lanes)?;
            matches.push(is_match);
            sums.push(values);
        }
        let is_match = C::Wires::concat(&matches);
        let values = word::concat(&sums);
        if let Some(output) = computed::answer(c, &self.params, &is_match, &values)? {
            return Ok(output);
        }
        let revealed = c.reveal(&[is_match], Reveal::Receiver)?;
        Ok(match (revealed.as_deref(), &self.own) {
            (Some([bits]), Some(Own { positions, .. })) if !positions.is_empty() => {
                let mut is_common = vec![false; self.params.receiver_len()];
                for (position, is_match) in positions.iter().zip(bits.iter()) {
                    if let Some(position) = position {
                        is_common[*position as usize] = is_match;
                    }
                }
                positions_of_flags(&is_common)
            }
            _ => Output::Nothing,
        })
    }

    fn finish(self, ctx: &mut Context, role: Role, output: Output) -> Result<Output> {
        let items = self.own.as_ref().map_or(&[][..], |own| &own.items);
        computed::tell_common(ctx, &self.params, role, items, output)
    }

    fn finish_bytes(params: &PsiParams) -> Traffic {
        computed::tell_common_bytes(params)
    }
}

impl Opprf {
    /// In the lanes of some bins, whether they match; and the values of those that do, where they are summed.
    fn compare<C: Computation>(
        &self,
        c: &mut C,
        lanes: std::ops::Range<usize>,
    ) -> Result<(C::Wires, Vec<C::Wires>)> {
        let Plan { bits, carried, .. } = self.plan;
        let width = (bits + carried) as usize;
        let role = c.role();
        let own: Option<Vec<Bits>> = self.own.as_ref().map(|own| {
            word::bits_of(own.compared[lanes.clone()].iter().map(|block| block.get()), width)
        });
        let mut input = |of: Role| {
            let own = own.as_deref().filter(|_| of == role);
            c.input(of, own, width, lanes.len())
        };
        let (s, t) = (input(Role::Sender)?, input(Role::Receiver)?);
        let sums: Vec<C::Wires> = s.iter().zip(&t).map(|(s, t)| c.xor(s, t)).collect();
        drop((s, t));
        let (differences, carried) = sums.split_at(bits as usize);
        let same = differences.iter().map(|wires| c.not(wires)).collect();
        let is_match = all(c, same)?;
        let values = match self.params.query() {
            Query::Sum(of) if of.holder() == Role::Receiver => {
                let own = self.own.as_ref().and_then(|own| own.values.as_ref());
                let own = value_bits(own.map(|values| &values[lanes.clone()]), of.bits());
                c.input(Role::Receiver, own.as_deref(), of.bits() as usize, lanes.len())?
            }
            _ => carried.to_vec(),
        };
        let values = if values.is_empty() { values } else { mask(c, &is_match, &values)? };
        Ok((is_match, values))
    }
}
