//! Who this side is, and whom it reaches: the arguments that must go together.

use crate::failure::{Failed, Kind};
use vesica_engine::agreement::Agreement;
use vesica_engine::{ConfigFault, Error};
use vesica_link::{Endpoint, Identity};
use vesica_messages::Speech;
use vesica_messages::arguments::{self, ArgumentFault};

fn fault(fault: &ArgumentFault) -> Failed {
    Failed::of(Kind::Settings, arguments::error(fault, Speech::Python))
}

/// The address of the other side, or of the helper of `agreement`.
pub(crate) fn endpoint(
    agreement: &Agreement,
    listen: Option<String>,
    connect: Option<String>,
) -> Result<Endpoint, Failed> {
    match (&agreement.helper, listen, connect) {
        (Some(_), Some(_), _) => Err(fault(&ArgumentFault::ListenWithHelper)),
        (Some(helper), None, None) => {
            Err(fault(&ArgumentFault::NoHelperAddress { helper: helper.name.clone() }))
        }
        (_, None, Some(address)) => Ok(Endpoint::Connect(address)),
        (None, Some(address), None) => Ok(Endpoint::Listen(address)),
        (None, ..) => Err(fault(&ArgumentFault::NoAddress)),
    }
}

/// The party with this `identity`, which must be the one that is `asked` for, or the one that is asked for.
pub(crate) fn party(
    agreement: &Agreement,
    identity: Option<&Identity>,
    asked: Option<&str>,
) -> Result<Option<String>, Failed> {
    let named = |name: &str| agreement.parties.iter().any(|party| party.name == name);
    if let Some(asked) = asked.filter(|asked| !named(asked)) {
        let known = agreement.parties.iter().map(|party| party.name.clone()).collect();
        return Err(fault(&ArgumentFault::NoSuchParty { asked: asked.to_owned(), known }));
    }
    let Some(identity) = identity.map(Identity::public) else {
        return Ok(asked.map(str::to_owned));
    };
    match (agreement.party_of(&identity), asked) {
        (None, _) => Err(Failed::here(&Error::from(ConfigFault::NotAParty { identity }))),
        (Some(is), Some(asked)) if asked != is => {
            let (asked, is) = (asked.to_owned(), is.to_owned());
            Err(fault(&ArgumentFault::OtherParty { asked, is }))
        }
        (Some(is), _) => Ok(Some(is.to_owned())),
    }
}

/// Refuses what only runs with a helper have, if `agreement` has none.
pub(crate) fn check_aided(
    agreement: &Agreement,
    given: [(&'static str, bool); 3],
) -> Result<(), Failed> {
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if agreement.helper.is_none() => {
            Err(fault(&ArgumentFault::OnlyWithHelper { option }))
        }
        _ => Ok(()),
    }
}
