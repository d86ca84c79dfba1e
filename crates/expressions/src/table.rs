//! What both parties know of a shared table.

/// A table of which each party holds shares, as both know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// How many entries it has.
    pub entries: usize,
    /// How two shares give a value.
    pub combine: Combine,
}

/// A column of integers.
///
/// A column that one party knows, such as a group of its own rows or which entries are common, is
/// one in which the other party's shares are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in expressions.
    pub name: String,
    /// Bits of a value, from 1 to 64. Higher bits of shares are ignored.
    pub bits: u32,
    /// Whether the highest of them is a sign.
    pub signed: bool,
}

/// How two shares give a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// By XOR, which is free: shares of [`vesica_core::Query::Shares`].
    Xor,
    /// By addition modulo 2^64, one gate a bit: shares of [`vesica_core::Query::SharedValues`].
    Sum,
}
