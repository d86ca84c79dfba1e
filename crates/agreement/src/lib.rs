//! Agreements: what organisations compute together, and which protocols it allows.
//!
//! * [`Agreement`] — what the organisations agreed on, with or without a helper; hashed and bound
//!   into the session. The other names about it are at the top too: its [`Terms`],
//!   [`AgreementError`], [`Difference`] and others.
//! * [`choice`] — the protocol of a run and the reason for it; [`Roles`] — who is its sender and
//!   its receiver; [`Network`] — what may decide.
//! * [`split`] — whether a run is split into partitions.
//! * [`figures`] — numbers for people.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod agreement;
pub mod choice;
pub mod figures;
mod network;
mod roles;
pub mod split;

pub use agreement::*;
pub use network::Network;
pub use roles::Roles;
