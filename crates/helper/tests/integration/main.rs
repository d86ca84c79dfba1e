//! Integration tests in one program: `cargo test --workspace --test integration`.

mod ahead;
mod aided;
mod board;
mod common;
mod damage;
mod fairness;
mod large;
mod line;
mod lost;
mod many;
mod pages;
mod restart;
mod room;
mod settings;
mod silent;
mod start;
mod tenants;
