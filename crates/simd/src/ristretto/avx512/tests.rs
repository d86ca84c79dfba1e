//! Field arithmetic compared with plain integers, at the bounds of the limbs.
//!
//! The shared tests of all backends cover the curve and the encodings as a whole, against the RFC
//! and another implementation.

use core::arch::x86_64::{__m512i, _mm512_set_epi64};

use super::constants::*;
use super::field::*;

/// An integer of 640 bits, enough for a product of two sums of limbs.
type Wide = [u64; 10];

const P: [u64; 4] = [0xffff_ffff_ffff_ffed, u64::MAX, u64::MAX, 0x7fff_ffff_ffff_ffff];

fn wide_mul(a: &[u64], b: &[u64]) -> Wide {
    let mut product = [0; 10];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.iter().enumerate() {
            let sum = u128::from(*x) * u128::from(*y) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        if let Some(next) = product.get_mut(i + b.len()) {
            *next = carry as u64;
        } else {
            assert_eq!(carry, 0);
        }
    }
    product
}

fn wide_add(a: &Wide, b: &Wide) -> Wide {
    let mut carry = 0;
    core::array::from_fn(|i| {
        let sum = u128::from(a[i]) + u128::from(b[i]) + carry;
        carry = sum >> 64;
        sum as u64
    })
}

/// The value in 0..p: folds with 2^256 = 38, then subtracts.
fn reduce(mut a: Wide) -> [u64; 4] {
    while a[4..] != [0; 6] {
        let mut low = [0; 10];
        low[..4].copy_from_slice(&a[..4]);
        a = wide_add(&low, &wide_mul(&a[4..], &[38]));
    }
    let mut a = [a[0], a[1], a[2], a[3]];
    while a.iter().rev().cmp(P.iter().rev()).is_ge() {
        let mut borrow = false;
        for (word, p) in a.iter_mut().zip(P) {
            let (difference, first) = word.overflowing_sub(p);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            *word = difference;
            borrow = first || second;
        }
    }
    a
}

fn value(limbs: Limbs) -> [u64; 4] {
    let radix_power = |i: usize| {
        let mut power = [0; 5];
        power[51 * i / 64] = 1 << (51 * i % 64);
        power
    };
    reduce((0..5).fold([0; 10], |sum, i| wide_add(&sum, &wide_mul(&[limbs[i]], &radix_power(i)))))
}

fn mul(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    reduce(wide_mul(&a, &b))
}

fn add(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    reduce(wide_add(&wide_mul(&a, &[1]), &wide_mul(&b, &[1])))
}

