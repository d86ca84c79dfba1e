//! What a place for objects must be able to do.

use std::io;

/// Most bytes of an object. Usually it has some 8 MiB, or what a few threads write at once.
pub(crate) const OBJECT_MAX_BYTES: u64 = 1 << 30;

/// A place for write-once objects that two parties can reach. Names are relative, with `/` between their parts; each
/// part is of `a-z`, `0-9`, `-` and `_`.
pub trait Store: Send + Sync {
    /// Stores `bytes` under `name`, whole or not at all, and durably; `false` if there is an object of this name.
    ///
    /// # Errors
    /// Those of the store; it may then have stored the object or not.
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool>;

    /// The object under `name`, whole; `None` if there is none.
    ///
    /// # Errors
    /// Those of the store; [`io::ErrorKind::FileTooLarge`] above 1 GiB.
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// The names of all objects under the folder `folder`, in any order; none if it does not exist.
    ///
    /// # Errors
    /// Those of the store.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// The names of the folders at the top, in any order.
    ///
    /// # Errors
    /// Those of the store.
    fn folders(&self) -> io::Result<Vec<String>>;

    /// Removes the object, if there is one.
    ///
    /// # Errors
    /// Those of the store.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Where it is, for people.
    fn place(&self) -> String;
}
