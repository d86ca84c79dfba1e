//! OT-Phasing with other tables than the catalogue's rows have: each step of the paper's Table 11,
//! and two to five hash functions as in Table 1. For measurements only: such a table often has no
//! room for all items, and is drawn again.
//!
//! Pinkas, Schneider, Segev, Zohner, "Phasing", USENIX Security 2015, §6. Both parties run in this
//! process, over a connection in memory that is as fast as the network asked for, without TLS.
//!
//! ```text
//!   sender P_1: X                                       receiver P_2: Y
//!
//!   1  every x in the bins of all h functions           every y in one of β bins (cuckoo), no stash
//!   2  t rows a bin, 1-out-of-256  ◀──────────────▶     chooses the characters of what is in its bin
//!   3  V: F_b(v) for each value v in bin b              F_b(v) for the value v in bin b
//!   4  V, sorted                   ───────────────▶     y is common iff its F is in V
//! ```

use crate::measure::BenchError;
use clap::ValueEnum;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::elias_fano::Shape as TagShape;
use vesica_core::params::ceil_log2;
use vesica_core::tagged::Tagged;
use vesica_core::{Error, Item, Learns, ParameterError, PsiParams, Result, Role, SessionId};
use vesica_hashing::{
    Cuckoo, Locations, MAX_FUNCTIONS, MAX_MEASURED_FUNCTIONS, ShortItems, Simple, Table,
};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_oprf::characters::{Choices, Outputs, Shape as Values};
use vesica_ot::coded::kk13;
use vesica_party::sorted_tags;

/// How long a party waits for the other one.
const IDLE: Duration = Duration::from_secs(600);

/// Tables that are drawn before it counts as impossible that all items fit.
const MAX_TRIES: u32 = 10_000;

/// Odd, so that different numbers become different items of any length.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// What is compared in a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compared {
    /// The whole item, as before §4
    Whole,
    /// What the bin does not say of it, and the function: permutation-based hashing, §4
    Remainder,
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) functions: usize,
    pub(crate) bins_per_item: f64,
    pub(crate) compared: Compared,
    pub(crate) item_bits: u32,
    pub(crate) sender_len: u32,
    pub(crate) receiver_len: u32,
    pub(crate) network: Shape,
    pub(crate) threads: NonZeroUsize,
}

/// The measurement.
#[derive(Serialize)]
struct Figure {
    schema: &'static str,
    functions: usize,
    bins: usize,
    item_bits: u32,
    sender_len: u32,
    receiver_len: u32,
    /// 1-out-of-256 transfers: t for each bin.
    transfers: usize,
    /// Masks that the sender sends.
    masks: u64,
    /// Tables that were drawn until all items fitted, in the run that took most. Only the last is
    /// part of the time.
    tables: u32,
    /// Wall-clock time of the median run, base transfers included.
    wall_s: f64,
    /// Payload bytes in both directions.
    bytes_total: u64,
    runs: usize,
}

/// Measures `runs` runs and returns the median as JSON.
pub(crate) fn to_json(case: Case, runs: usize) -> std::result::Result<String, BenchError> {
    let mut figures = Vec::new();
    for run in 0..runs.max(1) {
        figures.push(once(case, run as u64)?);
    }
    figures.sort_by(|one, other| one.wall_s.total_cmp(&other.wall_s));
    let tables = figures.iter().map(|figure| figure.tables).max().unwrap_or(0);
    let median = figures.swap_remove(figures.len() / 2);
    Ok(serde_json::to_string_pretty(&Figure { runs: runs.max(1), tables, ..median })?)
}

