//! One run's space on the disk.

use vesica_server_aided::kmrs14::Room;

/// Space reserved for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reserved {
    /// For each party.
    pub(super) parties: Vec<u64>,
    /// For no party: intermediate data.
    pub(super) scratch: u64,
    /// The most that each party may put, after all hellos.
    pub(super) most: Option<Vec<u64>>,
}

impl Reserved {
    pub(super) fn of(room: Room) -> Self {
        let parties = room.put.iter().zip(&room.written).map(|(put, written)| put + written);
        Self { parties: parties.collect(), scratch: room.scratch, most: Some(room.put) }
    }

    pub(super) fn total(&self) -> u64 {
        self.parties.iter().sum::<u64>() + self.scratch
    }

    pub(super) fn of_party(&self, party: usize) -> u64 {
        self.parties.get(party).copied().unwrap_or(0)
    }
}

/// One run's space on the disk: what is reserved, and what its parties have put.
#[derive(Default)]
pub(super) struct Holding {
    pub(super) reserved: Reserved,
    pub(super) used: Vec<u64>,
    pub(super) is_over: bool,
}

impl Holding {
    /// Of a run in which the parties have put these many bytes each.
    pub(super) fn new(used: Vec<u64>) -> Self {
        Self { used, ..Self::default() }
    }

    /// The reserved space.
    pub(super) fn reserved(&self) -> Reserved {
        self.reserved.clone()
    }

    /// Counts `bytes` that `party` is about to put; returns whether it may, and `None` before its
    /// limit is known.
    pub(super) fn put(&mut self, party: usize, bytes: u64) -> Option<bool> {
        let most = self.reserved.most.as_ref()?.get(party)?;
        let used = self.used.get_mut(party)?;
        let fits = *used + bytes <= *most;
        *used += if fits { bytes } else { 0 };
        Some(fits)
    }

    /// Counts a hello, for which there is always space.
    pub(super) fn put_hello(&mut self, party: usize, bytes: u64) {
        if let Some(used) = self.used.get_mut(party) {
            *used += bytes;
        }
    }

    /// Reverts the count of a failed put; returns the bytes to subtract from the party's sum.
    pub(super) fn take_back(&mut self, party: usize, bytes: u64) -> u64 {
        let Some(used) = self.used.get_mut(party) else { return 0 };
        let back = bytes.min(*used);
        *used -= back;
        back
    }

    /// Replaces the counts of the parties; returns the earlier ones.
    pub(super) fn recount(&mut self, used: Vec<u64>) -> Vec<u64> {
        std::mem::replace(&mut self.used, used)
    }
}
