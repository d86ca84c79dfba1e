//! The options of the question that a benchmark asks about the common items.

use crate::asked::OperationName;
use clap::Args;
use vesica_bench_runs::{Question, Sizes, size};
use vesica_core::{EarlyReveal, Learns, PayloadLen, Query, Role, TextLen, Values};
use vesica_protocols::Operation;

/// The question about the common items.
#[derive(Args, Clone, Debug)]
pub(super) struct QuestionArgs {
    /// What is computed [default: the first operation that the protocol offers]
    #[arg(long, value_enum)]
    operation: Option<OperationName>,
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
    /// With --operation intersection: the sender sends this many bytes with each common item
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=4096))]
    payload_bytes: Option<u32>,
    /// The minimum number of common items for an answer
    #[arg(long, value_name = "N")]
    min_matches: Option<u64>,
    /// The maximum number of common items for an answer
    #[arg(long, value_name = "N")]
    max_matches: Option<u64>,
}

impl QuestionArgs {
    /// The question about sets of these `sizes`; `offered` is the default operation.
    pub(super) fn question(&self, sizes: Sizes, offered: Operation) -> Question {
        let operation = self.operation.map_or(offered, OperationName::operation);
        let both = self.both || operation.is_for_both();
        let common = self.common.unwrap_or(sizes.smaller().div_ceil(2));
        Question {
            query: self.query(operation, common),
            learns: if both { Learns::Both } else { Learns::Receiver },
            early_reveal: if self.no_early_reveal {
                EarlyReveal::Never
            } else {
                EarlyReveal::Paced
            },
            common,
            min_matches: self.min_matches,
            max_matches: self.max_matches,
        }
    }

    fn query(&self, operation: Operation, common: u64) -> Query {
        match operation {
            Operation::Cardinality => Query::Cardinality,
            Operation::Threshold => Query::Threshold { min: self.threshold.unwrap_or(common) },
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
            _ => self.payload_bytes.map_or(Query::Intersection, |bytes| {
                let len = PayloadLen::new(bytes);
                Query::Payloads(len.expect("the command line takes 1 to 4096 bytes"))
            }),
        }
    }

    fn values(&self) -> Values {
        let values = Values::new(Role::Sender, self.value_bits)
            .and_then(|values| values.with_columns(self.value_columns.unwrap_or(1)))
            .expect("the command line takes 1 to 64 bits and 1 to 64 columns");
        if self.value_signed { values.signed() } else { values }
    }
}
