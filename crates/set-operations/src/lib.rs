//! Set operations whose receiver may know how many items are common.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`gmrss21`] | cardinality, sums, unions, private ids, shares by oblivious switching (Garimella, Mohassel, Rosulek, Sadeghian, Singh 2021) | semi-honest |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod gmrss21;
