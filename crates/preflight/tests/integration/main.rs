//! What a check says about small tables.

mod counts;
mod figures;
mod refusals;
mod support;
