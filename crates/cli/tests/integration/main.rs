//! The tests of the crate from outside, in one program: `cargo test --workspace --test integration`.

mod aided;
mod bad_peers;
mod bench_aided;
mod bench_scale;
mod check;
mod docs;
mod exchange;
mod exchange_runs;
mod figures;
mod files;
mod golden;
mod interrupt;
mod kubernetes;
mod limits;
mod mended;
mod own_rows;
mod partitions;
mod protocol_pages;
mod published;
mod questions;
mod scheduled;
mod secrets;
mod set_back;
mod set_operations;
mod support;
mod two_processes;
