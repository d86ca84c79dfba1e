//! # Punctured pseudorandom functions from GGM trees
//!
//! O. Goldreich, S. Goldwasser, S. Micali, "How to construct random functions", J. ACM 1986, with
//! one base transfer per level and the consistency check of L. Roy, "SoftSpokenOT", CRYPTO 2022
//! (ePrint 2022/192).
//!
//! For each tree of 2^k leaves the *sender* learns all leaves, and the *receiver* all but the one
//! at α. In the k base transfers of the tree, the receiver chooses ¬α_l, the negated bits of α,
//! highest bit first.
//!
//! | | |
//! |---|---|
//! | security | that of its base transfers; malicious with the check |
//! | flights | 1, after the base transfers |
//! | bytes | 32 (k − 1) per tree; malicious and k > 1: 32 more per tree, and 32 |
//!
//! ```text
//!   tree's sender                              tree's receiver: α
//!
//!   (K_l^0, K_l^1), l = 1..k                   K_l^{¬α_l}
//!   x_0, x_1 = K_1^0, K_1^1
//!   x_{2i}, x_{2i+1} = G(x_i) at each level
//!         ── K_l^b + Σ_i x_{2i+b}, l = 2..k ──▶   the unknown node's sibling at each level
//!   malicious: leaf_i, t_i = F(x_i)
//!         ── Σ t_i,  D = hash of all t_i ─────▶   t_α from the sum; is the hash D?
//! ```
//!
//! G(x) = (π_0(x) + x, π_1(x) + x) with AES under two keys derived from the session and the
//! transcript of the base transfers. F is BLAKE3 with 128 + 256 bits of output. Its second part is
//! collision resistant, so D fixes one x_i for each leaf. A deviating sender must guess bits of α,
//! and a wrong guess is detected.
//!
//! The receiver stores leaf x at place x ⊕ α, at each level. The unknown node then always comes
//! first, and no address or branch depends on α.
//!
//! **Where we differ from the paper.** One hash D covers all trees. The keys of the base transfers
//! are the first level, so for k = 1 there is no message and nothing to check.

use vesica_core::hash::{derive, derive_into};
use vesica_core::{Block, Misbehaviour, Result, Security};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

const GGM_KEYS: &str = "vesica ot 2026 GGM keys";
const LEAF: &str = "vesica ot 2026 GGM leaf and tag";
const LEAF_TAGS: &str = "vesica ot 2026 GGM all tags";
const TRANSCRIPT: &str = "vesica ot 2026 GGM transcript";

/// Length of a leaf's tag and of the hash over them, in bytes.
const TAG_LEN: usize = 32;

type Tag = [u8; TAG_LEN];

/// The public number and depth of the trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Number of trees.
    pub trees: usize,
    /// k, from 1 to 16: a tree has 2^k leaves.
    pub depth: usize,
}

impl Sizes {
    /// Leaves per tree, 2^k.
    pub const fn leaves(self) -> usize {
        1 << self.depth
    }

    /// Number of base transfers for all trees.
    pub const fn base_transfers(self) -> usize {
        self.trees * self.depth
    }

    const fn sums_len(self) -> usize {
        self.trees * (self.depth - 1) * 2
    }

    const fn is_checked<S: Security>(self) -> bool {
        S::MALICIOUS && self.depth > 1
    }

    /// Bytes of the sender's only message.
    pub const fn bytes<S: Security>(self) -> u64 {
        let tags = if self.is_checked::<S>() { TAG_LEN * (self.trees + 1) } else { 0 };
        (self.sums_len() * Block::LEN + tags) as u64
    }
}

/// The leaves of all trees.
pub struct Output {
    /// The leaves, tree by tree.
    pub leaves: Zeroizing<Vec<Block>>,
    /// A digest of the binding and of the message; public, equal at both parties.
    pub transcript: [u8; 32],
}

/// The two keys of G.
struct Doubling([Aes128; 2]);

impl Doubling {
    fn new(binding: &[u8; 32]) -> Self {
        let mut keys = [Block::ZERO; 2];
        derive_into(GGM_KEYS, &[binding], Block::as_bytes_mut(&mut keys));
        Self(keys.map(Aes128::new))
    }

