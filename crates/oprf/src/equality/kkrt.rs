//! F from KKRT16: instance i for place i.

use crate::kkrt::{self, Point};
use std::num::NonZeroUsize;
use vesica_core::{Block, Result, Runs, SessionId};
use vesica_net::Context;
use vesica_ot::coded::ReceiverSetup;
use zeroize::Zeroizing;

/// Points evaluated together: they stay in the first-level cache.
const POINTS_PER_BATCH: usize = 512;

/// Points that one CPU thread works on at a time.
const POINTS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 11).unwrap();

/// One for each place, in all runs that make one result.
pub(super) fn comparisons(len: usize, runs: Runs) -> u64 {
    len as u64 * runs.count()
}

/// The sender's F at i‖x_i.
pub(super) fn evaluate_everywhere(
    ctx: &mut Context,
    session: &SessionId,
    runs: Runs,
    x: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let mut oprf =
        ctx.child("setup", |ctx| kkrt::Sender::setup(ctx, session, comparisons(x.len(), runs)))?;
    ctx.child("oprf", |ctx| {
        let mut outputs = Zeroizing::new(vec![Block::ZERO; x.len()]);
        let pool = ctx.pool().clone();
        oprf.evaluate(ctx, x.len(), |first, keys| {
            let instances: Vec<u32> = (0..keys.len() as u32).collect();
            let outputs = &mut outputs[first..first + keys.len()];
            pool.zip_chunks(&instances, outputs, POINTS_PER_TASK, |instances, outputs| {
                let mut points = [Point::default(); POINTS_PER_BATCH];
                let batches = instances.chunks(POINTS_PER_BATCH);
                for (instances, outputs) in batches.zip(outputs.chunks_mut(POINTS_PER_BATCH)) {
                    for (point, instance) in points.iter_mut().zip(instances) {
                        let input = x[first + *instance as usize];
                        *point = Point { instance: *instance, input };
                    }
                    keys.evaluate(&points[..instances.len()], outputs);
                }
            });
        })?;
        Ok(outputs)
    })
}

/// The receiver's F at i‖y_i.
pub(super) fn evaluate(
    ctx: &mut Context,
    session: &SessionId,
    runs: Runs,
    y: &[Block],
) -> Result<Zeroizing<Vec<Block>>> {
    let mut oprf = ctx.child("setup", |ctx| {
        let setup = ReceiverSetup::send(ctx, session)?;
        kkrt::Receiver::new(ctx, setup, session, comparisons(y.len(), runs))
    })?;
    ctx.child("oprf", |ctx| {
        let mut outputs = Zeroizing::new(vec![Block::ZERO; y.len()]);
        let inputs =
            |first: usize, out: &mut [Block]| out.copy_from_slice(&y[first..][..out.len()]);
        oprf.evaluate(ctx, y.len(), inputs, |first, part| {
            outputs[first..first + part.len()].copy_from_slice(part);
        })?;
        ctx.peer()?.flush()?;
        Ok(outputs)
    })
}
