//! The catalogue's rows of protocols with a helper.

use super::spec::{MAX_PARTIES, MAX_ROWS, Spec};
use crate::Security;
use crate::catalogue::Parameter;
use std::ops::RangeInclusive;
use vesica_core::{ParameterError, Result};

const SOURCE: &str = "S. Kamara, P. Mohassel, M. Raykova, S. Sadeghian, \"Scaling Private Set Intersection to \
                      Billion-Element Sets\", Financial Cryptography 2014";

/// Which protocol with a helper is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Figure 1: the helper follows the protocol.
    SemiHonest,
    /// Figure 2: the helper deviates in any way.
    Malicious,
    /// Figure 3: and both parties learn the answer, or none.
    Fair,
    /// Figure 4: and the helper does not learn how many items are common.
    SizeHiding,
    /// Section 1.2: Figure 4 for one item each, a private equality test.
    Pet,
}

/// A row of the catalogue for a protocol with a helper.
#[derive(Debug)]
pub struct AidedProtocol {
    /// Which.
    pub variant: Variant,
    /// The name in an agreement and on the command line.
    pub id: &'static str,
    /// A name for people.
    pub name: &'static str,
    /// Where it was published, and the figure implemented.
    pub source: &'static str,
    /// Against what kind of helper it protects, one that colludes with no party.
    pub helper_security: Security,
    /// Against what kind of parties it protects when the helper follows the protocol.
    pub party_security: &'static str,
    /// What is believed to be hard, and what is taken for granted.
    pub assumption: &'static str,
    /// How many parties it takes.
    pub parties: RangeInclusive<usize>,
    /// Whether all parties must receive the answer.
    pub all_receive: bool,
    /// What the helper learns.
    pub helper_learns: &'static str,
    /// What a party that receives the answer learns.
    pub party_learns: &'static str,
    /// [`super::bytes`] in words.
    pub bytes_formula: &'static str,
    /// The parameters a reviewer asks for.
    pub parameters: &'static [Parameter],
}

impl Variant {
    /// All of them, in the order of the catalogue.
    pub const ALL: [Variant; 5] =
        [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding, Variant::Pet];

    /// Its row.
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

    /// Whether the helper does not compute the answer, but the first party does.
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
    /// The cheapest for lists of `items` different items with which a helper that cheats goes unnoticed with a
    /// probability of at most t^-(c-1) ≤ 2^-40 (Theorem 2): the one with the fewest labels c·n + 2t.
    ///
    /// At 2^20 items four copies and 10,322 dummies. The paper's three and 10^6 give 2^-39.86.
    pub fn cheapest(items: u64) -> Self {
        let candidates = (2..=super::spec::MAX_COPIES).filter_map(|copies| {
            // The fewest dummies whose power reaches 2^40.
            let exponent = copies - 1;
            let reaches = |t: u64| {
                (0..exponent)
                    .try_fold(1_u128, |power, _| {
                        let power = power * u128::from(t);
                        if power >= 1 << 40 { None } else { Some(power) }
                    })
                    .is_none()
            };
            let root = (2..).find(|t| reaches(*t) || *t > 1 << 21)?;
            let dummies = u32::try_from(root).ok().filter(|_| reaches(root))?;
            Some(Self { copies, dummies })
        });
        candidates
            .min_by_key(|check| check.labels(items))
            .unwrap_or(Self { copies: 4, dummies: 10_322 })
    }

    /// Labels that a party with `items` different items sends.
    pub fn labels(&self, items: u64) -> u64 {
        u64::from(self.copies) * items + 2 * u64::from(self.dummies)
    }

    /// −log2 of the probability that a helper that cheats goes unnoticed: (c − 1)·log2 t.
    pub fn bits(&self) -> f64 {
        f64::from(self.copies - 1) * f64::from(self.dummies).log2()
    }
}

impl Spec {
    /// The copies and dummies.
    pub fn check(&self) -> Check {
        Check { copies: self.copies, dummies: self.dummies }
    }
}

const COLLUSION: &str = "AES-128 is a pseudorandom permutation; the helper colludes with no party: together with one \
                         it could test every guess against the others' sets";

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "length of labels",
        value: "40 + log2 of the sum of N_i N_j over all pairs of parties, up to a whole number of bytes",
        source: "union bound; the paper's 80 to 100 bits of section 3.1 bound collisions within one set only",
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
        value: "the fewest labels c n + 2 t with t^-(c-1) at most 2^-40",
        source: "Theorem 2; at 2^20 items 4 and 10,322",
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
    helper_learns: "who takes part, the size of each set, and how many items each group of parties has in common",
    party_learns: "which of its items all parties have, and the size of each other set",
    bytes_formula: "each party: 9 or 10 bytes an item; and a bit an item back",
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
    helper_learns: "who takes part, the size of each set, and how many items are common",
    party_learns: "which of its items both parties have, and the size of the other set",
    bytes_formula: "each party: 9 or 10 bytes for each of c n + 2 t labels; and a bit for each back",
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
    helper_learns: "who takes part, the size of each set, and how many items are common",
    party_learns: "which of its items both parties have, and the size of the other set; either both learn it or none",
    bytes_formula: "each party: 9 or 10 bytes for each of c n + 2 t labels, and for each of n when it opens its list; \
                    and a bit for each label back",
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
    helper_learns: "who takes part and the size of each set; not how many items are common",
    party_learns: "which of its items both parties have, and the size of the other set",
    bytes_formula: "for each of the c n + 2 t labels of the first party 9 or 10 bytes up, as many down and 5 more; \
                    for each of the second party as many up and down, and a bit for each twice",
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
    helper_learns: "who takes part; not whether the values are equal",
    party_learns: "whether the two values are equal",
    bytes_formula: "as server_aided_size_hiding, for one item each",
    parameters: CHECKED_PARAMETERS,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_check_reaches_40_bits_and_nothing_cheaper_does() {
        for items in [0, 1, 1000, 1 << 20, 2_000_000, 2_200_000, 1 << 30] {
            let cheapest = Check::cheapest(items);
            assert!(cheapest.bits() >= 40.0, "{cheapest:?}");
            for copies in 2..40 {
                for dummies in [
                    2, 8, 31, 32, 52, 53, 255, 256, 1023, 1024, 10_321, 10_322, 1_048_575,
                    1_048_576,
                ] {
                    let other = Check { copies, dummies };
                    // Powers are exact at these sizes.
                    let enough =
                        (f64::from(dummies)).powi(copies as i32 - 1) >= (1_u64 << 40) as f64;
                    assert!(
                        !enough || other.labels(items) >= cheapest.labels(items),
                        "{items}: {other:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_published_numbers_of_copies_and_dummies_come_out() {
        assert_eq!(Check::cheapest(1 << 20), Check { copies: 4, dummies: 10_322 });
        assert_eq!(Check::cheapest(4 << 20), Check { copies: 3, dummies: 1 << 20 });
        let papers = Check { copies: 3, dummies: 1_000_000 };
        assert!((39.8..39.9).contains(&papers.bits()));
        assert_eq!(Check { copies: 2, dummies: 2 }.bits(), 1.0);
    }
}
