//! Items become rows, and rows become indices.

use super::plan::{Plan, SEED_LEN};
use vesica_core::hash::derive;
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, Item, SessionId};
use vesica_net::Pool;
use vesica_okvs::bloom::{BloomHash, Share};
use vesica_simd::aes::Aes128;

const ROW_LABEL: &str = "vesica v1 gbf row";
const INDEX_LABEL: &str = "vesica v1 gbf index";

/// Items that one CPU thread hashes at a time.
const ITEMS_PER_TASK: std::num::NonZeroUsize = std::num::NonZeroUsize::new(1 << 14).unwrap();

/// The hash functions under the public seed r.
pub(super) struct Hashing {
    session: SessionId,
    row: Aes128,
    pub(super) indices: BloomHash,
}

impl Hashing {
    pub(super) fn new(plan: &Plan, session: &SessionId, r: &[u8; SEED_LEN]) -> Self {
        let key = |label| {
            let mut block = [0; Block::LEN];
            block.copy_from_slice(&derive(label, &[session.as_bytes(), r])[..Block::LEN]);
            Block::from_le_bytes(block)
        };
        Self {
            session: *session,
            row: Aes128::new(key(ROW_LABEL)),
            indices: BloomHash::new(&plan.shape, key(INDEX_LABEL)),
        }
    }

    /// The session that all hashes of the run are bound to.
    pub(super) fn session(&self) -> &SessionId {
        &self.session
    }

    /// The rows of `items` with their positions, grouped by block.
    pub(super) fn rows(&self, pool: &Pool, plan: &Plan, items: &[Item]) -> Buckets {
        let rows = hashed(&self.row, pool, items);
        pool.run(|| Buckets::new(rows, 128, plan.shape.block_bits()))
    }
}

/// t(x): the low bits of an item's tag, as many as a string of `len` bytes has.
pub(super) fn truncated<S: Share>(tag: Block, len: usize) -> S {
    S::low(tag & Block::new(u128::MAX >> (128 - 8 * len)))
}

/// π(x) + x of each item, with its position.
fn hashed(pi: &Aes128, pool: &Pool, items: &[Item]) -> Vec<Tagged> {
    let mut blocks: Vec<Block> =
        items.iter().map(|item| Block::from_le_bytes(*item.as_bytes())).collect();
    pool.zip_chunks(items, &mut blocks, ITEMS_PER_TASK, |_, blocks| pi.mmo(blocks));
    blocks.iter().zip(0..).map(|(block, i)| Tagged::new(block.get(), i)).collect()
}
