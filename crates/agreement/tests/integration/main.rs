//! The tests of the crate from outside, in one program: `cargo test --workspace --test
//! integration`.

mod agreement;
mod aided;
mod questions;
