//! The tests of the crate from outside, in one program: `cargo test --workspace --test integration`.

mod bloom;
mod laws;
mod partition;
mod polynomial;
mod sizes;
