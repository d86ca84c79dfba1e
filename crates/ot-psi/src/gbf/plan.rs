//! The sizes of a run, which both parties compute from public figures.

use vesica_core::PsiParams;
use vesica_core::params::ceil_log2;
use vesica_okvs::bloom::BloomShape;

/// Length in bytes of r.
pub(super) const SEED_LEN: usize = 32;

/// A block of strings, of 8 bytes as a rule, stays in the cache.
const MAX_BLOCK_LEN: u64 = 1 << 17;

/// Strings in one message.
const STRINGS_PER_MESSAGE: usize = 1 << 14;

/// Which parameters and which transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Silent transfers: fewest bytes and least computation.
    Silent,
    /// IKNP transfers: no assumption on codes.
    Iknp,
    /// IKNP transfers and the parameters of the paper, for comparison with its tables.
    Paper,
}

/// What both parties derive from the public sizes and the mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) mode: Mode,
    pub(super) shape: BloomShape,
    /// s, bytes of a string.
    pub(super) string_len: usize,
}

impl Plan {
    /// The plan for sets that are not empty.
    pub(super) fn new(mode: Mode, params: &PsiParams) -> Self {
        let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
        let hashes = match mode {
            Mode::Silent | Mode::Iknp => u64::from(params.statistical_bits() + ceil_log2(n_x)),
            Mode::Paper => 128,
        };
        let pairs = hashes * n_x.max(n_y);
        let slots = match mode {
            // 4 % above the least for the mean load, which the variation of the blocks' loads
            // takes up, and a thousand for small sets; parameters/gbf checks both.
            Mode::Silent | Mode::Iknp => (pairs * 3).div_ceil(2) + 1024,
            Mode::Paper => (pairs * 14427).div_ceil(10000),
        };
        let string_len = match mode {
            Mode::Silent | Mode::Iknp => (params.statistical_bits() + ceil_log2(n_y)).div_ceil(8),
            Mode::Paper => 16,
        };
        Self {
            mode,
            shape: BloomShape::new(hashes as usize, slots, MAX_BLOCK_LEN),
            string_len: string_len as usize,
        }
    }

    /// Bytes of the corrections of a block.
    pub(super) fn corrections_len(&self) -> usize {
        self.shape.block_len().div_ceil(8)
    }

    /// Bytes of a block of strings.
    pub(super) fn strings_len(&self) -> usize {
        self.shape.block_len() * self.string_len
    }

    /// Whether a string fits in a word of eight bytes.
    pub(super) fn is_narrow(&self) -> bool {
        self.string_len <= 8
    }
}

/// The number of the first transfer of a block.
pub(super) fn first_transfer(plan: &Plan, block: usize) -> u64 {
    (block * plan.shape.block_len()) as u64
}

/// Bytes of the longest message of strings, at most 2^18.
pub(super) fn message_len(string_len: usize) -> usize {
    STRINGS_PER_MESSAGE * string_len
}
