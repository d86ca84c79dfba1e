//! Two parties through a store that is interrupted, loses, swaps and forges objects.

mod apart;
mod attacks;
mod budgets;
mod hostile;
mod hostile_store;
mod mirror;
mod places;
mod repeats;
mod rows;
mod runs;
mod steady;
mod support;
