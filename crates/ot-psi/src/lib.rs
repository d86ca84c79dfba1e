//! Private set intersection from oblivious transfer and VOLE: public-key operations for the base transfers alone.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`rr22`] | VOLE-PSI, fast and low-communication (Raghuraman, Rindal 2022) | semi-honest |
//! | [`rr22_malicious`] | VOLE-PSI (Raghuraman, Rindal 2022) | malicious |
//! | [`gbf`] | garbled Bloom filters (Dong, Chen, Wen 2013) | semi-honest |
//! | [`gbf_malicious`] | Bloom filters with cut and choose (Rindal, Rosulek 2017) | malicious |
//! | [`kkrt16`] | PSI from a batched OPRF (Kolesnikov, Kumaresan, Rosulek, Trieu 2016) | semi-honest |
//! | [`ot_phasing`] | OT-Phasing (Pinkas, Schneider, Segev, Zohner 2015) | semi-honest |
//! | [`psz14`] | OT-PSI (Pinkas, Schneider, Zohner 2014) | semi-honest |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod gbf;
pub mod gbf_malicious;
pub mod kkrt16;
pub mod ot_phasing;
pub mod psz14;
pub mod rr22;
pub mod rr22_malicious;
