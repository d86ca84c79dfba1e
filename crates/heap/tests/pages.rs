//! A program without threads: the settings hold for a whole process, and the threads of a test have
//! a heap of their own.

use std::fs;

/// Bytes of memory that this process has.
fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn main() {
    if cfg!(not(all(target_os = "linux", target_env = "gnu"))) {
        return;
    }
    const LEN: usize = 64 << 20;
    let fresh = || drop(std::hint::black_box(vec![1_u8; LEN]));
    let before = resident_bytes();
    fresh();
    assert!(resident_bytes() < before + LEN / 2, "the default returns them");
    vesica_heap::keep_pages(true);
    fresh();
    assert!(resident_bytes() >= before + LEN, "they stay");
    fresh();
    assert!(resident_bytes() < before + 2 * LEN, "the second vector takes those of the first");
}
