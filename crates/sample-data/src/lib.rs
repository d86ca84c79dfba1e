//! Data that is made up, and the results expected from it.
//!
//! * [`MadeUp`] — two sets for a measurement, and what each party must learn; [`MadeUpItems`] —
//!   their items as they are needed;
//! * [`customers`] — the customer files of the demonstration, and a plain join of them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod customers;
mod sets;

pub use sets::{MadeUp, MadeUpItems};
