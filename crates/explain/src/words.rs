//! What the parts of an explanation share.

use std::collections::BTreeSet;
use vesica_agreement::{Agreement, Key, PartyTerms};
use vesica_core::Role;
use vesica_protocols::{Condition, Fact, Protocol, Security};
use vesica_records::KeyRule;

/// The headings of the parts.
pub(super) const TITLES: [&str; 7] = [
    "What is computed",
    "Who learns what",
    "What is assumed",
    "Which protocol, and why",
    "What it costs",
    "What is NOT protected",
    "What stays afterwards",
];

/// What an agreement means, for each of [`TITLES`].
pub(super) type Points = [Vec<String>; TITLES.len()];

/// The headings of the first screen: the [`TITLES`] that signers need.
pub(super) const SCREEN_TITLES: [&str; 4] = [TITLES[1], TITLES[2], TITLES[4], TITLES[5]];

/// What signers read first, for each of [`SCREEN_TITLES`].
pub(super) type Screen = [Vec<String>; SCREEN_TITLES.len()];

/// The most columns of a key that the first screen names.
const NAMED_COLUMNS: usize = 3;

/// Which columns are compared, in one sentence.
pub(super) fn key_columns(keys: &[Key], rules: &[KeyRule]) -> String {
    if !rules.is_empty() {
        let named: Vec<String> = rules.iter().map(|rule| rule_in_words(rule, keys)).collect();
        return format!("Rows match if these agree: {}.", named.join("; or "));
    }
    let named: Vec<String> = keys
        .iter()
        .take(NAMED_COLUMNS)
        .map(|key| format!("{:?} (profile {})", key.name, key.profile))
        .collect();
    let more = match keys.len().saturating_sub(NAMED_COLUMNS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let columns = if keys.len() == 1 { "column" } else { "columns" };
    format!("The key that is compared: the {columns} {}{more}.", named.join(", "))
}

/// A rule: its columns, and its name.
fn rule_in_words(rule: &KeyRule, keys: &[Key]) -> String {
    let columns: Vec<String> =
        rule.columns.iter().map(|column| column.in_words(&keys[column.key].name)).collect();
    let most = match rule.most {
        1 => String::new(),
        most => format!(", up to {most} keys a row, none if it has more"),
    };
    format!("{} (rule {:?}{most})", columns.join(" and "), rule.name)
}

/// How the keys of rows are compared.
pub(super) fn of_keys(keys: &[Key], rules: &[KeyRule]) -> Vec<String> {
    let mut points = Vec::new();
    if !rules.is_empty() {
        points.push(format!(
            "Two rows match when they do under any of {} rules. Under a rule all its columns must \
             be equal, or what its transforms make of them. A row in which a column is empty, \
             refused or not taken by a transform has no key under the rule.",
            rules.len()
        ));
        let named = rules.iter().enumerate();
        points.extend(
            named.map(|(number, rule)| {
                format!("Rule {}: {}.", number + 1, rule_in_words(rule, keys))
            }),
        );
        let transforms: BTreeSet<(String, u32, &str)> = rules
            .iter()
            .flat_map(|rule| &rule.columns)
            .flat_map(|column| &column.transforms)
            .map(|transform| (transform.name(), transform.version(), transform.description()))
            .collect();
        points.extend(transforms.into_iter().map(|(name, version, description)| {
            format!("Transform {name}, version {version}: {description}.")
        }));
        points.push(
            "Beyond the matching rows, who learns the result can find out which of its keys under \
             each rule match, and so where two values differ. One guess of what a transform makes \
             tests all values of which it makes that. Two rows of one side can match the same \
             row of the other."
                .to_owned(),
        );
    } else if keys.len() > 1 {
        let columns = keys.len();
        points.push(format!("The key has {columns} columns. Two rows match when all of them do."));
    }
    for key in keys {
        points.push(format!(
            "Key column {:?} under the profile {}, version {}: {}.",
            key.name,
            key.profile,
            key.profile.version(),
            key.profile.description()
        ));
        if !key.never.is_empty() {
            let never: Vec<String> = key.never.iter().map(|value| format!("{value:?}")).collect();
            points.push(format!(
                "{} refused, so that placeholders do not match each other: {}.",
                match rules {
                    [] => format!("Rows whose {:?} is one of these values count as", key.name),
                    _ => format!("Cells of {:?} that hold one of these values are", key.name),
                },
                never.join(", "),
            ));
        }
    }
    points
}

/// The agreement and the names that its sentences use.
pub(super) struct Words<'a> {
    pub(super) agreement: &'a Agreement,
    /// The protocols that may run, at least one.
    pub(super) rows: &'a [&'static Protocol],
    /// The parties in their roles. If the sizes decide the roles, these are the roles by default,
    /// and each sentence about one party holds for the other as well.
    pub(super) sender: &'a PartyTerms,
    pub(super) receiver: &'a PartyTerms,
}

impl<'a> Words<'a> {
    pub(super) fn new(agreement: &'a Agreement) -> Self {
        Self {
            agreement,
            rows: agreement.candidates(),
            sender: agreement.party_with(Role::Sender),
            receiver: agreement.party_with(Role::Receiver),
        }
    }

    /// The weakest security that any candidate offers.
    pub(super) fn weakest(&self) -> Security {
        self.rows.iter().map(|row| row.security).min().unwrap_or(Security::Insecure)
    }

    /// The facts of all candidates, each once.
    pub(super) fn union(&self, facts: impl Fn(&Protocol) -> &'static [Fact]) -> Vec<Fact> {
        let mut union: Vec<Fact> = Vec::new();
        for fact in self.rows.iter().flat_map(|row| facts(row)) {
            // Bounds have a separate sentence.
            if !union.contains(fact) && fact.condition() != Condition::Bounds {
                union.push(*fact);
            }
        }
        union
    }

    /// `text` for each candidate, with its id if there are several and their texts differ.
    pub(super) fn each(
        &self,
        before: &str,
        text: impl Fn(&'static Protocol) -> String,
    ) -> Vec<String> {
        let texts: Vec<String> = self.rows.iter().map(|row| text(row)).collect();
        if texts.iter().all(|text| *text == texts[0]) {
            return vec![format!("{before}: {}.", texts[0])];
        }
        let named = self.rows.iter().zip(&texts);
        named.map(|(row, text)| format!("{before}, {}: {text}.", row.id)).collect()
    }

    /// The party that receives the result, if one does; otherwise the receiver.
    pub(super) fn receiving_side(&self) -> &str {
        self.agreement.sole_receiver().unwrap_or(&self.receiver.name)
    }

    /// The other party than [`receiving_side`](Self::receiving_side).
    pub(super) fn other_side(&self) -> &str {
        if self.receiving_side() == self.receiver.name {
            &self.sender.name
        } else {
            &self.receiver.name
        }
    }

    pub(super) fn names(&self) -> (&str, &str) {
        (&self.sender.name, &self.receiver.name)
    }
}
