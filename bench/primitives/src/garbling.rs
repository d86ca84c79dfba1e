//! Garbled gates, on labels that stay in the cache: the computation of each party, without
//! communication.

use crate::measure::{Bench, BenchError};
use std::hint::black_box;
use vesica_core::Block;
use vesica_simd::aes::Aes128;
use vesica_simd::garble::{
    GateHash, KnownBits, evaluate_and, evaluate_known, garble_and, garble_known, halves, halves_mut,
};

/// Gates garbled at a time: labels and ciphertexts take 80 KiB.
const LEN: usize = 1 << 10;

/// Processes the gates from an index on: their labels, and their ciphertexts.
type Work<'a> = dyn FnMut(u64, &mut [Block], &mut [Block]) + 'a;

pub(crate) fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mut labels = vec![Block::ZERO; 2 * LEN + LEN / 128 + 2];
    Aes128::new(Block::new(1)).ctr(0, &mut labels);
    let (a, rest) = labels.split_at(LEN);
    let (b, rest) = rest.split_at(LEN);
    let (bits, seeds) = rest.split_at(LEN / 128);
    let (hash, delta) = (GateHash::new(seeds[0]), Block::new(seeds[1].get() | 1));
    let known = KnownBits { blocks: bits, first: 0 };
    let (mut out, mut table) = (vec![Block::ZERO; LEN], vec![Block::ZERO; 2 * LEN]);

    let mut over = |name: &str, work: &mut Work<'_>| {
        let total = bench.size(1 << 26, 1 << 23);
        bench.alone(name, "gates", total, || {
            for first in (0..total).step_by(LEN) {
                work(first, black_box(&mut out), black_box(&mut table));
            }
            Ok(())
        })
    };
    over("garbling gates", &mut |first, out, table| {
        garble_and(hash, first, delta, a, b, out, halves_mut(table));
    })?;
    over("evaluating gates", &mut |first, out, table| {
        evaluate_and(hash, first, a, b, halves(table), out);
    })?;
    over("garbling one-sided gates", &mut |first, out, table| {
        garble_known(hash, first, delta, known, a, out, &mut table[..LEN]);
    })?;
    over("evaluating one-sided gates", &mut |first, out, table| {
        evaluate_known(hash, first, a, &table[..LEN], out);
    })
}
