//! Runs whose rows are detached: workers have them, not this process.

use super::{EXPORT_SESSION, Got, Grouped, InputFault, Matched, SessionRun, Splitting};
use crate::matching::exchange::ROWS_LABEL;
use crate::{Error, Phase};
use vesica_agreement::split;
use vesica_core::hash::derive;
use vesica_core::{Operation, Role, TransportError};
use vesica_detached::{RunSpec, Workers, WorkersFault, run_detached};
use vesica_net::{Connection, Context};
use vesica_records::{KeyCounts, Streamed};
use vesica_tables::InputError;

impl SessionRun<'_> {
    /// Workers for detached partitions, if any.
    pub(super) fn workers(&self) -> Option<&dyn Workers> {
        let can = self.agreement.operation() == Operation::Intersection
            && self.agreement.rules.is_empty()
            && split::splits_large_sets(self.agreement)
            && self.run.job.store.is_some();
        self.run.job.workers.as_deref().filter(|_| can)
    }

    /// Refuses more rows than agreed before this party contacts the peer.
    pub(super) fn check_detached(&self) -> Result<(), Error> {
        let (source, limit) = (&self.run.job.source, self.run.terms().max_rows);
        match source.rows() {
            Some(rows) if rows > limit => {
                let path = source.path().to_path_buf();
                Err(InputFault::from(InputError::TooManyRows { path, limit }).into())
            }
            _ => Ok(()),
        }
    }

    fn workers_or_bug(&self) -> Result<&dyn Workers, Error> {
        self.workers().ok_or(Error::Bug("detached rows have no workers"))
    }

    /// Lets the workers group and count the rows.
    pub(super) fn group_detached(&self, splitting: &Splitting<'_>) -> Result<Grouped, Error> {
        let at = self.at(Phase::Reading);
        let source = &self.run.job.source;
        let (terms, party) = (self.run.terms(), &self.peer.participants().party);
        let rows = source.rows().unwrap_or(terms.max_rows);
        let most = split::most_partitions(self.agreement, party, rows);
        let bucketed = self
            .workers_or_bug()?
            .group(splitting.secret(), most)
            .map_err(|WorkersFault| at(TransportError::CancelledHere.into()))?;
        if bucketed.distinct.len() as u64 != most {
            return Err(Error::Bug("workers grouped rows into another number of buckets"));
        }
        let (rows, limit) = (bucketed.rows, terms.max_rows);
        let path = || source.path().to_path_buf();
        if rows > limit {
            return Err(InputFault::from(InputError::TooManyRows { path: path(), limit }).into());
        }
        let counts = KeyCounts {
            rows,
            empty: bucketed.empty,
            refused: bucketed.refused,
            ..KeyCounts::default()
        };
        let keyed = bucketed.keyed;
        if keyed + counts.empty + counts.refused != rows {
            return Err(Error::Bug("not all rows were grouped"));
        }
        if keyed == 0 && terms.min_rows > 0 {
            let KeyCounts { rows, empty, refused, .. } = counts;
            let error = match rows {
                0 => InputError::NoRows { path: path(), format: source.format() },
                _ => InputError::NoKeys { path: path(), rows, empty, refused },
            };
            return Err(InputFault::from(error).into());
        }
        // Another version might send other messages.
        let kept = derive(ROWS_LABEL, &[&bucketed.digest, RunSpec::VERSION.as_bytes()]);
        self.peer.link().keep_rows(kept)?;
        let distinct = bucketed.distinct.iter().sum();
        Ok(Grouped::Detached(self.count(Streamed { counts, rows, keyed, items: keyed }, distinct)?))
    }

    /// Lets the workers run the protocol on all partitions.
    pub(super) fn match_detached(
        &self,
        ctx: &mut Context,
        session: &dyn Connection,
        Matched { row, role, params, plan }: Matched<'_>,
        splitting: &Splitting<'_>,
        check_secret: &[u8; 32],
    ) -> Result<(Got, u64), Error> {
        let at = self.at(Phase::Matching);
        let bug = |what| at(vesica_core::Error::Bug(what));
        let hash = self.agreement.hash();
        let detached = session.detached().ok_or_else(|| bug("a store has no detached streams"))?;
        let announced = |len: usize| (len as u64).saturating_sub(self.agreement.self_check_items());
        let orders = RunSpec {
            version: RunSpec::VERSION.to_owned(),
            agreement: self.agreement.canonical(),
            row: row.id.to_owned(),
            is_sender: role == Role::Sender,
            session: session.export(EXPORT_SESSION, hash.as_bytes()),
            sender_len: announced(params.sender_len()),
            receiver_len: announced(params.receiver_len()),
            partitions: plan.partitions(),
            splitter: *splitting.secret(),
            check_secret: *check_secret,
            seed: session.seed().ok_or_else(|| bug("a store session has no seed"))?,
            desk: detached.desk(),
            label: Phase::Matching.name().to_owned(),
        };
        let step = |done| self.step(done, plan);
        let workers = self.workers_or_bug()?;
        let found = run_detached(ctx, session, workers, &orders, &step).map_err(at)?;
        Ok((Got::Detached(found), found.direction_changes))
    }
}
