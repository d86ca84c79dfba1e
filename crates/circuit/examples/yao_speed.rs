//! Speed of garbled circuits over memory: `cargo run --profile dist -p vesica-circuit --example
//! yao_speed [log2 of the items [rounds [threads]]]`.
//!
//! The circuit is a bitonic merger of two lists of 32-bit items, or layers of switches: wall-clock
//! time, and the CPU time of each party's thread, one thread each; the minimum over all rounds.
//! Then each party works alone, on one thread and on several: its peer only takes its messages, or
//! sends those of another run. Of that, the fastest call of 2^15 gates counts, so that a busy
//! machine needs to be idle only for a moment.

#![allow(clippy::print_stdout, reason = "prints its results")]

#[allow(dead_code, unreachable_pub, unused_imports, reason = "of which a part is used")]
#[path = "../../testkit/src/two_parties/mod.rs"]
mod two_parties;

use std::sync::Mutex;
use std::time::{Duration, Instant};
use two_parties::{Runner, Transcript};
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Computation, Known, Reveal, gadgets};
use vesica_core::{Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;

const SESSION: SessionId = SessionId::from_bytes([1; 32]);
const WIDTH: usize = 32;

/// CPU time of this thread.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

/// Lanes of a call when a party works alone, of two-sorters half as many.
const LANES: usize = 1024;

/// The operation on the sender's private word.
#[derive(Clone, Copy)]
enum Work {
    Merge,
    /// Two-sorters of the first lanes, again and again.
    Sort2,
    /// Every layer of a network of switches: one-sided gates and XORs.
    Switch,
}

fn evaluate<C: Computation>(
    c: &mut C,
    work: Work,
    own: Option<&[Bits]>,
    known: Known<'_>,
    len: usize,
) -> Result<(Instant, Duration, Duration)> {
    let mut word = c.input(Role::Sender, own, WIDTH, len)?;
    let (start, own_cpu) = (Instant::now(), cpu());
    let mut fastest = Duration::MAX;
    match work {
        Work::Merge => gadgets::merge_bitonic(c, WIDTH, &mut word)?,
        Work::Sort2 => {
            let part = vesica_circuit::word::slice(&word, 0, LANES.min(len));
            let [a, b] = vesica_circuit::word::halves(&part, 1);
            for _ in 0..16 * len / LANES {
                let call = Instant::now();
                gadgets::sort_2(c, WIDTH, &a, &b)?;
                fastest = fastest.min(call.elapsed());
            }
        }
        Work::Switch => {
            for _ in 0..16 {
                for first in (0..len).step_by(LANES) {
                    let part = vesica_circuit::word::slice(&word, first, LANES.min(len - first));
                    let wires: Vec<_> = part.iter().collect();
                    let call = Instant::now();
                    let changes = c.and_known(&[(known, &wires)])?.concat();
                    fastest = fastest.min(call.elapsed());
                    let part: Vec<_> =
                        part.iter().zip(&changes).map(|(a, b)| c.xor(a, b)).collect();
                    vesica_circuit::word::put(&mut word, first, &part);
                }
            }
        }
    }
    c.reveal(&word[..1], Reveal::Receiver)?;
    Ok((start, own_cpu, fastest))
}

/// A party in its `role`: the time of its gates by the clock, that of this thread, and the fastest
/// call by the clock.
fn party(ctx: &mut Context, role: Role, work: Work, len: usize) -> Result<[Duration; 3]> {
    let cost = vesica_circuit::Cost::default();
    let known: Bits = (0..LANES).map(|i| i % 3 == 0).collect();
    let (start, own_cpu, fastest) = match role {
        Role::Sender => {
            let bit = |k: usize, i: usize| (i * 7919) >> (k % 20) & 1 == 1;
            let bits = (0..WIDTH).map(|k| (0..len).map(|i| bit(k, i)).collect());
            let bits: Vec<Bits> = bits.collect();
            let mut garbler = Garbler::new(ctx, &SESSION, &cost)?;
            evaluate(&mut garbler, work, Some(&bits), Known::Mine(&known), len)?
        }
        _ => {
            let mut evaluator = Evaluator::new(ctx, &SESSION, &cost)?;
            evaluate(&mut evaluator, work, None, Known::Theirs { len: LANES }, len)?
        }
    };
    Ok([start.elapsed(), cpu() - own_cpu, fastest])
}

/// Both parties' times, and the garbler's messages.
fn both(work: Work, len: usize) -> ([[Duration; 3]; 2], Vec<Vec<u8>>) {
    let transcript = Transcript::new(Role::Sender);
    let runner = Runner { transcripts: vec![transcript.clone()], ..Runner::default() };
    let run = runner.run_both(
        |ctx| party(ctx, Role::Sender, work, len),
        |ctx| party(ctx, Role::Receiver, work, len),
    );
    ([run.sender.output.unwrap(), run.receiver.output.unwrap()], transcript.messages())
}

/// The fastest call of one party; the garbler sends or the evaluator gets `messages`.
fn alone(role: Role, work: Work, len: usize, threads: usize, messages: &[Vec<u8>]) -> Duration {
    let runner = Runner { threads, ..Runner::default() };
    let time = Mutex::new(Duration::ZERO);
    let measured = |ctx: &mut Context| {
        *time.lock().unwrap() = party(ctx, role, work, len)?[2];
        Ok(())
    };
    let run = match role {
        Role::Sender => runner.run_both(measured, |ctx| {
            let mut buffer = vec![0; messages.iter().map(Vec::len).max().unwrap()];
            let mut receive = |len: usize| ctx.peer()?.recv_into(&mut buffer[..len]);
            messages.iter().try_for_each(|message| receive(message.len()))
        }),
        _ => runner.run_both(
            |ctx| messages.iter().try_for_each(|message| ctx.peer()?.send(message)),
            measured,
        ),
    };
    run.sender.output.and(run.receiver.output).unwrap();
    time.into_inner().unwrap()
}

fn main() {
    let argument = |i| std::env::args().nth(i).and_then(|arg| arg.parse::<usize>().ok());
    let len = 2 << argument(1).unwrap_or(14);
    let rounds = argument(2).unwrap_or(5);
    let threads = argument(3).unwrap_or(2);
    let mut counting = yao::counting();
    let mut word = counting.input(Role::Sender, None, WIDTH, len).unwrap();
    gadgets::merge_bitonic(&mut counting, WIDTH, &mut word).unwrap();
    let merge = counting.count().ands;
    for (name, work, gates) in
        [("merge", Work::Merge, merge), ("switch", Work::Switch, (16 * WIDTH * len) as u64)]
    {
        let rate = |time: Duration| gates as f64 / time.as_secs_f64() / 1e6;
        let runs: Vec<_> = (0..rounds).map(|_| both(work, len)).collect();
        let of_both = |party: usize, time: usize| {
            rate(runs.iter().map(|(times, _)| times[party][time]).min().unwrap())
        };
        println!(
            "{name:7} {gates} gates: {:.1} M/s by the clock, {:.1} garbled and {:.1} evaluated a \
             CPU second",
            of_both(1, 0),
            of_both(0, 1),
            of_both(1, 1),
        );
        let work = if matches!(work, Work::Merge) { Work::Sort2 } else { work };
        let (_, messages) = both(work, len);
        for (party, role) in [("garbler", Role::Sender), ("evaluator", Role::Receiver)] {
            let time = |threads| {
                let times = (0..rounds).map(|_| alone(role, work, len, threads, &messages));
                (LANES * WIDTH) as f64 / times.min().unwrap().as_secs_f64() / 1e6
            };
            let [one, several] = [1, threads].map(time);
            println!(
                "{name:7} {party} alone: {one:.1} M/s on one thread, {several:.1} on {threads}"
            );
        }
    }
}
