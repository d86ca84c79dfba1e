//! # KKRT16: PSI from a batched OPRF and cuckoo hashing
//!
//! V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, "Efficient batched oblivious PRF with
//! applications to private set intersection", ACM CCS 2016 (ePrint 2016/799), without a stash.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; gap Diffie–Hellman, random oracle and ideal cipher, AES being pseudorandom |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 4; with [`Learns::Both`] 5 |
//! | payload bytes | setup(W) + W/8·β + tags(3·n_x, ℓ), and tags(min(n_x, n_y), ℓ') with [`Learns::Both`] |
//! | β | bins of the table for n_y items, about 1.32·n_y |
//! | W | bits of a codeword: 416 for 2^8 items of the sender to 448 for 2^24, see [`kkrt::width()`] |
//! | ℓ, ℓ' | λ + ⌈log 3·n_x⌉ + ⌈log n_y⌉; λ + ⌈log n_x⌉ + ⌈log n_y⌉ |
//!
//! ```text
//!   sender: X                                       receiver: Y
//!
//!   x in the bins h_1(x), h_2(x), h_3(x)            y in one of its bins (cuckoo hashing)
//!                               ◀───────────────    setup
//!                               ───────────────▶
//!   keys of β instances         ◀───────────────    the item in bin b is the input of instance b
//!   F_b(x) in each bin b of x                       F_b(y) in the bin b of y
//!   {F_b(x)}, sorted            ───────────────▶    y is common iff F_b(y) is among them
//!   [both] x is common iff its tag came ◀──────     [both] tags of what is common, and
//!                                                          random ones besides
//! ```
//!
//! F is [`vesica_oprf::kkrt`]. An instance whose bin is empty takes a random input. Both parties walk
//! over the bins in order: the receiver sends what it has made of some thousand bins while it makes the
//! next, the sender evaluates at its own items in these bins and forgets their keys.
//!
//! **Where we differ from the paper.** No stash: the table has so many bins that placing fails with
//! probability below 2^-40, and the sender makes 3·n_x tags in place of (3 + s)·n_x. The three tags of an
//! item lie in different bins, so no item says by a tag that comes twice that two of its functions
//! agree. The tags are sent as the Elias–Fano code of one set, not as a list for each function: about
//! log n_x − 2 bits less for each. W follows the comparisons of the run. When both learn, the
//! sender gets tags of the common *items*: which of its three was found would tell it where the
//! receiver placed the item, and so something of the receiver's other items.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::check_set_len;
use crate::{Output, Party, answer, sorted_tags};
use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Item, ParameterError, PsiParams, Result};
use vesica_hashing::{Cuckoo, Locations, Simple, Table};
use vesica_net::Context;
use vesica_oprf::kkrt::{self, Keys, PART_LEN, Point};
use vesica_ot::coded::ReceiverSetup;
use vesica_simd::prefetch::prefetch;

/// Bins of which the progress is told at a time.
const BINS_PER_STEP: usize = 1 << 18;

/// Points that are evaluated together: they stay in the first-level cache.
const POINTS_PER_BATCH: usize = 512;

/// How many items ahead they are read, so that cache misses overlap.
const AHEAD: usize = 32;

/// h, the hash functions.
const FUNCTIONS: u64 = 3;

/// Tags are numbered with 32 bits.
const MAX_SENDER_LEN: u64 = (1 << 32) / FUNCTIONS;

/// Bins, up to 1.37 an item, are numbered with 32 bits.
const MAX_RECEIVER_LEN: u64 = 1 << 31;

const _: () =
    assert!(PART_LEN == Simple::<u64>::GROUP_BINS && BINS_PER_STEP.is_multiple_of(PART_LEN));

