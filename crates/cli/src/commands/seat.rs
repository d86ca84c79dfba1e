//! Which party this side is.

use crate::failure::Failure;
use vesica_engine::agreement::Agreement;
use vesica_engine::{ConfigFault, Error};
use vesica_link::Identity;

/// The party of `identity`, or the one `asked` for where there is no identity.
pub(super) fn party(
    agreement: &Agreement,
    identity: Option<&Identity>,
    asked: Option<&str>,
) -> Result<Option<String>, Failure> {
    let known = || agreement.parties.iter().map(|party| party.name.clone()).collect::<Vec<_>>();
    if let Some(asked) = asked
        && !known().iter().any(|name| name == asked)
    {
        return Err(Failure::NoSuchParty { asked: asked.to_owned(), known: known() });
    }
    let Some(identity) = identity.map(Identity::public) else {
        return Ok(asked.map(str::to_owned));
    };
    let is = agreement
        .party_of(&identity)
        .ok_or(Error::Config(ConfigFault::NotAParty { identity }))?
        .to_owned();
    match asked {
        Some(asked) if asked != is => Err(Failure::OtherParty { asked: asked.to_owned(), is }),
        _ => Ok(Some(is)),
    }
}
