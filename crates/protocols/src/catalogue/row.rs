//! The whole catalogue: protocols of two parties, and those with a helper.

use super::catalogue;
use std::fmt;
use vesica_core::Operation;
use vesica_party::{Parameter, Protocol, Security};
use vesica_server_aided::kmrs14::{AidedProtocol, aided};

/// Who takes part in addition to the parties, and whom they trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrustModel {
    /// No one: two parties talk to each other, and trust no third.
    TwoParties,
    /// A helper that all parties talk to, and that colludes with none of them.
    Helper,
}

impl TrustModel {
    /// The name in lists and reports.
    pub const fn name(self) -> &'static str {
        match self {
            TrustModel::TwoParties => "two parties",
            TrustModel::Helper => "helper",
        }
    }
}

impl fmt::Display for TrustModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A row of the catalogue, of either trust model.
///
/// ```
/// use vesica_protocols::{Row, TrustModel};
///
/// let row = Row::find("server_aided").unwrap();
/// assert_eq!(row.trust_model(), TrustModel::Helper);
/// assert!(Row::all().any(|row| row.id() == "rr22"));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// Of two parties.
    TwoParties(&'static Protocol),
    /// With a helper.
    Helper(&'static AidedProtocol),
}

impl Row {
    /// Every row: protocols of two parties, the strongest and fastest first, then protocols with a
    /// helper.
    pub fn all() -> impl Iterator<Item = Row> {
        catalogue().iter().map(Row::TwoParties).chain(aided().map(Row::Helper))
    }

    /// The row named `id`.
    pub fn find(id: &str) -> Option<Row> {
        Self::all().find(|row| row.id() == id)
    }

    /// Whom the parties trust.
    pub fn trust_model(self) -> TrustModel {
        match self {
            Row::TwoParties(_) => TrustModel::TwoParties,
            Row::Helper(_) => TrustModel::Helper,
        }
    }

    /// The name in an agreement and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Row::TwoParties(row) => row.id,
            Row::Helper(row) => row.id,
        }
    }

    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Row::TwoParties(row) => row.name,
            Row::Helper(row) => row.name,
        }
    }

    /// Where it was published, and the section or figure implemented.
    pub fn source(self) -> &'static str {
        match self {
            Row::TwoParties(row) => row.source,
            Row::Helper(row) => row.source,
        }
    }

    /// Against what kind of peer it protects; with a helper, against what kind of helper.
    pub fn security(self) -> Security {
        match self {
            Row::TwoParties(row) => row.security,
            Row::Helper(row) => row.helper_security,
        }
    }

    /// What is believed to be hard, and in which model.
    pub fn assumption(self) -> &'static str {
        match self {
            Row::TwoParties(row) => row.assumption,
            Row::Helper(row) => row.assumption,
        }
    }

    /// What it can compute.
    pub fn operations(self) -> &'static [Operation] {
        match self {
            Row::TwoParties(row) => row.operations,
            Row::Helper(_) => &[Operation::Intersection],
        }
    }

    /// Payload bytes in words.
    pub fn bytes_formula(self) -> &'static str {
        match self {
            Row::TwoParties(row) => row.bytes_formula,
            Row::Helper(row) => row.bytes_formula,
        }
    }

    /// The parameters a reviewer asks for.
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Row::TwoParties(row) => row.parameters,
            Row::Helper(row) => row.parameters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_has_an_id_of_its_own() {
        let ids: BTreeSet<&str> = Row::all().map(Row::id).collect();
        assert_eq!(ids.len(), Row::all().count());
        assert!(Row::all().all(|row| Row::find(row.id()).is_some_and(|it| it.id() == row.id())));
    }
}
