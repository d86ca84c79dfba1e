//! The targets, by what they read.

mod agreements;
mod backends;
mod board;
mod codes;
mod files;
mod hello;
mod helper;
mod letters;
mod link;
mod profiles;
mod settings;
mod two_party;
mod wire;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// A decoder, or some that belong together, on some bytes.
pub struct Target {
    /// Its name, and that of its folders of inputs.
    pub name: &'static str,
    /// Reads the bytes; panics when something is not as it must be.
    pub run: fn(&[u8]),
    /// Inputs to begin with, made by what writes what this reads: where the format changes, so do they.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format.
    pub words: &'static [&'static [u8]],
    /// Longest input of use.
    pub max_len: usize,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    two_party::TWO_PARTY,
    hello::HELLO,
    hello::PROBE,
    letters::LETTERS,
    link::FRAMES,
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
    backends::REDIS,
    backends::POSTGRES,
    profiles::PROFILE,
    codes::ELIAS_FANO,
    codes::LABELS,
    codes::OKVS,
];

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().chain([&SELF_TEST]).find(|target| target.name == name)
}

/// Does what a decoder must not, for a test of what is said then.
const SELF_TEST: Target =
    Target { name: "self_test", run: self_test, seeds: no_seeds, words: &[], max_len: 16 };

fn self_test(bytes: &[u8]) {
    match bytes {
        b"panic" => panic!("as asked"),
        b"another thread" => drop(std::thread::spawn(|| panic!("as asked")).join()),
        b"exit" => std::process::exit(0),
        b"memory" => drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 40))),
        _ => {}
    }
}

/// What a target without inputs of its own begins with.
fn no_seeds() -> Vec<Vec<u8>> {
    Vec::new()
}

/// A folder of this process, in memory where there is such a place: what is tried is not the disk.
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
