//! An agreement in plain words, for the people who decide whether it may run.

use crate::agreement::{Agreement, PartyTerms, Reason, Receives};
use serde::Serialize;
use std::fmt;
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_core::{PsiParams, Role, SessionId};
use vesica_protocols::{Operation, Protocol, Security, Traffic};

/// Width of the text form in columns.
const WIDTH: usize = 88;

/// What an agreement means: who learns what, what is assumed, what is not protected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The agreement's title.
    pub title: String,
    /// The agreement's hash, in hexadecimal.
    pub hash: String,
    /// The parts, in the order in which they are read.
    pub sections: Vec<Section>,
}

/// One part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// What it says, one sentence or two each.
    pub points: Vec<String>,
}

/// Says in plain words what `agreement` means.
pub fn explain(agreement: &Agreement) -> Explanation {
    let words = Words::new(agreement);
    let sections = [
        ("What is computed", words.computed()),
        ("Who learns what", words.learned()),
        ("What is assumed", words.assumed()),
        ("Which protocol, and why", words.protocol()),
        ("What it costs", words.cost()),
        ("What is NOT protected", words.unprotected()),
        ("What stays afterwards", words.afterwards()),
    ];
    Explanation {
        title: agreement.title.clone(),
        hash: agreement.hash().to_string(),
        sections: sections.map(|(title, points)| Section { title, points }).into(),
    }
}

/// The agreement and the names that its sentences use.
struct Words<'a> {
    agreement: &'a Agreement,
    row: &'static Protocol,
    sender: &'a PartyTerms,
    receiver: &'a PartyTerms,
}

impl<'a> Words<'a> {
    fn new(agreement: &'a Agreement) -> Self {
        Self {
            agreement,
            row: agreement.protocol().row,
            sender: agreement.party_with(Role::Sender),
            receiver: agreement.party_with(Role::Receiver),
        }
    }

    fn names(&self) -> (&str, &str) {
        (&self.sender.name, &self.receiver.name)
    }

    fn computed(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let what = match (self.agreement.operation, &self.agreement.receives) {
            (Operation::Intersection, Receives::One(_)) => format!(
                "The intersection: which rows of {receiver} have a key that {sender} has too. \
                 {receiver} gets those rows of its own file, with all their columns."
            ),
            (Operation::Intersection, Receives::Both) => format!(
                "The intersection: which keys {sender} and {receiver} have in common. Each gets \
                 the matching rows of its own file, with all their columns."
            ),
            (operation, _) => format!("The operation {operation}."),
        };
        let mut points = vec![what];
        let keys = &self.agreement.keys;
        if keys.len() > 1 {
            points.push(format!(
                "The key has {} columns. Two rows match when all of them do.",
                keys.len()
            ));
        }
        points.extend(keys.iter().map(|key| {
            format!(
                "Key column {:?} under the profile {}, version {}: {}.",
                key.name,
                key.profile,
                key.profile.version(),
                key.profile.description()
            )
        }));
        points.push(
            "Rows without a key, or whose key the profile refuses, take no part; each side's \
             report counts its own."
                .to_owned(),
        );
        points.push("No row, and no column outside the key, leaves either side.".to_owned());
        points
    }

    fn learned(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let mut points = vec![self.learns(receiver, self.row.receiver_learns)];
        match self.agreement.receives {
            Receives::One(_) => {
                points.push(self.learns(sender, self.row.sender_learns));
                if self.row.security > Security::Insecure {
                    points.push(format!(
                        "{sender} does not learn which keys matched, nor how many. {receiver} \
                         learns nothing else about the keys of {sender} that it does not have."
                    ));
                }
            }
            Receives::Both => {
                points.push(format!(
                    "{sender} learns {}; which of its own items {receiver} has.",
                    self.named(self.row.sender_learns)
                ));
                if self.row.security > Security::Insecure {
                    points.push(
                        "Neither learns anything else about the keys that only the other has."
                            .to_owned(),
                    );
                }
            }
        }
        points.push(if self.agreement.hide_sizes {
            "The sizes are hidden: each side fills its set with random items up to its max_rows."
                .to_owned()
        } else {
            "A size is the number of different keys, not of rows.".to_owned()
        });
        points.push(
            "Nobody else takes part. Whoever watches the network sees who talks to whom, when, \
             and how many bytes; the contents are encrypted (TLS 1.3)."
                .to_owned(),
        );
        points
    }

