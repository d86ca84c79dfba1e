//! The question that a measurement asks about the common items.

use crate::error::BenchError;
use crate::sizes::Sizes;
use vesica_core::{Bounds, EarlyReveal, Learns, Query};
use vesica_protocols::{Pairwise, Protocol};

/// The question about the common items.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// What is computed; not looked at with a helper.
    pub query: Query,
    /// Who learns the answer.
    pub learns: Learns,
    /// When both learn the matches, if the protocol can reveal them early.
    pub early_reveal: EarlyReveal,
    /// How many items all parties have in common.
    pub common: u64,
    /// The minimum number of common items for an answer.
    pub min_matches: Option<u64>,
    /// The maximum number of common items for an answer.
    pub max_matches: Option<u64>,
}

impl Question {
    pub(crate) fn bounds(&self) -> Result<Bounds, BenchError> {
        Bounds::new(self.min_matches, self.max_matches).map_err(|_| BenchError::BoundsReversed)
    }

    /// Refuses a question that `protocol` does not answer, and one that sets of these sizes cannot
    /// have.
    pub(crate) fn check(
        &self,
        protocol: &'static Protocol,
        sizes: Sizes,
    ) -> Result<(), BenchError> {
        let (id, operation) = (protocol.id, self.query.operation());
        if !protocol.operations.contains(&operation) {
            return Err(BenchError::NotOffered { id, what: operation.name() });
        }
        if self.early_reveal == EarlyReveal::Never && protocol.pairwise != Pairwise::Early {
            return Err(BenchError::NoEarlyReveal(id));
        }
        if self.query.payload_len().is_some() && !protocol.payloads {
            return Err(BenchError::NotOffered { id, what: "payloads" });
        }
        let bounds = self.bounds()?;
        if !protocol.bounds.are_kept() && !bounds.are_none() {
            return Err(BenchError::NoBounds(id));
        }
        if let Some(values) = self.query.values()
            && !(protocol.wide_values || values.are_plain())
        {
            return Err(BenchError::PlainValues(id));
        }
        if self.common > sizes.smaller() { Err(BenchError::TooManyCommon) } else { Ok(()) }
    }
}
