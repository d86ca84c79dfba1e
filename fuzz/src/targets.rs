//! The targets, by the data they read.

mod agreements;
mod backends;
mod board;
mod codes;
mod exchange;
mod expressions;
mod files;
mod hello;
mod helper;
mod letters;
mod link;
mod profiles;
mod settings;
mod store;
mod two_party;
mod wire;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// A fuzz target for a decoder, or for related ones.
pub struct Target {
    /// Its name, also that of its folders of inputs.
    pub name: &'static str,
    /// Reads the bytes; panics if a check fails.
    pub run: fn(&[u8]),
    /// Initial inputs, made by the writer of the format: they change with the format.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Tokens of the format.
    pub tokens: &'static [&'static [u8]],
    /// Longest useful input.
    pub max_len: usize,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    two_party::TWO_PARTY,
    hello::HELLO,
    hello::PROBE,
    letters::LETTERS,
    link::FRAMES,
    link::MENDED,
    link::PROXY,
    wire::WIRE,
    wire::SPEC,
    helper::REQUESTS,
    helper::PAGES,
    helper::REPLIES,
    helper::STORE,
    board::AIDED_HELPER,
    board::AIDED_PARTY,
    agreements::AGREEMENT,
    settings::SETTINGS,
    settings::KEY_FILE,
    settings::BACKEND_URL,
    files::TEXT,
    files::PARQUET,
    files::SHARES,
    files::STATE,
    exchange::OBJECTS,
    exchange::MIRROR,
    store::STORE,
    backends::REDIS,
    backends::POSTGRES,
    backends::CLUSTER,
    profiles::PROFILE,
    expressions::EXPRESSION,
    codes::ELIAS_FANO,
    codes::PAYLOADS,
    codes::LABELS,
    codes::OKVS,
];

/// The target with this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().chain([&SELF_TEST]).find(|target| target.name == name)
}

/// A failing target, for a test of the failure report.
const SELF_TEST: Target =
    Target { name: "self_test", run: self_test, seeds: no_seeds, tokens: &[], max_len: 16 };

fn self_test(bytes: &[u8]) {
    match bytes {
        b"panic" => panic!("as asked"),
        b"another thread" => drop(std::thread::spawn(|| panic!("as asked")).join()),
        b"exit" => std::process::exit(0),
        b"memory" => drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 40))),
        _ => {}
    }
}

/// For a target without seeds.
fn no_seeds() -> Vec<Vec<u8>> {
    Vec::new()
}

/// A folder of this process, in memory if possible: the disk is not under test.
fn scratch() -> &'static TempDir {
    static SCRATCH: OnceLock<TempDir> = OnceLock::new();
    SCRATCH.get_or_init(|| {
        let in_memory = tempfile::Builder::new().prefix("vesica-fuzz-").tempdir_in("/dev/shm");
        in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder can be made")
    })
}

/// A number that this process has not used yet.
fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
