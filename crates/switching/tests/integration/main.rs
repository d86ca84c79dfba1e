//! Integration tests of the crate, linked into one program: `cargo test --workspace --test
//! integration`.

mod networks;
mod oblivious;
mod permutations;
#[path = "../../../ot/tests/integration/support.rs"]
mod support;
