//! The helper's steps of Figures 1 to 4: what it computes once the slots before it are filled.
//!
//! Nothing here waits. [`advance`] does whatever can be done with what is there, and may be asked again at any
//! time, also after a restart in the middle: what it writes depends on the slots and the run's secret alone.

mod left;
mod lists;
mod opening;

use super::outer;
use super::party::SEAL_LEN;
use super::rows::Variant;
use super::slot::{Kind, Slot};
use super::spec::Spec;
use std::io;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Refusal, Secret};
use vesica_labels::{Bits, Format, List, Scratch, Sorted, Spool, count_segment};
use vesica_net::Pool;

pub use left::{Left, left};
use lists::{Stored, counts, is_whole, of_list, sum};
use opening::Opened;

const NONCE_LABEL: &str = "vesica kmrs14 2026 commitment nonce v1";
const COMMITMENT_LABEL: &str = "vesica kmrs14 2026 commitment v1";
const TOSS_LABEL: &str = "vesica kmrs14 2026 toss share of the helper v1";
const TOSS_COMMITMENT_LABEL: &str = "vesica kmrs14 2026 toss commitment v1";
const TOSSED_LABEL: &str = "vesica kmrs14 2026 tossed key v1";

/// Bytes of a digest, a secret or a share.
pub(super) const DIGEST_LEN: usize = 32;

/// What the steps need of the place where a run's slots are.
pub trait Desk: Sync {
    /// The bytes of a filled slot.
    ///
    /// # Errors
    /// Those of the file system.
    fn read(&self, slot: Slot) -> io::Result<Vec<u8>>;

    /// The first `len` bytes of a filled slot, or all when it has fewer.
    ///
    /// # Errors
    /// Those of the file system.
    fn head(&self, slot: Slot, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = self.read(slot)?;
        bytes.truncate(len);
        Ok(bytes)
    }

    /// Fills a slot, in place of what stood there.
    ///
    /// # Errors
    /// Those of the file system, such as a full disk.
    fn write(&self, slot: Slot, body: &[u8]) -> io::Result<()>;

    /// Returns once all that was filled so far outlasts a failure of the power, so that what is written next never
    /// stands without it. A place that outlasts none has nothing to do.
    ///
    /// # Errors
    /// Those of the file system.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }

    /// Whether a slot is filled.
    fn is_filled(&self, slot: Slot) -> bool;

    /// Random bytes of this run, made once, kept with it and never sent.
    ///
    /// # Errors
    /// Those of the file system.
    fn secret(&self) -> io::Result<[u8; DIGEST_LEN]>;

    /// Where intermediate data goes.
    fn scratch(&self) -> &dyn Scratch;

    /// About how much memory a step may take.
    fn memory_bytes(&self) -> u64;

    /// The threads of a step.
    fn pool(&self) -> &Pool;

    /// Whether the step is to end: asked now and then.
    fn stop(&self) -> bool;

