//! A plan as a circuit.

use crate::plan::{Condition, Form, Number, Part, Plan, Total};
use crate::{Column, Combine};
use vesica_circuit::gadgets::{self, BitSum, Integer};
use vesica_circuit::{Computation, Gates, Lanes, Reveal, word};
use vesica_core::{Result, Role};
use vesica_ot::Bits;

/// By how much a block has fewer lanes than the evaluator takes at a time: a product has a wire for
/// each pair of bits.
const WIRES_OF_LANE: usize = 64;
/// Fewest lanes of a block.
const BLOCK_MIN_LANES: usize = 1024;

/// The revealed wires of each result that is not known to both before, in the order of the results;
/// `None` at a party that does not learn them. `shares` are this party's, by column; `None` where
/// only gates are counted.
pub(crate) fn evaluate<C: Computation>(
    c: &mut C,
    plan: &Plan,
    shares: Option<&[Vec<u64>]>,
    to: Reveal,
) -> Result<Option<Vec<Vec<Bits>>>> {
    if plan.results.iter().all(Part::is_known) {
        return Ok(Some(Vec::new()));
    }
    let columns = enter(c, plan, shares)?;
    let mut totals = Vec::with_capacity(plan.totals.len());
    for total in &plan.totals {
        totals.push(add_up(c, total, &columns, plan.table.entries)?);
    }
    let scope = Scope { columns: &[], totals: &totals, len: 1 };
    let mut wires = Vec::new();
    let mut widths = Vec::new();
    for part in plan.results.iter().filter(|part| !part.is_known()) {
        let result = match part {
            Part::Number(number) => scope.integer(c, number)?.wires,
            Part::Condition(condition) => vec![scope.condition(c, condition)?],
        };
        widths.push(result.len());
        wires.extend(result);
    }
    let Some(revealed) = c.reveal(&wires, to)? else { return Ok(None) };
    let mut revealed = revealed.into_iter();
    Ok(Some(widths.into_iter().map(|width| revealed.by_ref().take(width).collect()).collect()))
}

impl Part {
    /// Whether both parties know it in advance.
    pub(crate) fn is_known(&self) -> bool {
        match self {
            Part::Number(number) => number.is_constant(),
            Part::Condition(condition) => matches!(condition, Condition::Known(_)),
        }
    }
}

/// The values of the columns that are used; no wires for the others.
fn enter<C: Computation>(
    c: &mut C,
    plan: &Plan,
    shares: Option<&[Vec<u64>]>,
) -> Result<Vec<Integer<C::Wires>>> {
    let (role, len) = (c.role(), plan.table.entries);
    // All inputs before the first gate, so that none waits for an answer.
    let mut entered = Vec::new();
    for (i, Column { bits, .. }) in plan.table.columns.iter().enumerate() {
        let width = if plan.uses(i) { *bits as usize } else { 0 };
        let own =
            shares.map(|shares| word::bits_of(shares[i].iter().map(|s| u128::from(*s)), width));
        let mut shares_of = |party: Role| match width {
            0 => Ok(Vec::new()),
            _ => c.input(party, own.as_deref().filter(|_| party == role), width, len),
        };
        entered.push([shares_of(Role::Sender)?, shares_of(Role::Receiver)?]);
    }
    let mut columns = Vec::new();
    for (Column { signed, .. }, [a, b]) in plan.table.columns.iter().zip(entered) {
        let wires = match plan.table.combine {
            Combine::Xor => a.iter().zip(&b).map(|(a, b)| c.xor(a, b)).collect(),
            Combine::Sum => {
                let width = a.len();
                let [a, b] = [a, b].map(|wires| Integer { wires, signed: false });
                let mut sum = BitSum::of(c, &a);
                sum.add_times(c, &BitSum::of(c, &b), 1);
                sum.word(c, width, len)?
            }
        };
        columns.push(Integer { wires, signed: *signed });
    }
    Ok(columns)
}

/// The sum over all `len` entries, block by block.
fn add_up<C: Computation>(
    c: &mut C,
    total: &Total,
    columns: &[Integer<C::Wires>],
    len: usize,
) -> Result<Integer<C::Wires>> {
    let at_once = (c.lanes_at_once() / WIRES_OF_LANE).max(BLOCK_MIN_LANES);
    let width = total.total.width();
    let mut sum = BitSum::constant(0);
    for first in (0..len).step_by(at_once) {
        let lanes = at_once.min(len - first);
        let block = |column: &Integer<C::Wires>| Integer {
            wires: word::slice(&column.wires, first, lanes),
            signed: column.signed,
        };
        let columns: Vec<_> = columns.iter().map(block).collect();
        let scope = Scope { columns: &columns, totals: &[], len: lanes };
        let added = scope.number_where(c, &total.of, &total.filter)?;
        let of_block = added.sum_of_lanes(c, width, lanes)?;
        sum.add_times(c, &of_block, 1);
        if let Some(ctx) = c.context() {
            ctx.progress((first + lanes) as u64, len as u64);
        }
    }
    Ok(Integer { wires: sum.word(c, width, 1)?, signed: total.total.is_signed() })
}

