//! What `vesica-bench public-key` counts. The counts are those of a process, so each run has one.

use serde_json::Value;
use std::process::Command;

fn counts(counted: &str, items: u32) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_vesica-bench"))
        .args(["public-key", counted, "--items", &items.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn counts_are_those_of_the_messages() {
    let transfers = counts("base-transfers", 1);
    assert_eq!(transfers["powers"], 3 * 128);
    assert_eq!(transfers["powers_from_table"], 2 * 128 + 1);
    let dl = counts("dl-dt10", 64);
    // Of the sender K_x, y'_i and Z, of the receiver Z^R_c.
    assert_eq!(dl["powers"], 2 * 64 + 2);
    assert_eq!(dl["powers_from_table"], 2 * 64 + 1);
    assert_eq!(dl["inversions"], 2 * 64 / 16 + 1);
    assert_eq!(dl["hashes_to_group"], 3 * 64);
    let rsa = counts("rsa-dt10", 64);
    assert_eq!(rsa["roots"], 2 * 64);
    assert_eq!(rsa["short_powers"], 3 * 64);
    // The items, and twice the receiver's random numbers, of which it keeps the seed alone.
    assert_eq!(rsa["hashes_to_group"], 4 * 64);
}
