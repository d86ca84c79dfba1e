//! A row, as a pass sees it.

use vesica_inputs::error::{Misquoted, Place};

/// The cells of one row, in the order of the columns that the pass reads.
pub trait Row {
    /// The text of cell `index`, from 0, in UTF-8; empty for a null. It may lie in `scratch`.
    fn cell<'a>(&'a self, index: usize, scratch: &'a mut Vec<u8>) -> &'a [u8];

    /// The position of the row.
    fn place(&self) -> Place;

    /// How cell `index` is quoted, where that is not the way of its format.
    #[inline]
    fn misquoted(&self, _index: usize) -> Option<Misquoted> {
        None
    }
}
