//! Private set intersection by circuits, which can also answer other questions about the common items.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`scs`] | sort, compare, shuffle by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | [`pwc`] | pairwise comparisons by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | [`bwa`] | bit vectors of a small domain by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | [`psty19`] | circuit PSI by a programmable OPRF (Pinkas, Schneider, Tkachenko, Yanai 2019) | semi-honest |
//! | [`circuit_phasing`] | hashing to bins and a circuit (Pinkas, Schneider, Segev, Zohner 2015) | semi-honest |
//!
//! `computed` has what they share: both parties' use of a circuit, and the answers to queries.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod bwa;
pub mod circuit_phasing;
mod computed;
pub mod psty19;
pub mod pwc;
pub mod scs;
