//! Space on the disk: a run has everything reserved that it may need, or does not start.
//!
//! The parties' hellos determine how much that is. Until all have arrived, a run may store nothing
//! else.

use super::holding::Reserved;
use super::members::Members;
use super::run::Run;
use crate::locks::{Guard, Lock, Rank};
use crate::store::{SLOT_OVERHEAD_BYTES, Store, charge};
use std::io;
use std::sync::atomic::Ordering;
use vesica_core::{Excess, Limit, Refusal};
use vesica_server_aided::kmrs14::helper::HelperStore;
use vesica_server_aided::kmrs14::{Kind, Room, Slot};

/// Disk limits for all runs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskLimits {
    /// `None` for the share of the disk's size.
    pub(super) max_stored_bytes: Option<u64>,
    pub(super) max_stored_percent: u8,
    pub(super) keep_free_bytes: u64,
}

impl DiskLimits {
    /// Most bytes reserved on a disk of this size, and in this much memory.
    fn most(&self, disk_bytes: u64, memory_bytes: u64) -> u64 {
        let share = u128::from(disk_bytes) * u128::from(self.max_stored_percent) / 100;
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        self.max_stored_bytes.unwrap_or_else(|| share.saturating_add(memory_bytes))
    }
}

/// Why there is no space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// The run alone exceeds a limit of a party, by its position and its name, or of the helper.
    Above { party: Option<(u8, String)>, asked: u64, most: u64 },
    /// Other runs occupy what it needs.
    Taken { party: Option<String>, asked: u64, free: u64 },
    /// The disk does not report its free space.
    Unknown(io::ErrorKind),
}

/// Bytes of the disk that are free now, that it has, and that runs use.
#[derive(Clone, Copy, Default)]
struct DiskNow {
    free: u64,
    size: u64,
    used: u64,
}

impl DiskNow {
    fn of(store: &Store) -> Result<Self, NoRoom> {
        let unknown = |error: io::Error| NoRoom::Unknown(error.kind());
        let (free, size) = store.disk_space().map_err(unknown)?;
        Ok(Self { free, size, used: store.disk_bytes() })
    }
}

/// Space reserved for all runs together.
pub(super) struct Ledger {
    limits: Lock<DiskLimits>,
    reserved: Lock<u64>,
    /// Bytes kept in memory, which take no disk space.
    in_memory_bytes: u64,
}

impl Ledger {
    pub(super) fn new(limits: DiskLimits, in_memory_bytes: u64) -> Self {
        let (limits, reserved) = (Lock::new(Rank::Leaf, limits), Lock::new(Rank::Ledger, 0));
        Self { limits, reserved, in_memory_bytes }
    }

    pub(super) fn set_limits(&self, limits: DiskLimits) {
        *self.limits.lock() = limits;
    }

    pub(super) fn limits(&self) -> DiskLimits {
        *self.limits.lock()
    }

    /// Bytes reserved for all runs.
    pub(super) fn reserved(&self) -> u64 {
        *self.sum()
    }

    /// Reserves `wanted` for `run` in place of its reservation, which stays if there is no space.
    /// With `in_any_case` there always is: the data exists already.
    fn reserve(
        &self,
        members: &Members,
        store: &Store,
        run: &Run,
        wanted: Reserved,
        in_any_case: bool,
    ) -> Result<(), NoRoom> {
        // Before the locks: the file system may be slow.
        let disk = if in_any_case { DiskNow::default() } else { DiskNow::of(store)? };
        let mut sum = self.sum();
        let mut had = run.holding();
        if had.is_over {
            return Ok(());
        }
        let parties: Vec<_> = run.members.iter().map(|number| members.get(*number)).collect();
        let now = |party: usize| parties[party].reserved_bytes.load(Ordering::Relaxed);
        let after =
            |party: usize| now(party) - had.reserved.of_party(party) + wanted.of_party(party);
        let total = *sum - had.reserved.total() + wanted.total();
        if !in_any_case {
            for (party, member) in parties.iter().enumerate() {
                let (asked, limits) = (wanted.of_party(party), member.limits());
                let most = limits.max_stored_bytes;
                if asked > most {
                    let party = Some((party as u8, limits.name.clone()));
                    return Err(NoRoom::Above { party, asked, most });
                }
                // A party that already exceeds its limit may shrink its reservation, but not grow
                // it.
                if after(party) > most.max(now(party)) {
                    let free = most.saturating_sub(after(party) - asked);
                    return Err(NoRoom::Taken { party: Some(limits.name.clone()), asked, free });
                }
            }
            self.check(disk, &wanted, total)?;
        }
        for (party, member) in parties.iter().enumerate() {
            member.reserved_bytes.store(after(party), Ordering::Relaxed);
        }
        *sum = total;
        had.reserved = wanted;
        Ok(())
    }

