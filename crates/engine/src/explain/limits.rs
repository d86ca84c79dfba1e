//! What is not protected, and what stays afterwards.

use super::{Words, grouped};
use crate::agreement::Question;
use vesica_core::SessionId;
use vesica_protocols::Security;

/// Sizes below the largest for which guesses are told too.
const SMALLER_SETS: [u64; 4] = [1, 100, 1_000, 4_096];

impl Words<'_> {
    pub(super) fn unprotected(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let mut points = Vec::new();
        if self.weakest() == Security::Insecure {
            points.push(match self.agreement.roles_are_open() {
                false => {
                    format!("Anything: {receiver} can find out the keys of {sender} by guessing.")
                }
                true => "Anything: who is the receiver can find out the keys of the sender by \
                         guessing."
                    .to_owned(),
            });
        }
        // What a union tells of sizes is said with the rest of it.
        if !self.agreement.hide_sizes && !matches!(self.agreement.question, Question::Union { .. })
        {
            points.push(
                "The sizes of the sets (see above; `hide_sizes = true` hides them).".to_owned(),
            );
        }
        let telling: Vec<&str> =
            self.rows.iter().filter(|row| self.bytes_tell(row)).map(|row| row.id).collect();
        if !telling.is_empty() {
            points.push(format!(
                "How long it takes. The bytes and flights of {} depend on the keys in common, and \
                 both sides and whoever watches the network see them.",
                telling.join(", ")
            ));
        }
        points.extend(self.answers_tell());
        if self.agreement.hide_sizes && self.agreement.integer_items().is_some() {
            points.push(
                "The sizes, from a side that runs changed software: with few numbers that can be \
                 padding it can bring those of the other side, and see how many are there."
                    .to_owned(),
            );
        }
        points.extend(self.guesses());
        points.push(
            "Repeated runs. Two runs on nearly the same data tell what changed between them. \
             The agreement does not limit how often it runs."
                .to_owned(),
        );
        points.push(format!(
            "What {} with the result. The agreement cannot see it; your contract can.",
            match self.agreement.all_receive() {
                false => format!("{receiver} does"),
                true => "the two sides do".to_owned(),
            }
        ));
        points.push(
            "That a run took place, its time and duration, and the network address of each side."
                .to_owned(),
        );
        points
    }

    /// How many keys a receiver that deviates can have tested, in each row that bounds them by more than its set, for
    /// each side that can be the receiver.
    fn guesses(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let allowed = self.agreement.largest_roles();
        let mut points = Vec::new();
        for (row, bound) in self.rows.iter().filter_map(|row| Some((row, row.usable_set_len?))) {
            for roles in &allowed {
                let mut parties = [self.receiver, self.sender];
                if roles.are_exchanged {
                    parties.reverse();
                }
                let [most, other] = parties.map(|party| party.max_rows);
                let of = |rows| {
                    let params = self.agreement.params(SessionId::from_bytes([0; 32]), other, rows);
                    bound(&params.expect("MAX_ROWS leaves room for the self-check"))
                };
                let who = match (self.agreement.roles_are_open(), roles.are_exchanged) {
                    (false, _) => receiver.to_owned(),
                    (true, _) if allowed.len() == 1 => "the receiver".to_owned(),
                    (true, false) => format!("{receiver}, as the receiver,"),
                    (true, true) => format!("{sender}, as the receiver,"),
                };
                let usable = of(most);
                let mut point = format!(
                    "More guesses by cheating. {who} may bring {} keys, against up to {} of the \
                     other side. If it runs changed software it can have {} tested under {} without any effort, because the encoding \
                     of its set has room for so many; we can rule out only more than {} (overfitting). \
                     The bound grants it 2^80 hash evaluations.",
                    grouped(most),
                    grouped(other),
                    grouped(usable.free),
                    row.id,
                    grouped(usable.most),
                );
                let smaller: Vec<String> = SMALLER_SETS
                    .iter()
                    .filter(|rows| **rows < most && !self.agreement.hide_sizes)
                    .map(|rows| (rows, of(*rows)))
                    .map(|(rows, usable)| {
                        let [rows, free, most] = [*rows, usable.free, usable.most].map(grouped);
                        format!("{free} and {most} for {rows}")
                    })
                    .collect();
                if !smaller.is_empty() {
                    point += &format!(
                        " Where it announces fewer, against as many: {}.",
                        smaller.join(", ")
                    );
                }
                points.push(point);
            }
        }
        points
    }

    pub(super) fn afterwards(&self) -> Vec<String> {
        let receivers = match self.agreement.sole_receiver() {
            Some(name) => format!("{name} keeps"),
            None => "each side keeps".to_owned(),
        };
        let is_union = matches!(self.agreement.question, Question::Union { .. });
        let until = match self.agreement.expires {
            Some(day) => format!("It can be run until the end of {day} (UTC), not later."),
            None => "It does not expire.".to_owned(),
        };
        vec![
            match self.agreement.question {
                Question::Intersection => format!(
                    "On disk {receivers} its result file, and each side the report and log it \
                     asked for. Reports hold counts, logs neither keys nor results."
                ),
                Question::Union { .. } => format!(
                    "On disk {receivers} the keys of the union, those of the other side among them, \
                     and each side the report and log it asked for. Reports hold counts, logs \
                     neither keys nor results."
                ),
                Question::PrivateId => format!(
                    "On disk {receivers} its file of identifiers, which names its own keys, and the \
                     report and log it asked for. Reports hold counts, logs neither keys nor results."
                ),
                Question::Shares(_) | Question::SharedValues { .. } => format!(
                    "On disk {receivers} its file of shares, and the report and log it asked for. \
                     The shares of one side alone are random numbers: they are worth guarding \
                     from whoever may come to hold those of the other."
                ),
                _ => format!(
                    "On disk {receivers} the answer where it asked for a file, and each side the \
                     report and log it asked for. The report of who receives the answer holds it; \
                     logs hold neither keys nor results."
                ),
            },
            format!(
                "Nothing{} of the other side's data is kept. The secrets of a run are made for it and \
                 forgotten with it.",
                if is_union { " else" } else { "" }
            ),
            until,
        ]
    }
}
