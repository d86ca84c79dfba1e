//! One party of a benchmark with a helper, on items that are made as they are needed.

use super::meeting::{Envelopes, MeetingError, meet};
use super::state::{State, StateError};
use crate::resources::Stopwatch;
use crate::{Error, Phase};
use serde::{Deserialize, Serialize};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_core::{Block, Item};
use vesica_helper::{FolderScratch, Remote, RemoteOptions};
use vesica_link::{CancelToken, Identity, LinkOptions, PublicIdentity};
use vesica_net::{Meter, Pool, Progress};
use vesica_protocols::kmrs14::{self, Boards, Items, Means, Spec};
use vesica_simd::aes::Aes128;

/// Items made at once.
const BATCH: usize = 1 << 12;

/// What one party of a benchmark runs.
pub struct AidedBenchParty {
    /// What the helper is told.
    pub spec: Spec,
    /// Whether labels are the items themselves: what it would cost to hide nothing.
    pub in_clear: bool,
    /// Which party this is.
    pub party: u8,
    /// Its rows, all different.
    pub rows: u64,
    /// How many items all parties have.
    pub common: u64,
    /// This party's identity.
    pub identity: Identity,
    /// The helper's.
    pub helper: PublicIdentity,
    /// Where the helper is: `host:port`.
    pub address: String,
    /// How long to wait for it. The endpoint is not looked at.
    pub link: LinkOptions,
    /// CPU threads, and connections to the helper.
    pub threads: NonZeroUsize,
    /// About how much memory intermediate data may take.
    pub memory_bytes: u64,
    /// A folder for the rest of it.
    pub folder: PathBuf,
}

/// What one party used, from before it connects to its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AidedBenchFigures {
    /// Wall seconds.
    pub wall_s: f64,
    /// CPU seconds of this process.
    pub cpu_s: f64,
    /// Peak resident memory of this process.
    pub peak_rss_bytes: u64,
    /// Bytes of slots sent, by the catalogue's formula.
    pub formula_sent: u64,
    /// Bytes of slots received, by the catalogue's formula.
    pub formula_received: u64,
    /// Payload bytes sent, requests and the parties' meeting included.
    pub payload_sent: u64,
    /// Payload bytes received.
    pub payload_received: u64,
    /// All bytes sent over TCP, TLS included.
    pub wire_sent: u64,
    /// All bytes received over TCP, TLS included.
    pub wire_received: u64,
    /// Whether the result is exactly the expected one.
    pub result_ok: bool,
}

/// Rows whose first are those of all parties.
struct MadeUp {
    rows: u64,
    common: u64,
    own: u128,
    aes: Aes128,
}

impl MadeUp {
    fn new(party: u8, rows: u64, common: u64) -> Self {
        // A permutation: different numbers give different items, 16 bytes each as in the paper.
        Self {
            rows,
            common,
            own: u128::from(party) + 1,
            aes: Aes128::new(Block::new(0x76_65_73_69_63_61)),
        }
    }
}

impl Items for MadeUp {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn each(&self, take: &mut dyn FnMut(u64, &[Item]) -> io::Result<()>) -> io::Result<()> {
        let (mut blocks, mut items) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        for first in (0..self.rows).step_by(BATCH) {
            let number = |row: u64| match row < self.common {
                true => u128::from(row),
                false => self.own << 64 | u128::from(row),
            };
            blocks.clear();
            blocks.extend(
                (first..self.rows.min(first + BATCH as u64)).map(|row| Block::new(number(row))),
            );
            self.aes.encrypt(&mut blocks);
            items.clear();
            items.extend(blocks.iter().map(|block| Item::from_integer(block.get())));
            take(first, &items)?;
        }
        Ok(())
    }
}

struct Quiet;

impl Progress for Quiet {
    fn step(&self, _: &str, _: u64, _: u64) {}
}

/// Runs one party.
///
/// # Errors
/// Any [`Error`].
pub fn run_aided_bench(
    bench: AidedBenchParty,
    cancel: &CancelToken,
) -> Result<AidedBenchFigures, Error> {
    let names: Vec<String> =
        (0..bench.spec.parties.len()).map(|party| format!("party {party}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder: &Path = &bench.folder;
    let at = |error| Error::from_helper(error, Phase::Matching, "helper", &names, folder);
    let kept = |error: io::Error| at(vesica_core::Error::Storage(error.kind()));
    let state = State::open(folder, [0; 32]).map_err(|error| match error {
        StateError::InUse | StateError::NotOurs | StateError::OfAnother => {
            Error::Bug("a benchmark's folder is in use")
        }
        StateError::Io(error) => kept(error),
    })?;
    let items = MadeUp::new(bench.party, bench.rows, bench.common);

    let stopwatch = Stopwatch::start();
    let meter = Meter::new();
    let pool = Pool::new(bench.threads).map_err(at)?;
    let remote = Remote::new(RemoteOptions {
        identity: bench.identity.clone(),
        helper: bench.helper,
        address: bench.address.clone(),
        link: bench.link.clone(),
        spec: bench.spec.clone(),
        lanes: bench.threads.get(),
        instance: None,
        pool: pool.clone(),
        meter: meter.clone(),
        cancel: cancel.clone(),
        on_event: Arc::new(|_| {}),
    });
    let (secrets, own_secret) = state.secrets().map_err(kept)?;
    let mut board = remote.open().map_err(at)?;
    let scale = bench.spec.scale(bench.rows) as u8;
    let met =
        meet(&mut *board, &bench.spec, bench.party, &bench.identity, &state, (&secrets, scale));
    let common = met.map_err(|error| match error {
        MeetingError::Run(error) => at(error),
        MeetingError::Storage(error) => kept(error),
        MeetingError::Letter(kind) => Error::Letter { party: None, kind },
    })?;
    let scratch = FolderScratch::new(folder.to_path_buf());
    let means = Means {
        scratch: &scratch,
        memory_bytes: bench.memory_bytes,
        pool: &pool,
        progress: &Quiet,
    };
    let facts = kmrs14::Run {
        spec: &bench.spec,
        party: bench.party,
        scales: &common.scales,
        secret: &common.secret,
        own_secret: &own_secret,
        seal: &Envelopes::new(&common.secret),
        memory: &state,
    };
    let outcome = match bench.in_clear {
        true => kmrs14::run_in_clear(&facts, &items, &means, &remote),
        false => kmrs14::run(&facts, &items, &means, &remote),
    };
    let outcome = outcome.map_err(at)?;
    let used = stopwatch.read();
    remote.done().map_err(at)?;

    let result_ok = outcome.matched.is_some_and(|matched| {
        let is_common = |row: u64| matched.rows[(row / 64) as usize] >> (row % 64) & 1 == 1;
        matched.items == bench.common
            && (0..bench.rows).all(|row| is_common(row) == (row < bench.common))
    });
    let keys: Vec<u64> = outcome.list_lens.iter().map(|len| bench.spec.items(*len)).collect();
    let (formula_sent, formula_received) =
        bench.spec.bytes(&common.scales, &keys)[usize::from(bench.party)];
    let (payload_sent, payload_received) = meter.bytes_under("");
    let (wire_sent, wire_received) = remote.wire_bytes();
    drop(remote);
    state.remove().map_err(kept)?;
    Ok(AidedBenchFigures {
        wall_s: used.wall_s,
        cpu_s: used.cpu_s,
        peak_rss_bytes: used.peak_rss_bytes,
        formula_sent,
        formula_received,
        payload_sent,
        payload_received,
        wire_sent,
        wire_received,
        result_ok,
    })
}
