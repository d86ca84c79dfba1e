//! Agreements that cannot be used.

mod helper;

use crate::Message;
use crate::tables::Written;
use crate::words::{in_lower_case, list};
use vesica_agreement::figures::grouped;
use vesica_agreement::{AgreementError, AgreementFault, ColumnFault, FORMAT_VERSION, TextFault};
use vesica_expressions::ExpressionError;
use vesica_link::ParseIdentityError;
use vesica_records::{Profile, ProfileError};

const AGREEMENT: Written =
    Written { name: "agreement", example: "`vesica agree new agreement.toml` writes an example" };

/// An error in an agreement file, with its place.
pub fn error(error: &AgreementError) -> Message {
    let (what, hint) = match &*error.fault {
        AgreementFault::File(fault) => return AGREEMENT.unreadable(error, fault),
        AgreementFault::Table(fault) => AGREEMENT.words(fault),
        fault => words(fault),
    };
    Message::here(format!("{}: {what}", AGREEMENT.place(error)), hint)
}

fn words(fault: &AgreementFault) -> (String, String) {
    let show = |hint: &str| hint.to_owned();
    match fault {
        AgreementFault::UnknownVersion { found } => (
            format!("the agreement has format version {found}, which this software does not know"),
            if *found < FORMAT_VERSION {
                format!(
                    "write version = {FORMAT_VERSION}, and receives = \"all\" in place of \
                     \"both\"; this changes the hash"
                )
            } else {
                format!("a newer Vesica may know it; this one knows version = {FORMAT_VERSION}")
            },
        ),
        AgreementFault::UnknownWord { field, found, nearest, known } => (
            format!("{field:?} cannot be {found:?}"),
            match nearest {
                Some(near) => format!("did you mean {near:?}? Possible values: {}", list(known)),
                None => format!("possible values: {}", list(known)),
            },
        ),
        AgreementFault::Text { field, fault } => (
            format!(
                "{field:?} {}",
                match fault {
                    TextFault::Empty => "is empty".to_owned(),
                    TextFault::TooLong { max_chars } => {
                        format!("is longer than {max_chars} characters")
                    }
                    TextFault::TooManyBytes { max_bytes } => {
                        format!("is longer than {max_bytes} bytes")
                    }
                    _ => "contains a control character".to_owned(),
                }
            ),
            show("write one line of ordinary text"),
        ),
        AgreementFault::BadDate => (
            show("\"expires\" is not a day"),
            show(
                "write a day without quotes, for example expires = 2027-06-30, or write expires = \
                 \"never\"",
            ),
        ),
        AgreementFault::PartyName { name } => (
            format!("{name:?} cannot be the name of a party"),
            match in_lower_case(name) {
                Some(lower) => lower,
                None => show(
                    "a name has 1 to 32 characters out of a-z, 0-9, - and _, and is not \"all\"",
                ),
            },
        ),
        AgreementFault::PartyCount { found, most: 2 } => (
            format!("there must be two parties, not {found}"),
            show("each organisation has its own [party.NAME]; more than two need a [helper]"),
        ),
        AgreementFault::PartyCount { found, most } => (
            format!("there must be 2 to {most} parties, not {found}"),
            show("each organisation has its own [party.NAME]; the helper is not a party"),
        ),
        AgreementFault::BadIdentity { field, cause } => (
            format!("{field:?} is not an identity"),
            match cause {
                ParseIdentityError::BadChecksum => show(
                    "it is not filled in yet, mistyped or cut off: put here the whole line that \
                     `vesica keygen` printed for that party",
                ),
                ParseIdentityError::IsSecret => show(
                    "it is a SECRET key, which no one else may see: make a new key with `vesica \
                     keygen`, and put here the public line that it prints",
                ),
                _ => show(
                    "put here the line that `vesica keygen` printed for that party; it begins with \
                     vesica1",
                ),
            },
        ),
        AgreementFault::SameIdentity { first, second } => (
            format!("{first} and {second} have the same identity"),
            show("each party and the helper must make their own key with `vesica keygen`"),
        ),
        AgreementFault::NoReceiver => {
            (show("\"receives\" names no party"), show("name a party, or write receives = \"all\""))
        }
        AgreementFault::ReceiverTwice { name } => {
            (format!("\"receives\" names {name:?} twice"), show("remove one of them"))
        }
        AgreementFault::KeyCount { found, max } => (
            format!("there must be 1 to {max} key columns, not {found}"),
            show("each key column has its own [[key]]"),
        ),
        AgreementFault::DuplicateKey { name } => (
            format!("the key {name:?} is defined twice"),
            show("remove one of them, or give it another name"),
        ),
        AgreementFault::RuleCount { found, max } => (
            format!("there must be 1 to {max} rules, not {found}"),
            show("leave [[rule]] out if all keys together must be equal"),
        ),
        AgreementFault::DuplicateRule { name } => (
            format!("the rule {name:?} is defined twice"),
            show("remove one of them, or give it another name"),
        ),
        AgreementFault::SameRule { name, other } => (
            format!("the rules {other:?} and {name:?} have the same columns"),
            show("remove one of them"),
        ),
        AgreementFault::NotWithRules { field } => (
            format!("{field:?} is not possible with rules"),
            show("a row can have several keys, so a number of keys says little of rows"),
        ),
        AgreementFault::PipeInKey { name } => (
            format!("the key {name:?} has a bar in its name, so that rules cannot name it"),
            show("give it another name in the agreement, and map it to the column"),
        ),
        AgreementFault::TransformCount { field, found, max } => {
            (format!("{field:?} has {found} transforms, more than {max}"), show("use fewer"))
        }
        AgreementFault::TransformVersion { transform, asked, here } => (
            format!("version {asked} of the transform {transform} where this software has {here}"),
            show("both sides need the same version of Vesica"),
        ),
        AgreementFault::BadTransform { field, cause } => (
            format!("{field:?}: {cause}"),
            show(
                "the columns of a rule are the names of keys, with transforms: \
                  \"surname | soundex\"",
            ),
        ),
        AgreementFault::Columns(fault) => columns(fault),
        AgreementFault::NoRulesToShow => (
            "\"show_rules\" without a rule".to_owned(),
            show("remove it, or add a [[rule]] for each way in which rows may match"),
        ),
        AgreementFault::SemicolonInRule { name } => (
            format!("the rule {name:?} has a semicolon, which separates the names in a result"),
            show("give the rule another name, or leave out show_rules"),
        ),
        AgreementFault::UnsuitedTransform { field, transform, before, profile } => (
            format!(
                "{field:?}: the transform {transform:?} takes no value of {before:?} with the \
                 profile {profile}"
            ),
            show(
                "parts of dates need a key with dates, such as one with the profile date; codes \
                  of sounds need a key with letters",
            ),
        ),
        AgreementFault::NoMost { rule, max } => (
            format!("a row can have several keys under the rule {rule:?}: \"most\" is missing"),
            format!(
                "add most = N, up to {max}: a row with more keys has none, and every set can have \
                 N keys for each row"
            ),
        ),
        AgreementFault::UnusedKey { name } => (
            format!("no rule has the key {name:?}"),
            show("add it to the columns of a rule, or remove its [[key]]"),
        ),
        AgreementFault::TooManyItems { party, max_rows, per_row, max } => (
            format!(
                "{max_rows} rows of {party} with up to {per_row} keys each are more than the {max} \
                 keys that a set may have"
            ),
            show("lower its max_rows, or use fewer rules or a smaller \"most\""),
        ),
        AgreementFault::ExcludedCount { field, found, max } => (
            format!("{field:?} must have 1 to {max} values, not {found}"),
            match found {
                0 => show("leave the field out if no value is excluded"),
                _ => show("keep the most frequent ones; correct the others in the files"),
            },
        ),
        AgreementFault::ExcludedTwice { field, value } => (
            format!("{field:?} is {value:?}, which is already in the list"),
            show("remove one of them; blanks at the ends make no difference"),
        ),
        AgreementFault::BadProfile { field, cause } => bad_profile(field, cause),
        AgreementFault::ProfileVersion { profile, asked, here } => (
            format!(
                "the agreement requires version {asked} of the profile {profile:?}, but this \
                 software has version {here}"
            ),
            show("both sides need the same version of Vesica"),
        ),
        AgreementFault::RowsReversed { party, min, max } => (
            format!(
                "the min_rows of the party {party:?}, {}, is above its max_rows, {}",
                grouped(*min),
                grouped(*max)
            ),
            show("min_rows must not be above max_rows"),
        ),
        AgreementFault::MatchesReversed { min, max } => (
            format!("min_matches {} is above max_matches {}", grouped(*min), grouped(*max)),
            show("min_matches must not be above max_matches"),
        ),
        AgreementFault::OutOfReach { field, found, most } => (
            format!(
                "{field:?} is {}, but one party has at most {} rows",
                grouped(*found),
                grouped(*most)
            ),
            format!(
                "{field} must not be above the smaller max_rows: lower it, or raise that max_rows"
            ),
        ),
        AgreementFault::ThresholdSettled { threshold, by, bound } => (
            format!(
                "with {by} = {} there is only one possible answer to the threshold {}",
                grouped(*bound),
                grouped(*threshold)
            ),
            show(
                "choose a threshold above min_matches and not above max_matches, or leave the \
                 bound out",
            ),
        ),
        AgreementFault::OfAnotherOperation { field, goes_with, operation } => (
            format!("{field:?} belongs to operation = \"{goes_with}\", not to \"{operation}\""),
            show("remove it, or change the operation"),
        ),
        AgreementFault::ColumnAndColumns => (
            "both \"column\" and \"columns\" are given".to_owned(),
            show("keep one of them: column = \"a\" is the same as columns = [\"a\"]"),
        ),
        AgreementFault::DuplicateColumn { name } => {
            (format!("the column {name:?} is listed twice"), show("remove one of them"))
        }
        AgreementFault::OnlyOneOfGroups => (
            "\"by\" and \"groups\" go together".to_owned(),
            show(
                "by names the column of the groups, such as by = \"region\" with groups = \
                 [\"north\", \"south\"]",
            ),
        ),
        AgreementFault::DuplicateGroup { name } => {
            (format!("the group {name:?} is listed twice"), show("remove one of them"))
        }
        AgreementFault::SignedCounts => {
            (fault.to_string(), show("remove \"signed\", or name a column whose values are summed"))
        }
        AgreementFault::SumCount { .. } => {
            (fault.to_string(), show("list fewer groups, or fewer columns"))
        }
        AgreementFault::DoesNotFit { .. } => {
            (fault.to_string(), show("agree on more bits, or on another default"))
        }
        AgreementFault::BadExpression { cause, .. } => bad_expression(cause),
        AgreementFault::IsForBoth { operation } => (
            format!("{operation} gives each side its own result"),
            show("write receives = \"all\""),
        ),
        AgreementFault::IsForReceiver { protocol } => (
            match protocol {
                Some(protocol) => format!("the protocol {protocol:?} gives one side the result"),
                None => "protocols with \"one-sided\" security give one side the result".to_owned(),
            },
            show(
                "name one side in receives: what the other side would be told could be more than \
                  the result",
            ),
        ),
        AgreementFault::NoBounds { field, .. } => (
            format!("{field:?} cannot be used here: unions and private ids have no bounds"),
            show("remove min_matches and max_matches"),
        ),
        AgreementFault::NoPartitionCounts { operation } => (
            format!("\"partition_counts\" is for unions and private ids, not for {operation}"),
            show("remove it: large sets are split without it where that reveals nothing"),
        ),
        AgreementFault::NoEarlyReveal => (
            show("\"early_reveal\" is for intersections with protocol = \"pwc\""),
            show("remove it: matches are revealed only at the end in any case"),
        ),
        AgreementFault::PartitionCountsShowSizes => (
            show("\"partition_counts\" reveals sizes, which \"hide_sizes\" hides"),
            show("remove one of them"),
        ),
        AgreementFault::NoSelfCheck { operation, .. } => (
            format!(
                "{operation} has no self-check items: in shares they could not be told from keys"
            ),
            show("remove self_check"),
        ),
        AgreementFault::ValuesNotOffered { of_receiver: true, .. } => (
            fault.to_string(),
            show(
                "write receives = \"all\", or let the other side receive the result; a sum of one \
                 column of whole numbers from 0 of at most 40 bits with protocol = \"auto\" can go \
                 to either side",
            ),
        ),
        AgreementFault::ValuesNotOffered { .. } => (
            fault.to_string(),
            show("write protocol = \"auto\", or use one column of whole numbers from 0"),
        ),
        AgreementFault::NoProtocol { operation, bounds, security, strongest } => (
            match strongest {
                Some(_) => format!(
                    "no protocol offers {operation}{} with {security} security yet",
                    within(*bounds)
                ),
                None => format!("no protocol offers {operation}{} yet", within(*bounds)),
            },
            match strongest {
                Some(strongest) => format!("the strongest available is security = \"{strongest}\""),
                None => show("`vesica protocols` lists the protocols of each operation"),
            },
        ),
        AgreementFault::NotOffered { protocol, operation, bounds, offering } => (
            format!("the protocol {protocol:?} does not offer {operation}{}", within(*bounds)),
            match offering.as_slice() {
                [] => show(
                    "no protocol does yet: `vesica protocols` lists the protocols of each \
                     operation",
                ),
                ids => format!("use protocol = \"auto\", or one of: {}", ids.join(", ")),
            },
        ),
        AgreementFault::ItemsTooLong { protocol, most, bits } => (
            format!("the protocol {protocol:?} takes items of at most {most} bits, not {bits}"),
            show(
                "for this protocol the key must be a single column of the profile integer:<BITS>, \
                 with BITS at least two below that limit and large enough for max_rows, and sizes \
                 must not be hidden; or choose another protocol",
            ),
        ),
        AgreementFault::TooWeak { protocol, offers, asked } => (
            format!("the protocol {protocol:?} is {offers}, but the agreement requires {asked}"),
            format!(
                "choose protocol = \"auto\", or agree on security = \"{offers}\" if both sides \
                 accept that"
            ),
        ),
        fault => helper::words(fault),
    }
}

