//! What all protocols share: a party, the catalogue's description of its protocol, and the last
//! steps of a run.
//!
//! * [`Party`] — one party of one protocol run; [`Input`] — what it enters, [`Output`] — what it
//!   learned.
//! * [`of_set`] — the party of a protocol that takes only a set, made from its program.
//! * [`Protocol`] — the catalogue's row for a protocol of two parties, with the types of its
//!   fields.
//! * [`Steps`] — the steps of a protocol that commits both parties to their sets before it reveals
//!   anything, for runs in partitions.
//! * [`Fact`] — what a party learns, and when.
//! * [`assumptions`] — what protocols rest on, in the words of the catalogue.
//! * [`sorted_tags`] — sends the sender's tags, sorted and coded, and compares them with the
//!   receiver's.
//! * [`payloads`] — sends the sender's payloads, of which the receiver can decrypt those of common
//!   items.
//! * [`answer`] — the last step of an intersection: the receiver tells the sender what is common.
//!
//! A protocol is two programs. The one below hides nothing: the sender sends its set, and the
//! receiver looks up its own items.
//!
//! ```
//! use std::sync::Arc;
//! use vesica_core::{Item, Learns, PsiParams, Role, SessionId};
//! use vesica_party::{Output, of_set};
//!
//! let items = |numbers: [u128; 3]| Arc::new(numbers.map(Item::from_integer).to_vec());
//! let params = PsiParams::new(SessionId::from_bytes([1; 32]), 3, 3, Learns::Receiver)?;
//! let sender = of_set(Role::Sender, params, items([10, 20, 30]).into(), |_, x, ctx| {
//!     x.iter().try_for_each(|x| ctx.peer()?.send(x.as_bytes()))?;
//!     Ok(Output::Nothing)
//! })?;
//! let receiver = of_set(Role::Receiver, params, items([30, 40, 10]).into(), |params, y, ctx| {
//!     let mut common = Vec::new();
//!     for _ in 0..params.sender_len() {
//!         let x = ctx.peer()?.recv(Item::LEN)?;
//!         common.extend(y.iter().position(|y| y.as_bytes()[..] == x[..]));
//!     }
//!     common.sort_unstable();
//!     Ok(Output::Positions(common))
//! })?;
//! let (_, received) = vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx))?;
//! assert_eq!(received, Output::Positions(vec![0, 2]));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod answer;
pub mod assumptions;
mod committed;
mod learned;
mod party;
pub mod payloads;
mod protocol;
pub mod sorted_tags;

pub use committed::{COINS_LEN, Committed, Comparison, Step, Steps};
pub use learned::{Condition, Fact};
pub use party::{
    Addends, Ids, Input, Order, Output, Party, Shares, check_distinct, check_item_bits,
    check_set_len, of_set,
};
pub use protocol::{
    AddendRuns, Auto, BoundsKept, Compared, Learners, MakeOpening, MakeParty, Pairwise, Parameter,
    Partitions, Protocol, Security, Traffic, UsableSetLen,
};
pub use vesica_core::{Operation, Query};
