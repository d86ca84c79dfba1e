//! The oblivious switching network: both parties in this process with the requested threads.

use crate::measure::{BenchError, SESSION, cpu_seconds, thread_seconds};
use clap::ValueEnum;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use vesica_core::{Error, Role};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_simd::Backend;
use vesica_switching::oblivious::{self, Form, Rows, Sizes};

/// The form to measure.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormName {
    /// Silent correlated transfers
    Correlated,
    /// Two ciphertexts on IKNP
    TwoCiphertexts,
}

impl From<FormName> for Form {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Correlated => Form::Correlated,
            FormName::TwoCiphertexts => Form::TwoCiphertexts,
        }
    }
}

/// The measurement.
#[derive(Serialize)]
struct Figure {
    schema: &'static str,
    kernels: &'static str,
    form: &'static str,
    inputs: usize,
    outputs: usize,
    bits: u32,
    threads: NonZeroUsize,
    switches: u64,
    /// Wall-clock time of the median run.
    seconds: f64,
    /// CPU seconds of the process, including the threads that transfer bytes.
    cpu_s: f64,
    /// CPU seconds of the threads that run the parties.
    holder_s: f64,
    router_s: f64,
    /// Payload bytes.
    bytes_holder_to_router: u64,
    bytes_router_to_holder: u64,
    runs: usize,
}

/// Measures `runs` runs and returns the median as JSON.
pub(crate) fn to_json(
    form: FormName,
    shape: Sizes,
    threads: NonZeroUsize,
    runs: usize,
) -> Result<String, BenchError> {
    let mut rng = rand_chacha::ChaCha20Rng::from_seed([1; 32]);
    let mut injection: Vec<u32> = (0..shape.inputs as u32).collect();
    injection.shuffle(&mut rng);
    injection.truncate(shape.outputs);
    let words = (0..shape.inputs as u64 * u64::from(shape.bits.div_ceil(64)))
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let rows = Rows::from_words(shape.inputs, shape.bits, words.collect());
    let mut figures = Vec::new();
    for _ in 0..runs.max(1) {
        figures.push(once(form.into(), &shape, &rows, &injection, threads)?);
    }
    figures.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let figure = figures.swap_remove(figures.len() / 2);
    Ok(serde_json::to_string_pretty(&Figure { runs: runs.max(1), ..figure })?)
}

fn once(
    form: Form,
    shape: &Sizes,
    rows: &Rows,
    injection: &[u32],
    threads: NonZeroUsize,
) -> Result<Figure, BenchError> {
    let (holder_end, router_end) = memory::pair();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let (holder, router) = std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            party(Role::Receiver, holder_end, threads, |ctx| {
                oblivious::hold(ctx, &SESSION, form, rows, shape.outputs)
            })
        });
        let router = scope.spawn(|| {
            party(Role::Sender, router_end, threads, |ctx| {
                oblivious::route(ctx, &SESSION, form, injection, shape)
            })
        });
        (holder.join(), router.join())
    });
    let (seconds, cpu_s) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let done = |result: std::thread::Result<_>| match result {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let (mut sum, holder_s, from_holder) = done(holder)?;
    let (other, router_s, from_router) = done(router)?;
    sum.xor_with(&other);
    if sum != rows.select(injection) {
        return Err(Error::Bug("the shares are not those of the rows").into());
    }
    Ok(Figure {
        schema: "vesica-bench-switching/1",
        kernels: Backend::active().name(),
        form: match form {
            Form::Correlated => "correlated",
            Form::TwoCiphertexts => "two ciphertexts",
        },
        inputs: shape.inputs,
        outputs: shape.outputs,
        bits: shape.bits,
        threads,
        switches: shape.switches(),
        seconds,
        cpu_s,
        holder_s,
        router_s,
        bytes_holder_to_router: from_holder,
        bytes_router_to_holder: from_router,
        runs: 1,
    })
}

/// A party's share, the CPU seconds of its thread, and its sent bytes.
fn party(
    peer: Role,
    streams: Arc<dyn Streams>,
    threads: NonZeroUsize,
    run: impl FnOnce(&mut Context) -> vesica_core::Result<Rows>,
) -> vesica_core::Result<(Rows, f64, u64)> {
    let (start, meter) = (thread_seconds(), Meter::new());
    let done = Pool::new(threads)
        .and_then(|pool| {
            let peers = vec![(peer, Arc::clone(&streams))];
            Context::new(peers, [peer as u8; 32], pool, meter.clone())
        })
        .and_then(|mut ctx| {
            let share = run(&mut ctx)?;
            ctx.finish()?;
            Ok(share)
        });
    if let Err(error) = &done {
        streams.abort(error.stop_reason());
    }
    Ok((done?, thread_seconds() - start, meter.bytes_under("").0))
}