fn columns(fault: &ColumnFault) -> (String, String) {
    let show = |hint: &str| hint.to_owned();
    match fault {
        ColumnFault::OfSeveral => (
            "columns of both parties are not possible yet".to_owned(),
            show("keep one [[columns]]: the columns of one party go to the other one"),
        ),
        ColumnFault::NotWith { field } => {
            (format!("{field:?} is not possible with columns"), show("remove it, or the columns"))
        }
        ColumnFault::ForNoOne { of } => (
            format!("no party but {of:?} receives the result, so its columns go to no one"),
            show("let the other party receive the result, or send that party's columns"),
        ),
        ColumnFault::Count { found, max } => (
            format!("there must be 1 to {max} columns, not {found}"),
            show("name the columns that come along, or remove [[columns]]"),
        ),
        ColumnFault::TypeCount { names, types } => (
            format!("there are {names} columns and {types} types"),
            show(
                "give each column a type, in the same order: \"text 24\" (at most 24 bytes), \
                  \"integer\" or \"date\"",
            ),
        ),
        ColumnFault::TooLong { found, most } => (
            format!("the columns of a row have {found} bytes, more than {most}"),
            show("send fewer columns, or shorter texts: each takes its full length for every key"),
        ),
        ColumnFault::NotOffered { protocol, offering } => (
            format!("the protocol {protocol:?} sends no columns"),
            format!("use one of {}, or protocol = \"auto\"", offering.join(", ")),
        ),
        fault => (fault.to_string(), "correct it".to_owned()),
    }
}

