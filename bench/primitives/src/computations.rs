//! Circuits evaluated by two parties, garbled and on shares, including their communication.

use crate::measure::{Bench, BenchError, SESSION, Steps, both};
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Bins, Computation, Cost, Counting, InBins, Known, Reveal, gmw};
use vesica_core::{Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;

/// Wires of a layer.
const WIDTH: usize = 16;
/// Most lanes of a layer.
const MAX_LANES: usize = 1 << 20;
/// Slots of a bin in a comparison, as in Circuit-Phasing for 2^16 items of 32 bits.
const SLOTS: usize = 17;
const BIN_BITS: usize = 17;
/// A value that no bin has.
const NONE: u128 = 1 << (BIN_BITS - 1);

/// The evaluated gates.
#[derive(Clone, Copy)]
enum Work {
    /// Layers of AND gates, each on all wires.
    Gates(u64),
    /// The same with gates for which the sender knows one input.
    OneSided(u64),
    /// Comparisons in bins.
    Bins(usize),
}

pub(crate) fn measure(bench: &mut Bench) -> std::result::Result<(), BenchError> {
    let gates = bench.size(1 << 27, 1 << 24);
    garbled(bench, "gates garbled by one and evaluated by the other", Work::Gates(gates), gates)?;
    garbled(bench, "one-sided gates, garbled and evaluated", Work::OneSided(gates), gates)?;
    shared(bench, "gates on shares", "gates", Work::Gates(gates), gates)?;
    shared(bench, "one-sided gates on shares", "gates", Work::OneSided(gates), gates)?;
    let bins = bench.size(1 << 20, 1 << 17) as usize;
    let comparisons = (bins * SLOTS) as u64;
    shared(bench, "comparisons in bins on shares", "comparisons", Work::Bins(bins), comparisons)
}

fn garbled(
    bench: &mut Bench,
    name: &str,
    work: Work,
    gates: u64,
) -> std::result::Result<(), BenchError> {
    bench.measure(name, "gates", gates, || {
        let cost = cost(yao::counting(), work)?;
        let cost = &cost;
        both(
            Steps::new(
                |_| Ok(()),
                move |ctx, ()| evaluate(&mut Garbler::new(ctx, &SESSION, cost)?, work),
            ),
            Steps::new(
                |_| Ok(()),
                move |ctx, ()| evaluate(&mut Evaluator::new(ctx, &SESSION, cost)?, work),
            ),
        )
    })
}

fn shared(
    bench: &mut Bench,
    name: &str,
    unit: &'static str,
    work: Work,
    n: u64,
) -> std::result::Result<(), BenchError> {
    let chooser = match work {
        Work::Bins(_) => Role::Receiver,
        _ => Role::Sender,
    };
    bench.measure(name, unit, n, || {
        let cost = cost(gmw::counting(), work)?;
        let run = |ctx: &mut Context, role| {
            evaluate(&mut gmw::Gmw::new(ctx, &SESSION, role, chooser, &cost)?, work)
        };
        both(
            Steps::new(|_| Ok(()), |ctx, ()| run(ctx, Role::Sender)),
            Steps::new(|_| Ok(()), |ctx, ()| run(ctx, Role::Receiver)),
        )
    })
}

fn cost(mut counting: Counting, work: Work) -> Result<Cost> {
    evaluate(&mut counting, work)?;
    Ok(counting.cost().clone())
}

/// Bit i of the private words: nothing depends on their values.
fn bit(i: usize) -> bool {
    i.is_multiple_of(3)
}

fn evaluate<C: Computation>(c: &mut C, work: Work) -> Result<()> {
    let lanes = c.lanes_at_once().min(MAX_LANES);
    let layers = |gates: u64| gates / (WIDTH * lanes) as u64;
    match work {
        Work::Gates(gates) => {
            let word = word(c, lanes)?;
            let pairs: Vec<_> = word.iter().zip(word.iter().rev()).collect();
            let mut last = Vec::new();
            for _ in 0..layers(gates) {
                last = c.and(&pairs)?;
            }
            c.reveal(&last, Reveal::Receiver).map(drop)
        }
        Work::OneSided(gates) => {
            let word = word(c, lanes)?;
            let wires: Vec<_> = word.iter().collect();
            let bits: Bits = (0..lanes).map(bit).collect();
            let known = match c.role() {
                Role::Sender => Known::Mine(&bits),
                _ => Known::Theirs { len: lanes },
            };
            let mut last = Vec::new();
            for _ in 0..layers(gates) {
                last = c.and_known(&[(known, &wires)])?.concat();
            }
            c.reveal(&last, Reveal::Receiver).map(drop)
        }
        Work::Bins(count) => {
            let bins = Bins { count, slots: SLOTS, width: BIN_BITS };
            let candidates = |bin: usize, out: &mut Vec<u128>| {
                out.extend((0..SLOTS).map(|slot| (bin * SLOTS + slot) as u128 % NONE));
            };
            let values: Vec<u128> = (0..count).map(|bin| bin as u128 % NONE).collect();
            let mine = match c.role() {
                Role::Sender => Some(InBins::Candidates(&candidates)),
                Role::Receiver => Some(InBins::Values(&values)),
                _ => None,
            };
            c.equal_in_bins(&bins, mine, NONE, &mut |_, _, _| Ok(()))
        }
    }
}

/// A private word of the sender.
fn word<C: Computation>(c: &mut C, lanes: usize) -> Result<Vec<C::Wires>> {
    let bits: Vec<Bits> = (0..WIDTH).map(|k| (0..lanes).map(|i| bit(i + k)).collect()).collect();
    let own = (c.role() == Role::Sender).then_some(&bits[..]);
    c.input(Role::Sender, own, WIDTH, lanes)
}
