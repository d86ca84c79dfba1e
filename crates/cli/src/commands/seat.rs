//! Which party this side is.

use crate::failure::Failure;
use vesica_agreement::Agreement;
use vesica_diagnostics::arguments::ArgumentFault;
use vesica_engine::{ConfigFault, Error};
use vesica_link::Identity;

/// The party with this `identity`; without an identity, the party `asked`.
pub(super) fn party(
    agreement: &Agreement,
    identity: Option<&Identity>,
    asked: Option<&str>,
) -> Result<Option<String>, Failure> {
    let place = place(agreement, identity, asked)?;
    Ok(place.map(|place| agreement.parties[place].name.clone()))
}

fn place(
    agreement: &Agreement,
    identity: Option<&Identity>,
    asked: Option<&str>,
) -> Result<Option<usize>, Failure> {
    let parties = &agreement.parties;
    let named = |name: &str| parties.iter().position(|party| party.name == name);
    if let Some(asked) = asked
        && named(asked).is_none()
    {
        let known = parties.iter().map(|party| party.name.clone()).collect();
        return Err(ArgumentFault::NoSuchParty { asked: asked.to_owned(), known }.into());
    }
    let Some(identity) = identity.map(Identity::public) else {
        return Ok(asked.and_then(named));
    };
    let is = parties
        .iter()
        .position(|party| party.identity == identity)
        .ok_or_else(|| Error::Config(ConfigFault::not_a_party(agreement, identity)))?;
    match asked {
        Some(asked) if asked != parties[is].name => {
            let (asked, is) = (asked.to_owned(), parties[is].name.clone());
            Err(ArgumentFault::OtherParty { asked, is }.into())
        }
        _ => Ok(Some(is)),
    }
}
