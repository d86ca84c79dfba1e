//! The options for the question that a new agreement asks.

use crate::settings::count;
use clap::{Args, ValueEnum};
use vesica_agreement::{KEY_BYTES_DEFAULT, KEY_MAX_BYTES, VALUE_MAX_BITS};
use vesica_core::Values;
use vesica_protocols::Operation;

/// Example values, to be replaced.
const EXAMPLE_THRESHOLD: u64 = 1000;
const EXAMPLE_COLUMN: &str = "amount";
const EXAMPLE_FACTOR: &str = "weight";
const EXAMPLE_FACTOR_BITS: u32 = 16;
const EXAMPLE_BITS: u32 = 32;
/// A sum over fewer keys reveals much about each of them.
const EXAMPLE_MIN_MATCHES: u64 = 100;

/// An operation on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationName {
    /// Which rows are common
    Intersection,
    /// How many keys are common
    Cardinality,
    /// Whether at least a given number of keys are common
    Threshold,
    /// The sums of columns over the common keys
    Sum,
    /// The sum over the common keys of one side's values times the other's
    InnerProduct,
    /// All keys that at least one side has
    Union,
    /// A random identifier for each key that at least one side has
    PrivateId,
    /// Secret shares of the common keys, and of values
    Shares,
    /// Secret shares of a value for each key of one side, or of a default
    SharedValues,
}

impl OperationName {
    pub(crate) fn operation(self) -> Operation {
        match self {
            OperationName::Intersection => Operation::Intersection,
            OperationName::Cardinality => Operation::Cardinality,
            OperationName::Threshold => Operation::Threshold,
            OperationName::Sum => Operation::Sum,
            OperationName::InnerProduct => Operation::InnerProduct,
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
    /// With --operation threshold: the number of common keys from which the answer is yes [default:
    /// 1000]
    #[arg(long, value_name = "N", value_parser = count)]
    threshold: Option<u64>,
    /// With --operation sum: the party that has the values [default: the first party that is not
    /// the only receiver]
    #[arg(long, value_name = "PARTY")]
    sum_of: Option<String>,
    /// With --operation sum: a column with values; repeatable [default: amount]
    #[arg(long = "sum-column", value_name = "COLUMN")]
    sum_columns: Vec<String>,
    /// With --operation sum: a sum for each group of rows, by this column; without --sum-column the
    /// number of rows
    #[arg(long, value_name = "COLUMN", requires = "groups")]
    sum_by: Option<String>,
    /// With --sum-by: the groups, as that column names them, separated by commas. Write a group
    /// with a comma into the file
    #[arg(long, value_name = "GROUP", value_delimiter = ',', requires = "sum_by")]
    groups: Vec<String>,
    /// With --operation sum: the value of a key is below 2^BITS [default: 32]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(VALUE_MAX_BITS)))]
    sum_bits: Option<u32>,
    /// With --operation sum: values may be below zero
    #[arg(long)]
    sum_signed: bool,
    /// With --operation inner-product: the party with the values of one or several columns
    /// [default: one that is not the only receiver]
    #[arg(long, value_name = "PARTY")]
    product_of: Option<String>,
    /// With --operation inner-product: a column with such values; repeatable [default: amount]
    #[arg(long = "product-column", value_name = "COLUMN")]
    product_columns: Vec<String>,
    /// With --operation inner-product: the value of a key is below 2^BITS [default: 32]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(VALUE_MAX_BITS)))]
    product_bits: Option<u32>,
    /// With --operation inner-product: these values may be below zero
    #[arg(long)]
    product_signed: bool,
    /// With --operation inner-product: the other party's column, by whose values these are
    /// multiplied [default: weight]
    #[arg(long, value_name = "COLUMN")]
    times: Option<String>,
    /// With --operation inner-product: the other party's value of a key is below 2^BITS [default:
    /// 16]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Values::MAX_FACTOR_BITS)))]
    times_bits: Option<u32>,
    /// With --operation union: the maximum length of a key in bytes [default: 64]
    #[arg(long, value_name = "BYTES",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(KEY_MAX_BYTES)))]
    key_bytes: Option<u32>,
    /// With --operation shares or shared-values: the party that has the values [default: the first
    /// party]
    #[arg(long, value_name = "PARTY")]
    shares_of: Option<String>,
    /// With --operation shares or shared-values: a column with values; repeatable [default: amount
    /// with shared-values, otherwise none]
    #[arg(long = "shares-column", value_name = "COLUMN")]
    shares_columns: Vec<String>,
    /// With --operation shares or shared-values: the value of a key is below 2^BITS [default: 32]
    #[arg(long, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(VALUE_MAX_BITS)))]
    shares_bits: Option<u32>,
    /// With --operation shares or shared-values: values may be below zero
    #[arg(long)]
    shares_signed: bool,
    /// With --operation shares: what the parties compute on the shares, such as "sum(price * units)
    /// > 1000, count(price < 20)"; they get what it gives, and no shares
    #[arg(long, value_name = "EXPRESSION")]
    compute: Option<String>,
    /// With --compute: how the circuit is evaluated. garbled: few flights, many bytes; gmw: fewer
    /// bytes, many flights
    #[arg(long, value_parser = ["garbled", "gmw"], default_value = "garbled")]
    circuit: String,
    /// The minimum number of common keys for an answer; below it, the parties learn only that it is
    /// below [default: 100 with sums, inner products and --compute, otherwise none]
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) min_matches: Option<u64>,
    /// The maximum number of common keys for an answer; above it, the parties learn only that it is
    /// above
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max_matches: Option<u64>,
}

/// The table `[sum]` or `[shares]`.
pub(crate) struct ValueFields {
    /// Its name.
    pub(crate) table: &'static str,
    pub(crate) of: String,
    pub(crate) columns: Vec<String>,
    /// The column of groups, and the groups.
    pub(crate) groups: Option<(String, Vec<String>)>,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
    /// The other party's column that the values are multiplied with, and its bits.
    pub(crate) times: Option<(String, u32)>,
}

/// The options of a table of values.
struct ValueOptions<'a> {
    table: &'static str,
    of: &'a Option<String>,
    columns: &'a [String],
    groups: Option<(&'a String, &'a [String])>,
    bits: Option<u32>,
    signed: bool,
    times: Option<(String, u32)>,
    /// Whether an option is given for what the values are multiplied by.
    has_times: bool,
}

