//! Steps 3 and 6: the receiver's choices b, the transfers C that are opened, and their opening.

use super::plan::{Plan, SEED_LEN, Sizes};
use rand::{Rng, RngExt};
use vesica_core::hash::derive;
use vesica_core::{Block, Misbehaviour, Result, SessionId};
use vesica_simd::aes::Aes128;
use zeroize::Zeroize;

const CUT_LABEL: &str = "vesica v1 gbf malicious cut";

/// Blocks of a stream that are made at once.
const STREAM_BLOCKS: usize = 64;

/// The places of the ones in a list of bits, 64 to a word.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(i, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let place = (left != 0).then(|| 64 * i + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            place
        })
    })
}

/// Bit `i` of such a list.
pub(super) fn is_one(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 == 1
}

/// C of a block, as a list of bits: exactly c of N, the first distinct values of a stream that the
/// public seed gives.
pub(super) fn cut(
    sizes: &Sizes,
    session: &SessionId,
    seed: &[u8; SEED_LEN],
    block: usize,
) -> Vec<u64> {
    let mut key = [0; Block::LEN];
    let parts = [session.as_bytes(), &seed[..], &(block as u64).to_le_bytes()];
    key.copy_from_slice(&derive(CUT_LABEL, &parts)[..Block::LEN]);
    let stream = Aes128::new(Block::from_le_bytes(key));
    let mut words = vec![0; sizes.transfers.div_ceil(64)];
    let mut values = [Block::ZERO; STREAM_BLOCKS];
    let (mut next, mut left) = (0, sizes.opened);
    while left > 0 {
        stream.ctr(next, &mut values);
        next += STREAM_BLOCKS as u128;
        for value in &values {
            let place = (((value.get() >> 64) * sizes.transfers as u128) >> 64) as usize;
            if left > 0 && !is_one(&words, place) {
                words[place / 64] |= 1 << (place % 64);
                left -= 1;
            }
        }
    }
    words
}

/// b of a block: exactly M ones of N, all such lists being equally likely.
///
/// Each bit is drawn on its own first, with about the right chance, and then single ones are
/// changed, drawn uniformly, until their number is right.
pub(super) fn choices(sizes: &Sizes, rng: &mut impl Rng) -> Vec<u64> {
    let Sizes { transfers, ones, .. } = *sizes;
    // Below 256, as there are more transfers than ones.
    let chance = ((256 * ones + transfers / 2) / transfers).min(255) as u8;
    let mut words = vec![0u64; transfers.div_ceil(64)];
    let mut bytes = [0u8; 64];
    for word in &mut words {
        rng.fill_bytes(&mut bytes);
        let bits = bytes.iter().enumerate();
        *word = bits.fold(0, |word, (i, byte)| word | u64::from(*byte < chance) << i);
    }
    bytes.zeroize();
    if !transfers.is_multiple_of(64)
        && let Some(last) = words.last_mut()
    {
        *last &= (1 << (transfers % 64)) - 1;
    }
    let mut count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    while count != ones {
        let place = rng.random_range(0..transfers);
        if is_one(&words, place) == (count > ones) {
            words[place / 64] ^= 1 << (place % 64);
            count = if count > ones { count - 1 } else { count + 1 };
        }
    }
    words
}

/// R and r*: the opening of the transfers in C.
pub(super) struct Opening {
    /// One bit for each transfer of C in order, one where the choice is zero.
    pub(super) zeros: Vec<u8>,
    /// The sum of the messages of these.
    pub(super) sum: Block,
}

impl Opening {
    /// The opening of the receiver's choices and messages.
    pub(super) fn new(cut: &[u64], choices: &[u64], messages: &[Block], sizes: &Sizes) -> Self {
        let mut opening = Self { zeros: vec![0; sizes.opened.div_ceil(8)], sum: Block::ZERO };
        for (i, place) in ones(cut).enumerate() {
            if !is_one(choices, place) {
                opening.zeros[i / 8] |= 1 << (i % 8);
                opening.sum ^= messages[place];
            }
        }
        opening
    }

    /// The sender's check; `zero_messages` are m_{i,0} of the transfers of C in order.
    ///
    /// # Errors
    /// [`Misbehaviour::InvalidValue`] for bits beyond the last;
    /// [`Misbehaviour::CutAndChooseFailed`].
    pub(super) fn check(&self, plan: &Plan, zero_messages: &[Block]) -> Result<()> {
        let Sizes { opened, threshold, .. } = plan.sizes;
        let claimed = |i: usize| self.zeros[i / 8] >> (i % 8) & 1 == 1;
        if (opened..8 * self.zeros.len()).any(claimed) {
            return Err(Misbehaviour::InvalidValue.into());
        }
        let (mut count, mut sum) = (0, Block::ZERO);
        for (i, message) in zero_messages.iter().enumerate() {
            sum ^= *message & Block::mask(claimed(i));
            count += usize::from(claimed(i));
        }
        if opened - count > threshold || sum != self.sum {
            return Err(Misbehaviour::CutAndChooseFailed.into());
        }
        Ok(())
    }
}
