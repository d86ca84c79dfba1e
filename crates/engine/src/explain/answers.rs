//! What an answer tells, how it is checked, and what stays of it.

use super::Words;
use super::question::columns;
use crate::agreement::Question;

impl Words<'_> {
    /// What neither side learns, where only an answer is given.
    pub(super) fn not_learned(&self) -> String {
        let what = match self.agreement.question {
            Question::Sum(_) if self.some_tell_count() => "",
            Question::Sum(_) | Question::Threshold { .. } => ", nor how many",
            Question::Union { .. } => {
                let (sender, receiver) = self.names();
                return match self.agreement.all_receive() {
                    false => format!(
                        "{sender} learns neither which keys are common nor how many. {receiver} \
                         learns which keys only {sender} has, and so how many are common, but not \
                         which of its own."
                    ),
                    true => "Each learns which keys only the other has, and so how many \
                                       are common, but not which of its own."
                        .to_owned(),
                };
            }
            Question::PrivateId => {
                return "Neither learns which of its own keys are common, nor a key that only the \
                        other has: an identifier that is of no own key says nothing of its key."
                    .to_owned();
            }
            _ => "",
        };
        let answer = match self.agreement.all_receive() {
            false => format!(" {} does not learn the answer either.", self.names().0),
            true => String::new(),
        };
        format!("Neither learns which keys are in common{what}.{answer}")
    }

    /// How the self-check shows in the answer.
    pub(super) fn self_check(&self) -> String {
        let added = match self.agreement.own_canaries() {
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
                "{added} the count has those known to both in it, and they are taken off. A count \
                 without them, or above the smaller set, is refused."
            ),
            Question::Threshold { .. } => format!(
                "{added} the threshold is raised by those known to both. One bit cannot show that \
                 they were counted; a yes where the sets are too small is refused."
            ),
            Question::Sum(ref values) if !values.are_plain() => format!(
                "{added} they are counted in a column of their own beside the values, and sums in \
                 which one is lost or invented are refused."
            ),
            Question::Union { .. } => format!(
                "{added} a union in which one of the other side's own is missing, or a shared one is \
                 only the other's, is refused."
            ),
            Question::PrivateId => format!(
                "{added} the sides tell each other the identifiers of their own ones, and no \
                 identifier of a self-check item stays in the list."
            ),
            Question::Shares(_) | Question::SharedValues { .. } => {
                "Nobody can tell self-check items from keys in shares, so there are none: a result \
                 that lost a key does not show it."
                    .to_owned()
            }
            Question::Sum(_) => format!(
                "{added} they are counted in bits of their own below the values, and a sum in which \
                 one is lost or invented is refused."
            ),
        }
    }

    /// What a side can do with chosen input, and what the answer itself tells.
    pub(super) fn answers_tell(&self) -> Vec<String> {
        let (_, receiver) = self.names();
        let who = match self.agreement.all_receive() {
            false => format!("{receiver} can bring"),
            true => "Either side can bring".to_owned(),
        };
        let lying = "Lying about one's input.";
        let leave_out = "Either side can leave keys out.";
        let bounded = match self.agreement.bounds.min {
            Some(_) => {
                " That at least so many keys must be in common makes this harder, not impossible."
            }
            None => " With `min_matches` such a run has no answer.",
        };
        match &self.agreement.question {
            Question::Intersection => vec![format!(
                "{lying} {who} keys that are none of its customers, and learn which of them the \
                 other side has: as many guesses a run as its max_rows. {leave_out}"
            )],
            Question::Cardinality => vec![format!(
                "{lying} {who} keys that are none of its customers: a count over a single key says \
                 whether the other side has it.{bounded} {leave_out}"
            )],
            Question::Threshold { .. } => vec![format!(
                "{lying} {who} keys that are none of its customers, and runs with different lists \
                 or thresholds tell the number bit by bit.{bounded} {leave_out}"
            )],
            Question::Union { .. } => vec![
                format!(
                    "What a union tells. {} the size of the other's set, hidden or not, and the keys \
                     themselves, which are no secret afterwards.",
                    match self.agreement.all_receive() {
                        false => format!("{receiver} learns"),
                        true => "Each learns".to_owned(),
                    }
                ),
                format!(
                    "{lying} {who} a short list, or none, and learn all keys of the other. {leave_out}"
                ),
            ],
            Question::PrivateId => {
                let mut points = vec![format!(
                    "{lying} {who} keys that are none of its customers. Whether the other side has \
                     one of them does not follow from its identifier, but from what the other side \
                     files under it. {leave_out}"
                )];
                if self.agreement.hide_sizes {
                    points.push(
                        "Padding has identifiers too: the list is longer than the union, and nobody \
                         can take those of the other side's padding off."
                            .to_owned(),
                    );
                }
                points
            }
            Question::Shares(values) => {
                let values = values.as_ref().map_or("", |_| ", and their values");
                vec![format!(
                    "Whoever holds both files. They give the common keys{values}, and each side can \
                     tell which of its own keys they are. {leave_out}"
                )]
            }
            Question::SharedValues { values, .. } => vec![format!(
                "Whoever holds both files. They give {} of {} or the default, in an order that says \
                 nothing; a value that is not the default is of a common key. {leave_out}",
                columns(values),
                values.of
            )],
            Question::Sum(sum) => vec![
                format!(
                    "{lying} {who} keys that are none of its customers: a sum over a single key is \
                     its value.{bounded} {leave_out} {} can bring values of its choice.",
                    sum.of
                ),
                format!(
                    "What a sum tells of its parts. Where few keys are in common, it tells much \
                     about each. Who knows the values, as {} does, can learn from a sum which of \
                     them are in it; with values chosen for that, always.",
                    sum.of
                ),
            ],
        }
    }
}
