//! Correlated GGM trees: a puncturable pseudorandom function with one block per level.
//!
//! X. Guo, K. Yang, X. Wang, W. Zhang, X. Xie, J. Zhang, Z. Liu, "Half-tree: halving the cost of
//! tree expansion in COT and DPF", EUROCRYPT 2023 (ePrint 2022/1431), Figures 3 and 4.
//!
//! The two nodes of the first level sum to Δ, and the children of X are H(X) and X + H(X), so the
//! nodes of every level sum to Δ. At each level the receiver knows the nodes on one side; the
//! ancestors of α lie on the other side.
//!
//! The children of node j of a level of m nodes are the nodes j and j + m of the next level: the
//! first level decides the lowest bit of a leaf's number.
//!
//! **Where we differ from the paper.** The root is r = K_1 + s, where K_1 is the sender's key of
//! the first level's transfer, and s is public, pseudorandom, and unknown to the receiver until its
//! transfers are fixed. So the first level needs no message, and the receiver cannot choose its
//! values to make two trees collide. If the leaves must be independent of Δ (VOLE), all leaves of
//! the correlated tree are hashed under another key. This replaces the pseudorandom last level of
//! the paper's pcGGM and saves two blocks per tree.
//!
//! **Why that hash is tweaked.** The message of a VOLE's tree gives the receiver H(X + Δ) + β·Δ,
//! where X is known and the error β is any element of the field. π(x) + x is not a suitable hash:
//! for β = 1 it leaves π(X + Δ) + X, and inverting π yields Δ. π(π(x) + i) + π(x) keeps π(x)
//! unknown for any value that is added to it (C. Guo, J. Katz, X. Wang, Y. Yu, "Efficient and
//! secure multiparty computation from fixed-key block ciphers", IEEE S&P 2020, Section 7.4). The
//! tweak i encodes the number of the tree and of the leaf.
//!
//! **Keys.** Under one key, π sees one unknown input of the form X + Δ per level of
//! [`TREES_PER_KEY`] trees: fewer than 2^7, so a search for Δ still takes 2^121 permutations; for
//! the 127 secret bits of silent correlated transfer, 2^120.

use vesica_core::hash::derive_into;
use vesica_core::{Block, Secret};
use vesica_simd::aes::Aes128;
use vesica_simd::{ggm, xor};
use zeroize::Zeroize;

const LABEL: &str = "vesica ot 2026 silent tree keys";

/// Trees per pair of keys.
const TREES_PER_KEY: usize = 8;

/// The public functions of all trees of one extension.
pub(super) struct Functions {
    keys: Vec<Keys>,
    roots: Vec<Block>,
}

/// The permutations for a few consecutive trees.
struct Keys {
    node: Aes128,
    leaf: Aes128,
    /// H(0), the result for unknown nodes.
    unknown_node: Block,
}

impl Keys {
    fn new(node: Block, leaf: Block) -> Self {
        let [node, leaf] = [node, leaf].map(Aes128::new);
        let mut unknown_node = [Block::ZERO];
        node.ccr(&mut unknown_node);
        Self { node, leaf, unknown_node: unknown_node[0] }
    }

    /// The leaf with number `leaf`, from its node of the last level.
    fn hash(&self, tree: usize, leaf: usize, node: Block) -> Block {
        // Not `tccr`: if the leaf is α's sibling its number is secret, and `tccr` needs public
        // tweaks.
        let once = self.leaf.encrypt_block(node);
        self.leaf.encrypt_block(once ^ Block::new((tree as u128) << 64 | leaf as u128)) ^ once
    }
}

impl Functions {
    /// The functions for `trees` trees, from `seed`, which the sender draws after the transfers are
    /// fixed.
    pub(super) fn new(seed: Block, trees: usize) -> Self {
        let mut seeds = [Block::ZERO; 2];
        derive_into(LABEL, &[&seed.to_le_bytes()], Block::as_bytes_mut(&mut seeds));
        let [of_keys, of_roots] = seeds.map(Aes128::new);
        let mut keys = vec![Block::ZERO; 2 * trees.div_ceil(TREES_PER_KEY)];
        of_keys.ctr(0, &mut keys);
        let keys = keys.as_chunks().0.iter().map(|[node, leaf]| Keys::new(*node, *leaf)).collect();
        let mut roots = vec![Block::ZERO; trees];
        of_roots.ctr(0, &mut roots);
        Self { keys, roots }
    }

    fn keys(&self, tree: usize) -> &Keys {
        &self.keys[tree / TREES_PER_KEY]
    }
}

/// The sum of the leaves of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// The leaves sum to Δ: the noise value is one.
    Correlated,
    /// The leaves are hashed; their sum is arbitrary.
    Hashed,
}