pub(crate) const ROW: Protocol = Protocol {
    id: "kkrt16",
    name: "PSI from a batched OPRF",
    source: "Kolesnikov, Kumaresan, Rosulek, Trieu, ACM CCS 2016 (ePrint 2016/799), without a stash",
    security: Security::SemiHonest,
    assumption: assumptions::CODED_TRANSFERS_AND_CIPHER,
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 4,
    bytes_formula: "setup(W) + W/8·β + tags(3·n_x, ℓ), and tags(min(n_x, n_y), ℓ') when both learn; β ≈ 1.32·n_y; W = 400 to 464 by n_x; setup(W) ≈ 10,000 + 8·W; ℓ = 40 + ⌈log 3·n_x⌉ + ⌈log n_y⌉, ℓ' = 40 + ⌈log n_x⌉ + ⌈log n_y⌉; tags as in rr22",
    bytes,
    seconds,
    usable_set_len: None,
    named_only: true,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::tags(tags(params).tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "3-way cuckoo without stash, (40 + log n_y + 256)/240 bins an item; failure below 2^-40",
            source: "Demmler, Rindal, Rosulek, Trieu, PoPETs 2018",
        },
        Parameter {
            name: "code",
            value: "pseudorandom, 400 to 464 bits by n_x; all pairs compared differ in at least 128 places, but with probability 2^-40",
            source: "Kolesnikov, Kumaresan, Rosulek, Trieu 2016; parameters/kkrt",
        },
        Parameter {
            name: "tag length",
            value: "λ + ⌈log 3·n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
            source: "Kolesnikov, Kumaresan, Rosulek, Trieu 2016",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input.into_items())?)),
};

/// Points at which the sender evaluates, and tags that it sends. Larger sets are refused.
fn tag_count(params: &PsiParams) -> u64 {
    FUNCTIONS * (params.sender_len() as u64).min(MAX_SENDER_LEN)
}

/// The tags of the sender: a false match has probability 2^-λ over all pairs.
fn tags(params: &PsiParams) -> Shape {
    let count = tag_count(params);
    let bits =
        STATISTICAL_SECURITY_BITS + ceil_log2(count) + ceil_log2(params.receiver_len() as u64);
    Shape::new(count, bits)
}

fn table(params: &PsiParams) -> Table {
    Table::stashless(params.receiver_len())
}

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let oprf = kkrt::bytes(table(params).bins(), tag_count(params));
    Traffic {
        sender_to_receiver: oprf.sender_to_receiver + tags(params).bytes(),
        receiver_to_sender: oprf.receiver_to_sender + answer::items_bytes(params),
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    0.006 + 220e-9 * params.sender_len() as f64 + 160e-9 * params.receiver_len() as f64
}

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

fn block(item: &Item) -> Block {
    Block::from_le_bytes(*item.as_bytes())
}