fn once(case: Case, run: u64) -> Result<Figure> {
    let common = case.sender_len.min(case.receiver_len) / 2;
    let item =
        |i: u32| Item::from_integer(u128::from(i).wrapping_mul(SPREAD) & mask(case.item_bits));
    let x: Vec<Item> = (0..case.sender_len).map(item).collect();
    let first = case.sender_len - common;
    let y: Vec<Item> = (first..first + case.receiver_len).map(item).collect();
    let (plan, tables) = Plan::that_fits(case, run, &y)?;

    let (sender_end, receiver_end) = memory::pair_with(case.network, IDLE);
    let start = Instant::now();
    let (sent, received) = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            party(Role::Receiver, sender_end, case.threads, |ctx| run_sender(&plan, &x, ctx))
        });
        let received =
            party(Role::Sender, receiver_end, case.threads, |ctx| run_receiver(&plan, &y, ctx));
        (sending.join().unwrap_or_else(|panic| resume_unwind(panic)), received)
    });
    let wall_s = start.elapsed().as_secs_f64();
    let ((), from_sender) = sent?;
    let (found, from_receiver) = received?;
    if found != (0..common as usize).collect::<Vec<_>>() {
        return Err(Error::Bug("the result is not what both have"));
    }
    Ok(Figure {
        schema: "vesica-bench-phasing/1",
        functions: case.functions,
        bins: plan.table.bins(),
        item_bits: case.item_bits,
        sender_len: case.sender_len,
        receiver_len: case.receiver_len,
        transfers: plan.values.rows() * plan.table.bins(),
        masks: plan.masks(),
        tables,
        wall_s,
        bytes_total: from_sender + from_receiver,
        runs: 1,
    })
}

fn mask(bits: u32) -> u128 {
    u128::MAX >> (Item::BITS - bits)
}

/// The bins of an item under up to five functions.
type Bins = [u32; MAX_MEASURED_FUNCTIONS];

/// What both parties derive from the sizes and the session.
struct Plan {
    compared: Compared,
    params: PsiParams,
    table: Table,
    items: ShortItems,
    /// Functions are keyed by session, and one session has up to three.
    locations: Vec<Locations>,
    values: Values,
}

impl Plan {
    fn new(case: Case, session: SessionId) -> Result<Self> {
        let (n_x, n_y) = (u64::from(case.sender_len), u64::from(case.receiver_len));
        let params =
            PsiParams::new(session, n_x, n_y, Learns::Receiver)?.with_item_bits(case.item_bits)?;
        let items = ShortItems::new(&params);
        let bins = (f64::from(case.receiver_len) * case.bins_per_item).ceil() as usize;
        let bins = bins.max(case.functions);
        let table = Table::new(case.functions, bins, 0);
        // Two tables of at least two functions make four or five.
        let parts = match case.functions {
            ..=MAX_FUNCTIONS => vec![case.functions],
            more => vec![more - 2, 2],
        };
        let locations: Vec<_> = (0_u8..)
            .zip(parts)
            .map(|(part, functions)| {
                let mut key = *session.as_bytes();
                key[31] = part;
                let (part, key) = (Table::new(functions, bins, 0), SessionId::from_bytes(key));
                match case.compared {
                    Compared::Whole => Locations::of_digests(part, &key),
                    Compared::Remainder => Locations::permuted(part, &key, items.bits()),
                }
            })
            .collect();
        let value_bits = match case.compared {
            Compared::Whole => items.bits(),
            // `value_bits` includes the function; with two parts, one more bit says which.
            Compared::Remainder => locations[0].value_bits() + (locations.len() as u32 - 1),
        };
        let masks = case.functions as u64 * n_x;
        let tag_bits = params.statistical_bits() + ceil_log2(masks) + ceil_log2(n_y);
        let values = Values::new(value_bits, tag_bits);
        Ok(Self { compared: case.compared, params, table, items, locations, values })
    }

