//! The tests of the crate from outside, in one program: `cargo test --workspace --test
//! integration`.

mod gmrss21;
mod parties;
mod rows;
mod support;
