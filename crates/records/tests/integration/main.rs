//! Integration tests in one program: `cargo test --workspace --test integration`.

mod common;
mod conversions;
mod encoding;
mod fields;
mod folders;
mod formats;
mod outcomes;
mod placeholders;
mod refused;
mod robustness;
mod rules;
mod shapes;
mod spelling;
mod streaming;
mod survey;
mod values;
