//! Addresses of parties and of proxies, and the way through a proxy.
//!
//! * [`split_address`] — `host:port` in its parts.
//! * [`Proxy`], [`ProxyChoice`] — what a connecting party may have to go through.
//! * [`ask`] — asks a proxy for a connection; [`ProxyFault`] — why there is none.
//! * [`fuzzing`] — entry points for fuzzers.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod address;
mod fault;
#[doc(hidden)]
pub mod fuzzing;
mod proxy;
mod tunnel;

pub use address::split_address;
pub use fault::ProxyFault;
pub use proxy::{Proxy, ProxyChoice, ProxyError};
pub use tunnel::ask;
