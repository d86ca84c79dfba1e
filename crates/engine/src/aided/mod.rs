//! Agreements with a helper: a server that all parties talk to, and that they need not trust with their keys.
//!
//! * [`AidedAgreement`] — what two to sixteen parties agreed on; [`AnyAgreement`] — an agreement of either kind.
//! * [`explain()`] — such an agreement in plain words.

mod agreement;
mod explain;

pub use agreement::{
    AidedAgreement, AidedFault, AidedTerms, AnyAgreement, HelperTerms, MAX_HELPER_NAME_CHARS,
};
pub use explain::explain;
