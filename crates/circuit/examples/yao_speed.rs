//! Speed of garbled circuits, each party on one thread, over memory:
//! `cargo run --release -p vesica-circuit --example yao_speed [log2 of the items [rounds]]`.
//!
//! The circuit is a bitonic merger of two lists of 32-bit items. Times are the minimum over all rounds: wall-clock
//! time, and the CPU time of each party's thread.

#![allow(clippy::print_stdout, reason = "prints its results")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Computation, Known, Reveal, gadgets};
use vesica_core::{Result, Role, SessionId};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_ot::Bits;

const SESSION: SessionId = SessionId::from_bytes([1; 32]);
const WIDTH: usize = 32;

/// CPU time of this thread.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

/// The operation on the sender's private word.
#[derive(Clone, Copy)]
enum Work {
    Merge,
    /// Every layer of a network of switches: one-sided gates and XORs.
    Switch,
}

fn evaluate<C: Computation>(
    c: &mut C,
    work: Work,
    own: Option<&[Bits]>,
    known: Known<'_>,
    len: usize,
) -> Result<(Instant, Duration)> {
    let mut word = c.input(Role::Sender, own, WIDTH, len)?;
    let start = (Instant::now(), cpu());
    match work {
        Work::Merge => gadgets::merge_bitonic(c, WIDTH, &mut word)?,
        Work::Switch => {
            for _ in 0..16 {
                for first in (0..len).step_by(1024) {
                    let part = vesica_circuit::word::slice(&word, first, 1024.min(len - first));
                    let wires: Vec<_> = part.iter().collect();
                    let changes = c.and_known(&[(known, &wires)])?.concat();
                    let part: Vec<_> =
                        part.iter().zip(&changes).map(|(a, b)| c.xor(a, b)).collect();
                    vesica_circuit::word::put(&mut word, first, &part);
                }
            }
        }
    }
    c.reveal(&word[..1], Reveal::Receiver)?;
    Ok(start)
}

fn party(work: Work, peer: Role, end: Arc<dyn Streams>, len: usize) -> [Duration; 2] {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let ctx = &mut Context::new(vec![(peer, end)], [3; 32], pool, Meter::new()).unwrap();
    let cost = vesica_circuit::Cost::default();
    let bits: Vec<Bits> =
        (0..WIDTH).map(|k| (0..len).map(|i| ((i * 7919) >> (k % 20)) & 1 == 1).collect()).collect();
    let known: Bits = (0..1024).map(|i| i % 3 == 0).collect();
    let (start, own_cpu) = match peer {
        Role::Receiver => {
            let mut garbler = Garbler::new(ctx, &SESSION, &cost).unwrap();
            evaluate(&mut garbler, work, Some(&bits), Known::Mine(&known), len).unwrap()
        }
        _ => {
            let mut evaluator = Evaluator::new(ctx, &SESSION, &cost).unwrap();
            evaluate(&mut evaluator, work, None, Known::Theirs { len: 1024 }, len).unwrap()
        }
    };
    let times = [start.elapsed(), cpu() - own_cpu];
    ctx.finish().unwrap();
    times
}

fn run(work: Work, len: usize) -> [[Duration; 2]; 2] {
    let (sender_end, receiver_end) = memory::pair();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| party(work, Role::Receiver, sender_end, len));
        let receiver = party(work, Role::Sender, receiver_end, len);
        [sender.join().unwrap(), receiver]
    })
}

fn main() {
    let argument = |i| std::env::args().nth(i).and_then(|arg| arg.parse::<u32>().ok());
    let len = 2 << argument(1).unwrap_or(14);
    let rounds = argument(2).unwrap_or(5);
    let mut counting = yao::counting();
    let mut word = counting.input(Role::Sender, None, WIDTH, len).unwrap();
    gadgets::merge_bitonic(&mut counting, WIDTH, &mut word).unwrap();
    let merge = counting.count().ands;
    for (name, work, gates) in
        [("merge", Work::Merge, merge), ("switch", Work::Switch, (16 * WIDTH * len) as u64)]
    {
        let runs: Vec<_> = (0..rounds).map(|_| run(work, len)).collect();
        let rate = |party: usize, time: usize| {
            let least = runs.iter().map(|run| run[party][time]).min().unwrap();
            gates as f64 / least.as_secs_f64() / 1e6
        };
        println!(
            "{name:7} {gates} gates: {:.1} M/s by the clock, {:.1} garbled and {:.1} evaluated a \
             CPU second",
            rate(1, 0),
            rate(0, 1),
            rate(1, 1),
        );
    }
}