fn neg(a: [u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    let difference: [u64; 4] = core::array::from_fn(|i| {
        let (word, first) = P[i].overflowing_sub(a[i]);
        let (word, second) = word.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        word
    });
    reduce(wide_mul(&difference, &[1]))
}

/// x to the power of the little-endian exponent.
fn power(x: [u64; 4], exponent: [u64; 4]) -> [u64; 4] {
    (0..256).rev().fold([1, 0, 0, 0], |y, bit| {
        let y = mul(y, y);
        if exponent[bit / 64] >> (bit % 64) & 1 == 1 { mul(y, x) } else { y }
    })
}

/// Limbs in vector form: limb i of the eight elements.
fn lanes(elements: &[Limbs; 8]) -> [[u64; 8]; 5] {
    core::array::from_fn(|i| core::array::from_fn(|lane| elements[lane][i]))
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn vectors(elements: &[Limbs; 8]) -> [__m512i; 5] {
    lanes(elements).map(|l| {
        let l = l.map(u64::cast_signed);
        _mm512_set_epi64(l[7], l[6], l[5], l[4], l[3], l[2], l[1], l[0])
    })
}

fn canonical(words: &Words, lane: usize) -> [u64; 4] {
    core::array::from_fn(|i| words[i][lane])
}

/// A simple generator for limbs.
struct Picks(u64);

impl Picks {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ (self.0 >> 29)
    }

    /// A limb of a factor: mostly at its bounds.
    fn limb(&mut self) -> u64 {
        const LIMBS: [u64; 8] =
            [0, 1, (1 << 51) - 1, 1 << 51, (1 << 51) + (1 << 18) - 1, (1 << 51) - 19, 0, 0];
        match self.next() >> 33 & 7 {
            n @ 0..6 => LIMBS[n as usize],
            _ => self.next() & ((1 << 51) - 1),
        }
    }

    fn elements(&mut self) -> [Limbs; 8] {
        core::array::from_fn(|_| core::array::from_fn(|_| self.limb()))
    }
}

/// The largest factor, 0 in many forms, 1, -1, and similar elements, eight at a time.
fn special_elements() -> Vec<[Limbs; 8]> {
    const M: u64 = (1 << 51) - 1;
    const TOP: u64 = (1 << 51) + (1 << 18) - 1;
    vec![
        [[TOP; 5]; 8],
        [
            [0; 5],
            [M - 18, M, M, M, M],
            [M - 19, M, M, M, M],
            [M - 17, M, M, M, M],
            [M; 5],
            [1, 0, 0, 0, 0],
            [TOP, M, M, M, M],
            [M, 0, 0, 0, TOP],
        ],
    ]
}

/// Runs the check if the processor has the instructions.
fn on_this_processor(check: unsafe fn()) {
    if crate::Backend::Avx512.is_available() {
        // SAFETY: the processor has the features that the checks enable.
        unsafe { check() }
    }
}

#[test]
fn arithmetic_agrees_with_integers_at_the_bounds_of_limbs() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn check() {
        let mut picks = Picks(1);
        let mut pairs: Vec<[[Limbs; 8]; 2]> = Vec::new();
        for a in special_elements() {
            for b in special_elements() {
                pairs.push([a, b]);
            }
        }
        pairs.extend((0..2000).map(|_| [picks.elements(), picks.elements()]));
        for [a, b] in pairs {
            let (x, y) = (Fe::from_limbs(vectors(&a)), Fe::from_limbs(vectors(&b)));
            let xy = x.mul(y);
            let raised = x.mul_raised(y);
            let xx_raised = x.square_raised();
            let products = [xy, raised, x.square(), xx_raised, raised.sub_lesser(x.square())];
            let sums = [x.add(y), x.sub(y), xy.add_fe(x), xy.double()];
            let [xy, raised, xx, xx_raised, xy_minus_xx] =
                products.map(|sum| sum.carry().to_words());
            let [sum, difference, xy_plus_x, xy_twice] = sums.map(|sum| sum.carry().to_words());
            let (minus, zero) = (x.neg().to_words(), x.is_zero());
            let (negative, abs) = (x.is_negative(), x.abs().to_words());
            let selected = x.select(y, 0b1010_0110).to_words();
            for lane in 0..8 {
                let (a, b) = (value(a[lane]), value(b[lane]));
                let ab = mul(a, b);
                assert_eq!(canonical(&xy, lane), ab);
                assert_eq!(canonical(&raised, lane), ab);
                assert_eq!(canonical(&xx, lane), mul(a, a));
                assert_eq!(canonical(&xx_raised, lane), mul(a, a));
                assert_eq!(canonical(&xy_minus_xx, lane), add(ab, neg(mul(a, a))));
                assert_eq!(canonical(&sum, lane), add(a, b));
                assert_eq!(canonical(&difference, lane), add(a, neg(b)));
                assert_eq!(canonical(&xy_plus_x, lane), add(ab, a));
                assert_eq!(canonical(&xy_twice, lane), add(ab, ab));
                assert_eq!(canonical(&minus, lane), neg(a));
                assert_eq!(zero >> lane & 1 == 1, a == [0; 4]);
                assert_eq!(u64::from(negative >> lane & 1), a[0] & 1);
                assert_eq!(canonical(&abs, lane), if a[0] & 1 == 1 { neg(a) } else { a });
                let chosen = if 0b1010_0110 >> lane & 1 == 1 { b } else { a };
                assert_eq!(canonical(&selected, lane), chosen);
            }
        }
    }
    on_this_processor(check);
}

#[test]
fn products_and_carries_stay_within_their_bounds() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn check() {
        let largest = Fe::from_limbs(vectors(&special_elements()[0]));
        for product in [largest.mul(largest), largest.square()] {
            assert!(product.limbs().iter().flatten().all(|limb| *limb < 1 << 59));
        }
        for raised in [largest.mul_raised(largest), largest.square_raised()] {
            assert!(raised.limbs().iter().flatten().all(|limb| *limb < 1 << 61));
        }
        let zero = Fe::splat(&ZERO);
        for raised in [zero.mul_raised(zero), zero.square_raised()] {
            assert!(raised.limbs().iter().flatten().all(|limb| *limb >= 1 << 59));
            assert_eq!(raised.carry().is_zero(), Mask::MAX);
        }
        let limbs = [u64::MAX; 5];
        let carried = Sum::from_limbs(vectors(&[limbs; 8])).carry();
        assert!(carried.limbs().iter().flatten().all(|limb| *limb < (1 << 51) + (1 << 18)));
        assert_eq!(canonical(&carried.to_words(), 3), value(limbs));
    }
    on_this_processor(check);
}

