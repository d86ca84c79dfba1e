//! What a benchmark asks of the common items.

use super::{BenchError, Sizes, size};
use clap::{Args, ValueEnum};
use vesica_core::{Bounds, Learns, Query, Role, Values};
use vesica_protocols::{Operation, Protocol};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OperationName {
    Intersection,
    Cardinality,
    Threshold,
    Sum,
}

/// What is asked of the common items.
#[derive(Args, Clone, Debug)]
pub(super) struct QuestionArgs {
    /// What is computed
    #[arg(long, value_enum, default_value = "intersection")]
    operation: OperationName,
    /// Both parties learn the answer, not the receiver alone
    #[arg(long)]
    both: bool,
    /// How many items are common [default: half of the smaller set]
    #[arg(long, value_name = "N", value_parser = size)]
    common: Option<u64>,
    /// With --operation threshold: how many give yes [default: as many as are common]
    #[arg(long, value_name = "N")]
    threshold: Option<u64>,
    /// With --operation sum: length in bits of the values, which the sender has
    #[arg(long, default_value_t = 32, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=64))]
    value_bits: u32,
    /// The fewest common items for an answer
    #[arg(long, value_name = "N")]
    min_matches: Option<u64>,
    /// The most common items for an answer
    #[arg(long, value_name = "N")]
    max_matches: Option<u64>,
}

impl QuestionArgs {
    pub(super) fn operation(&self) -> Operation {
        match self.operation {
            OperationName::Intersection => Operation::Intersection,
            OperationName::Cardinality => Operation::Cardinality,
            OperationName::Threshold => Operation::Threshold,
            OperationName::Sum => Operation::Sum,
        }
    }

    pub(super) fn learns(&self) -> Learns {
        if self.both { Learns::Both } else { Learns::Receiver }
    }

    pub(super) fn common(&self, sizes: Sizes) -> u64 {
        self.common.unwrap_or(sizes.sender.min(sizes.receiver).div_ceil(2))
    }

    pub(super) fn query(&self, sizes: Sizes) -> Query {
        match self.operation {
            OperationName::Intersection => Query::Intersection,
            OperationName::Cardinality => Query::Cardinality,
            OperationName::Threshold => {
                Query::Threshold { min: self.threshold.unwrap_or(self.common(sizes)) }
            }
            OperationName::Sum => {
                let values = Values::new(Role::Sender, self.value_bits);
                Query::Sum(values.expect("the command line takes 1 to 64 bits"))
            }
        }
    }

    pub(super) fn bounds(&self) -> Result<Bounds, BenchError> {
        Bounds::new(self.min_matches, self.max_matches).map_err(|_| BenchError::BoundsReversed)
    }

    /// What is said of the bounds: the fewest and the most.
    pub(super) fn matches(&self) -> (Option<u64>, Option<u64>) {
        (self.min_matches, self.max_matches)
    }

    /// Refuses what `protocol` does not compute and what two sets of these sizes cannot have.
    pub(super) fn check(
        &self,
        protocol: &'static Protocol,
        sizes: Sizes,
    ) -> Result<(), BenchError> {
        let (id, operation) = (protocol.id, self.operation());
        if !protocol.operations.contains(&operation) {
            return Err(BenchError::NotOffered { id, operation });
        }
        let bounds = self.bounds()?;
        if !protocol.bounds && !bounds.are_none() {
            return Err(BenchError::NoBounds(id));
        }
        match self.common(sizes) > sizes.sender.min(sizes.receiver) {
            true => Err(BenchError::TooManyCommon),
            false => Ok(()),
        }
    }

    /// The same words for the command of a party.
    pub(super) fn to_words(&self) -> Vec<String> {
        let mut words = vec![
            "--operation".to_owned(),
            self.operation().name().to_owned(),
            "--value-bits".to_owned(),
            self.value_bits.to_string(),
        ];
        if self.both {
            words.push("--both".to_owned());
        }
        for (name, number) in [
            ("--common", self.common),
            ("--threshold", self.threshold),
            ("--min-matches", self.min_matches),
            ("--max-matches", self.max_matches),
        ] {
            if let Some(number) = number {
                words.extend([name.to_owned(), number.to_string()]);
            }
        }
        words
    }
}
