//! # Circuit-Phasing: hashing to bins, and a circuit that compares
//!
//! B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing: private set intersection using
//! permutation-based hashing", USENIX Security 2015, §5; auditing: Huang, Evans, Katz, NDSS 2012,
//! §6.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption, `circuit_phasing`, `circuit_phasing_paper`, `circuit_phasing_yao` | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `circuit_phasing_iknp` | gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the common items, or the answer to the query; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 17 (`circuit_phasing`, `circuit_phasing_paper`), 16 (`circuit_phasing_iknp`), 7 (`circuit_phasing_yao`), for 2^16 items each |
//! | engine | [`vesica_circuit::gmw`] or [`vesica_circuit::yao`] |
//! | comparisons | β·max_β of σ' bits and s·n_x of σ bits; a comparison of w bits is w − 1 gates |
//! | depth | ⌈log σ⌉; on shares the first layers are transfers of tables |
//!
//! ```text
//!   sender: X                                    receiver: Y
//!
//!   1. each x in both of its bins                1. each y in one of its bins, of β = 2.4·n_y,
//!                                                   or in the stash of s places (cuckoo hashing)
//!      bin j:    up to max_β remainders x_jk        bin j:    one remainder y_j
//!      stash j:  all of X, whole                    stash j:  one item y_j, whole
//!
//!      in the circuit:
//!   2. e_j = Σ_k (x_jk = y_j), for each bin j
//!   3. e_j = Σ_x (x = y_j), for each place j of the stash
//!   4. bounds on Σ e_j, answers to other queries than the intersection
//!                                                5. e: which of Y are common
//!
//!   6. [both] which of X are common  ◀── tags ──
//! ```
//!
//! # Deviations
//!
//! * What is compared in a bin names the function too: without it different items match (M. Lambæk,
//!   ePrint 2016/665). With the values kept for empty bins and slots it has σ − ⌊log β⌋ + 2 bits.
//! * max_β is the least load that no bin exceeds but with probability 2^-40, in place of the bound
//!   in §7.1.
//! * On shares, the receiver's value is the same for all slots of a bin, and both inputs are
//!   private: so the first two layers of the comparison are transfers of tables (see
//!   [`vesica_circuit::gmw`]), which leaves a quarter of the gates at 2^20. `circuit_phasing_paper`
//!   compares by gates alone, and `circuit_phasing_iknp` has the paper's transfers too.
//! * The item 0 is reserved: it fills places of the stash that are not used.

mod bins;
mod catalogue;

use crate::computed::{self, Circuit, sums_of_groups, value_bits};
use bins::{Own, Plan};
pub use catalogue::{IKNP_ROW, PAPER_ROW, ROW, YAO_ROW};
use vesica_circuit::gadgets::mask;
use vesica_circuit::{Bins, Computation, EachBins, InBins, Lanes, Reveal, word};
use vesica_core::{Item, ParameterError, PsiParams, Query, Result, Role, Values};
use vesica_net::Context;
use vesica_party::answer::positions_of_flags;
use vesica_party::{Input, Output, Traffic};

/// Most items of a set.
const MAX_ITEMS: u64 = 1 << 24;

/// The comparisons by gates alone, or by the cheapest that the engine has.
struct Phasing<const BY_GATES: bool = false> {
    params: PsiParams,
    plan: Plan,
    own: Option<Own>,
}

impl<const BY_GATES: bool> Circuit for Phasing<BY_GATES> {
    const CHOOSER: Role = Role::Receiver;

