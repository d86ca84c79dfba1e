//! The first screen of an explanation, for the people who sign the agreement.

use super::Words;
use crate::words::{Screen, key_columns};
use vesica_agreement::figures::{bytes, grouped};
use vesica_protocols::Security;
use vesica_protocols::kmrs14::{Noun, Variant};

/// From this number of parties on, the screen does not name each.
const NAMED_PARTIES: usize = 4;

impl Words<'_> {
    /// What signers read first, for each title of the screen.
    pub(super) fn screen(&self) -> Screen {
        [self.learned_in_short(), self.assumed_in_short(), self.cost_in_short(), self.risks()]
    }

    fn learned_in_short(&self) -> Vec<String> {
        let (helper, row) = (self.helper, self.agreement.protocol());
        let parties = match self.parties().len() {
            0..=NAMED_PARTIES => self.names(|_| true),
            _ => self.all(),
        };
        let computed = match self.agreement.variant() {
            Variant::Pet => format!("Whether the values of {parties} are equal."),
            _ => format!("The intersection: which keys {parties} have in common."),
        };
        let receivers = match self.agreement.receivers.len() {
            0..=NAMED_PARTIES => self.each_receiver("learns", "learn"),
            receivers => format!("{receivers} parties learn"),
        };
        let mut points =
            vec![computed, format!("{receivers} {}.", row.party_learns.words(Noun::Keys))];
        if self.agreement.receivers.len() < self.parties().len() {
            points.push("The others learn the sizes.".to_owned());
        }
        points
            .push(format!("{helper} learns no key, but {}.", row.helper_learns.words(Noun::Keys)));
        points.push(key_columns(&self.agreement.keys, &[]));
        points
    }

    fn assumed_in_short(&self) -> Vec<String> {
        let helper = self.helper;
        let of_helper = match self.agreement.protocol().helper_security {
            Security::Malicious if self.agreement.finds_cheats() => {
                format!("{helper} may run modified software: a wrong answer is detected.")
            }
            Security::Malicious => format!(
                "{helper} may run modified software: it is caught with probability {} or more.",
                self.deterrence()
            ),
            _ => format!("{helper} runs the unmodified software."),
        };
        vec![
            format!(
                "{helper} works together with NO party. Otherwise they can guess all others' keys."
            ),
            of_helper,
            "All keep their key files secret, and have verified each other's identity.".to_owned(),
        ]
    }

    fn cost_in_short(&self) -> Vec<String> {
        let spec = self.agreement.spec();
        let most: Vec<u64> = self.parties().iter().map(|party| party.max_rows).collect();
        let scales: Vec<u32> = (0..most.len()).map(|party| spec.largest_scale(party)).collect();
        let traffic = spec.bytes(&scales, &most);
        let total: u64 = traffic.iter().map(|(up, down)| up + down).sum();
        vec![format!(
            "At most {} rows and {} in all, through {}.",
            grouped(most.iter().sum()),
            bytes(total),
            self.helper,
        )]
    }

    fn risks(&self) -> Vec<String> {
        let agreement = self.agreement;
        let mut points: Vec<String> = self.unfair_in_short().into_iter().collect();
        points.push(match agreement.variant() {
            Variant::Pet => format!(
                "A value that a party guesses: up to {} guesses in each run.",
                grouped(self.guesses(1))
            ),
            variant => {
                let rows =
                    agreement.receivers.iter().map(|party| agreement.parties[*party].max_rows);
                let rows = rows.max().unwrap_or_default();
                let modified = match variant {
                    // Its list is made again by the helper.
                    Variant::Fair => String::new(),
                    _ => {
                        format!(", {} by cheating", grouped(self.guesses(rows)))
                    }
                };
                format!(
                    "Keys that a receiver guesses: up to {} in each run{modified}.",
                    grouped(rows)
                )
            }
        });
        let until = match agreement.expires {
            Some(day) => format!("until {day}"),
            None => "without a last day".to_owned(),
        };
        points.push(format!(
            "Repeated runs: they reveal what changed. Any number is allowed, {until}."
        ));
        points.push("What those who receive the result do with it.".to_owned());
        points
    }

    /// Which party can be the only one to get the result.
    fn unfair_in_short(&self) -> Option<String> {
        let agreement = self.agreement;
        let [first, second] = [0, 1].map(|party| &agreement.parties[party].name);
        match agreement.variant() {
            Variant::SizeHiding => Some(format!(
                "Fairness: {second} learns the result first, and can withhold it from {first}."
            )),
            Variant::Pet => {
                Some(format!("Fairness: {first} learns the answer first, and can withhold it."))
            }
            _ if agreement.receivers.len() < 2 => None,
            _ => Some(format!(
                "Fairness, from {}: it can give the result to one party only.",
                self.helper
            )),
        }
    }
}
