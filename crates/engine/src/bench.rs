//! One party of a benchmark: a protocol on generated items over a real session.

use crate::resources::Stopwatch;
use crate::run::{context, run_alone};
use crate::{Error, Phase};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::{Item, Learns, PsiParams, Role, SessionId, hash};
use vesica_link::{CancelToken, Identity, LinkEvent, LinkOptions, PublicIdentity, establish};
use vesica_net::Meter;
use vesica_protocols::{Output, Protocol};

const ITEM_LABEL: &str = "vesica v1 bench item";
/// The label of the protocol.
const RUN: &str = "run";

const EXPORT_SESSION: &str = "EXPORTER-vesica-bench";

/// What one party of a benchmark runs.
pub struct BenchParty {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// Which side of it.
    pub role: Role,
    /// n_x, the sender's set size.
    pub sender_len: u64,
    /// n_y, the receiver's set size.
    pub receiver_len: u64,
    /// σ: 128 for digests, less for integers of a small domain, which must have room for all
    /// [`items_len`] of them.
    pub item_bits: u32,
    /// CPU threads to use.
    pub threads: NonZeroUsize,
    /// This side's identity.
    pub identity: Identity,
    /// The other side's.
    pub peer: PublicIdentity,
    /// Where the other side is.
    pub link: LinkOptions,
}

/// What one party used, from the moment both were ready to its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchFigures {
    /// Wall seconds.
    pub wall_s: f64,
    /// CPU seconds of this process.
    pub cpu_s: f64,
    /// Peak resident memory of this process, its items included.
    pub peak_rss_bytes: u64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// All bytes sent over TCP since the connection was made, TLS included.
    pub wire_sent: u64,
    /// Times this party changed between sending and receiving, pipelined blocks included.
    pub direction_changes: u64,
    /// Whether the result is exactly the expected one.
    pub result_ok: bool,
    /// The parts of the protocol.
    pub phases: Vec<PhaseFigures>,
}

/// What one part of a protocol used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Its label, with those above it: `encoding`.
    pub name: String,
    /// Wall seconds, waiting for the peer included. Parts that run side by side overlap.
    pub wall_s: f64,
    /// Payload bytes sent, without those of parts below it.
    pub bytes_sent: u64,
    /// Payload bytes received, without those of parts below it.
    pub bytes_received: u64,
}

/// Half of the smaller set is common to both.
pub fn common_len(sender_len: u64, receiver_len: u64) -> u64 {
    sender_len.min(receiver_len).div_ceil(2)
}

/// Different items of both parties together.
pub fn items_len(sender_len: u64, receiver_len: u64) -> u64 {
    sender_len + receiver_len - common_len(sender_len, receiver_len)
}

/// Runs one party. `on_event` hears where it listens.
///
/// # Errors
/// Any [`Error`].
pub fn run_party(
    bench: BenchParty,
    on_event: &dyn Fn(LinkEvent),
    cancel: &CancelToken,
) -> Result<BenchFigures, Error> {
    let peer_name = bench.role.other().map(|role| role.to_string()).unwrap_or_default();
    let at = |error| Error::from_run(error, Phase::Matching, &peer_name);
    let items = Arc::new(own_items(&bench));
    let common = common_len(bench.sender_len, bench.receiver_len);

    let session = establish(&bench.identity, &[bench.peer], &bench.link, on_event, cancel)
        .map_err(|error| Error::from_link(error, &peer_name))?;
    let meter = Meter::new();
    let mut ctx = context(&session, bench.role, &peer_name, bench.threads, &meter)?;
    ctx.child("ready", |ctx| {
        ctx.peer()?.send(&[1])?;
        ctx.peer()?.recv(1)
    })
    .map_err(at)?;

    let stopwatch = Stopwatch::start();
    let mut identities = [bench.identity.public(), bench.peer];
    identities.sort_by_key(|identity| *identity.as_bytes());
    let context = identities.map(|identity| *identity.as_bytes()).concat();
    let id = SessionId::from_bytes(session.export(EXPORT_SESSION, &context));
    let params = PsiParams::new(id, bench.sender_len, bench.receiver_len, Learns::Receiver)
        .and_then(|params| params.with_item_bits(bench.item_bits))
        .map_err(at)?;
    let party = bench.protocol.party(bench.role, params, items);
    let (output, direction_changes) =
        party.and_then(|party| run_alone(party, &mut ctx, RUN)).map_err(at)?;
    let used = stopwatch.read();
    drop(ctx);
    session.close().map_err(|error| at(error.into()))?;

    let result_ok = match (bench.role, output) {
        (Role::Receiver, Output::Positions(positions)) => {
            positions.iter().copied().eq(0..common as usize)
        }
        (Role::Sender, Output::Nothing) => true,
        _ => false,
    };
    let (bytes_sent, bytes_received) = meter.bytes_under(RUN);
    Ok(BenchFigures {
        wall_s: used.wall_s,
        cpu_s: used.cpu_s,
        peak_rss_bytes: used.peak_rss_bytes,
        bytes_sent,
        bytes_received,
        wire_sent: session.wire_bytes().0,
        direction_changes,
        result_ok,
        phases: phases(&meter),
    })
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

/// The sender has items 0 to n_x − 1; the receiver the first of these and then others.
fn own_items(bench: &BenchParty) -> Vec<Item> {
    let item = |i: u64| {
        if bench.item_bits < Item::BITS {
            // An odd factor permutes the domain, so different numbers stay different.
            let spread = u128::from(i) * 0x9e37_79b9_7f4a_7c15;
            return Item::from_integer(spread & ((1 << bench.item_bits) - 1));
        }
        let mut bytes = [0; Item::LEN];
        bytes.copy_from_slice(&hash::derive(ITEM_LABEL, &[&i.to_le_bytes()])[..Item::LEN]);
        Item::from_bytes(bytes)
    };
    let common = common_len(bench.sender_len, bench.receiver_len);
    match bench.role {
        Role::Sender => (0..bench.sender_len).map(item).collect(),
        _ => {
            let others = bench.sender_len..items_len(bench.sender_len, bench.receiver_len);
            (0..common).chain(others).map(item).collect()
        }
    }
}
