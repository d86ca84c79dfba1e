//! A program under a label, and its cost.

use vesica_core::Result;
use vesica_net::{Context, SpanReport};
use vesica_partitions::Cost;

/// Runs `program` in `ctx` under `label`, until all that it sends is written to the transport.
///
/// # Errors
/// Those of the program and of the connection.
pub fn run_under<T>(
    ctx: &mut Context,
    label: &str,
    program: impl FnOnce(&mut Context) -> Result<T>,
) -> Result<T> {
    ctx.child(label, |ctx| {
        let outcome = program(ctx)?;
        ctx.finish()?;
        Ok(outcome)
    })
}

/// What was run under `label` in `ctx`, which has a meter of its own.
pub(crate) fn cost_under(ctx: &Context, label: &str) -> Cost {
    let payload = ctx.meter().bytes_under(label);
    Cost { payload, direction_changes: ctx.direction_changes() }
}

/// One row of the meter for a partition or a step that another process ran.
pub(crate) fn counted(cost: &Cost, label: &str) -> SpanReport {
    let (bytes_sent, bytes_received) = cost.payload;
    let label = label.to_owned();
    SpanReport { label, bytes_sent, bytes_received, ..SpanReport::default() }
}