impl AskedArgs {
    pub(crate) fn operation(&self) -> Operation {
        self.operation.operation()
    }

    /// The expression that is computed on shares, if one is given, and how.
    pub(crate) fn compute(&self) -> Option<(&str, &str)> {
        self.compute.as_deref().map(|expression| (expression, &*self.circuit))
    }

    /// The fields that are counts, with their meanings. A field that belongs to another operation
    /// is included: parsing the agreement refuses it. A party has at most `most_rows` rows.
    pub(crate) fn counts(&self, most_rows: u64) -> Vec<(&'static str, u64, &'static str)> {
        let example = (self.operation == OperationName::Threshold).then_some(EXAMPLE_THRESHOLD);
        [
            (
                "threshold",
                self.threshold.or(example),
                "the answer is yes from this many common keys on",
            ),
            ("min_matches", self.least_matches(most_rows), self.why_least_matches()),
            ("max_matches", self.max_matches, "with more common keys there is no answer"),
        ]
        .into_iter()
        .filter_map(|(name, count, meaning)| Some((name, count?, meaning)))
        .collect()
    }

    /// The minimum number of common keys, if there is one. A sum without one is proposed with one,
    /// unless there is a maximum, which could contradict it.
    pub(crate) fn least_matches(&self, most_rows: u64) -> Option<u64> {
        let proposed = self.reveals_values() && self.max_matches.is_none();
        self.min_matches.or(proposed.then_some(EXAMPLE_MIN_MATCHES.min(most_rows)))
    }