    /// Both halves of G of each node, the left ones first.
    fn children(&self, nodes: &[Block]) -> [Vec<Block>; 2] {
        self.0.each_ref().map(|pi| {
            let mut children = nodes.to_vec();
            pi.mmo(&mut children);
            children
        })
    }
}

/// Leaf and tag of one node of the last level.
fn leaf_and_tag(binding: &[u8; 32], tree: usize, node: Block) -> (Block, Tag) {
    let mut bytes = [0; Block::LEN + TAG_LEN];
    let tree = (tree as u64).to_le_bytes();
    derive_into(LEAF, &[binding, &tree, &node.to_le_bytes()], &mut bytes);
    let (leaf, tag) = bytes.split_first_chunk().expect("more than one block");
    (Block::from_le_bytes(*leaf), tag.try_into().expect("the rest is a tag"))
}

fn add_tag(sum: &mut Tag, tag: &Tag) {
    sum.iter_mut().zip(tag).for_each(|(sum, tag)| *sum ^= tag);
}

fn hash_of_tags(binding: &[u8; 32], tags: &[Tag]) -> Tag {
    derive(LEAF_TAGS, &[binding, tags.as_flattened()])
}

/// The digest of the binding and of both parts of the message.
fn transcript(binding: &[u8; 32], sums: &[Block], tags: &[u8]) -> [u8; 32] {
    derive(TRANSCRIPT, &[binding, Block::as_bytes(sums), tags])
}

/// Sends the message, and returns all leaves of all trees.
///
/// `keys` holds the key pairs of the base transfers, the first `depth` for the first tree.
/// `binding` is a value that both parties hold and neither chose alone.
///
/// # Errors
/// Connection errors.
///
/// # Panics
/// If there are not `sizes.base_transfers()` key pairs.
pub fn send<S: Security>(
    ctx: &mut Context,
    sizes: Sizes,
    binding: &[u8; 32],
    keys: &[[Block; 2]],
) -> Result<Output> {
    assert_eq!(keys.len(), sizes.base_transfers(), "one base transfer per level");
    let doubling = Doubling::new(binding);
    let mut sums = Vec::with_capacity(sizes.sums_len());
    let mut leaves = Zeroizing::new(Vec::with_capacity(sizes.trees * sizes.leaves()));
    for keys in keys.chunks_exact(sizes.depth) {
        let mut nodes = Zeroizing::new(keys[0].to_vec());
        for level in &keys[1..] {
            let halves = Zeroizing::new(doubling.children(&nodes));
            let [left, right] = &*halves;
            sums.extend([sum(left) ^ level[0], sum(right) ^ level[1]]);
            let pairs = left.iter().zip(right);
            nodes = Zeroizing::new(pairs.flat_map(|(l, r)| [*l, *r]).collect());
        }
        leaves.extend_from_slice(&nodes);
    }
    if sizes.sums_len() > 0 {
        ctx.peer()?.send(Block::as_bytes(&sums))?;
    }
    let mut message = Vec::new();
    if sizes.is_checked::<S>() {
        let mut tags = Vec::with_capacity(leaves.len());
        for (i, node) in leaves.iter_mut().enumerate() {
            let (leaf, tag) = leaf_and_tag(binding, i / sizes.leaves(), *node);
            *node = leaf;
            tags.push(tag);
        }
        message.reserve_exact(TAG_LEN * (sizes.trees + 1));
        for tags in tags.chunks_exact(sizes.leaves()) {
            let mut sum = [0; TAG_LEN];
            tags.iter().for_each(|tag| add_tag(&mut sum, tag));
            message.extend_from_slice(&sum);
        }
        message.extend_from_slice(&hash_of_tags(binding, &tags));
        tags.zeroize();
        ctx.peer()?.send(&message)?;
    }
    Ok(Output { leaves, transcript: transcript(binding, &sums, &message) })
}

