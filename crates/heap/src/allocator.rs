//! The system's allocator, which looks at each block once.

use crate::last_words::{self, LastWords};
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; when it has no block to give, the program ends with its last words. Costs one comparison
/// an allocation.
#[derive(Clone, Copy, Debug)]
pub struct Heap {
    words: LastWords,
}

impl Heap {
    /// An allocator that says `words`, from the first allocation on, before `main`; until
    /// [`set_last_words`](crate::set_last_words) sets others.
    pub const fn saying(words: LastWords) -> Self {
        Self { words }
    }

    /// Hands `block` on, unless there is none.
    #[inline]
    fn checked(&self, block: *mut u8) -> *mut u8 {
        if block.is_null() {
            last_words::say_and_leave(self.words);
        }
        block
    }
}

// SAFETY: every call goes to `System` with the same arguments, and every block comes from there unchanged. What is
// done about a null pointer neither allocates nor unwinds.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is that of `System`.
        self.checked(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above; all blocks of this allocator are blocks of `System`.
        self.checked(unsafe { System.realloc(block, layout, new_size) })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
