//! The groups of RFC 7919: their primes match the definition and are safe primes.

use crypto_bigint::{BoxedUint, Limb, NonZero};
use crypto_primes::{Flavor, is_prime};
use vesica_modular::modp::{Group, Prime};
use vesica_modular::{Exponent, FixedBase, Residue};

const PRIMES: [Prime; 2] = [Prime::Bits2048, Prime::Bits3072];

fn p_of(prime: Prime) -> BoxedUint {
    let bytes = Group::new(prime).modulus().to_be_bytes();
    BoxedUint::from_be_slice(&bytes, 8 * prime.element_len() as u32).unwrap()
}

/// ⌊2^places·e⌋ from the series of 1/k!, with 128 extra bits, as a number of `bits` bits.
fn digits_of_e(places: u32, bits: u32) -> BoxedUint {
    const SPARE: u32 = 128;
    let mut term = BoxedUint::one_with_precision(bits).shl(places + SPARE);
    let mut sum = BoxedUint::zero_with_precision(bits);
    for k in 1u32.. {
        if term.is_zero().to_bool() {
            break;
        }
        sum = sum.wrapping_add(&term);
        term = term.div_rem_limb(NonZero::new(Limb::from(k)).unwrap()).0;
    }
    sum.shr(SPARE)
}

#[test]
fn the_primes_match_their_definitions_in_rfc_7919() {
    for (prime, bits, added) in
        [(Prime::Bits2048, 2048, 560_316u64), (Prime::Bits3072, 3072, 2_625_351)]
    {
        let power = |exponent: u32| BoxedUint::one_with_precision(bits + 64).shl(exponent);
        let digits = digits_of_e(bits - 130, bits + 64);
        let middle = digits.wrapping_add(BoxedUint::from(added)).shl(64);
        let p = power(bits).wrapping_sub(power(bits - 64)).wrapping_add(middle);
        assert_eq!(p.wrapping_sub(BoxedUint::one()), p_of(prime));
    }
}

#[test]
fn p_and_q_are_prime() {
    for p in PRIMES.map(p_of) {
        assert!(is_prime(Flavor::Any, &p), "p");
        assert!(is_prime(Flavor::Any, &p.shr(1)), "q = (p − 1)/2");
    }
}

/// q, as an exponent.
fn order(prime: Prime) -> Exponent {
    Exponent::from_be_bytes(&p_of(prime).shr(1).to_be_bytes())
}

fn encode(element: &Residue) -> Vec<u8> {
    let mut bytes = Vec::new();
    element.encode(&mut bytes);
    bytes
}

#[test]
fn generators_and_hashes_have_order_q() {
    for group in PRIMES.map(Group::new) {
        let (one, order) = (group.modulus().one(), order(group.prime()));
        let hashes = (0..8u8).map(|i| group.hash("test", &[&[i]]));
        for element in hashes.chain([group.generator().clone()]) {
            assert!(!element.equals(&one));
            assert!(element.pow(&order).equals(&one));
        }
    }
}

#[test]
fn powers_commute_and_powers_from_tables_are_equal() {
    for prime in PRIMES {
        let group = Group::new(prime);
        let exponent = |byte: u8| Exponent::from_be_bytes(&vec![byte; prime.exponent_len()]);
        let fixed = FixedBase::new(group.modulus(), group.generator(), prime.exponent_bits());
        for (a, b) in [(1, 2), (0x80, 0xff), (0, 3)] {
            let (a, b) = (exponent(a), exponent(b));
            let (g_a, g_b) = (group.generator().pow(&a), group.generator().pow(&b));
            assert!(g_a.pow(&b).equals(&g_b.pow(&a)));
            assert!(fixed.pow(&a).equals(&g_a) && fixed.pow(&b).equals(&g_b));
        }
    }
}

#[test]
fn elements_of_order_one_and_two_and_numbers_out_of_range_are_refused() {
    for prime in PRIMES {
        let (group, len, p) = (Group::new(prime), prime.element_len(), p_of(prime));
        let hash = group.hash("test", &[]);
        assert_eq!(encode(&hash).len(), len);
        assert!(group.decode(&encode(&hash)).unwrap().equals(&hash));
        let minus_one = p.wrapping_sub(BoxedUint::one());
        let small = |value: u8| {
            let mut bytes = vec![0; len];
            bytes[len - 1] = value;
            bytes
        };
        let refused =
            [small(0), small(1), minus_one.to_be_bytes().to_vec(), p.to_be_bytes().to_vec()];
        for (i, bytes) in refused.iter().enumerate() {
            assert!(group.decode(bytes).is_none(), "case {i}");
        }
        assert!(group.decode(&vec![0xff; len]).is_none());
        assert!(group.decode(&small(2)).is_some());
        assert!(group.decode(&small(2)[1..]).is_some(), "shorter by a leading zero");
    }
}
