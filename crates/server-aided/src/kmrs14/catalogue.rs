//! The catalogue's rows of protocols with a helper, and the choice of copies and dummies.

use super::learned::{Answer, HelperFact, HelperLearns, PartyLearns};
use super::limits::{LAMBDA, MAX_COPIES, MAX_DUMMIES, MAX_PARTIES, MAX_ROWS};
use std::ops::RangeInclusive;
use vesica_core::{ParameterError, Result};
use vesica_party::{Parameter, Security};

const SOURCE: &str = "S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, \"Scaling Private Set \
                      Intersection to Billion-Element Sets\", Financial Cryptography 2014";

/// A protocol with a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Figure 1: the helper follows the protocol.
    SemiHonest,
    /// Figure 2: the helper deviates in any way.
    Malicious,
    /// Figure 3: as Figure 2, and both parties learn the answer or neither does.
    Fair,
    /// Figure 4: as Figure 2, and the helper does not learn how many items are common.
    SizeHiding,
    /// Section 1.2: Figure 4 for one item each, a private equality test.
    Pet,
}

/// The catalogue's row for a protocol with a helper.
#[derive(Debug)]
pub struct AidedProtocol {
    /// Which protocol it is.
    pub variant: Variant,
    /// The name in an agreement and on the command line.
    pub id: &'static str,
    /// A readable name.
    pub name: &'static str,
    /// Where it was published, and the figure implemented.
    pub source: &'static str,
    /// The helper that it protects against, which colludes with no party.
    pub helper_security: Security,
    /// The parties that it protects against when the helper follows the protocol.
    pub party_security: &'static str,
    /// The hardness assumptions, and other assumptions.
    pub assumption: &'static str,
    /// How many parties it takes.
    pub parties: RangeInclusive<usize>,
    /// Whether all parties must receive the answer.
    pub all_receive: bool,
    /// What the helper learns.
    pub helper_learns: HelperLearns,
    /// What a party that receives the answer learns.
    pub party_learns: PartyLearns,
    /// [`Spec::bytes`](super::Spec::bytes) in words.
    pub bytes_formula: &'static str,
    /// The parameters a reviewer asks for.
    pub parameters: &'static [Parameter],
}

impl Variant {
    /// All variants, in the order of the catalogue.
    pub const ALL: [Variant; 5] =
        [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding, Variant::Pet];

    /// The row of this variant.
    pub fn row(self) -> &'static AidedProtocol {
        match self {
            Variant::SemiHonest => &SEMI_HONEST,
            Variant::Malicious => &MALICIOUS,
            Variant::Fair => &FAIR,
            Variant::SizeHiding => &SIZE_HIDING,
            Variant::Pet => &PET,
        }
    }

    /// Most rows of a party.
    pub fn max_rows(self) -> u64 {
        if self == Variant::Pet { 1 } else { MAX_ROWS }
    }

    /// Whether labels are made of labels.
    pub fn has_two_layers(self) -> bool {
        matches!(self, Variant::Fair | Variant::SizeHiding | Variant::Pet)
    }

    /// Whether the first party computes the answer, instead of the helper.
    pub fn hides_size(self) -> bool {
        matches!(self, Variant::SizeHiding | Variant::Pet)
    }

    pub(super) fn code(self) -> u8 {
        match self {
            Variant::SemiHonest => 1,
            Variant::Malicious => 2,
            Variant::Fair => 3,
            Variant::SizeHiding => 4,
            Variant::Pet => 5,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.code() == code)
    }
}

/// Every protocol with a helper.
pub fn aided() -> impl Iterator<Item = &'static AidedProtocol> {
    Variant::ALL.into_iter().map(Variant::row)
}

/// The protocol with a helper that is named `id`.
///
/// # Errors
/// [`ParameterError::UnknownProtocol`].
pub fn find_aided(id: &str) -> Result<&'static AidedProtocol> {
    aided().find(|row| row.id == id).ok_or(ParameterError::UnknownProtocol.into())
}

