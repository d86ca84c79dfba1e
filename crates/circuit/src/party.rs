//! A party of a two-party computation: how private bits become wires, and wires results.

use crate::Gates;
use vesica_core::{Result, Role};
use vesica_ot::Bits;

/// One of two parties that evaluate a circuit together.
///
/// The **sender** of a protocol is the *generator*: it garbles, and it is whose bits
/// [`Gates::and_known`] takes. The **receiver** evaluates.
pub trait Computation: Gates {
    /// This party's role.
    fn role(&self) -> Role;

    /// Wires of private bits of the party in role `of`: its own list of words, bit by bit, or `None` at the
    /// other party; `width` wires of `len` lanes each.
    ///
    /// # Errors
    /// Of the connection; [`vesica_core::Error::Bug`] when the bits are missing, or others than `width` times `len`.
    fn input(
        &mut self,
        of: Role,
        bits: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<Self::Wires>>;

    /// The values of `wires`, wire by wire, at the parties in the roles `to`, and `None` elsewhere.
    ///
    /// # Errors
    /// Of the connection.
    fn reveal(&mut self, wires: &[Self::Wires], to: Reveal) -> Result<Option<Vec<Bits>>>;

    /// The values of `wires` at both parties, checked where the computation allows it: a party that
    /// evaluates cannot make the other believe another value.
    ///
    /// For a few lanes: each costs a label.
    ///
    /// # Errors
    /// Of the connection; [`vesica_core::Misbehaviour::InvalidValue`].
    fn reveal_checked(&mut self, wires: &[Self::Wires]) -> Result<Vec<Bits>>;
}

/// Who is told a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    /// The receiver alone.
    Receiver,
    /// The sender alone.
    Sender,
    /// Both.
    Both,
}

impl Reveal {
    /// Whether the party in `role` is told.
    pub fn to(self, role: Role) -> bool {
        match self {
            Reveal::Receiver => role == Role::Receiver,
            Reveal::Sender => role == Role::Sender,
            Reveal::Both => true,
        }
    }
}