    /// Checks `wanted` against the limit of all runs and the disk; `total` is the sum with it.
    fn check(&self, disk: DiskNow, wanted: &Reserved, total: u64) -> Result<(), NoRoom> {
        let limits = self.limits();
        let asked = wanted.total();
        let DiskNow { free, size, used } = disk;
        let most = limits.most(size, self.in_memory_bytes);
        if asked > most {
            return Err(NoRoom::Above { party: None, asked, most });
        }
        if total > most {
            let free = most.saturating_sub(total - asked);
            return Err(NoRoom::Taken { party: None, asked, free });
        }
        // The additional disk space that runs will use.
        let on_disk = total.saturating_sub(self.in_memory_bytes);
        let to_come = on_disk.saturating_sub(used);
        if to_come.saturating_add(limits.keep_free_bytes) > free {
            let others = to_come.saturating_sub(asked).saturating_add(limits.keep_free_bytes);
            return Err(NoRoom::Taken { party: None, asked, free: free.saturating_sub(others) });
        }
        Ok(())
    }

    /// Releases the reservation of an ended run.
    pub(super) fn release(&self, members: &Members, run: &Run) {
        let mut sum = self.sum();
        let mut had = run.holding();
        had.is_over = true;
        let reserved = std::mem::take(&mut had.reserved);
        *sum -= reserved.total();
        for (number, bytes) in run.members.iter().zip(reserved.parties) {
            members.get(*number).reserved_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        for (number, bytes) in run.members.iter().zip(std::mem::take(&mut had.used)) {
            members.get(*number).stored_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Reserves what `run` needs after the hello `body` of `party`: for the whole run if it is the
    /// last.
    pub(super) fn admit(
        &self,
        members: &Members,
        store: &Store,
        run: &Run,
        slots: &dyn HelperStore,
        party: u8,
        body: &[u8],
    ) -> Result<(), NoRoom> {
        // A hello is small, and a party has at most as many of them as it may have runs.
        let (wanted, is_small) = match whole(run, slots, Some((party, body))) {
            Ok(Some(room)) => (Reserved::of(room), false),
            Ok(None) => {
                let mut wanted = run.holding().reserved();
                wanted.parties.resize(run.members.len(), 0);
                let own = &mut wanted.parties[usize::from(party)];
                *own = (*own).max(charge(body.len() as u64));
                (wanted, true)
            }
            Err(error) => return Err(NoRoom::Unknown(error.kind())),
        };
        self.reserve(members, store, run, wanted, is_small)
    }

    /// Reserves space for a run whose data exists already, regardless of limits.
    ///
    /// # Errors
    /// If its hellos cannot be read.
    pub(super) fn take_on(
        &self,
        members: &Members,
        store: &Store,
        run: &Run,
        slots: &dyn HelperStore,
    ) -> io::Result<()> {
        let held =
            || Reserved { parties: run.store.charges(run.members.len()), ..Reserved::default() };
        let wanted = match whole(run, slots, None) {
            Ok(Some(room)) => Reserved::of(room),
            // A hello is missing or damaged: existing data counts until its party returns.
            Ok(None) => held(),
            Err(error) if is_damage(&error) => held(),
            Err(error) => return Err(error),
        };
        // Existing data cannot be refused.
        let _ = self.reserve(members, store, run, wanted, true);
        Ok(())
    }

    /// Restores the reservation from before a hello that could not be stored.
    pub(super) fn restore(&self, members: &Members, store: &Store, run: &Run, before: Reserved) {
        let _ = self.reserve(members, store, run, before, true);
    }

    fn sum(&self) -> Guard<'_, u64> {
        self.reserved.lock()
    }
}

/// The needs of the whole run if all hellos are known, including `coming`; `None` while one is
/// missing.
fn whole(
    run: &Run,
    slots: &dyn HelperStore,
    coming: Option<(u8, &[u8])>,
) -> io::Result<Option<Room>> {
    let spec = &run.record.spec;
    let mut scales = Vec::new();
    for party in 0..run.parties() {
        let slot = Slot::new(Kind::Hello, party);
        let scale = match coming {
            Some((other, body)) if other == party => body.first().copied(),
            _ if !slots.is_filled(slot) => return Ok(None),
            // Reads all of it, so that damage is detected.
            _ => slots.read(slot)?.first().copied(),
        };
        scales.push(u32::from(scale.ok_or(io::ErrorKind::InvalidData)?));
    }
    // Each is allowed for its party, so all together are.
    let is_sound = spec.formats(&scales).is_some();
    Ok(is_sound.then(|| spec.room(&scales, SLOT_OVERHEAD_BYTES)))
}

fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::NotFound)
}

