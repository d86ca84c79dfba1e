//! One module for each command, or for a few related ones.

use crate::failure::Failure;
use std::path::Path;

pub(crate) mod agree;
pub(crate) mod check;
pub(crate) mod combine;
pub(crate) mod exchange;
pub(crate) mod keygen;
pub(crate) mod output;
pub(crate) mod protocols;
pub(crate) mod run;
pub(crate) mod seat;
pub(crate) mod shell;

/// The word for an agreement in messages about its file.
pub(crate) const AGREEMENT: &str = "agreement";

/// The words for a list of refused rows in messages about its file.
const REFUSED: &str = "list of refused rows";

/// The word for a report in messages about its file.
const REPORT: &str = "report";

/// Makes sure that a report can be written.
pub(crate) fn open_report(path: Option<&Path>) -> Result<Option<output::Pending>, Failure> {
    path.map(|path| output::Pending::new(REPORT, path)).transpose()
}
