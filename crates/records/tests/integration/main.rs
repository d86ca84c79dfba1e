//! Integration tests in one program: `cargo test --workspace --test integration`.

mod common;
mod encoding;
mod formats;
mod frames;
mod matches;
mod placeholders;
mod profiles;
mod robustness;
mod shapes;
mod spelling;
mod streaming;
mod survey;
mod text_input;
mod values;
