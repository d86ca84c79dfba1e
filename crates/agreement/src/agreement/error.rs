//! What is wrong with an agreement file, and where.

use super::column_fault::ColumnFault;
use super::limits::{FORMAT_VERSION, PACKED_MAX_BITS};
use vesica_expressions::ExpressionError;
use vesica_link::ParseIdentityError;
use vesica_protocols::kmrs14::Check;
use vesica_protocols::{Operation, Security};
use vesica_records::{ProfileError, TransformError};
use vesica_strict_toml::{Fault, FileFault, Located, TableFault};

/// An agreement that cannot be used.
pub type AgreementError = Located<AgreementFault>;

impl Fault for AgreementFault {
    const TEXT: &'static str = "agreement";
}

/// What is wrong with an agreement. Contains text of the file, which is not secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementFault {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The form of its tables.
    #[error(transparent)]
    Table(#[from] TableFault),
    /// An agreement of another format.
    #[error("format version {found} where this software knows {FORMAT_VERSION}")]
    UnknownVersion {
        /// Its version.
        found: u64,
    },
    /// A word that the field does not know.
    #[error("{field:?} is {found:?}")]
    UnknownWord {
        /// The field's path.
        field: String,
        /// The word.
        found: String,
        /// The word it resembles.
        nearest: Option<String>,
        /// The words that the field knows.
        known: Vec<String>,
    },
    /// A text that the field does not allow.
    #[error("{field:?} {fault}")]
    Text {
        /// The field's path.
        field: String,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// `expires` is not a day.
    #[error("\"expires\" is neither a date nor \"never\"")]
    BadDate,
    /// A party's name with other characters than a name has.
    #[error("the party name {name:?} is not of a-z, 0-9, - and _, at most 32")]
    PartyName {
        /// The name.
        name: String,
    },
    /// Too few parties, or too many.
    #[error("there must be {} parties, not {found}", number_of_parties(*most))]
    PartyCount {
        /// How many there are.
        found: usize,
        /// Most: 2 without a helper.
        most: usize,
    },
    /// A party's identity is not valid.
    #[error("{field:?}: {cause}")]
    BadIdentity {
        /// The field's path.
        field: String,
        /// What it is instead.
        cause: ParseIdentityError,
    },
    /// Two of the parties and the helper have the same identity.
    #[error("{first} and {second} have the same identity")]
    SameIdentity {
        /// A name.
        first: String,
        /// The other name.
        second: String,
    },
    /// `receives` is an empty list.
    #[error("\"receives\" names no party")]
    NoReceiver,
    /// A party is listed in `receives` twice.
    #[error("\"receives\" names {name:?} twice")]
    ReceiverTwice {
        /// The name.
        name: String,
    },
    /// No key, or too many of them.
    #[error("there must be 1 to {max} keys, not {found}")]
    KeyCount {
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// Two keys have the same name.
    #[error("the key {name:?} is defined twice")]
    DuplicateKey {
        /// The name.
        name: String,
    },
    /// No rule, or too many of them.
    #[error("there must be 1 to {max} rules, not {found}")]
    RuleCount {
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// Two rules have the same name.
    #[error("the rule {name:?} is defined twice")]
    DuplicateRule {
        /// The name.
        name: String,
    },
    /// Two rules compare the same keys.
    #[error("the rules {other:?} and {name:?} have the same columns")]
    SameRule {
        /// The name of the later one.
        name: String,
        /// The name of the earlier one.
        other: String,
    },
    /// A field that rules do not allow.
    #[error("{field:?} is not possible with rules")]
    NotWithRules {
        /// The field.
        field: &'static str,
    },
    /// The name of a key cannot be told from a key with transforms.
    #[error("the key {name:?} has a bar in its name, so that rules cannot name it")]
    PipeInKey {
        /// The name.
        name: String,
    },
    /// Too many transforms of one column.
    #[error("{field:?} has {found} transforms, more than {max}")]
    TransformCount {
        /// The field's path.
        field: String,
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// The agreement was made with another version of a transform than this software has.
    #[error("version {asked} of the transform {transform} where this software has {here}")]
    TransformVersion {
        /// The transform.
        transform: String,
        /// The version in the agreement.
        asked: String,
        /// The version of this software.
        here: u32,
    },
    /// A transform does not exist.
    #[error("{field:?}: {cause}")]
    BadTransform {
        /// The field's path.
        field: String,
        /// Why not.
        cause: TransformError,
    },
    /// `show_rules` in an agreement without rules.
    #[error("\"show_rules\" without a rule")]
    NoRulesToShow,
    /// With `show_rules`, a name that a list of names could not hold.
    #[error("the rule {name:?} has a semicolon, which separates the names of rules in a result")]
    SemicolonInRule {
        /// The rule.
        name: String,
    },
    /// A transform refuses every value that it could get.
    #[error("{field:?}: {transform} takes no value of {before:?} with the profile {profile}")]
    UnsuitedTransform {
        /// The field's path.
        field: String,
        /// The transform.
        transform: String,
        /// The key, and the transforms before it, as they are written.
        before: String,
        /// The profile of the key.
        profile: String,
    },
    /// A row can have several keys under a rule, and their number is not agreed.
    #[error("a row can have several keys under the rule {rule:?}: \"most\" is missing")]
    NoMost {
        /// The rule.
        rule: String,
        /// The largest number that can be agreed.
        max: u64,
    },
    /// A key is in no rule.
    #[error("no rule has the key {name:?}")]
    UnusedKey {
        /// The key.
        name: String,
    },
    /// A party's rows could have more items under all rules than a set can have.
    #[error("max_rows {max_rows} of {party:?} times {per_row} keys of a row is above {max}")]
    TooManyItems {
        /// The party.
        party: String,
        /// Its `max_rows`.
        max_rows: u64,
        /// The most keys of a row, under all rules.
        per_row: u64,
        /// The largest set.
        max: u64,
    },
    /// A list of excluded values that is empty, or too long.
    #[error("{field:?} must have 1 to {max} values, not {found}")]
    ExcludedCount {
        /// The field's path.
        field: String,
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// A value is excluded twice.
    #[error("{field:?} has {value:?} twice")]
    ExcludedTwice {
        /// The field's path.
        field: String,
        /// The value.
        value: String,
    },
    /// A key's profile does not exist.
    #[error("{field:?}: {cause}")]
    BadProfile {
        /// The field's path.
        field: String,
        /// Why not.
        cause: ProfileError,
    },
    /// The agreement was made with another version of a profile than this software has.
    #[error("version {asked} of the profile {profile} where this software has {here}")]
    ProfileVersion {
        /// The profile.
        profile: String,
        /// The version in the agreement.
        asked: u64,
        /// The version of this software.
        here: u32,
    },
    /// `min_rows` is above `max_rows`.
    #[error("the party {party:?} has min_rows {min} above max_rows {max}")]
    RowsReversed {
        /// The party.
        party: String,
        /// `min_rows`.
        min: u64,
        /// `max_rows`.
        max: u64,
    },
    /// `min_matches` is above `max_matches`.
    #[error("min_matches {min} is above max_matches {max}")]
    MatchesReversed {
        /// `min_matches`.
        min: u64,
        /// `max_matches`.
        max: u64,
    },
    /// More common keys are required than the smaller set can have.
    #[error("{field:?} is {found}, above the smaller max_rows {most}")]
    OutOfReach {
        /// The field's path.
        field: String,
        /// The number.
        found: u64,
        /// The smaller `max_rows`.
        most: u64,
    },
    /// The answer to a threshold follows from the bounds.
    #[error("with {by} {bound} the threshold {threshold} has one answer only")]
    ThresholdSettled {
        /// `threshold`.
        threshold: u64,
        /// The field of the bound.
        by: &'static str,
        /// The bound.
        bound: u64,
    },
    /// A field that belongs to another operation.
    #[error("{field:?} belongs to {goes_with}, not to {operation}")]
    OfAnotherOperation {
        /// The field.
        field: &'static str,
        /// Its operation.
        goes_with: Operation,
        /// The operation of the agreement.
        operation: Operation,
    },
    /// Both `column` and `columns` are given.
    #[error("\"column\" and \"columns\" are both given")]
    ColumnAndColumns,
    /// No column of values, or too many of them.
    #[error("there must be 1 to {max} columns of values, not {found}")]
    ColumnCount {
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// An expression that cannot be computed over the values.
    #[error("{field:?}: {cause}")]
    BadExpression {
        /// The field's path.
        field: String,
        /// Why not.
        cause: ExpressionError,
    },
    /// Two columns of values have the same name.
    #[error("the column {name:?} is listed twice")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// The columns that come along.
    #[error(transparent)]
    Columns(#[from] ColumnFault),
    /// `by` without `groups`, or the other way round.
    #[error("\"by\" and \"groups\" go together")]
    OnlyOneOfGroups,
    /// Two groups have the same name.
    #[error("the group {name:?} is listed twice")]
    DuplicateGroup {
        /// The name.
        name: String,
    },
    /// `signed` without a column of values.
    #[error("rows that are counted have no sign")]
    SignedCounts,
    /// No group, or too many sums.
    #[error("there must be 1 to {max} sums, one for each column in each group, not {found}")]
    SumCount {
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// A default value that is outside the range of values.
    #[error(
        "{field:?} is {found}, but values have {bits} bits and {} sign",
        if *signed { "a" } else { "no" }
    )]
    DoesNotFit {
        /// The field's path.
        field: String,
        /// The number.
        found: i64,
        /// Bits of a value.
        bits: u32,
        /// Whether values have a sign.
        signed: bool,
    },
    /// The operation does not count common keys.
    #[error("{operation} has no bounds, but {field:?} is given")]
    NoBounds {
        /// The field.
        field: &'static str,
        /// The operation.
        operation: Operation,
    },
    /// The operation says nothing about single partitions.
    #[error("{operation} has no \"partition_counts\"")]
    NoPartitionCounts {
        /// The operation.
        operation: Operation,
    },
    /// The protocol does not reveal matches while it compares.
    #[error("\"early_reveal\" needs a named protocol that reveals matches early")]
    NoEarlyReveal,
    /// `partition_counts` and `hide_sizes` contradict each other.
    #[error("\"partition_counts\" reveals sizes that \"hide_sizes\" hides")]
    PartitionCountsShowSizes,
    /// Each party gets its own result.
    #[error("{operation} gives each party a result: \"receives\" must be \"all\"")]
    IsForBoth {
        /// The operation.
        operation: Operation,
    },
    /// The protocol that the agreement names, or all that are strong enough, give only one party
    /// the result.
    #[error("{}: \"receives\" must name one party", match protocol {
        Some(protocol) => format!("the protocol {protocol:?} gives one party the result"),
        None => "protocols of this security give one party the result".to_owned(),
    })]
    IsForReceiver {
        /// The protocol that the agreement names, if it names one.
        protocol: Option<&'static str>,
    },
    /// Self-check items would stay in the shares.
    #[error("\"self_check\" is {found}, but {operation} has no self-check items")]
    NoSelfCheck {
        /// What the agreement says.
        found: u64,
        /// The operation.
        operation: Operation,
    },
    /// Rows of the catalogue offer the operation, but not for these values.
    #[error("{}", words_of_values(*protocol, *of_receiver))]
    ValuesNotOffered {
        /// The protocol that the agreement names, if it names one.
        protocol: Option<&'static str>,
        /// Whether they belong to the only party that receives the result, although they must
        /// belong to the other one. Otherwise there are several columns, a sign, or too many bits.
        of_receiver: bool,
    },
    /// No protocol of the catalogue is suitable.
    #[error(
        "no protocol offers {operation}{} with {security} security yet",
        if *bounds { " within bounds" } else { "" }
    )]
    NoProtocol {
        /// The operation.
        operation: Operation,
        /// Whether the number of common keys is bounded.
        bounds: bool,
        /// The security asked for.
        security: Security,
        /// The strongest security that any protocol offers for the operation.
        strongest: Option<Security>,
    },
    /// The named protocol does not compute the operation, or not within bounds.
    #[error(
        "the protocol {protocol:?} does not offer {operation}{}",
        if *bounds { " within bounds" } else { "" }
    )]
    NotOffered {
        /// The protocol.
        protocol: &'static str,
        /// The operation.
        operation: Operation,
        /// Whether it would offer the operation without the bounds.
        bounds: bool,
        /// The protocols that do, without insecure ones.
        offering: Vec<&'static str>,
    },
    /// The named protocol compares shorter items only.
    #[error("the protocol {protocol:?} takes items of at most {most} bits, not {bits}")]
    ItemsTooLong {
        /// The protocol.
        protocol: &'static str,
        /// Most bits of an item that it takes.
        most: u32,
        /// Bits of an item under this agreement: 128 for digests.
        bits: u32,
    },
    /// The named protocol is weaker than required.
    #[error("the protocol {protocol:?} is {offers}; the agreement requires {asked}")]
    TooWeak {
        /// The protocol.
        protocol: &'static str,
        /// Its security.
        offers: Security,
        /// The security asked for.
        asked: Security,
    },
    /// A field of agreements without a helper.
    #[error("{field:?} is not available with a helper")]
    NotWithHelper {
        /// The field.
        field: &'static str,
    },
    /// Helpers find common keys, and nothing else.
    #[error("the operation {operation} is not available with a helper")]
    OperationWithHelper {
        /// The operation of the agreement.
        operation: Operation,
    },
    /// The helper is named like a party.
    #[error("the helper and a party are both named {name:?}")]
    SameName {
        /// The name.
        name: String,
    },
    /// The protocol takes fewer parties.
    #[error("the protocol {protocol:?} takes {most} parties, not {found}")]
    TooManyParties {
        /// The protocol.
        protocol: &'static str,
        /// Most parties that it takes.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// The protocol, or the only one for this many parties, has a helper that must follow it.
    #[error(
        "the protocol {protocol:?} is {offers} against the helper; the agreement requires {asked}"
    )]
    TooWeakAgainstHelper {
        /// The protocol.
        protocol: &'static str,
        /// Its security.
        offers: Security,
        /// The security asked for.
        asked: Security,
        /// How many parties there are.
        parties: usize,
    },
    /// With these copies and dummies cheating goes unnoticed too often.
    #[error(
        "{} copies and {} dummies are too few for malicious security: cheating can go unnoticed \
         too often",
        check.copies, check.dummies
    )]
    CheckTooWeak {
        /// The copies and dummies.
        check: Check,
    },
    /// With these copies and dummies the lists are longer than the protocol allows.
    #[error("with {} copies of each row the lists are too long for the protocol", check.copies)]
    ListsTooLong {
        /// The copies and dummies.
        check: Check,
        /// Labels of the longest list.
        labels: u64,
    },
    /// `self_check` is given together with dummies, which are the self-check.
    #[error("\"self_check\" is given, but the dummies are the self-check")]
    DummiesAreSelfCheck {
        /// The protocol.
        protocol: &'static str,
    },
    /// The protocol gives all parties the result.
    #[error("{protocol} gives all parties the result: \"receives\" must be \"all\"")]
    IsForAll {
        /// The protocol.
        protocol: &'static str,
    },
    /// The protocol compares one value.
    #[error("{field:?} is {found}, but {protocol} compares one value")]
    OneRow {
        /// The field's path.
        field: String,
        /// `max_rows`.
        found: u64,
        /// The protocol.
        protocol: &'static str,
    },
}

/// `two`, `2 to 16`.
fn number_of_parties(most: usize) -> String {
    if most == 2 { "two".to_owned() } else { format!("2 to {most}") }
}

fn words_of_values(protocol: Option<&str>, of_receiver: bool) -> String {
    let who = protocol.map_or("no protocol".to_owned(), |id| format!("the protocol {id:?}"));
    let (verb, not) = if protocol.is_some() { ("does not take", "") } else { ("takes", "yet") };
    let what = if of_receiver {
        "values of the only party that receives the result".to_owned()
    } else {
        format!("values of several columns, with a sign, or of more than {PACKED_MAX_BITS} bits")
    };
    format!("{who} {verb} {what} {not}").trim_end().to_owned()
}

/// Why a field does not allow a text. Completes the sentence "the field …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextFault {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// Too long.
    #[error("has more than {max_chars} characters")]
    TooLong {
        /// Most characters.
        max_chars: usize,
    },
    /// Too long, as its bytes count.
    #[error("has more than {max_bytes} bytes")]
    TooManyBytes {
        /// Most bytes.
        max_bytes: usize,
    },
    /// A character that changes the line, the direction or the terminal.
    #[error("has a control character")]
    ControlCharacter,
}
