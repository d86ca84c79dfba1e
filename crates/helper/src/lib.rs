//! The helper of server-aided protocols: its service, and a party's connection to it.
//!
//! * [`Service`] — serves the runs of many parties on one port; survives restarts.
//! * [`ServiceOptions`], [`PartyLimits`] — its options.
//! * [`Settings`] — its settings file.
//! * [`Remote`] — a party's access to the board of a run over the network; survives the helper's
//!   restarts.
//! * [`fuzzing`] — entry points for fuzzers.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

#[doc(hidden)]
pub mod fuzzing;
mod locks;
mod remote;
mod service;
mod settings;
mod store;
mod wire;

#[cfg(test)]
#[path = "../tests/integration/common.rs"]
mod common;
#[cfg(test)]
extern crate self as vesica_helper;

pub use remote::{Remote, RemoteEvent, RemoteOptions, Seen};
pub use service::{Changed, MetricsOptions, PartyLimits, Service, ServiceOptions, StartError};
pub use settings::{OptionsError, Settings, SettingsError, SettingsFault};
pub use store::{Keeping, StoreError};
pub use wire::{Instance, VERSION as WIRE_VERSION};

#[cfg(test)]
mod tests {
    mod power_failure;
}
