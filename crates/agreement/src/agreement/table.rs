//! The tables of an agreement.

use super::AgreementFault;
pub(crate) use vesica_tables::{At, Field, nearest};

/// One table of an agreement.
pub(crate) type Table<'a> = vesica_tables::Table<'a, AgreementFault>;
