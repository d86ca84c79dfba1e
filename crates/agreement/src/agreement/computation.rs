//! An expression that a run computes on its shares, instead of giving them to the parties.

use super::error::{AgreementError, AgreementFault};
use super::parties::PartyTerms;
use super::table::{At, Table, check_text, unknown_word};
use super::values::ValueTerms;
use vesica_core::Error;
use vesica_expressions::{
    Column, Combine, Engine, Expression, ExpressionError, Plan, Reveal, Table as SharedTable,
};
use vesica_protocols::Traffic;

/// Longest expression, in characters.
const MAX_EXPRESSION_CHARS: usize = 4096;

/// The names of the engines, the default first.
const CIRCUITS: [(&str, Engine); 2] = [("garbled", Engine::Garbled), ("gmw", Engine::Shared)];

/// Entries above which bytes are estimated from those of this number: gates of each are counted.
const COUNTED_ENTRIES: usize = 1 << 14;

/// What is computed on the shares of one party's values of the common keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// What is computed. Its columns are those of the values.
    pub expression: Expression,
    /// How its circuit is evaluated.
    pub engine: Engine,
}

impl Computation {
    /// The value of `circuit`.
    pub fn circuit(&self) -> &'static str {
        let [(garbled, _), (gmw, _)] = CIRCUITS;
        match self.engine {
            Engine::Garbled => garbled,
            Engine::Shared => gmw,
        }
    }

    /// The circuit over `entries` common keys, which have `values`.
    ///
    /// # Errors
    /// [`Error::Bug`] for more entries than the agreement allows.
    pub fn plan(&self, values: &ValueTerms, entries: usize) -> vesica_core::Result<Plan> {
        plan(&self.expression, values, entries)
            .map_err(|_| Error::Bug("an expression of an agreement has no circuit"))
    }

    /// Payload bytes of the computation over `entries` common keys, whose answers go `to` these
    /// parties; for many entries an upper bound.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn bytes(
        &self,
        values: &ValueTerms,
        entries: usize,
        to: Reveal,
    ) -> vesica_core::Result<Traffic> {
        let counted = self.plan(values, entries.min(COUNTED_ENTRIES))?.bytes(self.engine, to)?;
        // A total over more entries has more bits, but fewer gates than these add.
        let times = match entries.div_ceil(COUNTED_ENTRIES) as u64 {
            ..=1 => 1,
            more => 2 * more,
        };
        Ok(Traffic {
            sender_to_receiver: counted.sender_to_receiver.saturating_mul(times),
            receiver_to_sender: counted.receiver_to_sender.saturating_mul(times),
        })
    }
}

fn plan(
    expression: &Expression,
    values: &ValueTerms,
    entries: usize,
) -> Result<Plan, ExpressionError> {
    let (bits, signed) = (values.bits, values.signed);
    let column = |name: &String| Column { name: name.clone(), bits, signed };
    let columns = values.columns.iter().map(column).collect();
    Plan::new(expression, &SharedTable { columns, entries, combine: Combine::Xor })
}

/// The computation in the table `[shares]`, if it has one, over `values`.
pub(super) fn read(
    text: &str,
    table: &Table<'_>,
    values: Option<&ValueTerms>,
    parties: &[PartyTerms],
) -> Result<Option<Computation>, AgreementError> {
    let (compute, circuit) = (table.text("compute")?, table.text("circuit")?);
    let is_given = compute.is_some() || circuit.is_some();
    let Some(values) = values.filter(|_| is_given) else { return Ok(None) };
    let compute = table.required("compute", |_, _| Ok(compute))?;
    check_text(table, &compute, MAX_EXPRESSION_CHARS)?;
    // The number of common keys is at most the size of the smaller set.
    let entries = parties.iter().map(|party| party.max_rows).min().unwrap_or(0);
    let entries = usize::try_from(entries).unwrap_or(usize::MAX);
    let expression = Expression::parse(compute.value)
        .and_then(|expression| plan(&expression, values, entries).map(|_| expression))
        .map_err(|cause| {
            let place = place(text, &compute, &cause);
            let field = compute.field.clone();
            table.error(place..place, AgreementFault::BadExpression { field, cause })
        })?;
    let engine = match circuit {
        None => CIRCUITS[0].1,
        Some(word) => match CIRCUITS.iter().find(|(name, _)| *name == word.value) {
            Some((_, engine)) => *engine,
            None => return Err(unknown_word(table, word, &CIRCUITS.map(|(name, _)| name))),
        },
    };
    Ok(Some(Computation { expression, engine }))
}

/// The byte of `text` at which `cause` is, or at which the expression begins.
fn place(text: &str, compute: &At<&str>, cause: &ExpressionError) -> usize {
    let start = compute.span.start;
    // With escapes a character of the expression is at another place in the text.
    let is_as_written = text.get(start + 1..).is_some_and(|rest| rest.starts_with(compute.value));
    match cause.at().filter(|_| is_as_written) {
        Some(at) => {
            let before = compute.value.chars().take(at - 1).map(char::len_utf8);
            start + 1 + before.sum::<usize>()
        }
        None => start,
    }
}