#[test]
fn words_round_trip_and_only_values_below_p_are_canonical() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn check() {
        let mut picks = Picks(2);
        let mut all = vec![[0; 4], P, [u64::MAX; 4], [1, 0, 0, 0]];
        for offset in 0..19 {
            all.push([P[0] + offset.min(18), P[1], P[2], P[3]]);
            all.push([P[0] - offset - 1, P[1], P[2], P[3]]);
        }
        all.extend((0..400).map(|_| core::array::from_fn(|_| picks.next())));
        for chunk in all.chunks_exact(8) {
            let words: Words =
                core::array::from_fn(|i| core::array::from_fn(|lane| chunk[lane][i]));
            let x = Fe::from_words(&words);
            let (back, is_canonical) = (x.to_words(), x.is_canonical());
            for (lane, mut expected) in chunk.iter().copied().enumerate() {
                expected[3] &= u64::MAX >> 1;
                let reduced = reduce(wide_mul(&expected, &[1]));
                assert_eq!(canonical(&back, lane), reduced);
                assert_eq!(is_canonical >> lane & 1 == 1, reduced == expected);
            }
        }
    }
    on_this_processor(check);
}

#[test]
fn powers_agree_with_square_and_multiply() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn check() {
        let p_minus_2 = [P[0] - 2, P[1], P[2], P[3]];
        let p58 = [u64::MAX - 2, u64::MAX, u64::MAX, u64::MAX >> 4];
        let mut picks = Picks(3);
        for elements in [picks.elements(), special_elements()[0], special_elements()[1]] {
            let x = Fe::from_limbs(vectors(&elements));
            let inverse = x.invert().to_words();
            let [first, second] = Fe::power_p58([x, x.neg()]);
            let (first, second) = (first.to_words(), second.to_words());
            for (lane, element) in elements.iter().enumerate() {
                let x = value(*element);
                assert_eq!(canonical(&inverse, lane), power(x, p_minus_2));
                assert_eq!(canonical(&first, lane), power(x, p58));
                assert_eq!(canonical(&second, lane), power(neg(x), p58));
            }
        }
    }
    on_this_processor(check);
}

#[test]
fn constants_match_their_definitions() {
    let small = |n: u64| [n, 0, 0, 0];
    let one = small(1);
    let d = value(D);
    let minus_one_minus_d = neg(add(one, d));
    assert_eq!(mul(d, small(121_666)), neg(small(121_665)));
    assert_eq!(value(D2), add(d, d));
    assert_eq!(mul(value(SQRT_M1), value(SQRT_M1)), neg(one));
    assert_eq!(value(SQRT_M1)[0] & 1, 0);
    assert_eq!(value(ONE_MINUS_D_SQ), add(one, neg(mul(d, d))));
    let d_minus_one = add(d, neg(one));
    assert_eq!(value(D_MINUS_ONE_SQ), mul(d_minus_one, d_minus_one));
    assert_eq!(mul(value(SQRT_AD_MINUS_ONE), value(SQRT_AD_MINUS_ONE)), minus_one_minus_d);
    assert_eq!(value(SQRT_AD_MINUS_ONE)[0] & 1, 1);
    let inverse_root = value(INVSQRT_A_MINUS_D);
    assert_eq!(mul(mul(inverse_root, inverse_root), minus_one_minus_d), one);
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "a factor's limb is out of bounds")]
fn factor_beyond_its_bound_is_caught_in_debug_builds() {
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn check() {
        let x = Fe::from_limbs(vectors(&[[0, 0, 1 << 52, 0, 0]; 8]));
        let _ = x.mul(x);
    }
    if !crate::Backend::Avx512.is_available() {
        panic!("a factor's limb is out of bounds: not run, as the processor lacks AVX-512 IFMA");
    }
    on_this_processor(check);
}