/// How many copies of each item and dummies of each kind a party sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// Copies of each item, c.
    pub copies: u32,
    /// Dummies of each kind, t.
    pub dummies: u32,
}

impl Check {
    /// The cheapest check for lists of at most `items` different items: among those with which a
    /// cheating helper goes unnoticed with probability at most 2^-40 ([`Check::bits`]), the one
    /// with the fewest labels c·n + 2t.
    pub fn cheapest(items: u64) -> Self {
        let mut cheapest: Option<Self> = None;
        for copies in 2..=MAX_COPIES {
            // More copies have more labels than the cheapest so far, however few dummies they need.
            let least = u64::from(copies).saturating_mul(items);
            if cheapest.is_some_and(|check| check.labels(items) <= least) {
                break;
            }
            let is_enough =
                |dummies: u32| Self { copies, dummies }.bits(items) >= f64::from(LAMBDA);
            if !is_enough(MAX_DUMMIES) {
                continue;
            }
            let (mut too_few, mut enough) = (0, MAX_DUMMIES);
            while enough - too_few > 1 {
                let middle = too_few + (enough - too_few) / 2;
                if is_enough(middle) { enough = middle } else { too_few = middle }
            }
            let check = Self { copies, dummies: enough };
            if cheapest.is_none_or(|other| check.labels(items) < other.labels(items)) {
                cheapest = Some(check);
            }
        }
        cheapest.unwrap_or(Self { copies: 4, dummies: 10_322 })
    }

    /// Labels that a party with `items` different items sends.
    pub fn labels(&self, items: u64) -> u64 {
        u64::from(self.copies) * items + 2 * u64::from(self.dummies)
    }

    /// −log2 of the largest probability with which a helper that makes a wrong answer for lists of
    /// at most `items` different items goes unnoticed by a party.
    ///
    /// If m items are common and the helper omits one of them, it must hit the item's c labels
    /// among c·m + t that look alike: m ways to succeed out of C(c·m + t, c). The same holds for
    /// items that it adds. The published bound t^-(c-1) (Theorem 2) is too small for few items: for
    /// c = 9, t = 32 and one item it gives 2^-40, where the chance is 2^-28.
    pub fn bits(&self, items: u64) -> f64 {
        let (copies, dummies) = (f64::from(self.copies), f64::from(self.dummies));
        let chance = |common: f64| {
            let labels = copies * common + dummies;
            let ways: f64 = (0..self.copies)
                .map(|i| (labels - f64::from(i)).log2() - f64::from(self.copies - i).log2())
                .sum();
            common.log2() - ways
        };
        let items = items.max(1) as f64;
        if self.copies < 2 {
            // Any one label of an item: all common items are equally good.
            return -(items.log2() - (items + dummies).log2());
        }
        // The chance rises and then falls with m. It is largest where its derivative is zero, at
        // about t / (c (c - 1)).
        let (mut low, mut high) = (1.0, items);
        while high - low > 2.0 {
            let third = ((high - low) / 3.0).floor().max(1.0);
            if chance(low + third) < chance(high - third) { low += third } else { high -= third }
        }
        let near = [low, (low + 1.0).min(items), high];
        -near.into_iter().map(chance).fold(f64::NEG_INFINITY, f64::max)
    }
}

const COLLUSION: &str = "AES-128 is a pseudorandom permutation; for what the parties tell each \
                         other, X25519 or ML-KEM-768, Ed25519, AES-256-GCM-SIV and BLAKE3 are \
                         secure; the helper colludes with no party: together with one it could \
                         test every guess against the others' sets";

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "length of labels",
        value: "40 + log2 of the sum of N_i N_j over all pairs of parties, up to a whole number of \
                bytes",
        source: "union bound; the paper's 80 to 100 bits of section 3.1 bound collisions within \
                 one set only",
    },
    Parameter {
        name: "pseudorandom permutation",
        value: "AES-128, a key for each copy and kind of dummy",
        source: "section 3.1; FIPS 197",
    },
    Parameter {
        name: "coin toss between the parties",
        value: "commitments by BLAKE3; X25519 with ML-KEM-768, signed by Ed25519",
        source: "section 2.2, Coin-toss; RFC 7748, FIPS 203, RFC 8032",
    },
];

