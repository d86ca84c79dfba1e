//! One of two parties, over a real session.

use crate::party_figures::{PartyFigures, PhaseFigures};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use vesica_agreement::split::{self, Joined};
use vesica_core::{Bounds, EarlyReveal, Learns, PsiParams, Query, Role, SessionId};
use vesica_engine::without_agreement::{SplitRun, context, run_alone};
use vesica_engine::{ConfigFault, Error, Phase};
use vesica_link::{CancelToken, Identity, LinkEvent, LinkOptions, PublicIdentity, establish};
use vesica_net::{Connection, Meter};
use vesica_partitions::Plan;
use vesica_protocols::Protocol;
use vesica_report::Stopwatch;
use vesica_sample_data::MadeUp;
use vesica_scratch::FolderScratch;

/// The label of the protocol.
const RUN: &str = "run";

const EXPORT_SESSION: &str = "EXPORTER-vesica-bench";

/// The part of one of two parties.
pub(crate) struct TwoParties {
    /// The protocol.
    pub(crate) protocol: &'static Protocol,
    /// Which side of it.
    pub(crate) role: Role,
    /// n_x, the sender's set size.
    pub(crate) sender_len: u64,
    /// n_y, the receiver's set size.
    pub(crate) receiver_len: u64,
    /// Number of common items, at most the size of the smaller set.
    pub(crate) common_len: u64,
    /// Who learns the answer.
    pub(crate) learns: Learns,
    /// The question.
    pub(crate) query: Query,
    /// The threshold: common items needed for an answer.
    pub(crate) bounds: Bounds,
    /// When both parties learn the matches, if the protocol can reveal them early.
    pub(crate) early_reveal: EarlyReveal,
    /// σ: 128 for digests, less for integers of a small domain. The domain must have room for the
    /// items of both sets together, and for zero if the protocol reserves it.
    pub(crate) item_bits: u32,
    /// The other side's identity.
    pub(crate) peer: PublicIdentity,
    /// About how much memory a run in partitions may take.
    pub(crate) memory_bytes: u64,
    /// A folder for data that exceeds the memory.
    pub(crate) folder: PathBuf,
}

/// Runs `bench`. `on_event` is called with the address where the party listens.
///
/// # Errors
/// Any [`Error`].
pub(crate) fn run(
    bench: TwoParties,
    threads: NonZeroUsize,
    identity: &Identity,
    link: &LinkOptions,
    on_event: &dyn Fn(LinkEvent),
    cancel: &CancelToken,
) -> Result<PartyFigures, Error> {
    let peer_name = bench.role.other().map(|role| role.to_string()).unwrap_or_default();
    let at = |error| match error {
        vesica_core::Error::Storage(kind) => {
            ConfigFault::Scratch { folder: bench.folder.clone(), kind }.into()
        }
        error => Error::from_run(error, Phase::Matching, &peer_name),
    };
    // The plan does not depend on the session.
    let whole = !plan(&bench, SessionId::from_bytes([0; 32])).map_err(at)?.1.is_split();
    let sets = made_up(&bench);
    let input = whole.then(|| sets.input());

    let session = establish(identity, &[bench.peer], link, on_event, cancel)
        .map_err(|error| Error::from_link(error, &peer_name))?;
    let session: Arc<dyn Connection> = Arc::new(session);
    let meter = Meter::new();
    let mut ctx = context(&session, bench.role, &peer_name, threads, &meter)?;
    ctx.child("ready", |ctx| {
        ctx.peer()?.send(&[1])?;
        ctx.peer()?.recv(1)
    })
    .map_err(at)?;

    let scratch = FolderScratch::new(bench.folder.clone());
    let stopwatch = Stopwatch::start();
    let mut identities = [identity.public(), bench.peer];
    identities.sort_by_key(|identity| *identity.as_bytes());
    let context_of_bench = identities.map(|identity| *identity.as_bytes()).concat();
    let id = SessionId::from_bytes(session.export(EXPORT_SESSION, &context_of_bench));
    let (params, plan) = plan(&bench, id).map_err(at)?;
    let (direction_changes, used, result_ok) = match input {
        Some(input) => {
            let party = bench.protocol.party(bench.role, params, input);
            let (output, changes) =
                party.and_then(|party| run_alone(party, &mut ctx, RUN)).map_err(at)?;
            let used = stopwatch.read();
            let is_right = ctx.child("result", |ctx| sets.is_right(output, ctx)).map_err(at)?;
            (changes, used, is_right)
        }
        None => {
            let split = SplitRun {
                session: &*session,
                session_context: &context_of_bench,
                row: bench.protocol,
                role: bench.role,
                params: &params,
                plan,
                scratch: &scratch,
                memory_bytes: bench.memory_bytes,
                threads,
            };
            let (rows, changes) = split.run(&mut ctx, &sets.items(), RUN).map_err(at)?;
            (changes, stopwatch.read(), sets.are_right(rows))
        }
    };
    drop(ctx);
    session.close().map_err(|error| at(error.into()))?;

    let formula = if plan.is_split() {
        split::traffic(bench.protocol, &params)
    } else {
        (bench.protocol.bytes)(&params)
    };
    let [formula_sent, formula_received] = match bench.role {
        Role::Sender => [formula.sender_to_receiver, formula.receiver_to_sender],
        _ => [formula.receiver_to_sender, formula.sender_to_receiver],
    };
    let (payload_sent, payload_received) = meter.bytes_under(RUN);
    let (wire_sent, wire_received) = session.wire_bytes();
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
        phases: phases(&meter),
    })
}

fn made_up(bench: &TwoParties) -> MadeUp {
    MadeUp {
        role: bench.role,
        sender_len: bench.sender_len,
        receiver_len: bench.receiver_len,
        common_len: bench.common_len,
        learns: bench.learns,
        query: bench.query,
        bounds: bench.bounds,
        item_bits: bench.item_bits,
        reserves_zero: bench.protocol.reserves_zero,
    }
}

/// The parameters of a run, and how its sets are split.
fn plan(bench: &TwoParties, id: SessionId) -> vesica_core::Result<(PsiParams, Plan)> {
    let params = PsiParams::new(id, bench.sender_len, bench.receiver_len, bench.learns)?
        .with_item_bits(bench.item_bits)?
        .with_query(bench.query)
        .with_bounds(bench.bounds)
        .with_early_reveal(bench.early_reveal);
    let plan = match split::joined(bench.protocol, &params) {
        Some(Joined::Sets) => split::plan(bench.protocol, &params),
        _ => Plan::WHOLE,
    };
    Ok((params, plan))
}

/// The parts of the run, by label.
fn phases(meter: &Meter) -> Vec<PhaseFigures> {
    let of_run = |label: &str| Some(label.strip_prefix(RUN)?.strip_prefix('/')?.to_owned());
    let rows = meter.report().into_iter();
    rows.filter_map(|row| {
        Some(PhaseFigures {
            name: of_run(&row.label)?,
            wall_s: row.wall.as_secs_f64(),
            bytes_sent: row.bytes_sent,
            bytes_received: row.bytes_received,
        })
    })
    .collect()
}