/// The values that numbers are computed from: of some entries, or of the whole table.
struct Scope<'a, W> {
    columns: &'a [Integer<W>],
    totals: &'a [Integer<W>],
    len: usize,
}

impl<W: Lanes> Scope<'_, W> {
    /// `number` where `filter` holds, and zero in the other lanes.
    fn number_where<G: Gates<Wires = W>>(
        &self,
        g: &mut G,
        number: &Number,
        filter: &Condition,
    ) -> Result<BitSum<W>> {
        if let Condition::Known(true) = filter {
            return self.number(g, number);
        }
        let filter = self.condition(g, filter)?;
        if number.is_constant() {
            let mut sum = BitSum::constant(0);
            let one = BitSum::of(g, &Integer { wires: vec![filter], signed: false });
            sum.add_times(g, &one, number.min);
            return Ok(sum);
        }
        let Integer { wires, signed } = self.integer(g, number)?;
        let wires = gadgets::mask(g, &filter, &wires)?;
        Ok(BitSum::of(g, &Integer { wires, signed }))
    }

    fn number<G: Gates<Wires = W>>(&self, g: &mut G, number: &Number) -> Result<BitSum<W>> {
        Ok(match &number.form {
            Form::Constant => BitSum::constant(number.min),
            Form::Column(index) => BitSum::of(g, &self.columns[*index]),
            Form::Total(index) => BitSum::of(g, &self.totals[*index]),
            Form::Sum(a, b, times) => {
                let mut sum = self.number(g, a)?;
                // Copies of a word cost less than copies of all bits whose sum it is.
                let b = if times.unsigned_abs().is_power_of_two() {
                    self.number(g, b)?
                } else {
                    let b = self.integer(g, b)?;
                    BitSum::of(g, &b)
                };
                sum.add_times(g, &b, *times);
                sum
            }
            Form::Product(a, b) if a == b => {
                let a = self.integer(g, a)?;
                gadgets::square(g, &a)?
            }
            Form::Product(a, b) => {
                let (a, b) = (self.integer(g, a)?, self.integer(g, b)?);
                gadgets::product(g, &a, &b)?
            }
        })
    }

    fn integer<G: Gates<Wires = W>>(&self, g: &mut G, number: &Number) -> Result<Integer<W>> {
        let wires = self.number(g, number)?.word(g, number.width(), self.len)?;
        Ok(Integer { wires, signed: number.is_signed() })
    }

    fn condition<G: Gates<Wires = W>>(&self, g: &mut G, condition: &Condition) -> Result<W> {
        Ok(match condition {
            Condition::Known(known) => g.constant(*known, self.len),
            Condition::Not(of) => {
                let of = self.condition(g, of)?;
                g.not(&of)
            }
            Condition::Both(a, b) => {
                let (a, b) = (self.condition(g, a)?, self.condition(g, b)?);
                gadgets::and(g, &a, &b)?
            }
            Condition::Greater(a, b) => {
                let [mut a, mut b] = self.aligned(g, a, b)?;
                // With signs, the number without one is the larger.
                if a.signed {
                    for number in [&mut a, &mut b] {
                        if let Some(sign) = number.wires.last_mut() {
                            *sign = g.not(sign);
                        }
                    }
                }
                gadgets::greater(g, &a.wires, &b.wires)?
            }
            Condition::Equal(a, b) => {
                let [a, b] = self.aligned(g, a, b)?;
                gadgets::equal(g, &a.wires, &b.wires)?
            }
        })
    }

    /// Both numbers with equally many bits, and both with a sign or none.
    fn aligned<G: Gates<Wires = W>>(
        &self,
        g: &mut G,
        a: &Number,
        b: &Number,
    ) -> Result<[Integer<W>; 2]> {
        let (min, max) = (a.min.min(b.min), a.max.max(b.max));
        let either = Number { min, max, form: Form::Constant };
        let mut aligned = |number: &Number| -> Result<Integer<W>> {
            let wires = self.integer(g, number)?.extended(g, either.width(), self.len);
            Ok(Integer { wires, signed: either.is_signed() })
        };
        Ok([aligned(a)?, aligned(b)?])
    }
}
