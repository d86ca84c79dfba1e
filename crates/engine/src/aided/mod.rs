//! Agreements with a helper: a server that all parties talk to, and that they need not trust with their keys.
//!
//! * [`AidedAgreement`] — what two to sixteen parties agreed on; [`AnyAgreement`] — an agreement of either kind.
//! * [`explain()`] — such an agreement in plain words.
//! * [`AidedJob`], [`run_aided`] — one party's run, which goes on where it was when it was interrupted;
//!   [`AidedReport`] — what it did.
//! * [`look_aided`] — whether a helper would take a run, and who is there.
//! * [`mod@bench`] — one party of a benchmark run on items made as they are needed.

mod agreement;
pub mod bench;
mod explain;
pub(crate) mod fuzzing;
mod items;
mod job;
mod look;
mod meeting;
mod report;
mod state;

pub use agreement::{
    AidedAgreement, AidedFault, AidedTerms, AnyAgreement, HelperTerms, MAX_HELPER_NAME_CHARS,
    chance,
};
pub use explain::explain;
pub use job::{AidedJob, MEMORY_BYTES_DEFAULT, aided_key_columns, aided_key_items, run_aided};
pub use look::{AidedSeen, look_aided};
pub use report::{
    AIDED_SCHEMA, AidedAgreementReport, AidedNetworkReport, AidedPartyReport, AidedProtocolReport,
    AidedReport, AidedResultReport, HelperReport,
};
