//! Integration tests of the crate, linked into one program: `cargo test --workspace --test
//! integration`.

mod aes;
mod band;
mod bit_sums;
mod four_keys;
mod garble;
mod gf128;
mod ggm;
mod lpn;
mod ristretto;
mod ristretto_oblivious;
mod short_hash;
mod sparse;
mod support;
mod transpose;
mod vectors;
mod xor;
