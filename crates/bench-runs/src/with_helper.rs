//! A party that talks to a helper, with items generated on demand.

use crate::party_figures::PartyFigures;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_core::{Block, Item, Items};
use vesica_engine::{Error, Phase};
use vesica_helper_client::{Envelopes, FolderError, MeetingError, State, StateError, meet};
use vesica_helper_client::{Remote, RemoteOptions};
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions, PublicIdentity};
use vesica_net::{Meter, Pool, Progress};
use vesica_protocols::kmrs14::{self, Boards, Means, Spec};
use vesica_report::Stopwatch;
use vesica_scratch::FolderScratch;
use vesica_simd::aes::Aes128;

/// Items generated at once.
const BATCH: usize = 1 << 12;

/// The part of a party that talks to a helper.
pub(crate) struct WithHelper {
    /// The spec that the helper gets.
    pub(crate) spec: Spec,
    /// Whether labels are the items themselves, to measure the cost of hiding them.
    pub(crate) in_clear: bool,
    /// The index of this party.
    pub(crate) party: u8,
    /// Its rows, all different.
    pub(crate) rows: u64,
    /// Number of items that all parties have.
    pub(crate) common: u64,
    /// The helper's identity.
    pub(crate) helper: PublicIdentity,
    /// About how much memory intermediate data may take.
    pub(crate) memory_bytes: u64,
    /// A folder for more intermediate data.
    pub(crate) folder: PathBuf,
}

/// Rows that begin with the ones all parties have.
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
            let number = |row: u64| {
                if row < self.common { u128::from(row) } else { self.own << 64 | u128::from(row) }
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

/// Runs `bench`.
///
/// # Errors
/// Any [`Error`].
pub(crate) fn run(
    bench: WithHelper,
    threads: NonZeroUsize,
    identity: Identity,
    link: LinkOptions,
    cancel: &CancelToken,
) -> Result<PartyFigures, Error> {
    let Endpoint::Connect(address) = link.endpoint.clone() else {
        return Err(Error::Bug("a party waits for its helper"));
    };
    let names: Vec<String> =
        (0..bench.spec.parties.len()).map(|party| format!("party {party}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder: &Path = &bench.folder;
    let at = |error| Error::from_helper(error, Phase::Matching, "helper", &names, folder);
    let kept = |error: io::Error| at(vesica_core::Error::Storage(error.kind()));
    let state = State::open(folder, [0; 32]).map_err(|error| match error {
        StateError::Folder(FolderError::Io(kind)) => kept(kind.into()),
        _ => Error::Bug("a benchmark's folder is in use"),
    })?;
    let items = MadeUp::new(bench.party, bench.rows, bench.common);

    let meter = Meter::new();
    let pool = Pool::new(threads).map_err(at)?;
    let remote = Remote::new(RemoteOptions {
        identity: identity.clone(),
        helper: bench.helper,
        address,
        link,
        spec: bench.spec.clone(),
        lanes: threads.get(),
        instance: None,
        pool: pool.clone(),
        meter: meter.clone(),
        cancel: cancel.clone(),
        on_event: Arc::new(|_| {}),
    });
    let (secrets, own_secret) = state.secrets().map_err(kept)?;
    let mut board = remote.open().map_err(at)?;
    // As between two parties, connecting does not count. Waiting for the other parties counts, and
    // so do all bytes that the parties send.
    let stopwatch = Stopwatch::start();
    let scale = bench.spec.scale(bench.rows) as u8;
    let common = meet(&mut *board, &bench.spec, bench.party, &identity, &state, &secrets, scale)
        .map_err(|error| match error {
            MeetingError::Run(error) => at(error),
            MeetingError::Storage(error) => kept(error),
            MeetingError::Letter(kind) => Error::Letter { party: None, kind },
        })?;
    // The run reuses the connection of the meeting.
    drop(board);
    let scratch = FolderScratch::new(folder.to_path_buf());
    let means = Means {
        scratch: &scratch,
        memory_bytes: bench.memory_bytes,
        pool: &pool,
        progress: &Quiet,
    };
    let facts = kmrs14::RunFacts {
        spec: &bench.spec,
        party: bench.party,
        scales: &common.scales,
        secret: &common.secret,
        own_secret: &own_secret,
        seal: &Envelopes::new(&common.secret),
        memory: &state,
    };
    let outcome = if bench.in_clear {
        kmrs14::run_in_clear(&facts, &items, &means, &remote)
    } else {
        kmrs14::run(&facts, &items, &means, &remote)
    }
    .map_err(at)?;
    let used = stopwatch.read();
    let direction_changes = meter.report().into_iter().map(|row| row.flights).max().unwrap_or(0);
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
    Ok(PartyFigures {
        used,
        formula_sent,
        formula_received,
        payload_sent,
        payload_received,
        wire_sent,
        wire_received,
        direction_changes,
        peak_scratch_bytes: scratch.peak_bytes(),
        result_ok,
        phases: Vec::new(),
    })
}
