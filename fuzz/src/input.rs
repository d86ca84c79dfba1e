//! Bytes as a source of choices.

/// The rest of an input. At its end every choice is zero, so that any bytes are a valid input.
pub(crate) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(crate) fn u128(&mut self) -> u128 {
        u128::from_le_bytes(self.array())
    }

    pub(crate) fn array<const LEN: usize>(&mut self) -> [u8; LEN] {
        let mut out = [0; LEN];
        let now = self.bytes(LEN);
        out[..now.len()].copy_from_slice(now);
        out
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end <= 256 { usize::from(self.byte()) % end } else { self.u32() as usize % end }
    }

    /// One of `all`, which is not empty.
    pub(crate) fn one_of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        &all[self.below(all.len())]
    }

    /// The next bytes, `len` of them at most.
    pub(crate) fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (now, later) = self.rest.split_at(self.rest.len().min(len));
        self.rest = later;
        now
    }

    /// The rest of the input.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next bytes, after their length.
    pub(crate) fn piece(&mut self) -> &'a [u8] {
        let len = usize::from(self.u16());
        self.bytes(len)
    }

    /// Damages `bytes` in one place: changes a byte, removes some, or inserts some.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        let op = self.byte();
        let at = self.u16() as usize % (bytes.len() + 1);
        match op % 8 {
            0..=2 => match bytes.get_mut(at) {
                Some(byte) => *byte ^= self.byte().max(1),
                None => bytes.push(self.byte()),
            },
            3 => match bytes.get_mut(at) {
                Some(byte) => *byte = self.byte(),
                None => bytes.push(self.byte()),
            },
            4 => bytes.truncate(at),
            5 => {
                let end = (at + 1 + usize::from(self.byte())).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            6 => {
                let len = usize::from(self.byte());
                let piece = self.bytes(len).to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let piece = self.array::<16>();
                let len = piece.len().min(bytes.len() - at);
                bytes[at..at + len].copy_from_slice(&piece[..len]);
            }
        }
    }
}
