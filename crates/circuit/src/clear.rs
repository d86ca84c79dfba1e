//! Evaluation in the clear: the reference for all other evaluators.

use crate::{BitLanes, Gates, Known};
use vesica_core::{Error, Result};

/// Evaluates in the clear, with all bits known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clear {
    lanes_at_once: Option<usize>,
    prefers_depth: bool,
}

impl Clear {
    /// An evaluator with the preferences of another, such as one with large wires or slow rounds.
    pub fn like(lanes_at_once: usize, prefers_depth: bool) -> Self {
        Self { lanes_at_once: Some(lanes_at_once), prefers_depth }
    }
}

impl Gates for Clear {
    type Wires = BitLanes;

    fn constant(&mut self, bit: bool, len: usize) -> BitLanes {
        BitLanes::constant(bit, len)
    }

    fn xor(&self, a: &BitLanes, b: &BitLanes) -> BitLanes {
        a.xor(b)
    }

    fn not(&self, a: &BitLanes) -> BitLanes {
        a.not()
    }

    fn and(&mut self, pairs: &[(&BitLanes, &BitLanes)]) -> Result<Vec<BitLanes>> {
        Ok(pairs.iter().map(|(a, b)| a.and(b)).collect())
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&BitLanes])]) -> Result<Vec<Vec<BitLanes>>> {
        let one = |(known, wires): &(Known<'_>, &[&BitLanes])| match known {
            Known::Mine(bits) => {
                let bits = BitLanes::from(*bits);
                Ok(wires.iter().map(|wires| wires.and(&bits)).collect())
            }
            Known::Theirs { .. } => Err(Error::Bug("clear evaluation knows all bits")),
        };
        lists.iter().map(one).collect()
    }

    fn lanes_at_once(&self) -> usize {
        self.lanes_at_once.unwrap_or(usize::MAX)
    }

    fn prefers_depth(&self) -> bool {
        self.prefers_depth
    }
}
