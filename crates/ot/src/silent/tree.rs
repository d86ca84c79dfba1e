//! Correlated GGM trees: one puncturable pseudorandom function with one block a level.
//!
//! X. Guo, K. Yang, X. Wang, W. Zhang, X. Xie, J. Zhang, Z. Liu, "Half-tree: halving the cost of
//! tree expansion in COT and DPF", EUROCRYPT 2023 (ePrint 2022/1431), Figures 3 and 4.
//!
//! The two nodes of the first level sum to Δ, and the children of X are H(X) and X + H(X), so that the
//! nodes of every level sum to Δ. The receiver knows the nodes on one side of each level but for
//! the ancestors of α, which lie on the other.
//!
//! The children of the node j of a level of m nodes are the nodes j and j + m of the next: the first
//! level decides the lowest bit of a leaf's number.
//!
//! **Where we differ from the paper.** The root is r = K_1 + s, with K_1 the sender's key of the
//! first level's transfer and s public, pseudorandom, and unknown to the receiver until
//! its transfers are fixed: the first level needs no message, and no choice of the receiver makes two trees
//! meet. Where the leaves are to be independent of Δ (VOLE), all leaves of the correlated tree are
//! hashed under another key, in place of the pseudorandom last level of the paper's pcGGM: two
//! blocks a tree fewer, half a cipher call a leaf more.

use vesica_core::Block;
use vesica_core::hash::derive_into;
use vesica_simd::aes::Aes128;
use vesica_simd::{ggm, xor};

const LABEL: &str = "vesica ot 2026 silent tree keys";

/// The public functions of all trees of one extension.
pub(super) struct Functions {
    node: Aes128,
    leaf: Aes128,
    roots: Vec<Block>,
    /// H(0), which stands where a node is not known, and its hash as a leaf.
    unknown_node: Block,
    unknown_leaf: Block,
}

impl Functions {
    /// Those of `seed`, which the sender draws once the transfers are fixed, for that many trees.
    pub(super) fn new(seed: Block, trees: usize) -> Self {
        let mut keys = [Block::ZERO; 3];
        derive_into(LABEL, &[&seed.to_le_bytes()], Block::as_bytes_mut(&mut keys));
        let [node, leaf, root] = keys.map(Aes128::new);
        let mut roots = vec![Block::ZERO; trees];
        root.ctr(0, &mut roots);
        let mut unknown_node = [Block::ZERO];
        node.ccr(&mut unknown_node);
        let unknown_leaf = hash(&leaf, unknown_node[0]);
        Self { node, leaf, roots, unknown_node: unknown_node[0], unknown_leaf }
    }
}

/// A leaf from a node of the last level.
fn hash(leaf: &Aes128, node: Block) -> Block {
    let mut hashed = [node];
    leaf.mmo(&mut hashed);
    hashed[0]
}

/// What the leaves of a tree sum to, besides being pseudorandom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Δ: the noise value is one.
    Correlated,
    /// Nothing: the leaves are hashed.
    Hashed,
}

impl Leaves {
    /// Blocks that the receiver needs of a tree of that depth.
    pub(super) const fn message_len(self, depth: usize) -> usize {
        match self {
            Leaves::Correlated => depth - 1,
            Leaves::Hashed => depth,
        }
    }
}

/// Sets `leaves` to those of the sender's tree number `tree`; `first_key` is its key of the first
/// level's transfer.
pub(super) fn sender_leaves(
    functions: &Functions,
    kind: Leaves,
    delta: Block,
    (tree, first_key): (usize, Block),
    leaves: &mut [Block],
) {
    expand(functions, kind, delta, (tree, first_key), leaves, |_, _| ());
}

/// As [`sender_leaves`], with the keys of all the tree's transfers; sets `message` to what the
/// receiver needs: a block for each level from the second on, and for hashed leaves one more
/// that gives it the noise value's multiple of Δ, `noise_key` being the sender's part of that VOLE.
pub(super) fn sender_message(
    functions: &Functions,
    kind: Leaves,
    delta: Block,
    (tree, keys, noise_key): (usize, &[Block], Block),
    leaves: &mut [Block],
    message: &mut [Block],
) {
    let all = expand(functions, kind, delta, (tree, keys[0]), leaves, |i, left| {
        message[i - 1] = left ^ keys[i];
    });
    if kind == Leaves::Hashed {
        message[keys.len() - 1] = all ^ noise_key;
    }
}

