//! Integration tests of the crate, linked into one program: `cargo test --workspace --test
//! integration`.

mod adapters;
mod base;
mod coded;
mod hostile;
mod pprf;
mod silent_cot;
mod silent_tamper;
mod silent_vole;
mod softspoken;
mod support;
