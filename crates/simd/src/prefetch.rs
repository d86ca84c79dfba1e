//! Reading ahead.

/// Asks the processor to bring `slice[index]` into its caches; nothing happens for an index
/// beyond the end, and on processors that cannot be asked.
///
/// # Timing
///
/// Depends on `index`, as the read that follows does.
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
    fn any_index_may_be_asked_for() {
        let numbers = [1, 2, 3];
        [0, 2, 3, usize::MAX].into_iter().for_each(|index| prefetch(&numbers, index));
        prefetch::<u8>(&[], 0);
        assert_eq!(numbers, [1, 2, 3]);
    }
}
