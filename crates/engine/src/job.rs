//! The inputs of one side of a run.

use crate::disk::SCRATCH_DEFAULT;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use vesica_agreement::Agreement;
use vesica_detached::Workers;
use vesica_link::{Identity, LinkOptions};
use vesica_store_session::Store;
use vesica_tables::{OutputOptions, Source};

/// All inputs of one side of a run.
pub struct Job {
    /// What was agreed.
    pub agreement: Agreement,
    /// This side's secret identity; it also says which party this is.
    pub identity: Identity,
    /// This side's rows.
    pub source: Source,
    /// For a key or a column of values of the agreement the column of the file that holds it, if
    /// the names differ.
    pub columns: BTreeMap<String, String>,
    /// The file for the result, if one is wanted; only if this side receives the result. The result
    /// is returned as an [`RunResult`](crate::RunResult) in any case.
    pub output: Option<OutputOptions>,
    /// The name of an additional column of the result file, which then has all rows of the file:
    /// `1` or `0`, or a boolean in Parquet, says which of them have a key in common. Only for an
    /// intersection, and only if this side receives it.
    pub mark: Option<String>,
    /// The file for what this side knows of the order of its shares, if one is wanted; only if the
    /// result is shares. See [`SharesOrder`](crate::SharesOrder).
    pub order: Option<OutputOptions>,
    /// The file for a list of the rows whose key is refused, if one is wanted. It is written after
    /// all rows have been read, even if the run later ends without a result; it replaces a file of
    /// that name if `force` says so.
    pub refused: Option<OutputOptions>,
    /// The address of the peer, or of the helper, to which a party connects. With a helper the
    /// waiting time counts whenever the helper cannot be reached.
    pub link: LinkOptions,
    /// The store through which the two parties meet instead of a connection: the endpoint names it
    /// then, and the waiting time applies to each object of the peer.
    pub store: Option<Arc<dyn Store>>,
    /// Workers for detached partitions, which have this party's rows, if the parties meet in a
    /// store and the result is an intersection; then `source` is not read.
    pub workers: Option<Arc<dyn Workers>>,
    /// CPU threads to use; with a helper, connections to it too.
    pub threads: NonZeroUsize,
    /// Memory limit of a run in bytes, for files of any size: data beyond it goes to files. Between
    /// two parties it applies to runs that are split into partitions.
    pub memory_bytes: u64,
    /// The folder for these files, which have no names; by default the current one, and with a
    /// helper the folder of the run's state. An intersection that may need files in a folder in
    /// which none can be created ends before it contacts another party.
    pub scratch: Option<PathBuf>,
    /// How an interrupted run continues. Between two parties over a connection a run is stored only
    /// if this names the folder, at both sides.
    pub state: StateOptions,
    /// Whether an insecure protocol that the agreement names may run.
    pub allow_insecure: bool,
    /// Whether a refused value is an error rather than a skipped and counted row.
    pub strict: bool,
}

/// Characters of the agreement's hash in the name of a folder.
const HASH_CHARS: usize = 16;

/// What a party stores of a run with a helper, so that it can continue after an interruption.
#[derive(Clone, Debug, Default)]
pub struct StateOptions {
    /// The folder for that, and for intermediate data; by default `vesica-run-HASH-PARTY` in the
    /// current folder. The run creates it if it does not exist, and removes it at the end.
    pub folder: Option<PathBuf>,
    /// Deletes an interrupted run, ends it for the other parties, and begins a new one.
    pub restart: bool,
}

impl Job {
    /// The folder for intermediate data of a run between two parties.
    pub(crate) fn scratch_folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(|| SCRATCH_DEFAULT.into())
    }
}

impl StateOptions {
    /// The folder of a run of `agreement` by the party of that name.
    pub fn folder_of(&self, agreement: &Agreement, party: &str) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| {
            let hash = agreement.hash().to_string();
            let hash = hash.get(..HASH_CHARS).unwrap_or(&hash);
            format!("vesica-run-{hash}-{party}").into()
        })
    }
}
