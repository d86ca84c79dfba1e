//! The fields of a checked agreement.

use super::columns::ColumnTerms;
use super::parties::PartyTerms;
use super::question::{MatchBounds, Question};
use jiff::civil::Date;
use vesica_core::{Learns, Role};
use vesica_expressions::Reveal;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::Check;
use vesica_protocols::{Operation, Security};
use vesica_records::{KeyRule, Profile};

/// The fields of an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terms {
    /// A title for readers; one line.
    pub title: String,
    /// What is asked about the keys.
    pub question: Question,
    /// How many keys must be in common for an answer.
    pub bounds: MatchBounds,
    /// The positions in [`Terms::parties`] of the parties that receive the result, ascending. At
    /// least one.
    pub receivers: Vec<usize>,
    /// The least security accepted; with a helper, against the helper.
    pub security: Security,
    /// The last day on which it may run, to the end of that day in UTC.
    pub expires: Option<Date>,
    /// How many self-check items of each kind (shared, and own) a side adds to its set. With a
    /// helper the [dummies](HelperTerms::check) take their place, and this is 0.
    pub self_check: u32,
    /// Whether each side pads its set with random items to its `max_rows`.
    pub hide_sizes: bool,
    /// Whether large sets are split although a side then learns how many keys are common in each
    /// partition: for unions and private ids only.
    pub partition_counts: bool,
    /// Whether a protocol that compares all pairs of keys reveals matches while it compares, so
    /// that it skips what is matched, and the number of bytes depends on how many keys are common.
    pub early_reveal: bool,
    /// The maximum average number of keys in a partition of a large set. A set of at most this many
    /// keys is not split. Sets that would need more than
    /// [`MAX_PARTITIONS`](vesica_partitions::MAX_PARTITIONS) have larger partitions. With a helper
    /// there are no partitions, and this is the default.
    pub partition_rows: u64,
    /// The maximum number of consecutive retries after abandoned runs between two parties that both
    /// keep a state; a finished run resets the count. With a helper nothing counts them, and this
    /// is the default.
    pub max_repeats: u32,
    /// The helper, if the parties have one.
    pub helper: Option<HelperTerms>,
    /// The columns that make up the key, sorted by name. At least one.
    pub keys: Vec<Key>,
    /// The rules, sorted by name; none if all keys together must be equal.
    pub rules: Vec<KeyRule>,
    /// Whether the result says under which rules a row matches.
    pub show_rules: bool,
    /// The columns that one party's rows have in the other party's result, if there are any.
    pub columns: Option<ColumnTerms>,
    /// The parties, sorted by name: two, or two to sixteen with a helper. With a helper a party's
    /// position is its number in the protocol.
    pub parties: Vec<PartyTerms>,
}

/// One column of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The column's name in both files, unless a side maps it to another one.
    pub name: String,
    /// The rule that makes equal values equal even if the sides write them differently.
    pub profile: Profile,
    /// Values that count as refused, such as `NULL` or `N/A`: without blanks at their ends, sorted,
    /// each once. At most [`MAX_EXCLUDED`](super::MAX_EXCLUDED).
    pub never: Vec<String>,
}

/// What was agreed about the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperTerms {
    /// A name for readers; one line, and different from the parties' names.
    pub name: String,
    /// Its public identity.
    pub identity: PublicIdentity,
    /// How often each item is sent, and how many dummies of each kind a party adds: the check of
    /// the helper's answer.
    pub check: Check,
}

impl Terms {
    /// What is computed.
    pub fn operation(&self) -> Operation {
        self.question.operation()
    }

    /// How many items a row has at most, under all rules.
    pub fn items_per_row(&self) -> u64 {
        self.rules.iter().map(|rule| rule.most as u64).sum::<u64>().max(1)
    }

    /// Whether all parties receive the result.
    pub fn all_receive(&self) -> bool {
        self.receivers.len() == self.parties.len()
    }

    /// Who learns the result of the protocol, as its parameter. Shares that answers are computed on
    /// go to both parties, also if one receives the answers.
    pub fn learns(&self) -> Learns {
        if self.all_receive() || self.question.computed().is_some() {
            Learns::Both
        } else {
            Learns::Receiver
        }
    }

    /// To whom answers that are computed on shares are revealed.
    pub fn reveals_to(&self) -> Reveal {
        match self.sole_receiver().map(|name| self.role_of(name)) {
            None => Reveal::Both,
            Some(Role::Sender) => Reveal::Sender,
            Some(_) => Reveal::Receiver,
        }
    }

    /// The name of the only party that receives the result; `None` if several receive it.
    pub fn sole_receiver(&self) -> Option<&str> {
        match self.receivers[..] {
            [position] => Some(&self.parties[position].name),
            _ => None,
        }
    }

    /// The columns that `party` sends.
    pub fn columns_of(&self, party: &str) -> Option<&ColumnTerms> {
        self.columns.as_ref().filter(|columns| columns.of == party)
    }

    /// The columns that `party` gets with its result.
    pub fn columns_for(&self, party: &str) -> Option<&ColumnTerms> {
        let receives = || self.receiver_names().any(|name| name == party);
        self.columns.as_ref().filter(|columns| columns.of != party && receives())
    }

    /// The names of the parties that receive the result.
    pub fn receiver_names(&self) -> impl Iterator<Item = &str> {
        self.receivers.iter().map(|position| &*self.parties[*position].name)
    }

    /// Whether the sizes of a run of two parties decide which is the receiver: if both receive the
    /// result, and neither has values or sends columns. Between parties that follow the protocol
    /// this makes no difference to who learns what.
    pub fn roles_are_open(&self) -> bool {
        self.helper.is_none()
            && self.all_receive()
            && self.question.values().is_none()
            && self.columns.is_none()
    }

    /// The role of `party` in a protocol of two parties. If one party receives the result of the
    /// protocol, it is the receiver; if both do, the party with values or columns is the sender. If
    /// [the roles are open](Terms::roles_are_open) this is the role by default, which is used
    /// unless the sizes make it more expensive: the party whose name sorts first is the receiver.
    pub fn role_of(&self, party: &str) -> Role {
        let sole = self.sole_receiver().filter(|_| self.learns() == Learns::Receiver);
        let values = self.question.values().map(|values| &values.of);
        let is_receiver = match (sole, values.or(self.columns.as_ref().map(|columns| &columns.of)))
        {
            (Some(name), _) => party == name,
            (None, Some(of)) => party != of,
            (None, None) => party == self.parties[0].name,
        };
        if is_receiver { Role::Receiver } else { Role::Sender }
    }
}
