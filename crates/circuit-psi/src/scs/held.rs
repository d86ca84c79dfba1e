//! What a party holds during the protocol.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use vesica_core::{Item, PsiParams, Role};
use vesica_hashing::ShortItems;
use vesica_modular::paillier::shuffle::Share;
use vesica_switching::{Permutation, Routing};

/// The protocol with one way to shuffle.
pub(super) struct Scs<S> {
    pub(super) params: PsiParams,
    pub(super) items: ShortItems,
    pub(super) own: Option<Own>,
    pub(super) shuffle: PhantomData<fn() -> S>,
}

impl<S> Scs<S> {
    /// Windows of the filter.
    pub(super) fn windows(&self) -> usize {
        (self.params.sender_len() + self.params.receiver_len()) / 2
    }

    /// Windows that are shuffled.
    pub(super) fn rows(&self) -> usize {
        match self.params.sender_len().min(self.params.receiver_len()) {
            1 => 1,
            _ => self.windows(),
        }
    }
}

/// A party's private input, and its random choices for the shuffle.
pub(super) struct Own {
    pub(super) role: Role,
    /// In the party's order.
    pub(super) items: Arc<Vec<Item>>,
    /// As they are compared, sorted; the sender's fall.
    pub(super) sorted: Vec<Item>,
    /// The positions of the sorted items.
    pub(super) order: Vec<u32>,
    pub(super) values: Option<Vec<u64>>,
    pub(super) secret: Secrets,
}

/// A party's random choices for the shuffle.
pub(super) enum Secrets {
    /// Nothing.
    None,
    /// The sender's network.
    Routing(Routing),
    /// The receiver's masks, a list for each window.
    Masks(Vec<Share>),
    /// The sender's permutation, and the masked items once they are known.
    Masked(Permutation, Mutex<Vec<Share>>),
}
