//! What a party has learned from a run with a helper, in the form that it stores before it tells
//! the helper that it needs nothing more.
//!
//! ```text
//! kind, 1 byte ‖ for each party its scale, 4 bytes, and the length of its list, 8 bytes
//!   ‖ number of common items, 8 bytes ‖ a bit a row, in words of 8 bytes ‖ digest, 32 bytes
//! ```
//!
//! All numbers are little-endian. The length depends only on the number of parties and of rows, so
//! storing an answer takes the same calls for any common keys, and for a refused answer.

use std::io::{self, Read, Write};
use vesica_core::Misbehaviour;
use vesica_core::hash::Transcript;
use vesica_protocols::kmrs14::{CommonRows, Outcome};

const ANSWER_LABEL: &str = "vesica engine 2026 answer of an aided run v1";

/// Why a party can refuse the helper's answer. Their positions in this list are stored on disks.
const REFUSALS: [Misbehaviour; 4] = [
    Misbehaviour::InvalidValue,
    Misbehaviour::CommonMissing,
    Misbehaviour::OwnFound,
    Misbehaviour::CopiesDiffer,
];

const NOTHING: u8 = 0;
const ROWS: u8 = 1;
const REFUSED: u8 = 2;

/// Words written and read at once.
const PIECE: usize = 1 << 13;

/// What a party keeps of the outcome of a run with a helper, for its report and its result.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The scales of all parties: a party's list has at most 2^scale labels.
    pub scales: Vec<u32>,
    /// The number of labels in each party's list.
    pub list_lens: Vec<u64>,
    /// What this party has learned.
    pub learned: Learned,
}

/// What this party has learned.
#[derive(Debug, PartialEq, Eq)]
pub enum Learned {
    /// This party does not receive the result.
    Nothing,
    /// Which of its rows are common.
    Rows(CommonRows),
    /// Why this party refuses the helper's answer.
    Refused(Misbehaviour),
}

impl Answer {
    /// The answer of a run with these scales and this `outcome`.
    pub fn new(scales: Vec<u32>, outcome: Outcome) -> Self {
        let learned = match (outcome.refused, outcome.matched) {
            (Some(why), _) => Learned::Refused(why),
            (None, Some(matched)) => Learned::Rows(matched),
            (None, None) => Learned::Nothing,
        };
        Self { scales, list_lens: outcome.list_lens, learned }
    }

    /// Writes the answer of `owner`, whose file has `rows` rows.
    pub fn write(&self, owner: &[u8; 32], rows: u64, out: impl Write) -> io::Result<()> {
        let (kind, items, words) = match &self.learned {
            Learned::Nothing => (NOTHING, 0, &[][..]),
            Learned::Rows(matched) => (ROWS, matched.items, &matched.rows[..]),
            Learned::Refused(why) => {
                let number = REFUSALS.iter().position(|known| known == why).unwrap_or(0);
                (REFUSED + number as u8, 0, &[][..])
            }
        };
        let mut out = Digested { inner: out, digest: Transcript::new(ANSWER_LABEL, &[owner]) };
        let mut head = vec![kind];
        for (scale, len) in self.scales.iter().zip(&self.list_lens) {
            head.extend_from_slice(&scale.to_le_bytes());
            head.extend_from_slice(&len.to_le_bytes());
        }
        head.extend_from_slice(&items.to_le_bytes());
        out.write_all(&head)?;
        let len = rows.div_ceil(64) as usize;
        let mut piece = Vec::with_capacity(8 * PIECE);
        for start in (0..len).step_by(PIECE) {
            let word = |at| words.get(at).copied().unwrap_or_default();
            piece.clear();
            piece.extend((start..len.min(start + PIECE)).flat_map(|at| word(at).to_le_bytes()));
            out.write_all(&piece)?;
        }
        let Digested { mut inner, digest } = out;
        inner.write_all(&digest.finish())
    }

    /// Reads the answer of `owner`, one of `parties` parties, whose file has `rows` rows.
    ///
    /// # Errors
    /// The errors of `from`; [`io::ErrorKind::InvalidData`] if the bytes are not those that were
    /// written.
    pub fn read(owner: &[u8; 32], parties: usize, rows: u64, from: impl Read) -> io::Result<Self> {
        let cut = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::ErrorKind::InvalidData.into(),
            _ => error,
        };
        let mut from = Digested { inner: from, digest: Transcript::new(ANSWER_LABEL, &[owner]) };
        let mut answer = from.answer(parties, rows).map_err(cut)?;
        let Digested { mut inner, digest } = from;
        let mut found = [0; 32];
        inner.read_exact(&mut found).map_err(cut)?;
        let is_whole = found == digest.finish() && inner.read(&mut [0])? == 0;
        answer.take().filter(|_| is_whole).ok_or(io::ErrorKind::InvalidData.into())
    }
}