/// Evaluates everywhere; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
pub struct Sender {
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`]; [`ParameterError::SetTooLarge`] above 2^32/3 items, or 2^31 of
    /// the receiver.
    pub fn new(params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.sender_len(), x.len())?;
        check_sizes(&params)?;
        Ok(Self { params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { params, x } = *self;
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let session = params.session();
        let shape = tags(&params);
        let mut oprf =
            ctx.child("setup", |ctx| kkrt::Sender::setup(ctx, session, tag_count(&params)))?;
        let simple = ctx.child("hashing", |ctx| {
            Simple::new(ctx.pool(), &Locations::of_digests(table(&params), session), &x)
        });
        let f_x = ctx.child("oprf", |ctx| {
            let bins = table(&params).bins();
            let pool = ctx.pool().clone();
            let mut f_x = sorted_tags::gather(shape);
            for step in (0..bins).step_by(BINS_PER_STEP) {
                let len = BINS_PER_STEP.min(bins - step);
                oprf.evaluate(ctx, len, |first, keys| {
                    let first = step + first;
                    let groups = first / PART_LEN..(first + keys.len()).div_ceil(PART_LEN);
                    let groups: Vec<usize> = groups.collect();
                    let made = pool.map_chunks(&groups, NonZeroUsize::MIN, |group| {
                        evaluate_group(&keys, first, &simple, group[0], &x, shape)
                    });
                    made.iter().flatten().for_each(|tag| f_x.push(*tag));
                })?;
                ctx.progress((step + len) as u64, bins as u64);
            }
            Ok::<_, vesica_core::Error>(f_x)
        })?;
        drop((oprf, simple));
        ctx.child("tags", |ctx| sorted_tags::send_gathered(ctx, shape, &f_x))?;
        answer::take_items(ctx, &params, &x)
    }
}

/// The tags of the items `x` in the bins of one group; the first of `keys` is that of bin `first_bin`.
fn evaluate_group(
    keys: &Keys<'_>,
    first_bin: usize,
    simple: &Simple,
    group: usize,
    x: &[Item],
    shape: Shape,
) -> Vec<u128> {
    let mask = u128::MAX >> (128 - shape.tag_bits());
    let mut points = [Point::default(); POINTS_PER_BATCH];
    let mut outputs = [Block::ZERO; POINTS_PER_BATCH];
    let mut entries = simple.entries(group);
    let mut ahead = simple.entries(group);
    ahead.by_ref().take(AHEAD).for_each(|entry| prefetch(x, entry.position as usize));
    let mut tags = Vec::with_capacity(entries.len());
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
        tags.extend(outputs[..len].iter().map(|output| output.get() & mask));
    }
    tags
}

/// Learns which of its items the sender has.
pub struct Receiver {
    params: PsiParams,
    y: Arc<Vec<Item>>,
}

impl Receiver {
    /// The receiver of the set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// As [`Sender::new`].
    pub fn new(params: PsiParams, y: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.receiver_len(), y.len())?;
        check_sizes(&params)?;
        Ok(Self { params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { params, y } = *self;
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let session = params.session();
        let shape = tags(&params);
        let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
        let cuckoo = ctx.child("hashing", |ctx| {
            let table = table(&params);
            let bins = Locations::of_digests(table, session).bins(ctx.pool(), &y);
            Cuckoo::new(&table, &bins)
        })?;
        let mut oprf =
            ctx.child("setup", |ctx| kkrt::Receiver::new(ctx, setup, session, tag_count(&params)))?;

        let f_y = ctx.child("oprf", |ctx| {
            let mut random = [0; Block::LEN];
            ctx.rng().fill_bytes(&mut random);
            let random = Block::from_le_bytes(random);
            let mask = u128::MAX >> (128 - shape.tag_bits());
            let bins = cuckoo.len();
            let mut f_y = Vec::with_capacity(y.len());
            for step in (0..bins).step_by(BINS_PER_STEP) {
                let len = BINS_PER_STEP.min(bins - step);
                let inputs = |first: usize, out: &mut [Block]| {
                    for (bin, out) in (step + first..).zip(out) {
                        if let Some(ahead) = cuckoo.position(bin + AHEAD) {
                            prefetch(&y, ahead);
                        }
                        let placed = cuckoo.bin(bin);
                        *out = placed.map_or(random, |placed| block(&y[placed.position as usize]));
                    }
                };
                oprf.evaluate(ctx, len, inputs, |first, outputs| {
                    for (bin, output) in (step + first..).zip(outputs) {
                        if let Some(placed) = cuckoo.bin(bin) {
                            f_y.push(Tagged::new(output.get() & mask, placed.position));
                        }
                    }
                })?;
                ctx.progress((step + len) as u64, bins as u64);
            }
            ctx.peer()?.flush()?;
            Ok::<_, vesica_core::Error>(f_y)
        })?;
        drop((oprf, cuckoo));
        let matches = ctx.child("tags", |ctx| sorted_tags::find(ctx, shape, f_y))?;
        let common = sorted_tags::own_positions(&matches, y.len());
        answer::give_items(ctx, &params, &y, &common)?;
        Ok(Output::Positions(common))
    }
}
