//! What all protocols share: a party, what the catalogue says of its protocol, and the last steps of a run.
//!
//! * [`Party`] — one party of one protocol run; [`Input`] — what it brings, [`Output`] — what it learned.
//! * [`of_set`] — a party of a protocol that takes a set alone, from its program.
//! * [`Protocol`] — the row of a protocol of two parties, with the types of its fields.
//! * [`Fact`] — what a party learns, and when.
//! * [`assumptions`] — what protocols rest on, in the words of the catalogue.
//! * [`sorted_tags`] — the sender's tags, sorted and coded, compared with the receiver's.
//! * [`answer`] — the last step of an intersection: the receiver tells the sender what is common.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod answer;
pub mod assumptions;
mod learned;
mod party;
mod protocol;
pub mod sorted_tags;

pub use learned::{Condition, Fact};
pub use party::{
    Ids, Input, Output, Party, Shares, check_distinct, check_item_bits, check_set_len, of_set,
};
pub use protocol::{
    BoundsKept, Compared, MakeParty, Parameter, Protocol, Security, Traffic, UsableSetLen,
};
pub use vesica_core::{Operation, Query};
