//! Integration tests in one program: `cargo test --workspace --test integration`.

mod common;
mod establish;
mod faults;
mod key_file;
mod letters;
mod listener;
mod mended;
mod proxies;
mod relay;
mod session;
mod wire;
