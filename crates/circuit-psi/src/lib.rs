//! Private set intersection by circuits, which can also answer other questions about the common
//! items.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`scs`] | sort, compare, shuffle by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | [`pwc`] | pairwise comparisons by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | [`bwa`] | bit vectors of a small domain by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | [`psty19`] | circuit PSI by a programmable OPRF (Pinkas, Schneider, Tkachenko, Yanai 2019) | semi-honest |
//! | [`circuit_phasing`] | hashing to bins and a circuit (Pinkas, Schneider, Segev, Zohner 2015) | semi-honest |
//!
//! `computed` has what they share: both parties' use of a circuit, and the answers to queries.
//!
//! Two parties in one process; in a real run each has a program of its own:
//!
//! ```
//! use std::sync::Arc;
//! use vesica_core::{Item, Learns, PsiParams, Query, Role, SessionId};
//! use vesica_party::Output;
//! use vesica_circuit_psi::psty19;
//!
//! let items = |numbers: [u128; 3]| Arc::new(numbers.map(Item::from_integer).to_vec());
//! let session = SessionId::from_bytes([1; 32]);
//! let params = PsiParams::new(session, 3, 3, Learns::Receiver)?.with_query(Query::Threshold { min: 2 });
//! let sender = psty19::ROW.party(Role::Sender, params, items([10, 20, 30]))?;
//! let receiver = psty19::ROW.party(Role::Receiver, params, items([30, 40, 10]))?;
//! let (sent, received) = vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx))?;
//! assert_eq!(received, Output::AtLeast(true));
//! assert_eq!(sent, Output::Nothing);
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod bwa;
pub mod circuit_phasing;
mod computed;
pub mod psty19;
pub mod pwc;
pub mod scs;
