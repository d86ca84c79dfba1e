//! Settings of the heap for a run.

use nix::sys::resource::{Resource, getrlimit};

/// Below this limit on addresses (`ulimit -v`) the heap reserves none: otherwise a run could fail
/// before it can report that.
const FEW_ADDRESSES: u64 = 1 << 30;

/// Keeps the pages of freed memory for the next allocation, unless the environment has settings for
/// the heap.
pub(crate) fn keep_pages() {
    if std::env::var_os("GLIBC_TUNABLES").is_some() {
        return;
    }
    let is_tight = getrlimit(Resource::RLIMIT_AS).is_ok_and(|(limit, _)| limit < FEW_ADDRESSES);
    vesica_heap::keep_pages(!is_tight);
}