impl Leaves {
    /// Blocks that the receiver needs for a tree of this depth.
    pub(super) const fn message_len(self, depth: usize) -> usize {
        match self {
            Leaves::Correlated => depth - 1,
            Leaves::Hashed => depth,
        }
    }
}

/// Sets `leaves` to those of tree `tree`; `first_key` is the sender's key of the first level's
/// transfer.
pub(super) fn sender_leaves(
    functions: &Functions,
    kind: Leaves,
    delta: &Secret<Block>,
    tree: usize,
    first_key: Block,
    leaves: &mut [Block],
) {
    expand(functions, kind, delta, tree, first_key, leaves, |_, _| ());
}

/// A tree at the sender.
pub(super) struct Tree<'a> {
    pub(super) number: usize,
    /// The keys of its transfers, one for each level.
    pub(super) keys: &'a [Block],
    /// The sender's part of the VOLE that gives the noise value's multiple of Δ. Only hashed leaves
    /// need it.
    pub(super) noise_key: Block,
}

/// Like [`sender_leaves`], with the keys of all transfers of the tree. Sets `message` to the blocks
/// that the receiver needs: one for each level from the second on, and for hashed leaves one more,
/// which yields the noise value's multiple of Δ.
pub(super) fn sender_message(
    functions: &Functions,
    kind: Leaves,
    delta: &Secret<Block>,
    tree: Tree<'_>,
    leaves: &mut [Block],
    message: &mut [Block],
) {
    let Tree { number, keys, noise_key } = tree;
    let all = expand(functions, kind, delta, number, keys[0], leaves, |i, left| {
        message[i - 1] = left ^ keys[i];
    });
    if kind == Leaves::Hashed {
        message[keys.len() - 1] = all ^ noise_key;
    }
}

/// Calls `level(i, sum)` with the sum of the left nodes of each level from the second on, which has
/// number 1. Returns the sum of all leaves, at least four.
fn expand(
    functions: &Functions,
    kind: Leaves,
    delta: &Secret<Block>,
    tree: usize,
    first_key: Block,
    leaves: &mut [Block],
    mut level: impl FnMut(usize, Block),
) -> Block {
    let root = first_key ^ functions.roots[tree];
    leaves[0] = root;
    leaves[1] = root ^ *delta.expose();
    let last = leaves.len().trailing_zeros() as usize - 1;
    let keys = functions.keys(tree);
    for i in 1..last {
        level(i, ggm::children(&keys.node, &mut leaves[..2 << i]));
    }
    let (left, all) = match kind {
        Leaves::Correlated => (ggm::children(&keys.node, leaves), *delta.expose()),
        Leaves::Hashed => ggm::hashed_children(&keys.node, &keys.leaf, tree as u64, leaves),
    };
    level(last, left);
    all
}

/// The receiver's tree: all leaves but one.
#[derive(Clone)]
pub(super) struct Punctured {
    tree: usize,
    /// The number of the unknown leaf.
    pub(super) alpha: usize,
    /// For each level, the sum of the nodes on the known side.
    sums: Vec<Block>,
    /// The value for the unknown leaf, minus the sum of the others.
    correction: Block,
}

impl Drop for Punctured {
    fn drop(&mut self) {
        self.alpha.zeroize();
        self.sums.zeroize();
        self.correction.zeroize();
    }
}

impl Punctured {
    /// Tree `tree`, from the choices and blocks of its transfers and the sender's message: one
    /// block for each level from the second on, and one more for hashed leaves.
    ///
    /// The choices are the negated bits of α.
    pub(super) fn new(
        functions: &Functions,
        tree: usize,
        choices: impl Iterator<Item = bool>,
        blocks: &[Block],
        message: &[Block],
    ) -> Self {
        let alpha =
            (0..).zip(choices).fold(0, |alpha, (i, choice)| alpha | usize::from(!choice) << i);
        let mut sums = blocks.to_vec();
        sums[0] ^= functions.roots[tree];
        xor::xor(&mut sums[1..], &message[..blocks.len() - 1]);
        let correction = message.get(blocks.len() - 1).copied().unwrap_or_default();
        Self { tree, alpha, sums, correction }
    }

