//! # OT-PSI with a mask for every place of a bin
//!
//! B. Pinkas, T. Schneider, M. Zohner, "Faster private set intersection based on OT extension",
//! USENIX Security 2014, as described in B. Pinkas, T. Schneider, G. Segev, M. Zohner, "Phasing",
//! USENIX Security 2015, §3.5 and Figure 1. The baseline that OT-Phasing improves on.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; gap Diffie–Hellman, random oracle, AES being pseudorandom |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 4; with [`Learns::Both`] 5 |
//! | payload bytes | setup + 32·t·(β + s) + tags((2 + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') with [`Learns::Both`] |
//! | t | ⌈σ'/8⌉ characters; σ' is the smaller of σ and λ + ⌈log n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉) |
//! | ℓ | λ + ⌈log (2 + s)·n_x⌉ + ⌈log (β·max_β + s·n_x)⌉ |
//!
//! ```text
//!   sender P_1: X                                   receiver P_2: Y
//!
//!   every x in the bins of both functions,          every y in one of β = 2.4·n_y bins, or in the
//!   in a random place k < max_β of each             stash of s
//!   t rows a bin, 1-out-of-256  ◀──────────────▶    chooses the characters of what is in its bin
//!   x in bin b at place k: F_{b,k}(x)               y in bin b: F_{b,k}(y) for each k < max_β
//!   stash place p, x number k: F_{p,k}(x)           y in stash place p: F_{p,k}(y) for each k < n_x
//!   {F(x), …}, sorted           ───────────────▶    y is common iff one of its F is among them
//!   [both] x is common iff its tag came ◀──────     [both] tags of what is common, and
//!                                                          random ones besides
//! ```
//!
//! F_{b,k} is part k of the long strings of the paper's transfers, [`vesica_oprf::characters`] in slot k.
//! The receiver computes max_β of them for each of its items, which is what makes the protocol slow;
//! the sender computes those of what it has, and dummies for nothing.
//!
//! Bins and places of the stash without an item have no value at all
//! ([`NONE`](vesica_ot::coded::kk13::NONE)), for a value could be an item of the sender's, and the receiver would learn that.
//!
//! **Where we differ from the paper.** The places of a bin are drawn at random, so that they do not
//! say how many items it holds, and so are the numbers of the items for the stash. Masks are sent as the Elias–Fano code of their set and not in random
//! order, and ℓ counts all pairs that are compared. In a bin both functions of an x may meet only in
//! different bins. max_β is the smallest that a bin passes with probability below 2^-40, computed
//! exactly ([`vesica_hashing::max_load`]); should one be passed, the run ends with an error. The receiver computes the
//! masks of every stash place, and of as many bins as it has items, whatever it holds there: how long it takes does
//! not tell how many of its items are in the stash.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::{check_item_bits, check_set_len};
use crate::{Output, Party, answer, sorted_tags};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use std::sync::Arc;
use vesica_core::elias_fano::Shape as TagShape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::tagged::Tagged;
use vesica_core::{Item, ParameterError, PsiParams, Result, SessionId};
use vesica_hashing::{Cuckoo, Locations, ShortItems, Simple, Table, max_load};
use vesica_net::Context;
use vesica_oprf::characters::{Choices, Outputs, Shape};
use vesica_ot::coded::{ReceiverSetup, kk13};

