//! The tests of the crate from outside, in one program: `cargo test --workspace --test
//! integration`.

mod equality;
mod kkrt;
mod programmable;
#[path = "../../../ot/tests/integration/support.rs"]
mod support;
