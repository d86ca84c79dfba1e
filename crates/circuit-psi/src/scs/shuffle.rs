//! Steps 5 and 6: the ways to reveal the matches in an order that reveals nothing.

use super::held::{Scs, Secrets};
use crate::computed::{Audit, Unaudited};
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::slice::from_ref;
use std::sync::{Mutex, PoisonError};
use vesica_circuit::gadgets::{
    add, hamming_weight, or, permute, sort, sort_largest, sort_largest_comparators,
};
use vesica_circuit::{Computation, Reveal, word};
use vesica_core::{Error, Learns, Misbehaviour, Result, Role};
use vesica_modular::paillier::shuffle::{
    Packing, Share, decrypt_unpack, encrypt_masks, mask_bits, random_mask, subtract_permute_pack,
};
use vesica_modular::paillier::{Ciphertext, KeyPair, PublicKey, ciphertext_len};
use vesica_modular::rsa::KeySize;
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::answer::positions_of_flags;
use vesica_party::{Output, Traffic};
use vesica_switching::{Network, Permutation, Routing};
use zeroize::Zeroize;

/// Ciphertexts of a message.
const PER_MESSAGE: usize = 256;

/// Ciphertexts of the masks that a thread makes or reads at once.
const MASKS_PER_TASK: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// A way to shuffle.
pub(super) trait Shuffle: Sized + Send + 'static {
    /// Whether the order reveals nothing to the sender either, so that where both learn the circuit
    /// reveals to both.
    const ORDER_HIDES_FROM_BOTH: bool;

    /// Whether both sets are audited.
    type Audit: Audit;

    /// Flights of [`finish`](Shuffle::finish), after what the circuit reveals.
    const FINISH_FLIGHTS: u64 = 0;

    /// The random choices of the party in `role`, for `rows` items of `width` bits.
    fn draw(ctx: &mut Context, role: Role, width: u32, rows: usize) -> Secrets;

    /// Steps 5 and 6: shuffles and reveals. `is_match` has a lane for each window.
    fn shuffle<C: Computation>(
        c: &mut C,
        scs: &Scs<Self>,
        width: usize,
        is_match: &C::Wires,
        items: Vec<C::Wires>,
    ) -> Result<Output>;

    /// The rest of step 6, after the circuit.
    fn finish(_ctx: &mut Context, _scs: &Scs<Self>, output: Output) -> Result<Output> {
        Ok(output)
    }

    /// Payload bytes of [`finish`](Shuffle::finish).
    fn finish_bytes(_width: u32, _rows: usize) -> Traffic {
        Traffic { sender_to_receiver: 0, receiver_to_sender: 0 }
    }
}

/// A Waksman network that the sender sets (§5.3.3), of sets that are audited or not.
pub(super) struct Waksman<A = Unaudited>(PhantomData<fn() -> A>);

/// Sorting (§5.3.1).
pub(super) struct Sorted;

/// Where both learn, the number of matches decides between sorting in blocks (§5.3.1) and the
/// network.
pub(super) struct ByCount;

/// Homomorphic encryption (§5.3.2) under a modulus of 2048 bits, or where `IS_LONG` of 3072.
pub(super) struct Homomorphic<const IS_LONG: bool>;

impl<const IS_LONG: bool> Homomorphic<IS_LONG> {
    const KEY: KeySize = if IS_LONG { KeySize::Bits3072 } else { KeySize::Bits2048 };
}

impl<A: Audit> Shuffle for Waksman<A> {
    const ORDER_HIDES_FROM_BOTH: bool = false;

    type Audit = A;

    fn draw(ctx: &mut Context, role: Role, _: u32, rows: usize) -> Secrets {
        match role {
            Role::Sender => {
                let permutation = Permutation::random(rows, ctx.rng());
                Secrets::Routing(Routing::waksman(&permutation))
            }
            _ => Secrets::None,
        }
    }

    fn shuffle<C: Computation>(
        c: &mut C,
        scs: &Scs<Self>,
        _: usize,
        _: &C::Wires,
        items: Vec<C::Wires>,
    ) -> Result<Output> {
        by_network(c, scs, items)
    }
}