    /// Of each of `lists` the bits of the labels that all of them have; `None` when [`Desk::stop`] said so.
    ///
    /// # Errors
    /// Any [`CommonFailure`].
    fn common(&self, lists: &[List<'_>]) -> Result<Option<Vec<Bits>>, CommonFailure>;
}

/// Why lists could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonFailure {
    /// This one of them is malformed.
    Malformed {
        /// Its place among them.
        list: usize,
    },
    /// The helper's disk is full or fails.
    Storage,
    /// The database that compares them is not there, or fails.
    Backend,
}

/// Whether `body` may stand in `slot`, as far as it can be told now. The writer and the kind are in order:
/// [`Slot::may_be_put_by`].
///
/// # Errors
/// [`Refusal::Malformed`] when not, [`Refusal::Storage`].
pub fn check_put(spec: &Spec, desk: &dyn Desk, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
    use Kind::*;
    let party = usize::from(slot.party);
    let formats = formats(spec, desk)?;
    // Before all have said how much they bring nobody knows how much a run needs, and there is room for hellos alone.
    if formats.is_none() && slot.kind != Hello {
        // Where they had said so a hello has been damaged since, and its party will bring it again.
        let was_complete = desk.is_filled(Slot::new(Share, slot.party));
        return Err(match was_complete {
            true => Refusal::Storage,
            false => Refusal::Malformed { party: slot.party },
        });
    }
    let format = formats.as_ref().map(|formats| formats[party]);
    let is_segment = |format: Option<Format>| {
        format.is_some_and(|format| {
            slot.part < format.segments() && count_segment(format, body).is_ok()
        })
    };
    let is_one = |len: usize| slot.part == 0 && body.len() == len;
    let is_sound = match slot.kind {
        Hello => {
            let scale = body.first().map_or(u32::MAX, |scale| u32::from(*scale));
            slot.part == 0
                && body.len() <= Slot::HELLO_MAX_LEN
                && scale <= spec.largest_scale(party)
        }
        Share => slot.part == 0 && body.len() <= Slot::SHARE_MAX_LEN,
        // After the list was complete this one is empty only where it was lost.
        Labels => is_segment(format),
        Size => {
            let size = body.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
            let (Some(format), Some(size), true) = (format, size, is_one(8)) else {
                return Err(Refusal::Malformed { party: slot.party });
            };
            if size < spec.list_len(spec.parties[party].min_rows) {
                return Err(Refusal::TooFew { party: slot.party });
            }
            spec.takes(party, format, size) && is_complete(spec, desk, slot.party, format, size)?
        }
        Opened => {
            is_segment(formats.map(|formats| outer::inner_format(spec, &formats, party)))
                && desk.is_filled(Slot::new(Commitment, slot.party))
        }
        Seen => is_one(DIGEST_LEN) && desk.is_filled(Slot::new(Commitment, slot.party)),
        // All of the list is there first: what is not there later was lost, and is nobody's fault.
        OuterSecret => {
            is_one(DIGEST_LEN)
                && desk.is_filled(Slot::new(Commitment, slot.party))
                && formats.is_some_and(|formats| {
                    let format = outer::inner_format(spec, &formats, party);
                    is_whole(desk, Opened, slot.party, format.segments())
                })
        }
        TossShare => is_one(DIGEST_LEN),
        Relayed => {
            body.len() <= Slot::RELAYED_PART_LEN as usize + SEAL_LEN
                && format
                    .is_some_and(|format| slot.part < relayed_parts(format, format.list_capacity()))
        }
        Found => {
            body.len() <= Slot::ANSWER_PART_LEN as usize + SEAL_LEN
                && formats.is_some_and(|formats| slot.part < found_parts(&formats))
        }
        Release => is_one(1) && body == [1],
        Answer | Commitment | Opening | TossCommitment | TossOpening | Relabelled | Places
        | Kept => false,
    };
    if is_sound { Ok(()) } else { Err(Refusal::Malformed { party: slot.party }) }
}

/// Whether the list of `party` is there and has `size` labels.
fn is_complete(
    spec: &Spec,
    desk: &dyn Desk,
    party: u8,
    format: Format,
    size: u64,
) -> Result<bool, Refusal> {
    // The helper does not have the second list of the size-hiding protocol.
    if spec.variant.hides_size() && party == 1 {
        return Ok(true);
    }
    let counts = counts(desk, Kind::Labels, party, format)?;
    Ok(counts.is_some_and(|counts| sum(&counts) == size))
}

/// Whether a filled slot may be read yet. In the fair protocol no answer is out before both parties can have theirs; in
/// the size-hiding one (Figure 4, step 11) the first party is told π_3 once the second has let it.
pub fn is_out(spec: &Spec, desk: &dyn Desk, slot: Slot) -> bool {
    desk.is_filled(slot)
        && match slot.kind {
            Kind::Answer | Kind::Opening if spec.variant == Variant::Fair => {
                is_by_all(spec, desk, Kind::Opening)
            }
            Kind::Places => desk.is_filled(Slot::new(Kind::Release, 1)),
            _ => true,
        }
}

/// Whether a party may still end the run for all. In the fair protocol not when both have opened their lists: what one
/// of them then learns the other is to learn, too. Nor later, when what they opened is lost and the answers are there.
pub fn may_be_ended(spec: &Spec, desk: &dyn Desk) -> bool {
    spec.variant != Variant::Fair
        || !is_by_all(spec, desk, Kind::OuterSecret) && !is_opened(spec, desk)
}

/// Whether the fair protocol has found both lists in order, so that an answer may have been told.
fn is_opened(spec: &Spec, desk: &dyn Desk) -> bool {
    (0..spec.parties.len() as u8).any(|party| desk.is_filled(Slot::new(Kind::Opening, party)))
}

fn is_by_all(spec: &Spec, desk: &dyn Desk, kind: Kind) -> bool {
    (0..spec.parties.len() as u8).all(|party| desk.is_filled(Slot::new(kind, party)))
}

/// The scales that the parties announced, once all did.
fn scales(spec: &Spec, desk: &dyn Desk) -> Result<Option<Vec<u32>>, Refusal> {
    let mut scales = Vec::new();
    for party in 0..spec.parties.len() as u8 {
        let slot = Slot::new(Kind::Hello, party);
        if !desk.is_filled(slot) {
            return Ok(None);
        }
        scales.push(
            desk.head(slot, 1).map_err(storage)?.first().map_or(0, |scale| u32::from(*scale)),
        );
    }
    Ok(Some(scales))
}

fn formats(spec: &Spec, desk: &dyn Desk) -> Result<Option<Vec<Format>>, Refusal> {
    Ok(scales(spec, desk)?.and_then(|scales| spec.formats(&scales)))
}

/// Computes what can be computed now, and writes it; whether anything was written.
///
/// # Errors
/// [`Refusal::Malformed`], [`Refusal::OpenedOther`], [`Refusal::OpenedDifferently`] and [`Refusal::AtOdds`], which end the run;
/// [`Refusal::Storage`] and [`Refusal::Backend`], after which it can be tried again.
pub fn advance(spec: &Spec, desk: &dyn Desk) -> Result<bool, Refusal> {
    let Some(formats) = formats(spec, desk)? else { return Ok(false) };
    let run = Steps { spec, desk, formats };
    match spec.variant {
        Variant::SemiHonest | Variant::Malicious => run.answer(),
        Variant::Fair => Ok(run.commit()? | run.open()?),
        Variant::SizeHiding | Variant::Pet => Ok(run.toss()? | run.relabel()?),
    }
}

struct Steps<'a> {
    spec: &'a Spec,
    desk: &'a dyn Desk,
    formats: Vec<Format>,
}