    /// Step 1.
    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let plan = Plan::new(params);
        let own = Own::new(ctx, params, &plan, role, input)?;
        Ok(Self { params: *params, plan, own: Some(own) })
    }

    /// Steps 2 to 5.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        // 2. e_j = Σ_k (x_jk = y_j), for each bin j
        let mut found = vec![self.compare_bins(c)?];
        // 3. e_j = Σ_x (x = y_j), for each place j of the stash
        found.extend(self.compare_stash(c)?);
        let (e, values): (Vec<_>, Vec<_>) =
            found.into_iter().map(|found| (found.e, found.values)).unzip();
        let e = C::Wires::concat(&e);
        let mut values = word::concat(&values);
        if let Some(all) = self.values_of_receiver(c, e.len())? {
            values = mask(c, &e, &all)?;
        }
        // 4. Bounds on Σ e_j, answers to other queries.
        if let Some(output) = computed::answer(c, &self.params, &e, &values)? {
            return Ok(output);
        }
        // 5. e: which of Y are common
        let revealed = c.reveal(&[e], Reveal::Receiver)?;
        Ok(match (revealed.as_deref(), &self.own) {
            (Some([e]), Some(Own::Receiver { positions, .. })) => {
                let mut is_common = vec![false; self.params.receiver_len()];
                for (position, e_j) in positions.iter().zip(e.iter()) {
                    if let Some(position) = position {
                        is_common[*position as usize] |= e_j;
                    }
                }
                positions_of_flags(&is_common)
            }
            _ => Output::Nothing,
        })
    }

    /// Step 6.
    fn finish(self, ctx: &mut Context, role: Role, output: Output) -> Result<Output> {
        let items = self.own.as_ref().map_or(&[][..], Own::items);
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
        computed::check_set(params, role, input)
    }

    fn finish_flights(params: &PsiParams) -> u64 {
        computed::send_common_flights(params)
    }

    fn finish_bytes(params: &PsiParams) -> Traffic {
        computed::send_common_bytes(params)
    }
}

/// Some bins, or places of the stash, after step 2 or 3.
struct Found<W> {
    /// Whether the receiver's item is common.
    e: W,
    /// With a sum of the sender's values that item's value, or zero.
    values: Vec<W>,
}

/// The sender's values, which only it has: appends those of bin i, in the order of its candidates.
type ValuesOf<'a> = Option<&'a dyn Fn(usize, &mut Vec<u64>)>;

/// What a party brings to a comparison in bins.
#[derive(Clone, Copy, Default)]
struct Side<'a> {
    compared: Option<InBins<'a>>,
    values: ValuesOf<'a>,
    /// Fills the sender's empty slots.
    nothing: u128,
}

impl<const BY_GATES: bool> Phasing<BY_GATES> {
    /// Step 2.
    fn compare_bins<C: Computation>(&self, c: &mut C) -> Result<Found<C::Wires>> {
        let plan = &self.plan;
        let bins = plan.bins();
        match &self.own {
            None => self.compare(c, &bins, Side::default(), plan.parts),
            Some(Own::Receiver { bins: y, .. }) => {
                let side = Side { compared: Some(InBins::Values(y)), ..Side::default() };
                self.compare(c, &bins, side, plan.parts)
            }
            Some(Own::Sender { bins: x, values, .. }) => {
                let candidates = |bin: usize, out: &mut Vec<u128>| {
                    out.extend_from_slice(&x.values[x.entries(plan, bin)]);
                };
                let values = |bin: usize, out: &mut Vec<u64>| {
                    let positions = &x.positions[x.entries(plan, bin)];
                    let values = values.as_ref();
                    out.extend(positions.iter().map(|i| values.map_or(0, |v| v[*i as usize])));
                };
                let side = Side {
                    compared: Some(InBins::Candidates(&candidates)),
                    values: Some(&values),
                    nothing: plan.nothing(Role::Sender),
                };
                self.compare(c, &bins, side, plan.parts)
            }
        }
    }

