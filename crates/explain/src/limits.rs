//! What is not protected, and what stays afterwards.

use super::words::Words;
use vesica_agreement::Question;
use vesica_agreement::Roles;
use vesica_agreement::figures::grouped;
use vesica_agreement::split;
use vesica_core::SessionId;
use vesica_protocols::{Protocol, Security, UsableSetLen};

/// Smaller set sizes for which the number of guesses is listed too.
const SMALLER_SETS: [u64; 4] = [1, 100, 1_000, 4_096];

impl Words<'_> {
    pub(super) fn unprotected(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let mut points = Vec::new();
        if self.weakest() == Security::Insecure {
            points.push(if self.agreement.roles_are_open() {
                "Anything: the party that is the receiver can find the sender's keys by \
                 guessing."
                    .to_owned()
            } else {
                format!("Anything: {receiver} can find the keys of {sender} by guessing.")
            });
        }
        // What a union reveals about sizes is listed with the rest of it.
        if !self.agreement.hide_sizes && !matches!(self.agreement.question, Question::Union { .. })
        {
            points.push(
                "The sizes of the sets (see above; `hide_sizes = true` hides them).".to_owned(),
            );
        }
        let variable: Vec<&str> = self
            .rows
            .iter()
            .filter(|row| self.bytes_depend_on_result(row))
            .map(|row| row.id)
            .collect();
        if !variable.is_empty() {
            points.push(format!(
                "Traffic and duration. The bytes and flights of {} depend on the common keys, and \
                 both sides and an observer of the network see them.",
                variable.join(", ")
            ));
        }
        points.extend(self.revealed_by_answer());
        if let Some(columns) = &self.agreement.columns {
            let (of, receiver) = (&columns.of, self.names().1);
            points.push(format!(
                "The columns of a key that {receiver} guesses: it gets them with the key. And \
                 nothing vouches for what they say: {of} can send any values, of the agreed types."
            ));
        }
        if self.agreement.hide_sizes && self.agreement.integer_items().is_some() {
            points.push(
                "The sizes, from a side that runs modified software: if there are few numbers for \
                 padding, it can enter those of the other side and see how many of them are there."
                    .to_owned(),
            );
        }
        points.extend(self.guesses());
        points.push(
            "Repeated runs. Two runs on nearly the same data reveal what changed between them. The \
             agreement does not limit how often it is run to the end."
                .to_owned(),
        );
        points.push(self.repeats());
        points.push(format!(
            "What {} with the result. The software cannot control that; your contract can.",
            if self.agreement.all_receive() {
                "the two sides do".to_owned()
            } else {
                format!("{} does", self.receiving_side())
            }
        ));
        points.push(
            "The fact that a run took place, its time and duration, and the network address of \
             each side."
                .to_owned(),
        );
        points
    }

    /// How often abandoned runs may be retried.
    fn repeats(&self) -> String {
        let after = match self.agreement.max_repeats {
            0 => "An abandoned run is the last one under this agreement (`max_repeats = 0`)."
                .to_owned(),
            1 => "At most 1 retry in a row is allowed after an abandoned run (`max_repeats = 1`)."
                .to_owned(),
            most => format!(
                "At most {most} retries in a row are allowed after abandoned runs \
                 (`max_repeats = {most}`)."
            ),
        };
        format!(
            "Abandoned runs. Each retry gives a side that cheats another chance to guess keys. \
             {after} Abandoned runs are counted only if both sides keep a state (`--exchange` or \
             `--state`)."
        )
    }

    /// How many keys a receiver that deviates can test, for each row whose bound is above the size
    /// of its set, and for each side that can be the receiver.
    fn guesses(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let allowed = Roles::largest(self.agreement);
        let mut points = Vec::new();
        for row in self.rows.iter().filter(|row| row.usable_set_len.is_some()) {
            for roles in &allowed {
                let mut parties = [self.receiver, self.sender];
                if roles.are_exchanged {
                    parties.reverse();
                }
                let [most, other] = parties.map(|party| party.max_items());
                let of = |rows| self.usable(row, roles, rows);
                let who = match (self.agreement.roles_are_open(), roles.are_exchanged) {
                    (false, _) => receiver.to_owned(),
                    (true, _) if allowed.len() == 1 => "the receiver".to_owned(),
                    (true, false) => format!("{receiver}, as the receiver,"),
                    (true, true) => format!("{sender}, as the receiver,"),
                };
                let usable = of(most);
                if row.security == Security::OneSided {
                    points.push(format!(
                        "More guesses by cheating. With modified software {who} can bring keys in \
                         place of the {} self-check items that both sides know, and so test up to \
                         {} keys under {} instead of {}.",
                        self.agreement.self_check,
                        grouped(usable.most),
                        row.id,
                        grouped(most),
                    ));
                    continue;
                }
                let mut point = format!(
                    "More guesses by cheating. {who} may enter {} keys, against up to {} of the \
                     other side. With modified software it can test {} keys under {} without any \
                     effort, because the encoding of its set has room for that many. The proven \
                     limit is {} keys (overfitting), against an attacker with 2^80 hash \
                     evaluations.",
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
                        " These two numbers if it announces fewer keys, against the same other \
                         set: {}.",
                        smaller.join(", ")
                    );
                }
                points.push(point);
            }
        }
        points
    }

    /// The keys that a receiver of `rows` keys can test under `row`, which bounds them, if it
    /// deviates.
    pub(super) fn usable(&self, row: &Protocol, roles: &Roles, rows: u64) -> UsableSetLen {
        let other = if roles.are_exchanged { self.receiver } else { self.sender };
        let session = SessionId::from_bytes([0; 32]);
        let params = self.agreement.params(session, other.max_items(), rows);
        let params = params.expect("MAX_ROWS leaves room for the self-check");
        split::usable_set_len(row, &params).expect("the row bounds it")
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
                    "On disk {receivers} its result file, and each side its report and log, if it \
                     asked for them. Reports contain counts; logs contain neither keys nor \
                     results."
                ),
                Question::Union { .. } => format!(
                    "On disk {receivers} the keys of the union, including those of the other side, \
                     and each side its report and log, if it asked for them. Reports contain \
                     counts; logs contain neither keys nor results."
                ),
                Question::PrivateId => format!(
                    "On disk {receivers} its file of identifiers, which contains its own keys, and \
                     its report and log, if it asked for them. Reports contain counts; logs \
                     contain neither keys nor results."
                ),
                Question::Shares(_) | Question::SharedValues { .. } => format!(
                    "On disk {receivers} its file of shares, and its report and log, if it asked \
                     for them. The shares of one side alone are random numbers, but keep them from \
                     anyone who may get those of the other side."
                ),
                _ => format!(
                    "On disk {receivers} the answer, if it asked for a file, and each side its \
                     report and log, if it asked for them. The report of a side that receives the \
                     answer contains it; logs contain neither keys nor results."
                ),
            },
            format!(
                "Nothing{} of the other side's data is kept. The secrets of a run are made for it \
                 alone and deleted at its end.",
                if is_union { " else" } else { "" }
            ),
            until,
        ]
    }
}
