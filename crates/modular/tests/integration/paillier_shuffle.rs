//! The homomorphic shuffle: values arrive in the chosen order, for every packing.

use nix::sys::resource::{UsageWho, getrusage};
use rand::seq::SliceRandom;
use rand::{CryptoRng, Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::LazyLock;
use vesica_modular::paillier::shuffle::{
    MAX_VALUE_BITS, Packing, Share, decrypt_unpack, encrypt_masks, mask_bits, random_mask,
    subtract_permute_pack,
};
use vesica_modular::paillier::{Ciphertext, InvalidCiphertext, KeyPair, Plaintext, PublicKey};
use vesica_modular::rsa::KeySize;

const SIZE: KeySize = KeySize::Bits2048;

static KEY: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate(SIZE, &mut rng(100)));

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

/// r' = m + r.
fn masked(value: u128, mask: &Share) -> Share {
    let mut carry = false;
    let mut sum = [0; 3];
    for ((sum, word), mask) in sum.iter_mut().zip([value as u64, (value >> 64) as u64, 0]).zip(mask)
    {
        let (partial, first) = word.overflowing_add(*mask);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        (*sum, carry) = (total, first || second);
    }
    assert!(!carry);
    sum
}

struct Shuffle<'a> {
    values: &'a [u128],
    masks: &'a [Share],
    order: &'a [u32],
    packing: Packing,
}

impl Shuffle<'_> {
    fn packed(&self, shares: &[Share]) -> Vec<u8> {
        let (key, mut rng) = (&*KEY, rng(1));
        let sent = sent(key, self.masks, &mut rng);
        let masks = key.public().decode_all(&sent).unwrap();
        packed(key.public(), &self.packing, &masks, shares, self.order, &mut rng)
    }

    fn shares(&self) -> Vec<Share> {
        self.values.iter().zip(self.masks).map(|(value, mask)| masked(*value, mask)).collect()
    }

    fn result(&self) -> Result<Vec<u128>, InvalidCiphertext> {
        let packed = self.packed(&self.shares());
        assert_eq!(packed.len(), self.packing.packed_len(self.order.len()));
        decrypt_unpack(&KEY, &self.packing, &packed, self.order.len())
    }

    fn assert_values_come_in_order(&self) {
        let wanted: Vec<u128> = self.order.iter().map(|i| self.values[*i as usize]).collect();
        assert_eq!(self.result().unwrap(), wanted);
    }
}

/// [`encrypt_masks`] with noise drawn from `rng`.
fn sent(key: &KeyPair, masks: &[Share], rng: &mut impl CryptoRng) -> Vec<u8> {
    let masks: Vec<_> = masks.iter().map(|mask| (mask, key.noise(rng))).collect();
    encrypt_masks(key, &masks)
}

/// [`subtract_permute_pack`] with noise drawn from `rng`.
fn packed(
    key: &PublicKey,
    packing: &Packing,
    masks: &[Ciphertext],
    shares: &[Share],
    order: &[u32],
    rng: &mut impl CryptoRng,
) -> Vec<u8> {
    let noise: Vec<_> = (0..packing.ciphertexts(order.len())).map(|_| key.noise(rng)).collect();
    subtract_permute_pack(key, packing, masks, shares, order, &noise)
}

fn random_masks(bits: u32, count: usize, rng: &mut impl CryptoRng) -> Vec<Share> {
    (0..count).map(|_| random_mask(mask_bits(bits, count), rng)).collect()
}

fn random_order(count: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.shuffle(rng);
    order
}

#[test]
fn values_of_every_length_arrive_in_the_chosen_order() {
    let mut rng = rng(2);
    for bits in [1, 8, 32, 63, 64, 65, 127, MAX_VALUE_BITS] {
        let packing = Packing::new(SIZE, bits);
        // No value, one value, a full ciphertext, and one more value.
        let slots = packing.slots();
        for count in [0, 1, 2, slots.min(40), (slots + 1).min(41)] {
            let values: Vec<u128> =
                (0..count).map(|_| rng.random::<u128>() >> (128 - bits)).collect();
            let masks = random_masks(bits, count, &mut rng);
            let order = random_order(count, &mut rng);
            Shuffle { values: &values, masks: &masks, order: &order, packing }
                .assert_values_come_in_order();
        }
    }
}

