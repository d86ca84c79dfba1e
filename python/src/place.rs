//! Who this side is, and whom it reaches: the arguments that must go together.

use crate::away::away;
use crate::failure::{Failed, Kind};
use pyo3::prelude::*;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_core::StopReason;
use vesica_engine::{ConfigFault, Error};
use vesica_exchange::Store;
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions};
use vesica_messages::Speech;
use vesica_messages::arguments::{self, ArgumentFault};
use vesica_messages::stores;

/// Longer than the engine looks for the other side.
const WORD_WAIT: Duration = Duration::from_secs(5);

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
        (_, Some(_), Some(_)) => Err(Failed::new(
            Kind::Settings,
            "`listen=` and `connect=` are both given",
            "one side listens, and the other connects: give one of them",
        )),
        (None, None, None) => Err(fault(&ArgumentFault::NoAddress)),
    }
}

/// The place where the two sides meet: an address, or a store.
pub(crate) fn meeting(
    py: Python<'_>,
    agreement: &Agreement,
    listen: Option<String>,
    connect: Option<String>,
    exchange: Option<&OsStr>,
) -> Result<(Endpoint, Option<Arc<dyn Store>>), Failed> {
    let Some(place) = exchange else { return Ok((endpoint(agreement, listen, connect)?, None)) };
    if agreement.helper.is_some() {
        return Err(fault(&ArgumentFault::ExchangeWithHelper));
    }
    if listen.or(connect).is_some() {
        return Err(Failed::new(
            Kind::Settings,
            "`exchange=` and an address are both given",
            "through a store there is no connection: leave out `listen=` and `connect=`",
        ));
    }
    let shown = vesica_stores::shown(place);
    match away(py, || vesica_stores::open(place)) {
        Ok(store) => Ok((Endpoint::Store(shown), Some(store))),
        Err(error) => Err(Failed::place(stores::error(&shown, &error, Speech::Python))),
    }
}

/// Tells the other side, if it is waiting, that this one cannot take part because of its data.
#[pyfunction]
pub(crate) fn leave_word(
    py: Python<'_>,
    agreement: &crate::agreement::Agreement,
    identity: &crate::identity::Identity,
    listen: Option<String>,
    connect: Option<String>,
) {
    let (agreement, identity) = (&agreement.0, &identity.0);
    let Ok(endpoint) = endpoint(agreement, listen, connect) else { return };
    let link = LinkOptions { endpoint, wait: WORD_WAIT, idle: WORD_WAIT, total: None };
    let cancel = CancelToken::new();
    away(py, || {
        vesica_engine::leave_word(agreement, identity, &link, StopReason::Input, &cancel);
    });
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
pub(crate) fn check_restart(agreement: &Agreement) -> Result<(), Failed> {
    match agreement.helper {
        Some(_) => Ok(()),
        None => Err(fault(&ArgumentFault::NothingToRestart)),
    }
}
