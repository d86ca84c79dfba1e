use crate::Block;
use std::alloc::Layout;
use std::ops::Deref;
use std::ptr::NonNull;
use zeroize::Zeroize;

/// A table of rows of one or two blocks, aligned for reads at random positions: no row crosses a
/// cache line. Wiped on drop.
pub struct Table<const C: usize> {
    rows: NonNull<[Block; C]>,
    len: usize,
}

// SAFETY: the table owns its rows, which are plain values.
unsafe impl<const C: usize> Send for Table<C> {}
// SAFETY: as above.
unsafe impl<const C: usize> Sync for Table<C> {}

impl<const C: usize> Table<C> {
    /// The table whose row i has the blocks `columns[c][i]`.
    ///
    /// # Panics
    /// If the columns have different lengths.
    pub fn new(columns: [&[Block]; C]) -> Self {
        const { assert!(C == 1 || C == 2) };
        let len = columns[0].len();
        assert!(columns.iter().all(|column| column.len() == len), "columns of different lengths");
        let Some(layout) = Self::layout(len) else {
            return Self { rows: NonNull::dangling(), len };
        };
        // SAFETY: the layout has a size above zero.
        let memory = unsafe { std::alloc::alloc(layout) };
        let Some(rows) = NonNull::<[Block; C]>::new(memory.cast()) else {
            std::alloc::handle_alloc_error(layout)
        };
        (0..len).for_each(|i| {
            // SAFETY: i is below the number of rows allocated.
            unsafe { rows.add(i).write(std::array::from_fn(|c| columns[c][i])) };
        });
        Self { rows, len }
    }

    /// `None` for a table without rows.
    fn layout(len: usize) -> Option<Layout> {
        let size = size_of::<[Block; C]>() * len;
        let layout = Layout::from_size_align(size, CACHE_LINE);
        (size > 0).then(|| layout.expect("the size of the columns"))
    }

    fn rows_mut(&mut self) -> &mut [[Block; C]] {
        // SAFETY: that many rows were allocated and initialised, or there are none.
        unsafe { std::slice::from_raw_parts_mut(self.rows.as_ptr(), self.len) }
    }
}

impl<const C: usize> Default for Table<C> {
    /// No rows.
    fn default() -> Self {
        Self { rows: NonNull::dangling(), len: 0 }
    }
}

impl<const C: usize> Deref for Table<C> {
    type Target = [[Block; C]];

    fn deref(&self) -> &[[Block; C]] {
        // SAFETY: that many rows were allocated and initialised, or there are none.
        unsafe { std::slice::from_raw_parts(self.rows.as_ptr(), self.len) }
    }
}

impl<const C: usize> Drop for Table<C> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.len) {
            self.rows_mut().as_flattened_mut().zeroize();
            // SAFETY: allocated with this layout.
            unsafe { std::alloc::dealloc(self.rows.as_ptr().cast(), layout) };
        }
    }
}

const CACHE_LINE: usize = 64;
