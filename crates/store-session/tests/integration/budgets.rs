//! The table of what a peer can use up has the figures that the code has.

use std::path::Path;
use vesica_link::letters::{HELLO_LEN, LETTER_LEN};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A file, a constant in it, and the figure in the table.
const BUDGETS: [(&str, &str, &str); 24] = [
    ("link/src/session/windows.rs", "MAX_UNOPENED: usize = 512;", "| 512 |"),
    ("link/src/session/windows.rs", "FIRST_WINDOW: usize = 256 << 10;", "| 256 KiB |"),
    ("link/src/session/windows.rs", "WINDOW: usize = 4 << 20;", "| 4 MiB |"),
    ("link/src/session/log.rs", "MAX_KEPT_BYTES: usize = 16 << 20;", "| 16 MiB |"),
    ("engine/src/dialer.rs", "AGREE_LIMIT: Duration = Duration::from_secs(20);", "20 s to agree"),
    ("store-session/src/name.rs", "MARK_MAX_BYTES: u64 = 1;", "| 1 byte |"),
    ("store-session/src/store.rs", "OBJECT_MAX_BYTES: u64 = 1 << 30;", "| 1 GiB, in memory once |"),
    (
        "store-session/src/conversation/inbox.rs",
        "UNREAD_LEAST_BYTES: usize = 256 << 20;",
        "the largest of 256 MiB, `--memory`, and 256 MiB more",
    ),
    ("store-session/src/conversation/inbox.rs", "STREAM_BYTES: usize = 256;", "for 256 bytes more"),
    ("store-session/src/conversation/inbox.rs", "NAME_BYTES: usize = 320;", "for 320 in each"),
    ("store-session/src/conversation/inbox.rs", "PIECE_BYTES: usize = 96;", "for 96 more"),
    (
        "store-session/src/conversation/inbox.rs",
        "UNOPENED_MAX: usize = 512 + 4096 * 8;",
        "| 33,280 |",
    ),
    (
        "store-session/src/conversation/inbox.rs",
        "NAMED_MAX: usize = 4096 * 64;",
        "| 262,144 in a run",
    ),
    ("store-session/src/detached.rs", "STREAMS_MAX: usize = 32;", "| 32 streams, "),
    ("store-session/src/detached.rs", "DETACHED_MAX_BYTES: u64 = 64 << 20;", ", 64 MiB |"),
    ("store-session/src/mirror.rs", "UNASKED_MAX_BYTES: u64 = 4 << 30;", "| 4 GiB, "),
    ("store-session/src/mirror.rs", "OBJECT_COST_BYTES: u64 = 4096;", "with 4 KiB for each"),
    ("store-session/src/mirror.rs", "SMALL_MAX: u32 = 1 << 12;", "| 4,096 |"),
    ("store-session/src/mirror.rs", "HAVE_MAX: u32 = 1 << 20;", "| 1,048,576 |"),
    (
        "detached/src/run_spec.rs",
        "2 * all.div_ceil(self.plan.partitions()) + (1 << 20)",
        "| 1 MiB and",
    ),
    ("detached/src/coordinator.rs", "MOST_OBJECTS: usize = 1024;", "| 1,024 |"),
    (
        "detached/src/coordinator.rs",
        "MOST_AT_ONCE: u32 = 4096;",
        "| 4,096 in each of at most 40 rounds",
    ),
    ("detached/src/coordinator.rs", "GATHERED_BYTES: u64 = 256 << 20;", "256 MiB and one object"),
    ("detached/src/turn.rs", "(20, Duration::from_millis(250))", "| 5 s in a task |"),
];

#[test]
fn the_table_of_what_a_peer_can_use_up_has_the_figures_of_the_code() {
    let section = page("docs/security/budgets.md");
    for (file, code, figure) in BUDGETS {
        let source = page(&format!("crates/{file}"));
        assert!(source.contains(code), "{file} has another figure than {code}: {figure}");
        assert!(section.contains(figure), "the page does not say {figure}: {code} in {file}");
    }
    // With the count of abandoned runs.
    assert_eq!((HELLO_LEN + 4, LETTER_LEN), (1316, 1136));
    assert!(section.contains("| 1,316 bytes, and 1,136 bytes |"));
}
