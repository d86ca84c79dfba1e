//! One module per protocol of the literature, the trait they share, and the list of them.
//!
//! * [`Party`] — one party of one protocol run; [`Input`] — what it brings, [`Output`] — what it learned.
//! * [`catalogue`](mod@catalogue) — every protocol: who learns what, under which assumption, how many bytes.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`rr22`] | VOLE-PSI, fast and low-communication (Raghuraman, Rindal 2022) | semi-honest |
//! | [`rr22_malicious`] | VOLE-PSI (Raghuraman, Rindal 2022) | malicious |
//! | [`dh`] | Diffie–Hellman PSI (Meadows 1986) | semi-honest |
//! | [`dl_dt10`] | PSI from one-more Diffie–Hellman (De Cristofaro, Tsudik 2010) | semi-honest |
//! | [`gbf`] | garbled Bloom filters (Dong, Chen, Wen 2013) | semi-honest |
//! | [`gbf_malicious`] | Bloom filters with cut and choose (Rindal, Rosulek 2017) | malicious |
//! | [`kkrt16`] | PSI from a batched OPRF (Kolesnikov, Kumaresan, Rosulek, Trieu 2016) | semi-honest |
//! | [`ot_phasing`] | OT-Phasing (Pinkas, Schneider, Segev, Zohner 2015) | semi-honest |
//! | [`psz14`] | OT-PSI (Pinkas, Schneider, Zohner 2014) | semi-honest |
//! | [`rsa_dt10`] | blind-RSA PSI (De Cristofaro, Tsudik 2010) | semi-honest |
//! | `scs` | sort, compare, shuffle by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | `pwc` | pairwise comparisons by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | `bwa` | bit vectors of a small domain by a circuit (Huang, Evans, Katz 2012) | semi-honest |
//! | `psty19` | circuit PSI by a programmable OPRF (Pinkas, Schneider, Tkachenko, Yanai 2019) | semi-honest |
//! | `circuit_phasing` | hashing to bins and a circuit (Pinkas, Schneider, Segev, Zohner 2015) | semi-honest |
//! | `gmrss21` | cardinality, sums, unions, private ids, shares by oblivious switching (Garimella, Mohassel, Rosulek, Sadeghian, Singh 2021) | semi-honest |
//! | [`kmrs14`] | server-aided intersection, for any number of parties (Kamara, Mohassel, Raykova, Sadeghian 2014) | of the helper: semi-honest, malicious |
//! | [`naive_hash`] | salted hashing, the baseline of the literature | **insecure** |

#![forbid(unsafe_code)]

mod answer;
mod assumptions;
mod bwa;
pub mod catalogue;
mod circuit_phasing;
mod computed;
pub mod dh;
pub mod dl_dt10;
pub mod gbf;
pub mod gbf_malicious;
mod gmrss21;
pub mod kkrt16;
pub mod kmrs14;
pub mod naive_hash;
pub mod ot_phasing;
mod party;
mod psty19;
pub mod psz14;
mod pwc;
pub mod rr22;
pub mod rr22_malicious;
pub mod rsa_dt10;
mod scs;
mod sorted_tags;

pub use catalogue::{
    BoundsKept, Compared, Parameter, Protocol, Row, Security, Traffic, TrustModel, UsableSetLen,
    catalogue, find, strongest,
};
pub use party::{Ids, Input, Output, Party, Shares};
pub use vesica_core::{Operation, Query};
