//! What the tables of parameters hold.

/// The slots of a cluster as a linear function of its average number of keys.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// In units of 2^-24.
    pub(super) slope: u32,
    pub(super) offset: u32,
}
