//! A party's question to the helper about a run, which does not begin the run.

use crate::error::ConfigFault;
use crate::{Error, Event, Observer, Phase};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use vesica_agreement::AidedAgreement;
use vesica_helper_client::{Remote, RemoteOptions};

use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions};
use vesica_net::{Meter, Pool};

/// What a helper knows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperSeen {
    /// The names of the parties that have sent their hello.
    pub present: Vec<String>,
    /// The hash of the agreement of another run of the same parties, in which another party is
    /// waiting now.
    pub other_agreement: Option<[u8; 32]>,
}

/// Asks the helper at the address of `link` whether it would admit the party of `identity` to the
/// run of `agreement`, and which parties are present. It does not begin the run.
///
/// # Errors
/// [`ConfigFault::NotAParty`], what the helper refuses, and errors of the connection.
pub fn look(
    agreement: AidedAgreement<'_>,
    identity: Identity,
    link: LinkOptions,
    observer: Arc<dyn Observer>,
    cancel: &CancelToken,
) -> Result<HelperSeen, Error> {
    let public = identity.public();
    agreement.party_of(&public).ok_or_else(|| ConfigFault::not_a_party(&agreement, public))?;
    let names: Vec<&str> = agreement.parties.iter().map(|party| &*party.name).collect();
    let helper = agreement.helper();
    let Endpoint::Connect(address) = link.endpoint.clone() else {
        return Err(Error::Bug("a party waits for its helper"));
    };
    let phase = Phase::Connecting;
    let failed = |error| Error::from_helper(error, phase, &helper.name, &names, Path::new(""));
    observer.event(&Event::Phase(phase));
    let remote = Remote::new(RemoteOptions {
        identity,
        helper: helper.identity,
        address,
        link,
        spec: agreement.spec(),
        lanes: 1,
        instance: None,
        pool: Pool::new(NonZeroUsize::MIN).map_err(failed)?,
        meter: Meter::new(),
        cancel: cancel.clone(),
        on_event: Arc::new(move |event| observer.event(&Event::Helper(&event))),
    });
    let seen = remote.look().map_err(|error| match (error, remote.link_error()) {
        (vesica_core::Error::Transport(_), Some(link)) => Error::from_link(link, &helper.name),
        (error, _) => failed(error),
    })?;
    let present = seen.present.iter().filter_map(|party| names.get(usize::from(*party)));
    Ok(HelperSeen {
        present: present.map(|name| (*name).to_owned()).collect(),
        other_agreement: seen.other_agreement,
    })
}
