//! The tests of the crate from outside, in one program: `cargo test --workspace --test integration`.

mod modp;
mod modulus;
mod paillier;
mod paillier_shuffle;
mod rsa;