/// A file, and a digest of what was written to it or read from it.
struct Digested<F> {
    inner: F,
    digest: Transcript,
}

impl<W: Write> Digested<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.inner.write_all(bytes)
    }
}

impl<R: Read> Digested<R> {
    fn exact<const LEN: usize>(&mut self) -> io::Result<[u8; LEN]> {
        let mut bytes = [0; LEN];
        self.read_exact(&mut bytes).map(|()| bytes)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.digest.update(bytes);
        Ok(())
    }

    /// Reads all but the digest; `None` for an answer of an unknown kind.
    fn answer(&mut self, parties: usize, rows: u64) -> io::Result<Option<Answer>> {
        let [kind] = self.exact()?;
        let (mut scales, mut list_lens) = (Vec::new(), Vec::new());
        for _ in 0..parties {
            scales.push(u32::from_le_bytes(self.exact()?));
            list_lens.push(u64::from_le_bytes(self.exact()?));
        }
        let items = u64::from_le_bytes(self.exact()?);
        let len = rows.div_ceil(64) as usize;
        let (mut words, mut piece) = (Vec::with_capacity(len), vec![0; 8 * PIECE]);
        while words.len() < len {
            let bytes = &mut piece[..8 * PIECE.min(len - words.len())];
            self.read_exact(bytes)?;
            words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        }
        let learned = match kind {
            NOTHING => Some(Learned::Nothing),
            ROWS => Some(Learned::Rows(CommonRows { rows: words, items })),
            kind => REFUSALS.get(usize::from(kind - REFUSED)).copied().map(Learned::Refused),
        };
        Ok(learned.map(|learned| Answer { scales, list_lens, learned }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: [u8; 32] = [7; 32];
    /// Enough rows for more than one piece.
    const MANY: u64 = 64 * PIECE as u64 + 65;

    fn answer(learned: Learned) -> Answer {
        Answer { scales: vec![3, 20], list_lens: vec![32, 1 << 33], learned }
    }

    /// Answers of all kinds to a party with this many rows.
    fn answers(rows: u64) -> Vec<Answer> {
        let words = rows.div_ceil(64) as usize;
        let of = |word: u64, items| Learned::Rows(CommonRows { rows: vec![word; words], items });
        let mut all = vec![Learned::Nothing, of(0, 0), of(!0, rows), of(0x5555, 1)];
        all.extend(REFUSALS.map(Learned::Refused));
        all.into_iter().map(answer).collect()
    }

    /// The bytes written, and the length of each write.
    #[derive(Default)]
    struct Calls(Vec<u8>, Vec<usize>);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            self.1.push(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(answer: &Answer, rows: u64) -> Calls {
        let mut calls = Calls::default();
        answer.write(&OWNER, rows, &mut calls).unwrap();
        calls
    }

    #[test]
    fn an_answer_reads_back_and_takes_the_same_writes_whatever_it_is() {
        for rows in [0, 1, 64, 65, MANY] {
            let expected = written(&answer(Learned::Nothing), rows).1;
            for answer in answers(rows) {
                let Calls(bytes, calls) = written(&answer, rows);
                assert_eq!(calls, expected, "{rows}");
                let read = Answer::read(&OWNER, 2, rows, &bytes[..]).unwrap();
                assert!(read == answer, "{rows}");
            }
        }
    }

    #[test]
    fn a_damaged_answer_is_refused() {
        let good = answers(70).remove(3);
        let Calls(bytes, _) = written(&good, 70);
        let refused = |owner, parties, rows, bytes: &[u8]| {
            Answer::read(owner, parties, rows, bytes).err().map(|error| error.kind())
                == Some(io::ErrorKind::InvalidData)
        };
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(refused(&OWNER, 2, 70, &damaged), "{at}");
            assert!(refused(&OWNER, 2, 70, &bytes[..at]), "{at}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(refused(&OWNER, 2, 70, &longer) && refused(&[8; 32], 2, 70, &bytes));
        assert!(refused(&OWNER, 3, 70, &bytes) && refused(&OWNER, 2, 129, &bytes));
        assert!(!refused(&OWNER, 2, 70, &bytes));
    }
}
