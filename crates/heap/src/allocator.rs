//! The system's allocator, with a check of every block.

use crate::out_of_memory::{self, OutOfMemoryMessage};
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. If it has no memory left, the program ends with a message. Costs one
/// comparison per allocation.
#[derive(Clone, Copy, Debug)]
pub struct Heap {
    message: OutOfMemoryMessage,
}

impl Heap {
    /// An allocator with this message from the first allocation on, before `main`, until
    /// [`set_message`](crate::set_message) replaces it.
    pub const fn with_message(message: OutOfMemoryMessage) -> Self {
        Self { message }
    }

    /// Returns `block` unless it is null.
    #[inline]
    fn checked(&self, block: *mut u8) -> *mut u8 {
        if block.is_null() {
            out_of_memory::exit_with_message(self.message);
        }
        block
    }
}

// SAFETY: every call goes to `System` with the same arguments, and every block is returned
// unchanged. Handling a null pointer neither allocates nor unwinds.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`, which is that of
        // `System`.
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