pub(crate) const ROW: Protocol = Protocol {
    id: "psz14",
    name: "OT-PSI of Pinkas, Schneider and Zohner",
    source: "Pinkas, Schneider, Zohner, USENIX Security 2014; Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §3.5",
    security: Security::SemiHonest,
    assumption: assumptions::CODED_TRANSFERS,
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 4,
    bytes_formula: "setup + 32·t·(2.4·n_y + s) + tags((2 + s)·n_x, ℓ), and tags(min(n_x, n_y), ℓ') when both learn; t = ⌈σ'/8⌉; s from Table 4; ℓ = 40 + ⌈log (2 + s)·n_x⌉ + ⌈log (n_y·max_β + s·n_x)⌉; σ', ℓ' and tags as in ot_phasing",
    bytes,
    seconds,
    usable_set_len: None,
    named_only: true,
    item_bits: 1..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::masks(Plan::new(params).tags().tag_bits()),
    parameters: &[
        Parameter {
            name: "hash table",
            value: "2-way cuckoo, 2.4 bins an item, stash of 12, 6, 4, 3, 2 at 2^8, 2^12, 2^16, 2^20, 2^24",
            source: "Pinkas, Schneider, Segev, Zohner 2015, Table 4",
        },
        Parameter {
            name: "places in a bin",
            value: "the fewest that a bin passes with probability below 2^-40",
            source: "binomial tail and union bound, as Pinkas, Schneider, Segev, Zohner 2015, §7.1",
        },
        Parameter {
            name: "transfers",
            value: "1 out of 256, Walsh–Hadamard code of 256 bits, distance 128",
            source: "Kolesnikov, Kumaresan, CRYPTO 2013",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input.into_items())?)),
};

/// The public shape of a run.
struct Plan {
    table: Table,
    items: ShortItems,
    /// max_β.
    places: usize,
    n_x: usize,
    n_y: usize,
}

impl Plan {
    fn new(params: &PsiParams) -> Self {
        let (n_x, n_y) = (params.sender_len(), params.receiver_len());
        let table = Table::phasing_two_way(n_y);
        let places = max_load(table.functions() * n_x, table.bins());
        Self { table, items: ShortItems::new(params), places, n_x, n_y }
    }

    fn masks(&self) -> u64 {
        (self.table.functions() + self.table.stash()) as u64 * self.n_x as u64
    }

    /// Masks the receiver compares them with.
    fn own_masks(&self) -> u64 {
        self.n_y as u64 * self.places as u64 + self.table.stash() as u64 * self.n_x as u64
    }

    fn shape(&self) -> Shape {
        let bits =
            STATISTICAL_SECURITY_BITS + ceil_log2(self.masks()) + ceil_log2(self.own_masks());
        Shape::new(self.items.bits(), bits)
    }

    fn tags(&self) -> TagShape {
        TagShape::new(self.masks(), self.shape().output_bits())
    }

    fn locations(&self, session: &SessionId) -> Locations {
        Locations::of_digests(self.table, session)
    }

    /// Rows of the extensions, one after the other: groups of bins, then the stash.
    fn extensions(&self) -> impl Iterator<Item = usize> {
        let (bins, rows) = (self.table.bins(), self.shape().rows());
        let firsts = (0..bins).step_by(Simple::GROUP_BINS);
        let of_group = move |first: usize| (bins - first).min(Simple::GROUP_BINS) * rows;
        firsts.map(of_group).chain([self.table.stash() * rows])
    }
}

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = Plan::new(params);
    let extensions = plan.extensions().map(kk13::extend_bytes);
    let transfers = extensions.fold(kk13::setup_bytes(), |sum, extension| sum + extension);
    Traffic {
        sender_to_receiver: transfers.sender_to_receiver + plan.tags().bytes(),
        receiver_to_sender: transfers.receiver_to_sender + answer::items_bytes(params),
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let plan = Plan::new(params);
    let rows = plan.table.bins() as f64 * plan.shape().rows() as f64;
    0.02 + 40e-9 * rows + 120e-9 * (plan.masks() + plan.own_masks()) as f64
}

