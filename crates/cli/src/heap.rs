//! How the C library keeps the heap during a run.
//!
//! A run takes and gives back vectors of many megabytes in every phase. The C library of GNU/Linux
//! then returns their pages to the system each time, and gets small ones back: a fifth of a run
//! goes to that. Its settings are read when a program starts, so that the program starts once more.

/// Starts the program anew with a heap that keeps its pages and asks for large ones, unless the
/// environment says something about the heap already. Does nothing where that is not possible.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_pages() {
    use nix::sys::resource::{Resource, getrlimit};
    use std::os::unix::process::CommandExt;

    const VARIABLE: &str = "GLIBC_TUNABLES";
    /// Set on the second start. A program with privileges of its own does not see the other one.
    const STARTED: &str = "VESICA_STARTED_ANEW";
    const TUNABLES: &str = "glibc.malloc.hugetlb=1\
        :glibc.malloc.mmap_threshold=4294967296\
        :glibc.malloc.trim_threshold=4294967296\
        :glibc.malloc.top_pad=33554432\
        :glibc.malloc.arena_max=1";
    /// Where addresses are few (`ulimit -v`), none are taken beforehand: the second start would take more than the
    /// first, and might not come as far as to say that they are too few.
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
    // Only comes back when it fails, and then the run is a little slower.
    let _ = command.args(arguments).env(VARIABLE, tunables).env(STARTED, "1").exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_pages() {}
