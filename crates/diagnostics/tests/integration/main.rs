//! Integration tests in one program: `cargo test --workspace --test integration`.

mod runs;
mod samples;
mod speech;
