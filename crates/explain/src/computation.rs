//! An expression that is computed on shares: its cost, and what its answers reveal.

use crate::question::columns;
use crate::words::Words;
use vesica_agreement::figures::bytes;
use vesica_agreement::{Computation, ValueTerms};
use vesica_expressions::Engine;

/// Common rows whose gates are counted for the cost of a row.
const COUNTED_ROWS: usize = 1 << 10;

/// Bytes a second that one thread garbles: 21 million gates, as measured in `docs/circuits.md`.
const GARBLED_BYTES_PER_S: f64 = 21e6 * 32.0;

impl Words<'_> {
    /// Payload bytes of the computation for each common row, if there is one.
    fn bytes_of_a_row(&self) -> Option<u64> {
        let (values, computation) = self.agreement.question.computed()?;
        let of = |rows| {
            let to = self.agreement.reveals_to();
            computation.bytes(values, rows, to).ok().map(|traffic| traffic.total())
        };
        let (fewer, more) = (of(COUNTED_ROWS)?, of(2 * COUNTED_ROWS)?);
        Some(more.saturating_sub(fewer).div_ceil(COUNTED_ROWS as u64))
    }

    /// Payload bytes of the computation if all keys of the smaller set are common.
    pub(super) fn computed_bytes(&self) -> Option<u64> {
        let most = self.sender.max_rows.min(self.receiver.max_rows);
        Some(self.bytes_of_a_row()?.saturating_mul(most))
    }

    /// What the computation costs.
    pub(super) fn cost_of_computation(&self) -> Option<String> {
        let (_, computation) = self.agreement.question.computed()?;
        let Computation { engine, .. } = computation;
        let of_row = self.bytes_of_a_row()?;
        let all = bytes(self.computed_bytes()?);
        Some(match engine {
            Engine::Garbled => format!(
                "The computation, after that: about {} for each common row, {all} if all keys of \
                 the smaller set are common; a million common rows take one thread {:.0} s, and a \
                 slow network longer. Memory: 48 bytes for each bit of each common row's values.",
                bytes(of_row),
                of_row as f64 * 1e6 / GARBLED_BYTES_PER_S,
            ),
            Engine::Shared => format!(
                "The computation, after that: about {} for each common row, {all} if all keys of \
                 the smaller set are common; a flight for each layer of gates, so it takes long \
                 over a slow network or through a store.",
                bytes(of_row),
            ),
        })
    }

    /// What the answers of a computation reveal; `who` can enter what it likes.
    pub(super) fn revealed_by_computation(&self, values: &ValueTerms, who: &str) -> Vec<String> {
        let bounded = match self.agreement.bounds.min {
            Some(_) => {
                " The required minimum of common keys makes this harder, but not impossible."
            }
            None => " With `min_matches` a run with too few common keys has no answer.",
        };
        let mut points = vec![
            format!(
                "What the computation reveals about single rows. A part that selects one common \
                 row reveals its value in {} of {}, and several parts together reveal more than \
                 each: agree on all of them. If few keys are in common, every sum reveals much.",
                columns(values),
                values.of,
            ),
            format!(
                "Lying about one's input. {who} keys that are not in its data: over a single \
                 common key every sum is its value.{bounded} Either side can leave keys out. {} \
                 can enter any values.",
                values.of,
            ),
        ];
        if self.agreement.is_receiver_of_result(&values.of) {
            points.push(format!(
                "Which keys are common, from {0}. It knows the values and receives what is \
                 computed from them: it may learn which of its keys are common; with values \
                 chosen for that, always. That is weak: let the other side alone receive it.",
                values.of,
            ));
        }
        points
    }
}
