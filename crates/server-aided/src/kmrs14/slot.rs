//! The slots of the board: all messages between parties and helper.

use super::catalogue::Variant;
use super::spec::Spec;
use vesica_labels::Format;

/// A place on the board: its kind, its party, and which part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// What the slot holds.
    pub kind: Kind,
    /// The party that writes it or, where the helper writes, the party it is for.
    pub party: u8,
    /// Which part, from 0.
    pub part: u32,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// What a slot holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $name = $code,)* }

        impl Kind {
            /// All kinds.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];
        }
    };
}

kinds! {
    /// By each party, for all and the helper: its scale (1 byte), then its hello to the other
    /// parties, signed.
    Hello = 1,
    /// By each party, for the others: its share of the coin toss, sealed.
    Share = 2,
    /// By each party, for the helper: a segment of its list; parts are the segments.
    Labels = 3,
    /// By each party, for the helper and all others: the number of labels in its list (8 bytes),
    /// which is then complete.
    Size = 4,
    /// By the helper, for one party: which labels of its list all parties have, one bit each; parts
    /// of [`Slot::ANSWER_PART_LEN`].
    Answer = 5,
    /// By the helper, for both: its commitments, one digest for each party. Fair protocol.
    Commitment = 6,
    /// By each party, for the helper: a segment of the inner labels of its items. Fair protocol.
    Opened = 7,
    /// By each party, for the helper: the secret of the outer labels and of the dummies. Fair
    /// protocol.
    OuterSecret = 8,
    /// By the helper, for one party: the nonce that opens its commitment, before the answer. Fair
    /// protocol.
    Opening = 9,
    /// By the helper, for the second party: its commitment in their coin toss. Size-hiding
    /// protocol.
    TossCommitment = 10,
    /// By the second party, for the helper: its share of their coin toss. Size-hiding protocol.
    TossShare = 11,
    /// By the helper, for the second party: its own share. Size-hiding protocol.
    TossOpening = 12,
    /// By the helper, for the first party: a segment of its list under the helper's key.
    /// Size-hiding protocol.
    Relabelled = 13,
    /// By the second party, for the first: its list under both keys, sealed; parts of
    /// [`Slot::RELAYED_PART_LEN`], so that their lengths reveal nothing of the labels: the helper
    /// knows one of the keys. Size-hiding protocol.
    Relayed = 14,
    /// By the first party, for the second: which labels of the second party both have, one bit
    /// each, sealed. Size-hiding protocol.
    Found = 15,
    /// By the second party, for the helper: the answer passed its checks (1 byte). Size-hiding
    /// protocol.
    Release = 16,
    /// By the helper, for the first party: the place in its own list of each relabelled label, 5
    /// bytes each; parts of [`Slot::PLACES_PART_LEN`] places; readable once the second party has
    /// released them. Size-hiding protocol.
    Places = 17,
    /// By each party, for the other: a digest of the commitments and sizes that it saw, under the
    /// parties' secret (32 bytes). Fair protocol.
    Seen = 19,
    /// By the helper, for itself: the answer it committed to, for one party. Fair protocol.
    Kept = 18,
}

impl Kind {
    /// The kind of this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Kind::ALL.iter().copied().find(|kind| *kind as u8 == code)
    }

    /// Whether parties write it; the helper writes all other kinds.
    pub fn is_written_by_party(self) -> bool {
        use Kind::*;
        match self {
            Hello | Share | Labels | Size | Seen | Opened | OuterSecret | TossShare | Relayed
            | Found | Release => true,
            Answer | Commitment | Opening | TossCommitment | TossOpening | Relabelled | Places
            | Kept => false,
        }
    }
}

impl Slot {
    /// Bytes of a whole part of an answer: 2^23 labels.
    pub const ANSWER_PART_LEN: u64 = 1 << 20;
    /// Bytes of a whole part of a relayed list, not yet sealed.
    pub const RELAYED_PART_LEN: u64 = 1 << 20;
    /// Places in a whole part of [`Kind::Places`].
    pub const PLACES_PART_LEN: u64 = 1 << 18;
    /// Bytes of a place.
    pub const PLACE_LEN: u64 = 5;
    /// Most bytes of a hello: the scale, and the message to the other parties.
    pub const HELLO_MAX_LEN: usize = 8 << 10;
    /// Most bytes of a share, for all other parties together.
    pub const SHARE_MAX_LEN: usize = 32 << 10;
    /// Most bytes of any slot.
    pub const MAX_LEN: usize = 16 << 20;