const CHECKED_PARAMETERS: &[Parameter] = &[
    PARAMETERS[0],
    PARAMETERS[1],
    PARAMETERS[2],
    Parameter {
        name: "copies c and dummies t",
        value: "the fewest labels c n + 2 t with which no wrong answer goes unnoticed with more \
                than 2^-40",
        source: "m / C(cm + t, c) for every m; the published t^-(c-1) of Theorem 2 is too small \
                 for few items",
    },
];

static SEMI_HONEST: AidedProtocol = AidedProtocol {
    variant: Variant::SemiHonest,
    id: "server_aided",
    name: "Intersection by a helper",
    source: SOURCE,
    helper_security: Security::SemiHonest,
    party_security: "any collusion of parties that deviate in any way",
    assumption: COLLUSION,
    parties: 2..=MAX_PARTIES,
    all_receive: false,
    helper_learns: HelperLearns {
        learned: &[HelperFact::Parties, HelperFact::SetLens, HelperFact::CountOfEachGroup],
        hidden: None,
    },
    party_learns: PartyLearns { answer: Answer::CommonToAll, both_or_none: false },
    bytes_formula: "each party: about 9 bytes (7 to 11) an item; and a bit an item back",
    parameters: PARAMETERS,
};

static MALICIOUS: AidedProtocol = AidedProtocol {
    variant: Variant::Malicious,
    id: "server_aided_malicious",
    name: "Intersection by a helper that may cheat",
    source: SOURCE,
    helper_security: Security::Malicious,
    party_security: "one party that deviates in any way",
    assumption: COLLUSION,
    parties: 2..=2,
    all_receive: false,
    helper_learns: HelperLearns {
        learned: &[HelperFact::Parties, HelperFact::SetLens, HelperFact::Count],
        hidden: None,
    },
    party_learns: PartyLearns { answer: Answer::CommonToBoth, both_or_none: false },
    bytes_formula: "each party: about 9 bytes (7 to 11) for each of c n + 2 t labels; and a bit \
                    for each back",
    parameters: CHECKED_PARAMETERS,
};

static FAIR: AidedProtocol = AidedProtocol {
    variant: Variant::Fair,
    id: "server_aided_fair",
    name: "Intersection by a helper, for both parties or none",
    source: SOURCE,
    helper_security: Security::Malicious,
    party_security: "one party that deviates in any way; it learns nothing that the other does not",
    assumption: COLLUSION,
    parties: 2..=2,
    all_receive: true,
    helper_learns: HelperLearns {
        learned: &[HelperFact::Parties, HelperFact::SetLens, HelperFact::Count],
        hidden: None,
    },
    party_learns: PartyLearns { answer: Answer::CommonToBoth, both_or_none: true },
    bytes_formula: "each party: about 9 bytes (7 to 11) for each of c n + 2 t labels, and for each \
                    of n when it opens its list; and a bit for each label back",
    parameters: CHECKED_PARAMETERS,
};

static SIZE_HIDING: AidedProtocol = AidedProtocol {
    variant: Variant::SizeHiding,
    id: "server_aided_size_hiding",
    name: "Intersection with a helper that does not learn its size",
    source: SOURCE,
    helper_security: Security::Malicious,
    party_security: "one party that deviates in any way",
    assumption: COLLUSION,
    parties: 2..=2,
    all_receive: true,
    helper_learns: HelperLearns {
        learned: &[HelperFact::Parties, HelperFact::SetLens],
        hidden: Some(HelperFact::Count),
    },
    party_learns: PartyLearns { answer: Answer::CommonToBoth, both_or_none: false },
    bytes_formula: "for each of the c n + 2 t labels of the first party about 9 bytes (7 to 11) \
                    up, as many down and 5 more; for each of the second party as many up and down, \
                    and a bit for each twice",
    parameters: CHECKED_PARAMETERS,
};

