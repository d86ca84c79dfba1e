//! A party's knowledge of the order of the entries of its shares.

use crate::KeyRows;
use vesica_protocols::Order;

/// What this party knows of the order of its shares: its output of the permuted characteristic,
/// with its own rows.
///
/// | result | the party whose rows the entries are from, the sender | the other, the receiver |
/// |---|---|---|
/// | shared values | `entry`, `rows`: the own rows of each entry | `entry`, `common`: whether the key of the entry is common |
/// | shares | `place`, `rows`: the own rows at each place of a random order of its keys | `entry`, `place`: the place of each entry in that order |
///
/// So the sender of shared values can join its other columns to the entries. With shares neither
/// party can do this alone: the place of an entry would tell the sender that its key is common. A
/// further computation on shares can, with one part of the order as the input of each party.
///
/// # Leakage
/// None to the party that has it: each part is independent of what that party must not learn. Both
/// parts together say which of the sender's rows have a common key, whether or not the shares are
/// combined, so each party must keep its part secret. Memory is not wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct SharesOrder {
    known: Order,
    own: KeyRows,
    /// Number of own keys: positions from here on are padding.
    keys: usize,
    /// Whether the places are the entries.
    is_of_entries: bool,
}

/// A line of a [`SharesOrder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderLine {
    /// The own rows with the key at this place, ascending, from 0; none for padding, if sizes are
    /// hidden.
    Rows(Vec<u64>),
    /// The number of the entry, from 0.
    Place(u64),
    /// Whether the entry is of a common key.
    Common(bool),
}

impl SharesOrder {
    /// The order that is `known` of shares of `keys` own keys, which have these `own` rows, or of
    /// the other party's. `is_of_entries` says whether places are entries, as with shared values.
    pub fn new(known: Order, own: KeyRows, keys: usize, is_of_entries: bool) -> Self {
        Self { known, own, keys, is_of_entries }
    }

    /// The columns of the table: what is numbered, and what is known of it.
    pub fn columns(&self) -> [&'static str; 2] {
        match &self.known {
            Order::Items(_) if self.is_of_entries => ["entry", "rows"],
            Order::Items(_) => ["place", "rows"],
            Order::Places(_) => ["entry", "place"],
            Order::Common(_) => ["entry", "common"],
        }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        match &self.known {
            Order::Items(items) => items.len(),
            Order::Places(places) => places.len(),
            Order::Common(common) => common.len(),
        }
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lines, ordered by entry or place.
    pub fn lines(&self) -> impl Iterator<Item = OrderLine> + '_ {
        (0..self.len()).map(|at| match &self.known {
            Order::Items(items) if (items[at] as usize) < self.keys => {
                OrderLine::Rows(self.own.rows_of(items[at]).collect())
            }
            Order::Items(_) => OrderLine::Rows(Vec::new()),
            Order::Places(places) => OrderLine::Place(places[at].into()),
            Order::Common(common) => OrderLine::Common(common[at]),
        })
    }
}
