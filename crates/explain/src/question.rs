//! The question about the keys, and the bounds of its answer.

use super::words::Words;
use vesica_agreement::figures::grouped;
use vesica_agreement::{ColumnTerms, MatchBounds, Question, ValueTerms};
use vesica_core::Learns;
use vesica_protocols::{BoundsKept, Condition, Fact, Pairwise, Protocol};
use vesica_records::Duplicates;

/// The columns of values, as text.
pub(super) fn columns(values: &ValueTerms) -> String {
    listed(&values.columns)
}

/// The columns that take part, as text.
pub(super) fn all_columns(values: &ValueTerms) -> String {
    listed(&values.all_columns())
}

fn listed(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| format!("{name:?}")).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => {
            format!("the columns {} and {last}", first.join(", "))
        }
        _ => format!("the column {}", names.concat()),
    }
}

/// The groups that have a sum each, as text.
fn in_groups(values: &ValueTerms) -> String {
    values.groups.as_ref().map_or(String::new(), |groups| {
        let names: Vec<String> = groups.names.iter().map(|name| format!("{name:?}")).collect();
        format!(", for each group of rows: {}", names.join(", "))
    })
}

/// The numbers of common keys within `bounds`, if there are any.
pub(super) fn within(bounds: MatchBounds) -> Option<String> {
    Some(match (bounds.min, bounds.max) {
        (None, None) => return None,
        (Some(min), None) => format!("at least {}", grouped(min)),
        (None, Some(max)) => format!("at most {}", grouped(max)),
        (Some(min), Some(max)) => {
            format!("at least {} and at most {}", grouped(min), grouped(max))
        }
    })
}

/// `the columns "ward" and "admitted"`.
pub(super) fn named(columns: &ColumnTerms) -> String {
    let names: Vec<String> = columns.columns.iter().map(|(name, _)| format!("{name:?}")).collect();
    match &names[..] {
        [one] => format!("the column {one}"),
        [rest @ .., last] => format!("the columns {} and {last}", rest.join(", ")),
        [] => String::new(),
    }
}

