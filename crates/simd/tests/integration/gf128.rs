//! GF(2^128): a known product, the field laws, and equality of all backends.

use crate::support::{lengths, on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::gf128::{
    add_products, add_scaled, inner_product, inverse, mul, mul_each, pow, powers, scale, square,
};

/// Shift and add, from the definition.
fn slow_mul(a: Block, b: Block) -> Block {
    let x_times = |a: u128| a << 1 ^ if a >> 127 == 1 { 0x87 } else { 0 };
    Block::new((0..128).rev().fold(0, |sum, i| x_times(sum) ^ if b.bit(i) { a.get() } else { 0 }))
}

/// Edge cases and random elements.
fn elements(seed: u64) -> Vec<Block> {
    let edges = [0, 1, 2, 0x87, 1 << 63, 1 << 64, 1 << 127, u128::MAX, u128::from(u64::MAX)];
    edges.into_iter().map(Block::new).chain(random_blocks(seed, 8)).collect()
}

#[test]
fn known_product_of_ghash() {
    // H · C of test case 2 of the GCM specification (McGrew and Viega), where the bits of each byte
    // are in reverse order.
    let from_gcm = |digits| Block::new(u128::from_str_radix(digits, 16).unwrap().reverse_bits());
    let h = from_gcm("66e94bd4ef8a2c3b884cfa59ca342b2e");
    let c = from_gcm("0388dace60b6a392f328c2b971b2fe78");
    on_every_backend(|backend| {
        let product = mul(c, h);
        assert!(product == from_gcm("5e2ec746917062882c85b0685353deb7"), "{}", backend.name());
    });
}

#[test]
fn products_follow_the_definition() {
    on_every_backend(|backend| {
        for a in elements(1) {
            assert!(square(a) == slow_mul(a, a), "{}", backend.name());
            for b in elements(2) {
                assert!(mul(a, b) == slow_mul(a, b), "{}", backend.name());
            }
        }
    });
}

#[test]
fn laws_of_a_field_hold() {
    on_every_backend(|_| {
        for a in elements(1) {
            assert!(mul(a, Block::ONE) == a);
            assert!(mul(a, Block::ZERO) == Block::ZERO);
            match inverse(a) {
                Some(inverse) => assert!(mul(a, inverse) == Block::ONE),
                None => assert!(a == Block::ZERO),
            }
            for b in elements(2) {
                assert!(mul(a, b) == mul(b, a));
                assert!(square(a ^ b) == square(a) ^ square(b));
                for c in elements(3) {
                    assert!(mul(a, b ^ c) == mul(a, b) ^ mul(a, c));
                    assert!(mul(mul(a, b), c) == mul(a, mul(b, c)));
                }
            }
        }
    });
}

#[test]
fn exponents_add_and_the_group_order_gives_one() {
    on_every_backend(|_| {
        for a in elements(4) {
            assert!(pow(a, 0) == Block::ONE);
            assert!(pow(a, 5) == mul(square(square(a)), a));
            assert!(pow(a, u128::MAX) == if a == Block::ZERO { a } else { Block::ONE });
            assert!(mul(pow(a, 1 << 100), pow(a, 12_345)) == pow(a, (1 << 100) + 12_345));
        }
    });
}

#[test]
fn x_generates_the_whole_group() {
    // 2^128 - 1 = 3 · 5 · 17 · 257 · 641 · 65537 · 274177 · 6700417 · 67280421310721; the
    // polynomial is primitive, so reduction by another one fails here.
    let factors = [3, 5, 17, 257, 641, 65_537, 274_177, 6_700_417, 67_280_421_310_721u128];
    assert_eq!(factors.iter().product::<u128>(), u128::MAX);
    on_every_backend(|_| {
        for factor in factors {
            assert!(pow(Block::new(2), u128::MAX / factor) != Block::ONE);
        }
    });
}

#[test]
fn vector_forms_equal_single_products() {
    let s = random_blocks(1, 1)[0];
    for n in lengths() {
        let (xs, ys, zs) = (random_blocks(2, n), random_blocks(3, n), random_blocks(4, n));
        let each = |f: &dyn Fn(Block, Block, Block) -> Block| {
            let triples = xs.iter().zip(&ys).zip(&zs);
            triples.map(|((x, y), z)| f(*x, *y, *z)).collect::<Vec<_>>()
        };
        let scaled = each(&|x, _, _| slow_mul(x, s));
        let added = each(&|x, y, _| x ^ slow_mul(y, s));
        let multiplied = each(&|x, y, _| slow_mul(x, y));
        let summed = each(&|x, y, z| x ^ slow_mul(y, z));
        let inner = multiplied.iter().fold(Block::ZERO, |sum, product| sum ^ *product);
        on_every_backend(|backend| {
            let apply = |f: &dyn Fn(&mut [Block])| {
                let mut acc = xs.clone();
                f(&mut acc);
                acc
            };
            let name = backend.name();
            assert!(apply(&|acc| scale(acc, s)) == scaled, "scale, {name}, {n}");
            assert!(apply(&|acc| add_scaled(acc, &ys, s)) == added, "add_scaled, {name}, {n}");
            assert!(apply(&|acc| mul_each(acc, &ys)) == multiplied, "mul_each, {name}, {n}");
            let actual = apply(&|acc| add_products(acc, &ys, &zs));
            assert!(actual == summed, "add_products, {name}, {n}");
            assert!(inner_product(&xs, &ys) == inner, "inner_product, {name}, {n}");
        });
    }
}

#[test]
fn powers_are_repeated_products() {
    let s = random_blocks(1, 1)[0];
    for n in lengths() {
        let expected: Vec<_> =
            std::iter::successors(Some(s), |power| Some(slow_mul(*power, s))).take(n).collect();
        on_every_backend(|backend| {
            let mut out = vec![Block::ONE; n];
            powers(s, &mut out);
            assert!(out == expected, "{}, {n}", backend.name());
        });
    }
}

#[test]
#[should_panic = "the same number of elements"]
fn vectors_of_different_lengths_are_refused() {
    inner_product(&[Block::ONE; 3], &[Block::ONE; 4]);
}
