//! Multiplication triples, 64 to a word.

use super::transfers::{PIECE, Piece, Transfers};
use vesica_core::Result;
use vesica_net::Context;
use vesica_simd::low_bits::low_bits;
use zeroize::Zeroize;

/// Words of triples per piece of OTs: two OTs per triple.
pub(super) const WORDS_PER_PIECE: usize = PIECE / 2 / u64::BITS as usize;

/// Shares of random bits a and b, and of c = a·b, in each lane.
#[derive(Default)]
pub(super) struct Triples {
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
    pub(super) c: Vec<u64>,
}

impl Triples {
    fn push(&mut self, a: u64, b: u64, c: u64) {
        self.a.push(a);
        self.b.push(b);
        self.c.push(c);
    }
}

impl Drop for Triples {
    fn drop(&mut self) {
        self.a.zeroize();
        self.b.zeroize();
        self.c.zeroize();
    }
}

/// Makes triples on demand.
#[derive(Default)]
pub(super) struct Source {
    ready: Triples,
    taken: usize,
}

impl Source {
    /// Triples that were made before the circuit.
    pub(super) fn made(ready: Triples) -> Self {
        Self { ready, taken: 0 }
    }

    /// The next `words` words of triples.
    pub(super) fn take(
        &mut self,
        ctx: &mut Context,
        transfers: &mut Transfers,
        words: usize,
    ) -> Result<Triples> {
        let mut out = Triples::default();
        [&mut out.a, &mut out.b, &mut out.c]
            .into_iter()
            .for_each(|column| column.reserve_exact(words));
        while out.a.len() < words {
            if self.taken == self.ready.a.len() {
                self.ready = of_piece(&transfers.random(ctx)?);
                self.taken = 0;
            }
            let n = (words - out.a.len()).min(self.ready.a.len() - self.taken);
            let taken = self.taken..self.taken + n;
            out.a.extend_from_slice(&self.ready.a[taken.clone()]);
            out.b.extend_from_slice(&self.ready.b[taken.clone()]);
            out.c.extend_from_slice(&self.ready.c[taken]);
            self.taken += n;
        }
        Ok(out)
    }
}

/// One triple from each two OTs. In the first, the sender's a is the XOR of its two bits, and the
/// receiver's b is its choice; the parties then hold shares of the product. The second OT gives the
/// sender's b and the receiver's a.
fn of_piece(piece: &Piece) -> Triples {
    let mut triples = Triples::default();
    let mut bits = [[0; 2 * WORDS_PER_PIECE]; 2];
    match piece {
        Piece::Sender { zeros, ones } => {
            low_bits(zeros, &mut bits[0]);
            low_bits(ones, &mut bits[1]);
            for i in 0..WORDS_PER_PIECE {
                let j = i + WORDS_PER_PIECE;
                let (a, b) = (bits[0][i] ^ bits[1][i], bits[0][j] ^ bits[1][j]);
                triples.push(a, b, a & b ^ bits[0][i] ^ bits[0][j]);
            }
        }
        Piece::Receiver { choices, messages } => {
            low_bits(messages, &mut bits[1]);
            for i in 0..WORDS_PER_PIECE {
                let j = i + WORDS_PER_PIECE;
                let (a, b) = (choices[j], choices[i]);
                triples.push(a, b, a & b ^ bits[1][i] ^ bits[1][j]);
            }
        }
    }
    bits.zeroize();
    triples
}