    /// The first part of `kind` of `party`.
    pub const fn new(kind: Kind, party: u8) -> Self {
        Self { kind, party, part: 0 }
    }

    /// Part `part` of `kind` of `party`.
    pub const fn part(kind: Kind, party: u8, part: u32) -> Self {
        Self { kind, party, part }
    }

    /// Whether `party` may write here in a run of `spec`.
    pub fn may_be_put_by(self, party: u8, spec: &Spec) -> bool {
        self.party == party && self.kind.is_written_by_party() && self.belongs_to(spec)
    }

    /// Whether `party` may read here in a run of `spec`.
    pub fn may_be_got_by(self, party: u8, spec: &Spec) -> bool {
        use Kind::*;
        if !self.belongs_to(spec) {
            return false;
        }
        let is_own = self.party == party;
        let receives = spec.parties.get(usize::from(party)).is_some_and(|party| party.receives);
        match self.kind {
            Hello | Share | Size | Commitment | Seen => true,
            Relayed => party == 0,
            Found => party == 1,
            Answer | Opening => is_own && receives,
            TossCommitment | TossOpening | Relabelled | Places => is_own,
            Labels | Opened | OuterSecret | TossShare | Release | Kept => false,
        }
    }

    /// Whether a run of `spec` has this slot.
    fn belongs_to(self, spec: &Spec) -> bool {
        use Kind::*;
        use Variant::{Fair, Malicious, Pet, SemiHonest, SizeHiding};
        let hiding = matches!(spec.variant, SizeHiding | Pet);
        usize::from(self.party) < spec.parties.len()
            && match self.kind {
                Hello | Share | Size => true,
                Labels => !hiding || self.party == 0,
                Answer => matches!(spec.variant, SemiHonest | Malicious | Fair),
                Commitment | Seen | Opened | OuterSecret | Opening => spec.variant == Fair,
                TossCommitment | TossShare | TossOpening | Relayed | Release => {
                    hiding && self.party == 1
                }
                Relabelled | Found | Places => hiding && self.party == 0,
                Kept => false,
            }
    }
}

/// Parts of the answer to a list of `len` labels.
pub(super) fn answer_parts(len: u64) -> u32 {
    len.div_ceil(8).div_ceil(Slot::ANSWER_PART_LEN).max(1) as u32
}

/// Parts of [`Kind::Found`], at most.
pub(super) fn found_parts(formats: &[Format]) -> u32 {
    formats.get(1).map_or(0, |format| answer_parts(format.list_capacity()))
}

/// Parts of a relayed list of `len` labels.
pub(super) fn relayed_parts(format: Format, len: u64) -> u32 {
    format.list_bytes(len).div_ceil(Slot::RELAYED_PART_LEN).max(1) as u32
}

#[cfg(test)]
mod tests {
    use super::super::spec::tests::spec;
    use super::*;

    #[test]
    fn kinds_survive_their_codes() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_code(*kind as u8), Some(*kind));
        }
        assert_eq!((Kind::from_code(0), Kind::from_code(200)), (None, None));
    }

    #[test]
    fn a_party_writes_only_its_own_slots_and_only_the_helper_reads_labels() {
        for (variant, parties) in
            [(Variant::SemiHonest, 3), (Variant::Fair, 2), (Variant::SizeHiding, 2)]
        {
            let spec = spec(variant, parties, 1000);
            for kind in Kind::ALL {
                for (writer, owner) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
                    let slot = Slot::new(*kind, owner);
                    assert!(writer == owner || !slot.may_be_put_by(writer, &spec));
                    let secret = matches!(kind, Kind::Labels | Kind::Opened | Kind::OuterSecret);
                    assert!(!(secret && slot.may_be_got_by(writer, &spec)));
                }
            }
            assert!(!Slot::new(Kind::Answer, 0).may_be_got_by(1, &spec));
        }
    }
}
