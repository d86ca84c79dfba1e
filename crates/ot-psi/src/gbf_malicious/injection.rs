//! Step 7: π, the transfer of each slot of a block.

use super::cut::is_one;
use super::plan::Plan;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use vesica_core::{Misbehaviour, ParameterError, Result};
use vesica_net::Pool;
use vesica_okvs::bloom::Bloom;
use zeroize::{Zeroize, Zeroizing};

/// Entries of a bucket: they are shuffled within the cache.
const BUCKET_LEN: usize = 1 << 15;

/// The most buckets, as a power of two: they are all written to at once.
const MAX_BUCKET_BITS: u32 = 12;

/// Draws π: the slots that are ones go to transfers whose choice is one, and all others to the
/// transfers that are left, both in random order.
///
/// The choices are a uniform list of M ones. So to a party that does not know them π is a uniform
/// injection, for any filter.
///
/// # Errors
/// [`ParameterError::HashingFailed`] when the filter has more ones than choices outside C, with
/// probability below 2^-40.
pub(super) fn draw(
    pool: &Pool,
    rng: &mut impl Rng,
    plan: &Plan,
    cut: &[u64],
    choices: &[u64],
    filter: &Bloom,
) -> Result<Zeroizing<Vec<u32>>> {
    let needed = filter.count_ones();
    let masked = |flip: u64| {
        let last = choices.len() - 1;
        let of_last = u64::MAX >> (64 * choices.len() - plan.sizes.transfers);
        cut.iter().zip(choices).enumerate().flat_map(move |(i, (cut, choices))| {
            let valid = if i == last { of_last } else { u64::MAX };
            let mut left = (choices ^ flip) & !cut & valid;
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| (64 * i) as u32 + left.trailing_zeros());
                left &= left.wrapping_sub(1);
                place
            })
        })
    };
    let mut ones = shuffled(pool, rng, plan.sizes.ones, masked(0));
    if ones.len() < needed {
        return Err(ParameterError::HashingFailed.into());
    }
    let spare = Zeroizing::new(ones.split_off(needed));
    let rest = masked(u64::MAX).chain(spare.iter().copied());
    let rest = shuffled(pool, rng, plan.sizes.slots - needed, rest);

    // One more entry in each, which is never used: which list is next must not be a branch.
    let lists = [rest, ones].map(|mut list| {
        list.push(0);
        list
    });
    let mut next = [0; 2];
    let mut places = Vec::with_capacity(plan.sizes.slots);
    for i in 0..plan.sizes.slots {
        let bit = usize::from(filter.get(i));
        let candidates = [lists[0][next[0]], lists[1][next[1]]];
        places.push(candidates[bit]);
        next[0] += 1 - bit;
        next[1] += bit;
    }
    Ok(Zeroizing::new(places))
}

/// The values in uniformly random order, about `len` of them.
///
/// Each goes to a random bucket, and each bucket is shuffled: a uniform order of all (C. R. Rao,
/// Sankhyā 1961; M. Sandelius, J. Royal Statistical Society B 1962).
fn shuffled(
    pool: &Pool,
    rng: &mut impl Rng,
    len: usize,
    values: impl Iterator<Item = u32>,
) -> Zeroizing<Vec<u32>> {
    let bits = (len / BUCKET_LEN).max(1).ilog2().min(MAX_BUCKET_BITS);
    // Seven standard deviations more than the mean, so that they hardly ever grow.
    let capacity = (len >> bits) + 7 * (len >> bits).isqrt() + 16;
    let mut buckets: Vec<(Vec<u32>, [u8; 32])> = (0..1 << bits)
        .map(|_| {
            let mut seed = [0; 32];
            rng.fill_bytes(&mut seed);
            (Vec::with_capacity(capacity), seed)
        })
        .collect();
    let mut choice = StdRng::from_rng(rng);
    let mut random = [0u8; 2 * 512];
    let mut used = random.len();
    for value in values {
        if used == random.len() {
            choice.fill_bytes(&mut random);
            used = 0;
        }
        let bucket = u16::from_le_bytes([random[used], random[used + 1]]) & ((1 << bits) - 1);
        used += 2;
        buckets[usize::from(bucket)].0.push(value);
    }
    random.zeroize();
    pool.for_each(buckets.iter_mut().collect(), |(bucket, seed)| {
        bucket.shuffle(&mut StdRng::from_seed(*seed));
        seed.zeroize();
    });
    let mut all =
        Zeroizing::new(Vec::with_capacity(buckets.iter().map(|(b, _)| b.len()).sum::<usize>() + 1));
    for (bucket, _) in &mut buckets {
        all.append(bucket);
        *bucket = Vec::new();
    }
    all
}

/// The low `bits` bits of each place, one after the other.
pub(super) fn pack(places: &[u32], bits: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((places.len() * bits as usize).div_ceil(8) + 4);
    let (mut word, mut filled) = (0u64, 0);
    for place in places {
        word |= u64::from(*place) << filled;
        filled += bits;
        if filled >= 32 {
            bytes.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= 32;
            filled -= 32;
        }
    }
    bytes.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
    bytes
}

/// Reads `places.len()` places that [`pack`] wrote.
///
/// # Errors
/// [`Misbehaviour::InvalidValue`] for bits beyond the last.
pub(super) fn unpack(bytes: &[u8], bits: u32, places: &mut [u32]) -> Result<()> {
    let (mut word, mut filled) = (0u64, 0);
    let mut parts = bytes.chunks(4);
    for place in places {
        if filled < bits {
            let part = parts.next().unwrap_or_default();
            let mut next = [0; 4];
            next[..part.len()].copy_from_slice(part);
            word |= u64::from(u32::from_le_bytes(next)) << filled;
            filled += 32;
        }
        *place = (word & ((1u64 << bits) - 1)) as u32;
        word >>= bits;
        filled -= bits;
    }
    if word != 0 {
        return Err(Misbehaviour::InvalidValue.into());
    }
    Ok(())
}

/// Checks places as they come: all of them transfers, none opened, no two the same.
pub(super) struct Used<'a> {
    plan: &'a Plan,
    words: Vec<u64>,
}

impl<'a> Used<'a> {
    /// Only the transfers in C are used.
    pub(super) fn new(plan: &'a Plan, cut: &[u64]) -> Self {
        Self { plan, words: cut.to_vec() }
    }

    /// # Errors
    /// [`Misbehaviour::InvalidValue`].
    pub(super) fn use_all(&mut self, places: &[u32]) -> Result<()> {
        let mut valid = true;
        for place in places {
            let inside = (*place as usize) < self.plan.sizes.transfers;
            let place = if inside { *place as usize } else { 0 };
            valid &= inside && !is_one(&self.words, place);
            self.words[place / 64] |= 1 << (place % 64);
        }
        if valid { Ok(()) } else { Err(Misbehaviour::InvalidValue.into()) }
    }
}
