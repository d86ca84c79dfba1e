//! The vector kernels, on data that stays in the cache.

use crate::measure::{Bench, BenchError};
use std::hint::black_box;
use vesica_core::Block;
use vesica_simd::aes::{Aes128, encrypt_rekeyed};
use vesica_simd::transpose::transpose_128;
use vesica_simd::{gf128, short_hash, xor};

/// Blocks processed at a time: 64 KiB.
const LEN: usize = 1 << 12;

pub(crate) fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let aes = Aes128::new(Block::new(1));
    let mut blocks = vec![Block::ZERO; LEN];
    let mut others = vec![Block::ZERO; LEN];
    aes.ctr(0, &mut blocks);
    aes.ctr(LEN as u128, &mut others);
    let keys: Vec<Block> = others.iter().step_by(2).copied().collect();

    let mut over = |name: &str, work: &mut dyn FnMut(&mut [Block])| {
        let total = bench.size(1 << 28, 1 << 25);
        bench.alone(name, "blocks", total, || {
            (0..total / LEN as u64).for_each(|_| work(black_box(&mut blocks)));
            Ok(())
        })
    };
    over("aes counter mode", &mut |blocks| aes.ctr(0, blocks))?;
    over("aes π(x) + x", &mut |blocks| aes.mmo(blocks))?;
    over("aes circular hash", &mut |blocks| aes.ccr(blocks))?;
    over("aes tweakable hash", &mut |blocks| aes.tccr(blocks, 0))?;
    over("aes two blocks a key", &mut |blocks| encrypt_rekeyed(&keys, 2, blocks))?;
    over("gf128 products", &mut |blocks| gf128::mul_each(blocks, &others))?;
    over("gf128 scaled sums", &mut |blocks| gf128::add_scaled(blocks, &others, others[0]))?;
    over("gf128 inner product", &mut |blocks| {
        black_box(gf128::inner_product(blocks, &others));
    })?;
    over("gf128 powers", &mut |blocks| gf128::powers(others[0], blocks))?;
    over("xor", &mut |blocks| xor::xor(blocks, &others))?;
    over("transpose 128", &mut |blocks| transpose_128(&others, blocks))?;

    let total = bench.size(1 << 24, 1 << 21);
    let (key, lens) = ([1; 32], [40; short_hash::INPUTS]);
    let inputs = [[2; short_hash::BLOCK_LEN]; short_hash::INPUTS];
    bench.alone("blake3 of 40 bytes", "inputs", total, || {
        for _ in 0..total / short_hash::INPUTS as u64 {
            black_box(short_hash::keyed_hash_16(&key, black_box(&inputs), &lens));
        }
        Ok(())
    })
}
