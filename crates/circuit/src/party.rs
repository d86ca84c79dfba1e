//! A party of a two-party computation: inputs and results.

use crate::gadgets::equal;
use crate::{Gates, Lanes, word};
use vesica_core::{Error, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;

/// Bytes of a public number of the sender.
pub(crate) const NUMBER_LEN: usize = 4;

/// One of two parties that evaluate a circuit together.
///
/// The **sender** of a protocol is the *generator*: it garbles the circuit, and
/// [`Gates::and_known`] takes its bits. The **receiver** evaluates.
pub trait Computation: Gates {
    /// This party's role.
    fn role(&self) -> Role;

    /// Wires for private bits of the party in role `of`: `width` wires of `len` lanes each. That
    /// party passes its words, bit by bit; the other party passes `None`.
    ///
    /// # Errors
    /// Connection errors; [`vesica_core::Error::Bug`] if the bits are missing or not `width` times
    /// `len`.
    fn input(
        &mut self,
        of: Role,
        bits: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<Self::Wires>>;

    /// Reveals the values of `wires`, wire by wire, to the parties `to`. Returns `None` at the
    /// other party.
    ///
    /// # Errors
    /// Connection errors.
    fn reveal(&mut self, wires: &[Self::Wires], to: Reveal) -> Result<Option<Vec<Bits>>>;

    /// Reveals the values of `wires` to both parties. In a garbled circuit the evaluator proves
    /// them with labels: it cannot claim a different value unless it knows Δ, which it can learn by
    /// deviating in the OTs. On shares nothing is checked.
    ///
    /// Inputs are not checked: a party can enter an item twice or fill more places than it should,
    /// and so shift a count. Bounds on a count hold between parties that follow the protocol.
    ///
    /// For few lanes: each costs a label.
    ///
    /// # Errors
    /// Connection errors; [`vesica_core::Misbehaviour::InvalidValue`].
    fn reveal_checked(&mut self, wires: &[Self::Wires]) -> Result<Vec<Bits>>;

    /// Sends public bits from the receiver to the sender, which reads them with
    /// [`receive_public`](Computation::receive_public).
    ///
    /// # Errors
    /// Connection errors.
    fn send_public(&mut self, bits: &Bits) -> Result<()> {
        match self.context() {
            Some(ctx) => ctx.peer()?.send(&bits.to_bytes()),
            None => Ok(()),
        }
    }

    /// The next `len` bits that the receiver sent with [`send_public`](Computation::send_public).
    ///
    /// # Errors
    /// Connection errors.
    fn receive_public(&mut self, len: usize) -> Result<Bits> {
        match self.context() {
            Some(ctx) => Ok(Bits::from_bytes(&ctx.peer()?.recv(Bits::bytes_len(len))?, len)),
            None => Ok((0..len).map(|_| false).collect()),
        }
    }

    /// Sends a public number from the sender to the receiver, which reads it with
    /// [`receive_number`](Computation::receive_number).
    ///
    /// # Errors
    /// Connection errors.
    fn send_number(&mut self, number: u32) -> Result<()> {
        match self.context() {
            Some(ctx) => ctx.peer()?.send(&number.to_le_bytes()),
            None => Ok(()),
        }
    }

    /// The next number that the sender sent with [`send_number`](Computation::send_number); 0 if
    /// there is no peer.
    ///
    /// # Errors
    /// Connection errors.
    fn receive_number(&mut self) -> Result<u32> {
        let mut bytes = [0; NUMBER_LEN];
        if let Some(ctx) = self.context() {
            ctx.peer()?.recv_into(&mut bytes)?;
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// The context, for progress; `None` if there is no peer.
    fn context(&mut self) -> Option<&mut Context> {
        None
    }

    /// Compares one value of the receiver with several values of the sender in each of many bins.
    ///
    /// Calls `each` for consecutive groups of bins, with the number of the first bin and a wire
    /// with one lane per slot, bin after bin. A lane is set if the slot's value equals the
    /// receiver's. Empty slots never match.
    ///
    /// `none` fills empty slots: no candidate and no value of the receiver may equal it.
    ///
    /// # Errors
    /// Errors of the connection and of `each`; [`Error::Bug`] if a party passes the other party's
    /// input.
    fn equal_in_bins(
        &mut self,
        bins: &Bins,
        mine: Option<InBins<'_>>,
        none: u128,
        each: EachBins<'_, Self>,
    ) -> Result<()> {
        self.equal_in_bins_by_gates(bins, mine, none, each)
    }

    /// The same by equality circuits, width − 1 gates for each slot, where
    /// [`equal_in_bins`](Self::equal_in_bins) has something cheaper: as the papers count.
    ///
    /// # Errors
    /// Those of [`equal_in_bins`](Self::equal_in_bins).
    fn equal_in_bins_by_gates(
        &mut self,
        bins: &Bins,
        mine: Option<InBins<'_>>,
        none: u128,
        each: EachBins<'_, Self>,
    ) -> Result<()> {
        equal_in_bins_by_gates(self, bins, mine, none, each)
    }
}

/// Receives the results of a group of bins: the number of the first bin, and the lanes of all its
/// slots.
pub type EachBins<'a, C> = &'a mut dyn FnMut(&mut C, usize, <C as Gates>::Wires) -> Result<()>;

/// The size of a comparison in bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bins {
    /// β, the number of bins.
    pub count: usize,
    /// Slots per bin, for the sender's values; at most [`Bins::MAX_SLOTS`].
    pub slots: usize,
    /// Length of a value in bits, at most 128.
    pub width: usize,
}

impl Bins {
    /// Maximum slots per bin.
    pub const MAX_SLOTS: usize = 128;
}

/// A party's input to a comparison in bins.
#[derive(Clone, Copy)]
pub enum InBins<'a> {
    /// The sender: appends the values of bin i, at most as many as there are slots.
    Candidates(&'a dyn Fn(usize, &mut Vec<u128>)),
    /// The receiver: the value of each bin.
    Values(&'a [u128]),
}

/// Comparison in bins by equality circuits, width − 1 gates per slot.
pub(crate) fn equal_in_bins_by_gates<C: Computation>(
    c: &mut C,
    bins: &Bins,
    mine: Option<InBins<'_>>,
    none: u128,
    each: EachBins<'_, C>,
) -> Result<()> {
    let role = c.role();
    let values = match (role, mine) {
        (Role::Receiver, Some(InBins::Values(values))) if values.len() == bins.count => {
            Some(word::bits_of(values.iter().copied(), bins.width))
        }
        (Role::Sender, Some(InBins::Candidates(_))) | (Role::Helper, None) => None,
        _ => return Err(Error::Bug("values of bins at the wrong party or of the wrong number")),
    };
    // All values in one input, so that no part waits for the receiver's bits.
    let values = c.input(Role::Receiver, values.as_deref(), bins.width, bins.count)?;
    let at_once = (c.lanes_at_once() / bins.slots.max(1)).max(1);
    let mut candidates = Vec::new();
    for first in (0..bins.count).step_by(at_once) {
        let count = at_once.min(bins.count - first);
        let len = count * bins.slots;
        let own = match mine {
            Some(InBins::Candidates(of)) => {
                candidates.clear();
                for bin in first..first + count {
                    let full = candidates.len() + bins.slots;
                    of(bin, &mut candidates);
                    if candidates.len() > full {
                        return Err(Error::Bug("a bin has more candidates than slots"));
                    }
                    candidates.resize(full, none);
                }
                Some(word::bits_of(candidates.iter().copied(), bins.width))
            }
            _ => None,
        };
        let candidates = c.input(Role::Sender, own.as_deref(), bins.width, len)?;
        let values = if c.only_counts() {
            vec![c.constant(false, len); bins.width]
        } else {
            let bin_of_slot: Vec<u32> = (0..len).map(|i| (i / bins.slots) as u32).collect();
            let of_slots = |wires: &C::Wires| wires.slice(first, count).gather(&bin_of_slot);
            values.iter().map(of_slots).collect()
        };
        let is_equal = equal(c, &candidates, &values)?;
        each(c, first, is_equal)?;
        if let Some(ctx) = c.context() {
            ctx.progress((first + count) as u64, bins.count as u64);
        }
    }
    Ok(())
}

/// The parties that learn a result.
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
    /// Whether the party in `role` learns the result.
    pub fn includes(self, role: Role) -> bool {
        match self {
            Reveal::Receiver => role == Role::Receiver,
            Reveal::Sender => role == Role::Sender,
            Reveal::Both => true,
        }
    }
}
