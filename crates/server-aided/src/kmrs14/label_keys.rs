//! F, and the labels of a party's list: those of the copies of its items, and of its dummies.

use super::spec::Spec;
use std::io;
use vesica_core::Item;
use vesica_labels::{Label, LabelKey};

const COPY: &str = "copy of an item";
const COMMON_DUMMY: &str = "dummy of all parties";
const OWN_DUMMY: &str = "dummy of one party";

/// Dummies labelled at once.
const BATCH: u32 = 1 << 10;

/// Which of the two kinds a dummy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dummy {
    /// Of D_0, which all parties send.
    Common,
    /// Of D_i, which only party i sends.
    Own,
}

/// The keys of F_K(S^c + D_0 + D_i) of one party: one for each of the c copies, one for D_0 and one
/// for D_i. So dummies are outside the range of items, as Figure 2 requires.
pub(super) struct LabelKeys {
    copies: Vec<LabelKey>,
    d_0: LabelKey,
    d_i: LabelKey,
    dummies: u32,
}

impl LabelKeys {
    /// The keys of `party`, derived from the secret that represents K.
    pub(super) fn new(secret: &[u8; 32], spec: &Spec, party: u8) -> Self {
        Self {
            copies: (0..spec.copies).map(|copy| LabelKey::derive(secret, COPY, copy)).collect(),
            d_0: LabelKey::derive(secret, COMMON_DUMMY, 0),
            d_i: LabelKey::derive(secret, OWN_DUMMY, u32::from(party)),
            dummies: spec.dummies,
        }
    }

    /// Keys that hide nothing: labels are the items. For comparison only.
    pub(super) fn in_clear(spec: &Spec, party: u8) -> Self {
        Self {
            copies: vec![LabelKey::identity(); spec.copies as usize],
            ..Self::new(&[0; 32], spec, party)
        }
    }

    /// F(S^c): calls `take` with each label of each of `items`, and the item's place in the slice.
    pub(super) fn of_items(
        &self,
        items: &[Item],
        mut take: impl FnMut(Label, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        for key in &self.copies {
            key.of_items(items, |at, label| {
                if result.is_ok() {
                    result = take(label, at);
                }
            });
        }
        result
    }

    /// F' of inner labels, c copies of each: calls `take` with each label, and the place of its
    /// inner label in `values`. F'(v) is F(v) ⊕ v, which no one can invert even with the key. A
    /// party that could invert it would find inner labels whose outer labels belong to another
    /// party.
    pub(super) fn of_inner_labels(
        &self,
        values: &[u128],
        mut take: impl FnMut(Label, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        for key in &self.copies {
            key.of_values(values, |at, label| {
                if result.is_ok() {
                    result = take(label ^ values[at], at);
                }
            });
        }
        result
    }

    /// F(D_0 + D_i): calls `take` with the label of each dummy.
    pub(super) fn of_dummies(
        &self,
        mut take: impl FnMut(Label, Dummy) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        for first in (0..self.dummies).step_by(BATCH as usize) {
            let end = self.dummies.min(first + BATCH);
            let values: Vec<u128> = (first..end).map(u128::from).collect();
            for (key, kind) in [(&self.d_0, Dummy::Common), (&self.d_i, Dummy::Own)] {
                key.of_values(&values, |_, label| {
                    if result.is_ok() {
                        result = take(label, kind);
                    }
                });
            }
        }
        result
    }
}
