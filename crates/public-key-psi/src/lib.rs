//! Private set intersection from public-key operations, a few for each item.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`dh`] | Diffie–Hellman PSI (Meadows 1986) | semi-honest |
//! | [`dl_dt10`] | PSI from one-more Diffie–Hellman (De Cristofaro, Tsudik 2010) | semi-honest |
//! | [`rsa_dt10`] | blind-RSA PSI (De Cristofaro, Tsudik 2010) | semi-honest |
//! | [`naive_hash`] | salted hashing, the baseline of the literature, without public keys | **insecure** |
//!
//! Two parties in one process; in a real run each has a program of its own:
//!
//! ```
//! use std::sync::Arc;
//! use vesica_core::{Item, Learns, PsiParams, Role, SessionId};
//! use vesica_party::Output;
//! use vesica_public_key_psi::dh;
//!
//! let items = |numbers: [u128; 3]| Arc::new(numbers.map(Item::from_integer).to_vec());
//! let session = SessionId::from_bytes([1; 32]);
//! let params = PsiParams::new(session, 3, 3, Learns::Both)?;
//! let sender = dh::ROW.party(Role::Sender, params, items([10, 20, 30]))?;
//! let receiver = dh::ROW.party(Role::Receiver, params, items([30, 40, 10]))?;
//! let (sent, received) = vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx))?;
//! assert_eq!(received, Output::Positions(vec![0, 2]));
//! assert_eq!(sent, Output::Positions(vec![0, 2]));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod dh;
pub mod dl_dt10;
pub mod naive_hash;
pub mod rsa_dt10;
