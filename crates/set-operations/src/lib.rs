//! Set operations whose receiver may know how many items are common.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`gmrss21`] | cardinality, sums, unions, private ids, shares by oblivious switching (Garimella, Mohassel, Rosulek, Sadeghian, Singh 2021) | semi-honest |
//!
//! Two parties in one process; in a real run each has a program of its own:
//!
//! ```
//! use std::sync::Arc;
//! use vesica_core::{Item, Learns, PsiParams, Query, Role, SessionId};
//! use vesica_party::Output;
//! use vesica_set_operations::gmrss21;
//!
//! let items = |numbers: [u128; 3]| Arc::new(numbers.map(Item::from_integer).to_vec());
//! let session = SessionId::from_bytes([1; 32]);
//! let params = PsiParams::new(session, 3, 3, Learns::Both)?.with_query(Query::Cardinality);
//! let sender = gmrss21::CARDINALITY_ROW.party(Role::Sender, params, items([10, 20, 30]))?;
//! let receiver = gmrss21::CARDINALITY_ROW.party(Role::Receiver, params, items([30, 40, 10]))?;
//! let (sent, received) = vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx))?;
//! assert_eq!(received, Output::Cardinality(2));
//! assert_eq!(sent, Output::Cardinality(2));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod gmrss21;
