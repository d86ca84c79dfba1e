//! Which labels a party's list has: copies of its items, and dummies.

use super::spec::Spec;
use std::io;
use vesica_core::hash::derive;
use vesica_core::{Item, Secret};
use vesica_labels::{Format, Label, LabelKey};

const OUTER_LABEL: &str = "vesica kmrs14 2026 outer secret v1";
const COPY: &str = "copy of an item";
const COMMON_DUMMY: &str = "dummy of all parties";
const OWN_DUMMY: &str = "dummy of one party";
const INNER: &str = "inner label";
const RELABELLED: &str = "label of a label";

/// Dummies labelled at once.
const BATCH: u32 = 1 << 10;

/// Which of the two kinds a dummy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dummy {
    /// Of D_0, which all parties send.
    Common,
    /// Of D_i, which party i alone sends.
    Own,
}

/// The labels F_K(S^c + D_0 + D_i) of one party: a key for each of the c copies, and for each set of dummies. So
/// dummies are outside the range of items, as Figure 2 asks.
pub(super) struct Outer {
    copies: Vec<LabelKey>,
    common: LabelKey,
    own: LabelKey,
    dummies: u32,
}

impl Outer {
    pub(super) fn new(secret: &[u8; 32], spec: &Spec, party: u8) -> Self {
        Self {
            copies: (0..spec.copies).map(|copy| LabelKey::derive(secret, COPY, copy)).collect(),
            common: LabelKey::derive(secret, COMMON_DUMMY, 0),
            own: LabelKey::derive(secret, OWN_DUMMY, u32::from(party)),
            dummies: spec.dummies,
        }
    }

    /// The labels of a list that nothing hides: to compare with.
    pub(super) fn in_clear(spec: &Spec, party: u8) -> Self {
        Self {
            copies: vec![LabelKey::identity(); spec.copies as usize],
            ..Self::new(&[0; 32], spec, party)
        }
    }

    /// Calls `take` with each label of each of the inner labels `values`, and its place among them: F(v) ⊕ v, of which v
    /// cannot be found even with the key. Whoever could, would find inner labels whose outer ones are another party's.
    pub(super) fn of_values(
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

    /// Calls `take` with each label of each of `items`, and its place among them.
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

    /// Calls `take` with the label of each dummy.
    pub(super) fn of_dummies(
        &self,
        mut take: impl FnMut(Label, Dummy) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        for first in (0..self.dummies).step_by(BATCH as usize) {
            let end = self.dummies.min(first + BATCH);
            let values: Vec<u128> = (first..end).map(u128::from).collect();
            for (key, kind) in [(&self.common, Dummy::Common), (&self.own, Dummy::Own)] {
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

/// The inner labels F_K1(S) of the fair protocol, which the helper is shown, and the secret of the outer ones.
pub(super) struct Inner {
    pub(super) key: LabelKey,
    pub(super) outer_secret: Secret<[u8; 32]>,
}

impl Inner {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        let outer_secret = Secret::new(derive(OUTER_LABEL, &[secret]));
        Self { key: LabelKey::derive(secret, INNER, 0), outer_secret }
    }
}

/// How the inner labels of `party` are written. Both parties cut them to the same length: [`inner_bits`].
pub(super) fn inner_format(spec: &Spec, formats: &[Format], party: usize) -> Format {
    let most = formats[party].list_capacity().saturating_sub(2 * u64::from(spec.dummies));
    let items = (most / u64::from(spec.copies)).max(1);
    Format::new(items.next_power_of_two().ilog2(), inner_bits(formats))
}

/// Bits of an inner label, the same at all parties.
pub(super) fn inner_bits(formats: &[Format]) -> u32 {
    formats.iter().map(Format::label_bits).min().unwrap_or(0)
}

/// F_K2 of the size-hiding protocol, from labels to labels.
pub(super) fn relabelling_key(secret: &[u8; 32]) -> LabelKey {
    LabelKey::derive(secret, RELABELLED, 0)
}