    fn learns(&self, who: &str, what: &str) -> String {
        format!("{who} learns {}.", self.named(what))
    }

    /// The catalogue's words with the parties' names for the roles.
    fn named(&self, what: &str) -> String {
        let (sender, receiver) = self.names();
        let clauses = what.split("; ").map(|clause| {
            let clause = clause
                .replace("the sender's", &format!("{sender}'s"))
                .replace("the receiver's", &format!("{receiver}'s"))
                .replace("the sender", sender)
                .replace("the receiver", receiver);
            if self.agreement.hide_sizes && clause.starts_with("the size of") {
                format!("{clause} (hidden: always its max_rows)")
            } else {
                clause
            }
        });
        clauses.collect::<Vec<_>>().join("; ")
    }

    fn assumed(&self) -> Vec<String> {
        let model = match self.row.security {
            Security::Insecure => {
                "INSECURE: this protocol protects against nobody who tries. It is here for \
                 measurements on made-up data only."
            }
            Security::SemiHonest => {
                "Semi-honest security: both sides run the software as agreed, and may study all \
                 they saw for as long as they like. Against a side that runs changed software \
                 nothing is promised."
            }
            Security::Malicious => {
                "Malicious security: also a side that runs changed software learns no more than \
                 agreed, or is found out."
            }
        };
        let asked = self.agreement.security;
        vec![
            model.to_owned(),
            format!(
                "The agreement asks for at least {asked}; the protocol is {}.",
                self.row.security
            ),
            format!("Cryptographic assumption: {}.", self.row.assumption),
            "Each side keeps its key file to itself, and both checked the other's identity over \
             a channel they trust."
                .to_owned(),
        ]
    }

    fn protocol(&self) -> Vec<String> {
        let reason = match self.agreement.protocol().reason {
            Reason::Named => "the agreement names it".to_owned(),
            reason @ Reason::First { .. } => format!("it is {reason}"),
        };
        let mut points = vec![
            format!("{} ({}): {reason}.", self.row.name, self.row.id),
            format!("Published: {}.", self.row.source),
        ];
        points.extend(self.row.parameters.iter().map(|parameter| {
            format!("{}: {} [{}].", parameter.name, parameter.value, parameter.source)
        }));
        points.push(format!(
            "A wrong result by chance has probability at most 2^-{STATISTICAL_SECURITY_BITS}. \
             Each side adds {0} items known to both, which must match, and {0} of its own, which \
             must not; a result that fails this is refused.",
            self.agreement.self_check
        ));
        points
    }

    fn cost(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let mut points = vec![format!(
            "Most rows: {} for {sender}, {} for {receiver}. Fewest different keys: {} and {}.",
            grouped(self.sender.max_rows),
            grouped(self.receiver.max_rows),
            grouped(self.sender.min_rows),
            grouped(self.receiver.min_rows),
        )];
        if let Some(traffic) = traffic_at_most(self.agreement) {
            points.push(format!(
                "At {} sizes: {} from {sender} to {receiver} and {} back, in {} flights.",
                if self.agreement.hide_sizes { "these (padded)" } else { "these largest" },
                bytes(traffic.sender_to_receiver),
                bytes(traffic.receiver_to_sender),
                self.row.flights + u64::from(self.agreement.receives == Receives::Both),
            ));
        }
        points.push(format!("Bytes in general: {}.", self.row.bytes_formula));
        points
    }