#[test]
fn slots_do_not_spill_at_the_edges() {
    for bits in [31, 128] {
        let packing = Packing::new(SIZE, bits);
        let count = packing.slots();
        let order: Vec<u32> = (0..count as u32).rev().collect();
        let largest = u128::MAX >> (128 - bits);
        let mut highest_mask = [u64::MAX; 3];
        let mask_bits = mask_bits(bits, count);
        highest_mask[(mask_bits / 64) as usize] = (1 << (mask_bits % 64)) - 1;
        highest_mask[(mask_bits / 64) as usize + 1..].fill(0);
        let alternating: Vec<u128> =
            (0..count).map(|i| if i % 2 == 0 { largest } else { 0 }).collect();
        for values in [vec![largest; count], vec![0; count], alternating] {
            for mask in [[0; 3], highest_mask] {
                let masks = vec![mask; count];
                Shuffle { values: &values, masks: &masks, order: &order, packing }
                    .assert_values_come_in_order();
            }
        }
    }
}

#[test]
fn each_ciphertext_holds_as_many_values_as_fit() {
    for (size, bits, slots) in [
        (KeySize::Bits2048, 1, 2047),
        (KeySize::Bits2048, 32, 63),
        (KeySize::Bits2048, 128, 15),
        (KeySize::Bits3072, 32, 95),
        (KeySize::Bits3072, 128, 23),
    ] {
        let packing = Packing::new(size, bits);
        assert_eq!(packing.slots(), slots);
        assert_eq!(packing.ciphertexts(0), 0);
        assert_eq!(packing.ciphertexts(slots), 1);
        assert_eq!(packing.ciphertexts(slots + 1), 2);
    }
}

#[test]
fn parts_of_the_order_add_up_to_the_whole() {
    let mut rng = rng(3);
    let packing = Packing::new(SIZE, 100);
    let slots = packing.slots();
    let count = 2 * slots + 3;
    let values: Vec<u128> = (0..count as u128).collect();
    let masks = random_masks(100, count, &mut rng);
    let order = random_order(count, &mut rng);
    let mut result = Vec::new();
    for order in order.chunks(slots) {
        result.extend(Shuffle { values: &values, masks: &masks, order, packing }.result().unwrap());
    }
    assert!(result.iter().zip(&order).all(|(value, place)| *value == u128::from(*place)));
    assert_eq!(result.len(), count);
}

/// The maker of the masks' ciphertexts cannot recognise them in the reply.
#[test]
fn packed_ciphertexts_are_fresh() {
    let masks = [[7, 0, 0], [9, 0, 0]];
    let packing = Packing::new(SIZE, 32);
    let shuffle = Shuffle { values: &[1, 2], masks: &masks, order: &[0, 1], packing };
    let (key, mut rng) = (&*KEY, rng(4));
    let sent = key.public().decode_all(&sent(key, &masks, &mut rng)).unwrap();
    let shares = shuffle.shares();
    let mut pack = || {
        let public = key.public();
        packed(public, &packing, &sent, &shares, shuffle.order, &mut rng)
    };
    let (first, second) = (pack(), pack());
    assert_ne!(first, second);
    for packed in [first, second] {
        assert_eq!(decrypt_unpack(key, &packing, &packed, 2).unwrap(), [1, 2]);
    }
}

/// Shares that do not match the masks make slots negative or too large. An error results if this
/// reaches beyond the last slot, and wrong values otherwise.
#[test]
fn negative_slots_lead_to_an_error_or_to_wrong_values() {
    let packing = Packing::new(SIZE, 32);
    let (values, masks) = ([5, 6, 7], [[1000, 0, 0]; 3]);
    let shuffle = Shuffle { values: &values, masks: &masks, order: &[2, 0, 1], packing };
    let unpack = |shares: &[Share]| decrypt_unpack(&KEY, &packing, &shuffle.packed(shares), 3);
    let right = shuffle.shares();
    assert_eq!(unpack(&right).unwrap(), [7, 5, 6]);
    // The last slot is negative, and so is the whole sum.
    let mut wrong = right.clone();
    wrong[1] = [999, 0, 0];
    assert_eq!(unpack(&wrong), Err(InvalidCiphertext));
    // The last slot is too large.
    wrong[1] = [0, 1, 0];
    assert_eq!(unpack(&wrong), Err(InvalidCiphertext));
    // The first slot is negative and borrows from the second.
    let mut wrong = right;
    wrong[2] = [999, 0, 0];
    assert_eq!(unpack(&wrong).unwrap(), [0xffff_ffff, 4, 6]);
}

