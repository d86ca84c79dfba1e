//! Agreements.

use crate::away::away;
use crate::failure::Failed;
use pyo3::prelude::*;
use pythonize::pythonize;
use std::path::PathBuf;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::find_aided;
use vesica_protocols::{Operation, Security, strongest_within_bounds};

/// Whether the operation gives each party its own result; `false` if there is no such operation.
#[pyfunction]
pub(crate) fn is_for_both(operation: &str) -> bool {
    find(operation).is_some_and(|operation| operation.is_for_both())
}

/// The strongest security that a protocol offers for an operation, with bounds or without; with a
/// helper, the security of `protocol` against the helper.
#[pyfunction]
pub(crate) fn strongest(
    operation: &str,
    is_bounded: bool,
    is_aided: bool,
    protocol: &str,
) -> &'static str {
    let security = match find(operation) {
        _ if is_aided => {
            find_aided(protocol).map_or(Security::SemiHonest, |row| row.helper_security)
        }
        None => Security::SemiHonest,
        Some(operation) if is_bounded => strongest_within_bounds(operation, true),
        Some(operation) => vesica_protocols::strongest(operation),
    };
    security.name()
}

fn find(operation: &str) -> Option<Operation> {
    Operation::ALL.iter().find(|known| known.name() == operation).copied()
}

/// A party, the columns that it sends with their types, and how rows with the same key are treated.
type Columns<'a> = (&'a str, Vec<(&'a str, String)>, &'static str);

/// A party, its columns of values, the column of the groups, and the groups.
type Values<'a> = (&'a str, Vec<&'a str>, Option<&'a str>, Vec<&'a str>);

/// A checked agreement.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Agreement(pub(crate) vesica_agreement::Agreement);

#[pymethods]
impl Agreement {
    /// The agreement in a file, and its text.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(Self, String)> {
        use vesica_agreement::Agreement;
        let agreement = away(py, || Agreement::load(&path))
            .map_err(|error| Failed::agreement(&error).raise(py))?;
        let text = std::fs::read_to_string(&path).ok();
        // The file may have been replaced since, and hold another agreement.
        let same = |text: &String| Agreement::parse(text).is_ok_and(|other| other == agreement);
        let text = text.filter(same).unwrap_or_else(|| agreement.canonical());
        Ok((Self(agreement), text))
    }

    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let parsed = vesica_agreement::Agreement::parse(text);
        Ok(Self(parsed.map_err(|error| Failed::agreement(&error).raise(py))?))
    }

    #[getter]
    fn hash(&self) -> String {
        self.0.hash().to_string()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn operation(&self) -> &'static str {
        self.0.operation().name()
    }

    /// The expression that is computed on shares, if there is one.
    #[getter]
    fn compute(&self) -> Option<&str> {
        self.0.question.computed().map(|(_, computation)| computation.expression.text())
    }

    #[getter]
    fn protocol(&self) -> &'static str {
        self.0.protocol_word()
    }

    #[getter]
    fn receives(&self) -> Vec<&str> {
        self.0.receiver_names().collect()
    }

    /// The name, the profile and the excluded values of each key column.
    #[getter]
    fn keys(&self) -> Vec<(&str, String, Vec<&str>)> {
        self.0
            .keys
            .iter()
            .map(|key| {
                let never = key.never.iter().map(String::as_str).collect();
                (&*key.name, key.profile.to_string(), never)
            })
            .collect()
    }

    /// The name of each rule, its columns as they are written, and the most keys of a row under it.
    #[getter]
    fn rules(&self) -> Vec<(&str, Vec<String>, usize)> {
        let keys = &self.0.keys;
        let of = |rule: &'_ vesica_records::KeyRule| {
            rule.columns.iter().map(|column| column.in_words(&keys[column.key].name)).collect()
        };
        self.0.rules.iter().map(|rule| (&*rule.name, of(rule), rule.most)).collect()
    }

    /// Whether the result says under which rules a row matches.
    #[getter]
    fn show_rules(&self) -> bool {
        self.0.show_rules
    }

    /// The party that sends columns, their names and what they hold, and how rows with the same key
    /// are treated.
    #[getter]
    fn columns(&self) -> Option<Columns<'_>> {
        let columns = self.0.columns.as_ref()?;
        let types = columns.columns.iter().map(|(name, of)| (&**name, of.to_string())).collect();
        Some((&*columns.of, types, columns.duplicates.name()))
    }

    /// The names of the columns that the rows of a party's result get.
    fn added_columns(&self, party: Option<&str>) -> Vec<String> {
        vesica_engine::terms::added_columns(&self.0, party)
    }

    /// The name, the identity, `min_rows` and `max_rows` of each party.
    #[getter]
    fn parties(&self) -> Vec<(&str, String, u64, u64)> {
        let of = |party: &'_ vesica_agreement::PartyTerms| {
            (party.identity.to_string(), party.min_rows, party.max_rows)
        };
        self.0
            .parties
            .iter()
            .map(|party| {
                let (identity, min_rows, max_rows) = of(party);
                (&*party.name, identity, min_rows, max_rows)
            })
            .collect()
    }

    /// The name and the identity of the helper.
    #[getter]
    fn helper(&self) -> Option<(&str, String)> {
        self.0.helper.as_ref().map(|helper| (&*helper.name, helper.identity.to_string()))
    }

    /// The party by whose values the others are multiplied, and their column.
    #[getter]
    fn factors(&self) -> Option<(&str, &str)> {
        let factors = self.0.question.factors()?;
        Some((&*factors.of, factors.columns.first().map_or("", String::as_str)))
    }

    /// The party with the values, their columns, the column of the groups, and the groups.
    #[getter]
    fn values(&self) -> Option<Values<'_>> {
        let values = self.0.question.values()?;
        let columns = values.columns.iter().map(String::as_str).collect();
        let groups = values.groups.as_ref();
        let names = groups.map_or(Vec::new(), |one| one.names.iter().map(String::as_str).collect());
        Some((&*values.of, columns, groups.map(|one| &*one.by), names))
    }

    /// The last day, as `2027-06-30`.
    #[getter]
    fn expires(&self) -> Option<String> {
        self.0.expires.map(|day| day.to_string())
    }

    /// The most rows of a partition, on average.
    #[getter]
    fn partition_rows(&self) -> u64 {
        self.0.partition_rows
    }

    #[getter]
    fn is_expired(&self) -> bool {
        self.0.is_expired(jiff::Timestamp::now())
    }

    /// The name of the party with this public identity.
    fn party_of(&self, identity: &str) -> Option<&str> {
        let identity: PublicIdentity = identity.parse().ok()?;
        self.0.party_of(&identity)
    }

    fn explain(&self) -> Explanation {
        Explanation(vesica_explain::explain(&self.0))
    }
}

/// What an agreement means.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Explanation(vesica_explain::Explanation);

/// The title of a section, and its points.
type Section<'a> = (&'static str, &'a [String]);

fn sections(sections: &[vesica_explain::Section]) -> Vec<Section<'_>> {
    sections.iter().map(|section| (section.title, &*section.points)).collect()
}

#[pymethods]
impl Explanation {
    /// The summary as text, on one screen.
    fn screen(&self) -> String {
        self.0.screen()
    }

    /// All sections as text.
    fn full(&self) -> String {
        self.0.to_string()
    }

    /// All parts, as `vesica explain --json` prints them.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.0)?)
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn summary(&self) -> Vec<Section<'_>> {
        sections(&self.0.summary)
    }

    #[getter]
    fn sections(&self) -> Vec<Section<'_>> {
        sections(&self.0.sections)
    }
}
