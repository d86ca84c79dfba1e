//! Oblivious key-value stores.
//!
//! An encoding maps n keys and their values to m slots. Each of the n keys decodes to its value,
//! and every other key to something else. The slots depend on the values only: for random values
//! they are uniform, for any keys.
//!
//! | module | contents |
//! |---|---|
//! | [`Okvs`] | the interface of all encodings: sizes, and the encoder and decoder of one cluster |
//! | [`ClusteredOkvs`] | three slots per key and a few dense columns; fast; linear over GF(2^128) |
//! | [`BandOkvs`] | a random band of slots per key; short; linear over GF(2) |
//! | [`PolynomialOkvs`] | one polynomial without a free slot, for few keys; or one for the keys of each bin, slow and long, as in older papers |
//! | [`Partition`] | the keys of a set, grouped by [`Cluster`] |
//! | [`bloom`] | Bloom filters and garbled Bloom filters, an older, longer encoding with free slots |
//!
//! A key is a [`Block`](vesica_core::Block) that is already random: the caller hashes its items
//! under a seed that is drawn after both sets are fixed. Two parties that know n build the same
//! store from it, with integer arithmetic and committed tables only.
//!
//! ```
//! use vesica_core::Block;
//! use vesica_okvs::{BandOkvs, Okvs, Scratch};
//! use vesica_simd::aes::Aes128;
//!
//! let okvs = BandOkvs::new(100);
//! let (mut keys, mut values) = (Block::zeros(100), Block::zeros(100));
//! Aes128::new(Block::new(1)).ctr(0, &mut keys);
//! Aes128::new(Block::new(2)).ctr(0, &mut values);
//!
//! // So few keys form a single cluster; a `Partition` groups larger sets.
//! assert_eq!(okvs.cluster_count(), 1);
//! let (mut slots, mut scratch) = (Block::zeros(okvs.len()), Scratch::new());
//! let fill = Aes128::new(Block::new(3));
//! okvs.encode(0, &keys, &values, &mut slots, &mut scratch, &fill)?;
//!
//! let mut decoded = Block::zeros(100);
//! okvs.decode(&keys, &slots, &mut decoded, &mut scratch);
//! assert!(decoded == values);
//! # Ok::<(), vesica_okvs::EncodeError>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod band;
pub mod bloom;
mod clustered;
mod clusters;
mod encoding;
mod okvs;
mod partition;
mod polynomial;
mod scratch;

pub use band::BandOkvs;
pub use clustered::ClusteredOkvs;
pub use encoding::{EncodeError, Fill};
pub use okvs::Okvs;
pub use partition::{Cluster, Partition};
pub use polynomial::PolynomialOkvs;
pub use scratch::Scratch;
