//! Random blocks of an extension.

use rand::Rng;
use vesica_core::{Block, Result};
use vesica_net::Context;

/// A uniformly random block.
pub(super) fn draw(ctx: &mut Context) -> Block {
    let mut block = [0; Block::LEN];
    ctx.rng().fill_bytes(&mut block);
    Block::from_le_bytes(block)
}

/// A uniformly random block, which is sent to the peer.
pub(super) fn draw_and_send(ctx: &mut Context) -> Result<Block> {
    let block = draw(ctx);
    ctx.peer()?.send(&block.to_le_bytes())?;
    Ok(block)
}

/// A block that the peer drew.
pub(super) fn receive(ctx: &mut Context) -> Result<Block> {
    let mut block = [0; Block::LEN];
    ctx.peer()?.recv_into(&mut block)?;
    Ok(Block::from_le_bytes(block))
}
