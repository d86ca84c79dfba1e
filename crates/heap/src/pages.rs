//! Keeps the pages of freed memory.

/// Sets the C library's heap to keep freed pages for the next allocation, and to use one arena.
///
/// A run allocates and frees vectors of many megabytes in every phase. By default the C library of
/// GNU/Linux returns their pages to the system each time, and the system has to clear new ones.
/// With `reserves` the heap also grows by 32 MiB at a time; a program with little address space
/// (`ulimit -v`) must not reserve any.
///
/// Does nothing with other C libraries. Call it before the program has threads.
pub fn keep_pages(reserves: bool) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{self, M_ARENA_MAX, M_MMAP_MAX, M_TOP_PAD, M_TRIM_THRESHOLD, c_int};
        const TOP_PAD_BYTES: c_int = 32 << 20;
        let kept = [(M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, c_int::MAX), (M_TOP_PAD, TOP_PAD_BYTES)];
        let kept = if reserves { &kept[..] } else { &[] };
        for &(parameter, value) in kept.iter().chain(&[(M_ARENA_MAX, 1)]) {
            // SAFETY: it takes any numbers, and refuses those that it does not know.
            unsafe { libc::mallopt(parameter, value) };
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = reserves;
}
