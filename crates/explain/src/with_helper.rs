//! An agreement with a helper in plain words.

mod limits;
mod summary;

use super::words::{Points, Screen, of_keys};
use vesica_agreement::figures::{bytes, grouped};
use vesica_agreement::{AidedAgreement, PartyTerms, chance};
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_protocols::Security;
use vesica_protocols::kmrs14::{Check, Noun, Variant};

/// What `agreement` means: the first screen, and part by part.
pub(super) fn all(agreement: AidedAgreement<'_>) -> (Screen, Points) {
    let words = Words { agreement, helper: &agreement.helper().name };
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

/// `a`, `a and b`, `a, b and c`.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The agreement and the name of its helper.
struct Words<'a> {
    agreement: AidedAgreement<'a>,
    helper: &'a str,
}

impl Words<'_> {
    fn parties(&self) -> &[PartyTerms] {
        &self.agreement.parties
    }

    fn check(&self) -> Check {
        self.agreement.helper().check
    }

    /// The names of the parties whose positions `is` accepts.
    fn names(&self, is: impl Fn(usize) -> bool) -> String {
        let chosen = self.parties().iter().enumerate().filter(|(position, _)| is(*position));
        listed(chosen.map(|(_, party)| &*party.name))
    }

    fn receivers(&self) -> String {
        self.names(|position| self.agreement.receives(position))
    }

    /// The receivers with the verb in singular or plural, with `each` if there are several.
    fn each_receiver(&self, singular: &str, plural: &str) -> String {
        match self.agreement.receivers.len() {
            1 => format!("{} {}", self.receivers(), singular),
            _ => format!("{} each {}", self.receivers(), plural),
        }
    }

    /// `both parties`, `all 3 parties`.
    fn all(&self) -> String {
        match self.parties().len() {
            2 => "both parties".to_owned(),
            parties => format!("all {parties} parties"),
        }
    }

    fn computed(&self) -> Vec<String> {
        let (helper, all) = (self.helper, self.all());
        let names = self.names(|_| true);
        let mut points = vec![match self.agreement.variant() {
            Variant::Pet => format!(
                "Whether the values of {names} are equal. Each has a file of one row, and gets \
                 that row as its result if they are equal."
            ),
            _ => format!(
                "The intersection: which keys {names} {} have. {} those rows of {}, with all \
                 columns.",
                if self.parties().len() == 2 { "both" } else { "all" },
                self.each_receiver("gets", "get"),
                if self.agreement.receivers.len() == 1 {
                    "its own file"
                } else {
                    "their own files"
                },
            ),
        }];
        points.extend(of_keys(&self.agreement.keys, &[]));
        points.push(
            "Rows without a key, and rows whose key the profile refuses, are skipped; each party's \
             report counts its own."
                .to_owned(),
        );
        let helps = if self.agreement.variant().hides_size() {
            format!("{helper} helps to find what {all} have in common")
        } else {
            format!("{helper} finds what {all} have in common")
        };
        points.push(format!(
            "{helps} without seeing the keys: it gets labels, which a cipher makes of the keys \
             under a secret of the run that only the parties know. No row, and no column outside \
             the key, leaves a party."
        ));
        points
    }

    fn learned(&self) -> Vec<String> {
        let (helper, row) = (self.helper, self.agreement.protocol());
        let mut points = vec![format!(
            "{} {}.",
            self.each_receiver("learns", "learn"),
            row.party_learns.words(Noun::Keys)
        )];
        let others = self.names(|position| !self.agreement.receives(position));
        match self.parties().len() - self.agreement.receivers.len() {
            0 => {}
            1 => points.push(format!("{others} learns the size of each other party's set.")),
            _ => points.push(format!("{others} each learn the size of each other party's set.")),
        }
        points.push(match self.parties().len() {
            2 => "Neither party learns a key that only the other has.".to_owned(),
            _ => "No party learns a key that it does not have, nor which of its keys only some of \
                  the others have."
                .to_owned(),
        });
        points.push(format!(
            "{helper} learns {}. It sees the parties' identities and network addresses, when each \
             connects and disconnects, the max_rows and min_rows of each, and the hash of this \
             agreement, but not its text. It learns no key.",
            row.helper_learns.words(Noun::Keys),
        ));
        if self.agreement.variant() != Variant::Pet {
            points.push(format!(
                "A size is the number of different keys, not of rows. In addition, {helper} and {} \
                 learn the number of rows with a key of each party, up to a factor of two.",
                match self.parties().len() {
                    2 => "the other party",
                    _ => "all others",
                }
            ));
        }
        points.push(format!(
            "The parties communicate only with {helper}. Their messages to each other pass through \
             it, signed and encrypted. An observer of the network sees who communicates with \
             {helper}, when, and how many bytes; the contents are encrypted (TLS 1.3)."
        ));
        points
    }

    fn assumed(&self) -> Vec<String> {
        let (helper, row) = (self.helper, self.agreement.protocol());
        let mut points = vec![
            format!("{helper} works together with NO party. All other guarantees depend on this."),
            format!(
                "If it does: every party has the secret of the run, and {helper} has the labels. \
                 Together they can test any guess of a key against the list of every other party, \
                 unnoticed and for as long as they like (a dictionary attack). Telephone numbers, \
                 e-mail addresses and similar keys can all be guessed."
            ),
            self.of_helper(),
        ];
        points.push(format!(
            "As long as {helper} follows the protocol, it protects each party against {}.",
            match row.variant {
                Variant::SemiHonest => "any number of others that run modified software together",
                Variant::Fair =>
                    "the other one, even if that runs modified software: it learns nothing that \
                     the honest party does not learn too",
                _ => "the other one, even if that runs modified software",
            }
        ));
        points.push(format!(
            "The agreement requires at least {} security against {helper}; the protocol is {}.",
            self.agreement.security,
            match row.helper_security {
                Security::Malicious if !self.agreement.finds_cheats() =>
                    "covert, with so few copies and dummies".to_owned(),
                security => security.to_string(),
            }
        ));
        // The last clause is about collusion, which the text above covers.
        let assumption = row.assumption.rsplit_once("; ").map_or("", |(assumption, _)| assumption);
        points.push(format!("Cryptographic assumptions: {assumption}."));
        points.push(format!(
            "Each party and {helper} keep their key files secret, and the parties have verified \
             each other's identity and that of {helper} over a channel that they trust."
        ));
        points
    }

    /// What else is assumed about the helper.
    fn of_helper(&self) -> String {
        let helper = self.helper;
        let learns = if self.agreement.variant().hides_size() {
            "it learns no more than stated above, except by the questions described below"
        } else {
            "it learns no more than stated above"
        };
        match self.agreement.protocol().helper_security {
            Security::Malicious if self.agreement.finds_cheats() => format!(
                "Malicious security against {helper}: even if it runs modified software, {learns}, \
                 and a wrong answer goes unnoticed with probability at most \
                 2^-{STATISTICAL_SECURITY_BITS}."
            ),
            Security::Malicious => format!(
                "Covert security against {helper}: even if it runs modified software, {learns}. It \
                 can give a wrong answer, but is detected with probability at least {}.",
                self.deterrence()
            ),
            _ => format!(
                "Semi-honest security against {helper}: it runs the unmodified software, but may \
                 analyse all that it receives for as long as it likes. With modified software it \
                 could give a wrong answer, with common keys left out or others added, and only \
                 the self-check below might notice."
            ),
        }
    }

    /// The probability that a wrong answer is noticed, rounded down, in per cent.
    fn deterrence(&self) -> String {
        let noticed = -(-self.agreement.cheating_bits() * std::f64::consts::LN_2).exp_m1();
        // A chance below 2^-40 counts as malicious security, so this is less than 100 %.
        let millionths = (noticed * 1e8).floor() as u64;
        let (whole, part) = (millionths / 1_000_000, format!("{:06}", millionths % 1_000_000));
        let percent = format!("{whole}.{part}");
        let percent = percent.trim_end_matches('0').trim_end_matches('.');
        format!("{percent} %")
    }

    fn protocol(&self) -> Vec<String> {
        let (helper, row) = (self.helper, self.agreement.protocol());
        let mut points = vec![format!("{} ({}).", row.name, row.id)];
        points.push(format!("Published: {}.", row.source));
        // The rule for choosing copies and dummies matters only if the agreement does not set them.
        let is_chosen = self.is_cheapest();
        let parameters = row.parameters.iter();
        let parameters = parameters.filter(|known| is_chosen || !known.name.starts_with("copies"));
        points.extend(
            parameters.map(|known| format!("{}: {} [{}].", known.name, known.value, known.source)),
        );
        points.push(self.self_check());
        match row.variant {
            Variant::Fair => points.push(format!(
                "If {helper} follows the protocol, both parties get the result or neither does: it \
                 commits to its answers before the parties prove to it that their lists are well \
                 formed, and then opens the answers to both."
            )),
            Variant::SizeHiding | Variant::Pet => points.push(format!(
                "{helper} does not compute the answer: {} does, with labels that {helper} has \
                 replaced and shuffled.",
                self.parties()[0].name
            )),
            _ => {}
        }
        points.push(format!(
            "The result is wrong by chance with probability at most 2^-{STATISTICAL_SECURITY_BITS}."
        ));
        points
    }

    fn self_check(&self) -> String {
        let Check { copies, dummies } = self.check();
        let (all, dummies) = (self.all(), grouped(dummies.into()));
        let added = format!(
            "each party adds {dummies} made-up keys that {all} have, which must be in the answer, \
             and {dummies} that only it has, which must not"
        );
        if copies == 1 {
            return format!("Self-check: {added}; an answer that fails this is refused.");
        }
        let odds = match self.agreement.variant() {
            Variant::SemiHonest => {
                "How much cheating this detects is not proven for this protocol.".to_owned()
            }
            _ => format!(
                "A wrong answer goes unnoticed with probability at most {}.",
                chance(self.agreement.cheating_bits())
            ),
        };
        format!(
            "Check of the answer: each key is sent as {copies} labels, which must be in the answer \
             either all or not at all, and {added}; an answer that fails this is refused. {odds}"
        )
    }

    /// Whether copies and dummies are the numbers chosen by default.
    fn is_cheapest(&self) -> bool {
        self.check() == Check::cheapest(self.agreement.most_rows())
    }

    fn cost(&self) -> Vec<String> {
        let each = |number: fn(&PartyTerms) -> u64| {
            let parties = self.parties().iter();
            let named: Vec<String> = parties
                .map(|party| format!("{} for {}", grouped(number(party)), party.name))
                .collect();
            listed(named.iter().map(String::as_str))
        };
        let spec = self.agreement.spec();
        let most: Vec<u64> = self.parties().iter().map(|party| party.max_rows).collect();
        let scales: Vec<u32> = (0..most.len()).map(|party| spec.largest_scale(party)).collect();
        let mut points = vec![
            format!("Maximum rows: {}.", each(|party| party.max_rows)),
            format!("Minimum number of different keys: {}.", each(|party| party.min_rows)),
        ];
        let traffic = self.parties().iter().zip(spec.bytes(&scales, &most));
        let traffic: Vec<String> = traffic
            .map(|(party, (up, down))| {
                format!("{} sends {} and receives {}", party.name, bytes(up), bytes(down))
            })
            .collect();
        points.push(format!("At these maximum sizes: {}.", traffic.join("; ")));
        points.push(format!("Bytes in general: {}.", self.agreement.protocol().bytes_formula));
        points
    }
}
