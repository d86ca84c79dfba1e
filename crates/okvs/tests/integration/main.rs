//! Integration tests of the crate, linked into one program: `cargo test --workspace --test
//! integration`.

mod bloom;
mod laws;
mod partition;
mod polynomial;
mod sizes;