/// Shuffles by the network that the sender set.
fn by_network<S: Shuffle, C: Computation>(
    c: &mut C,
    scs: &Scs<S>,
    items: Vec<C::Wires>,
) -> Result<Output> {
    let network = Network::waksman(scs.rows());
    let routing = scs.own.as_ref().and_then(|own| match &own.secret {
        Secrets::Routing(routing) => Some(routing),
        _ => None,
    });
    let items = permute(c, &network, routing, items)?;
    let revealed = c.reveal(&items, Reveal::Receiver)?;
    positions(scs, revealed)
}

impl Shuffle for ByCount {
    const ORDER_HIDES_FROM_BOTH: bool = false;

    type Audit = Unaudited;

    fn draw(ctx: &mut Context, role: Role, width: u32, rows: usize) -> Secrets {
        <Waksman>::draw(ctx, role, width, rows)
    }

    fn shuffle<C: Computation>(
        c: &mut C,
        scs: &Scs<Self>,
        width: usize,
        is_match: &C::Wires,
        items: Vec<C::Wires>,
    ) -> Result<Output> {
        // Where the receiver alone learns, n̂ would be more than the sender may know.
        if scs.params.learns() == Learns::Both && scs.rows() > 1 {
            let most = most_matches(c, is_match)?;
            if is_sorted_for_less(scs.rows(), most) {
                let items = sort_largest(c, width, &items, most)?;
                let revealed = c.reveal(&items, Reveal::Receiver)?;
                return positions(scs, revealed);
            }
        }
        by_network(c, scs, items)
    }
}

/// The least 2^k − 1 that is n̂, the number of matches, or more, and not zero; to both parties.
fn most_matches<C: Computation>(c: &mut C, is_match: &C::Wires) -> Result<usize> {
    let mut bits = hamming_weight(c, is_match)?;
    // Whether n̂ has this bit or a higher one.
    for i in (1..bits.len()).rev() {
        bits[i - 1] = or(c, &bits[i - 1], &bits[i])?;
    }
    let shown = c.reveal_checked(&bits)?;
    let most = word::numbers(&shown).first().copied().unwrap_or(0);
    Ok(usize::try_from(most).unwrap_or(usize::MAX).max(1))
}

/// Whether sorting `rows` windows with at most `most` matches takes fewer bytes than the network: a
/// comparator has two gates for each bit of an item, of two ciphertexts each, and a switch a
/// one-sided gate, of one ciphertext.
fn is_sorted_for_less(rows: usize, most: usize) -> bool {
    let switches = Network::waksman(rows).switch_count() as u64;
    most < rows && 4 * sort_largest_comparators(rows, most) <= switches
}

impl Shuffle for Sorted {
    const ORDER_HIDES_FROM_BOTH: bool = true;

    type Audit = Unaudited;

    fn draw(_: &mut Context, _: Role, _: u32, _: usize) -> Secrets {
        Secrets::None
    }

    fn shuffle<C: Computation>(
        c: &mut C,
        scs: &Scs<Self>,
        width: usize,
        _: &C::Wires,
        mut items: Vec<C::Wires>,
    ) -> Result<Output> {
        sort(c, width, &mut items)?;
        let to = match scs.params.learns() {
            Learns::Receiver => Reveal::Receiver,
            Learns::Both => Reveal::Both,
        };
        let revealed = c.reveal(&items, to)?;
        positions(scs, revealed)
    }
}

impl<const IS_LONG: bool> Shuffle for Homomorphic<IS_LONG> {
    const ORDER_HIDES_FROM_BOTH: bool = false;

    type Audit = Unaudited;

    const FINISH_FLIGHTS: u64 = 1;

    fn draw(ctx: &mut Context, role: Role, width: u32, rows: usize) -> Secrets {
        match role {
            Role::Sender => {
                Secrets::Masked(Permutation::random(rows, ctx.rng()), Mutex::new(Vec::new()))
            }
            _ => {
                let bits = mask_bits(width, rows);
                Secrets::Masks((0..rows).map(|_| random_mask(bits, ctx.rng())).collect())
            }
        }
    }

    /// r' = m + r, revealed to the sender alone.
    fn shuffle<C: Computation>(
        c: &mut C,
        scs: &Scs<Self>,
        width: usize,
        _: &C::Wires,
        mut items: Vec<C::Wires>,
    ) -> Result<Output> {
        let rows = scs.rows();
        let mask_len = mask_bits(width as u32, rows) as usize;
        let secret = scs.own.as_ref().map(|own| &own.secret);
        let masks = match secret {
            Some(Secrets::Masks(masks)) => Some(bits_of_shares(masks, mask_len)),
            _ => None,
        };
        let masks = c.input(Role::Receiver, masks.as_deref(), mask_len, rows)?;
        let zero = c.constant(false, rows);
        items.resize(mask_len, zero);
        let masked = add(c, &items, &masks)?;
        let revealed = c.reveal(&masked, Reveal::Sender)?;
        if let (Some(bits), Some(Secrets::Masked(_, shares))) = (revealed, secret) {
            *shares.lock().unwrap_or_else(PoisonError::into_inner) = shares_of_bits(&bits);
        }
        Ok(Output::Nothing)
    }

