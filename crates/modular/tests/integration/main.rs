//! Integration tests of the crate, linked into one program: `cargo test --workspace --test
//! integration`.

mod modp;
mod modulus;
mod paillier;
mod paillier_shuffle;
mod rsa;
