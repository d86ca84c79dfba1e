use super::eliminate::System;
use super::order::Order;

/// Memory of one encoding or decoding.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(super) order: Order,
    pub(super) system: System,
}