/// Receives the message, and returns all leaves but one of each tree: leaf y ⊕ α at place y, and
/// zero at place 0.
///
/// `keys` holds the chosen keys of the base transfers, `alphas` the α of each tree, below 2^k.
///
/// # Errors
/// Connection errors; [`Misbehaviour::CorrelationCheckFailed`] if the trees differ from those of an
/// honest sender.
///
/// # Panics
/// If there are not `sizes.base_transfers()` keys and `sizes.trees` alphas.
pub fn receive<S: Security>(
    ctx: &mut Context,
    sizes: Sizes,
    binding: &[u8; 32],
    keys: &[Block],
    alphas: &[u32],
) -> Result<Output> {
    assert_eq!(keys.len(), sizes.base_transfers(), "one base transfer per level");
    assert_eq!(alphas.len(), sizes.trees, "one point per tree");
    let mut sums = vec![Block::ZERO; sizes.sums_len()];
    if sizes.sums_len() > 0 {
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut sums))?;
    }
    let doubling = Doubling::new(binding);
    let mut leaves = Zeroizing::new(Vec::with_capacity(sizes.trees * sizes.leaves()));
    let (pairs, _) = sums.as_chunks::<2>();
    for (tree, (keys, alpha)) in keys.chunks_exact(sizes.depth).zip(alphas).enumerate() {
        let sums = &pairs[tree * (sizes.depth - 1)..][..sizes.depth - 1];
        let mut nodes = Zeroizing::new(vec![Block::ZERO, keys[0]]);
        for (l, (key, sums)) in keys[1..].iter().zip(sums).enumerate() {
            let bit = Block::mask(alpha >> (sizes.depth - 2 - l) & 1 == 1);
            let halves = Zeroizing::new(doubling.children(&nodes));
            let [left, right] = &*halves;
            // The child on α's side is at the even place.
            let mut children = Zeroizing::new(Vec::with_capacity(2 * nodes.len()));
            for (left, right) in left.iter().zip(right) {
                let swap = (*left ^ *right) & bit;
                children.extend([*left ^ swap, *right ^ swap]);
            }
            let known = children[2..].iter().skip(1).step_by(2);
            let sibling_sum = sums[1] ^ ((sums[0] ^ sums[1]) & bit) ^ *key;
            children[1] = known.fold(sibling_sum, |sum, node| sum ^ *node);
            children[0] = Block::ZERO;
            nodes = children;
        }
        leaves.extend_from_slice(&nodes);
    }
    let tags = if sizes.is_checked::<S>() {
        check(ctx, sizes, binding, alphas, &mut leaves)?
    } else {
        Vec::new()
    };
    Ok(Output { leaves, transcript: transcript(binding, &sums, &tags) })
}

/// Turns the nodes of the last level into leaves, and compares the hash of the tags with the
/// sender's. Returns the sender's message.
fn check(
    ctx: &mut Context,
    sizes: Sizes,
    binding: &[u8; 32],
    alphas: &[u32],
    leaves: &mut [Block],
) -> Result<Vec<u8>> {
    let bytes = ctx.peer()?.recv(TAG_LEN * (sizes.trees + 1))?;
    let (message, _) = bytes.as_chunks::<TAG_LEN>();
    let (sums, expected) = message.split_at(sizes.trees);
    let mut tags = Zeroizing::new(Vec::with_capacity(leaves.len()));
    let trees = leaves.chunks_exact_mut(sizes.leaves()).zip(alphas).zip(sums).enumerate();
    for (tree, ((leaves, alpha), sum)) in trees {
        let mut permuted = Zeroizing::new(vec![*sum; sizes.leaves()]);
        for (leaf, y) in leaves.iter_mut().zip(0..).skip(1) {
            (*leaf, permuted[y]) = leaf_and_tag(binding, tree, *leaf);
        }
        let (unknown, known) = permuted.split_first_mut().expect("a tree has leaves");
        known.iter().for_each(|tag| add_tag(unknown, tag));
        // Restores the sender's order: swaps halves at each level where α has a one.
        for level in 0..sizes.depth {
            let bit = 0_u8.wrapping_sub((alpha >> level & 1) as u8);
            for pair in permuted.chunks_exact_mut(2 << level) {
                let (low, high) = pair.split_at_mut(1 << level);
                for (a, b) in low.as_flattened_mut().iter_mut().zip(high.as_flattened_mut()) {
                    let swap = (*a ^ *b) & bit;
                    *a ^= swap;
                    *b ^= swap;
                }
            }
        }
        tags.extend_from_slice(&permuted);
    }
    if hash_of_tags(binding, &tags) != expected[0] {
        return Err(Misbehaviour::CorrelationCheckFailed.into());
    }
    Ok(bytes)
}

fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, block| sum ^ *block)
}