    /// Figure 6, the receiver being Alice, who has the key and learns the items, and the sender
    /// Bob.
    fn finish(ctx: &mut Context, scs: &Scs<Self>, output: Output) -> Result<Output> {
        let size = Self::KEY;
        let packing = Packing::new(size, scs.items.bits());
        let Some(own) = &scs.own else { return Ok(output) };
        ctx.child("shuffle", |ctx| match &own.secret {
            Secrets::Masks(masks) => {
                // The key, and [r].
                let key = KeyPair::generate(size, ctx.rng());
                ctx.peer()?.send(&key.public().encode())?;
                for (done, masks) in masks.chunks(PER_MESSAGE).enumerate() {
                    let bytes = encrypted(ctx, &key, masks);
                    ctx.peer()?.send(&bytes)?;
                    ctx.progress((done * PER_MESSAGE + masks.len()) as u64, scs.rows() as u64);
                }
                // m = r' − r, permuted.
                let mut items = Vec::with_capacity(masks.len());
                for count in parts(&packing, masks.len()) {
                    let bytes = ctx.peer()?.recv(packing.packed_len(count))?;
                    items.extend(decrypted(ctx, &key, &packing, &bytes, count)?);
                }
                positions_of(scs, items)
            }
            Secrets::Masked(permutation, shares) => {
                // The key, and [r].
                let key = ctx.peer()?.recv(size.len_bytes())?;
                let key = PublicKey::decode(&key, size)
                    .map_err(|_| Error::from(Misbehaviour::InvalidPublicKey))?;
                let shares = shares.lock().unwrap_or_else(PoisonError::into_inner);
                let mut masks = Vec::with_capacity(shares.len());
                for part in shares.chunks(PER_MESSAGE) {
                    let bytes = ctx.peer()?.recv(part.len() * ciphertext_len(size))?;
                    masks.extend(decoded(ctx, &key, &bytes)?);
                }
                // π([r' − r]).
                let mut order = permutation.sources();
                for count in parts(&packing, shares.len()) {
                    let (now, later) = order.split_at(count);
                    order = later;
                    let bytes = packed(ctx, &key, &packing, &masks, &shares, now);
                    ctx.peer()?.send(&bytes)?;
                }
                Ok(output)
            }
            _ => Ok(output),
        })
    }

    fn finish_bytes(width: u32, rows: usize) -> Traffic {
        let size = Self::KEY;
        Traffic {
            sender_to_receiver: Packing::new(size, width).packed_len(rows) as u64,
            receiver_to_sender: (size.len_bytes() + rows * ciphertext_len(size)) as u64,
        }
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        match self {
            Secrets::Masks(masks) => masks.zeroize(),
            Secrets::Masked(_, shares) => {
                shares.get_mut().unwrap_or_else(PoisonError::into_inner).zeroize();
            }
            _ => {}
        }
    }
}

/// [r], made on all threads.
fn encrypted(ctx: &mut Context, key: &KeyPair, masks: &[Share]) -> Vec<u8> {
    let masks: Vec<_> = masks.iter().map(|mask| (mask, key.noise(ctx.rng()))).collect();
    ctx.map(&masks, MASKS_PER_TASK, |masks| encrypt_masks(key, masks)).concat()
}

/// [r], read on all threads.
fn decoded(ctx: &Context, key: &PublicKey, bytes: &[u8]) -> Result<Vec<Ciphertext>> {
    let encoded: Vec<&[u8]> = bytes.chunks(key.ciphertext_len()).collect();
    let parts = ctx.map(&encoded, MASKS_PER_TASK, |encoded| key.decode_all(&encoded.concat()));
    let parts: Result<Vec<_>, _> = parts.into_iter().collect();
    Ok(parts.map_err(|_| Misbehaviour::InvalidValue)?.into_iter().flatten().collect())
}