    /// Step 3; `None` without a stash.
    fn compare_stash<C: Computation>(&self, c: &mut C) -> Result<Option<Found<C::Wires>>> {
        let places = self.plan.table.stash();
        let mut found: Option<Found<C::Wires>> = None;
        let mut first_item = 0;
        for bins in self.plan.stash() {
            if bins.count == 0 {
                continue;
            }
            let groups = bins.count / places;
            let part = match &self.own {
                None => self.compare(c, &bins, Side::default(), groups)?,
                Some(Own::Receiver { stash, .. }) => {
                    let y: Vec<u128> =
                        stash.iter().flat_map(|y_j| std::iter::repeat_n(*y_j, groups)).collect();
                    let side = Side { compared: Some(InBins::Values(&y)), ..Side::default() };
                    self.compare(c, &bins, side, groups)?
                }
                Some(Own::Sender { short, values, .. }) => {
                    let of_bin = |bin: usize| {
                        let first = first_item + bin % groups * bins.slots;
                        first..first + bins.slots
                    };
                    let candidates = |bin: usize, out: &mut Vec<u128>| {
                        out.extend(short[of_bin(bin)].iter().map(Item::integer));
                    };
                    let values = |bin: usize, out: &mut Vec<u64>| {
                        let values = values.as_ref();
                        out.extend(of_bin(bin).map(|i| values.map_or(0, |v| v[i])));
                    };
                    let side = Side {
                        compared: Some(InBins::Candidates(&candidates)),
                        values: Some(&values),
                        nothing: 0,
                    };
                    self.compare(c, &bins, side, groups)?
                }
            };
            first_item += groups * bins.slots;
            // Whole groups and the rest are of the same places; an item is in one of them.
            found = Some(match found {
                None => part,
                Some(sum) => Found {
                    e: c.xor(&sum.e, &part.e),
                    values: sum.values.iter().zip(&part.values).map(|(a, b)| c.xor(a, b)).collect(),
                },
            });
        }
        Ok(found)
    }

    /// Compares in `bins`, and sums each `group` of them.
    fn compare<C: Computation>(
        &self,
        c: &mut C,
        bins: &Bins,
        side: Side<'_>,
        group: usize,
    ) -> Result<Found<C::Wires>> {
        let sum = self.sum_of(Role::Sender);
        let (mut e, mut values) = (Vec::new(), Vec::new());
        let each: EachBins<'_, C> = &mut |c, first, is_equal| {
            e.push(sums_of_groups(c, &is_equal, bins.slots));
            if let Some(of) = sum {
                let own = side.values.map(|values_of| {
                    let count = is_equal.len() / bins.slots;
                    let mut own = Vec::with_capacity(is_equal.len());
                    for bin in 0..count {
                        values_of(first + bin, &mut own);
                        own.resize((bin + 1) * bins.slots, 0);
                    }
                    own
                });
                let bits = value_bits(own.as_deref(), of.bits());
                let all =
                    c.input(Role::Sender, bits.as_deref(), of.bits() as usize, is_equal.len())?;
                let masked = mask(c, &is_equal, &all)?;
                let sums: Vec<_> =
                    masked.iter().map(|wires| sums_of_groups(c, wires, bins.slots)).collect();
                values.push(sums);
            }
            Ok(())
        };
        if BY_GATES {
            c.equal_in_bins_by_gates(bins, side.compared, side.nothing, each)?
        } else {
            c.equal_in_bins(bins, side.compared, side.nothing, each)?
        }
        let e = sums_of_groups(c, &C::Wires::concat(&e), group);
        let values = word::concat(&values);
        let values = values.iter().map(|wires| sums_of_groups(c, wires, group)).collect();
        Ok(Found { e, values })
    }

    /// The receiver's values in the `lanes` of bins and stash, where they are summed.
    fn values_of_receiver<C: Computation>(
        &self,
        c: &mut C,
        lanes: usize,
    ) -> Result<Option<Vec<C::Wires>>> {
        let Some(of) = self.sum_of(Role::Receiver) else { return Ok(None) };
        let own: Option<Vec<u64>> = match &self.own {
            Some(Own::Receiver { positions, values: Some(values), .. }) => {
                let value = |position: &Option<u32>| position.map_or(0, |i| values[i as usize]);
                Some(positions.iter().map(value).collect())
            }
            _ => None,
        };
        let bits = value_bits(own.as_deref(), of.bits());
        c.input(Role::Receiver, bits.as_deref(), of.bits() as usize, lanes).map(Some)
    }

    /// The sum that is asked for, where `holder` has its values.
    fn sum_of(&self, holder: Role) -> Option<Values> {
        match self.params.query() {
            Query::Sum(of) if of.holder() == holder => Some(of),
            _ => None,
        }
    }
}