    /// The plan of the first session whose functions place all of `y`, and how many were tried.
    fn that_fits(case: Case, run: u64, y: &[Item]) -> Result<(Self, u32)> {
        let pool = Pool::new(case.threads)?;
        for table in 1..=MAX_TRIES {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&run.to_le_bytes());
            key[8..12].copy_from_slice(&table.to_le_bytes());
            let plan = Self::new(case, SessionId::from_bytes(key))?;
            let short = plan.items.shorten(&pool, &plan.params, y);
            match Cuckoo::new(&plan.table, &plan.bins(&short)) {
                Err(Error::Parameter(ParameterError::HashingFailed)) => {}
                placed => return placed.map(|_| (plan, table)),
            }
        }
        Err(ParameterError::HashingFailed.into())
    }

    /// Calls `f` with the number of each item, a function, its bin, and the value compared there.
    fn each(&self, items: &[Item], mut f: impl FnMut(usize, usize, u32, u128)) {
        let mut first = 0;
        for (part, locations) in (0_u128..).zip(&self.locations) {
            let functions = locations.table().functions();
            let above = match self.compared {
                Compared::Whole => 0,
                Compared::Remainder if part == 0 => 0,
                Compared::Remainder => part << locations.value_bits(),
            };
            let mut position = 0;
            locations.each(items, |_, place| {
                for i in 0..functions {
                    f(position, first + i, place.bins[i], place.values[i] | above);
                }
                position += 1;
            });
            first += functions;
        }
    }

    fn bins(&self, items: &[Item]) -> Vec<Bins> {
        let mut bins = vec![Bins::default(); items.len()];
        self.each(items, |position, function, bin, _| bins[position][function] = bin);
        bins
    }

    fn masks(&self) -> u64 {
        (self.table.functions() * self.params.sender_len()) as u64
    }

    fn tags(&self) -> TagShape {
        TagShape::new(self.masks(), self.values.output_bits())
    }

    fn groups(&self) -> impl Iterator<Item = usize> {
        let bins = self.table.bins();
        let firsts = (0..bins).step_by(Simple::GROUP_BINS);
        firsts.map(move |first| (bins - first).min(Simple::GROUP_BINS))
    }

    fn outputs(&self) -> Outputs {
        Outputs::new(self.values, self.params.session(), 0)
    }
}

fn run_sender(plan: &Plan, x: &[Item], ctx: &mut Context) -> Result<()> {
    let mut transfers = kk13::Sender::setup(ctx, plan.params.session())?;
    // 1. Every x in the bins of all h functions
    let short = plan.items.shorten(ctx.pool(), &plan.params, x);
    let t = plan.values.rows();
    let mut groups = vec![Vec::new(); plan.groups().count()];
    plan.each(&short, |_, _, bin, value| {
        let (group, bin) = (bin as usize / Simple::GROUP_BINS, bin as usize % Simple::GROUP_BINS);
        groups[group].push(((bin * t) as u32, value));
    });
    let (f, codes) = (plan.outputs(), transfers.masks());
    let mut v = sorted_tags::gather(plan.tags());
    let (mut rows, mut made) = (Vec::new(), Vec::new());
    for (len, values) in plan.groups().zip(groups) {
        // 2. t rows a bin
        rows.clear();
        transfers.extend(ctx, len * t, |_, tile| rows.extend_from_slice(tile))?;
        // 3. F_b(v)
        made.resize(values.len(), 0);
        f.of_values(ctx.pool(), &rows, &codes, &values, &mut made);
        made.iter().for_each(|mask| v.push(*mask));
    }
    // 4. V, sorted
    sorted_tags::send_gathered(ctx, plan.tags(), v)
}