fn within(bounds: bool) -> &'static str {
    if bounds { " within min_matches and max_matches" } else { "" }
}

fn bad_expression(cause: &ExpressionError) -> (String, String) {
    let advice = match cause {
        ExpressionError::UnknownColumn { .. } => {
            "only the columns of [shares] can be computed with; a name with other characters than \
             letters, digits and _ stands in double quotes"
        }
        ExpressionError::OutsideSum { .. } => {
            "write sum() of it, or count() where it fulfils a condition"
        }
        ExpressionError::TooWide { .. } => {
            "agree on fewer bits for the values, or on a smaller max_rows"
        }
        _ => {
            "an example: compute = \"sum(price * units) > 1000, count(price < 20)\"; docs/guide.md \
             lists what there is"
        }
    };
    (format!("the expression in \"shares.compute\" cannot be computed: {cause}"), advice.to_owned())
}

fn bad_profile(field: &str, cause: &ProfileError) -> (String, String) {
    let names: Vec<&str> = Profile::catalogue().iter().map(|row| row.name).collect();
    let all = format!("known profiles: {}", names.join(", "));
    match cause {
        ProfileError::Unknown { name, nearest } => (
            format!("{field:?}: there is no profile {name:?}"),
            match nearest {
                Some(near) => format!("did you mean {near:?}? {all}"),
                None => all,
            },
        ),
        ProfileError::MissingParameter { name } => (
            format!("{field:?}: the profile {name:?} needs a parameter"),
            match *name {
                "integer" => "add the number of bits, for example \"integer:32\"",
                _ => "add the region of numbers without a country code, for example \"phone:GB\"",
            }
            .to_owned(),
        ),
        ProfileError::UnknownParameter { name, parameter } => {
            (format!("{field:?}: the profile {name:?} has no parameter {parameter:?}"), all)
        }
        cause => (format!("{field:?}: {cause}"), all),
    }
}