/// Calls `level(i, sum)` with the sum of the left nodes of each level from the second, number 1, on;
/// gives the sum of all leaves. There are at least four.
fn expand(
    functions: &Functions,
    kind: Leaves,
    delta: Block,
    (tree, first_key): (usize, Block),
    leaves: &mut [Block],
    mut level: impl FnMut(usize, Block),
) -> Block {
    let root = first_key ^ functions.roots[tree];
    leaves[0] = root;
    leaves[1] = root ^ delta;
    let last = leaves.len().trailing_zeros() as usize - 1;
    for i in 1..last {
        level(i, ggm::children(&functions.node, &mut leaves[..2 << i]));
    }
    let (left, all) = match kind {
        Leaves::Correlated => (ggm::children(&functions.node, leaves), delta),
        Leaves::Hashed => ggm::hashed_children(&functions.node, &functions.leaf, leaves),
    };
    level(last, left);
    all
}

/// A tree as the receiver holds it: all leaves but one.
#[derive(Clone)]
pub(super) struct Punctured {
    /// The number of the leaf that is not known.
    pub(super) alpha: usize,
    /// For each level, the sum of the nodes on the side that is known.
    sums: Vec<Block>,
    /// What the unknown leaf becomes, less the sum of the others.
    pub(super) correction: Block,
}

impl Punctured {
    /// Tree number `tree`, from the choices and blocks of its transfers and the sender's message:
    /// a block for each level from the second on, and one more for hashed leaves.
    ///
    /// The choices are the bits of α negated.
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
        Self { alpha, sums, correction }
    }

    /// Fills `leaves`, with at α the sum of the other leaves and the correction.
    ///
    /// Neither addresses nor branches depend on α.
    pub(super) fn leaves(&self, functions: &Functions, kind: Leaves, leaves: &mut [Block]) {
        let last = self.sums.len() - 1;
        leaves[..2].fill(Block::ZERO);
        self.put(&mut leaves[..2], 0, self.sums[0], Block::ZERO);
        let mut all = self.sums[0];
        for i in 1..last {
            // The unknown parent is held as zero, and so both its children come out as H(0). The
            // known one becomes the known sum less the other nodes of its side, where its H(0)
            // cancels; the other one becomes zero.
            let nodes = &mut leaves[..2 << i];
            let left = ggm::children(&functions.node, nodes);
            let change = self.known_side(i, left, all) ^ self.sums[i];
            self.put(nodes, i, change, functions.unknown_node);
            all ^= change ^ functions.unknown_node;
        }
        // At α stands what cancels against its share of the sum of all.
        match kind {
            Leaves::Correlated => {
                let left = ggm::children(&functions.node, leaves);
                let change = self.known_side(last, left, all) ^ self.sums[last];
                self.put(leaves, last, change, all ^ change ^ self.correction);
            }
            Leaves::Hashed => {
                let (left, hashed) = ggm::hashed_children(&functions.node, &functions.leaf, leaves);
                let change = self.known_side(last, left, all) ^ self.sums[last];
                let known = hash(&functions.leaf, change ^ functions.unknown_node);
                let change = known ^ functions.unknown_leaf;
                self.put(leaves, last, change, hashed ^ change ^ self.correction);
            }
        }
    }

    /// The sum of the nodes on the side of level i where α is not, from that of the left ones and
    /// of all.
    fn known_side(&self, i: usize, left: Block, all: Block) -> Block {
        left ^ (all & Block::mask(self.alpha >> i & 1 == 0))
    }

    /// Adds `known` to the known child of the unknown parent, and `unknown` to its other child.
    fn put(&self, nodes: &mut [Block], i: usize, known: Block, unknown: Block) {
        let goes_right = Block::mask(self.alpha >> i & 1 == 1);
        let exchange = (known ^ unknown) & goes_right;
        let parent = self.alpha & ((1 << i) - 1);
        let (left, right) = nodes.split_at_mut(1 << i);
        ggm::add_at(left, parent, unknown ^ exchange);
        ggm::add_at(right, parent, known ^ exchange);
    }
}
