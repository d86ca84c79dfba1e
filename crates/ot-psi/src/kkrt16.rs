//! # KKRT16: PSI from a batched OPRF and cuckoo hashing
//!
//! V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, "Efficient batched oblivious PRF with
//! applications to private set intersection", ACM CCS 2016 (ePrint 2016/799), without a stash.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 4, for 2^16 items each |
//! | payload bytes | setup(W) + W/8·β + tags(3·n_x, ℓ), and tags(min(n_x, n_y), ℓ') with [`Learns::Both`] |
//! | β | bins of the table for n_y items, about 1.32·n_y |
//! | W | bits of a codeword: 416 for 2^8 items of the sender to 448 for 2^24, see [`kkrt::width()`] |
//! | ℓ, ℓ' | λ + ⌈log 3·n_x⌉ + ⌈log n_y⌉; λ + ⌈log n_x⌉ + ⌈log n_y⌉ |
//!
//! ```text
//!      sender: X                                       receiver: Y
//!
//!   1  setup                       ◀──────────────▶    setup
//!   2  x in the bins h_1(x), h_2(x), h_3(x)            y in one of its bins (cuckoo hashing)
//!   3  keys of β instances         ◀───────────────    the item in bin b is the input of instance b
//!   4  F_b(x) in each bin b of x                       F_b(y) in the bin b of y
//!   5  {F_b(x)}, sorted            ───────────────▶    y is common iff F_b(y) is among them
//!   6  [both] x is common iff its tag came ◀──────     [both] tags of the common items, and random tags
//! ```
//!
//! F is [`vesica_oprf::kkrt`]. An instance whose bin is empty gets a random input. Both parties go
//! over the bins in order: the receiver sends the messages of some thousand bins while it computes
//! the next, and the sender evaluates F at its own items in these bins and drops their keys.
//!
//! **Where we differ from the paper.** No stash: the table has enough bins that placing fails with
//! probability below 2^-40, and the sender makes 3·n_x tags instead of (3 + s)·n_x. The three tags
//! of an item lie in different bins, so no tag occurs twice, which would show that two functions of
//! an item agree. The tags are sent as the Elias–Fano code of one set, not as a list for each
//! function: about log n_x − 2 bits less for each. W follows the comparisons of the run. When both
//! learn, the sender gets tags of the common *items*. If it learned which of its three tags was
//! found, it would know where the receiver placed the item, and so something about the receiver's
//! other items.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;

pub use catalogue::ROW;
pub use catalogue::bytes;

use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::params::ceil_log2;
use vesica_core::tagged::{Gathered, Tagged};
use vesica_core::{Block, Item, ParameterError, PsiParams, Result};
use vesica_hashing::{Cuckoo, Locations, Simple, Table};
use vesica_net::Context;
use vesica_oprf::kkrt::{self, Keys, PART_LEN, Point};
use vesica_ot::coded::ReceiverSetup;
use vesica_party::{Output, answer, sorted_tags};
use vesica_simd::prefetch::prefetch;

/// Bins between two reports of the progress.
const BINS_PER_STEP: usize = 1 << 18;

/// Points that are evaluated together: they stay in the first-level cache.
const POINTS_PER_BATCH: usize = 512;

/// Distance in items at which items are prefetched, so that cache misses overlap.
const AHEAD: usize = 32;

const _: () =
    assert!(PART_LEN == Simple::<u64>::GROUP_BINS && BINS_PER_STEP.is_multiple_of(PART_LEN));

