//! The functionality of the extensions: correlated oblivious transfer with random choices.
//!
//! | | |
//! |---|---|
//! | sender holds | Δ, and a random block K_i per transfer |
//! | receiver holds | a random bit r_i and M_i = K_i + r_i·Δ per transfer |

use crate::Bits;
use vesica_core::{Block, Result, Secret};
use vesica_net::Context;
use zeroize::Zeroize;

/// A receiver's correlated transfers.
#[derive(Clone, Debug, Default)]
pub struct Cots {
    /// r_i, the random choices.
    pub choices: Bits,
    /// M_i = K_i + r_i·Δ.
    pub blocks: Vec<Block>,
}

impl Drop for Cots {
    fn drop(&mut self) {
        self.blocks.zeroize();
    }
}

/// The party that holds Δ.
pub trait CotSender {
    /// Δ, the same for all transfers of this sender, in a wrapper that wipes it.
    fn delta(&self) -> Secret<Block>;

    /// K_i of `len` new transfers, after all checks.
    ///
    /// # Errors
    /// Connection errors, or the peer's misbehaviour.
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<Block>>;
}

/// The party that holds the choices.
pub trait CotReceiver {
    /// r_i and M_i of `len` new transfers, after all checks.
    ///
    /// # Errors
    /// Connection errors, or the peer's misbehaviour.
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Cots>;
}

impl<C: CotSender + ?Sized> CotSender for &mut C {
    fn delta(&self) -> Secret<Block> {
        (**self).delta()
    }

    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<Block>> {
        (**self).extend(ctx, len)
    }
}

impl<C: CotReceiver + ?Sized> CotReceiver for &mut C {
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Cots> {
        (**self).extend(ctx, len)
    }
}
