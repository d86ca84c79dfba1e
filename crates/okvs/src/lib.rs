//! Oblivious key-value stores.
//!
//! An encoding maps n keys and their values to m slots, such that every one of the n keys decodes
//! to its value, every other key to something else, and the slots show the values alone: for
//! random values they are uniform, whichever the keys were.
//!
//! | module | what it gives |
//! |---|---|
//! | [`Okvs`] | what every encoding offers: its shape, one cluster's encoder and decoder |
//! | [`ClusteredOkvs`] | three slots a key and a few dense columns; fast; linear over GF(2^128) |
//! | [`BandOkvs`] | a random band of slots a key; short; linear over GF(2) |
//! | [`PolynomialOkvs`] | one polynomial, without a free slot, for few keys; or one for the keys of each bin, slow and long, as in older papers |
//! | [`Partition`] | the keys of a set, grouped by cluster |
//! | [`bloom`] | Bloom filters, and the garbled ones: an older encoding, long, that leaves slots free |
//!
//! A key here is a [`Block`](vesica_core::Block) that is already random: the caller hashes its
//! items under a seed that is drawn when both sets are fixed. Two parties that know n build the
//! same shape from it, with integer arithmetic and committed tables alone.

#![forbid(unsafe_code)]

mod band;
pub mod bloom;
mod clustered;
mod okvs;
mod partition;
mod polynomial;
mod scratch;

pub use band::BandOkvs;
pub use clustered::ClusteredOkvs;
pub use okvs::{EncodeError, Okvs};
pub use partition::Partition;
pub use polynomial::PolynomialOkvs;
pub use scratch::Scratch;
