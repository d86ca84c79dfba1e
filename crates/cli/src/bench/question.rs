//! The question that a benchmark asks about the common items.

use super::error::BenchError;
use super::sizes::{Sizes, size};
use crate::asked::OperationName;
use clap::Args;
use vesica_core::{Bounds, EarlyReveal, Learns, Query, Role, TextLen, Values};
use vesica_protocols::{Operation, Pairwise, Protocol};

/// The question about the common items.
#[derive(Args, Clone, Debug)]
pub(super) struct QuestionArgs {
    /// What is computed [default: the first operation that the protocol offers]
    #[arg(long, value_enum)]
    operation: Option<OperationName>,
    #[arg(skip = Operation::Intersection)]
    offered: Operation,
    /// Both parties learn the answer, not only the receiver; implied by operations that give each
    /// party its own result
    #[arg(long)]
    both: bool,
    /// With --both, in a protocol that reveals matches while it still compares: reveal them at the
    /// end, and compare all pairs
    #[arg(long)]
    no_early_reveal: bool,
    /// How many items are common [default: half of the smaller set]
    #[arg(long, value_name = "N", value_parser = size)]
    common: Option<u64>,
    /// With --operation threshold: the number of common items from which the answer is yes
    /// [default: the number of common items]
    #[arg(long, value_name = "N")]
    threshold: Option<u64>,
    /// With values: their length in bits; the sender has the values
    #[arg(long, default_value_t = 32, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=64))]
    value_bits: u32,
    /// With values: the number of values per item [default: 1; none with --operation shares]
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Values::MAX_COLUMNS)))]
    value_columns: Option<u32>,
    /// With --operation inner-product: bits of the receiver's values
    #[arg(long, value_name = "N", default_value = "16",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Values::MAX_FACTOR_BITS)))]
    factor_bits: u32,
    /// With values: values may be below zero
    #[arg(long)]
    value_signed: bool,
    /// With --operation union: length of an item's text in bytes
    #[arg(long, default_value_t = 16, value_name = "BYTES",
        value_parser = clap::value_parser!(u32).range(8..=4096))]
    text_bytes: u32,
    /// The minimum number of common items for an answer
    #[arg(long, value_name = "N")]
    min_matches: Option<u64>,
    /// The maximum number of common items for an answer
    #[arg(long, value_name = "N")]
    max_matches: Option<u64>,
}

impl QuestionArgs {
    pub(super) fn operation(&self) -> Operation {
        self.operation.map_or(self.offered, OperationName::operation)
    }

    /// These options for `protocol`, whose first operation is the default.
    pub(super) fn about(self, protocol: &Protocol) -> Self {
        let offered = protocol.operations.first().copied().unwrap_or(self.offered);
        Self { offered, ..self }
    }

    pub(super) fn learns(&self) -> Learns {
        if self.both || self.operation().is_for_both() { Learns::Both } else { Learns::Receiver }
    }

    pub(super) fn early_reveal(&self) -> EarlyReveal {
        if self.no_early_reveal { EarlyReveal::Never } else { EarlyReveal::Paced }
    }

    pub(super) fn common(&self, sizes: Sizes) -> u64 {
        self.common.unwrap_or(sizes.sender.min(sizes.receiver).div_ceil(2))
    }

    pub(super) fn query(&self, sizes: Sizes) -> Query {
        match self.operation() {
            Operation::Cardinality => Query::Cardinality,
            Operation::Threshold => {
                Query::Threshold { min: self.threshold.unwrap_or(self.common(sizes)) }
            }
            Operation::Sum => Query::Sum(self.values()),
            Operation::InnerProduct => Query::InnerProduct {
                values: self.values(),
                factors: Values::new(Role::Receiver, self.factor_bits)
                    .expect("the command line takes 1 to 32 bits"),
            },
            Operation::Union => {
                let len = TextLen::new(self.text_bytes);
                Query::Union(len.expect("the command line takes 8 to 4096 bytes"))
            }
            Operation::PrivateId => Query::PrivateId,
            Operation::Shares => Query::Shares(self.value_columns.map(|_| self.values())),
            Operation::SharedValues => Query::SharedValues { values: self.values(), default: 0 },
            _ => Query::Intersection,
        }
    }

    fn values(&self) -> Values {
        let values = Values::new(Role::Sender, self.value_bits)
            .and_then(|values| values.with_columns(self.value_columns.unwrap_or(1)))
            .expect("the command line takes 1 to 64 bits and 1 to 64 columns");
        if self.value_signed { values.signed() } else { values }
    }

    pub(super) fn bounds(&self) -> Result<Bounds, BenchError> {
        Bounds::new(self.min_matches, self.max_matches).map_err(|_| BenchError::BoundsReversed)
    }

    /// The given bounds: the minimum and the maximum.
    pub(super) fn matches(&self) -> (Option<u64>, Option<u64>) {
        (self.min_matches, self.max_matches)
    }

    /// Refuses a question that `protocol` does not answer, and one that sets of these sizes cannot
    /// have.
    pub(super) fn check(
        &self,
        protocol: &'static Protocol,
        sizes: Sizes,
    ) -> Result<(), BenchError> {
        let (id, operation) = (protocol.id, self.operation());
        if !protocol.operations.contains(&operation) {
            return Err(BenchError::NotOffered { id, operation });
        }
        if self.no_early_reveal && protocol.pairwise != Pairwise::Early {
            return Err(BenchError::NoEarlyReveal(id));
        }
        let bounds = self.bounds()?;
        if !protocol.bounds.are_kept() && !bounds.are_none() {
            return Err(BenchError::NoBounds(id));
        }
        if let Some(values) = self.query(sizes).values()
            && !(protocol.wide_values || values.are_plain())
        {
            return Err(BenchError::PlainValues(id));
        }
        if self.common(sizes) > sizes.sender.min(sizes.receiver) {
            Err(BenchError::TooManyCommon)
        } else {
            Ok(())
        }
    }
}
