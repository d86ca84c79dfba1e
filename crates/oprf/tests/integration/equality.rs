//! Equality of two lists: each bit says what a comparison in clear would.

use crate::support::{SESSION, Setting, wrong_lengths_are_errors};
use rand::{Rng, SeedableRng, rngs::StdRng};
use vesica_core::{Block, Runs};
use vesica_oprf::equality::{Form, bytes, flights, receive as learn, send as tell};
use vesica_ot::{Bits, Traffic};

const FORMS: [Form; 3] = [Form::Vole, Form::VoleFast, Form::Kkrt];

fn random(len: usize, seed: u64) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    StdRng::seed_from_u64(seed).fill_bytes(Block::as_bytes_mut(&mut blocks));
    blocks
}

fn compare(form: Form, runs: Runs, x: &[Block], y: &[Block], setting: &Setting) -> Bits {
    let run = setting
        .run(|ctx| tell(ctx, &SESSION, form, runs, x), |ctx| learn(ctx, &SESSION, form, runs, y));
    assert_eq!(run.traffic, bytes(form, x.len(), runs), "{form:?}, {} values", x.len());
    assert_eq!(run.flights, flights(form, x.len(), runs), "{form:?}, {} values", x.len());
    run.unwrap().1
}

fn assert_law(form: Form, x: &[Block], y: &[Block], setting: &Setting) {
    let expected: Bits = x.iter().zip(y).map(|(x, y)| x == y).collect();
    for runs in [Runs::ONE, Runs::MAX] {
        assert!(compare(form, runs, x, y, setting) == expected, "{form:?}, {} values", x.len());
    }
}

#[test]
fn each_bit_says_whether_the_values_are_equal() {
    for form in FORMS {
        for len in [0, 1, 2, 7, 127, 128, 129, 2049, 16_384, 16_385, 40_000] {
            let x = random(len, 1);
            let others = random(len, 2);
            let every_third: Vec<Block> =
                (0..len).map(|i| if i % 3 == 0 { x[i] } else { others[i] }).collect();
            let mut first_and_last = others.clone();
            for i in [0, len.saturating_sub(1)].into_iter().filter(|i| *i < len) {
                first_and_last[i] = x[i];
            }
            let one_bit: Vec<Block> =
                x.iter().enumerate().map(|(i, x)| *x ^ Block::new(1 << (i % 128))).collect();
            for y in [&x, &others, &every_third, &first_and_last, &one_bit] {
                assert_law(form, &x, y, &Setting::default());
            }
        }
    }
}

#[test]
fn equal_values_at_different_places_are_not_equal() {
    for form in FORMS {
        let x: Vec<Block> = (0..3000).map(Block::new).collect();
        let mut y = x.clone();
        y.rotate_left(1);
        assert_law(form, &x, &y, &Setting::default());
        // One value everywhere, which is equal everywhere; and short ones.
        assert_law(form, &[Block::ZERO; 3000], &[Block::ZERO; 3000], &Setting::default());
        let bits: Vec<Block> = (0..3000).map(|i| Block::new(i / 7 % 2)).collect();
        assert_law(form, &bits, &[Block::ONE; 3000], &Setting::default());
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let (x, mut y) = (random(50_000, 3), random(50_000, 4));
    y[20_000..30_000].copy_from_slice(&x[20_000..30_000]);
    for form in FORMS {
        assert_law(form, &x, &y, &Setting { threads: 3, ..Setting::default() });
    }
}

#[test]
fn bytes_are_those_of_the_formula() {
    for form in FORMS {
        assert_eq!(bytes(form, 0, Runs::MAX), Traffic::default());
        let told = |len: usize, bits: usize| (len * bits).div_ceil(8) as u64;
        let n = 1 << 20;
        let all = bytes(form, n, Runs::ONE);
        assert!(all.sender_to_receiver >= told(n, 61));
        let largest = |len| bytes(form, len, Runs::MAX);
        assert!(largest(usize::MAX) == largest(u32::MAX as usize));
    }
    // All but the tags is the OPRF's: 41 + ⌈log n⌉ bits a place are told.
    for (len, bits) in [(1, 41), (2, 42), (3, 43), (1000, 51), (1 << 20, 61), ((1 << 20) + 1, 62)] {
        let of_oprf = vesica_oprf::kkrt::bytes(len, len as u64);
        let expected = of_oprf.sender_to_receiver + (len * bits).div_ceil(8) as u64;
        let found = bytes(Form::Kkrt, len, Runs::ONE).sender_to_receiver;
        assert_eq!(found, expected, "{len} places");
        // In each of 1,024 runs ten bits more, and codewords for the comparisons of all of them.
        let of_oprf = vesica_oprf::kkrt::bytes(len, 1024 * len as u64);
        let expected = of_oprf.sender_to_receiver + (len * (bits + 10)).div_ceil(8) as u64;
        let found = bytes(Form::Kkrt, len, Runs::new(1024).unwrap()).sender_to_receiver;
        assert_eq!(found, expected, "{len} places");
    }
    let per_place = |form| bytes(form, 1 << 20, Runs::ONE).total() as f64 / f64::from(1 << 20);
    assert!((15.0..17.0).contains(&per_place(Form::Vole)));
    assert!((27.5..29.0).contains(&per_place(Form::VoleFast)));
    assert!((61.0..64.0).contains(&per_place(Form::Kkrt)));
}

/// Wrong lengths end in an error of the party that gets them; other contents in an error or other
/// bits.
#[test]
fn no_message_that_is_changed_makes_a_party_panic() {
    let (x, y) = (random(200, 1), random(200, 1));
    for form in FORMS {
        let attempt = |setting: &Setting| {
            setting.run(
                |ctx| tell(ctx, &SESSION, form, Runs::ONE, &x),
                |ctx| learn(ctx, &SESSION, form, Runs::ONE, &y),
            )
        };
        wrong_lengths_are_errors(attempt);
    }
}
