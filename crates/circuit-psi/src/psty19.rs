//! # PSTY19: circuit PSI by a programmable OPRF
//!
//! B. Pinkas, T. Schneider, O. Tkachenko, A. Yanai, "Efficient circuit-based PSI with linear
//! communication", EUROCRYPT 2019; with the OPRF of S. Raghuraman, P. Rindal, ACM CCS 2022, and a
//! key-value store for the hint, as in P. Rindal, P. Schoppmann, EUROCRYPT 2021, §5.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the common items, or the answer to the query; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 15, for 2^16 items each |
//! | parts | [`vesica_oprf::programmable`] and [`vesica_circuit::gmw`] |
//! | comparisons | m = 1.32·n_y of ℓ bits: ℓ − 1 gates each |
//! | depth | ⌈log ℓ⌉, and that of the query |
//!
//! ```text
//!   sender: X                                     receiver: Y
//!
//!   1. s_1 … s_m, random                          1. each y in one of its bins, m in all (cuckoo hashing)
//!   2. (x‖i) ↦ s_h_i(x)  ── programmable OPRF ──▶ 2. t_j, equal to s_j iff the item in bin j is common
//!
//!      in the circuit, on shares:
//!   3. e_j = (s_j = t_j); one bit of s_j ⊕ t_j is a share at each party without communication
//!   4. bounds on Σ e_j, answers to other queries than the intersection
//!                                                 5. e: which of Y are common
//!
//!   6. [both] which of X are common  ◀── tags ──
//! ```
//!
//! A sum of the sender's values carries them along: (x‖i) ↦ s_h_i(x) ‖ v_x ⊕ m_h_i(x), the masks
//! m_j being the sender's input to the circuit.
//!
//! Sets that are split into parts get one number as the answer: steps 1 to 3 are done for each
//! part, its count and sum end as addends that say nothing to either party, and one garbled circuit
//! opens their total ([`Protocol::part`], [`Protocol::opening`]; the picture is in the module
//! `computed::part`).
//!
//! [`Protocol::part`]: vesica_party::Protocol::part
//! [`Protocol::opening`]: vesica_party::Protocol::opening
//!
//! # Deviations
//!
//! * The hint is a key-value store in place of polynomials, and the OPRF one with a single key;
//!   both are shorter.
//! * The number of matches is revealed only where the query or the bounds ask for it: neither party
//!   holds more than shares of e.

mod catalogue;

use crate::computed::{self, Circuit, Matches, Matching, value_bits};
pub use catalogue::ROW;
use rand::Rng;
use std::ops::Range;
use std::sync::Arc;
use vesica_circuit::gadgets::{all, mask};
use vesica_circuit::{Computation, Lanes, Reveal, word};
use vesica_core::params::ceil_log2;
use vesica_core::{Block, Item, ParameterError, PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_oprf::programmable::{self, Hint, Oprf};
use vesica_ot::Bits;
use vesica_party::answer::positions_of_flags;
use vesica_party::{Input, Output, Traffic};
use zeroize::Zeroizing;

/// Most items of a set.
const MAX_ITEMS: u64 = 1 << 24;

struct Opprf {
    params: PsiParams,
    plan: Plan,
    own: Option<Own>,
}

impl Circuit for Opprf {
    const CHOOSER: Role = Role::Sender;

    /// Steps 1 and 2.
    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let plan = Plan::new(params);
        let session = params.session();
        let values = input.values().cloned();
        let items = input.into_items();
        let own = match role {
            Role::Sender => {
                // 1. s_1 … s_m ←$
                let s = plan.random_bins(ctx);
                // 2. (x‖i) ↦ s_h_i(x)
                let values = values.as_ref().filter(|_| plan.carried > 0);
                programmable::program(ctx, session, &plan.programmed, &items, |entry| {
                    let v_x = values.map_or(0, |values| values[entry.position as usize]);
                    let v_x = u128::from(v_x).checked_shl(plan.bits).unwrap_or(0);
                    s[entry.bin as usize] ^ Block::new(v_x)
                })?;
                Own { items, compared: s, positions: Vec::new(), values: None }
            }
            _ => {
                // 1. Each y in one of m bins.  2. t_j, equal to s_j iff the item in bin j is common
                let received = programmable::receive(ctx, session, &plan.programmed, &items)?;
                let t = Zeroizing::new(received.values);
                let position = |bin| received.cuckoo.bin(bin).map(|placed| placed.position);
                let positions: Vec<Option<u32>> = (0..t.len()).map(position).collect();
                let values = values.map(|values| {
                    let value = |position: &Option<u32>| position.map_or(0, |i| values[i as usize]);
                    Zeroizing::new(positions.iter().map(value).collect())
                });
                Own { items, compared: t, positions, values }
            }
        };
        Ok(Self { params: *params, plan, own: Some(own) })
    }

    /// Steps 3 to 5.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let Matches { e, values } = self.matches(c)?;
        // 4. Bounds on Σ e_j, answers to other queries.
        if let Some(output) = computed::answer(c, &self.params, &e, &values)? {
            return Ok(output);
        }
        // 5. e: which of Y are common
        let revealed = c.reveal(&[e], Reveal::Receiver)?;
        Ok(match (revealed.as_deref(), &self.own) {
            (Some([e]), Some(own)) if !own.positions.is_empty() => {
                let mut is_common = vec![false; self.params.receiver_len()];
                for (position, e_j) in own.positions.iter().zip(e.iter()) {
                    if let Some(position) = position {
                        is_common[*position as usize] = e_j;
                    }
                }
                positions_of_flags(&is_common)
            }
            _ => Output::Nothing,
        })
    }

    /// Step 6.
    fn finish(self, ctx: &mut Context, role: Role, output: Output) -> Result<Output> {
        let items = self.own.as_ref().map_or(&[][..], |own| &own.items);
        computed::send_common(ctx, &self.params, role, items, output)
    }

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

    fn finish_flights(params: &PsiParams) -> u64 {
        computed::send_common_flights(params)
    }

    fn finish_bytes(params: &PsiParams) -> Traffic {
        computed::send_common_bytes(params)
    }
}

