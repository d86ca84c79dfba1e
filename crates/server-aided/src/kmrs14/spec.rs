//! What the helper knows of a run before it starts.

use super::catalogue::{Check, Variant};
use super::limits::{LAMBDA, MAX_COPIES, MAX_DUMMIES, MAX_PARTIES};
use vesica_core::hash::derive;
use vesica_labels::{Format, MAX_SCALE};

const ID_LABEL: &str = "vesica kmrs14 2026 run v1";

/// Longest labels, in bits: those of 16 parties with [`MAX_ROWS`](super::MAX_ROWS) rows.
const MAX_LABEL_BITS: u32 = 110;

/// What the helper knows of a run: who takes part, and what to compute. All parties send the same
/// spec, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Which protocol is run.
    pub variant: Variant,
    /// The hash of the parties' agreement; the helper learns nothing else of it.
    pub agreement: [u8; 32],
    /// The parties, 2 to [`MAX_PARTIES`].
    pub parties: Vec<PartySpec>,
    /// How many copies of each item a party sends, c.
    pub copies: u32,
    /// How many dummies of each kind a party adds, t: t in D_0, which all parties add, and t in its
    /// own D_i.
    pub dummies: u32,
}

/// One party of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartySpec {
    /// Its Ed25519 public key.
    pub identity: [u8; 32],
    /// The most rows it may have.
    pub max_rows: u64,
    /// The fewest different items it must enter.
    pub min_rows: u64,
    /// Whether it receives the answer.
    pub receives: bool,
}

