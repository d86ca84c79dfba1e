//! Residues compared with schoolbook arithmetic, for small and large moduli.

use vesica_modular::{Exponent, FixedBase, Modulus, Residue};

fn bytes(residue: &Residue) -> Vec<u8> {
    let mut out = Vec::new();
    residue.encode(&mut out);
    out
}

/// A residue of one word, as a number.
fn number(residue: &Residue) -> u64 {
    u64::from_be_bytes(bytes(residue).try_into().unwrap())
}

fn small(modulus: u64) -> Modulus {
    Modulus::from_be_bytes(&modulus.to_be_bytes()).unwrap()
}

#[test]
fn products_powers_and_inverses_match_schoolbook_arithmetic() {
    for m in [3u64, 65537, 0xffff_ffff_ffff_ffc5] {
        let modulus = small(m);
        for (a, b) in [(1, 2), (2, 2), (m - 1, m - 1), (m / 2, m / 3), (12345 % m, 6789 % m)] {
            let (x, y) = (modulus.reduce(&a.to_be_bytes()), modulus.reduce(&b.to_be_bytes()));
            let product = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(m)) as u64;
            assert_eq!(number(&x), a % m);
            assert_eq!(number(&x.mul(&y)), product(a, b), "{a}·{b} mod {m}");
            assert_eq!(number(&x.square()), product(a, a), "{a}² mod {m}");
            for e in [0u64, 1, 2, 17, 0xdead_beef, u64::MAX] {
                let power = (0..64).rev().fold(1 % m, |power, i| {
                    let square = product(power, power);
                    if e >> i & 1 == 1 { product(square, a) } else { square }
                });
                let exponent = Exponent::from_be_bytes(&e.to_be_bytes());
                assert_eq!(number(&x.pow(&exponent)), power, "{a}^{e} mod {m}");
                let fixed = FixedBase::new(&modulus, &x, exponent.bits());
                assert_eq!(number(&fixed.pow(&exponent)), power, "{a}^{e} mod {m}, looked up");
            }
            match x.invert() {
                Some(inverse) => assert_eq!(number(&inverse.mul(&x)), 1, "1/{a} mod {m}"),
                None => assert_eq!(a % m, 0, "{a} has an inverse modulo the prime {m}"),
            }
        }
    }
}

#[test]
fn a_long_number_is_reduced_like_its_digits() {
    let m = 0xffff_ffff_ffff_ffc5u64;
    let modulus = small(m);
    for len in [1usize, 7, 8, 9, 16, 24, 41] {
        let long: Vec<u8> = (0..len).map(|i| (i * 37 + 200) as u8).collect();
        let expected = long
            .iter()
            .fold(0, |value: u128, byte| (value * 256 + u128::from(*byte)) % u128::from(m));
        assert_eq!(number(&modulus.reduce(&long)), expected as u64, "{len} bytes");
    }
}

#[test]
fn only_numbers_between_zero_and_the_modulus_decode() {
    let modulus = small(65537);
    let decode = |value: u64| modulus.decode(&value.to_be_bytes()).map(|residue| number(&residue));
    assert_eq!(decode(1), Some(1));
    assert_eq!(decode(65536), Some(65536));
    for value in [0, 65537, 65538, u64::MAX] {
        assert_eq!(decode(value), None, "{value}");
    }
    assert!(modulus.decode(&[0; 9]).is_none(), "nine bytes");
}

#[test]
fn even_moduli_and_one_are_refused() {
    for value in [0u64, 1, 2, 65536, u64::MAX - 1] {
        assert!(Modulus::from_be_bytes(&value.to_be_bytes()).is_none(), "{value}");
    }
    assert!(Modulus::from_be_bytes(&[]).is_none());
    assert!(Modulus::from_be_bytes(&3u64.to_be_bytes()).is_some());
}

#[test]
fn a_batch_of_inverses_equals_single_inverses() {
    let modulus = small(0xffff_ffff_ffff_ffc5);
    for len in [0, 1, 2, 33] {
        let residues: Vec<Residue> = (0..len).map(|i| modulus.reduce(&[i + 1, 77, i])).collect();
        let inverses = modulus.invert_all(&residues).unwrap();
        assert_eq!(inverses.len(), residues.len());
        for (residue, inverse) in residues.iter().zip(&inverses) {
            assert_eq!(number(&residue.mul(inverse)), 1);
        }
    }
}

#[test]
fn a_batch_with_a_non_invertible_element_has_no_inverses() {
    let modulus = small(3 * 65537);
    let of = |value: u64| modulus.reduce(&value.to_be_bytes());
    assert!(modulus.invert_all(&[of(2), of(5)]).is_some());
    assert!(modulus.invert_all(&[of(2), of(3 * 5), of(5)]).is_none());
}

#[test]
fn the_hash_depends_on_label_and_parts() {
    let modulus = Modulus::from_be_bytes(&[0xfb; 256]).unwrap();
    let one = modulus.hash("test one", &[b"a", b"b"]);
    assert_eq!(bytes(&one).len(), 256);
    assert!(one.equals(&modulus.hash("test one", &[b"a", b"b"])));
    for other in [
        modulus.hash("test two", &[b"a", b"b"]),
        modulus.hash("test one", &[b"ab", b""]),
        modulus.hash("test one", &[b"a", b"c"]),
    ] {
        assert!(!one.equals(&other));
    }
}

/// A recorded value: a change of it changes the wire format.
#[test]
fn the_hash_matches_the_recorded_value() {
    let modulus = Modulus::from_be_bytes(&[0xfb; 256]).unwrap();
    let hash = bytes(&modulus.hash("test recorded", &[b"item"]));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&hash[..16]), "fa42a741010cfe84355aa4a239587122");
    assert_eq!(hex(&hash[240..]), "7b85b6d0e7a506b6e2fe194e33cf9b48");
}
