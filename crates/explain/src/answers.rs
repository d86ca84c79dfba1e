//! What an answer reveals, and how it is checked.

use super::question::columns;
use super::words::Words;
use vesica_agreement::Question;

impl Words<'_> {
    /// What neither side learns of keys, if the result is an answer.
    pub(super) fn not_learned(&self) -> String {
        let what = match self.agreement.question {
            Question::Sum(_) | Question::InnerProduct { .. } if self.some_reveal_count() => "",
            Question::Sum(_) | Question::Threshold { .. } => ", nor how many",
            Question::Union { .. } => {
                let (sender, receiver) = self.names();
                return if self.agreement.all_receive() {
                    "Each learns which keys only the other has, and so how many \
                     are common, but not which of its own."
                        .to_owned()
                } else {
                    format!(
                        "{sender} learns neither which keys are common nor how many. {receiver} \
                         learns which keys only {sender} has, and so how many are common, but not \
                         which of its own."
                    )
                };
            }
            Question::PrivateId => {
                return "Neither learns which of its own keys are common, nor a key that only the \
                        other has: the identifier of the other side's key reveals nothing about \
                        the key."
                    .to_owned();
            }
            _ => "",
        };
        let answer = if self.agreement.all_receive() {
            String::new()
        } else {
            format!(" {} does not learn the answer either.", self.other_side())
        };
        let is_computed = self.agreement.question.computed().is_some();
        let unless = if is_computed { ", unless the values that a side chose show it" } else { "" };
        format!("Neither learns which keys are in common{what}{unless}.{answer}")
    }

    /// How the self-check works for the answer.
    pub(super) fn self_check(&self) -> String {
        let added = match self.agreement.own_check_items() {
            0 => format!(
                "Each side adds {} items known to both, which must match;",
                self.agreement.self_check
            ),
            own => format!(
                "Each side adds {} items known to both, which must match, and {own} of its own, \
                 which must not;",
                self.agreement.self_check
            ),
        };
        match self.agreement.question {
            Question::Intersection => format!("{added} a result that fails this is refused."),
            Question::Cardinality => format!(
                "{added} the count includes those known to both, which are subtracted. A count \
                 without them, or above the smaller set, is refused."
            ),
            Question::Threshold { .. } => format!(
                "{added} the threshold is raised by those known to both. A yes or no cannot show \
                 that they were counted; a yes for sets that are too small is refused."
            ),
            Question::Sum(ref values) | Question::InnerProduct { ref values, .. }
                if !values.are_plain() =>
            {
                format!(
                    "{added} they are counted in an extra column next to the values, and sums in \
                     which one is missing or added are refused."
                )
            }
            Question::Union { .. } => format!(
                "{added} a union is refused if one of the other side's own is missing, or if a \
                 shared one appears as only the other side's."
            ),
            Question::PrivateId => format!(
                "{added} the sides send each other the identifiers of their own ones, and all \
                 identifiers of self-check items are removed from the list."
            ),
            Question::Computed { .. } => "There are no self-check items, because they cannot be \
                                          told from keys once they are shared: a missing key \
                                          would not be noticed."
                .to_owned(),
            Question::Shares(_) | Question::SharedValues { .. } => {
                "There are no self-check items, because in shares they cannot be told from keys: a \
                 missing key would not be noticed."
                    .to_owned()
            }
            Question::Sum(_) | Question::InnerProduct { .. } => format!(
                "{added} they are counted in extra bits below the values, and a sum in which one \
                 is missing or added is refused."
            ),
        }
    }

    /// What a side can learn with chosen input, and what the answer itself reveals.
    pub(super) fn revealed_by_answer(&self) -> Vec<String> {
        let receiver = self.receiving_side();
        let who = if self.agreement.all_receive() {
            "Either side can enter".to_owned()
        } else {
            format!("{receiver} can enter")
        };
        let lying = "Lying about one's input.";
        let leave_out = "Either side can leave keys out.";
        let bounded = match self.agreement.bounds.min {
            Some(_) => {
                " The required minimum of common keys makes this harder, but not impossible."
            }
            None => " With `min_matches` such a run has no answer.",
        };
        match &self.agreement.question {
            Question::Intersection => vec![format!(
                "{lying} {who} keys that are not in its data, and learn which of them the other \
                 side has: up to {} guesses in each run. {leave_out}",
                self.padded_to(),
            )],
            Question::Cardinality => vec![format!(
                "{lying} {who} keys that are not in its data: a count over a single key shows \
                 whether the other side has it.{bounded} {leave_out}"
            )],
            Question::Threshold { .. } => vec![format!(
                "{lying} {who} keys that are not in its data, and runs with different lists or \
                 thresholds reveal the number bit by bit.{bounded} {leave_out}"
            )],
            Question::Union { .. } => vec![
                format!(
                    "What a union reveals. {} the size of the other's set, hidden or not, and its \
                     keys, which are no longer secret afterwards.",
                    if self.agreement.all_receive() {
                        "Each learns".to_owned()
                    } else {
                        format!("{receiver} learns")
                    }
                ),
                format!(
                    "{lying} {who} a short or empty list, and learn all keys of the other. \
                     {leave_out}"
                ),
            ],
            Question::PrivateId => {
                let mut points = vec![format!(
                    "{lying} {who} keys that are not in its data. The identifier of such a key \
                     does not show whether the other side has the key, but data that the other \
                     side later stores under it does. {leave_out}"
                )];
                if self.agreement.hide_sizes {
                    points.push(
                        "Padding has identifiers too: the list is longer than the union, and \
                         neither side can remove those of the other side's padding."
                            .to_owned(),
                    );
                }
                points
            }
            Question::Shares(values) => {
                let values = values.as_ref().map_or("", |_| ", and their values");
                vec![format!(
                    "The two files together. They reveal the common keys{values}, and with both \
                     files each side can tell which of its own keys they are. So do the two files \
                     of the order (`--order`), even without the shares. {leave_out}"
                )]
            }
            Question::Computed { values, .. } => self.revealed_by_computation(values, &who),
            Question::SharedValues { values, .. } => vec![format!(
                "The two files together. They reveal {} of {1} or the default; a value that is not \
                 the default belongs to a common key. {1} can know which of its keys each entry \
                 is from, and {2} which entries are common (`--order`): both together reveal which \
                 keys of {1} are common, even without the shares. {leave_out}",
                columns(values),
                values.of,
                self.agreement.peer_of(&values.of).name,
            )],
            Question::InnerProduct { values, factors } => vec![
                format!(
                    "{lying} {who} keys that are not in its data: an inner product over a single \
                     key is the product of its values, and a side that knows one of them learns \
                     the other.{bounded} {leave_out} Either side can enter any values: with the \
                     value 1 for one key and 0 for all others a side that receives the result \
                     learns the other side's value of that key.",
                ),
                format!(
                    "What an inner product reveals about its parts. If few keys are in common, it \
                     reveals much about each: {} and {} know one of the two values of each key.",
                    values.of, factors.of
                ),
                format!(
                    "Modified software at {}. It can test guesses at the keys of {}, and learns \
                     the value of each key that it guesses right.",
                    values.of, factors.of
                ),
            ],
            Question::Sum(sum) => vec![
                format!(
                    "{lying} {who} keys that are not in its data: a sum over a single key is its \
                     value.{bounded} {leave_out} {} can enter any values.",
                    sum.of
                ),
                format!(
                    "What a sum reveals about its parts. If few keys are in common, it reveals \
                     much about each. {}",
                    self.sum_for_its_holder(&sum.of)
                ),
            ],
        }
    }

    /// What a sum says to `holder`, which has the values.
    fn sum_for_its_holder(&self, holder: &str) -> String {
        match self.agreement.sole_receiver() {
            Some(receiver) if receiver != holder => format!(
                "{holder} does not receive it. If {receiver} passes it on, {holder} may learn \
                 which of its values it includes; with values chosen for that, always."
            ),
            _ => format!(
                "{holder} knows the values and receives the sum: it may learn which of them it \
                 includes; with values chosen for that, always. That is weak: let the other side \
                 alone receive it."
            ),
        }
    }
}
