//! Prefetching.

/// Asks the processor to load `slice[index]` into its caches. Does nothing if the index is out of
/// range or the processor has no such instruction.
///
/// # Timing
///
/// Depends on `index`, like the read that follows.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        if index < slice.len() {
            let place = slice.as_ptr().wrapping_add(index);
            // SAFETY: a prefetch reads nothing, and SSE is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn any_index_can_be_prefetched() {
        let numbers = [1, 2, 3];
        [0, 2, 3, usize::MAX].into_iter().for_each(|index| prefetch(&numbers, index));
        prefetch::<u8>(&[], 0);
        assert_eq!(numbers, [1, 2, 3]);
    }
}
