//! Makes new inputs from known ones.

use crate::Target;

/// Numbers at which decoders tend to fail.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// Text bytes that have a meaning in some format.
const SIGNS: &[u8] = b"\0\n\r\t \"'#%+,-./0129:;<=>?@AZ[\\]_az{|}~\x7f\x80\xc3\xe2\xff";

/// Makes inputs.
pub(super) struct Mutator {
    state: u64,
    kept: Vec<Vec<u8>>,
    tokens: &'static [&'static [u8]],
    max_len: usize,
    out: Vec<u8>,
}

impl Mutator {
    pub(super) fn new(seed: u64, kept: Vec<Vec<u8>>, target: &Target) -> Self {
        let (tokens, max_len) = (target.tokens, target.max_len);
        Self { state: seed, kept, tokens, max_len, out: Vec::new() }
    }

    /// The next input.
    pub(super) fn next(&mut self) -> &[u8] {
        let base = self.below(self.kept.len());
        self.out.clear();
        self.out.extend_from_slice(&self.kept[base]);
        // Mostly few changes, so that most of a valid input stays valid; sometimes many.
        let changes = 1 + self.random().trailing_zeros() as usize;
        (0..changes).for_each(|_| self.change());
        self.out.truncate(self.max_len);
        &self.out
    }

    fn change(&mut self) {
        let at = self.below(self.out.len() + 1);
        let is_end = at == self.out.len();
        match self.below(12) {
            0 if !is_end => self.out[at] ^= 1 << self.below(8),
            1 if !is_end => self.out[at] = self.random() as u8,
            2 if !is_end => self.out[at] = SIGNS[self.below(SIGNS.len())],
            3 if !is_end => self.out[at] = self.out[at].wrapping_add([1, 255][self.below(2)]),
            4 => {
                let end = self.end_of_piece(at);
                self.out.drain(at..end);
            }
            5 => {
                let end = self.end_of_piece(at);
                let piece = self.out[at..end].to_vec();
                self.put_in(&piece);
            }
            6 => {
                let value = EDGES[self.below(EDGES.len())];
                let width = [1, 2, 4, 8][self.below(4)];
                let bytes = match self.below(2) {
                    0 => value.to_le_bytes()[..width].to_vec(),
                    _ => value.to_be_bytes()[8 - width..].to_vec(),
                };
                let len = width.min(self.out.len() - at);
                self.out[at..at + len].copy_from_slice(&bytes[..len]);
            }
            7 => {
                let other = self.below(self.kept.len());
                let from = self.below(self.kept[other].len() + 1);
                let len = 1 + self.below(32);
                let piece: Vec<u8> = self.kept[other][from..].iter().take(len).copied().collect();
                self.put_in(&piece);
            }
            8 => {
                let other = self.below(self.kept.len());
                let from = self.below(self.kept[other].len() + 1);
                self.out.truncate(at);
                self.out.extend_from_slice(&self.kept[other][from..]);
            }
            9 if !self.tokens.is_empty() => {
                let token = self.tokens[self.below(self.tokens.len())];
                self.put_in(token);
            }
            10 => self.out.truncate(at),
            _ => {
                let len = 1 + self.below(8);
                let piece: Vec<u8> = (0..len).map(|_| self.random() as u8).collect();
                self.put_in(&piece);
            }
        }
    }

    fn end_of_piece(&mut self, at: usize) -> usize {
        let len = 1 + self.below(16);
        self.out.len().min(at + len)
    }

    fn put_in(&mut self, piece: &[u8]) {
        let at = self.below(self.out.len() + 1);
        self.out.splice(at..at, piece.iter().copied());
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random() % end as u64) as usize
    }

    /// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
    /// generators", OOPSLA 2014.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.state;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }
}
