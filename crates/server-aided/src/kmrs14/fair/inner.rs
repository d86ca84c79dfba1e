//! The labels that the second layer is made of.

use crate::kmrs14::spec::Spec;
use vesica_labels::Format;

/// How the inner labels F_K1(S_i) of `party` are written. Both parties truncate them to the same
/// length: [`inner_bits`].
pub(in crate::kmrs14) fn inner_format(spec: &Spec, formats: &[Format], party: usize) -> Format {
    let most = formats[party].list_capacity().saturating_sub(2 * u64::from(spec.dummies));
    let items = (most / u64::from(spec.copies)).max(1);
    Format::new(items.next_power_of_two().ilog2(), inner_bits(formats))
}

/// Bits of an inner label, the same at all parties.
pub(super) fn inner_bits(formats: &[Format]) -> u32 {
    formats.iter().map(Format::label_bits).min().unwrap_or(0)
}

/// The first `bits` bits of a label.
pub(super) fn truncated(label: u128, bits: u32) -> u128 {
    label & (u128::MAX << (128 - bits))
}
