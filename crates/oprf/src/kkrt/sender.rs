use super::code::Code;
use super::output::OutputHash;
use super::{ROW_BLOCKS, Row, width};
use vesica_core::{Block, Result, Secret, SessionId};
use vesica_net::Context;
use vesica_ot::coded::rows;
use zeroize::Zeroize;

/// Codewords computed together: they stay in the first-level cache.
const CODEWORDS: usize = 256;

/// The party that can evaluate at any input.
pub struct Sender {
    rows: rows::Sender<ROW_BLOCKS>,
    s: Secret<Row>,
    code: Code,
    hash: OutputHash,
}

/// A point of evaluation.
#[derive(Clone, Copy, Default)]
pub struct Point {
    /// The instance, relative to the first of the part.
    pub instance: u32,
    /// x.
    pub input: Block,
}

impl Sender {
    /// Runs the setup; `comparisons` as in [`Receiver::new`](super::Receiver::new).
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    ///
    /// # Panics
    /// As [`width()`].
    pub fn setup(ctx: &mut Context, session: &SessionId, comparisons: u64) -> Result<Self> {
        let width = width(comparisons);
        let rows = rows::Sender::setup(ctx, session, width)?;
        let s = Secret::new(rows.s());
        Ok(Self { rows, s, code: Code::new(session), hash: OutputHash::new(session, width) })
    }

    /// Passes the keys of `len` new instances to `consume` in order, in parts, with the index of
    /// the first of them in this call.
    ///
    /// # Errors
    /// Connection errors.
    pub fn evaluate(
        &mut self,
        ctx: &mut Context,
        len: usize,
        mut consume: impl FnMut(usize, Keys<'_>),
    ) -> Result<()> {
        let Sender { rows, s, code, hash } = self;
        let first = rows.next_row();
        rows.extend(ctx, len, |first_of_part, rows| {
            let first = first + first_of_part as u64;
            consume(first_of_part, Keys { s: s.expose(), code, hash, first, rows });
        })
    }
}

/// The keys of consecutive instances.
pub struct Keys<'a> {
    s: &'a Row,
    code: &'a Code,
    hash: &'a OutputHash,
    first: u64,
    rows: &'a [Row],
}

impl Keys<'_> {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sets `out` to F_i(x) at each of `points`.
    ///
    /// # Panics
    /// If an instance is out of range, or the lengths differ.
    pub fn evaluate(&self, points: &[Point], out: &mut [Block]) {
        assert_eq!(points.len(), out.len(), "one output per point");
        let mut inputs = [Block::ZERO; CODEWORDS];
        let mut codewords = [[Block::ZERO; ROW_BLOCKS]; CODEWORDS];
        for (points, out) in points.chunks(CODEWORDS).zip(out.chunks_mut(CODEWORDS)) {
            points.iter().zip(&mut inputs).for_each(|(point, input)| *input = point.input);
            self.code.codewords(&inputs[..points.len()], &mut codewords[..points.len()]);
            for (point, codeword) in points.iter().zip(&mut codewords) {
                let row = &self.rows[point.instance as usize];
                for (k, c) in codeword.iter_mut().enumerate() {
                    *c = row[k] ^ (*c & self.s[k]);
                }
            }
            let number = |i: usize| self.first + u64::from(points[i].instance);
            self.hash.outputs(&codewords[..points.len()], number, out);
        }
        codewords.zeroize();
    }
}
