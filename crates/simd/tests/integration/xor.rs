//! Sums of lists: block by block, on every backend.

use crate::support::{lengths, on_every_backend, random_blocks};
use vesica_simd::xor::{sum, sum_with, xor};

#[test]
fn sums_equal_those_of_the_blocks() {
    for len in lengths() {
        let (a, b) = (random_blocks(1, len), random_blocks(2, len));
        let one = random_blocks(3, 1)[0];
        on_every_backend(|backend| {
            let both = a.iter().zip(&b).map(|(a, b)| *a ^ *b);
            assert!(sum(&a, &b).into_iter().eq(both.clone()), "{}, {len}", backend.name());
            let mut acc = a.clone();
            xor(&mut acc, &b);
            assert!(acc.into_iter().eq(both), "{}, {len}", backend.name());
            let with = a.iter().map(|a| *a ^ one);
            assert!(sum_with(&a, one).into_iter().eq(with), "{}, {len}", backend.name());
        });
    }
}

#[test]
#[should_panic = "the same number of blocks"]
fn lists_of_different_lengths_are_refused() {
    sum(&random_blocks(1, 3), &random_blocks(2, 4));
}
