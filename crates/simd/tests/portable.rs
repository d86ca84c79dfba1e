//! The portable kernels on inputs so small that Miri runs them: `make miri`.
//!
//! Each kernel is compared with its definition. The tests of the modules compare all kernels with
//! each other, on larger inputs.

use vesica_simd::aes::{Aes128, encrypt_rekeyed};
use vesica_simd::garble::{GateHash, KnownBits};
use vesica_simd::linear::LinearMap;
use vesica_simd::lpn::{Coefficients, SAMPLE_WEIGHT, TILE, Table};
use vesica_simd::{
    Backend, Block, band, force, garble, gf128, ggm, low_bits, lpn, prefetch, short_hash, sparse,
    transpose, xor,
};

/// Pseudorandom blocks, after switching the vector kernels off.
fn blocks(seed: u128, len: usize) -> Vec<Block> {
    force(Backend::Portable).unwrap();
    let mut blocks = Block::zeros(len);
    Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
    blocks
}

fn sum_of(blocks: impl IntoIterator<Item = Block>) -> Block {
    blocks.into_iter().fold(Block::ZERO, |sum, block| sum ^ block)
}

/// FIPS 197, appendix C.1.
#[test]
fn aes_has_the_published_outputs() {
    force(Backend::Portable).unwrap();
    let key = Block::from_le_bytes(std::array::from_fn(|i| i as u8));
    let plain = Block::from_le_bytes(std::array::from_fn(|i| 0x11 * i as u8));
    let expected = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128;
    let cipher = Aes128::new(key);
    assert_eq!(cipher.encrypt_block(plain).to_le_bytes(), expected.to_be_bytes());

    let mut many = vec![plain; 9];
    cipher.encrypt(&mut many);
    assert_eq!(many, [cipher.encrypt_block(plain); 9]);
    let mut hashed = vec![plain; 9];
    cipher.mmo(&mut hashed);
    assert_eq!(hashed, [many[0] ^ plain; 9]);
    let mut rekeyed = vec![plain; 6];
    encrypt_rekeyed(&[key, plain], 3, &mut rekeyed);
    assert_eq!(rekeyed[..3], many[..3]);
    assert_eq!(rekeyed[5], Aes128::new(plain).encrypt_block(plain));
}

#[test]
fn bytes_of_blocks_are_the_blocks() {
    let mut some = blocks(1, 3);
    let bytes: Vec<u8> = some.iter().flat_map(|block| block.to_le_bytes()).collect();
    assert_eq!(Block::as_bytes(&some), bytes);
    Block::as_bytes_mut(&mut some)[17] ^= 1;
    assert_eq!(Block::as_bytes(&some)[17], bytes[17] ^ 1);
    assert!(Block::as_bytes(&[]).is_empty());
}

#[test]
fn sums_of_vectors_are_sums_of_their_blocks() {
    let (a, b) = (blocks(2, 7), blocks(3, 7));
    let expected: Vec<Block> = a.iter().zip(&b).map(|(a, b)| *a ^ *b).collect();
    let mut acc = a.clone();
    xor::xor(&mut acc, &b);
    assert_eq!((&acc, &xor::sum(&a, &b)), (&expected, &expected));
    let all: Vec<Block> = a.iter().map(|a| *a ^ b[0]).collect();
    assert_eq!(xor::sum_with(&a, b[0]), all);
    assert!(xor::sum(&[], &[]).is_empty());
}

#[test]
fn the_field_has_inverses_and_linear_maps_are_its_products() {
    let xs = blocks(4, 3);
    let [a, b, c] = [xs[0], xs[1], xs[2]];
    assert_eq!(gf128::mul(a, b ^ c), gf128::mul(a, b) ^ gf128::mul(a, c));
    assert_eq!(gf128::square(a), gf128::mul(a, a));
    assert_eq!(gf128::mul(a, gf128::inverse(a).unwrap()), Block::ONE);
    assert_eq!(gf128::inverse(Block::ZERO), None);
    let mut acc = vec![c; 3];
    gf128::add_products(&mut acc, &xs, &[b, b, b]);
    let expected: Vec<Block> = xs.iter().map(|x| c ^ gf128::mul(*x, b)).collect();
    assert_eq!(acc, expected);
    assert_eq!(gf128::inner_product(&xs, &[b, b, b]), gf128::mul(a ^ b ^ c, b));

    let map = LinearMap::new(&std::array::from_fn(|i| gf128::mul(Block::new(1 << i), b)));
    let mut acc = vec![c; 3];
    map.add_to(&mut acc, &xs);
    assert_eq!(acc, expected);
}

#[test]
fn a_transposed_matrix_has_its_bits_at_the_other_side() {
    let rows = blocks(5, 128);
    let mut out = Block::zeros(128);
    transpose::transpose_128(&rows, &mut out);
    for (i, column) in out.iter().enumerate().step_by(17) {
        assert!((0..128).all(|j| column.bit(j) == rows[j as usize].bit(i as u32)), "column {i}");
    }
}

#[test]
fn lowest_bits_are_packed_in_order() {
    let some = blocks(6, 128);
    let mut words = [0; 2];
    low_bits::low_bits(&some, &mut words);
    assert!((0..128).all(|i| (words[i / 64] >> (i % 64) & 1 == 1) == some[i].bit(0)));
}

#[test]
fn a_level_of_a_tree_sums_to_its_parents() {
    let node = Aes128::new(Block::new(7));
    let parents = blocks(7, 5);
    let mut nodes = parents.clone();
    nodes.resize(10, Block::ZERO);
    let first = ggm::children(&node, &mut nodes);
    assert_eq!(first, sum_of(nodes[..5].iter().copied()));
    assert!((0..5).all(|i| nodes[i] ^ nodes[5 + i] == parents[i]));
    assert_eq!((ggm::at(&nodes, 8), ggm::at(&nodes, 10)), (nodes[8], Block::ZERO));
    let before = nodes.clone();
    ggm::add_at(&mut nodes, 3, Block::ONE);
    ggm::add_at(&mut nodes, 10, Block::ONE);
    assert!((0..10).all(|i| (nodes[i] == before[i]) == (i != 3)));
}

