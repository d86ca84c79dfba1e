//! The result of one partition in the form that is stored until the run ends, so that a later
//! process need not run the partition again.
//!
//! All forms start with the [`Cost`] of the partition: payload bytes sent and received, and changes
//! of direction, 8 bytes each. The length of the rest depends only on public figures.

mod addends;
mod lists;
mod set;
mod step;

pub use addends::FinishedAddends;
pub use lists::{FinishedLists, Listed};
pub use set::{FinishedPartition, PartitionOutput};
pub use step::FinishedStep;

use vesica_core::Misbehaviour;

/// Reasons why the result of a partition is refused, by their codes, from 1 on. Any other reason is
/// stored as the first.
const REASONS: [Misbehaviour; 3] =
    [Misbehaviour::SelfCheckFailed, Misbehaviour::InvalidValue, Misbehaviour::CommitmentBroken];

/// What the protocol on one partition sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Payload bytes sent and received.
    pub payload: (u64, u64),
    /// Changes between sending and receiving.
    pub direction_changes: u64,
}

impl Cost {
    const LEN: usize = 24;

    /// The cost of this step and of the `next` together.
    pub fn and(self, next: Self) -> Self {
        let ((sent, received), (sent_next, received_next)) = (self.payload, next.payload);
        Self {
            payload: (sent + sent_next, received + received_next),
            direction_changes: self.direction_changes + next.direction_changes,
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for number in [self.payload.0, self.payload.1, self.direction_changes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// The cost at the start of `bytes`, and the rest.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<{ Self::LEN }>()?;
        let (numbers, _) = head.as_chunks::<8>();
        let [sent, received, direction_changes] = *numbers else { return None };
        let [sent, received, direction_changes] =
            [sent, received, direction_changes].map(u64::from_le_bytes);
        Some((Self { payload: (sent, received), direction_changes }, rest))
    }
}

/// The stored code of the reason why a partition's result is refused; 0 if it is not.
pub fn code_of(refused: Option<Misbehaviour>) -> u8 {
    let code = |why| 1 + REASONS.iter().position(|reason| *reason == why).unwrap_or(0) as u8;
    refused.map_or(0, code)
}

/// The reason why a partition's result is refused, from its stored code: `Some(None)` for 0, which
/// is no refusal, and `None` for an unknown code.
pub fn reason(code: u8) -> Option<Option<Misbehaviour>> {
    match code {
        0 => Some(None),
        code => REASONS.get(usize::from(code) - 1).map(|reason| Some(*reason)),
    }
}
