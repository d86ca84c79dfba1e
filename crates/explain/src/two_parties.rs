//! An agreement of two parties without a helper in plain words.

use crate::question::{all_columns, columns, named};
use crate::words::{Points, Screen, Words, of_keys};
use vesica_agreement::figures::{bytes, grouped};
use vesica_agreement::split::{self, Joined};
use vesica_agreement::{Agreement, ColumnTerms, PARTITION_ROWS_MAX, Question, Roles, choice};
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_partitions::{DISK_BYTES_PER_ROW, MAX_PARTITIONS};
use vesica_protocols::{Fact, Partitions, Protocol, Security};
use vesica_records::Duplicates;
use vesica_records::payloads::CellType;

/// What `agreement` means: the first screen, and part by part.
pub(super) fn all(agreement: &Agreement) -> (Screen, Points) {
    let words = Words::new(agreement);
    let points = [
        words.computed(),
        words.learned(),
        words.assumed(),
        words.protocol(),
        words.cost(),
        words.unprotected(),
        words.afterwards(),
    ];
    (words.screen(), points)
}

impl Words<'_> {
    fn computed(&self) -> Vec<String> {
        let mut points = self.question();
        points.extend(self.bounds());
        points.extend(of_keys(&self.agreement.keys, &self.agreement.rules));
        if self.agreement.show_rules {
            points.push(
                "The result says under which rules each own row matches. Its receiver could find \
                 that out without it."
                    .to_owned(),
            );
        }
        points.push(if self.agreement.rules.is_empty() {
            "Rows without a key, and rows whose key the profile refuses, are skipped; each side's \
             report counts its own."
                .to_owned()
        } else {
            "Rows without a key under any rule are skipped; each side's report counts its own."
                .to_owned()
        });
        points.push(match (&self.agreement.question, self.agreement.question.values()) {
            (Question::InnerProduct { values, factors }, _) => format!(
                "No row leaves either side. Of the columns outside the key only {} of {} and {} of \
                 {} take part, in encrypted form.",
                columns(values).trim_start_matches("the column "),
                values.of,
                columns(factors).trim_start_matches("the column "),
                factors.of,
            ),
            (_, Some(values)) => format!(
                "No row leaves either side. Of the columns outside the key only {} of {} take{} \
                 part, in encrypted form.",
                all_columns(values).trim_start_matches("the column "),
                values.of,
                if values.all_columns().len() == 1 { "s" } else { "" },
            ),
            (Question::Union { .. }, _) => "No row, and no column outside the key, leaves either \
                                            side; keys do, as described above."
                .to_owned(),
            _ => match &self.agreement.columns {
                Some(columns) => self.columns_sent(columns),
                None => "No row, and no column outside the key, leaves either side.".to_owned(),
            },
        });
        points
    }

    /// Which columns leave a side.
    fn columns_sent(&self, columns: &ColumnTerms) -> String {
        let (_, receiver) = self.names();
        let (of, bytes) = (&columns.of, columns.payload_len());
        let which = match columns.duplicates {
            Duplicates::First => "Of several rows with the same key the first one counts.",
            _ => "A file with two rows of the same key is refused.",
        };
        let types: Vec<String> = columns
            .columns
            .iter()
            .map(|(name, holds)| match holds {
                CellType::Text { max_bytes } => {
                    format!("{name:?} is text of up to {max_bytes} bytes")
                }
                CellType::Integer => format!("{name:?} is a whole number"),
                CellType::Date => format!("{name:?} is a date"),
            })
            .collect();
        format!(
            "Of the columns outside the key only {} of {of} leave{} that side: {}. {of} sends them \
             for all of its keys, {} bytes each, encrypted under keys of which {receiver} can \
             compute those of common keys only. {which}",
            named(columns),
            if columns.columns.len() == 1 { "s" } else { "" },
            types.join(", "),
            grouped(bytes as u64),
        )
    }

    fn learned(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let sender_learns = self.learned_by_sender().join("; ");
        let mut points = vec![format!("{receiver} learns {}.", self.learned_by_receiver())];
        let protects = self.weakest() > Security::Insecure;
        match (&self.agreement.question, self.agreement.all_receive()) {
            (Question::Intersection, false) => {
                points.push(format!("{sender} learns {sender_learns}."));
                if protects {
                    points.push(format!(
                        "{sender} does not learn which keys matched, nor how many. {receiver} \
                         learns nothing else about the keys of {sender} that it does not have."
                    ));
                }
            }
            (Question::Intersection, true) => {
                let answer = Fact::CommonItems.words(receiver);
                points.push(format!("{sender} learns {sender_learns}; {answer}."));
                if protects {
                    points.push(
                        "Neither learns anything else about the keys that only the other has."
                            .to_owned(),
                    );
                }
            }
            (_, both) => {
                points.push(match (both, &self.agreement.question) {
                    // The rows of these operations list what each party learns.
                    (_, Question::Union { .. } | Question::PrivateId)
                    | (_, Question::Shares(_) | Question::SharedValues { .. })
                    | (_, Question::Computed { .. })
                    | (false, _) => format!("{sender} learns {sender_learns}."),
                    (true, _) => format!("{sender} learns {sender_learns}; the same answer."),
                });
                if protects {
                    points.push(self.not_learned());
                }
            }
        }
        if !self.agreement.bounds.are_none() {
            points.push(
                "Both learn whether the number of common keys is within the bounds.".to_owned(),
            );
        }
        if self.agreement.partition_counts {
            let who = if self.agreement.all_receive() { "each side" } else { receiver };
            points.push(format!(
                "Large sets: if a set has more than {} keys, both are split at random into \
                 partitions, and {who} learns for each partition how many keys the other side has \
                 there and how many are common, and of each key or identifier that only the other \
                 side has the partition (`partition_counts = true`).",
                grouped(self.agreement.partition_rows),
            ));
        }
        points.push(match (self.agreement.hide_sizes, self.agreement.integer_items()) {
            (true, None) => {
                format!(
                    "The sizes are hidden: each side pads its set with random items up to its \
                     {}.",
                    self.padded_to()
                )
            }
            (true, Some(_)) => {
                "The sizes are hidden: each side pads its set up to its max_rows with numbers that \
                 cannot be keys, and that differ from those of the other side."
                    .to_owned()
            }
            (false, _) if !self.agreement.rules.is_empty() => {
                "A size is the number of different keys under all rules, not of rows.".to_owned()
            }
            (false, _) => "A size is the number of different keys, not of rows.".to_owned(),
        });
        points.push(
            "No other party takes part. An observer of the network sees who communicates with \
             whom, when, and how many bytes; the contents are encrypted (TLS 1.3)."
                .to_owned(),
        );
        points
    }

    /// The most keys of a side, to which it pads its set if sizes are hidden.
    pub(crate) fn padded_to(&self) -> String {
        match self.agreement.items_per_row() {
            1 => "max_rows".to_owned(),
            keys => format!("max_rows times {keys}, the most keys of a row"),
        }
    }

    /// `fact` in words, as `who` learns it of `peer`.
    pub(crate) fn words(&self, fact: Fact, who: &str, peer: &str) -> String {
        // A party that receives a union can remove the padding.
        let is_hidden = self.agreement.hide_sizes && !self.receives_union(who);
        let hidden = match fact {
            Fact::PeerSetLen if is_hidden => format!(" (hidden: always its {})", self.padded_to()),
            _ => String::new(),
        };
        format!("{}{hidden}", fact.words(peer))
    }

    fn assumed(&self) -> Vec<String> {
        let model = match self.weakest() {
            Security::Insecure => {
                "INSECURE: this protocol gives no protection against an attacker. It exists for \
                 measurements on made-up data only."
            }
            Security::SemiHonest => {
                "Semi-honest security: both sides run the unmodified software, but may analyse all \
                 that they receive for as long as they like. There is no guarantee against a side \
                 that runs modified software."
            }
            Security::OneSided => {
                "One-sided security: a side that runs modified software learns no more than \
                 agreed. But one that does not receive the result can make it wrong, and can make \
                 whether and how depend on keys of the side that receives it. So the receiver \
                 should not let the other side see anything that depends on the result, not even \
                 whether it was refused."
            }
            Security::Malicious => {
                "Malicious security: a side that runs modified software learns no more than agreed \
                 either, or is detected. Each side's whole set is fixed before that side learns \
                 anything, also where large sets are matched in partitions."
            }
        };
        let asked = self.agreement.security;
        let offered = match self.rows {
            [row] => format!("the protocol is {}", row.security),
            rows => {
                let each = rows.iter().map(|row| format!("{} is {}", row.id, row.security));
                format!("of the protocols that may run, {}", each.collect::<Vec<_>>().join(", "))
            }
        };
        let mut points = vec![
            model.to_owned(),
            format!("The agreement requires at least {asked} security; {offered}."),
        ];
        points.extend(self.each("Cryptographic assumption", |row| row.assumption.to_owned()));
        points.push(
            "Each side keeps its key file secret, and each has verified the other's identity over \
             a channel that it trusts."
                .to_owned(),
        );
        points
    }

    fn protocol(&self) -> Vec<String> {
        let mut points = Vec::new();
        match self.rows {
            [row] => {
                let reason = if self.agreement.is_auto() {
                    "it is the only one that offers the operation with the required security"
                } else {
                    "the agreement names it"
                };
                points.push(format!("{} ({}): {reason}.", row.name, row.id));
                points.push(format!("Published: {}.", row.source));
            }
            rows => {
                points.push(format!(
                    "The agreement leaves the choice open: one of the {} protocols that offer the \
                     operation with the required security runs. Once the sizes are known, both \
                     sides choose the one that they estimate to be the fastest, and the more \
                     secure one if two are nearly equal. If the network matters, they first \
                     measure it together for a moment. The report names the protocol that ran, and \
                     why.",
                    rows.len()
                ));
                points.extend(rows.iter().map(|row| {
                    let Protocol { id, name, security, source, .. } = row;
                    format!("{name} ({id}), {security}. Published: {source}.")
                }));
            }
        }
        if self.agreement.roles_are_open() {
            let (one, two) = self.names();
            points.push(format!(
                "Which of {two} and {one} is the sender and which the receiver is decided once the \
                 sizes are known: both sides choose the roles that they estimate to cost less. \
                 What each learns is the same."
            ));
        }
        // Parameters that several candidates share are listed once.
        let mut told = Vec::new();
        for row in self.rows {
            for parameter in row.parameters {
                let facts = (parameter.name, parameter.value, parameter.source);
                if told.contains(&facts) {
                    continue;
                }
                told.push(facts);
                let with = |other: &&&'static Protocol| {
                    let mut theirs = other.parameters.iter();
                    theirs.any(|other| (other.name, other.value, other.source) == facts)
                };
                let sharing: Vec<&str> = self.rows.iter().filter(with).map(|row| row.id).collect();
                let of = if sharing.len() == self.rows.len() {
                    String::new()
                } else {
                    format!(" ({})", sharing.join(", "))
                };
                points.push(format!("{}{of}: {} [{}].", facts.0, facts.1, facts.2));
            }
        }
        points.push(format!(
            "The result is wrong by chance with probability at most \
             2^-{STATISTICAL_SECURITY_BITS}. {}",
            self.self_check()
        ));
        points
    }

    fn cost(&self) -> Vec<String> {
        let (sender, receiver) = self.names();
        let mut points = vec![format!(
            "Maximum rows: {} for {sender}, {} for {receiver}. Minimum number of different keys: \
             {} and {}.",
            grouped(self.sender.max_rows),
            grouped(self.receiver.max_rows),
            grouped(self.sender.min_rows),
            grouped(self.receiver.min_rows),
        )];
        let sizes = if self.agreement.hide_sizes { "these (padded)" } else { "these maximum" };
        points.extend(self.each(&format!("At {sizes} sizes"), |row| {
            let figures = choice::at_most(self.agreement, row);
            let traffic = figures.traffic;
            format!(
                "{}{} from {sender} to {receiver} and {} back, in {} flights",
                if self.bytes_depend_on_result(row) { "at most " } else { "" },
                bytes(traffic.sender_to_receiver),
                bytes(traffic.receiver_to_sender),
                figures.flights,
            )
        }));
        points.extend(self.cost_of_computation());
        let most = self.agreement.partition_rows;
        if most != PARTITION_ROWS_MAX {
            points.push(format!(
                "Partitions: where a protocol can split large sets, each has at most {} keys \
                 on average before padding, but there are no more than {} (`partition_rows = \
                 {most}`). Smaller partitions take less memory, and more bytes and padding.",
                grouped(most),
                grouped(MAX_PARTITIONS),
            ));
        }
        if self.sender.max_items().max(self.receiver.max_items()) > most {
            points.extend(self.each("Memory", |row| self.memory(row)));
        }
        if let Some(integers) = self.agreement.integer_items() {
            points.push(format!(
                "Keys are compared as numbers of {} bits, not as digests: the numbers that cannot \
                 be keys are used for self-check items{}.",
                integers.item_bits(),
                if self.agreement.hide_sizes { " and padding" } else { "" },
            ));
        }
        points.extend(self.each("Bytes in general", |row| row.bytes_formula.to_owned()));
        points
    }
}

