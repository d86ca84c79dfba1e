//! Integration tests in one program: `cargo test --workspace --test integration`.

mod common;
mod encoding;
mod fields;
mod folders;
mod formats;
mod frames;
mod marks;
mod matches;
mod placeholders;
mod robustness;
mod shapes;
mod spelling;
mod streaming;
mod survey;
mod text_input;
mod top;
mod trial;
mod typed;
mod unchanged;
mod values;
