//! The memory and disk that a run needs, as far as they follow from the rows.

use std::path::PathBuf;
use vesica_agreement::split::{self, Joined};
use vesica_agreement::{Agreement, PartyTerms, Roles};
use vesica_core::{Operation, PsiParams, Role, SessionId};
use vesica_engine::disk::{SCRATCH_DEFAULT, disk_bytes};
use vesica_engine::{ConfigFault, Error};
use vesica_protocols::Protocol;
use vesica_scratch::FolderScratch;

/// The needs of an intersection between two parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The folder for intermediate data.
    pub folder: PathBuf,
    /// Upper bound on the bytes in it; 0 if all stays in memory.
    pub disk_bytes: u64,
    /// Free bytes in it.
    pub free_bytes: u64,
    /// The minimum memory against the largest set that the other side may bring; `None` if no
    /// protocol of the agreement splits sets.
    pub least_memory_bytes: Option<u64>,
    /// The minimum memory against the smallest set.
    pub least_against_smallest: Option<u64>,
    /// The memory limit.
    pub memory_bytes: u64,
    /// Whether this party's set is split for any size of the other side's set.
    pub is_large: bool,
}

impl Needs {
    /// What a run of `agreement` needs with a file of this many `rows` of `party`, within
    /// `memory_bytes`; `None` for another operation, and with a helper.
    ///
    /// # Errors
    /// [`ConfigFault::Scratch`] if the free space of the folder cannot be determined.
    pub fn of(
        agreement: &Agreement,
        party: &str,
        rows: u64,
        memory_bytes: u64,
        scratch: Option<PathBuf>,
    ) -> Result<Option<Self>, Error> {
        if agreement.helper.is_some() || agreement.operation() != Operation::Intersection {
            return Ok(None);
        }
        let peer = agreement.peer_of(party);
        let items = rows.saturating_mul(agreement.items_per_row());
        let least_memory_bytes = least_memory(agreement, party, [items, peer.max_items()]);
        let least_against_smallest = least_memory(agreement, party, [items, peer.min_rows]);
        let is_large = items > agreement.partition_rows && least_memory_bytes.is_some();
        let folder = scratch.unwrap_or_else(|| SCRATCH_DEFAULT.into());
        let free = FolderScratch::new(folder.clone()).free_bytes();
        let free_bytes = free
            .map_err(|error| ConfigFault::Scratch { folder: folder.clone(), kind: error.kind() })?;
        let disk_bytes = disk_bytes(items, is_large, memory_bytes);
        Ok(Some(Self {
            folder,
            disk_bytes,
            free_bytes,
            least_memory_bytes,
            least_against_smallest,
            memory_bytes,
            is_large,
        }))
    }

    /// Why a run would end for lack of memory or disk.
    pub fn fault(&self) -> Option<ConfigFault> {
        let least = self.least_against_smallest.filter(|_| self.is_large);
        match least {
            Some(least) if self.memory_bytes < least => {
                Some(ConfigFault::MemoryTooSmall { least, given: self.memory_bytes })
            }
            _ if self.disk_bytes > self.free_bytes => Some(ConfigFault::ScratchTooSmall {
                folder: self.folder.clone(),
                needed: self.disk_bytes,
                free: self.free_bytes,
            }),
            _ => None,
        }
    }
}

/// The minimum memory for any protocol that splits the sets of `party` and of the other party,
/// which have these sizes.
fn least_memory(agreement: &Agreement, party: &str, [items, theirs]: [u64; 2]) -> Option<u64> {
    let [here, there] = if agreement.hide_sizes {
        [agreement.terms_of(party), agreement.peer_of(party)].map(PartyTerms::max_items)
    } else {
        [items, theirs]
    };
    let by_seat = match agreement.role_of(party) {
        Role::Sender => [here, there],
        _ => [there, here],
    };
    let session = SessionId::from_bytes([0; 32]);
    let allowed = Roles::allowed(agreement, session, by_seat).ok()?;
    let of = |row: &'static Protocol, params: &PsiParams| {
        let plan = split::plan(row, params);
        let is_split = plan.is_split() && split::joined(row, params) == Some(Joined::Sets);
        is_split.then(|| split::least_memory(plan, params))
    };
    let of_roles = |roles: &Roles| {
        agreement.candidates().iter().filter_map(|row| of(row, &roles.params)).max()
    };
    allowed.iter().filter_map(of_roles).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let needs = |memory_bytes, free_bytes, is_large| Needs {
            folder: ".".into(),
            disk_bytes: 100,
            free_bytes,
            least_memory_bytes: Some(60),
            least_against_smallest: Some(50),
            memory_bytes,
            is_large,
        };
        assert!(needs(50, 100, true).fault().is_none());
        assert!(needs(49, 100, false).fault().is_none(), "the other set may be small");
        let memory = needs(49, 99, true).fault();
        assert!(matches!(memory, Some(ConfigFault::MemoryTooSmall { least: 50, given: 49 })));
        let disk = needs(50, 99, false).fault();
        let is_disk = |fault: &ConfigFault| {
            matches!(fault, ConfigFault::ScratchTooSmall { needed: 100, free: 99, .. })
        };
        assert!(disk.as_ref().is_some_and(is_disk), "{disk:?}");
    }
}
