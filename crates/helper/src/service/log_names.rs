//! Names in the log.

use super::run::Run;
use vesica_helper_wire::Instance;

/// The name of a run in logs.
pub(super) fn short(run: &Run) -> String {
    short_name(&run.record.instance)
}

/// The beginning of an instance: two runs of one agreement have different ones.
pub(super) fn short_name(instance: &Instance) -> String {
    hex(&instance[..6])
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
