//! The recorded figures and prefixes: `vectors/partitions.json`. With `VESICA_BLESS` set, the test
//! writes the file.

use serde_json::{Value, json};
use std::fs;
use vesica_core::hash::hex;
use vesica_core::params::WHOLE_SET_LEN;
use vesica_core::{Item, SessionId};
use vesica_partitions::{Plan, Splitter, session_of};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/partitions.json");

/// Set sizes of the two parties.
const SIZES: [[u64; 2]; 12] = [
    [1, 1],
    [1_572_864, 1_572_864],
    [1_572_865, 1],
    [1_572_865, 1_000_000],
    [1 << 21, 1 << 21],
    [0, 1 << 21],
    [10_000_000, 3],
    [10_000_000, 10_000_000],
    [100_000_016, 20_000],
    [1_000_000_016, 1_000_000_016],
    [1_000_000_016, 500],
    [4_294_967_295, 4_294_967_295],
];

/// Set sizes of the two parties, and how many items a partition has at most on average.
const SMALLER: [([u64; 2], u64); 8] = [
    ([1_000, 1_000], 1_000),
    ([1_001, 1], 1_000),
    ([20_016, 15_016], 1_000),
    ([20_016, 0], 1_000),
    ([4_096_001, 4_096_001], 1_000),
    ([300_000, 70_000], 20_000),
    ([1_572_864, 1_572_864], 1_572_863),
    ([1_000_000_016, 10_000], 100_000),
];

/// Set sizes without the shared self-check items.
const GUARDED: [[u64; 2]; 4] =
    [[1, 1 << 30], [1_000, 1 << 30], [100_000, 10_000_000], [1 << 24, 1 << 24]];

fn prefixes(secret: u8) -> Value {
    let secret = [secret; 32];
    let items: Vec<Item> =
        [0, 1, 2, 1 << 64, u128::MAX].into_iter().map(Item::from_integer).collect();
    let mut prefixes = Vec::new();
    Splitter::new(&secret).prefixes(&items, &mut prefixes);
    let of = |(item, prefix): (&Item, u16)| json!([hex(item.as_bytes()), prefix]);
    json!({
        "secret": hex(&secret),
        "prefixes": items.iter().zip(prefixes).map(of).collect::<Vec<_>>(),
    })
}

fn plan([one, other]: [u64; 2]) -> Value {
    let plan = Plan::new(one, other, WHOLE_SET_LEN);
    let bounds = [plan.bound(one), plan.bound(other)];
    json!({ "sizes": [one, other], "partitions": plan.partitions(), "padded": bounds })
}

/// The plan for sets of these sizes, where `rows` is the agreed length of a partition.
fn smaller(([one, other], rows): ([u64; 2], u64)) -> Value {
    let plan = Plan::new(one, other, rows);
    let bounds = [plan.bound(one), plan.bound(other)];
    json!({
        "sizes": [one, other],
        "rows": rows,
        "partitions": plan.partitions(),
        "padded": bounds,
    })
}

/// For protocols against malicious parties, where both parties know 16 items of each set.
fn guarded(lens: [u64; 2]) -> Value {
    let lens = lens.map(|len| len + 16);
    let plan = Plan::new(lens[0], lens[1], WHOLE_SET_LEN).guarded(lens, 16);
    json!({ "sizes": lens, "known": 16, "partitions": plan.partitions() })
}

fn session(of: u64, index: u64) -> Value {
    let run = SessionId::from_bytes([7; 32]);
    let partition = session_of(&run, of, index);
    json!({
        "run": hex(run.as_bytes()),
        "partitions": of,
        "index": index,
        "session": hex(partition.as_bytes()),
    })
}

#[test]
fn prefixes_sizes_and_sessions_are_the_recorded_ones() {
    let found = json!({
        "about": "Partitions of large sets, docs/wire: prefixes, padded lengths, sessions.",
        "prefixes": [prefixes(0), prefixes(9)],
        "plans": SIZES.map(plan),
        "smaller": SMALLER.map(smaller),
        "guarded": GUARDED.map(guarded),
        "sessions": [session(2, 0), session(2, 1), session(1024, 1023)],
    });
    if std::env::var_os("VESICA_BLESS").is_some() {
        fs::write(PATH, format!("{found:#}\n")).unwrap();
    }
    let recorded: Value = serde_json::from_str(&fs::read_to_string(PATH).unwrap()).unwrap();
    assert_eq!(found, recorded, "a change of these figures is a change of the wire version");
}
