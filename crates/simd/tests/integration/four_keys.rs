//! Blocks under four keys: the results of the cipher key by key, on every backend.

use crate::support::{on_every_backend, random_blocks};
use vesica_simd::Block;
use vesica_simd::aes::{Aes128, encrypt_under_four};

#[test]
fn codewords_match_encryption_key_by_key_on_every_backend() {
    let keys: [Aes128; 4] = std::array::from_fn(|j| Aes128::new(random_blocks(j as u64, 1)[0]));
    for len in [0, 1, 3, 7, 8, 9, 63, 64, 65, 200] {
        let xs = random_blocks(9, len);
        on_every_backend(|backend| {
            let mut out = vec![[Block::ONE; 4]; len];
            encrypt_under_four(&keys, &xs, &mut out);
            for (x, out) in xs.iter().zip(&out) {
                let expected = keys.each_ref().map(|key| key.encrypt_block(*x));
                assert!(*out == expected, "{}, {len} blocks", backend.name());
            }
        });
    }
}

#[test]
#[should_panic = "one output per block"]
fn a_wrong_number_of_outputs_is_refused() {
    let keys: [Aes128; 4] = std::array::from_fn(|_| Aes128::new(Block::ZERO));
    encrypt_under_four(&keys, &[Block::ZERO; 2], &mut [[Block::ZERO; 4]]);
}
