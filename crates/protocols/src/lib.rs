//! The catalogue of all protocols, of both trust models, and the modules behind its rows.
//!
//! * [`catalogue`](mod@catalogue) — every protocol: who learns what, under which assumption, how
//!   many bytes.
//! * [`Row`] — a row of either [`TrustModel`].
//! * [`Party`], [`Input`], [`Output`] — what the protocols of two parties share.
//!
//! | crate | protocols |
//! |---|---|
//! | [`vesica_public_key_psi`] | [`dh`], [`dl_dt10`], [`rsa_dt10`]; [`naive_hash`], the insecure baseline |
//! | [`vesica_ot_psi`] | [`rr22`], [`rr22_malicious`], [`gbf`], [`gbf_malicious`], [`kkrt16`], [`ot_phasing`], [`psz14`] |
//! | [`vesica_circuit_psi`] | [`scs`], [`pwc`], [`bwa`], [`psty19`], [`circuit_phasing`] |
//! | [`vesica_set_operations`] | [`gmrss21`] |
//! | [`vesica_server_aided`] | [`kmrs14`], with a helper |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod catalogue;

pub use catalogue::{Row, TrustModel, catalogue, find, strongest, strongest_within_bounds};
pub use vesica_circuit_psi::{bwa, circuit_phasing, psty19, pwc, scs};
pub use vesica_ot_psi::{gbf, gbf_malicious, kkrt16, ot_phasing, psz14, rr22, rr22_malicious};
pub use vesica_party::{
    AddendRuns, Addends, Auto, BoundsKept, COINS_LEN, Committed, Compared, Comparison, Condition,
    Fact, Ids, Input, Learners, Operation, Order, Output, Pairwise, Parameter, Partitions, Party,
    Protocol, Query, Security, Shares, Step, Steps, Traffic, UsableSetLen,
};
pub use vesica_public_key_psi::{dh, dl_dt10, naive_hash, rsa_dt10};
pub use vesica_server_aided::kmrs14;
pub use vesica_set_operations::gmrss21;
