//! An agreement in plain words, for the people who decide whether it may run.
//!
//! * [`explain`] — what an agreement means; [`explain_draft`] — what one without identities will
//!   mean.
//! * [`Explanation`] — the first screen, for those who sign, and all parts, for a security review.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod answers;
mod computation;
mod explanation;
mod limits;
mod question;
mod summary;
mod two_parties;
mod with_helper;
mod words;

pub use explanation::{Explanation, Section};

use explanation::sections;
use vesica_agreement::{Agreement, Draft};
use words::{SCREEN_TITLES, TITLES};

/// Explains in plain words what `agreement` means.
pub fn explain(agreement: &Agreement) -> Explanation {
    let (screen, points) = match agreement.with_helper() {
        Some(aided) => with_helper::all(aided),
        None => two_parties::all(agreement),
    };
    Explanation {
        title: agreement.title.clone(),
        hash: Some(agreement.hash().to_string()),
        missing: Vec::new(),
        summary: sections(SCREEN_TITLES, screen),
        sections: sections(TITLES, points),
    }
}

/// Explains in plain words what `draft` will mean.
pub fn explain_draft(draft: &Draft) -> Explanation {
    let explanation = explain(draft.agreement());
    let missing = draft.missing().map(str::to_owned).collect();
    Explanation { hash: draft.hash().map(|hash| hash.to_string()), missing, ..explanation }
}
