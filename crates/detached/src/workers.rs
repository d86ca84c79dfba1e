//! Programs in other processes that have the rows of a party and do the work of its partitions.

use crate::{RunSpec, Task, TaskResult};
use vesica_core::Item;

/// Programs in other processes, such as the executors of a cluster, that have a party's rows. This
/// process hands out tasks, and has neither rows nor items.
///
/// An implementation sees the rows and secrets of the run. It must be as trusted as this process.
pub trait Workers: Send + Sync {
    /// Makes items of all rows, and groups them into `buckets` buckets, a power of two, as
    /// [`buckets_of`] does under `secret`. The same rows must give the same items each time.
    ///
    /// # Errors
    /// [`WorkersFault`].
    fn group(&self, secret: &[u8; 32], buckets: u64) -> Result<BucketCounts, WorkersFault>;

    /// Stores the bytes of each entry of `kept` under its name, then has all `tasks` run, each at
    /// least once; there may be no tasks. Of B buckets, those from p·B/P up to (p + 1)·B/P belong
    /// to partition p of P. Returns the results of the tasks, in their order.
    ///
    /// # Errors
    /// [`WorkersFault`].
    fn take(
        &self,
        run_spec: &RunSpec,
        tasks: &[Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault>;
}

/// Counts of the rows that workers have grouped into buckets.
#[derive(Clone, Debug, Default)]
pub struct BucketCounts {
    /// All rows.
    pub rows: u64,
    /// Rows with an empty key.
    pub empty: u64,
    /// Rows with a key that its profile refuses.
    pub refused: u64,
    /// Rows in buckets.
    pub keyed: u64,
    /// How many distinct items each bucket has.
    pub distinct: Vec<u64>,
    /// The digest of all items, bucket by bucket.
    pub digest: [u8; 32],
}

/// The workers could not do the work. The implementation of [`Workers`] knows why; the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkersFault;

/// The bucket of each of `items`, out of `buckets`, a power of two: the item's leading bits under
/// `secret`.
pub fn buckets_of(secret: &[u8; 32], items: &[Item], buckets: u64) -> Vec<u16> {
    let mut prefixes = Vec::new();
    vesica_partitions::Splitter::new(secret).prefixes(items, &mut prefixes);
    let shift = vesica_core::params::Runs::MAX.count().ilog2() - buckets.max(1).ilog2();
    prefixes.iter_mut().for_each(|prefix| *prefix >>= shift);
    prefixes
}
