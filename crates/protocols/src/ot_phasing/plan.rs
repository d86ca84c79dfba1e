//! What both parties compute alike from the public sizes: table, representation, tags, bytes.

use crate::catalogue::Traffic;
use crate::party::{check_item_bits, check_set_len};
use vesica_core::elias_fano::Shape as TagShape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Item, ParameterError, PsiParams, Result, SessionId};
use vesica_hashing::{Locations, MAX_FUNCTIONS, ShortItems, Simple, Table};
use vesica_oprf::characters::Shape;
use vesica_ot::coded::kk13;

/// How many bins, functions and stash places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No stash: three functions, or two where that takes fewer bytes in all.
    Stashless,
    /// Three functions, 1.2·n_y bins and the stash of Table 4, as in the paper's experiments.
    Paper,
}

/// The public shape of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) table: Table,
    pub(super) items: ShortItems,
    n_x: usize,
    n_y: usize,
}

impl Plan {
    pub(super) fn new(mode: Mode, params: &PsiParams) -> Self {
        let (n_x, n_y) = (params.sender_len(), params.receiver_len());
        let items = ShortItems::new(params);
        let with = |table| Self { table, items, n_x, n_y };
        match mode {
            Mode::Paper => with(Table::phasing_three_way(n_y)),
            Mode::Stashless => {
                let [three, two] = [Table::stashless(n_y), Table::two_way(n_y)].map(with);
                if two.total_bytes() < three.total_bytes() { two } else { three }
            }
        }
    }

    /// The bins of items in `session`.
    pub(super) fn locations(&self, session: &SessionId) -> Locations {
        Locations::permuted(self.table, session, self.items.bits())
    }

    /// Values in bins: remainder and index of the function.
    pub(super) fn bin_shape(&self) -> Shape {
        let value_bits = Locations::permuted_value_bits(&self.table, self.items.bits());
        Shape::new(value_bits, self.tag_bits())
    }

    /// Values in the stash: whole items.
    pub(super) fn stash_shape(&self) -> Shape {
        Shape::new(self.items.bits(), self.tag_bits())
    }

    /// Masks the sender makes: h + s for each item.
    pub(super) fn masks(&self) -> u64 {
        (self.table.functions() + self.table.stash()) as u64 * self.n_x as u64
    }

    /// A mask of the sender equals another one of the receiver's with probability at most 2^-40 over
    /// all pairs.
    fn tag_bits(&self) -> u32 {
        STATISTICAL_SECURITY_BITS + ceil_log2(self.masks()) + ceil_log2(self.n_y as u64)
    }

    pub(super) fn tags(&self) -> TagShape {
        TagShape::new(self.masks(), self.tag_bits())
    }

    /// Rows of the extensions, one after the other: groups of bins, then the stash.
    pub(super) fn extensions(&self) -> impl Iterator<Item = usize> {
        let groups = self.table.bins().div_ceil(Simple::GROUP_BINS);
        let (bins, rows) = (self.table.bins(), self.bin_shape().rows());
        let of_group =
            move |group: usize| (bins - group * Simple::GROUP_BINS).min(Simple::GROUP_BINS) * rows;
        (0..groups).map(of_group).chain([self.table.stash() * self.stash_shape().rows()])
    }

    pub(super) fn traffic(&self) -> Traffic {
        let transfers = self
            .extensions()
            .map(kk13::extend_bytes)
            .fold(kk13::setup_bytes(), |sum, extension| sum + extension);
        Traffic {
            sender_to_receiver: transfers.sender_to_receiver + self.tags().bytes(),
            receiver_to_sender: transfers.receiver_to_sender,
        }
    }

    fn total_bytes(&self) -> u64 {
        self.traffic().total()
    }
}

/// Refuses a set of another size than `len`, items that are longer than the parameters say, and sets
/// with which bins or the sender's masks could not be numbered with 32 bits.
pub(super) fn check(mode: Mode, params: &PsiParams, len: usize, items: &[Item]) -> Result<()> {
    check_set_len(len, items.len())?;
    check_item_bits(params, items)?;
    let masks = match mode {
        Mode::Stashless => MAX_FUNCTIONS,
        Mode::Paper => MAX_FUNCTIONS + Table::stash_len(params.receiver_len()),
    };
    let limits = [
        (params.sender_len() as u64, (1 << 32) / masks as u64),
        (params.receiver_len() as u64, 1 << 31),
    ];
    for (len, max) in limits {
        if len > max {
            return Err(ParameterError::SetTooLarge { len, max }.into());
        }
    }
    Ok(())
}
