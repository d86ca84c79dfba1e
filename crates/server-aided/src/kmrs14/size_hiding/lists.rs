//! Figure 4, steps 6 and 7: the lists T'_1 and T'_2 on their way to P_1.

use crate::kmrs14::board::{Board, Wanted};
use crate::kmrs14::list::{OwnList, SentList, storage};
use crate::kmrs14::party::{DIGEST_LEN, PartySteps, SEAL_LEN, of_list};
use crate::kmrs14::slot::{Kind, Slot, relayed_parts};
use std::io;
use std::sync::Mutex;
use vesica_core::hash::Transcript;
use vesica_core::{Misbehaviour, Result};
use vesica_labels::{Format, Label, LabelKey, List, Segments, count_segment};
use vesica_scratch::ScratchFile;

const FETCHED_LABEL: &str = "vesica kmrs14 2026 list of the helper's v1";

impl PartySteps<'_> {
    /// Step 6 of P_1: receives T'_1 of `len` labels into intermediate storage.
    pub(super) fn fetch_relabelled(
        &self,
        board: &mut dyn Board,
        format: Format,
        len: u64,
    ) -> Result<Fetched> {
        let mut file = self.means.scratch.create().map_err(storage)?;
        let mut digest = Transcript::new(FETCHED_LABEL, &[]);
        let (mut places, mut counts) = (Vec::new(), Vec::new());
        // Labels are spread evenly over the segments; a full segment would be eight times as long.
        let [max_len, expected_len] =
            [format.segment_capacity(), len.div_ceil(u64::from(format.segments()))]
                .map(|labels| (format.segment_bytes(labels) as usize).min(Slot::MAX_LEN));
        let wanted: Vec<_> = (0..format.segments())
            .map(|index| Slot::part(Kind::Relabelled, 0, index))
            .map(|slot| Wanted { slot, max_len, expected_len })
            .collect();
        board.get_each(&wanted, &mut |_, body| {
            counts.push(count_segment(format, &body).map_err(of_list)?);
            places.push(Place { offset: file.len(), len: body.len() });
            digest.update(&body);
            file.append(&body).map_err(storage)
        })?;
        let digest = digest.finish();
        Ok(Fetched { format, file: Mutex::new(file), places, counts, digest })
    }

    /// Step 7 of P_2: sends T'_2 through the helper, sealed, in parts of one length.
    pub(super) fn relay(&self, board: &mut dyn Board, t_2_prime: OwnList) -> Result<SentList> {
        let most = relayed_parts(self.format(), self.format().list_capacity());
        let filled =
            if self.boards.is_new() { Vec::new() } else { board.filled(Kind::Relayed, most)? };
        let (mut part, mut total) = (0_u32, 0);
        let mut waiting: Vec<u8> = Vec::new();
        let part_len = Slot::RELAYED_PART_LEN as usize;
        let mut put = |waiting: &[u8]| -> Result<()> {
            if !filled.get(part as usize).copied().unwrap_or(false) {
                let body = self.run.seal.seal(Kind::Relayed, part, waiting.to_vec())?;
                board.put(Slot::part(Kind::Relayed, 1, part), &body)?;
            }
            part += 1;
            Ok(())
        };
        for index in 0..self.format().segments() {
            let segment = t_2_prime.encoded(index)?;
            total += segment.labels;
            waiting.extend_from_slice(&segment.bytes);
            let whole = waiting.len() / part_len * part_len;
            waiting[..whole].chunks(part_len).try_for_each(&mut put)?;
            waiting.drain(..whole);
        }
        if !waiting.is_empty() {
            put(&waiting)?;
        }
        Ok(t_2_prime.sent(total))
    }

    /// Step 7 of P_1: receives T'_2 of `len` labels into intermediate storage.
    pub(super) fn fetch_relayed(
        &self,
        board: &mut dyn Board,
        format: Format,
        len: u64,
    ) -> Result<Fetched> {
        let mut file = self.means.scratch.create().map_err(storage)?;
        let total = format.list_bytes(len);
        let wanted: Vec<_> = (0..relayed_parts(format, len))
            .map(|part| {
                let rest = total - u64::from(part) * Slot::RELAYED_PART_LEN;
                let expected = rest.min(Slot::RELAYED_PART_LEN) as usize;
                Wanted::new(Slot::part(Kind::Relayed, 1, part), expected + SEAL_LEN)
            })
            .collect();
        board.get_each(&wanted, &mut |part, body| {
            let body = self.run.seal.open(Kind::Relayed, part as u32, body)?;
            if body.len() + SEAL_LEN != wanted[part].max_len {
                return Err(Misbehaviour::InvalidValue.into());
            }
            file.append(&body).map_err(storage)
        })?;
        let (mut places, mut counts, mut offset) = (Vec::new(), Vec::new(), 0);
        for _ in 0..format.segments() {
            let mut head = [0; 4];
            if offset + 4 > total {
                return Err(Misbehaviour::InvalidValue.into());
            }
            file.read_exact_at(offset, &mut head).map_err(storage)?;
            let count = u32::from_le_bytes(head);
            let bytes = format.segment_bytes(u64::from(count));
            if u64::from(count) > format.segment_capacity() || offset + bytes > total {
                return Err(Misbehaviour::InvalidValue.into());
            }
            places.push(Place { offset, len: bytes as usize });
            counts.push(count);
            offset += bytes;
        }
        // No digest: the other party sealed it, and seals one list only.
        Ok(Fetched { format, file: Mutex::new(file), places, counts, digest: [0; DIGEST_LEN] })
    }
}

/// A list that P_1 received.
pub(super) struct Fetched {
    format: Format,
    file: Mutex<Box<dyn ScratchFile>>,
    /// The place of each segment.
    places: Vec<Place>,
    counts: Vec<u32>,
    /// The digest of the list.
    pub(super) digest: [u8; DIGEST_LEN],
}

/// The place of a segment in intermediate storage.
struct Place {
    offset: u64,
    len: usize,
}

impl Fetched {
    pub(super) fn len(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    pub(super) fn list(&self) -> Result<List<'_>> {
        List::new(self.format, &self.counts, self).map_err(of_list)
    }
}

impl Segments for Fetched {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        let place = &self.places[index as usize];
        let mut out = vec![0; place.len];
        self.file
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .read_exact_at(place.offset, &mut out)?;
        Ok(out)
    }
}

/// F_K2 of the labels that `produce` gives, truncated to `format` first. Calls `take` with each
/// label and the value that `produce` gave with it.
pub(super) fn relabelled<T: Copy>(
    f_k2: &LabelKey,
    format: Format,
    take: &mut dyn FnMut(Label, T) -> io::Result<()>,
    produce: impl FnOnce(&mut dyn FnMut(Label, T) -> io::Result<()>) -> io::Result<()>,
) -> io::Result<()> {
    let (mut labels, mut of) = (Vec::new(), Vec::new());
    produce(&mut |label, what| {
        labels.push(format.truncated(label));
        of.push(what);
        Ok(())
    })?;
    let mut result = Ok(());
    f_k2.of_values(&labels, |at, label| {
        if result.is_ok() {
            result = take(label, of[at]);
        }
    });
    result
}
