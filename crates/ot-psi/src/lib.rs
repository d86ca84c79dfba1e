//! Private set intersection from oblivious transfer and VOLE: public-key operations for the base
//! transfers alone.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`rr22`] | VOLE-PSI, fast and low-communication (Raghuraman, Rindal 2022) | semi-honest |
//! | [`rr22_malicious`] | VOLE-PSI (Raghuraman, Rindal 2022) | malicious |
//! | [`gbf`] | garbled Bloom filters (Dong, Chen, Wen 2013) | semi-honest |
//! | [`gbf_malicious`] | Bloom filters with cut and choose (Rindal, Rosulek 2017) | malicious |
//! | [`kkrt16`] | PSI from a batched OPRF (Kolesnikov, Kumaresan, Rosulek, Trieu 2016) | semi-honest |
//! | [`ot_phasing`] | OT-Phasing (Pinkas, Schneider, Segev, Zohner 2015) | semi-honest |
//! | [`psz14`] | OT-PSI (Pinkas, Schneider, Zohner 2014) | semi-honest |
//!
//! Two parties in one process; in a real run each has a program of its own:
//!
//! ```
//! use std::sync::Arc;
//! use vesica_core::{Item, Learns, PsiParams, Role, SessionId};
//! use vesica_party::Output;
//! use vesica_ot_psi::rr22;
//!
//! let items = |numbers: [u128; 3]| Arc::new(numbers.map(Item::from_integer).to_vec());
//! let session = SessionId::from_bytes([1; 32]);
//! let params = PsiParams::new(session, 3, 3, Learns::Receiver)?;
//! let sender = rr22::FAST_ROW.party(Role::Sender, params, items([10, 20, 30]))?;
//! let receiver = rr22::FAST_ROW.party(Role::Receiver, params, items([30, 40, 10]))?;
//! let (sent, received) = vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx))?;
//! assert_eq!(received, Output::Positions(vec![0, 2]));
//! assert_eq!(sent, Output::Nothing);
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod gbf;
pub mod gbf_malicious;
pub mod kkrt16;
pub mod ot_phasing;
pub mod psz14;
pub mod rr22;
pub mod rr22_malicious;
