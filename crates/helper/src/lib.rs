//! The service of the helper of server-aided protocols.
//!
//! * [`Service`] — serves the runs of many parties on one port; survives restarts.
//! * [`ServiceOptions`], [`PartyLimits`] — its options.
//! * [`Settings`] — its settings file.
//! * [`fuzzing`] — entry points for fuzzers.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

#[doc(hidden)]
pub mod fuzzing;
mod locks;
mod service;
mod settings;
mod store;

#[cfg(test)]
#[path = "../tests/integration/common.rs"]
mod common;
#[cfg(test)]
extern crate self as vesica_helper;

pub use service::{Changed, MetricsOptions, PartyLimits, Service, ServiceOptions, StartError};
pub use settings::{OptionsError, Settings, SettingsError, SettingsFault};
pub use store::{Keeping, StoreError};
pub use vesica_helper_wire::VERSION as WIRE_VERSION;

#[cfg(test)]
mod tests {
    mod power_failure;
}
