//! How the helper's steps reach the slots of a run.

use crate::kmrs14::party::DIGEST_LEN;
use crate::kmrs14::slot::Slot;
use std::io;
use vesica_labels::{Bits, List};
use vesica_net::Pool;
use vesica_scratch::Scratch;

/// The slots of a run, and what its steps work with.
pub trait HelperStore: Sync {
    /// The bytes of a filled slot.
    ///
    /// # Errors
    /// The errors of the file system.
    fn read(&self, slot: Slot) -> io::Result<Vec<u8>>;

    /// The first `len` bytes of a filled slot, or all if it has fewer.
    ///
    /// # Errors
    /// The errors of the file system.
    fn head(&self, slot: Slot, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = self.read(slot)?;
        bytes.truncate(len);
        Ok(bytes)
    }

    /// Fills a slot, and replaces its bytes if it is filled.
    ///
    /// # Errors
    /// The errors of the file system, such as a full disk.
    fn write(&self, slot: Slot, body: &[u8]) -> io::Result<()>;

    /// Returns once all slots filled so far will survive a power failure, so that slots written
    /// next never exist without them. A store that survives none has nothing to do.
    ///
    /// # Errors
    /// The errors of the file system.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }

    /// Whether a slot is filled.
    fn is_filled(&self, slot: Slot) -> bool;

    /// Random bytes of this run, made once, stored with it and never sent.
    ///
    /// # Errors
    /// The errors of the file system.
    fn secret(&self) -> io::Result<[u8; DIGEST_LEN]>;

    /// Where intermediate data goes.
    fn scratch(&self) -> &dyn Scratch;

    /// About how many bytes of memory a step may take.
    fn memory_bytes(&self) -> u64;

    /// The threads of a step.
    fn pool(&self) -> &Pool;

    /// Whether the step should end; checked now and then.
    fn stop(&self) -> bool;

    /// For each of `lists`, the bits of the labels that all of them have; `None` if
    /// [`HelperStore::stop`] returned true.
    ///
    /// # Errors
    /// Any [`CommonFailure`].
    fn common(&self, lists: &[List<'_>]) -> Result<Option<Vec<Bits>>, CommonFailure>;
}

/// Why lists could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonFailure {
    /// This list is malformed.
    Malformed {
        /// Its index among them.
        list: usize,
    },
    /// The helper's disk is full or fails.
    Storage,
    /// The database that compares them cannot be reached, or fails.
    Backend,
}