impl Words<'_> {
    /// Whether memory follows the sets that `row` matches.
    fn memory(&self, row: &Protocol) -> String {
        let params = Roles::largest(self.agreement)[0].params;
        let plan = split::plan(row, &params);
        if !plan.is_split() {
            let mut all =
                "all keys are in memory at once, and `--memory` does not bound it".to_owned();
            if row.partitions == Partitions::Sets && self.agreement.question.can_count_partitions()
            {
                all += ". `partition_counts = true` would split the sets, and reveal how many \
                        keys are common in each part";
            }
            return all;
        }
        let lens = [params.sender_len(), params.receiver_len()].map(|len| len as u64);
        let padded = lens.map(|len| plan.bound(len));
        let [sender, receiver] = [0, 1].map(|i| grouped(padded[i]));
        let more =
            [0, 1].map(|i| 100.0 * ((plan.partitions() * padded[i]) as f64 / lens[i] as f64 - 1.0));
        let joined = split::joined(row, &params);
        if joined != Some(Joined::Sets) {
            let shares = match joined {
                Some(Joined::Addends) => {
                    " Each gives the two sides shares of its number, and only the total is opened."
                }
                _ => "",
            };
            return format!(
                "the sets are matched in {} partitions of {sender} and {receiver} keys, random \
                 ones included, one after the other.{shares} All keys and values are in memory at \
                 once, and `--memory` does not bound it",
                grouped(plan.partitions()),
            );
        }
        let rows = self.sender.max_rows.max(self.receiver.max_rows);
        let items = self.sender.max_items().max(self.receiver.max_items());
        format!(
            "the sets are matched in {} partitions of {sender} and {receiver} keys, random ones \
             included ({:.1} % and {:.1} % more keys in all), so that no one learns how many keys \
             of the other side are in one. `--memory` bounds the memory; what does not fit takes \
             up to {} bytes of disk a row, {} for {} rows",
            grouped(plan.partitions()),
            more[0],
            more[1],
            DISK_BYTES * self.agreement.items_per_row(),
            bytes(DISK_BYTES * items),
            grouped(rows),
        )
    }
}

/// Bytes of disk for a row while a set is split: its item as it was read, and grouped.
const DISK_BYTES: u64 = vesica_core::Item::LEN as u64 + DISK_BYTES_PER_ROW;
