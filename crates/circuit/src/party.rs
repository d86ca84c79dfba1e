//! A party of a two-party computation: how private bits become wires, and wires results.

use crate::gadgets::equal;
use crate::{Gates, Lanes, word};
use vesica_core::{Error, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;

/// One of two parties that evaluate a circuit together.
///
/// The **sender** of a protocol is the *generator*: it garbles, and it is whose bits
/// [`Gates::and_known`] takes. The **receiver** evaluates.
pub trait Computation: Gates + Sized {
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

    /// The values of `wires` at both parties. Where the circuit is garbled the evaluator shows labels for them, and
    /// cannot tell another value than it found as long as it does not have Δ: which it can find, if it deviates in the
    /// transfers before. On shares nothing is checked.
    ///
    /// Nothing is said of the inputs: a party can bring what is no set, an item twice or more places filled than
    /// it should, and so shift a count. Bounds on a count hold between parties that follow the protocol.
    ///
    /// For a few lanes: each costs a label.
    ///
    /// # Errors
    /// Of the connection; [`vesica_core::Misbehaviour::InvalidValue`].
    fn reveal_checked(&mut self, wires: &[Self::Wires]) -> Result<Vec<Bits>>;

    /// Sends public bits from the receiver to the sender, who [`hear`](Computation::hear)s them when it likes.
    ///
    /// # Errors
    /// Of the connection.
    fn tell(&mut self, bits: &Bits) -> Result<()> {
        match self.context() {
            Some(ctx) => ctx.peer()?.send(&bits.to_bytes()),
            None => Ok(()),
        }
    }

    /// The next `len` bits that the receiver [told](Computation::tell).
    ///
    /// # Errors
    /// Of the connection.
    fn hear(&mut self, len: usize) -> Result<Bits> {
        match self.context() {
            Some(ctx) => Ok(Bits::from_bytes(&ctx.peer()?.recv(Bits::bytes_len(len))?, len)),
            None => Ok((0..len).map(|_| false).collect()),
        }
    }

    /// The context, for progress; none where nobody is talked to.
    fn context(&mut self) -> Option<&mut Context> {
        None
    }

    /// Compares one value of the receiver with some of the sender's in each of many bins: calls `each` with the
    /// number of the first bin and, bin after bin, a lane for each slot that says whether its value is the
    /// receiver's, until all bins are done. Slots without a candidate never match.
    ///
    /// `none` is a value that no candidate has and no bin of the receiver's: it fills empty slots.
    ///
    /// # Errors
    /// Of the connection and of `each`; [`Error::Bug`] where a party brings the other one's part.
    fn equal_in_bins(
        &mut self,
        bins: &Bins,
        mine: Option<InBins<'_>>,
        none: u128,
        each: EachBins<'_, Self>,
    ) -> Result<()> {
        equal_in_bins_by_gates(self, bins, mine, none, each)
    }
}

/// Takes some bins of a comparison: the number of the first, and their lanes.
pub type EachBins<'a, C> = &'a mut dyn FnMut(&mut C, usize, <C as Gates>::Wires) -> Result<()>;

/// The shape of a comparison in bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bins {
    /// β, the number of bins.
    pub count: usize,
    /// Slots of each bin, the sender's values; at most [`Bins::MAX_SLOTS`].
    pub slots: usize,
    /// Length of a value in bits, at most 128.
    pub width: usize,
}

impl Bins {
    /// Most slots of a bin.
    pub const MAX_SLOTS: usize = 128;
}

/// What a party brings to a comparison in bins.
#[derive(Clone, Copy)]
pub enum InBins<'a> {
    /// The sender: appends the values of bin i, at most as many as there are slots.
    Candidates(&'a dyn Fn(usize, &mut Vec<u128>)),
    /// The receiver: the value of each bin.
    Values(&'a [u128]),
}

/// Comparison in bins by equality circuits, width − 1 gates a slot.
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
        _ => return Err(Error::Bug("the values of bins are not where they belong")),
    };
    // All at once, so that nobody waits for the receiver's bits of each part.
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