impl Steps<'_> {
    fn parties(&self) -> std::ops::Range<u8> {
        0..self.spec.parties.len() as u8
    }

    fn filled_by_all(&self, kind: Kind) -> bool {
        is_by_all(self.spec, self.desk, kind)
    }

    /// Figure 1, step 3, and Figure 2, step 5: I = ∩ T_i, told to each as bits over its own list.
    fn answer(&self) -> Result<bool, Refusal> {
        let receivers =
            || self.parties().filter(|party| self.spec.parties[usize::from(*party)].receives);
        if !self.filled_by_all(Kind::Size) || self.is_answered(receivers())? {
            return Ok(false);
        }
        let Some(bits) = self.intersect()? else { return Ok(false) };
        for party in receivers() {
            self.write_parts(Kind::Answer, party, bits[usize::from(party)].as_bytes())?;
        }
        Ok(true)
    }

    /// Figure 3, steps 5 and 6: commits to the answer. Bits over a party's own list have the same length whatever
    /// is common, so that they take the place of the paper's padding.
    fn commit(&self) -> Result<bool, Refusal> {
        if !self.filled_by_all(Kind::Size) || self.filled_by_all(Kind::Commitment) {
            return Ok(false);
        }
        let Some(bits) = self.intersect()? else { return Ok(false) };
        let mut commitments = Vec::new();
        for party in self.parties() {
            let bits = &bits[usize::from(party)];
            self.write_parts(Kind::Kept, party, bits.as_bytes())?;
            let mut commitment = Commitment::new(&self.nonce(party)?, party);
            commitment.update(bits.as_bytes());
            commitments.extend_from_slice(&commitment.finish());
        }
        // What was committed to must be there to be opened.
        self.settle()?;
        self.parties()
            .try_for_each(|party| self.write(Slot::new(Kind::Commitment, party), &commitments))?;
        Ok(true)
    }

    /// Figure 3, steps 8 and 9: checks that both lists are what was opened, and only then tells both the answer.
    ///
    /// And that each party will find its answer in order. A party that knows K_2 can look for an inner label whose
    /// outer one is a dummy of the other party's: its list would be as it should be, and the other alone would
    /// find a fault in the answer.
    fn open(&self) -> Result<bool, Refusal> {
        // Both lists were in order once. What is lost of them since keeps nobody from its answer.
        if is_opened(self.spec, self.desk) {
            return self.tell();
        }
        let there = [Kind::Size, Kind::Commitment, Kind::OuterSecret];
        if !there.iter().all(|kind| self.filled_by_all(*kind)) {
            return Ok(false);
        }
        let [first, second] = [0, 1].map(|party| self.read(Slot::new(Kind::OuterSecret, party)));
        let secret = first?;
        if secret != second? {
            return Err(Refusal::OpenedDifferently);
        }
        let secret: [u8; DIGEST_LEN] = secret.try_into().map_err(|_| Refusal::Internal)?;
        let mut found = Vec::new();
        for party in self.parties() {
            match self.opened(&secret, party)? {
                Some(opened) => found.push(opened),
                None => return Ok(false),
            }
        }
        let first = |what| found.iter().zip(self.parties()).find(|(opened, _)| **opened == what);
        if let Some((_, party)) = first(Opened::Other) {
            return Err(Refusal::OpenedOther { party });
        }
        // Whose doing it is the lists do not tell: a label of one that hits another's puts both at odds.
        if first(Opened::AtOdds).is_some() {
            return Err(Refusal::AtOdds);
        }
        self.tell()
    }

    /// Figure 4, step 4: the key that the second party and the helper toss; the helper commits first.
    fn toss(&self) -> Result<bool, Refusal> {
        let [commitment, opening] =
            [Kind::TossCommitment, Kind::TossOpening].map(|kind| Slot::new(kind, 1));
        let own = derive(TOSS_LABEL, &[&self.desk.secret().map_err(storage)?]);
        let mut wrote = false;
        if !self.desk.is_filled(commitment) {
            self.write(commitment, &toss_commitment(&own))?;
            wrote = true;
        }
        if self.desk.is_filled(Slot::new(Kind::TossShare, 1)) && !self.desk.is_filled(opening) {
            self.write(opening, &own)?;
            wrote = true;
        }
        Ok(wrote)
    }

    /// Figure 4, step 6: T'_1 = π_3(F_K2(T_1)), π_3 being the order of the new labels.
    fn relabel(&self) -> Result<bool, Refusal> {
        let format = self.formats[0];
        let there = [Slot::new(Kind::Size, 0), Slot::new(Kind::TossShare, 1)];
        if !there.iter().all(|slot| self.desk.is_filled(*slot)) || self.is_relabelled()? {
            return Ok(false);
        }
        let Some(counts) = self.counts_of_list(0)? else { return Ok(false) };
        let own = derive(TOSS_LABEL, &[&self.desk.secret().map_err(storage)?]);
        let share = self.read(Slot::new(Kind::TossShare, 1))?;
        let key = outer::relabelling_key(tossed_key(&own, &share).expose());
        let stored = Stored { desk: self.desk, kind: Kind::Labels, party: 0 };
        let list =
            List::new(format, &counts, &stored).map_err(|_| Refusal::Malformed { party: 0 })?;
        let mut spool = self.spool(format)?;
        let mut labels = Vec::new();
        let mut kept = Ok(());
        for index in 0..format.segments() {
            if self.desk.stop() {
                return Ok(false);
            }
            list.segment(index, &mut labels).map_err(|error| of_list(error, 0))?;
            let first = list.start(index);
            key.of_values(&labels, |at, label| {
                kept = std::mem::replace(&mut kept, Ok(()))
                    .and_then(|()| spool.push(label, first + at as u64));
            });
        }
        kept.map_err(storage)?;
        self.write_relabelled(&spool.finish().map_err(storage)?, list.len())?;
        Ok(true)
    }

    fn write_relabelled(&self, sorted: &Sorted, len: u64) -> Result<(), Refusal> {
        let format = sorted.format();
        let part_bytes = (Slot::PLACES_PART_LEN * Slot::PLACE_LEN) as usize;
        let (mut places, mut part, mut total) = (Vec::with_capacity(part_bytes), 0, 0);
        for index in 0..format.segments() {
            let segment = sorted.segment(index).map_err(storage)?;
            total += segment.labels.len() as u64;
            for number in &segment.numbers {
                let place = number & !vesica_labels::Segment::FIRST;
                places.extend_from_slice(&place.to_le_bytes()[..Slot::PLACE_LEN as usize]);
                if places.len() == part_bytes {
                    self.write(Slot::part(Kind::Places, 0, part), &places)?;
                    places.clear();
                    part += 1;
                }
            }
            let bytes = sorted.encode(&segment).map_err(storage)?;
            if index + 1 == format.segments() {
                self.write(Slot::part(Kind::Places, 0, part), &places)?;
            }
            self.write(Slot::part(Kind::Relabelled, 0, index), &bytes)?;
        }
        // Two labels that became one: of equally long lists with probability below 2^-40, and N_1 / N_2 times that where
        // this list is the longer one. Nothing wrong comes of it; another run has another key.
        if total == len { Ok(()) } else { Err(Refusal::Internal) }
    }

    /// Whether both what the first party compares and π_3 are there.
    fn is_relabelled(&self) -> Result<bool, Refusal> {
        let places = (self.size(0)? / Slot::PLACES_PART_LEN) as u32 + 1;
        Ok(is_whole(self.desk, Kind::Relabelled, 0, self.formats[0].segments())
            && is_whole(self.desk, Kind::Places, 0, places))
    }

    /// Whether all that each of `parties` is told is there.
    fn is_answered(&self, parties: impl Iterator<Item = u8>) -> Result<bool, Refusal> {
        for party in parties {
            let parts = answer_parts(self.size(party)?);
            if !is_whole(self.desk, Kind::Answer, party, parts) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn intersect(&self) -> Result<Option<Vec<Bits>>, Refusal> {
        let stored: Vec<_> = self
            .parties()
            .map(|party| Stored { desk: self.desk, kind: Kind::Labels, party })
            .collect();
        let mut lists = Vec::new();
        for (stored, format) in stored.iter().zip(&self.formats) {
            let Some(counts) = self.counts_of_list(stored.party)? else { return Ok(None) };
            let list = List::new(*format, &counts, stored);
            lists.push(list.map_err(|error| of_list(error, stored.party))?);
        }
        self.desk.common(&lists).map_err(|failure| match failure {
            CommonFailure::Malformed { list } => Refusal::Malformed { party: list as u8 },
            CommonFailure::Storage => Refusal::Storage,
            CommonFailure::Backend => Refusal::Backend,
        })
    }

    fn spool(&self, format: Format) -> Result<Spool<'_>, Refusal> {
        let number_bits = 128 - (format.label_bits() - format.segment_bits());
        Spool::new(format, number_bits.min(40), self.desk.memory_bytes(), self.desk.scratch())
            .ok_or(Refusal::Internal)
    }

    fn size(&self, party: u8) -> Result<u64, Refusal> {
        let bytes = self.read(Slot::new(Kind::Size, party))?;
        bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).ok_or(Refusal::Internal)
    }

    fn nonce(&self, party: u8) -> Result<[u8; DIGEST_LEN], Refusal> {
        Ok(derive(NONCE_LABEL, &[&self.desk.secret().map_err(storage)?, &[party]]))
    }

    /// Writes an answer in parts, at least one.
    fn write_parts(&self, kind: Kind, party: u8, bytes: &[u8]) -> Result<(), Refusal> {
        let parts = bytes.chunks(Slot::ANSWER_PART_LEN as usize);
        let parts = parts.chain(bytes.is_empty().then_some(&[][..]));
        (0..)
            .zip(parts)
            .try_for_each(|(part, body)| self.write(Slot::part(kind, party, part), body))
    }

    fn read(&self, slot: Slot) -> Result<Vec<u8>, Refusal> {
        self.desk.read(slot).map_err(storage)
    }

    fn write(&self, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
        self.desk.write(slot, body).map_err(storage)
    }

    fn settle(&self) -> Result<(), Refusal> {
        self.desk.settle().map_err(storage)
    }
}