    fn unprotected(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let mut points = Vec::new();
        if self.row.security == Security::Insecure {
            points.push(format!(
                "Anything: {receiver} can find out the keys of {sender} by guessing."
            ));
        }
        if !self.agreement.hide_sizes {
            points.push(
                "The sizes of the sets (see above; `hide_sizes = true` hides them).".to_owned(),
            );
        }
        let who = match self.agreement.receives {
            Receives::One(_) => format!("{receiver} can bring"),
            Receives::Both => "Either side can bring".to_owned(),
        };
        points.push(format!(
            "Lying about one's input. {who} keys that are none of its customers, and learn \
             which of them the other side has: as many guesses a run as its max_rows. Either \
             side can leave keys out."
        ));
        points.push(
            "Repeated runs. Two runs on nearly the same data tell what changed between them. \
             The agreement does not limit how often it runs."
                .to_owned(),
        );
        points.push(format!(
            "What {} with the result. The agreement cannot see it; your contract can.",
            match self.agreement.receives {
                Receives::One(_) => format!("{receiver} does"),
                Receives::Both => "the two sides do".to_owned(),
            }
        ));
        points.push(
            "That a run took place, its time and duration, and the network address of each side."
                .to_owned(),
        );
        points
    }

    fn afterwards(&self) -> Vec<String> {
        let receivers = match &self.agreement.receives {
            Receives::One(name) => format!("{name} keeps"),
            Receives::Both => "each side keeps".to_owned(),
        };
        let until = match self.agreement.expires {
            Some(day) => format!("It can be run until the end of {day} (UTC), not later."),
            None => "It does not expire.".to_owned(),
        };
        vec![
            format!(
                "On disk {receivers} its result file, and each side the report and log it asked \
                 for. Reports hold counts, logs neither keys nor results."
            ),
            "Nothing of the other side's data is kept. The secrets of a run are made for it and \
             forgotten with it."
                .to_owned(),
            until,
        ]
    }
}

/// Payload bytes of a run in which both sides bring their `max_rows`.
pub fn traffic_at_most(agreement: &Agreement) -> Option<Traffic> {
    let len = |role| agreement.party_with(role).max_rows + 2 * u64::from(agreement.self_check);
    let session = SessionId::from_bytes([0; 32]);
    let (sender_len, receiver_len) = (len(Role::Sender), len(Role::Receiver));
    let params = PsiParams::new(session, sender_len, receiver_len, agreement.learns()).ok()?;
    Some((agreement.protocol().row.bytes)(&params))
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        writeln!(f, "agreement {}", self.hash)?;
        for section in &self.sections {
            writeln!(f, "\n{}", section.title)?;
            for point in &section.points {
                write_point(f, point)?;
            }
        }
        Ok(())
    }
}

/// One point, its lines broken between words.
fn write_point(f: &mut fmt::Formatter<'_>, point: &str) -> fmt::Result {
    let mut column = 0;
    for word in point.split(' ') {
        let len = word.chars().count();
        if column == 0 {
            write!(f, "  - {word}")?;
            column = 4 + len;
        } else if column + 1 + len > WIDTH {
            write!(f, "\n    {word}")?;
            column = 4 + len;
        } else {
            write!(f, " {word}")?;
            column += 1 + len;
        }
    }
    writeln!(f)
}

/// `n` with commas between groups of three digits: `5,000,000`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `n` bytes in the decimal unit that suits: `344.0 MB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if n < 1000 {
        return format!("{n} bytes");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    // Rounding to one digit must not give "1000.0 kB".
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (5_000_000, "5,000,000")];
        for (n, expected) in cases {
            assert_eq!(grouped(n), expected);
        }
    }

    #[test]
    fn bytes_are_shown_in_the_unit_that_suits() {
        let cases = [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (344_000_000, "344.0 MB"),
        ];
        for (n, expected) in cases {
            assert_eq!(bytes(n), expected);
        }
    }
}