fn run_receiver(plan: &Plan, y: &[Item], ctx: &mut Context) -> Result<Vec<usize>> {
    let mut transfers = kk13::Receiver::setup(ctx, plan.params.session())?;
    // 1. Every y in one of β bins
    let short = plan.items.shorten(ctx.pool(), &plan.params, y);
    let (mut bins, mut of_functions) = (vec![Bins::default(); y.len()], Vec::new());
    of_functions.resize(y.len(), [0_u128; MAX_MEASURED_FUNCTIONS]);
    plan.each(&short, |position, function, bin, value| {
        bins[position][function] = bin;
        of_functions[position][function] = value;
    });
    let placed = Cuckoo::new(&plan.table, &bins)?;
    let (f, t) = (plan.outputs(), plan.values.rows());
    let mut choices = Choices::new(plan.values);
    let mut masks = Vec::with_capacity(y.len());
    let (mut rows, mut made, mut first) = (Vec::new(), Vec::new(), 0);
    for len in plan.groups() {
        // 2. No choice in an empty bin
        choices.begin(len);
        let held = (0..len).filter_map(|bin| Some((bin, placed.bin(first + bin)?)));
        let held: Vec<_> = held.collect();
        for (bin, placed) in &held {
            let values = &of_functions[placed.position as usize];
            choices.set(*bin, values[usize::from(placed.function)]);
        }
        rows.clear();
        transfers.extend(ctx, choices.rows(), |_, tile| rows.extend_from_slice(tile))?;
        // 3. F_b(v)
        let firsts: Vec<u32> = held.iter().map(|(bin, _)| (bin * t) as u32).collect();
        made.resize(firsts.len(), 0);
        f.of_own(ctx.pool(), &rows, &firsts, &mut made);
        let of_items = held.iter().zip(&made);
        masks.extend(of_items.map(|((_, placed), mask)| Tagged::new(*mask, placed.position)));
        first += len;
    }
    ctx.finish()?;
    // 4. y is common iff its F is in V
    let own = sorted_tags::gathered(plan.tags(), masks);
    let matches = sorted_tags::find(ctx, plan.tags(), &own)?;
    Ok(sorted_tags::own_positions(&matches, y.len()))
}

/// What a party gives, and the payload bytes that it sent.
fn party<T>(
    peer: Role,
    streams: Arc<dyn Streams>,
    threads: NonZeroUsize,
    run: impl FnOnce(&mut Context) -> Result<T>,
) -> Result<(T, u64)> {
    let meter = Meter::new();
    let done = Pool::new(threads)
        .and_then(|pool| {
            let peers = vec![(peer, Arc::clone(&streams))];
            Context::new(peers, [peer as u8; 32], pool, meter.clone())
        })
        .and_then(|mut ctx| {
            let output = run(&mut ctx)?;
            ctx.finish()?;
            Ok(output)
        });
    let output = done.inspect_err(|error| streams.abort(error.stop_reason()))?;
    Ok((output, meter.bytes_under("").0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(functions: usize, bins_per_item: f64, compared: Compared, item_bits: u32) -> Case {
        Case {
            functions,
            bins_per_item,
            compared,
            item_bits,
            sender_len: 700,
            receiver_len: 300,
            network: Shape::LOOPBACK,
            threads: NonZeroUsize::MIN,
        }
    }

    #[test]
    fn every_number_of_functions_finds_what_is_common() {
        for (functions, bins_per_item) in [(2, 2.4), (3, 1.2), (4, 1.1), (5, 1.05)] {
            for bits in [20, 32, 128] {
                let figure = once(case(functions, bins_per_item, Compared::Remainder, bits), 0);
                let figure = figure.unwrap();
                assert_eq!(figure.masks, 700 * functions as u64);
                assert_eq!(figure.bins, (300.0 * bins_per_item).ceil() as usize);
            }
        }
    }

    #[test]
    fn remainders_take_fewer_transfers_than_whole_items() {
        // β = 720: 9 of 32 bits say the bin, and two the function.
        let transfers = |compared| once(case(2, 2.4, compared, 32), 0).unwrap().transfers;
        assert_eq!(transfers(Compared::Whole), 720 * 4);
        assert_eq!(transfers(Compared::Remainder), 720 * 4);
        let transfers = |compared| once(case(2, 2.4, compared, 20), 0).unwrap().transfers;
        assert_eq!(transfers(Compared::Whole), 720 * 3);
        assert_eq!(transfers(Compared::Remainder), 720 * 2);
    }

    #[test]
    fn a_table_without_room_is_an_error() {
        let full = once(Case { receiver_len: 300, ..case(2, 0.99, Compared::Remainder, 32) }, 0);
        assert_eq!(full.err(), Some(ParameterError::HashingFailed.into()));
    }
}