/// Evaluates everywhere; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of
/// its items the receiver has.
fn run_sender(params: PsiParams, x: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let (session, table, tags) = (params.session(), table(&params), tags(&params));
    // 1. Setup.
    let mut oprf =
        ctx.child("setup", |ctx| kkrt::Sender::setup(ctx, session, comparisons(&params)))?;
    // 2. x in the bins h_1(x), h_2(x), h_3(x)
    let bins = ctx.child("hashing", |ctx| {
        Simple::new(ctx.pool(), &Locations::of_digests(table, session), &x)
    });
    // 3. Keys of β instances.  4. F_b(x) in each bin b of x
    let f_x =
        ctx.child("oprf", |ctx| evaluate_at_all(ctx, &mut oprf, table.bins(), &bins, &x, tags))?;
    drop((oprf, bins));
    // 5. {F_b(x)}, sorted
    ctx.child("tags", |ctx| sorted_tags::send_gathered(ctx, tags, f_x))?;
    // 6. [both] x is common iff its tag came
    answer::receive_items(ctx, &params, &x)
}

/// Learns which of its items the sender has.
fn run_receiver(params: PsiParams, y: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    let (session, table, tags) = (params.session(), table(&params), tags(&params));
    // 1. Setup, the first half.
    let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
    // 2. y in one of its bins, while the sender answers.
    let bins = ctx.child("hashing", |ctx| {
        Cuckoo::new(&table, &Locations::of_digests(table, session).bins(ctx.pool(), &y))
    })?;
    // 1. Setup, the second half.
    let mut oprf =
        ctx.child("setup", |ctx| kkrt::Receiver::new(ctx, setup, session, comparisons(&params)))?;
    // 3. The item in bin b is the input of instance b.  4. F_b(y) in the bin b of y
    let f_y = ctx.child("oprf", |ctx| evaluate_placed(ctx, &mut oprf, &bins, &y, tags))?;
    drop((oprf, bins));
    // 5. y is common iff F_b(y) is among the sender's
    let matches =
        ctx.child("tags", |ctx| sorted_tags::find(ctx, tags, &sorted_tags::gathered(tags, f_y)))?;
    let common = sorted_tags::own_positions(&matches, y.len());
    // 6. [both] tags of the common items, and random tags
    answer::send_items(ctx, &params, &y, &common)?;
    Ok(Output::Positions(common))
}

/// h, the hash functions.
const FUNCTIONS: u64 = 3;

/// Tags are numbered with 32 bits.
const MAX_SENDER_LEN: u64 = (1 << 32) / FUNCTIONS;

/// Bins, up to 1.42 an item, are numbered with 32 bits.
const MAX_RECEIVER_LEN: u64 = 1 << 31;

/// Refuses sets whose tags or bins cannot be numbered.
fn check_sizes(params: &PsiParams) -> Result<()> {
    let sender = (params.sender_len() as u64, MAX_SENDER_LEN);
    let receiver = (params.receiver_len() as u64, MAX_RECEIVER_LEN);
    for (len, max) in [sender, receiver] {
        if len > max {
            return Err(ParameterError::SetTooLarge { len, max }.into());
        }
    }
    Ok(())
}

/// The β bins.
fn table(params: &PsiParams) -> Table {
    Table::stashless(params.receiver_len(), params.runs())
}

/// Points at which the sender evaluates, and tags that it sends. Larger sets are refused.
fn tag_count(params: &PsiParams) -> u64 {
    FUNCTIONS * (params.sender_len() as u64).min(MAX_SENDER_LEN)
}

/// Comparisons of codewords in all runs that make one result: one in each for each tag.
fn comparisons(params: &PsiParams) -> u64 {
    tag_count(params) * params.runs().count()
}

/// The sender's tags, of ℓ bits each: a false match has probability 2^-λ over all pairs.
fn tags(params: &PsiParams) -> Shape {
    let count = tag_count(params);
    let bits =
        params.statistical_bits() + ceil_log2(count) + ceil_log2(params.receiver_len() as u64);
    Shape::new(count, bits)
}

