//! What a new agreement asks.

use clap::{Args, ValueEnum};
use vesica_engine::agreement::SUM_MAX_BITS;
use vesica_protocols::Operation;

/// Stands for a threshold that is still to be agreed.
const EXAMPLE_THRESHOLD: u64 = 1000;
/// Stand for a column of values that is still to be agreed.
const EXAMPLE_COLUMN: &str = "amount";
const EXAMPLE_BITS: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OperationName {
    /// Which rows are common
    Intersection,
    /// How many keys are common
    Cardinality,
    /// Whether at least so many keys are common
    Threshold,
    /// What a column adds up to over the common keys
    Sum,
}

/// The question.
#[derive(Args, Clone, Debug)]
pub(crate) struct AskedArgs {
    /// What is computed
    #[arg(long, value_enum, default_value = "intersection")]
    operation: OperationName,
    /// With --operation threshold: how many common keys give yes [default: 1000]
    #[arg(long, value_name = "N")]
    threshold: Option<u64>,
    /// With --operation sum: the party that has the values [default: the first party]
    #[arg(long, value_name = "PARTY")]
    sum_of: Option<String>,
    /// With --operation sum: the column that holds them [default: amount]
    #[arg(long, value_name = "COLUMN")]
    sum_column: Option<String>,
    /// With --operation sum: the value of a key is below 2^BITS [default: 32]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUM_MAX_BITS)))]
    sum_bits: Option<u32>,
    /// The fewest common keys for an answer; with fewer, nobody learns more than that
    #[arg(long, value_name = "N")]
    pub(crate) min_matches: Option<u64>,
    /// The most common keys for an answer; with more, nobody learns more than that
    #[arg(long, value_name = "N")]
    pub(crate) max_matches: Option<u64>,
}

/// The table `[sum]`.
pub(crate) struct SumFields {
    pub(crate) of: String,
    pub(crate) column: String,
    pub(crate) bits: u32,
}

impl AskedArgs {
    pub(crate) fn operation(&self) -> Operation {
        match self.operation {
            OperationName::Intersection => Operation::Intersection,
            OperationName::Cardinality => Operation::Cardinality,
            OperationName::Threshold => Operation::Threshold,
            OperationName::Sum => Operation::Sum,
        }
    }

    /// The fields that are counts, with what they mean. One that goes with another operation is
    /// among them: the agreement's own check refuses it.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64, &'static str)> {
        let example = (self.operation == OperationName::Threshold).then_some(EXAMPLE_THRESHOLD);
        [
            ("threshold", self.threshold.or(example), "with so many keys in common it says yes"),
            ("min_matches", self.min_matches, "with fewer keys in common there is no answer"),
            ("max_matches", self.max_matches, "with more keys in common there is no answer"),
        ]
        .into_iter()
        .filter_map(|(name, count, meaning)| Some((name, count?, meaning)))
        .collect()
    }

    /// The table of a sum, likewise; `first` is the first party.
    pub(crate) fn sum(&self, first: &str) -> Option<SumFields> {
        let given = self.sum_of.is_some() || self.sum_column.is_some() || self.sum_bits.is_some();
        (given || self.operation == OperationName::Sum).then(|| SumFields {
            of: self.sum_of.as_deref().unwrap_or(first).to_owned(),
            column: self.sum_column.as_deref().unwrap_or(EXAMPLE_COLUMN).to_owned(),
            bits: self.sum_bits.unwrap_or(EXAMPLE_BITS),
        })
    }
}
