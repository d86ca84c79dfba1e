//! One module for each command, or for a few that belong together.

pub(crate) mod agree;
pub(crate) mod check;
pub(crate) mod combine;
pub(crate) mod keygen;
mod output;
pub(crate) mod protocols;
pub(crate) mod run;
mod seat;
pub(crate) mod shell;

/// What an agreement, a report or a log is called in messages about its file.
pub(crate) const AGREEMENT: &str = "agreement";
