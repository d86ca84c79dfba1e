//! Examines a party's rows before a run: counts, shapes, faults, limits. Nothing leaves the
//! machine, and no result holds a value.
//!
//! * [`Check`] — what to examine, from an agreement; it reads the rows once.
//! * [`Checked`] — the findings, for a program to show; it can be serialised.
//! * [`Needs`] — the memory and disk that a run needs.
//! * [`Refused`] — why a run would refuse these rows.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod check;
mod checked;
mod figures;
mod needs;

pub use check::{Check, Options};
pub use checked::{Checked, CheckedKey, Limits, Read, Refused, RuleRead};
pub use needs::Needs;
