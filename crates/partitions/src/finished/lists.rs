//! The result of a partition when the answer is a list: texts or identifiers.
//!
//! | bytes | content |
//! |---|---|
//! | 24 | the cost |
//! | 1 | 0, or why the result is refused |
//! | 1 | 0: nothing; 1: texts; 2: identifiers |
//! | 8 | length of the content in bytes |
//! | the most possible | texts, or the identifiers of the own items and then all; then zeros |

use super::{Cost, code_of, reason};
use vesica_core::{Item, Misbehaviour};

const HEAD_LEN: usize = Cost::LEN + 10;

/// The list of a partition, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// The party learns nothing.
    Nothing,
    /// Texts, one after the other.
    Texts(Vec<u8>),
    /// Identifiers.
    Ids {
        /// Those of the party's own items.
        own: Vec<[u8; Item::LEN]>,
        /// All.
        all: Vec<[u8; Item::LEN]>,
    },
}

/// A finished partition of a union or of private ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedLists {
    /// Its result.
    pub listed: Listed,
    /// Why the result is refused, if it is.
    pub refused: Option<Misbehaviour>,
    /// Its cost.
    pub cost: Cost,
}

impl FinishedLists {
    /// The bytes that are stored of a list of at most `most` bytes. Their number does not depend on
    /// the result; `None` if the list is longer.
    pub fn to_bytes(&self, most: usize) -> Option<Vec<u8>> {
        let (code, parts): (u8, [&[u8]; 2]) = match &self.listed {
            Listed::Nothing => (0, [&[], &[]]),
            Listed::Texts(texts) => (1, [texts, &[]]),
            Listed::Ids { own, all } => (2, [own.as_flattened(), all.as_flattened()]),
        };
        let len = parts[0].len() + parts[1].len();
        if len > most {
            return None;
        }
        let mut bytes = Vec::with_capacity(HEAD_LEN + most);
        self.cost.write(&mut bytes);
        bytes.extend([code_of(self.refused), code]);
        bytes.extend_from_slice(&(len as u64).to_le_bytes());
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes.resize(HEAD_LEN + most, 0);
        Some(bytes)
    }

    /// The partition in stored bytes, if it has `own_len` own items and a list of at most `most`
    /// bytes; otherwise `None`.
    pub fn from_bytes(bytes: &[u8], own_len: usize, most: usize) -> Option<Self> {
        let (cost, rest) = Cost::read(bytes)?;
        let ([refused, code], rest) = rest.split_first_chunk()?;
        let (len, content) = rest.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        if content.len() != most || len > most {
            return None;
        }
        let (content, padding) = content.split_at(len);
        if padding.iter().any(|byte| *byte != 0) {
            return None;
        }
        let listed = match code {
            0 if content.is_empty() => Listed::Nothing,
            1 => Listed::Texts(content.to_vec()),
            2 => {
                let (ids, []) = content.as_chunks() else { return None };
                let (own, all) = ids.split_at_checked(own_len)?;
                Listed::Ids { own: own.to_vec(), all: all.to_vec() }
            }
            _ => return None,
        };
        Some(Self { listed, refused: reason(*refused)?, cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Cost = Cost { payload: (3, 1 << 50), direction_changes: 9 };

    fn of(listed: Listed, refused: Option<Misbehaviour>) -> FinishedLists {
        FinishedLists { listed, refused, cost: COST }
    }

    #[test]
    fn lists_of_a_partition_read_back() {
        let ids = Listed::Ids { own: vec![[1; 16], [2; 16]], all: vec![[1; 16], [2; 16], [3; 16]] };
        for listed in [Listed::Nothing, Listed::Texts(b"ab".to_vec()), Listed::Texts(vec![]), ids] {
            for refused in [None, Some(Misbehaviour::InvalidValue)] {
                let over = of(listed.clone(), refused);
                let bytes = over.to_bytes(96).unwrap();
                assert_eq!(bytes.len(), HEAD_LEN + 96, "the length does not depend on the result");
                assert_eq!(FinishedLists::from_bytes(&bytes, 2, 96), Some(over));
                assert_eq!(FinishedLists::from_bytes(&bytes, 2, 95), None);
                assert_eq!(FinishedLists::from_bytes(&bytes, 2, 97), None);
            }
        }
    }

    #[test]
    fn a_list_has_one_form_and_a_limit() {
        let over = of(Listed::Texts(b"abc".to_vec()), None);
        assert_eq!(over.to_bytes(2), None);
        let bytes = over.to_bytes(8).unwrap();
        for (at, value) in
            [(Cost::LEN, 9), (Cost::LEN + 1, 0), (Cost::LEN + 1, 3), (HEAD_LEN + 5, 1)]
        {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert_eq!(FinishedLists::from_bytes(&changed, 2, 8), None, "{at}");
        }
        let ids = of(Listed::Ids { own: vec![[1; 16]], all: vec![] }, None).to_bytes(64).unwrap();
        assert_eq!(FinishedLists::from_bytes(&ids, 2, 64), None, "too few of its own");
    }
}
