//! The sizes of a run, which both parties compute from public figures.

use super::transfers;
use crate::answer;
use crate::catalogue::{Compared, Traffic};
use vesica_core::PsiParams;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
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

/// The sizes of a run.
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
            Mode::Silent | Mode::Iknp => u64::from(STATISTICAL_SECURITY_BITS + ceil_log2(n_x)),
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
            Mode::Silent | Mode::Iknp => (STATISTICAL_SECURITY_BITS + ceil_log2(n_y)).div_ceil(8),
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

    /// Strings that fit in no more than eight bytes go by the narrow word.
    pub(super) fn is_narrow(&self) -> bool {
        self.string_len <= 8
    }
}

/// Exact payload bytes of a run.
pub fn bytes(mode: Mode, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = Plan::new(mode, params);
    let transfers = transfers::bytes(&plan);
    let blocks = plan.shape.blocks();
    Traffic {
        sender_to_receiver: transfers.sender_to_receiver + (blocks * plan.strings_len()) as u64,
        receiver_to_sender: transfers.receiver_to_sender
            + SEED_LEN as u64
            + (blocks * plan.corrections_len()) as u64
            + answer::items_bytes(params),
    }
}

/// Estimated seconds of computation, fitted to measurements.
pub(super) fn seconds(mode: Mode, params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let slots = Plan::new(mode, params).shape.len() as f64;
    match mode {
        Mode::Silent => 0.012 + 27e-9 * slots,
        Mode::Iknp => 0.008 + 21e-9 * slots,
        Mode::Paper => 0.008 + 24e-9 * slots,
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
/// The strings of a run.
pub(super) fn compared(mode: Mode, params: &PsiParams) -> Compared {
    Compared::strings(8 * Plan::new(mode, params).string_len as u32)
}
