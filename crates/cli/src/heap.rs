//! Settings of the C library's heap during a run.
//!
//! A run allocates and frees vectors of many megabytes in every phase. By default the C library of GNU/Linux returns
//! their pages to the system each time and gets small pages again, which takes a fifth of a run's time. It reads its
//! settings only when a program starts, so the program starts itself again.

/// Starts the program again with a heap that keeps its pages and asks for large ones, unless the
/// environment already has settings for the heap. Does nothing if that is not possible.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_pages() {
    use nix::sys::resource::{Resource, getrlimit};
    use std::os::unix::process::CommandExt;

    const VARIABLE: &str = "GLIBC_TUNABLES";
    /// Set on the second start. A program with raised privileges does not see the variable above.
    const STARTED: &str = "VESICA_STARTED_ANEW";
    const TUNABLES: &str = "glibc.malloc.hugetlb=1\
        :glibc.malloc.mmap_threshold=4294967296\
        :glibc.malloc.trim_threshold=4294967296\
        :glibc.malloc.top_pad=33554432\
        :glibc.malloc.arena_max=1";
    /// Where the address space is limited (`ulimit -v`), none is reserved in advance: the second
    /// start would need more than the first, and could fail before it can report that.
    const THRIFTY: &str = "glibc.malloc.arena_max=1";
    const FEW_ADDRESSES: u64 = 1 << 30;
    let Ok(program) = std::env::current_exe() else { return };
    if [VARIABLE, STARTED].iter().any(|name| std::env::var_os(name).is_some()) {
        return;
    }
    let is_tight = getrlimit(Resource::RLIMIT_AS).is_ok_and(|(limit, _)| limit < FEW_ADDRESSES);
    let tunables = if is_tight { THRIFTY } else { TUNABLES };
    let mut arguments = std::env::args_os();
    let mut command = std::process::Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    // Returns only on failure. The run is then slightly slower.
    let _ = command.args(arguments).env(VARIABLE, tunables).env(STARTED, "1").exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_pages() {}