#[test]
fn short_hashes_are_those_of_blake3() {
    force(Backend::Portable).unwrap();
    let key = std::array::from_fn(|i| i as u8);
    let inputs = std::array::from_fn(|i| std::array::from_fn(|j| (31 * i + j) as u8));
    let lens = std::array::from_fn(|i| (4 * i) as u8 + u8::from(i == 15) * 4);
    let digests = short_hash::keyed_hash_16(&key, &inputs, &lens);
    for (i, digest) in digests.iter().enumerate() {
        let input: &[u8; short_hash::BLOCK_LEN] = &inputs[i];
        let expected = blake3::keyed_hash(&key, &input[..usize::from(lens[i])]);
        assert_eq!(digest, &expected.as_bytes()[..16], "input {i}");
    }
}

#[test]
fn sparse_and_banded_sums_are_sums_of_selected_slots() {
    let slots = blocks(8, 600);
    let keys = blocks(9, 5);
    let mut rows = [0; 5];
    sparse::rows(&keys, slots.len(), &mut rows);
    let mut sums = Block::zeros(5);
    sparse::sums(&keys, &slots, &mut sums);
    for (row, sum) in rows.iter().zip(&sums) {
        let chosen = sparse::slots_of(*row);
        assert!(chosen[0] != chosen[1] && chosen[1] != chosen[2] && chosen[0] != chosen[2]);
        assert_eq!(*sum, sum_of(chosen.map(|slot| slots[slot])));
        prefetch::prefetch(&slots, chosen[0]);
    }

    // Enough rows for a batch with tables.
    let rows: Vec<band::Row> = blocks(10, 4 * 8)
        .chunks(4)
        .map(|four| std::array::from_fn(|i| (four[i / 2].get() >> (64 * (i % 2))) as u64))
        .collect();
    let starts: Vec<u32> = (0..8).map(|i| 11 * i).collect();
    let mut sums = Block::zeros(8);
    band::Sums::new(&slots).compute(&rows, &starts, &mut sums);
    for ((row, start), sum) in rows.iter().zip(&starts).zip(&sums) {
        let of_band = (*start as usize..slots.len()).take(band::WIDTH);
        let chosen = of_band.filter(|slot| row[slot / 64 % 8] >> (slot % 64) & 1 == 1);
        assert_eq!(*sum, sum_of(chosen.map(|slot| slots[slot])), "from {start}");
    }
}

#[test]
fn samples_of_codes_are_sums_of_rows() {
    let [first, second] = [blocks(11, 16), blocks(12, 16)];
    let table = Table::new([&first[..], &second[..]]);
    assert!((0..16).all(|i| table[i] == [first[i], second[i]]));
    assert!(Table::<2>::new([&[], &[]]).is_empty() && Table::<1>::default().is_empty());

    let words: Vec<u32> = (0..3 * 5).map(|i| (i as u32) << 28).collect();
    let mut out = [Block::zeros(3), Block::zeros(3)];
    lpn::accumulate(&table, 5, &words, out.each_mut().map(Vec::as_mut_slice));
    for (column, found) in [&first, &second].into_iter().zip(&out) {
        for (i, sum) in found.iter().enumerate() {
            let chosen = (5 * i..5 * (i + 1)).map(|word| column[word % 16]);
            assert_eq!(*sum, sum_of(chosen), "output {i}");
        }
    }

    // Sums of ten rows each are sums of as many ones as there are rows: an even number.
    let ones = vec![[Block::ONE]; 16];
    let mut out = Block::zeros(TILE);
    let stream = Aes128::new(Block::new(13));
    lpn::samples(&stream, 0, Coefficients::One, &ones, [&mut out]);
    const { assert!(SAMPLE_WEIGHT.is_multiple_of(2)) };
    assert!(out.iter().all(|sum| *sum == Block::ZERO));
}

#[test]
fn evaluated_gates_have_the_labels_of_their_results() {
    const N: usize = 3;
    let random = blocks(14, 1)[0];
    let delta = if random.bit(0) { random } else { random ^ Block::ONE };
    let [a, b] = [blocks(15, N), blocks(16, N)];
    let hash = GateHash::new(Block::new(17));
    let mut out = Block::zeros(N);
    let mut table = Block::zeros(2 * N);
    garble::garble_and(hash, 5, delta, &a, &b, &mut out, garble::halves_mut(&mut table));
    let bits = [Block::new(0b101)];
    let known = KnownBits { blocks: &bits, first: 0 };
    let (mut known_out, mut known_table) = (Block::zeros(N), Block::zeros(N));
    garble::garble_known(hash, 50, delta, known, &a, &mut known_out, &mut known_table);
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let active = |labels: &[Block], value| xor::sum_with(labels, delta & Block::mask(value));
        let mut found = Block::zeros(N);
        let (on_a, on_b) = (active(&a, x), active(&b, y));
        garble::evaluate_and(hash, 5, &on_a, &on_b, garble::halves(&table), &mut found);
        assert_eq!(found, active(&out, x && y), "{x} and {y}");
        garble::evaluate_known(hash, 50, &on_a, &known_table, &mut found);
        for (i, label) in found.iter().enumerate() {
            let value = x && bits[0].bit(i as u32);
            assert_eq!(*label, known_out[i] ^ (delta & Block::mask(value)), "gate {i}");
        }
    }
}