impl NoRoom {
    /// The refusal for the party; also writes a line to the log.
    pub(super) fn refusal(&self, run: &str) -> Refusal {
        match self {
            NoRoom::Above { party, asked, most } => {
                let (place, name) = party.as_ref().map(|(place, name)| (*place, &**name)).unzip();
                let limit = party.as_ref().map_or(Limit::StoredByAll, |_| Limit::StoredByParty);
                let (asked, allowed, setting) = (mb(*asked), most >> 20, limit.setting());
                tracing::info!(party = name, run, limit = setting, asked, allowed, "above a limit");
                Refusal::OverLimit(Excess::new(place, limit, allowed))
            }
            NoRoom::Taken { party, asked, free } => {
                let (asked_mb, free_mb) = (mb(*asked), free >> 20);
                let party = party.as_deref();
                tracing::warn!(party, run, asked_mb, free_mb, "no space for a run now");
                Refusal::NoRoom
            }
            NoRoom::Unknown(kind) => {
                tracing::error!(error = %kind, "the helper's directory cannot be written or read");
                Refusal::Storage
            }
        }
    }
}

/// Megabytes, rounded up.
fn mb(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_together_have_their_share_of_the_disk() {
        let limits = |max_stored_bytes, max_stored_percent| DiskLimits {
            max_stored_bytes,
            max_stored_percent,
            keep_free_bytes: 100,
        };
        let disk = DiskNow { free: 900, size: 1000, used: 0 };
        let check = |limits, memory_bytes, wanted: u64, total| {
            let wanted = Reserved { scratch: wanted, ..Reserved::default() };
            Ledger::new(limits, memory_bytes).check(disk, &wanted, total)
        };
        let above = |asked, most| Err(NoRoom::Above { party: None, asked, most });
        let taken = |asked, free| Err(NoRoom::Taken { party: None, asked, free });
        assert_eq!(check(limits(None, 60), 0, 600, 600), Ok(()));
        assert_eq!(check(limits(None, 60), 0, 601, 601), above(601, 600));
        assert_eq!(check(limits(None, 60), 0, 200, 601), taken(200, 199));
        // Slots in memory use no disk.
        assert_eq!(check(limits(None, 60), 50, 650, 650), Ok(()));
        // The number of bytes counts in place of the share, either way.
        assert_eq!(check(limits(Some(700), 60), 0, 700, 700), Ok(()));
        assert_eq!(check(limits(Some(500), 60), 0, 501, 501), above(501, 500));
        // And the free space of the disk in any case.
        assert_eq!(check(limits(None, 100), 0, 800, 800), Ok(()));
        assert_eq!(check(limits(None, 100), 0, 801, 801), taken(801, 800));
        assert_eq!(limits(None, 100).most(u64::MAX, u64::MAX), u64::MAX);
    }
}