/// Receives the messages of `bin_count` instances and gives F_b(x) in each bin b of each x.
fn evaluate_at_all(
    ctx: &mut Context,
    oprf: &mut kkrt::Sender,
    bin_count: usize,
    bins: &Simple,
    x: &[Item],
    tags: Shape,
) -> Result<Gathered> {
    let pool = ctx.pool().clone();
    let mut f_x = sorted_tags::gather(tags);
    for step in (0..bin_count).step_by(BINS_PER_STEP) {
        let len = BINS_PER_STEP.min(bin_count - step);
        oprf.evaluate(ctx, len, |first, keys| {
            let first = step + first;
            let groups = first / PART_LEN..(first + keys.len()).div_ceil(PART_LEN);
            let groups: Vec<usize> = groups.collect();
            let made = pool.map_chunks(&groups, NonZeroUsize::MIN, |group| {
                evaluate_group(&keys, first, bins, group[0], x, tags)
            });
            made.iter().flatten().for_each(|tag| f_x.push(*tag));
        })?;
        ctx.progress((step + len) as u64, bin_count as u64);
    }
    Ok(f_x)
}

/// The tags of the items `x` in the bins of one group; the first of `keys` belongs to bin
/// `first_bin`.
fn evaluate_group(
    keys: &Keys<'_>,
    first_bin: usize,
    bins: &Simple,
    group: usize,
    x: &[Item],
    tags: Shape,
) -> Vec<u128> {
    let mask = u128::MAX >> (128 - tags.tag_bits());
    let mut points = [Point::default(); POINTS_PER_BATCH];
    let mut outputs = [Block::ZERO; POINTS_PER_BATCH];
    let mut entries = bins.entries(group);
    let mut ahead = bins.entries(group);
    ahead.by_ref().take(AHEAD).for_each(|entry| prefetch(x, entry.position as usize));
    let mut f_x = Vec::with_capacity(entries.len());
    while entries.len() > 0 {
        let len = entries.len().min(POINTS_PER_BATCH);
        for (entry, point) in entries.by_ref().take(len).zip(&mut points) {
            if let Some(ahead) = ahead.next() {
                prefetch(x, ahead.position as usize);
            }
            let input = block(&x[entry.position as usize]);
            *point = Point { instance: entry.bin - first_bin as u32, input };
        }
        keys.evaluate(&points[..len], &mut outputs[..len]);
        f_x.extend(outputs[..len].iter().map(|output| output.get() & mask));
    }
    f_x
}

/// Sends the messages of all instances and gives F_b(y) in the bin b of each y.
fn evaluate_placed(
    ctx: &mut Context,
    oprf: &mut kkrt::Receiver,
    bins: &Cuckoo,
    y: &[Item],
    tags: Shape,
) -> Result<Vec<Tagged>> {
    let mut random = [0; Block::LEN];
    ctx.rng().fill_bytes(&mut random);
    let random = Block::from_le_bytes(random);
    let mask = u128::MAX >> (128 - tags.tag_bits());
    let mut f_y = Vec::with_capacity(y.len());
    for step in (0..bins.len()).step_by(BINS_PER_STEP) {
        let len = BINS_PER_STEP.min(bins.len() - step);
        let inputs = |first: usize, out: &mut [Block]| {
            for (bin, out) in (step + first..).zip(out) {
                if let Some(ahead) = bins.position(bin + AHEAD) {
                    prefetch(y, ahead);
                }
                let placed = bins.bin(bin);
                *out = placed.map_or(random, |placed| block(&y[placed.position as usize]));
            }
        };
        oprf.evaluate(ctx, len, inputs, |first, outputs| {
            for (bin, output) in (step + first..).zip(outputs) {
                if let Some(placed) = bins.bin(bin) {
                    f_y.push(Tagged::new(output.get() & mask, placed.position));
                }
            }
        })?;
        ctx.progress((step + len) as u64, bins.len() as u64);
    }
    ctx.peer()?.flush()?;
    Ok(f_y)
}

fn block(item: &Item) -> Block {
    Block::from_le_bytes(*item.as_bytes())
}
