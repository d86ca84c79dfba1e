//! Measures a primitive: CPU seconds of this process, which runs both parties.

use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use vesica_core::{Role, SessionId};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_okvs::EncodeError;
use vesica_simd::Backend;

pub(crate) const SESSION: SessionId = SessionId::from_bytes([7; 32]);

/// The label of the measured part.
const MEASURED: &str = "measured";

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// A primitive ended with an error.
    #[error(transparent)]
    Run(#[from] vesica_core::Error),
    /// An encoding failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A file could not be read or written.
    #[error("{0} cannot be used")]
    File(PathBuf),
    /// A file has the wrong content.
    #[error("the figures are not JSON as expected")]
    Json(#[from] serde_json::Error),
    /// A figure could not be drawn.
    #[error("a figure could not be drawn")]
    Drawing,
}

/// The measurement of one primitive.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    /// Its name, such as `softspoken k=2`.
    name: String,
    /// The unit of `n`, such as `transfers`.
    unit: &'static str,
    n: u64,
    /// CPU seconds of both parties together, median over the runs.
    cpu_s: f64,
    /// `n` over `cpu_s`.
    per_s: f64,
    /// Payload bytes in both directions; `None` for the computation of one party.
    bytes: Option<u64>,
    runs: usize,
}

/// All figures.
#[derive(Serialize)]
pub(crate) struct Bench {
    schema: &'static str,
    kernels: &'static str,
    figures: Vec<Figure>,
    #[serde(skip)]
    runs: usize,
    #[serde(skip)]
    quick: bool,
    #[serde(skip)]
    only: Option<String>,
}

impl Bench {
    pub(crate) fn new(runs: usize, quick: bool, only: Option<String>) -> Self {
        let kernels = Backend::active().name();
        let (schema, figures) = ("vesica-bench-primitives/1", Vec::new());
        Self { schema, kernels, figures, runs: runs.max(1), quick, only }
    }

    pub(crate) fn to_json(&self) -> Result<String, BenchError> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// The large size, or the small one in a quick run.
    pub(crate) fn size(&self, large: u64, small: u64) -> u64 {
        if self.quick { small } else { large }
    }

    /// Sizes for costs that grow with n: 2^20, and 2^24 unless the run is quick.
    pub(crate) fn sizes(&self) -> &'static [usize] {
        if self.quick { &[1 << 20] } else { &[1 << 16, 1 << 20, 1 << 24] }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|word| name.contains(word.as_str()))
    }

    /// Measures `run` as often as requested; it returns CPU seconds, and bytes if there are any.
    pub(crate) fn measure(
        &mut self,
        name: &str,
        unit: &'static str,
        n: u64,
        mut run: impl FnMut() -> Result<(f64, Option<u64>), BenchError>,
    ) -> Result<(), BenchError> {
        if !self.wants(name) {
            return Ok(());
        }
        // Not counted: it warms up the memory for the others.
        run()?;
        let mut runs = (0..self.runs).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
        runs.sort_by(|(one, _), (two, _)| one.total_cmp(two));
        let (cpu_s, bytes) = runs[runs.len() / 2];
        let per_s = n as f64 / cpu_s.max(1e-9);
        let figure =
            Figure { name: name.to_owned(), unit, n, cpu_s, per_s, bytes, runs: self.runs };
        self.figures.push(figure);
        Ok(())
    }

    /// Measures the computation of one party.
    pub(crate) fn alone(
        &mut self,
        name: &str,
        unit: &'static str,
        n: u64,
        mut run: impl FnMut() -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        self.measure(name, unit, n, || {
            let start = cpu_seconds();
            run()?;
            Ok((cpu_seconds() - start, None))
        })
    }
}

/// CPU seconds of this process so far, user and system.
pub(crate) fn cpu_seconds() -> f64 {
    seconds_of(UsageWho::RUSAGE_SELF)
}

/// CPU seconds of this thread so far, user and system.
pub(crate) fn thread_seconds() -> f64 {
    seconds_of(UsageWho::RUSAGE_THREAD)
}

fn seconds_of(whom: UsageWho) -> f64 {
    let Ok(usage) = getrusage(whom) else { return 0.0 };
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .sum()
}

/// One party's part: the preparation before the clock starts, and the measured work.
pub(crate) struct Steps<P, W> {
    prepare: P,
    work: W,
}

impl<P, W> Steps<P, W> {
    pub(crate) fn new<A>(prepare: P, work: W) -> Self
    where
        P: FnOnce(&mut Context) -> vesica_core::Result<A>,
        W: FnOnce(&mut Context, A) -> vesica_core::Result<()>,
    {
        Self { prepare, work }
    }
}

/// Runs both parties in this process, each with one thread; returns the CPU seconds and the payload
/// bytes of the measured part.
pub(crate) fn both<A: Send, B: Send>(
    sender: Steps<
        impl FnOnce(&mut Context) -> vesica_core::Result<A> + Send,
        impl FnOnce(&mut Context, A) -> vesica_core::Result<()> + Send,
    >,
    receiver: Steps<
        impl FnOnce(&mut Context) -> vesica_core::Result<B> + Send,
        impl FnOnce(&mut Context, B) -> vesica_core::Result<()> + Send,
    >,
) -> Result<(f64, Option<u64>), BenchError> {
    let (sender_end, receiver_end) = memory::pair();
    let ready = Barrier::new(3);
    let (ready, meters) = (&ready, [Meter::new(), Meter::new()]);
    let (start, sent, received) = std::thread::scope(|scope| {
        let sending = {
            let meter = meters[0].clone();
            scope.spawn(move || party(Role::Receiver, sender_end, meter, ready, sender))
        };
        let receiving = {
            let meter = meters[1].clone();
            scope.spawn(move || party(Role::Sender, receiver_end, meter, ready, receiver))
        };
        ready.wait();
        let start = cpu_seconds();
        ready.wait();
        let join = |thread: std::thread::ScopedJoinHandle<'_, vesica_core::Result<()>>| match thread
            .join()
        {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (start, join(sending), join(receiving))
    });
    let cpu_s = cpu_seconds() - start;
    sent?;
    received?;
    let bytes = meters.iter().map(|meter| meter.bytes_under(MEASURED).0).sum();
    Ok((cpu_s, Some(bytes)))
}

fn party<A>(
    peer: Role,
    streams: Arc<dyn Streams>,
    meter: Meter,
    ready: &Barrier,
    steps: Steps<
        impl FnOnce(&mut Context) -> vesica_core::Result<A>,
        impl FnOnce(&mut Context, A) -> vesica_core::Result<()>,
    >,
) -> vesica_core::Result<()> {
    let seed = [peer as u8; 32];
    let prepared = Pool::new(NonZeroUsize::MIN)
        .and_then(|pool| Context::new(vec![(peer, Arc::clone(&streams))], seed, pool, meter))
        .and_then(|mut ctx| {
            let prepared = (steps.prepare)(&mut ctx)?;
            // The other side would wait for data that is still buffered here.
            ctx.finish()?;
            Ok((prepared, ctx))
        });
    // Both wait in any case, or the others would wait forever.
    ready.wait();
    ready.wait();
    let done = prepared.and_then(|(prepared, mut ctx)| {
        ctx.child(MEASURED, |ctx| {
            (steps.work)(ctx, prepared)?;
            ctx.finish()
        })
    });
    if let Err(error) = &done {
        streams.abort(error.stop_reason());
    }
    done
}
