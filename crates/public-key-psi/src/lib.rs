//! Private set intersection from public-key operations, a few for each item.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`dh`] | Diffie–Hellman PSI (Meadows 1986) | semi-honest |
//! | [`dl_dt10`] | PSI from one-more Diffie–Hellman (De Cristofaro, Tsudik 2010) | semi-honest |
//! | [`rsa_dt10`] | blind-RSA PSI (De Cristofaro, Tsudik 2010) | semi-honest |
//! | [`naive_hash`] | salted hashing, the baseline of the literature, without public keys | **insecure** |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod dh;
pub mod dl_dt10;
pub mod naive_hash;
pub mod rsa_dt10;
