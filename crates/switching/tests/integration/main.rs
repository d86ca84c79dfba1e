//! The tests of the crate from outside, in one program: `cargo test --workspace --test integration`.

mod networks;
mod oblivious;
mod permutations;
#[path = "../../../ot/tests/integration/support/mod.rs"]
mod support;
