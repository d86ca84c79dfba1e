//! What is asked of the common keys, when it is answered, and what an answer tells.

use super::{Words, grouped};
use crate::agreement::{Question, Receives};

impl Words<'_> {
    /// What is computed, first of all.
    pub(super) fn question(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let who = match self.agreement.receives {
            Receives::One(_) => receiver,
            Receives::Both => "Each",
        };
        let both = format!("{sender} and {receiver}");
        match (&self.agreement.question, &self.agreement.receives) {
            (Question::Intersection, Receives::One(_)) => vec![format!(
                "The intersection: which rows of {receiver} have a key that {sender} has too. \
                 {receiver} gets those rows of its own file, with all their columns."
            )],
            (Question::Intersection, Receives::Both) => vec![format!(
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
            (Question::Sum(sum), _) => vec![
                format!(
                    "A sum: what the values in the column {:?} of {} add up to over the keys \
                     that {both} have in common. {who} gets the sum, not the keys, not their \
                     number, and no rows.",
                    sum.column, sum.of
                ),
                format!(
                    "The value of a key is what the rows of {} with that key add up to: whole \
                     numbers from 0, an empty cell counting as 0, and below 2^{} together.",
                    sum.of, sum.bits
                ),
            ],
        }
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
        Some(format!(
            "There is an answer only if {within} keys are in common. Otherwise both sides learn \
             that this is not so, and nothing else. A side that runs changed software can shift \
             what is counted."
        ))
    }

    /// The catalogue's words on what the receiver learns, with what is asked in place of the result.
    pub(super) fn learned_by_receiver(&self, clauses: &str) -> String {
        let answer = match self.agreement.question {
            Question::Intersection => "which of its own items the sender has",
            Question::Cardinality => "how many keys are in common",
            Question::Threshold { .. } => "whether as many keys are in common as asked for",
            Question::Sum(_) => "the sum",
        };
        let result = |clause: &&str| {
            clause.starts_with("which of its own items") || clause.starts_with("the common items")
        };
        let (results, others): (Vec<&str>, Vec<&str>) = clauses.split("; ").partition(result);
        // An insecure protocol gives more than the result, in words of its own.
        let answer = (!results.is_empty()).then_some(answer);
        answer.into_iter().chain(others).collect::<Vec<_>>().join("; ")
    }

    /// What neither side learns, where only an answer is given.
    pub(super) fn not_learned(&self) -> String {
        let what = match self.agreement.question {
            Question::Sum(_) | Question::Threshold { .. } => ", nor how many",
            _ => "",
        };
        let answer = match self.agreement.receives {
            Receives::One(_) => format!(" {} does not learn the answer either.", self.names().0),
            Receives::Both => String::new(),
        };
        format!("Neither learns which keys are in common{what}.{answer}")
    }

    /// How the self-check shows in the answer.
    pub(super) fn self_check(&self) -> String {
        let added = format!(
            "Each side adds {0} items known to both, which must match, and {0} of its own, which \
             must not;",
            self.agreement.self_check
        );
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
            Question::Sum(_) => format!(
                "{added} they are counted in bits of their own below the values, and a sum in which \
                 one is lost or invented is refused."
            ),
        }
    }

    /// What a side can do with chosen input, and what the answer itself tells.
    pub(super) fn answers_tell(&self) -> Vec<String> {
        let (_, receiver) = self.names();
        let who = match self.agreement.receives {
            Receives::One(_) => format!("{receiver} can bring"),
            Receives::Both => "Either side can bring".to_owned(),
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
