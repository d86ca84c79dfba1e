//! Checks of small tables.

mod counts;
mod figures;
mod refusals;
mod support;
