//! A protocol between two parties who have no agreement and no file: measurements.
//!
//! Nothing is agreed on, checked or written. The caller has made the session, the set and the
//! parameters, and judges the result.

pub use crate::matching::run_alone;
pub use crate::participants::context;

use crate::matching::{Matched, Splitting};
use std::num::NonZeroUsize;
use vesica_core::{Items, PsiParams, Result, Role};
use vesica_net::{Connection, Context};
use vesica_own_rows::{RowEntries, RowSet};
use vesica_partitions::Plan;
use vesica_protocols::Protocol;
use vesica_scratch::Scratch;

/// A run in partitions, for sets larger than one run of the protocol should hold.
#[derive(Clone, Copy)]
pub struct SplitRun<'a> {
    /// The session with the other party, which gives the secret that partitions are derived from.
    pub session: &'a dyn Connection,
    /// Bytes that both parties know, bound into that secret.
    pub session_context: &'a [u8],
    /// The protocol that runs in each partition; it must offer runs in partitions.
    pub row: &'a Protocol,
    /// The side of this party.
    pub role: Role,
    /// The parameters of the whole sets.
    pub params: &'a PsiParams,
    /// How many partitions there are, and their public sizes.
    pub plan: Plan,
    /// Where items go that exceed the memory.
    pub scratch: &'a dyn Scratch,
    /// About how much memory the run may take.
    pub memory_bytes: u64,
    /// CPU threads to use.
    pub threads: NonZeroUsize,
}

impl SplitRun<'_> {
    /// Groups `items`, all different, runs the protocol on each partition under `label`, and
    /// returns the matching rows if this party learns them, and the most changes of direction of a
    /// partition's run.
    ///
    /// # Errors
    /// The first error of a partition's run, which stops the session; those of the files of
    /// intermediate data; misbehaviour if the result is impossible.
    pub fn run(
        self,
        ctx: &mut Context,
        items: &dyn Items,
        label: &str,
    ) -> Result<(Option<RowSet>, u64)> {
        let Self { session, session_context, row, role, params, plan, .. } = self;
        let splitting =
            Splitting::new(session, session_context, self.scratch, self.memory_bytes, self.threads);
        let pieces = splitting.group(items, plan.partitions())?;
        let matched = Matched { row, role, params, plan };
        let (pieces, found, changes) = splitting.run(ctx, pieces, matched, label, &[], &|_| {})?;
        let rows = found.rows(pieces, params.sender_len() as u64, &RowEntries::default())?;
        Ok((rows, changes))
    }
}
