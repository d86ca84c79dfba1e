//! What is asked of the keys, and when it is answered.

use super::{Words, grouped};
use crate::agreement::{Question, ValueTerms};
use vesica_protocols::{BoundsKept, Protocol};
use vesica_records::Duplicates;

/// The columns of values in words.
pub(super) fn columns(values: &ValueTerms) -> String {
    let names: Vec<String> = values.columns.iter().map(|name| format!("{name:?}")).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => {
            format!("the columns {} and {last}", first.join(", "))
        }
        _ => format!("the column {}", names.concat()),
    }
}

impl Words<'_> {
    /// What is computed, first of all.
    pub(super) fn question(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let who = match self.agreement.all_receive() {
            false => receiver,
            true => "Each",
        };
        let both = format!("{sender} and {receiver}");
        match (&self.agreement.question, self.agreement.all_receive()) {
            (Question::Intersection, false) => vec![format!(
                "The intersection: which rows of {receiver} have a key that {sender} has too. \
                 {receiver} gets those rows of its own file, with all their columns."
            )],
            (Question::Intersection, true) => vec![format!(
                "The intersection: which keys {sender} and {receiver} have in common. Each gets \
                 the matching rows of its own file, with all their columns."
            )],
            (Question::Cardinality, _) => vec![format!(
                "The cardinality: how many keys {both} have in common, not which. {who} gets that \
                 number, and no rows."
            )],
            (Question::Threshold { min }, _) => vec![format!(
                "A threshold: whether {both} have at least {} keys in common. {who} gets yes \
                 or no, not the number and no rows.",
                grouped(*min)
            )],
            (Question::Sum(values), _) => vec![
                format!(
                    "{}: what the values in {} of {} add up to over the keys that {both} have in \
                     common. {who} gets {}, and no rows.",
                    if values.columns.len() == 1 { "A sum" } else { "Sums" },
                    columns(values),
                    values.of,
                    self.sums_and_count(if values.columns.len() == 1 { "sum" } else { "sums" }),
                ),
                self.value_of_a_key(values),
            ],
            (Question::Union { key_bytes }, _) => vec![
                format!(
                    "The union: which keys {both} have between them. {who} gets the keys, in the \
                     form that their profile gives them, its own and those that only the other has, \
                     sorted, and no rows.",
                ),
                format!("A key has at most {key_bytes} bytes; a longer one ends the run."),
            ],
            (Question::PrivateId, _) => vec![format!(
                "Private ids: a random identifier of each key that {both} have between them. Each \
                 gets all of them, and which are those of its own keys. Both have the same one for a \
                 key they have in common, so what either files under it can be joined later."
            )],
            (Question::Shares(values), _) => {
                let beside = values.as_ref().map_or(String::new(), |values| {
                    format!(", and of the values in {} of {}", columns(values), values.of)
                });
                let mut points = vec![format!(
                    "Shares of the intersection: each of {both} gets one half of every key they have \
                     in common{beside}, in an order that neither knows. A half alone is random; both \
                     together are the keys, as digests, and the values."
                )];
                points.extend(values.as_ref().map(|values| self.value_of_a_key(values)));
                points
            }
            (Question::SharedValues { values, default }, _) => vec![
                format!(
                    "Shares of values: for each key of {0} one half for each side of its value in {1} \
                     where {2} has the key too, and of {default} where not. A half alone is random; \
                     the sum of both, modulo 2^64, is the value.",
                    values.of,
                    columns(values),
                    self.agreement.peer_of(&values.of).name,
                ),
                self.value_of_a_key(values),
            ],
        }
    }

    /// What the rows of one key give.
    fn value_of_a_key(&self, values: &ValueTerms) -> String {
        let of_rows = match values.duplicates {
            Duplicates::Sum => format!("what the rows of {} with that key add up to", values.of),
            Duplicates::First => format!("that of the first row of {} with that key", values.of),
            _ => format!("that of the row of {}; a file with two such rows is refused", values.of),
        };
        let numbers = match values.signed {
            true => {
                format!("whole numbers from -2^{0} to 2^{0} - 1", values.bits - 1)
            }
            false => format!("whole numbers from 0 and below 2^{}", values.bits),
        };
        format!("The value of a key is {of_rows}: {numbers}, an empty cell counting as 0.")
    }

    /// What comes with a sum, and what does not.
    fn sums_and_count(&self, sums: &str) -> String {
        match (self.rows.iter().all(|row| row.wide_values), self.some_tell_count()) {
            (true, _) => format!("the {sums} and the number of these keys, not the keys"),
            (false, true) => format!(
                "the {sums}, not the keys, and their number only with a protocol that says so below"
            ),
            (false, false) => format!("the {sums}, not the keys, not their number"),
        }
    }

    /// Whether some protocol that may run tells the number of common keys beside a sum.
    pub(super) fn some_tell_count(&self) -> bool {
        self.rows.iter().any(|row| row.wide_values)
    }

    /// The bounds, where there are any.
    pub(super) fn bounds(&self) -> Option<String> {
        let bounds = self.agreement.bounds;
        let within = match (bounds.min, bounds.max) {
            (None, None) => return None,
            (Some(min), None) => format!("at least {}", grouped(min)),
            (None, Some(max)) => format!("at most {}", grouped(max)),
            (Some(min), Some(max)) => {
                format!("at least {} and at most {}", grouped(min), grouped(max))
            }
        };
        let (sender, receiver) = match self.agreement.roles_are_open() {
            false => self.names(),
            true => ("the sender", "the receiver"),
        };
        let by_receiver = self.rows.iter().any(|row| row.bounds == BoundsKept::ByReceiver);
        Some(match by_receiver {
            false => format!(
                "There is an answer only if {within} keys are in common. Otherwise both sides learn \
                 that this is not so, and nothing else. A side that runs changed software can shift \
                 what is counted."
            ),
            true => format!(
                "There is an answer only if {within} keys are in common. The program of {receiver} \
                 sees to that: it holds their number, and where it is outside it tells both sides so \
                 and nothing else, and what would have come next is never sent. {sender} learns that \
                 it is outside, and no more. Changed software at {receiver} could learn the number in \
                 any case, and go on to learn the answer."
            ),
        })
    }

    /// Whether the bytes of a run of `row` depend on what is in common.
    pub(super) fn bytes_tell(&self, row: &Protocol) -> bool {
        row.bytes_depend_on_result && self.agreement.all_receive()
    }

    /// Whether `who` receives a union.
    pub(super) fn receives_union(&self, who: &str) -> bool {
        let is_union = matches!(self.agreement.question, Question::Union { .. });
        is_union && (who == self.receiver.name || self.agreement.all_receive())
    }

    /// The catalogue's words on what the sender learns; a result of its own only where it has one.
    pub(super) fn learned_by_sender(&self, clauses: &str) -> String {
        const OWN: &str = "with a result of its own, ";
        let both = self.agreement.all_receive();
        let clauses = clauses.split("; ").filter(|clause| both || !clause.starts_with(OWN));
        let clauses = clauses.map(|clause| clause.strip_prefix(OWN).unwrap_or(clause));
        clauses.collect::<Vec<_>>().join("; ")
    }

    /// The catalogue's words on what the receiver learns, with what is asked in place of the result.
    pub(super) fn learned_by_receiver(&self, clauses: &str) -> String {
        let answer = match self.agreement.question {
            Question::Intersection => "which of its own items the sender has",
            Question::Cardinality => "how many keys are in common",
            Question::Threshold { .. } => "whether as many keys are in common as asked for",
            Question::Sum(_) => "the sum",
            // The rows for these say it themselves.
            _ => "the result",
        };
        let result = |clause: &&str| {
            clause.starts_with("which of its own items") || clause.starts_with("the common items")
        };
        let (results, others): (Vec<&str>, Vec<&str>) = clauses.split("; ").partition(result);
        // An insecure protocol gives more than the result, in words of its own.
        let answer = (!results.is_empty()).then_some(answer);
        answer.into_iter().chain(others).collect::<Vec<_>>().join("; ")
    }
}
