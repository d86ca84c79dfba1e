//! Integration tests in one program: `cargo test --workspace --test integration`.

mod chains;
mod suited;
mod typing_errors;
mod vectors;
