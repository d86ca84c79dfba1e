//! The group of RFC 7919: its prime matches the definition and is a safe prime.

use crypto_bigint::{BoxedUint, Limb, NonZero};
use crypto_primes::{Flavor, is_prime};
use vesica_modular::modp::{ELEMENT_LEN, EXPONENT_BITS, EXPONENT_LEN, Group};
use vesica_modular::{Exponent, FixedBase, Residue};

fn prime() -> BoxedUint {
    let bytes = Group::ffdhe2048().modulus().to_be_bytes();
    BoxedUint::from_be_slice(&bytes, 2048).unwrap()
}

/// ⌊2^1918·e⌋ from the series of 1/k!, with 128 extra bits.
fn digits_of_e() -> BoxedUint {
    const SPARE: u32 = 128;
    let mut term = BoxedUint::one_with_precision(2112).shl(1918 + SPARE);
    let mut sum = BoxedUint::zero_with_precision(2112);
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
fn the_prime_matches_its_definition_in_rfc_7919() {
    let power = |bits: u32| BoxedUint::one_with_precision(2112).shl(bits);
    let middle = digits_of_e().wrapping_add(BoxedUint::from(560_316u64)).shl(64);
    let p = power(2048).wrapping_sub(power(1984)).wrapping_add(middle);
    assert_eq!(p.wrapping_sub(BoxedUint::one()), prime());
}

#[test]
fn p_and_q_are_prime() {
    let p = prime();
    assert!(is_prime(Flavor::Any, &p), "p");
    assert!(is_prime(Flavor::Any, &p.shr(1)), "q = (p − 1)/2");
}

fn exponent(byte: u8) -> Exponent {
    Exponent::from_be_bytes(&[byte; EXPONENT_LEN])
}

/// q, as an exponent.
fn order() -> Exponent {
    Exponent::from_be_bytes(&prime().shr(1).to_be_bytes())
}

fn encode(element: &Residue) -> Vec<u8> {
    let mut bytes = Vec::new();
    element.encode(&mut bytes);
    bytes
}

#[test]
fn generator_and_hashes_have_order_q() {
    let group = Group::ffdhe2048();
    let one = group.modulus().one();
    let hashes = (0..8u8).map(|i| group.hash("test", &[&[i]]));
    for element in hashes.chain([group.generator().clone()]) {
        assert!(!element.equals(&one));
        assert!(element.pow(&order()).equals(&one));
    }
}

#[test]
fn powers_commute_and_powers_from_tables_are_equal() {
    let group = Group::ffdhe2048();
    let fixed = FixedBase::new(group.modulus(), group.generator(), EXPONENT_BITS);
    for (a, b) in [(1, 2), (0x80, 0xff), (0, 3)] {
        let (a, b) = (exponent(a), exponent(b));
        let (g_a, g_b) = (group.generator().pow(&a), group.generator().pow(&b));
        assert!(g_a.pow(&b).equals(&g_b.pow(&a)));
        assert!(fixed.pow(&a).equals(&g_a) && fixed.pow(&b).equals(&g_b));
    }
}

#[test]
fn elements_of_order_one_and_two_and_numbers_out_of_range_are_refused() {
    let group = Group::ffdhe2048();
    let hash = group.hash("test", &[]);
    assert!(group.decode(&encode(&hash)).unwrap().equals(&hash));
    let p = prime();
    let minus_one = p.wrapping_sub(BoxedUint::one());
    let small = |value: u8| {
        let mut bytes = vec![0; ELEMENT_LEN];
        bytes[ELEMENT_LEN - 1] = value;
        bytes
    };
    let refused = [small(0), small(1), minus_one.to_be_bytes().to_vec(), p.to_be_bytes().to_vec()];
    for (i, bytes) in refused.iter().enumerate() {
        assert!(group.decode(bytes).is_none(), "case {i}");
    }
    assert!(group.decode(&[0xff; ELEMENT_LEN]).is_none());
    assert!(group.decode(&small(2)).is_some());
    assert!(group.decode(&small(2)[1..]).is_some(), "shorter by a leading zero");
}
