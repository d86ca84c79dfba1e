//! What a new agreement asks.

use clap::{Args, ValueEnum};
use vesica_engine::agreement::{KEY_BYTES_DEFAULT, KEY_MAX_BYTES, VALUE_MAX_BITS};
use vesica_protocols::Operation;

/// Stands for a threshold that is still to be agreed.
const EXAMPLE_THRESHOLD: u64 = 1000;
/// Stand for a column of values that is still to be agreed.
const EXAMPLE_COLUMN: &str = "amount";
const EXAMPLE_BITS: u32 = 32;

/// An operation on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationName {
    /// Which rows are common
    Intersection,
    /// How many keys are common
    Cardinality,
    /// Whether at least so many keys are common
    Threshold,
    /// What columns add up to over the common keys
    Sum,
    /// Which keys either side has
    Union,
    /// A random identifier of each key that either side has
    PrivateId,
    /// Shares of the common keys, and of values
    Shares,
    /// Shares of a value of each key of one side, or of a default
    SharedValues,
}

impl OperationName {
    pub(crate) fn operation(self) -> Operation {
        match self {
            OperationName::Intersection => Operation::Intersection,
            OperationName::Cardinality => Operation::Cardinality,
            OperationName::Threshold => Operation::Threshold,
            OperationName::Sum => Operation::Sum,
            OperationName::Union => Operation::Union,
            OperationName::PrivateId => Operation::PrivateId,
            OperationName::Shares => Operation::Shares,
            OperationName::SharedValues => Operation::SharedValues,
        }
    }
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
    /// With --operation sum: a column that holds them; repeatable [default: amount]
    #[arg(long = "sum-column", value_name = "COLUMN")]
    sum_columns: Vec<String>,
    /// With --operation sum: the value of a key is below 2^BITS [default: 32]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(VALUE_MAX_BITS)))]
    sum_bits: Option<u32>,
    /// With --operation sum: values may be below zero
    #[arg(long)]
    sum_signed: bool,
    /// With --operation union: the most bytes of a key [default: 64]
    #[arg(long, value_name = "BYTES",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(KEY_MAX_BYTES)))]
    key_bytes: Option<u32>,
    /// With shares: the party that has the values [default: the first party]
    #[arg(long, value_name = "PARTY")]
    shares_of: Option<String>,
    /// With shares: a column of values; repeatable [default: none, amount with shared-values]
    #[arg(long = "shares-column", value_name = "COLUMN")]
    shares_columns: Vec<String>,
    /// With shares: the value of a key is below 2^BITS [default: 32]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(VALUE_MAX_BITS)))]
    shares_bits: Option<u32>,
    /// With shares: values may be below zero
    #[arg(long)]
    shares_signed: bool,
    /// The fewest common keys for an answer; with fewer, nobody learns more than that
    #[arg(long, value_name = "N")]
    pub(crate) min_matches: Option<u64>,
    /// The most common keys for an answer; with more, nobody learns more than that
    #[arg(long, value_name = "N")]
    pub(crate) max_matches: Option<u64>,
}

/// The table `[sum]` or `[shares]`.
pub(crate) struct ValueFields {
    /// Its name.
    pub(crate) table: &'static str,
    pub(crate) of: String,
    pub(crate) columns: Vec<String>,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

/// The options of a table of values.
struct ValueOptions<'a> {
    table: &'static str,
    of: &'a Option<String>,
    columns: &'a [String],
    bits: Option<u32>,
    signed: bool,
}

impl AskedArgs {
    pub(crate) fn operation(&self) -> Operation {
        self.operation.operation()
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

    /// The tables of values, likewise. `receives` is the agreement's field, and `parties` are the names.
    pub(crate) fn values(&self, receives: &str, parties: [&str; 2]) -> Vec<ValueFields> {
        let sum = ValueOptions {
            table: "sum",
            of: &self.sum_of,
            columns: &self.sum_columns,
            bits: self.sum_bits,
            signed: self.sum_signed,
        };
        let shares = ValueOptions {
            table: "shares",
            of: &self.shares_of,
            columns: &self.shares_columns,
            bits: self.shares_bits,
            signed: self.shares_signed,
        };
        let asks = |options: &ValueOptions<'_>| match self.operation {
            OperationName::Sum => options.table == "sum",
            OperationName::SharedValues => options.table == "shares",
            _ => false,
        };
        let tables =
            [sum, shares].into_iter().filter(|options| asks(options) || options.is_given());
        tables.map(|options| options.fields(receives, parties)).collect()
    }

    /// The most bytes of a key in a union, likewise.
    pub(crate) fn key_bytes(&self) -> Option<u32> {
        let example = (self.operation == OperationName::Union).then_some(KEY_BYTES_DEFAULT);
        self.key_bytes.or(example)
    }
}

impl ValueOptions<'_> {
    fn is_given(&self) -> bool {
        self.of.is_some() || !self.columns.is_empty() || self.bits.is_some() || self.signed
    }

    fn fields(&self, receives: &str, [first, second]: [&str; 2]) -> ValueFields {
        // Several columns, or with a sign, must be of a party that is not alone to receive.
        let is_wide = self.columns.len() > 1 || self.signed;
        let holder = if is_wide && receives == first { second } else { first };
        ValueFields {
            table: self.table,
            of: self.of.as_deref().unwrap_or(holder).to_owned(),
            columns: match self.columns {
                [] => vec![EXAMPLE_COLUMN.to_owned()],
                columns => columns.to_vec(),
            },
            bits: self.bits.unwrap_or(EXAMPLE_BITS),
            signed: self.signed,
        }
    }
}