#[test]
fn the_reply_is_checked() {
    let packing = Packing::new(SIZE, 32);
    let masks = [[3, 0, 0]; 2];
    let shuffle = Shuffle { values: &[5, 6], masks: &masks, order: &[1, 0], packing };
    let good = shuffle.packed(&shuffle.shares());
    let unpack = |bytes: &[u8], count| decrypt_unpack(&KEY, &packing, bytes, count);
    assert_eq!(unpack(&good, 2).unwrap(), [6, 5]);
    assert_eq!(unpack(&good, 1), Err(InvalidCiphertext), "more values than requested");
    assert_eq!(unpack(&good, 64), Err(InvalidCiphertext), "too few ciphertexts");
    assert_eq!(unpack(&good, 0), Err(InvalidCiphertext), "too many ciphertexts");
    assert_eq!(unpack(&good[1..], 2), Err(InvalidCiphertext));
    assert_eq!(unpack(&vec![0; good.len()], 2), Err(InvalidCiphertext));
    assert_eq!(unpack(&vec![255; good.len()], 2), Err(InvalidCiphertext));
    for i in (0..good.len()).step_by(61) {
        let mut changed = good.clone();
        changed[i] ^= 0x10;
        assert_eq!(unpack(&changed, 2), Err(InvalidCiphertext), "byte {i}");
    }
    assert_eq!(unpack(&[], 0).unwrap(), [0; 0]);
}

#[test]
fn masks_have_the_length_that_hides_all_values() {
    assert_eq!(mask_bits(32, 0), 72);
    assert_eq!(mask_bits(32, 1), 72);
    assert_eq!(mask_bits(32, 1025), 83);
    assert_eq!(mask_bits(128, 1 << 23), 191);
    let mut rng = rng(5);
    for bits in [0, 1, 63, 64, 65, 127, 128, 129, 191, 192] {
        let mut all = [0; 3];
        for _ in 0..200 {
            let mask = random_mask(bits, &mut rng);
            all.iter_mut().zip(mask).for_each(|(all, word)| *all |= word);
        }
        let ones: u32 = all.iter().map(|word| word.count_ones()).sum();
        let first = (0..bits).all(|i| all[(i / 64) as usize] >> (i % 64) & 1 == 1);
        assert!(ones == bits && first, "{bits}: all bits below are drawn, none above");
    }
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn times_of_the_operations() {
    /// The last result, and the CPU time of this thread per call, in milliseconds.
    fn timed<R>(count: usize, mut f: impl FnMut() -> R) -> (R, f64) {
        let cpu_ms = || {
            let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
            let times = [usage.user_time(), usage.system_time()].into_iter();
            times.map(|time| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3).sum::<f64>()
        };
        let start = cpu_ms();
        let last = (0..count).map(|_| f()).last().unwrap();
        (last, (cpu_ms() - start) / count as f64)
    }
    let mut rng = rng(6);
    for size in [KeySize::Bits2048, KeySize::Bits3072] {
        let (key, each) = timed(10, || KeyPair::generate(size, &mut rng));
        println!("{} bits, ms: key {each:.0}", size.bits());
        let m = Plaintext::from_words(&[5, 6, 7]);
        let (c, each) = timed(300, || key.encrypt(&m, &mut rng));
        println!("  encrypt with the key {each:.2}");
        println!("  encrypt without {:.1}", timed(30, || key.public().encrypt(&m, &mut rng)).1);
        println!("  decrypt {:.1}", timed(100, || key.decrypt(&c)).1);
        println!("  add {:.4}", timed(20_000, || key.public().add(&c, &c)).1);
        println!("  shift by 32 bits {:.3}", timed(500, || key.public().shift(&c, 32)).1);
        for bits in [32, 128] {
            let packing = Packing::new(size, bits);
            let count = 16 * packing.slots();
            let masks = random_masks(bits, count, &mut rng);
            let shares: Vec<Share> = masks.iter().map(|mask| masked(1, mask)).collect();
            let order = random_order(count, &mut rng);
            let (bytes, encrypting) = timed(1, || sent(&key, &masks, &mut rng));
            let (ciphertexts, reading) = timed(1, || key.public().decode_all(&bytes).unwrap());
            let (packed_bytes, packing_time) = timed(1, || {
                let public = key.public();
                packed(public, &packing, &ciphertexts, &shares, &order, &mut rng)
            });
            let (values, opening) =
                timed(1, || decrypt_unpack(&key, &packing, &packed_bytes, count).unwrap());
            assert_eq!(values, vec![1; count]);
            let each = [encrypting, reading, packing_time, opening].map(|ms| ms / count as f64);
            println!(
                "  {bits}-bit values, {} per ciphertext, per value: {each:.3?}",
                packing.slots()
            );
        }
    }
}