/// π([r' − r]) of the items at the places `order`, made on all threads, a ciphertext at a time.
fn packed(
    ctx: &mut Context,
    key: &PublicKey,
    packing: &Packing,
    masks: &[Ciphertext],
    shares: &[Share],
    order: &[u32],
) -> Vec<u8> {
    let tasks = order.chunks(packing.slots()).map(|order| (order, key.noise(ctx.rng())));
    let tasks: Vec<_> = tasks.collect();
    let parts = ctx.map(&tasks, NonZeroUsize::MIN, |tasks| {
        let each = tasks.iter().map(|(order, noise)| {
            subtract_permute_pack(key, packing, masks, shares, order, from_ref(noise))
        });
        each.collect::<Vec<_>>().concat()
    });
    parts.concat()
}

/// The `count` items of a message back, read on all threads, a ciphertext at a time.
fn decrypted(
    ctx: &Context,
    key: &KeyPair,
    packing: &Packing,
    bytes: &[u8],
    count: usize,
) -> Result<Vec<u128>> {
    let slots = packing.slots();
    let counts = (0..count).step_by(slots).map(|first| slots.min(count - first));
    let tasks: Vec<_> = bytes.chunks(key.public().ciphertext_len()).zip(counts).collect();
    let parts = ctx.map(&tasks, NonZeroUsize::MIN, |tasks| {
        let each = tasks.iter().map(|(bytes, count)| decrypt_unpack(key, packing, bytes, *count));
        each.collect::<Result<Vec<_>, _>>()
    });
    let parts: Result<Vec<_>, _> = parts.into_iter().collect();
    Ok(parts.map_err(|_| Misbehaviour::InvalidValue)?.into_iter().flatten().flatten().collect())
}

/// How many items are in each message back: whole ciphertexts.
fn parts(packing: &Packing, count: usize) -> impl Iterator<Item = usize> + use<> {
    let step = PER_MESSAGE * packing.slots();
    (0..count).step_by(step).map(move |first| step.min(count - first))
}

/// The positions of those of one's items that were revealed.
fn positions<S: Shuffle>(scs: &Scs<S>, revealed: Option<Vec<Bits>>) -> Result<Output> {
    match revealed {
        Some(word) if scs.own.is_some() => positions_of(scs, word::numbers(&word)),
        _ => Ok(Output::Nothing),
    }
}

/// The positions of those of one's items that are among `revealed`; zeros are no items.
fn positions_of<S: Shuffle>(scs: &Scs<S>, revealed: Vec<u128>) -> Result<Output> {
    let Some(own) = &scs.own else { return Ok(Output::Nothing) };
    let falls = own.role == Role::Sender;
    let own_len = own.sorted.len();
    // The same work for every window, whether it has a match or not: otherwise the time until the
    // last message would reveal the number of matches to the peer.
    let mut is_common = vec![false; own_len];
    let mut is_wrong = false;
    for (window, number) in revealed.into_iter().enumerate() {
        let is_item = number != 0;
        let any = own.sorted[spread(window) % own_len].integer();
        let wanted = if is_item { number } else { any };
        let found = own.sorted.binary_search_by(|item| {
            let order = item.integer().cmp(&wanted);
            if falls { order.reverse() } else { order }
        });
        // An item that this party does not have cannot be common, and no item is common twice.
        let place = found.map_or(0, |place| own.order[place] as usize);
        is_wrong |= found.is_err() || (is_item && is_common[place]);
        is_common[place] |= is_item;
    }
    // The peer must not learn of it: it could test which items this party has.
    Ok(Output::unless(is_wrong, positions_of_flags(&is_common)))
}

/// A place for a window without a match: consecutive windows lead to distant places, as items do.
fn spread(window: usize) -> usize {
    (window as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 8
}

fn bits_of_shares(shares: &[Share], width: usize) -> Vec<Bits> {
    let bit = |i: usize| shares.iter().map(move |share| share[i / 64] >> (i % 64) & 1 == 1);
    (0..width).map(|i| bit(i).collect()).collect()
}

fn shares_of_bits(word: &[Bits]) -> Vec<Share> {
    let mut shares = vec![Share::default(); word.first().map_or(0, Bits::len)];
    for (i, bits) in word.iter().enumerate() {
        for (share, bit) in shares.iter_mut().zip(bits.iter()) {
            share[i / 64] |= u64::from(bit) << (i % 64);
        }
    }
    shares
}
