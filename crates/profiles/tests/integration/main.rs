//! Integration tests in one program: `cargo test --workspace --test integration`.

mod phones;
mod vectors;
