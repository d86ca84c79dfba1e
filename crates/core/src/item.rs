use std::fmt;
use std::io;
use zeroize::Zeroize;

/// One element of a set: a 128-bit digest of an encoded key under the agreement's label. For
/// protocols over a small domain, an integer.
///
/// `Debug` does not print the digest, so an item never reaches a log by accident. Comparison is not
/// constant time: items are compared only on the machine that owns them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Zeroize)]
pub struct Item([u8; Item::LEN]);

impl Item {
    /// Length of an item in bytes.
    pub const LEN: usize = 16;

    /// Length of an item in bits.
    pub const BITS: u32 = 128;

    /// An integer as an item, for protocols over small domains.
    pub const fn from_integer(value: u128) -> Self {
        Self(value.to_le_bytes())
    }

    /// The item as an integer.
    pub const fn integer(&self) -> u128 {
        u128::from_le_bytes(self.0)
    }

    /// An item from its 16 bytes.
    pub const fn from_bytes(bytes: [u8; Item::LEN]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; Item::LEN] {
        &self.0
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Item(..)")
    }
}

/// What a party enters: its items, row by row.
pub trait Items: Sync {
    /// Number of rows.
    fn rows(&self) -> u64;

    /// Calls `take` with the items of all rows, in the order of the rows, and the row of the first
    /// of them. A row without a key has the item zero.
    ///
    /// # Errors
    /// Errors in reading the items, and the errors of `take`.
    fn each(&self, take: &mut dyn FnMut(u64, &[Item]) -> io::Result<()>) -> io::Result<()>;
}

impl Items for &[Item] {
    fn rows(&self) -> u64 {
        self.len() as u64
    }

    fn each(&self, take: &mut dyn FnMut(u64, &[Item]) -> io::Result<()>) -> io::Result<()> {
        take(0, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_the_digest() {
        assert_eq!(format!("{:?}", Item::from_bytes([0xab; 16])), "Item(..)");
    }
}
