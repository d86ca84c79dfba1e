//! Speed of silent correlations, each party on one thread: `cargo run --release -p vesica-ot
//! --example silent_speed [log2 of the length [rounds]]`.
//!
//! Times are CPU times of each party, sender/receiver. Setup and extension show the minimum over
//! all rounds; the stream shows the lower quartile of its pieces, which other programs on the
//! machine disturb least.

#![allow(clippy::print_stdout, reason = "prints its results")]

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vesica_core::{Block, Malicious, Result, Role, Security, SemiHonest, SessionId};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_ot::Traffic;
use vesica_ot::silent::cot;
use vesica_ot::silent::vole::{self, Values};

const SESSION: SessionId = SessionId::from_bytes([1; 32]);
const PIECE: usize = 1 << 13;

/// Reads a piece of a stream.
type Fill<'a> = Box<dyn FnMut(&Pool, &mut [Block], &mut [Block]) -> Result<()> + 'a>;

/// Times of setup, of extension, and of each piece of the stream.
type Times = (Duration, Duration, Vec<Duration>);

/// CPU time of this thread and of the pool's threads.
fn cpu(pool: &Pool) -> Duration {
    let own = || {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
    };
    own() + pool.run(own)
}

/// Runs one party: `setup`, then `extend` on its result.
fn party<T>(
    role: Role,
    end: Arc<dyn Streams>,
    alone: &Mutex<()>,
    len: usize,
    setup: impl FnOnce(&mut Context) -> Result<T>,
    extend: impl FnOnce(&mut Context, &mut T) -> Result<Fill<'static>>,
) -> Times {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let ctx = &mut Context::new(vec![(role, end)], [3; 32], pool.clone(), Meter::new()).unwrap();
    let start = cpu(&pool);
    let mut party = setup(ctx).unwrap();
    let setup = cpu(&pool) - start;
    let mut fill = extend(ctx, &mut party).unwrap();
    let extend = cpu(&pool) - start - setup;
    let (mut a, mut b) = (vec![Block::ZERO; PIECE], vec![Block::ZERO; PIECE]);
    let _alone = alone.lock().unwrap();
    let pieces = (0..len / PIECE).map(|_| {
        let start = Instant::now();
        fill(&pool, &mut a, &mut b).unwrap();
        start.elapsed()
    });
    (setup, extend, pieces.collect())
}

fn vole<S: Security>(len: usize, values: Values) -> [Times; 2] {
    let alone = Mutex::new(());
    let (sender_end, receiver_end) = memory::pair();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let setup = |ctx: &mut Context| vole::Sender::<S>::setup(ctx, &SESSION);
            party(Role::Receiver, sender_end, &alone, len, setup, |ctx, party| {
                let mut stream = party.extend(ctx, len, values)?;
                Ok(Box::new(move |pool, b, _| stream.fill(pool, b)))
            })
        });
        let setup = |ctx: &mut Context| vole::Receiver::<S>::setup(ctx, &SESSION);
        let receiver = party(Role::Sender, receiver_end, &alone, len, setup, |ctx, party| {
            let mut stream = party.extend(ctx, len, values)?;
            Ok(Box::new(move |pool, a, c| stream.fill(pool, a, c)))
        });
        [sender.join().unwrap(), receiver]
    })
}

fn cot<S: Security>(len: usize) -> [Times; 2] {
    let alone = Mutex::new(());
    let (sender_end, receiver_end) = memory::pair();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let setup = |ctx: &mut Context| cot::Sender::<S>::setup(ctx, &SESSION);
            party(Role::Receiver, sender_end, &alone, len, setup, |ctx, party| {
                let mut stream = party.extend(ctx, len)?;
                Ok(Box::new(move |pool, keys, _| stream.fill(pool, keys)))
            })
        });
        let setup = |ctx: &mut Context| cot::Receiver::<S>::setup(ctx, &SESSION);
        let receiver = party(Role::Sender, receiver_end, &alone, len, setup, |ctx, party| {
            let mut stream = party.extend(ctx, len)?;
            Ok(Box::new(move |pool, blocks, _| stream.fill(pool, blocks)))
        });
        [sender.join().unwrap(), receiver]
    })
}

fn report(name: &str, len: usize, rounds: usize, traffic: Traffic, run: impl Fn() -> [Times; 2]) {
    let runs: Vec<_> = (0..rounds).map(|_| run()).collect();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let setup = |party: usize| ms(runs.iter().map(|run| run[party].0).min().unwrap());
    let extend = |party: usize| ms(runs.iter().map(|run| run[party].1).min().unwrap());
    let piece = |party: usize| {
        let mut pieces: Vec<_> = runs.iter().flat_map(|run| run[party].2.clone()).collect();
        pieces.sort();
        pieces[pieces.len() / 4].as_secs_f64() * 1e9 / PIECE as f64
    };
    let all = (extend(0) + extend(1)) * 1e6 / len as f64 + piece(0) + piece(1);
    println!(
        "{name:16} setup {:4.1}/{:4.1} ms, extend {:5.2}/{:5.2} ms, stream {:5.2}/{:5.2} ns, \
         extend and stream {all:5.2} ns, {:.2} bits each",
        setup(0),
        setup(1),
        extend(0),
        extend(1),
        piece(0),
        piece(1),
        traffic.total() as f64 * 8.0 / len as f64,
    );
}

fn main() {
    let argument = |i| std::env::args().nth(i).and_then(|arg| arg.parse::<u32>().ok());
    let len = 1 << argument(1).unwrap_or(20);
    let rounds = argument(2).unwrap_or(5) as usize;
    let full = Values::Full;
    let subfield = Values::Subfield16 { dim: 5 };
    let vole_bytes = vole::bytes::<SemiHonest>;
    report("VOLE", len, rounds, vole_bytes(len, full), || vole::<SemiHonest>(len, full));
    report("VOLE, malicious", len, rounds, vole::bytes::<Malicious>(len, full), || {
        vole::<Malicious>(len, full)
    });
    report("VOLE, 80 bits", len, rounds, vole_bytes(len, subfield), || {
        vole::<SemiHonest>(len, subfield)
    });
    report("COT", len, rounds, cot::bytes::<SemiHonest>(len), || cot::<SemiHonest>(len));
    report("COT, malicious", len, rounds, cot::bytes::<Malicious>(len), || cot::<Malicious>(len));
}
