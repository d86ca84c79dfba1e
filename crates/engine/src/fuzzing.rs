//! Entry points for fuzzers: plain functions over bytes, or over a connection in memory.

use crate::Error;
use crate::answer::Told;
use crate::meeting::{self, Counts, Purpose};
use std::path::Path;
use vesica_agreement::Agreement;
use vesica_agreement::Network;
use vesica_core::Role;
use vesica_net::Context;
use vesica_share_files::{SharesError, SharesFile};

pub use vesica_helper_client::fuzzing::reopen_state;

/// Exchanges with a peer all messages of two parties except the protocol's: hello, sizes, closing.
///
/// # Errors
/// As a run's.
pub fn meet(ctx: &mut Context, agreement: &Agreement) -> Result<(), Error> {
    let [own, peer] = &agreement.parties[..] else { return Err(Error::Bug("not two parties")) };
    meeting::agree(ctx, agreement, Purpose::Run, &peer.name)?;
    let at = |error| Error::from_run(error, crate::Phase::Sizes, &peer.name);
    meeting::exchange_sizes(ctx, own.min_rows, peer, agreement.hide_sizes).map_err(at)?;
    let counts = Counts { sent: 100, received: 200, told: Told::Number(3) };
    let closings = meeting::exchange_closings(ctx, Role::Receiver, &counts).map_err(at)?;
    closings.compare().map_err(|kind| at(kind.into()))
}

/// Measures the network with a peer, as often as possible.
///
/// # Errors
/// Errors of the measurement.
pub fn measure(ctx: &mut Context, role: Role) -> vesica_core::Result<Network> {
    vesica_network_probe::measure(ctx, role, u64::MAX)
}

/// Whether an error of [`meet`] is not a defect of this software.
pub fn is_no_bug(error: &Error) -> bool {
    !matches!(error, Error::Bug(_))
}

/// The shares in the bytes of a file.
///
/// # Errors
/// As [`SharesFile::load`].
pub fn shares(bytes: &[u8]) -> Result<SharesFile, SharesError> {
    SharesFile::parse(bytes, Path::new("shares.json"))
}
