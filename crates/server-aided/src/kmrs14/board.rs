//! How a party reaches the slots.

use super::slot::{Kind, Slot};
use vesica_core::Result;

/// A slot that a party wants, and how long its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The slot.
    pub slot: Slot,
    /// The most bytes it may have; more are refused.
    pub max_len: usize,
    /// About how many bytes it has if every party follows the protocol. From this a board chooses
    /// how many slots it asks for ahead.
    pub expected_len: usize,
}

impl Wanted {
    /// A slot of at most `max_len` bytes that has about that many.
    pub fn new(slot: Slot, max_len: usize) -> Self {
        Self { slot, max_len, expected_len: max_len }
    }
}

/// A party's access to the board of one run, over a network or in memory.
///
/// What a party puts stays there: the party may reconnect or restart, and then continue.
pub trait Board: Send {
    /// Puts `body` into a slot of this party. Putting the same again has no effect. May return
    /// before the slot is filled; [`sync`](Board::sync) waits.
    ///
    /// # Errors
    /// [`vesica_core::Error::Refused`], also for an earlier put; [`vesica_core::Error::Transport`].
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()>;

    /// Waits until all bytes put so far are stored.
    ///
    /// # Errors
    /// As [`put`](Board::put).
    fn sync(&mut self) -> Result<()>;

    /// Waits until `slot` is filled and returns its bytes, at most `max_len`.
    ///
    /// # Errors
    /// As [`put`](Board::put); [`vesica_core::Misbehaviour::WrongMessageLen`] if there are more.
    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>>;

    /// Gets `wanted`, and calls `take` with the number and the bytes of each, in order. If the
    /// board is far away, all of them together cost one round trip; they are some megabytes.
    ///
    /// # Errors
    /// As [`get`](Board::get), and those of `take`.
    fn get_each(
        &mut self,
        wanted: &[Wanted],
        take: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        for (number, wanted) in wanted.iter().enumerate() {
            take(number, self.get(wanted.slot, wanted.max_len)?)?;
        }
        Ok(())
    }

    /// Which of the first `parts` parts of `kind` of this party are filled; does not wait.
    ///
    /// # Errors
    /// As [`put`](Board::put).
    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>>;
}

/// Opens boards of one run, for several threads.
pub trait Boards: Sync {
    /// How many boards are useful at once to put `bytes`.
    fn lanes(&self, bytes: u64) -> usize;

    /// Whether this party had put nothing on the board before these boards were made. Then it need
    /// not ask which parts of its lists are there. False if this is not known.
    fn is_new(&self) -> bool {
        false
    }

    /// Opens another access to the board.
    ///
    /// # Errors
    /// As [`Board::put`].
    fn open(&self) -> Result<Box<dyn Board>>;
}
