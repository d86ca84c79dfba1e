//! Garbled gates: the truth table, the definition, and equal results on every backend.

use crate::support::{on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::aes::Aes128;
use vesica_simd::garble::{
    GateHash, KnownBits, evaluate_and, evaluate_known, garble_and, garble_known, halves, halves_mut,
};

const FIRST_GATE: u64 = (1 << 40) - 3;

fn lengths() -> impl Iterator<Item = usize> {
    (0..=70).chain([127, 129, 1000])
}

fn delta() -> Block {
    Block::new(random_blocks(1, 1)[0].get() | 1)
}

fn hash() -> GateHash {
    GateHash::new(random_blocks(2, 1)[0])
}

/// The label of a bit.
fn label(zero: Block, bit: bool) -> Block {
    zero ^ (delta() & Block::mask(bit))
}

fn labels(zeros: &[Block], bit: impl Fn(usize) -> bool) -> Vec<Block> {
    zeros.iter().enumerate().map(|(i, zero)| label(*zero, bit(i))).collect()
}

/// H(x; g, h), one block after the other.
fn hash_of(x: Block, gate: u64, half: bool) -> Block {
    let omega = |x: Block| {
        let (left, right) = (x.get() >> 64, x.get() & u128::from(u64::MAX));
        Block::new((left ^ right) << 64 | left)
    };
    let y = if half { omega(omega(x)) } else { omega(x) };
    Aes128::new(random_blocks(2, 1)[0] ^ Block::new(gate.into())).encrypt_block(y) ^ y
}

fn garbled(zeros: [&[Block]; 2]) -> (Vec<Block>, Vec<Block>) {
    let n = zeros[0].len();
    let (mut out, mut table) = (vec![Block::ONE; n], vec![Block::ONE; 2 * n]);
    garble_and(hash(), FIRST_GATE, delta(), zeros[0], zeros[1], &mut out, halves_mut(&mut table));
    (out, table)
}

fn garbled_known(known: KnownBits<'_>, zeros: &[Block]) -> (Vec<Block>, Vec<Block>) {
    let n = zeros.len();
    let (mut out, mut table) = (vec![Block::ONE; n], vec![Block::ONE; n]);
    garble_known(hash(), FIRST_GATE, delta(), known, zeros, &mut out, &mut table);
    (out, table)
}

#[test]
fn and_gates_evaluate_to_the_label_of_the_product() {
    for n in lengths() {
        let (a, b) = (random_blocks(3, n), random_blocks(4, n));
        on_every_backend(|backend| {
            let (zeros, table) = garbled([&a, &b]);
            for inputs in 0..4 {
                // Each lane has each input once.
                let bits = |i: usize| [(inputs + i) & 1 == 1, (inputs + i) & 2 == 2];
                let mut out = vec![Block::ONE; n];
                let (x, y) = (labels(&a, |i| bits(i)[0]), labels(&b, |i| bits(i)[1]));
                evaluate_and(hash(), FIRST_GATE, &x, &y, halves(&table), &mut out);
                let expected = labels(&zeros, |i| bits(i)[0] && bits(i)[1]);
                assert!(out == expected, "{}, {n} gates, inputs {inputs}", backend.name());
            }
        });
    }
}

#[test]
fn one_sided_gates_evaluate_to_the_label_of_the_product() {
    for n in lengths() {
        let (a, known) = (random_blocks(5, n), random_blocks(6, n.div_ceil(128) + 2));
        on_every_backend(|backend| {
            for first in [0, 1, 5, 63, 64, 126, 127, 128, 200] {
                let known = KnownBits { blocks: &known, first };
                let bit = |i: usize| {
                    let i = first + i;
                    known.blocks[i / 128].bit((i % 128) as u32)
                };
                let (zeros, table) = garbled_known(known, &a);
                for input in [0, 1] {
                    let x = labels(&a, |i| (input + i) & 1 == 1);
                    let mut out = vec![Block::ONE; n];
                    evaluate_known(hash(), FIRST_GATE, &x, &table, &mut out);
                    let expected = labels(&zeros, |i| (input + i) & 1 == 1 && bit(i));
                    assert!(out == expected, "{}, {n} gates from {first}", backend.name());
                }
            }
        });
    }
}

#[test]
fn known_bits_can_end_with_their_last_block() {
    let (a, known) = (random_blocks(5, 127), random_blocks(6, 1));
    on_every_backend(|_| {
        let from = |first| {
            let known = KnownBits { blocks: &known, first };
            garbled_known(known, &a[..128 - first])
        };
        for first in 1..128 {
            let (zeros, table) = from(first);
            let mut out = vec![Block::ZERO; zeros.len()];
            evaluate_known(hash(), FIRST_GATE, &a[..128 - first], &table, &mut out);
            assert!(out == zeros, "from bit {first}");
        }
    });
}

#[test]
fn gates_match_the_definition_on_every_backend() {
    for n in lengths() {
        let (a, b) = (random_blocks(7, n), random_blocks(8, n));
        let colour = |label: Block| Block::mask(label.bit(0));
        let (mut zeros, mut table) = (vec![Block::ZERO; n], vec![Block::ZERO; 2 * n]);
        let (mut zeros_known, mut table_known) = (zeros.clone(), zeros.clone());
        let known = random_blocks(9, n.div_ceil(128));
        for i in 0..n {
            let gate = FIRST_GATE + i as u64;
            let [a0, a1] = [false, true].map(|bit| hash_of(label(a[i], bit), gate, false));
            let [b0, b1] = [false, true].map(|bit| hash_of(label(b[i], bit), gate, true));
            table[i] = a0 ^ a1 ^ (colour(b[i]) & delta());
            table[n + i] = b0 ^ b1 ^ a[i];
            let halves = [a0 ^ (colour(a[i]) & table[i]), b0 ^ (colour(b[i]) & (b0 ^ b1))];
            zeros[i] = halves[0] ^ halves[1];
            let bit = known[i / 128].bit((i % 128) as u32);
            table_known[i] = a0 ^ a1 ^ (Block::mask(bit) & delta());
            zeros_known[i] = a0 ^ (colour(a[i]) & table_known[i]);
        }
        on_every_backend(|backend| {
            let got = garbled([&a, &b]);
            assert!(got == (zeros.clone(), table.clone()), "{}, {n} gates", backend.name());
            let got = garbled_known(KnownBits { blocks: &known, first: 0 }, &a);
            let expected = (zeros_known.clone(), table_known.clone());
            assert!(got == expected, "{}, {n} one-sided gates", backend.name());
        });
    }
}

#[test]
fn a_wire_can_be_both_inputs_of_a_gate() {
    let a = random_blocks(3, 100);
    on_every_backend(|_| {
        let (zeros, table) = garbled([&a, &a]);
        for bit in [false, true] {
            let x = labels(&a, |_| bit);
            let mut out = vec![Block::ONE; a.len()];
            evaluate_and(hash(), FIRST_GATE, &x, &x, halves(&table), &mut out);
            assert!(out == labels(&zeros, |_| bit));
            // The hashes of the two halves do not cancel.
            assert!(out.iter().all(|label| *label != Block::ZERO));
        }
    });
}

#[test]
#[should_panic = "two ciphertexts per gate"]
fn a_wrong_number_of_ciphertexts_is_refused() {
    let a = random_blocks(3, 4);
    garble_and(hash(), 0, delta(), &a, &a, &mut a.clone(), halves_mut(&mut [Block::ZERO; 7]));
}

#[test]
#[should_panic = "one bit per gate"]
fn too_few_known_bits_are_refused() {
    garbled_known(KnownBits { blocks: &[Block::ZERO], first: 100 }, &random_blocks(3, 29));
}

/// `cargo test --release -p vesica-simd --test integration garble:: -- --ignored --nocapture`
#[test]
#[ignore = "measures"]
#[allow(clippy::print_stdout, reason = "prints its results")]
fn speed() {
    const N: usize = 1024;
    const ROUNDS: usize = 4000;
    let (a, b) = (random_blocks(7, N), random_blocks(8, N));
    let known = random_blocks(9, N / 128);
    let known = KnownBits { blocks: &known, first: 0 };
    let (hash, delta) = (hash(), delta());
    on_every_backend(|backend| {
        let (mut out, mut table) = (vec![Block::ZERO; N], vec![Block::ZERO; 2 * N]);
        let rounds = if backend == vesica_simd::Backend::Portable { ROUNDS / 40 } else { ROUNDS };
        let time = |name: &str, work: &mut dyn FnMut(u64)| {
            let seconds = (0..7)
                .map(|_| {
                    let start = std::time::Instant::now();
                    (0..rounds).for_each(|round| work((round * N) as u64));
                    start.elapsed().as_secs_f64()
                })
                .fold(f64::MAX, f64::min);
            let millions = (N * rounds) as f64 / seconds / 1e6;
            println!("{:8} {name:15} {millions:7.1} M gates/s", backend.name());
        };
        time("garble", &mut |g| {
            garble_and(hash, g, delta, &a, &b, &mut out, halves_mut(&mut table))
        });
        time("evaluate", &mut |g| evaluate_and(hash, g, &a, &b, halves(&table), &mut out));
        let table = &mut table[..N];
        time("garble known", &mut |g| {
            garble_known(hash, g, delta, known, &a, &mut out, table);
        });
        time("evaluate known", &mut |g| evaluate_known(hash, g, &a, table, &mut out));
    });
}
