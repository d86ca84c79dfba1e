//! Integration tests in one program: `cargo test --workspace --test integration`.

mod bitmaps;
mod common;
mod fields;
mod folders;
mod formats;
mod frames;
mod marks;
mod matches;
mod text_input;
mod top;
mod trial;
mod typed;
mod unchanged;
