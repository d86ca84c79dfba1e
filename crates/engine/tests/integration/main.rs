//! The crate's integration tests, in one program: `cargo test --workspace --test integration`.

mod bad_peers;
mod columns;
mod computed;
mod damaged_bytes;
mod outputs;
mod partitions;
mod roles;
mod rules;
mod run_parameters;
mod small_domains;
mod steering_peers;
mod support;
mod two_parties;