/// What a party brings to the circuit.
struct Own {
    items: Arc<Vec<Item>>,
    /// s or t, with masks or masked values above its lowest ℓ bits.
    compared: Zeroizing<Vec<Block>>,
    /// The receiver's item in each bin; empty at the sender.
    positions: Vec<Option<u32>>,
    /// The receiver's value in each bin, where it has values.
    values: Option<Zeroizing<Vec<u64>>>,
}

impl Matching for Opprf {
    /// Step 3.
    fn matches<C: Computation>(&self, c: &mut C) -> Result<Matches<C::Wires>> {
        let m = self.plan.programmed.bins();
        let (mut e, mut values) = (Vec::new(), Vec::new());
        for first in (0..m).step_by(c.lanes_at_once()) {
            let lanes = first..m.min(first + c.lanes_at_once());
            // 3. e_j = (s_j = t_j)
            let compared = self.compare(c, lanes)?;
            e.push(compared.e);
            values.push(compared.values);
        }
        Ok(Matches { e: C::Wires::concat(&e), values: word::concat(&values) })
    }
}

impl Opprf {
    /// Step 3, for the bins in `lanes`.
    fn compare<C: Computation>(&self, c: &mut C, lanes: Range<usize>) -> Result<Matches<C::Wires>> {
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
        let e = all(c, same)?;
        let values = match self.params.query() {
            Query::Sum(of) if of.holder() == Role::Receiver => {
                let own = self.own.as_ref().and_then(|own| own.values.as_ref());
                let own = value_bits(own.map(|values| &values[lanes.clone()]), of.bits());
                c.input(Role::Receiver, own.as_deref(), of.bits() as usize, lanes.len())?
            }
            _ => carried.to_vec(),
        };
        let values = if values.is_empty() { values } else { mask(c, &e, &values)? };
        Ok(Matches { e, values })
    }
}

/// What both parties derive from the public sizes.
struct Plan {
    programmed: programmable::Plan,
    /// ℓ
    bits: u32,
    /// Bits of a sender's value carried with it, 0 where there is none.
    carried: u32,
}

impl Plan {
    fn new(params: &PsiParams) -> Self {
        let (n_x, n_y) = (params.sender_len(), params.receiver_len());
        let programmed = |bits| {
            programmable::Plan::new(Oprf::VoleFast, Hint::Store, n_y, n_x, bits, params.runs())
        };
        let bins = programmed(1).bins();
        // Empty bins count too: what the receiver has there must not equal the sender's.
        let bits = params.statistical_bits() + ceil_log2(bins as u64);
        let carried = match params.query() {
            Query::Sum(of) if of.holder() == Role::Sender => of.bits(),
            _ => 0,
        };
        let programmed = programmed((bits + carried).min(128));
        Self { programmed, bits, carried }
    }

    /// s_1 … s_m, with the masks of values above their lowest ℓ bits.
    fn random_bins(&self, ctx: &mut Context) -> Zeroizing<Vec<Block>> {
        let mut s = Zeroizing::new(Block::zeros(self.programmed.bins()));
        ctx.rng().fill_bytes(Block::as_bytes_mut(&mut s));
        let shown = Block::new(u128::MAX >> (128 - self.bits - self.carried));
        s.iter_mut().for_each(|block| *block = *block & shown);
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::{Learns, SessionId};

    fn params(n_x: u64, n_y: u64, runs: u64) -> PsiParams {
        PsiParams::new(SessionId::from_bytes([1; 32]), n_x, n_y, Learns::Receiver)
            .and_then(|params| params.with_runs(runs))
            .unwrap()
    }

    #[test]
    fn bins_of_one_of_many_runs_are_compared_with_as_many_bits_as_it_takes() {
        for (n_x, n_y) in [(1, 1), (7, 5000), (1 << 20, 3000), (1 << 20, 1 << 20)] {
            for (runs, lambda) in [(1, 40), (2, 41), (1024, 50), (4096, 52)] {
                let plan = Plan::new(&params(n_x, n_y, runs));
                let bins = plan.programmed.bins() as u64;
                assert_eq!(plan.bits, lambda + ceil_log2(bins), "{n_x}, {n_y}, {runs} runs");
            }
        }
    }

    /// Not yet a protocol for partitions, so that [`vesica_party::Protocol::party`] refuses it.
    #[test]
    fn one_of_many_runs_finds_what_is_common() {
        let items = |first: u128, len: u128| {
            Arc::new(
                (first..first + len).map(|i| Item::from_integer(i << 64 | i)).collect::<Vec<_>>(),
            )
        };
        let params = params(300, 40, 1024);
        let sender = (ROW.sender)(params, items(1, 300).into()).unwrap();
        let receiver = (ROW.receiver)(params, items(291, 40).into()).unwrap();
        let (_, found) =
            vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx)).unwrap();
        assert_eq!(found, Output::Positions((0..10).collect()));
    }
}