static PET: AidedProtocol = AidedProtocol {
    variant: Variant::Pet,
    id: "pet",
    name: "Equality of one value, with a helper that does not learn it",
    source: SOURCE,
    helper_security: Security::Malicious,
    party_security: "one party that deviates in any way",
    assumption: COLLUSION,
    parties: 2..=2,
    all_receive: true,
    helper_learns: HelperLearns {
        learned: &[HelperFact::Parties],
        hidden: Some(HelperFact::Equality),
    },
    party_learns: PartyLearns { answer: Answer::Equality, both_or_none: false },
    bytes_formula: "as server_aided_size_hiding, for one item each",
    parameters: CHECKED_PARAMETERS,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// log2 of the binomial coefficient.
    fn choose(n: u64, k: u64) -> f64 {
        (0..k).map(|i| ((n - i) as f64).log2() - ((k - i) as f64).log2()).sum()
    }

    /// A helper's best chance, found by trying everything: it drops j of m common items.
    fn best_chance(check: Check, items: u64) -> f64 {
        let (c, t) = (u64::from(check.copies), u64::from(check.dummies));
        let all = (1..=items).flat_map(|m| (1..=m).map(move |j| (m, j)));
        all.map(|(m, j)| choose(m, j) - choose(c * m + t, c * j)).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn the_chance_of_a_cheat_is_the_best_of_all_guesses() {
        for copies in 2..=9 {
            for dummies in [1, 2, 3, 7, 20, 55, 300] {
                for items in [1, 2, 3, 9, 40] {
                    let check = Check { copies, dummies };
                    let (formula, best) = (check.bits(items), -best_chance(check, items));
                    assert!((formula - best).abs() < 1e-6, "{check:?} {items}: {formula} {best}");
                }
            }
        }
    }

    #[test]
    fn the_cheapest_check_reaches_40_bits_and_nothing_cheaper_does() {
        for items in [0, 1, 10, 1000, 1 << 20, 2_000_000, 10_000_000, 1 << 30] {
            let cheapest = Check::cheapest(items);
            assert!(cheapest.bits(items) >= 40.0, "{cheapest:?}");
            for copies in 2..MAX_COPIES {
                // As many dummies as are cheaper.
                let labels = cheapest.labels(items).saturating_sub(1);
                let dummies = labels.saturating_sub(u64::from(copies) * items) / 2;
                let Ok(dummies) = u32::try_from(dummies.min(MAX_DUMMIES.into())) else { continue };
                let other = Check { copies, dummies };
                assert!(
                    dummies == 0 || other.bits(items) < 40.0,
                    "{items}: {other:?} for {cheapest:?}"
                );
            }
        }
    }

    #[test]
    fn the_published_parameters_are_too_weak_for_few_items() {
        // The published bound gives 40 bits and more for all of these.
        for (copies, dummies, items, bits) in
            [(17, 6, 1, 16.6), (11, 16, 10, 23.6), (9, 32, 41, 28.4), (6, 256, 1000, 36.9)]
        {
            let check = Check { copies, dummies };
            assert!(f64::from(copies - 1) * f64::from(dummies).log2() >= 40.0 - 1e-9);
            assert!((check.bits(items) - bits).abs() < 0.1, "{check:?} {}", check.bits(items));
        }
        assert!(Check { copies: 4, dummies: 10_322 }.bits(1 << 20) > 40.0);
        // Covert, with a deterrence of more than half.
        assert!(Check { copies: 2, dummies: 2 }.bits(1 << 20) > 1.0);
    }
}