/// Refuses what [`check_set_len`] and [`check_item_bits`] do, and more masks than can be numbered.
fn check(params: &PsiParams, len: usize, items: &[Item]) -> Result<()> {
    check_set_len(len, items.len())?;
    check_item_bits(params, items)?;
    let table = Table::phasing_two_way(params.receiver_len());
    let limits = [
        (params.sender_len(), u32::MAX as usize / (table.functions() + table.stash())),
        (params.receiver_len(), 1 << 30),
    ];
    for (len, max) in limits {
        if len > max {
            return Err(ParameterError::SetTooLarge { len: len as u64, max: max as u64 }.into());
        }
    }
    Ok(())
}

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
pub struct Sender {
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`]; `ItemTooLong` when an item has more bits than `params`
    /// say; `SetTooLarge` when there are more than 2^32 masks.
    pub fn new(params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check(&params, params.sender_len(), &x)?;
        Ok(Self { params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { params, x } = *self;
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let plan = Plan::new(&params);
        let session = params.session();
        let mut transfers = ctx.child("setup", |ctx| kk13::Sender::setup(ctx, session))?;
        let (short, simple) = ctx.child("hashing", |ctx| {
            let short = plan.items.shorten(ctx.pool(), &params, &x);
            let simple = Simple::new(ctx.pool(), &plan.locations(session), &short);
            (short, simple)
        });
        let tags = ctx.child("masks", |ctx| {
            let shape = plan.shape();
            let masks = transfers.masks();
            let mut tags = sorted_tags::gather(plan.tags());
            let mut done = 0;
            let mut rows = Vec::new();
            let mut make = |ctx: &Context, outputs: &Outputs, rows: &[_], wanted: &[_]| {
                let mut made = vec![0; wanted.len()];
                outputs.of_values(ctx.pool(), rows, &masks, wanted, &mut made);
                made.iter().for_each(|tag| tags.push(*tag));
                done += made.len() as u64;
                ctx.progress(done, plan.masks());
            };
            let mut extensions = plan.extensions();
            for (group, len) in (0..simple.groups()).zip(&mut extensions) {
                rows.clear();
                transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))?;
                let mut of_places = vec![Vec::new(); plan.places];
                let mut free = FreePlaces::new(simple.bins(group).len(), plan.places);
                for entry in simple.entries(group) {
                    let bin = entry.bin as usize - simple.bins(group).start;
                    let place = free.take(bin, ctx.rng()).ok_or(ParameterError::HashingFailed)?;
                    let value = short[entry.position as usize].integer();
                    of_places[place].push(((bin * shape.rows()) as u32, value));
                }
                for (place, wanted) in of_places.iter().enumerate() {
                    make(ctx, &Outputs::new(shape, session, place as u64), &rows, wanted);
                }
            }
            rows.clear();
            let len = extensions.next().unwrap_or(0);
            transfers.extend(ctx, len, |_, tile| rows.extend_from_slice(tile))?;
            if plan.table.stash() > 0 {
                // A match in the stash tells the receiver the number of the item.
                for (number, position) in numbering(short.len(), ctx.rng()).into_iter().enumerate()
                {
                    let item = &short[position as usize];
                    let slot = Outputs::new(shape, session, stash_slot(number));
                    let firsts = (0..plan.table.stash()).map(|place| (place * shape.rows()) as u32);
                    let wanted: Vec<_> = firsts.map(|first| (first, item.integer())).collect();
                    make(ctx, &slot, &rows, &wanted);
                }
            }
            Ok::<_, vesica_core::Error>(tags)
        })?;
        drop((short, simple));
        ctx.child("tags", |ctx| sorted_tags::send_gathered(ctx, plan.tags(), &tags))?;
        answer::take_items(ctx, &params, &x)
    }
}

/// The positions of `len` items in random order, the numbers they have for the stash.
fn numbering(len: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..=u32::MAX).take(len).collect();
    order.shuffle(rng);
    order
}

/// The function for the sender's item `number` in the stash: bins have fewer than 2^32 places.
fn stash_slot(number: usize) -> u64 {
    1 << 32 | number as u64
}

/// The places of each bin that hold nothing yet.
struct FreePlaces {
    /// The places of each bin, those taken first.
    order: Vec<u32>,
    taken: Vec<u32>,
    places: usize,
}

impl FreePlaces {
    fn new(bins: usize, places: usize) -> Self {
        let order = (0..bins).flat_map(|_| 0..places as u32).collect();
        Self { order, taken: vec![0; bins], places }
    }

    /// A random free place of `bin`, if there is one.
    fn take(&mut self, bin: usize, rng: &mut impl Rng) -> Option<usize> {
        let order = &mut self.order[bin * self.places..][..self.places];
        let taken = self.taken[bin] as usize;
        if taken == self.places {
            return None;
        }
        order.swap(taken, rng.random_range(taken..self.places));
        self.taken[bin] += 1;
        Some(order[taken] as usize)
    }
}

/// P_2: learns which of its items the sender has.
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
        check(&params, params.receiver_len(), &y)?;
        Ok(Self { params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { params, y } = *self;
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = Plan::new(&params);
        let session = params.session();
        let setup = ctx.child("setup", |ctx| ReceiverSetup::send(ctx, session))?;
        let (short, cuckoo) = ctx.child("hashing", |ctx| {
            let short = plan.items.shorten(ctx.pool(), &params, &y);
            let bins = plan.locations(session).bins(ctx.pool(), &short);
            Ok::<_, vesica_core::Error>((short, Cuckoo::new(&plan.table, &bins)?))
        })?;
        let mut transfers = ctx.child("setup", |ctx| kk13::Receiver::new(ctx, setup))?;
        let tags = ctx.child("masks", |ctx| {
            let shape = plan.shape();
            let mut tags = Vec::with_capacity(plan.own_masks() as usize);
            let mut make = |ctx: &Context, outputs: &Outputs, rows: &[_], own: &[(u32, u32)]| {
                let places: Vec<u32> = own.iter().map(|(_, place)| *place).collect();
                let mut made = vec![0; own.len()];
                outputs.of_own(ctx.pool(), rows, &places, &mut made);
                tags.extend(own.iter().zip(&made).map(|(own, tag)| Tagged::new(*tag, own.0)));
                ctx.progress(tags.len() as u64, plan.own_masks());
            };
            let (mut rows, mut choices, mut own) = (Vec::new(), Choices::new(shape), Vec::new());
            for (held, is_stash) in Places::new(&plan.table, &cuckoo, y.len()) {
                // Where no item is, any value could be an item of the sender's.
                choices.begin(held.len());
                own.clear();
                for (bin, held) in held.iter().enumerate() {
                    let position = match held {
                        Held::Item(position) => {
                            choices.set(bin, short[*position as usize].integer());
                            *position
                        }
                        Held::Dummy => NO_ITEM,
                        Held::Nothing => continue,
                    };
                    own.push((position, (bin * shape.rows()) as u32));
                }
                rows.clear();
                transfers.extend(ctx, choices.rows(), |_, tile| rows.extend_from_slice(tile))?;
                if !is_stash {
                    for place in 0..plan.places {
                        make(ctx, &Outputs::new(shape, session, place as u64), &rows, &own);
                    }
                } else {
                    for number in 0..plan.n_x {
                        let slot = Outputs::new(shape, session, stash_slot(number));
                        make(ctx, &slot, &rows, &own);
                    }
                }
            }
            ctx.finish()?;
            Ok::<_, vesica_core::Error>(tags)
        })?;
        drop((short, cuckoo));
        let mut matches = ctx.child("tags", |ctx| sorted_tags::find(ctx, plan.tags(), tags))?;
        debug_assert!(matches.iter().all(|found| found.own != NO_ITEM), "no item is common");
        matches.retain(|found| found.own != NO_ITEM);
        let common = sorted_tags::own_positions(&matches, y.len());
        answer::give_items(ctx, &params, &y, &common)?;
        Ok(Output::Positions(common))
    }
}

/// The position of what is no item; there are at most 2^30.
const NO_ITEM: u32 = u32::MAX;

/// What a bin or a place of the stash holds at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The item at this position.
    Item(u32),
    /// No item, and masks are made of it all the same.
    Dummy,
    Nothing,
}

/// The receiver's bins, group by group, and then its stash, which is marked.
///
/// Masks are made of as many bins as there are items and of all places of the stash, however many items are in it.
struct Places<'a> {
    cuckoo: &'a Cuckoo,
    stash: usize,
    /// Bins that take the part of items which are in the stash.
    dummies: usize,
    next: usize,
    is_done: bool,
}

impl<'a> Places<'a> {
    fn new(table: &Table, cuckoo: &'a Cuckoo, items: usize) -> Self {
        debug_assert!(items <= cuckoo.len(), "bins are more than items");
        Self {
            cuckoo,
            stash: table.stash(),
            dummies: cuckoo.stash().len(),
            next: 0,
            is_done: false,
        }
    }

    fn bin(&mut self, bin: usize) -> Held {
        match self.cuckoo.position(bin) {
            Some(position) => Held::Item(position as u32),
            None if self.dummies > 0 => {
                self.dummies -= 1;
                Held::Dummy
            }
            None => Held::Nothing,
        }
    }
}

impl Iterator for Places<'_> {
    type Item = (Vec<Held>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next < self.cuckoo.len() {
            let first = self.next;
            self.next = (first + Simple::GROUP_BINS).min(self.cuckoo.len());
            return Some(((first..self.next).map(|bin| self.bin(bin)).collect(), false));
        }
        if std::mem::replace(&mut self.is_done, true) {
            return None;
        }
        let items = self.cuckoo.stash().iter().map(|position| Held::Item(*position));
        Some((items.chain(std::iter::repeat(Held::Dummy)).take(self.stash).collect(), true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng as StdRng;

    #[test]
    fn numbers_for_the_stash_do_not_follow_the_list() {
        let [one, two] = [1, 2].map(|seed| numbering(1000, &mut StdRng::seed_from_u64(seed)));
        assert_ne!(one, two);
        for order in [one, two] {
            // A fixed point is expected once; ten have probability below 2^-21.
            let fixed = order.iter().enumerate().filter(|(i, position)| *i == **position as usize);
            assert!(fixed.count() < 10);
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn as_many_places_are_computed_whatever_the_stash_holds() {
        let n = 300;
        let table = Table::phasing_two_way(n);
        let beta = table.bins() as u32;
        // Items of the same two bins: all but two of them go to the stash.
        for crowded in [0, 3, 5, 2 + table.stash()] {
            let bins = |i: u32| match (i as usize) < crowded {
                true => [7, 8, 0],
                false => [(2 * i + 20) % beta, (2 * i + 21) % beta, 0],
            };
            let bins: Vec<_> = (0..n as u32).map(bins).collect();
            let cuckoo = Cuckoo::new(&table, &bins).unwrap();
            assert_eq!(cuckoo.stash().len(), crowded.saturating_sub(2));
            let (mut made, mut items, mut places) = ([0, 0], vec![0; n], [0, 0]);
            for (held, is_stash) in Places::new(&table, &cuckoo, n) {
                places[usize::from(is_stash)] += held.len();
                for held in held {
                    made[usize::from(is_stash)] += usize::from(held != Held::Nothing);
                    if let Held::Item(position) = held {
                        items[position as usize] += 1;
                    }
                }
            }
            assert_eq!(made, [n, table.stash()], "{crowded} items in two bins");
            assert_eq!(places, [table.bins(), table.stash()]);
            assert!(items.iter().all(|times| *times == 1));
        }
    }

    #[test]
    fn places_of_a_bin_are_taken_once_each_and_in_random_order() {
        let mut rng = StdRng::seed_from_u64(3);
        let mut free = FreePlaces::new(2, 18);
        let taken: Vec<usize> = std::iter::from_fn(|| free.take(1, &mut rng)).collect();
        assert!(!taken.is_sorted());
        let mut all = taken.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..18));
        assert!(free.take(1, &mut rng).is_none() && free.take(0, &mut rng).is_some());
    }
}
