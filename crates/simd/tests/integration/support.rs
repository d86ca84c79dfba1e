//! Shared by the tests of the block kernels.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::{Mutex, PoisonError};
use vesica_simd::{Backend, Block};

/// Runs `test` with each backend forced in turn. The choice is process-wide, so only one test runs
/// at a time.
pub(crate) fn on_every_backend(mut test: impl FnMut(Backend)) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for backend in Backend::available() {
        vesica_simd::force(backend).unwrap();
        assert_eq!(Backend::active(), backend);
        test(backend);
    }
    vesica_simd::force(Backend::detect()).unwrap();
}

/// Lengths to test: every remainder of a batch, and some full batches.
pub(crate) fn lengths() -> impl Iterator<Item = usize> {
    (0..=70).chain([127, 128, 129, 500, 1000, 4099])
}

pub(crate) fn random_blocks(seed: u64, n: usize) -> Vec<Block> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut blocks = vec![Block::ZERO; n];
    rng.fill_bytes(Block::as_bytes_mut(&mut blocks));
    blocks
}
