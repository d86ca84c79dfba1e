//! The parties of a two-party run, and this party's position.

use crate::terms::own_position;
use crate::{Error, Phase};
use rand::TryRng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_agreement::Agreement;
use vesica_core::Role;
use vesica_link::Identity;
use vesica_net::{Connection, Context, Meter, Pool, Streams};

/// The two parties, from the agreement and the key file.
pub(crate) struct Participants {
    pub(crate) party: String,
    pub(crate) peer: String,
    /// The role of this party, unless the set sizes exchange the roles.
    pub(crate) seat: Role,
}

impl Participants {
    pub(crate) fn find(agreement: &Agreement, identity: &Identity) -> Result<Self, Error> {
        Ok(Self::of(agreement, own_position(agreement, identity)?))
    }

    /// The parties of `agreement`, with the one at `position` as this party.
    pub(crate) fn of(agreement: &Agreement, position: usize) -> Self {
        let party = agreement.parties[position].name.clone();
        let peer = agreement.peer_of(&party).name.clone();
        let seat = agreement.role_of(&party);
        Self { peer, seat, party }
    }
}

/// The context of the party in `role` over `session`, for `threads` CPU threads. Its bytes and
/// times count in `meter`; `peer_name` names the other party in errors.
///
/// # Errors
/// The system has no threads or no random numbers, or `role` has no other side.
pub fn context(
    session: &Arc<dyn Connection>,
    role: Role,
    peer_name: &str,
    threads: NonZeroUsize,
    meter: &Meter,
) -> Result<Context, Error> {
    let peer = role.other().ok_or(Error::Bug("a party of two has no peer"))?;
    let seed = match session.seed() {
        Some(seed) => seed,
        None => {
            let mut seed = [0; 32];
            rand::rngs::SysRng
                .try_fill_bytes(&mut seed)
                .map_err(|_| Error::Bug("the system has no random numbers"))?;
            seed
        }
    };
    Pool::new(threads)
        .and_then(|pool| {
            let streams: Arc<dyn Streams> = Arc::clone(session) as _;
            Context::new(vec![(peer, streams)], seed, pool, meter.clone())
        })
        .map_err(|error| Error::from_run(error, Phase::Connecting, peer_name))
}
