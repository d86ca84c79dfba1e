//! The description of a run, and the names of its files.

use super::file::DIGEST_LEN;
use std::time::{Duration, SystemTime};
use vesica_helper_wire::Instance;
use vesica_server_aided::kmrs14::{Kind, Slot, Spec};

/// Names a run: the hash of its description.
pub(crate) type RunId = [u8; 32];

/// Bytes of a block in most file systems.
const BLOCK_LEN: u64 = 4096;

/// Most bytes that a slot takes on the disk beyond its own.
pub(crate) const SLOT_OVERHEAD_BYTES: u64 = DIGEST_LEN as u64 + BLOCK_LEN - 1;

/// The description of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) spec: Spec,
    pub(crate) instance: Instance,
    pub(crate) created: SystemTime,
    /// The party that started it, by its number in the spec.
    pub(crate) opener: u8,
}

impl Record {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let age = self.created.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut out = age.as_secs().to_le_bytes().to_vec();
        out.extend_from_slice(&self.instance);
        out.push(self.opener);
        out.extend_from_slice(&self.spec.to_bytes());
        out
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (created, rest) = bytes.split_first_chunk()?;
        let (instance, rest) = rest.split_first_chunk()?;
        let (opener, spec) = rest.split_first()?;
        let spec = Spec::from_bytes(spec)?;
        let created = Duration::from_secs(u64::from_le_bytes(*created));
        let created = SystemTime::UNIX_EPOCH.checked_add(created)?;
        let is_party = usize::from(*opener) < spec.parties.len();
        is_party.then_some(Self { spec, instance: *instance, created, opener: *opener })
    }
}

/// The disk space of a slot of `len` bytes: its bytes and its digest, in whole blocks.
pub(crate) fn charge(len: u64) -> u64 {
    (len + DIGEST_LEN as u64).next_multiple_of(BLOCK_LEN)
}

pub(super) fn file_name(slot: Slot) -> String {
    format!("{:02x}-{:02x}-{:08x}", slot.kind as u8, slot.party, slot.part)
}

pub(super) fn slot_of(name: &str) -> Option<Slot> {
    let mut numbers = name.split('-').map(|word| u32::from_str_radix(word, 16).ok());
    let [kind, party, part] = [numbers.next()??, numbers.next()??, numbers.next()??];
    let kind = Kind::from_code(u8::try_from(kind).ok()?)?;
    let slot = Slot::part(kind, u8::try_from(party).ok()?, part);
    (file_name(slot) == name).then_some(slot)
}

pub(super) fn done_of(name: &str) -> Option<u32> {
    let party = u32::from_str_radix(name.strip_prefix("done-")?, 16).ok()?;
    (party < u16::BITS).then_some(party)
}

/// Labels in a segment: the number at its beginning.
pub(super) fn labels_of(slot: Slot, body: &[u8]) -> u64 {
    let count = body.first_chunk().map_or(0, |count| u64::from(u32::from_le_bytes(*count)));
    if slot.kind == Kind::Labels { count } else { 0 }
}

pub(super) fn name_of(id: &RunId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn id_of(name: &str) -> Option<RunId> {
    let mut id = [0; 32];
    let digits = name.as_bytes();
    let is_hex = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if digits.len() != 64 || !is_hex {
        return None;
    }
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&name[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(id)
}