fn storage(_: io::Error) -> Refusal {
    Refusal::Storage
}

/// Parts of the answer to a list of `len` labels.
pub(super) fn answer_parts(len: u64) -> u32 {
    len.div_ceil(8).div_ceil(Slot::ANSWER_PART_LEN).max(1) as u32
}

/// Parts of what the first party of the size-hiding protocol tells the second, at most.
pub(super) fn found_parts(formats: &[Format]) -> u32 {
    formats.get(1).map_or(0, |format| answer_parts(format.list_capacity()))
}

/// Parts of a relayed list of `len` labels.
pub(super) fn relayed_parts(format: Format, len: u64) -> u32 {
    format.list_bytes(len).div_ceil(Slot::RELAYED_PART_LEN).max(1) as u32
}

/// A commitment to an answer: BLAKE3 over a random nonce, the party and the bits.
pub(super) struct Commitment(Transcript);

impl Commitment {
    pub(super) fn new(nonce: &[u8; DIGEST_LEN], party: u8) -> Self {
        Self(Transcript::new(COMMITMENT_LABEL, &[nonce, &[party]]))
    }

    pub(super) fn update(&mut self, bits: &[u8]) {
        self.0.update(bits);
    }

    pub(super) fn finish(self) -> [u8; DIGEST_LEN] {
        self.0.finish()
    }
}

/// The helper's commitment to its share of the coin toss with the second party.
pub(super) fn toss_commitment(share: &[u8]) -> [u8; DIGEST_LEN] {
    derive(TOSS_COMMITMENT_LABEL, &[share])
}

/// The secret of K_2, which the helper and the second party toss.
pub(super) fn tossed_key(helper: &[u8], party: &[u8]) -> Secret<[u8; DIGEST_LEN]> {
    Secret::new(derive(TOSSED_LABEL, &[helper, party]))
}
