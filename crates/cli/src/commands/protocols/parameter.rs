//! The parameters of a protocol as JSON.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Parameter {
    name: &'static str,
    value: &'static str,
    source: &'static str,
}

/// The parameters of a row.
pub(super) fn all(parameters: &[vesica_protocols::Parameter]) -> Vec<Parameter> {
    let json = |parameter: &vesica_protocols::Parameter| Parameter {
        name: parameter.name,
        value: parameter.value,
        source: parameter.source,
    };
    parameters.iter().map(json).collect()
}
