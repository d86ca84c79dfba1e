//! What both parties compute from the public sizes: table, representation of items, masks.

use vesica_core::elias_fano::Shape as TagShape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Item, ParameterError, PsiParams, Result, SessionId};
use vesica_hashing::{Locations, ShortItems, Simple, Table, max_load};
use vesica_oprf::characters::Shape;
use vesica_party::{check_item_bits, check_set_len};

/// What both parties derive from the public sizes.
pub(super) struct Plan {
    pub(super) table: Table,
    pub(super) items: ShortItems,
    /// max_β.
    pub(super) places: usize,
    pub(super) n_x: usize,
    n_y: usize,
}

impl Plan {
    pub(super) fn new(params: &PsiParams) -> Self {
        let (n_x, n_y) = (params.sender_len(), params.receiver_len());
        let table = Table::phasing_two_way(n_y);
        let places = max_load(table.functions() * n_x, table.bins(), params.runs());
        Self { table, items: ShortItems::new(params), places, n_x, n_y }
    }

    /// Masks of the sender: h + s for each of its items.
    pub(super) fn masks(&self) -> u64 {
        (self.table.functions() + self.table.stash()) as u64 * self.n_x as u64
    }

    /// Masks of the receiver, which it compares with them.
    pub(super) fn own_masks(&self) -> u64 {
        self.n_y as u64 * self.places as u64 + self.table.stash() as u64 * self.n_x as u64
    }

    /// Values in bins and in the stash: whole items.
    pub(super) fn shape(&self) -> Shape {
        let bits =
            STATISTICAL_SECURITY_BITS + ceil_log2(self.masks()) + ceil_log2(self.own_masks());
        Shape::new(self.items.bits(), bits)
    }

    pub(super) fn tags(&self) -> TagShape {
        TagShape::new(self.masks(), self.shape().output_bits())
    }

    pub(super) fn locations(&self, session: &SessionId) -> Locations {
        Locations::of_digests(self.table, session)
    }

    /// Rows of the extensions, one after the other: groups of bins, then the stash.
    pub(super) fn extensions(&self) -> impl Iterator<Item = usize> {
        let (bins, rows) = (self.table.bins(), self.shape().rows());
        let firsts = (0..bins).step_by(Simple::GROUP_BINS);
        let of_group = move |first: usize| (bins - first).min(Simple::GROUP_BINS) * rows;
        firsts.map(of_group).chain([self.table.stash() * rows])
    }
}

/// Refuses what [`check_set_len`] and [`check_item_bits`] do, and sets whose masks cannot be
/// numbered with 32 bits.
pub(super) fn check(params: &PsiParams, len: usize, items: &[Item]) -> Result<()> {
    check_set_len(len, items.len())?;
    check_item_bits(params, items)?;
    let table = Table::phasing_two_way(params.receiver_len());
    let limits = [
        (params.sender_len(), u32::MAX as usize / (table.functions() + table.stash())),
        (params.receiver_len(), 1 << 30),
    ];
    for (len, max) in limits {
        if len > max {
            return Err(ParameterError::SetTooLarge { len: len as u64, max: max as u64 }.into());
        }
    }
    Ok(())
}
