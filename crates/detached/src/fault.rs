//! How the peer broke the protocol, as a task reports it.

use serde::{Deserialize, Serialize};
use vesica_core::Misbehaviour;

/// A [`Misbehaviour`]: its number in the list below, and its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault(u8, [u64; 3]);

/// Misbehaviour without figures, numbered from 3. One that is not listed is encoded as the first.
const PLAIN: [Misbehaviour; 13] = [
    Misbehaviour::InvalidValue,
    Misbehaviour::InvalidPublicKey,
    Misbehaviour::SelfCheckFailed,
    Misbehaviour::SharedNotProved,
    Misbehaviour::CorrelationCheckFailed,
    Misbehaviour::CutAndChooseFailed,
    Misbehaviour::CommitmentBroken,
    Misbehaviour::CommonMissing,
    Misbehaviour::OwnFound,
    Misbehaviour::CopiesDiffer,
    Misbehaviour::CountsDiffer,
    Misbehaviour::BrokenFraming,
    Misbehaviour::SetRefused,
];

impl From<Misbehaviour> for Fault {
    fn from(kind: Misbehaviour) -> Self {
        match kind {
            Misbehaviour::WrongMessageLen { expected, actual } => Self(0, [expected, actual, 0]),
            Misbehaviour::InvalidPoint { index } => Self(1, [index, 0, 0]),
            Misbehaviour::SizeOutsideAgreement { len, min, max } => Self(2, [len, min, max]),
            plain => {
                let number = PLAIN.iter().position(|known| *known == plain).unwrap_or(0);
                Self(3 + number as u8, [0; 3])
            }
        }
    }
}

impl From<Fault> for Misbehaviour {
    fn from(Fault(number, [first, second, third]): Fault) -> Self {
        match number {
            0 => Misbehaviour::WrongMessageLen { expected: first, actual: second },
            1 => Misbehaviour::InvalidPoint { index: first },
            2 => Misbehaviour::SizeOutsideAgreement { len: first, min: second, max: third },
            plain => PLAIN.get(usize::from(plain) - 3).copied().unwrap_or(PLAIN[0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_reads_back() {
        let with_figures = [
            Misbehaviour::WrongMessageLen { expected: 4, actual: 5 },
            Misbehaviour::InvalidPoint { index: 7 },
            Misbehaviour::SizeOutsideAgreement { len: 1, min: 2, max: 3 },
        ];
        for kind in with_figures.into_iter().chain(PLAIN) {
            let json = serde_json::to_string(&Fault::from(kind)).unwrap();
            let read: Fault = serde_json::from_str(&json).unwrap();
            assert_eq!(Misbehaviour::from(read), kind);
        }
    }
}
