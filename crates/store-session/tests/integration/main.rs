//! Two parties through a store that is interrupted, loses, swaps and forges objects.

mod attacks;
mod budgets;
mod detached;
mod hostile;
mod hostile_store;
mod mirror;
mod places;
mod repeats;
mod retrying;
mod rows;
mod runs;
mod support;
