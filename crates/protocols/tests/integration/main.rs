//! The tests of the crate from outside, in one program: `cargo test --workspace --test
//! integration`.

mod addends;
mod circuits;
mod dt10;
mod gbf;
mod gbf_malicious;
mod gbf_original_attack;
mod hash_to_group;
mod kkrt16;
mod kmrs14;
mod large;
mod laws;
mod phasing;
mod rr22_malicious;
mod set_operations;