impl Words<'_> {
    /// The first statements on what is computed.
    pub(super) fn question(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let who = if self.agreement.all_receive() { "Each" } else { self.receiving_side() };
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
                "The cardinality: how many keys {both} have in common, but not which. {who} gets \
                 that number, and no rows."
            )],
            (Question::Threshold { min }, _) => vec![format!(
                "A threshold: whether {both} have at least {} keys in common. {who} gets yes or \
                 no, but neither the number nor rows.",
                grouped(*min)
            )],
            (Question::Sum(values), _) => {
                let sums = if values.width() == 1 { "sum" } else { "sums" };
                let of = if values.columns.is_empty() {
                    format!("the rows of {}", values.of)
                } else {
                    format!("the values in {} of {}", columns(values), values.of)
                };
                let what = match (values.columns.is_empty(), sums) {
                    (true, _) => "The number",
                    (false, "sum") => "The sum",
                    (false, _) => "The sums",
                };
                let mut points = vec![format!(
                    "{what} of {of} over the keys that {both} have in common{}. {who} gets {}, and \
                     no rows.",
                    in_groups(values),
                    self.sums_and_count(sums),
                )];
                points.extend(values.groups.as_ref().map(|groups| {
                    format!(
                        "A row of {} is in the group that its cell in the column {:?} names, and \
                         in none if the cell is empty; any other text ends the run. A group with \
                         few common keys reveals more about each of them, and no bound of the \
                         agreement applies to a single group.",
                        values.of, groups.by,
                    )
                }));
                points.push(self.value_of_a_key(values));
                points
            }
            (Question::InnerProduct { values, factors }, _) => {
                let sums = if values.columns.len() == 1 { "sum" } else { "sums" };
                vec![
                    format!(
                        "An inner product: for each key that {both} have in common, the value in \
                         {} of {} times the value in {} of {}, and the {sums} of these products. \
                         {who} gets {}, and no rows.",
                        columns(values),
                        values.of,
                        columns(factors),
                        factors.of,
                        self.sums_and_count(sums),
                    ),
                    format!("{}: {}", values.of, self.value_of_a_key(values)),
                    format!("{}: {}", factors.of, self.value_of_a_key(factors)),
                ]
            }
            (Question::Union { key_bytes }, _) => vec![
                format!(
                    "The union: all keys that {sender} or {receiver} has. {who} gets its own keys \
                     and those that only the other has, sorted and in the form that their profile \
                     gives them, and no rows.",
                ),
                format!("A key may have at most {key_bytes} bytes; a longer one ends the run."),
            ],
            (Question::PrivateId, _) => vec![format!(
                "Private ids: a random identifier for each key that {sender} or {receiver} has. \
                 Each gets all identifiers, and which of them belong to its own keys. Both get the \
                 same identifier for a common key, so data that they store under identifiers can \
                 be joined later."
            )],
            (Question::Shares(values), _) => {
                let added = values.as_ref().map_or(String::new(), |values| {
                    format!(", and of the values in {} of {}", columns(values), values.of)
                });
                let mut points = vec![format!(
                    "Secret shares of the intersection: {both} each get one share of every key \
                     they have in common{added}, in an order that neither knows. One share alone \
                     is random; both together give the keys, as digests, and the values."
                )];
                points.extend(values.as_ref().map(|values| self.value_of_a_key(values)));
                points
            }
            (Question::Computed { values, computation }, _) => vec![
                format!(
                    "A computation over the keys that {both} have in common, on the values in {} \
                     of {}: {}. {who} gets what it gives, and no rows. The values are computed \
                     with as shares, which are random and which neither side keeps.",
                    columns(values),
                    values.of,
                    computation.expression.text(),
                ),
                self.value_of_a_key(values),
            ],
            (Question::SharedValues { values, default }, _) => vec![
                format!(
                    "Secret shares of values: for each key of {0}, each side gets one share of its \
                     value in {1} if {2} has the key too, and of {default} if not. One share alone \
                     is random; the sum of both, modulo 2^64, is the value.",
                    values.of,
                    columns(values),
                    self.agreement.peer_of(&values.of).name,
                ),
                self.value_of_a_key(values),
            ],
        }
    }

    /// How the rows with one key make its value.
    fn value_of_a_key(&self, values: &ValueTerms) -> String {
        let of_rows = match values.duplicates {
            Duplicates::Sum => format!("the sum over the rows of {} with that key", values.of),
            Duplicates::First => format!("that of the first row of {} with that key", values.of),
            _ => format!(
                "that of its row of {}; a file with two rows for one key is refused",
                values.of
            ),
        };
        let numbers = if values.signed {
            format!("whole numbers from -2^{0} to 2^{0} - 1", values.bits - 1)
        } else {
            format!("whole numbers from 0 to below 2^{}", values.bits)
        };
        match (&values.groups, values.columns.is_empty()) {
            (Some(_), true) => format!(
                "A row has the value 1 in its group and 0 in the others. The value of a key is \
                 {of_rows}: {numbers}."
            ),
            (Some(_), false) => format!(
                "A row has its value in its group and 0 in the others. The value of a key is \
                 {of_rows}: {numbers}; an empty cell counts as 0."
            ),
            (None, _) => {
                format!("The value of a key is {of_rows}: {numbers}; an empty cell counts as 0.")
            }
        }
    }

    /// What the receiver of a sum gets.
    fn sums_and_count(&self, sums: &str) -> String {
        match (self.rows.iter().all(|row| row.wide_values), self.some_reveal_count()) {
            (true, _) => format!("the {sums} and the number of these keys, but not the keys"),
            (false, true) => format!(
                "the {sums}, but not the keys, and their number only with a protocol that says so \
                 below"
            ),
            (false, false) => format!("the {sums}, but neither the keys nor their number"),
        }
    }

    /// Whether some protocol that may run reveals the number of common keys in addition to a sum.
    pub(super) fn some_reveal_count(&self) -> bool {
        self.rows.iter().any(|row| row.wide_values)
    }

    /// The bounds, if there are any.
    pub(super) fn bounds(&self) -> Option<String> {
        let within = within(self.agreement.bounds)?;
        let (sender, receiver) = if self.agreement.roles_are_open() {
            ("the sender", "the receiver")
        } else {
            self.names()
        };
        let by_receiver = self.rows.iter().any(|row| row.bounds == BoundsKept::ByReceiver);
        Some(if by_receiver {
            format!(
                "There is an answer only if {within} keys are in common. The program of {receiver} \
                 enforces this: it learns their number, and if that is out of bounds it reports \
                 only this to both sides and ends the protocol. {sender} then learns only that the \
                 number is out of bounds. Modified software at {receiver} could learn the number \
                 in any case, and continue to learn the answer."
            )
        } else {
            format!(
                "There is an answer only if {within} keys are in common. Otherwise both sides \
                 learn only that this is not the case. A side that runs modified software can \
                 change the count."
            )
        })
    }

    /// Whether the bytes of a run of `row` depend on the common keys.
    pub(super) fn bytes_depend_on_result(&self, row: &Protocol) -> bool {
        let is_plain = matches!(self.agreement.question, Question::Intersection);
        let reveals_early =
            self.agreement.early_reveal && is_plain && self.agreement.bounds.are_none();
        let can_be = row.pairwise != Pairwise::Early || reveals_early;
        let both_learn = self.agreement.learns() == Learns::Both;
        row.bytes_depend_on_result && both_learn && can_be
    }

    /// Whether `who` receives a union.
    pub(super) fn receives_union(&self, who: &str) -> bool {
        let is_union = matches!(self.agreement.question, Question::Union { .. });
        is_union && (who == self.receiver.name || self.agreement.all_receive())
    }

    /// What the sender learns; facts on its own result only if it gets one.
    pub(super) fn learned_by_sender(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let both = self.agreement.all_receive();
        let facts = self.union(|row| row.sender_learns).into_iter();
        let facts = facts.filter(|fact| both || fact.condition() != Condition::OwnResult);
        let answer = self.answer_of_computation(sender);
        answer.into_iter().chain(facts.map(|fact| self.words(fact, sender, receiver))).collect()
    }

    /// The answer of a computation, as `who` learns it, if it does.
    fn answer_of_computation(&self, who: &str) -> Option<String> {
        let receives = self.agreement.is_receiver_of_result(who);
        let is_computed = self.agreement.question.computed().is_some();
        (is_computed && receives).then(|| "what the computation gives".to_owned())
    }

    /// What the receiver learns, the answer first.
    pub(super) fn learned_by_receiver(&self) -> String {
        let (sender, receiver) = self.names();
        let facts = self.union(|row| row.receiver_learns);
        // An insecure protocol reveals more than the result; its row describes what.
        let is_answer = |fact: &Fact| matches!(fact, Fact::CommonItems | Fact::Answer);
        let answer = facts.iter().any(is_answer).then(|| self.answer());
        // Here the number of common items is the answer, which is listed already.
        let is_count = matches!(self.agreement.question, Question::Cardinality);
        let others = facts.into_iter().filter(|fact| {
            !(is_answer(fact) || *fact == Fact::Count && is_count && answer.is_some())
        });
        let others = others.map(|fact| self.words(fact, receiver, sender));
        answer
            .clone()
            .or_else(|| self.answer_of_computation(receiver))
            .into_iter()
            .chain(self.columns_learned())
            .chain(others)
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// The columns that the receiver learns.
    fn columns_learned(&self) -> Option<String> {
        let columns = self.agreement.columns.as_ref()?;
        Some(format!("for each of these {} of {}", named(columns), columns.of))
    }

    /// The answer to the question.
    fn answer(&self) -> String {
        match self.agreement.question {
            Question::Intersection => Fact::CommonItems.words(self.names().0).into_owned(),
            Question::Cardinality => "how many keys are in common".to_owned(),
            Question::Threshold { .. } => {
                "whether at least that many keys are in common".to_owned()
            }
            Question::Sum(_) => "the sum".to_owned(),
            Question::InnerProduct { .. } => "the sum of the products".to_owned(),
            // The rows for these name the result themselves.
            _ => "the result".to_owned(),
        }
    }
}
