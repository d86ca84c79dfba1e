//! Agreements that cannot be used.

mod helper;

use super::tables::Written;
use super::{Message, list};
use vesica_engine::agreement::{AgreementError, AgreementFault, FORMAT_VERSION, TextFault};
use vesica_engine::explain::grouped;
use vesica_link::ParseIdentityError;
use vesica_records::{Profile, ProfileError};

const AGREEMENT: Written =
    Written { name: "agreement", example: "`vesica agree new agreement.toml` writes an example" };

/// An agreement file, with the place.
pub(super) fn error(error: &AgreementError) -> Message {
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
            match *found < FORMAT_VERSION {
                true => format!(
                    "say version = {FORMAT_VERSION}, and receives = \"all\" in place of \"both\"; the hash is then another"
                ),
                false => {
                    format!("a newer Vesica may know it; now there is version = {FORMAT_VERSION}")
                }
            },
        ),
        AgreementFault::UnknownWord { field, found, nearest, known } => (
            format!("{field:?} cannot be {found:?}"),
            match nearest {
                Some(near) => format!("did you mean {near:?}? It can be {}", list(known)),
                None => format!("it can be {}", list(known)),
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
                    _ => "holds a control character".to_owned(),
                }
            ),
            show("write one line of ordinary text"),
        ),
        AgreementFault::BadDate => (
            show("\"expires\" is not a day"),
            show("write a day without quotes, as expires = 2027-06-30, or expires = \"never\""),
        ),
        AgreementFault::PartyName { name } => (
            format!("{name:?} cannot be the name of a party"),
            show("a name has 1 to 32 of the characters a-z, 0-9, - and _, and is not \"all\""),
        ),
        AgreementFault::PartyCount { found, most: 2 } => (
            format!("there must be two parties, not {found}"),
            show("each organisation has its own [party.NAME]; more than two need a [helper]"),
        ),
        AgreementFault::PartyCount { found, most } => (
            format!("there must be 2 to {most} parties, not {found}"),
            show("each organisation has its own [party.NAME]; the helper is no party"),
        ),
        AgreementFault::BadIdentity { field, cause } => (
            format!("{field:?} is not an identity"),
            match cause {
                ParseIdentityError::BadChecksum => show(
                    "it is still to be filled in, mistyped or cut off: put the whole line here \
                          that `vesica keygen` printed at that party",
                ),
                ParseIdentityError::IsSecret => show(
                    "it is a SECRET key, which nobody else may see: make a new key with \
                          `vesica keygen`, and put the public line it prints here",
                ),
                _ => show(
                    "put the line here that `vesica keygen` printed at that party; it \
                           begins with vesica1",
                ),
            },
        ),
        AgreementFault::SameIdentity { first, second } => (
            format!("{first} and {second} have the same identity"),
            show("each party, and the helper, makes a key of its own with `vesica keygen`"),
        ),
        AgreementFault::NoReceiver => {
            (show("\"receives\" names nobody"), show("name a party, or say receives = \"all\""))
        }
        AgreementFault::ReceiverTwice { name } => {
            (format!("\"receives\" names {name:?} twice"), show("take one out"))
        }
        AgreementFault::KeyCount { found, max } => (
            format!("there must be 1 to {max} key columns, not {found}"),
            show("each key column has its own [[key]]"),
        ),
        AgreementFault::DuplicateKey { name } => (
            format!("the key {name:?} is there twice"),
            show("take one of them out, or give it another name"),
        ),
        AgreementFault::BadProfile { field, cause } => bad_profile(field, cause),
        AgreementFault::ProfileVersion { profile, asked, here } => (
            format!(
                "version {asked} of the profile {profile:?} is asked for; this software has {here}"
            ),
            show("both sides need the same version of Vesica"),
        ),
        AgreementFault::RowsReversed { party, min, max } => (
            format!(
                "the party {party:?} has min_rows {} above its max_rows {}",
                grouped(*min),
                grouped(*max)
            ),
            show("make min_rows the smaller one"),
        ),
        AgreementFault::MatchesReversed { min, max } => (
            format!("min_matches {} is above max_matches {}", grouped(*min), grouped(*max)),
            show("make min_matches the smaller one"),
        ),
        AgreementFault::OutOfReach { field, found, most } => (
            format!(
                "{field:?} is {}, and one party brings at most {} rows",
                grouped(*found),
                grouped(*most)
            ),
            format!("make {field} at most the smaller max_rows, or raise that"),
        ),
        AgreementFault::ThresholdSettled { threshold, by, bound } => (
            format!(
                "with {by} = {} the threshold {} has one answer only",
                grouped(*bound),
                grouped(*threshold)
            ),
            show(
                "a threshold lies above min_matches and not above max_matches; or leave the bound \
                 out",
            ),
        ),
        AgreementFault::OfAnotherOperation { field, goes_with, operation } => (
            format!("{field:?} goes with operation = \"{goes_with}\", not with \"{operation}\""),
            show("take it out, or change the operation"),
        ),
        AgreementFault::ColumnAndColumns => (
            "both \"column\" and \"columns\" are given".to_owned(),
            show("keep one of them: column = \"a\" is columns = [\"a\"]"),
        ),
        AgreementFault::DuplicateColumn { name } => {
            (format!("the column {name:?} is there twice"), show("take one out"))
        }
        AgreementFault::DoesNotFit { .. } => {
            (fault.to_string(), show("agree on more bits, or on another default"))
        }
        AgreementFault::IsForBoth { operation } => (
            format!("{operation} gives each side a result of its own"),
            show("say receives = \"all\""),
        ),
        AgreementFault::NoBounds { field, .. } => (
            format!("{field:?} is given, and unions and private ids have no bounds"),
            show("take min_matches and max_matches out"),
        ),
        AgreementFault::NoSelfCheck { operation, .. } => (
            format!("{operation} has no self-check items: nobody could tell them from keys"),
            show("take self_check out"),
        ),
        AgreementFault::ValuesNotOffered { of_receiver: true, .. } => (
            fault.to_string(),
            show(
                "say receives = \"all\", or let the other side receive, or take one column of whole \
                 numbers from 0 of at most 40 bits and protocol = \"auto\"",
            ),
        ),
        AgreementFault::ValuesNotOffered { .. } => (
            fault.to_string(),
            show("say protocol = \"auto\", or take one column of whole numbers from 0"),
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
                Some(strongest) => format!("the strongest there is: security = \"{strongest}\""),
                None => show("`vesica protocols` lists what there is"),
            },
        ),
        AgreementFault::NotOffered { protocol, operation, bounds, offering } => (
            format!("the protocol {protocol:?} does not offer {operation}{}", within(*bounds)),
            match offering.as_slice() {
                [] => show("no protocol does yet: `vesica protocols` lists what there is"),
                ids => format!("those that do: {}; or protocol = \"auto\"", ids.join(", ")),
            },
        ),
        AgreementFault::ItemsTooLong { protocol, most, bits } => (
            format!("the protocol {protocol:?} takes items of at most {most} bits, not {bits}"),
            show(
                "its key is a single column of the profile integer:<BITS>, two bits less and with \
                 room for max_rows; sizes are not hidden; otherwise choose another protocol",
            ),
        ),
        AgreementFault::TooWeak { protocol, offers, asked } => (
            format!("the protocol {protocol:?} is {offers}, the agreement asks for {asked}"),
            format!(
                "choose protocol = \"auto\", or agree on security = \"{offers}\" if both sides \
                 accept what that means"
            ),
        ),
        fault => helper::words(fault),
    }
}

fn within(bounds: bool) -> &'static str {
    if bounds { " within min_matches and max_matches" } else { "" }
}

fn bad_profile(field: &str, cause: &ProfileError) -> (String, String) {
    let names: Vec<&str> = Profile::catalogue().iter().map(|row| row.name).collect();
    let all = format!("the profiles there are: {}", names.join(", "));
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
            "numbers without a country code belong to a region, as \"phone:GB\"".to_owned(),
        ),
        ProfileError::UnknownParameter { name, parameter } => {
            (format!("{field:?}: the profile {name:?} has no parameter {parameter:?}"), all)
        }
        cause => (format!("{field:?}: {cause}"), all),
    }
}