    fn why_least_matches(&self) -> &'static str {
        if self.reveals_values() {
            "with fewer common keys there is no answer: it would reveal much about each"
        } else {
            "with fewer common keys there is no answer"
        }
    }

    /// Whether the answer is about values of keys.
    fn reveals_values(&self) -> bool {
        self.compute.is_some()
            || matches!(self.operation, OperationName::Sum | OperationName::InnerProduct)
    }

    /// The default receiver, where one party receives: with values, the party that does not have
    /// them, since the party that has them can tell from a sum which of its keys it includes;
    /// otherwise the first.
    pub(crate) fn receiver<'a>(&'a self, [first, second]: [&'a str; 2]) -> &'a str {
        let holder = match self.operation {
            OperationName::Sum => self.sum_of.as_deref().unwrap_or(first),
            OperationName::InnerProduct => self.product_of.as_deref().unwrap_or(second),
            _ if self.compute.is_some() => self.shares_of.as_deref().unwrap_or(first),
            _ => second,
        };
        if holder == first { second } else { first }
    }

    /// The tables of values, including those of another operation. `receives` is the agreement's
    /// field, and `parties` are the names.
    pub(crate) fn values(&self, receives: &str, parties: [&str; 2]) -> Vec<ValueFields> {
        let sum = ValueOptions {
            table: "sum",
            of: &self.sum_of,
            columns: &self.sum_columns,
            groups: self.sum_by.as_ref().map(|by| (by, &self.groups[..])),
            bits: self.sum_bits,
            signed: self.sum_signed,
            times: None,
            has_times: false,
        };
        let product = ValueOptions {
            table: "product",
            of: &self.product_of,
            columns: &self.product_columns,
            groups: None,
            bits: self.product_bits,
            signed: self.product_signed,
            times: Some((
                self.times.clone().unwrap_or_else(|| EXAMPLE_FACTOR.to_owned()),
                self.times_bits.unwrap_or(EXAMPLE_FACTOR_BITS),
            )),
            has_times: self.times.is_some() || self.times_bits.is_some(),
        };
        let shares = ValueOptions {
            table: "shares",
            of: &self.shares_of,
            columns: &self.shares_columns,
            groups: None,
            bits: self.shares_bits,
            signed: self.shares_signed,
            times: None,
            has_times: false,
        };
        let asks = |options: &ValueOptions<'_>| match self.operation {
            _ if self.compute.is_some() && options.table == "shares" => true,
            OperationName::Sum => options.table == "sum",
            OperationName::InnerProduct => options.table == "product",
            OperationName::SharedValues => options.table == "shares",
            _ => false,
        };
        let tables = [sum, product, shares]
            .into_iter()
            .filter(|options| asks(options) || options.is_given());
        tables.map(|options| options.fields(receives, parties)).collect()
    }

    /// The maximum length of a key in a union, even if the operation is another one.
    pub(crate) fn key_bytes(&self) -> Option<u32> {
        let example = (self.operation == OperationName::Union).then_some(KEY_BYTES_DEFAULT);
        self.key_bytes.or(example)
    }
}

impl ValueOptions<'_> {
    fn is_given(&self) -> bool {
        let has_columns = !self.columns.is_empty() || self.groups.is_some();
        self.has_times || self.of.is_some() || has_columns || self.bits.is_some() || self.signed
    }

    fn fields(&self, receives: &str, [first, second]: [&str; 2]) -> ValueFields {
        let holder = if receives == first { second } else { first };
        ValueFields {
            table: self.table,
            of: self.of.as_deref().unwrap_or(holder).to_owned(),
            columns: match self.columns {
                [] if self.groups.is_none() => vec![EXAMPLE_COLUMN.to_owned()],
                columns => columns.to_vec(),
            },
            groups: self.groups.map(|(by, names)| (by.clone(), names.to_vec())),
            bits: self.bits.unwrap_or(EXAMPLE_BITS),
            signed: self.signed,
            times: self.times.clone(),
        }
    }
}