impl Spec {
    /// The bytes. The number of parties fixes their length.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![self.variant.code(), self.parties.len() as u8];
        out.extend_from_slice(&self.copies.to_le_bytes());
        out.extend_from_slice(&self.dummies.to_le_bytes());
        out.extend_from_slice(&self.agreement);
        for party in &self.parties {
            out.extend_from_slice(&party.identity);
            out.extend_from_slice(&party.max_rows.to_le_bytes());
            out.extend_from_slice(&party.min_rows.to_le_bytes());
            out.push(u8::from(party.receives));
        }
        out
    }

    /// The spec of these bytes; `None` if it cannot run.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([variant, len], rest) = bytes.split_first_chunk()?;
        let (copies, rest) = rest.split_first_chunk()?;
        let (dummies, rest) = rest.split_first_chunk()?;
        let (agreement, mut rest) = rest.split_first_chunk()?;
        let mut parties = Vec::new();
        for _ in 0..(*len).min(MAX_PARTIES as u8 + 1) {
            let (identity, more) = rest.split_first_chunk()?;
            let (max_rows, more) = more.split_first_chunk()?;
            let (min_rows, more) = more.split_first_chunk()?;
            let ([receives], more) = more.split_first_chunk()?;
            parties.push(PartySpec {
                identity: *identity,
                max_rows: u64::from_le_bytes(*max_rows),
                min_rows: u64::from_le_bytes(*min_rows),
                receives: *receives == 1,
            });
            rest = more;
        }
        let spec = Self {
            variant: Variant::from_code(*variant)?,
            agreement: *agreement,
            parties,
            copies: u32::from_le_bytes(*copies),
            dummies: u32::from_le_bytes(*dummies),
        };
        (spec.is_sound() && spec.to_bytes() == bytes).then_some(spec)
    }

    /// Whether it can run.
    pub fn is_sound(&self) -> bool {
        let row = self.variant.row();
        let mut identities: Vec<_> = self.parties.iter().map(|party| party.identity).collect();
        identities.sort_unstable();
        identities.dedup();
        row.parties.contains(&self.parties.len())
            && identities.len() == self.parties.len()
            && (1..=MAX_COPIES).contains(&self.copies)
            && (1..=MAX_DUMMIES).contains(&self.dummies)
            && self
                .parties
                .iter()
                .all(|party| (1..=self.variant.max_rows()).contains(&party.max_rows))
            && self.parties.iter().all(|party| party.min_rows <= party.max_rows)
            && (0..self.parties.len()).all(|party| self.largest_scale(party) <= MAX_SCALE)
            && self.formats(&self.largest_scales()).is_some()
            && self.parties.iter().any(|party| party.receives)
            && (!row.all_receive || self.parties.iter().all(|party| party.receives))
    }

    /// The copies and dummies.
    pub fn check(&self) -> Check {
        Check { copies: self.copies, dummies: self.dummies }
    }

    /// The name of the run. Two runs of one agreement with the same parties have the same name.
    pub fn id(&self) -> [u8; 32] {
        derive(ID_LABEL, &[&self.to_bytes()])
    }

    /// Labels of a list of `items` different items: c·items + 2t.
    pub fn list_len(&self, items: u64) -> u64 {
        u64::from(self.copies) * items + 2 * u64::from(self.dummies)
    }

    /// Whether `party` may enter a list of `len` labels, written in `format`: whether the list has
    /// the agreed minimum of different items and fits the announced scale, from which the length of
    /// all labels follows.
    pub fn takes(&self, party: usize, format: Format, len: u64) -> bool {
        let least = self.list_len(self.parties[party].min_rows);
        (least..=self.most_labels(party, format)).contains(&len)
    }

    /// Most labels of a list that `party` may enter, written in `format`.
    pub(super) fn most_labels(&self, party: usize, format: Format) -> u64 {
        self.list_len(self.parties[party].max_rows).min(format.list_capacity())
    }

    /// How many different items a list of `len` labels has: (len − 2t) / c.
    pub fn items(&self, len: u64) -> u64 {
        len.saturating_sub(2 * u64::from(self.dummies)) / u64::from(self.copies)
    }

    /// The scale of a party with `rows` rows: ⌈log2(c·rows + 2t)⌉.
    pub fn scale(&self, rows: u64) -> u32 {
        self.list_len(rows).next_power_of_two().ilog2()
    }

    /// The largest scale that `party` may announce.
    pub fn largest_scale(&self, party: usize) -> u32 {
        self.scale(self.parties[party].max_rows)
    }

    fn largest_scales(&self) -> Vec<u32> {
        (0..self.parties.len()).map(|party| self.largest_scale(party)).collect()
    }

    /// How the parties' lists are written, from the scales that they announced, in order. `None`
    /// for scales that the spec does not allow.
    ///
    /// Labels have λ + log N_1 + log N_2 bits, more exactly λ + log Σ N_i·N_j over all pairs of
    /// parties, so that the answer is wrong with probability at most 2^-λ. (The paper takes a bound
    /// on collisions within one set, which gives 2^-20.) If labels are made of labels, the two
    /// layers have one bit more each.
    pub fn formats(&self, scales: &[u32]) -> Option<Vec<Format>> {
        let is_allowed = |(party, scale): (usize, &u32)| *scale <= self.largest_scale(party);
        if scales.len() != self.parties.len() || !scales.iter().enumerate().all(is_allowed) {
            return None;
        }
        let pairs = (0..scales.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let collisions: u128 = pairs.map(|(i, j)| 1 << (scales[i] + scales[j])).sum();
        let layers = u32::from(self.variant.has_two_layers());
        let bits = LAMBDA + collisions.next_power_of_two().ilog2() + layers;
        (bits <= MAX_LABEL_BITS)
            .then(|| scales.iter().map(|scale| Format::new(*scale, bits)).collect())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::kmrs14::MAX_ROWS;

    pub(crate) fn spec(variant: Variant, parties: usize, max_rows: u64) -> Spec {
        let party = |party| PartySpec {
            identity: [party as u8 + 1; 32],
            max_rows,
            min_rows: 0,
            receives: true,
        };
        let agreement = [9; 32];
        Spec {
            variant,
            agreement,
            parties: (0..parties).map(party).collect(),
            copies: 2,
            dummies: 8,
        }
    }

    #[test]
    fn specs_survive_their_bytes_and_nothing_else_is_one() {
        for (variant, parties) in [(Variant::SemiHonest, 16), (Variant::Fair, 2), (Variant::Pet, 2)]
        {
            let spec = spec(variant, parties, 1);
            let bytes = spec.to_bytes();
            assert_eq!(Spec::from_bytes(&bytes), Some(spec.clone()));
            (0..bytes.len()).for_each(|cut| assert_eq!(Spec::from_bytes(&bytes[..cut]), None));
            assert_eq!(Spec::from_bytes(&[bytes, vec![0]].concat()), None);
        }
    }

    #[test]
    fn specs_that_cannot_run_are_refused() {
        let good = spec(Variant::SemiHonest, 3, 1000);
        let bad: [&dyn Fn(&mut Spec); 7] = [
            &|spec| spec.parties.truncate(1),
            &|spec| spec.parties[1].identity = spec.parties[2].identity,
            &|spec| spec.copies = 0,
            &|spec| spec.dummies = MAX_DUMMIES + 1,
            &|spec| spec.parties[0].max_rows = MAX_ROWS + 1,
            &|spec| spec.parties.iter_mut().for_each(|party| party.receives = false),
            &|spec| spec.variant = Variant::Malicious,
        ];
        assert!(good.is_sound());
        for change in bad {
            let mut spec = good.clone();
            change(&mut spec);
            assert_eq!(Spec::from_bytes(&spec.to_bytes()), None);
        }
    }

    #[test]
    fn labels_are_long_enough_for_all_pairs_and_lists_can_be_written() {
        for parties in [2, 3, 16] {
            let mut spec = spec(Variant::SemiHonest, parties, MAX_ROWS);
            (spec.copies, spec.dummies) = (1, 16);
            assert!(spec.is_sound());
            let scales = spec.largest_scales();
            let pairs = (parties * (parties - 1) / 2) as u32;
            for format in spec.formats(&scales).unwrap() {
                assert!(format.label_bits() >= 40 + 2 * 31 + pairs.ilog2());
                assert!(format.label_bits() - format.segment_bits() + 32 <= 128);
            }
            assert_eq!(spec.formats(&scales[1..]), None);
            assert_eq!(spec.formats(&vec![33; parties]), None);
        }
    }
}
