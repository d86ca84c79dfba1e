//! The native module `vesica._vesica` of the package in `python/vesica`.
//!
//! * [`identity`], [`agreement`] — key files and agreements.
//! * [`input`] — a file, or a frame by the Arrow C interfaces; [`stream`] — its batches. Both have
//!   unsafe code.
//! * [`running`] — a run on background threads, and its end; [`watch`] — its events and result.
//! * [`checking`] — checks before a run; [`checked`] — the result of one, and counts of rows.
//! * [`outcome`] — the result of a run; [`tables`], [`export`] — tables for other libraries.
//! * [`service`] — the helper; [`join`] — the work of a cluster for it; [`log`] — log lines.
//! * [`place`] — who this side is, and whom it reaches; [`store`] — a Python object as a store.
//! * [`workers`] — requests to detached workers; [`grouping`], [`tasks`] — the detached work.
//! * [`away`] — threads without the GIL, and the shutdown of Python; [`failure`] — exceptions.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod agreement;
mod away;
mod checked;
mod checking;
mod export;
mod failure;
mod grouping;
mod identity;
mod input;
mod join;
mod log;
mod outcome;
mod place;
mod running;
mod service;
mod shares;
mod store;
mod stream;
mod tables;
mod tasks;
mod watch;
mod workers;

/// The native module of the package `vesica`; not for direct use.
#[pyo3::pymodule(gil_used = false)]
mod _vesica {
    #[pymodule_export]
    use super::agreement::{Agreement, Explanation, is_for_both, strongest};
    #[pymodule_export]
    use super::checked::{Checked, Needs, RowCounts};
    #[pymodule_export]
    use super::export::{Column, Table};
    #[pymodule_export]
    use super::grouping::{Bits, grouped, items, marks};
    #[pymodule_export]
    use super::identity::Identity;
    #[pymodule_export]
    use super::input::Input;
    #[pymodule_export]
    use super::join::JoinRequest;
    #[pymodule_export]
    use super::log::log_lines;
    #[pymodule_export]
    use super::outcome::Outcome;
    #[pymodule_export]
    use super::place::leave_word;
    #[pymodule_export]
    use super::running::{Running, end_all};
    #[pymodule_export]
    use super::service::Service;
    #[pymodule_export]
    use super::shares::combine;
    #[pymodule_export]
    use super::tasks::{Place, RunSpec, Task, digest, seal, take, unseal};
    #[pymodule_export]
    use super::workers::{GroupRequest, TakeRequest, Workers};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::failure::keep_panics_quiet();
        super::log::start();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
