//! The bytes of a run: on the wire, and in the helper's storage.

use super::catalogue::Variant;
use super::fair::inner_format;
use super::party::{DIGEST_LEN, SEAL_LEN};
use super::slot::{Slot, answer_parts, found_parts, relayed_parts};
use super::spec::Spec;
use vesica_labels::Format;

/// Bytes of the number of labels.
const SIZE_LEN: u64 = 8;

/// Most bytes of a slot that the helper fills: a segment of labels, whose number is close to its
/// mean, or a part of places.
const REPLACED_LEN: u64 = 8 << 20;

/// Bytes of a record of intermediate data.
const RECORD_LEN: u64 = 16;

/// The most bytes that a run takes in the helper's storage, at any moment and for anything its
/// parties put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of the slots that each party fills.
    pub put: Vec<u64>,
    /// Bytes of the slots that the helper fills for each party, and of those it keeps about the
    /// party's list.
    pub written: Vec<u64>,
    /// Bytes of intermediate data.
    pub scratch: u64,
}

impl Room {
    /// The sum.
    pub fn total(&self) -> u64 {
        self.put.iter().chain(&self.written).sum::<u64>() + self.scratch
    }
}

/// The bytes of slots, summed.
struct Sum {
    bytes: u64,
    /// Bytes that a slot takes besides its contents.
    overhead_bytes: u64,
}

impl Sum {
    fn add(&mut self, bytes: u64, slots: u32) {
        self.bytes += bytes + self.overhead_bytes * u64::from(slots);
    }
}

impl Spec {
    /// The helper's storage for a run at its peak: the parties announced `scales` and enter the
    /// longest lists that these and the spec allow, and a slot takes at most `overhead_bytes`
    /// in addition to its contents.
    ///
    /// # Panics
    /// For scales that the spec does not allow.
    pub fn room(&self, scales: &[u32], overhead_bytes: u64) -> Room {
        let formats = self.formats(scales).expect("scales that the spec allows");
        let lens: Vec<u64> =
            (0..).zip(&formats).map(|(party, format)| self.most_labels(party, *format)).collect();
        let digest = DIGEST_LEN as u64;
        let list = |sum: &mut Sum, format: Format, len| {
            sum.add(format.list_bytes(len), format.segments());
        };
        let (mut put, mut written) = (Vec::new(), Vec::new());
        for (party, (format, len)) in formats.iter().zip(&lens).enumerate() {
            let sum = || Sum { bytes: 0, overhead_bytes };
            let (mut own, mut ours) = (sum(), sum());
            own.add((Slot::HELLO_MAX_LEN + Slot::SHARE_MAX_LEN) as u64 + SIZE_LEN, 3);
            let (answer, parts_of_answer) = (len.div_ceil(8), answer_parts(*len));
            match (self.variant, party) {
                (Variant::SizeHiding | Variant::Pet, 0) => {
                    list(&mut own, *format, *len);
                    let parts = found_parts(&formats);
                    own.add(lens[1].div_ceil(8) + SEAL_LEN as u64 * u64::from(parts), parts);
                    list(&mut ours, *format, *len);
                    let parts = (len / Slot::PLACES_PART_LEN) as u32 + 1;
                    ours.add(len * Slot::PLACE_LEN, parts);
                }
                (Variant::SizeHiding | Variant::Pet, _) => {
                    let parts = relayed_parts(*format, *len);
                    let sealed = SEAL_LEN as u64 * u64::from(parts);
                    own.add(format.list_bytes(*len) + sealed, parts);
                    own.add(digest + 1, 2);
                    ours.add(2 * digest, 2);
                }
                (Variant::Fair, _) => {
                    list(&mut own, *format, *len);
                    let inner = inner_format(self, &formats, party);
                    list(&mut own, inner, self.items(*len).max(1));
                    own.add(2 * digest, 2);
                    // The helper stores the answer and then sends it.
                    ours.add(2 * answer, 2 * parts_of_answer);
                    ours.add(3 * digest, 2);
                }
                (Variant::SemiHonest | Variant::Malicious, _) => {
                    list(&mut own, *format, *len);
                    if self.parties[party].receives {
                        ours.add(answer, parts_of_answer);
                    }
                }
            }
            put.push(own.bytes);
            written.push(ours.bytes);
        }
        // One list at a time. While a slot is replaced, the old and the new one exist.
        let sorted = match self.variant {
            Variant::SemiHonest | Variant::Malicious => 0,
            Variant::Fair => lens.iter().copied().max().unwrap_or(0),
            Variant::SizeHiding | Variant::Pet => lens[0],
        };
        let replaced =
            written.iter().copied().max().unwrap_or(0).min(REPLACED_LEN) + overhead_bytes;
        Room { put, written, scratch: sorted * RECORD_LEN + replaced }
    }

    /// Exact bytes of all slots that each party puts and gets after the parties have met. The
    /// parties announced `scales` and have `items` different items each. Hellos, shares and
    /// requests add some kilobytes.
    ///
    /// # Panics
    /// For scales that the spec does not allow.
    pub fn bytes(&self, scales: &[u32], items: &[u64]) -> Vec<(u64, u64)> {
        let formats = self.formats(scales).expect("scales that the spec allows");
        let digest = DIGEST_LEN as u64;
        let lens: Vec<u64> = items.iter().map(|items| self.list_len(*items)).collect();
        let list = |party: usize| formats[party].list_bytes(lens[party]);
        let answer = |party: usize| lens[party].div_ceil(8);
        let sizes = SIZE_LEN * (items.len() as u64 - 1);
        if self.variant.hides_size() {
            let seal = SEAL_LEN as u64;
            let relayed = list(1) + seal * u64::from(relayed_parts(formats[1], lens[1]));
            let found = answer(1) + seal * u64::from(answer_parts(lens[1]));
            let first =
                (list(0) + SIZE_LEN + found, sizes + list(0) + relayed + Slot::PLACE_LEN * lens[0]);
            return vec![first, (digest + relayed + SIZE_LEN + 1, 2 * digest + found + sizes)];
        }
        let one = |party: usize| {
            let receives = u64::from(self.parties[party].receives);
            let (mut put, mut got) = (list(party) + SIZE_LEN, receives * answer(party) + sizes);
            if self.variant == Variant::Fair {
                put += inner_format(self, &formats, party).list_bytes(items[party]) + 2 * digest;
                got += 2 * digest + digest + digest;
            }
            (put, got)
        };
        (0..items.len()).map(one).collect()
    }
}
