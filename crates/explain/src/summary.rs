//! The first screen of an explanation, for the people who sign the agreement.

use super::question::within;
use super::words::{Screen, Words, key_columns};
use vesica_agreement::Question;
use vesica_agreement::Roles;
use vesica_agreement::choice;
use vesica_agreement::figures::{bytes, grouped};
use vesica_protocols::{BoundsKept, Fact, Security};

impl Words<'_> {
    /// What signers read first, for each title of the screen.
    pub(super) fn screen(&self) -> Screen {
        [self.learned_in_short(), self.assumed_in_short(), self.cost_in_short(), self.risks()]
    }

    fn learned_in_short(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let question = self.question();
        let (first, _) = question[0].split_once(". ").unwrap_or((question[0].as_str(), ""));
        let mut points = vec![format!("{}.", first.trim_end_matches('.'))];
        points.push(format!("{receiver} learns {}.", self.learned_by_receiver()));
        let sender_learns = self.learned_by_sender().join("; ");
        points.push(match (&self.agreement.question, self.agreement.all_receive()) {
            (Question::Intersection, true) => {
                format!("{sender} learns {sender_learns}; {}.", Fact::CommonItems.words(receiver))
            }
            // The rows of these operations list what each party learns.
            (_, false)
            | (Question::Union { .. } | Question::PrivateId, _)
            | (
                Question::Shares(_) | Question::SharedValues { .. } | Question::Computed { .. },
                _,
            ) => {
                format!("{sender} learns {sender_learns}.")
            }
            (_, true) => format!("{sender} learns {sender_learns}; the same answer."),
        });
        points.extend(self.bounds_in_short());
        if self.agreement.partition_counts {
            let who = if self.agreement.all_receive() { "each side" } else { receiver };
            points.push(format!(
                "Above {} keys the sets are split at random into parts, and {who} learns the \
                 counts of each part.",
                grouped(self.agreement.partition_rows)
            ));
        }
        points.push(key_columns(&self.agreement.keys, &self.agreement.rules));
        points
    }

    fn bounds_in_short(&self) -> Option<String> {
        let within = within(self.agreement.bounds)?;
        let by_receiver = self.rows.iter().any(|row| row.bounds == BoundsKept::ByReceiver);
        let who = match (by_receiver, self.agreement.roles_are_open()) {
            (false, _) => return Some(format!("No answer unless {within} keys are in common.")),
            (true, true) => "the receiver",
            (true, false) => self.names().1,
        };
        Some(format!("The software of {who} gives no answer unless {within} keys are in common."))
    }

    fn assumed_in_short(&self) -> Vec<String> {
        let model = match self.weakest() {
            Security::Insecure => "Insecure: nothing is protected. For made-up data only.",
            Security::SemiHonest => {
                "Semi-honest security: it holds only while both sides run the unmodified software."
            }
            Security::OneSided => {
                "One-sided security: a side that runs modified software learns no more than \
                 agreed, but can make the result of the other wrong."
            }
            Security::Malicious => {
                "Malicious security: a side that runs modified software learns no more than \
                 agreed, or is detected."
            }
        };
        vec![
            model.to_owned(),
            "Each side keeps its key file secret, and each has verified the other's identity."
                .to_owned(),
        ]
    }

    fn cost_in_short(&self) -> Vec<String> {
        let totals: Vec<u64> = self
            .rows
            .iter()
            .map(|row| choice::at_most(self.agreement, row).traffic.total())
            .collect();
        let [least, most] = [totals.iter().min(), totals.iter().max()];
        let [least, most] = [least, most].map(|bytes| bytes.copied().unwrap_or_default());
        let computed = self.computed_bytes().unwrap_or_default();
        let [least, most] = [least, most].map(|bytes| bytes.saturating_add(computed));
        let total = if least == most {
            bytes(most)
        } else {
            format!("{} to {}", bytes(least), bytes(most))
        };
        let [one, two] = [self.sender, self.receiver];
        vec![format!(
            "At most {} rows of {} and {} of {}: {total}.",
            grouped(one.max_rows),
            one.name,
            grouped(two.max_rows),
            two.name,
        )]
    }

    fn risks(&self) -> Vec<String> {
        let mut points = Vec::new();
        if self.weakest() == Security::Insecure {
            points.push("Anything: keys can be found by guessing.".to_owned());
        }
        if self.rows.iter().any(|row| self.bytes_depend_on_result(row)) {
            points.push(
                "The length of the traffic, for an observer too: it depends on the common keys."
                    .to_owned(),
            );
        }
        points.extend(self.risks_of_answer());
        let until = match self.agreement.expires {
            Some(day) => format!("until {day}"),
            None => "without a last day".to_owned(),
        };
        points.push(format!(
            "Repeated runs: they reveal what changed. Any number is allowed, {until}."
        ));
        points.push(format!(
            "What {} with the result.",
            if self.agreement.all_receive() {
                "the two sides do".to_owned()
            } else {
                format!("{} does", self.receiving_side())
            }
        ));
        points
    }

    /// What the answer itself reveals, and what a side can learn with chosen input.
    fn risks_of_answer(&self) -> Vec<String> {
        let receiver = self.receiving_side();
        let who = if self.agreement.all_receive() {
            "either side".to_owned()
        } else {
            receiver.to_owned()
        };
        let guesses = format!("Keys that {who} guesses");
        match &self.agreement.question {
            Question::Intersection => {
                let allowed = if self.agreement.all_receive() {
                    self.receiver.max_items().max(self.sender.max_items())
                } else {
                    self.receiver.max_items()
                };
                let modified = match self.most_guesses().filter(|most| *most > allowed) {
                    Some(most) => format!(", {} by cheating", grouped(most)),
                    None => String::new(),
                };
                let columns = match &self.agreement.columns {
                    Some(_) => ", with their columns",
                    None => "",
                };
                let most = grouped(allowed);
                vec![format!("{guesses}{columns}: up to {most} in each run{modified}.")]
            }
            Question::Cardinality => {
                vec![format!("{guesses}: a count over one key shows whether the other has it.")]
            }
            Question::Threshold { .. } => vec![format!(
                "{guesses}: runs with different lists or thresholds reveal the number bit by bit."
            )],
            Question::Union { .. } => vec![format!(
                "The keys and the size of the other's set, from {who}: with a short or empty list \
                 it learns all of them."
            )],
            Question::PrivateId => vec![format!(
                "{guesses}: data that the other side later stores under their identifiers shows \
                 whether it has them."
            )],
            Question::Shares(_) => vec![
                "The two files together: they reveal the common keys, and each side can tell which \
                 of its own they are."
                    .to_owned(),
            ],
            Question::Computed { values, .. } => {
                let mut points = vec![format!(
                    "Values of {}: a part that selects one common row reveals its value.",
                    values.of
                )];
                if self.agreement.is_receiver_of_result(&values.of) {
                    points.push(format!(
                        "Which keys are common, from {}: it knows the values. That is weak: let \
                         the other side alone receive the result.",
                        values.of
                    ));
                }
                points
            }
            Question::SharedValues { values, .. } => vec![format!(
                "The two files together: they reveal the values, and which keys of {} are common.",
                values.of
            )],
            Question::InnerProduct { .. } => vec![
                format!("{guesses}: over one key the answer is the product of two values."),
                format!(
                    "Values: {who} can enter 1 for one key and 0 else, and learn the other's value."
                ),
            ],
            Question::Sum(sum) => {
                let mut points = vec![format!(
                    "{guesses}: a sum over one key is its value. If few keys are in common, the \
                     sum reveals much about each."
                )];
                if self.agreement.is_receiver_of_result(&sum.of) {
                    points.push(format!(
                        "Which keys are common, from {0}: it knows the values and receives their \
                         sum. That is weak: let the other side alone receive it.",
                        sum.of
                    ));
                }
                points
            }
        }
    }

    /// The most keys that a receiver that deviates can test, if a protocol that may run bounds it.
    fn most_guesses(&self) -> Option<u64> {
        let allowed = Roles::largest(self.agreement);
        let rows = self.rows.iter().filter(|row| row.usable_set_len.is_some());
        let all = rows.flat_map(|row| allowed.iter().map(move |roles| (row, roles)));
        all.map(|(row, roles)| {
            let party = if roles.are_exchanged { self.sender } else { self.receiver };
            self.usable(row, roles, party.max_items()).most
        })
        .max()
    }
}
