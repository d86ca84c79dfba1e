//! Used blocks for reuse, so that memory is not mapped again for every megabyte.

use crate::frame::MAX_DATA_LEN;

/// Most blocks kept: one mebibyte.
const MAX_SPARE: usize = 16;

#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Keeps an empty block's memory for later, if it has full size and there is room.
    pub(super) fn put(&mut self, mut block: Vec<u8>) {
        if block.capacity() == MAX_DATA_LEN && self.0.len() < MAX_SPARE {
            block.clear();
            self.0.push(block);
        }
    }

    /// An empty block, from a spare if there is one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }
}
