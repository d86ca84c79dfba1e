//! What a store of objects must be able to do.

use crate::error::{ActualKind, NotAnObject};
use std::io;
use std::time::{Duration, SystemTime};
use vesica_core::{StopReason, TransportError};
use vesica_link::CancelToken;

/// Maximum bytes of an object. Most have about 8 MiB, or what a few threads write at once.
pub const OBJECT_MAX_BYTES: u64 = 1 << 30;

/// The lengths that an object of some kind may have. A reader refuses an object of another length
/// before it reads it: a party that can write to a store must not choose how much memory a reader
/// takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    least: u64,
    most: u64,
}

impl Lengths {
    /// Up to the [maximum](OBJECT_MAX_BYTES) for any object.
    pub const ANY: Self = Self::up_to(OBJECT_MAX_BYTES);

    /// Only this length.
    pub const fn exactly(bytes: u64) -> Self {
        Self { least: bytes, most: bytes }
    }

    /// Any length up to this one.
    pub const fn up_to(bytes: u64) -> Self {
        Self { least: 0, most: bytes }
    }

    /// The greatest length.
    pub const fn most(self) -> u64 {
        self.most
    }

    /// Checks the length of what is stored under the object name `name`.
    ///
    /// # Errors
    /// An [`io::Error`] that holds [`NotAnObject`].
    pub fn check(self, name: &str, bytes: u64) -> io::Result<()> {
        if (self.least..=self.most).contains(&bytes) {
            Ok(())
        } else {
            Err(NotAnObject::new(name, ActualKind::Length { bytes }).into())
        }
    }
}

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name in its folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// When it was written, by the store's clock; `None` if the store does not say.
    pub written: Option<SystemTime>,
}

/// A place for write-once objects that two parties can reach. Names are relative, with `/` between
/// their parts; each part consists of `a-z`, `0-9`, `-` and `_`.
pub trait Store: Send + Sync {
    /// Stores `bytes` under `name`, whole or not at all, and durably; `false` if this name is
    /// taken.
    ///
    /// # Errors
    /// The store's errors; the object may have been stored despite one.
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool>;

    /// The whole object under `name`; `None` if there is none. Nothing outside `lengths` is read.
    ///
    /// # Errors
    /// The store's errors. One holds [`NotAnObject`] if something else has the name: an object of
    /// another length, a link, a folder, or anything that is not a regular file.
    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>>;

    /// All objects in the folder `folder`, in any order; none if the folder does not exist.
    ///
    /// # Errors
    /// The store's errors; [`io::ErrorKind::Unsupported`] if it cannot list.
    fn list(&self, folder: &str) -> io::Result<Vec<Listed>>;

    /// The names of the folders at the top, in any order.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    fn folders(&self) -> io::Result<Vec<String>>;

    /// Removes the object, if there is one.
    ///
    /// # Errors
    /// The store's errors; [`io::ErrorKind::Unsupported`] if it cannot remove.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// What interrupted writers have left of objects in the folder `folder`, in any order, under
    /// names that [`remove`](Self::remove) takes; none in a store that keeps no such leftovers.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    fn unfinished(&self, _folder: &str) -> io::Result<Vec<Listed>> {
        Ok(Vec::new())
    }

    /// Where the store is, as text for people.
    fn place(&self) -> String;

    /// Waits for the object `name`, until `pause` has passed or `cancel` is set. Returns whether
    /// objects moved between the two sides in that time. A connected other side is not enough: it
    /// may be waiting too.
    fn wait(&self, _name: &str, pause: Duration, cancel: &CancelToken) -> bool {
        cancel.wait(pause);
        false
    }

    /// Waits until this process may end: in a store that ends with the process, the other side must
    /// first have all objects. `last` is the last object of the other side.
    ///
    /// # Errors
    /// [`TransportError::Idle`] if the other side is away for `limit`.
    fn settle(&self, _last: &str, _limit: Duration) -> Result<(), TransportError> {
        Ok(())
    }

    /// Ends this process's use of the store before the run has finished.
    fn stop(&self, _reason: StopReason) {}
}