    /// Fills `leaves`; the place α gets the sum of the other leaves and the correction.
    ///
    /// Neither addresses nor branches depend on α.
    pub(super) fn leaves(&self, functions: &Functions, kind: Leaves, leaves: &mut [Block]) {
        let last = self.sums.len() - 1;
        let keys = functions.keys(self.tree);
        leaves[..2].fill(Block::ZERO);
        self.put(&mut leaves[..2], 0, self.sums[0], Block::ZERO);
        let mut all = self.sums[0];
        for i in 1..last {
            // The unknown parent is stored as zero, so both of its children come out as H(0). The
            // known child becomes the known sum minus the other nodes of its side, which cancels
            // its H(0); the other child becomes zero.
            let nodes = &mut leaves[..2 << i];
            let left = ggm::children(&keys.node, nodes);
            let change = self.known_side(i, left, all) ^ self.sums[i];
            self.put(nodes, i, change, keys.unknown_node);
            all ^= change ^ keys.unknown_node;
        }
        // The place α gets the value that cancels its share of the total.
        match kind {
            Leaves::Correlated => {
                let left = ggm::children(&keys.node, leaves);
                let change = self.known_side(last, left, all) ^ self.sums[last];
                self.put(leaves, last, change, all ^ change ^ self.correction);
            }
            Leaves::Hashed => {
                let tree = self.tree as u64;
                let (left, hashed) = ggm::hashed_children(&keys.node, &keys.leaf, tree, leaves);
                let change = self.known_side(last, left, all) ^ self.sums[last];
                let sibling = self.alpha ^ (1 << last);
                let hash = |node| keys.hash(self.tree, sibling, node);
                let change = hash(change ^ keys.unknown_node) ^ hash(keys.unknown_node);
                self.put(leaves, last, change, hashed ^ change ^ self.correction);
            }
        }
    }

    /// The sum of the nodes of level i on the side without α, from the sum of the left nodes and of
    /// all nodes.
    fn known_side(&self, i: usize, left: Block, all: Block) -> Block {
        left ^ (all & Block::mask(self.alpha >> i & 1 == 0))
    }

    /// Adds `known` to the known child of the unknown parent, and `unknown` to the other child.
    fn put(&self, nodes: &mut [Block], i: usize, known: Block, unknown: Block) {
        let goes_right = Block::mask(self.alpha >> i & 1 == 1);
        let exchange = (known ^ unknown) & goes_right;
        let parent = self.alpha & ((1 << i) - 1);
        let (left, right) = nodes.split_at_mut(1 << i);
        ggm::add_at(left, parent, unknown ^ exchange);
        ggm::add_at(right, parent, known ^ exchange);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(i: u128) -> Block {
        Aes128::new(Block::new(5)).encrypt_block(Block::new(i))
    }

    /// The definition, leaf by leaf: π(π(x) + i) + π(x), where i encodes tree and leaf, and x is
    /// the correlated leaf.
    #[test]
    fn hashed_leaves_are_correlated_leaves_hashed_with_a_tweak_of_tree_and_leaf() {
        let functions = Functions::new(block(0), 20);
        for tree in [0, 1, 7, 8, 19] {
            let (mut nodes, mut leaves) = (vec![Block::ZERO; 32], vec![Block::ZERO; 32]);
            sender_leaves(
                &functions,
                Leaves::Correlated,
                &Secret::new(block(1)),
                tree,
                block(2),
                &mut nodes,
            );
            sender_leaves(
                &functions,
                Leaves::Hashed,
                &Secret::new(block(1)),
                tree,
                block(2),
                &mut leaves,
            );
            let pi = &functions.keys(tree).leaf;
            for (j, (x, leaf)) in nodes.iter().zip(&leaves).enumerate() {
                let once = pi.encrypt_block(*x);
                let tweak = Block::new((tree as u128) << 64 | j as u128);
                assert!(*leaf == pi.encrypt_block(once ^ tweak) ^ once, "tree {tree}, leaf {j}");
            }
        }
    }

    #[test]
    fn trees_have_different_roots_and_few_share_keys() {
        let functions = Functions::new(block(0), 20);
        let h = |pi: &Aes128| pi.encrypt_block(Block::ZERO);
        for i in 0..20 {
            assert!(h(&functions.keys(i).node) != h(&functions.keys(i).leaf));
            for j in 0..i {
                let (a, b) = (functions.keys(i), functions.keys(j));
                assert_eq!(h(&a.node) == h(&b.node), i / 8 == j / 8, "{i}, {j}");
                assert_eq!(h(&a.leaf) == h(&b.leaf), i / 8 == j / 8, "{i}, {j}");
                let mut leaves = [[Block::ZERO; 4]; 2];
                for (tree, leaves) in [i, j].into_iter().zip(&mut leaves) {
                    sender_leaves(
                        &functions,
                        Leaves::Correlated,
                        &Secret::new(block(1)),
                        tree,
                        block(2),
                        leaves,
                    );
                }
                assert!(leaves[0] != leaves[1]);
            }
        }
    }
}
