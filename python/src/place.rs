//! Who this side is, and whom it reaches: the arguments that must go together.

use crate::away::away;
use crate::failure::{Failed, Kind};
use crate::store::{ObjectStore, Raised};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_core::StopReason;
use vesica_diagnostics::Speech;
use vesica_diagnostics::arguments::{self, ArgumentFault};
use vesica_diagnostics::memory::MemorySize;
use vesica_diagnostics::stores;
use vesica_engine::{ConfigFault, Error, MemoryDefault};
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions, Proxy, ProxyChoice};
use vesica_store_session::Store;
use vesica_tables::OutputOptions;

/// The most time for telling the other side: longer than the engine tries to connect.
const WORD_WAIT: Duration = Duration::from_secs(5);

/// How much memory a run may take: a number of bytes, or a text as after `--memory`.
#[derive(FromPyObject)]
pub(crate) enum Memory {
    Bytes(u64),
    Text(String),
}

/// A file that is replaced each time.
pub(crate) fn replaced(path: Option<PathBuf>) -> Option<OutputOptions> {
    path.map(|path| OutputOptions { path, force: true })
}

/// The memory of a run, in bytes; the default if none is given.
pub(crate) fn memory_bytes(memory: Option<Memory>) -> Result<u64, Failed> {
    match memory {
        None => Ok(MemoryDefault::find().bytes),
        Some(Memory::Bytes(bytes)) => Ok(bytes),
        Some(Memory::Text(text)) => text.parse().map(MemorySize::bytes).map_err(|error| {
            Failed::new(
                Kind::Settings,
                format!("memory={text:?}: {error}"),
                "give a number of bytes, or a text such as \"512MiB\"",
            )
        }),
    }
}

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

/// The proxy on the way to `endpoint`: the one `asked` for, "none", or the one that the environment
/// names.
pub(crate) fn proxy(asked: Option<&str>, endpoint: &Endpoint) -> Result<Option<Proxy>, Failed> {
    let bad = |variable, why| fault(&ArgumentFault::BadProxy { variable, why });
    let choice =
        asked.map_or(Ok(ProxyChoice::Environment), str::parse).map_err(|why| bad(None, why))?;
    let Endpoint::Connect(address) = endpoint else { return Ok(None) };
    let proxy = choice.to(address, |name| std::env::var_os(name));
    proxy.map_err(|(variable, why)| bad(Some(variable), why))
}

/// How a run reaches the other side.
pub(crate) struct Meeting {
    pub(crate) endpoint: Endpoint,
    pub(crate) store: Option<Arc<dyn Store>>,
    /// The exception that the store raised, if it is a Python object.
    pub(crate) raised: Raised,
}

/// How a run reaches the other side: by an address, or through a store, which is a path, a URL or
/// an object.
pub(crate) fn meeting(
    py: Python<'_>,
    agreement: &Agreement,
    listen: Option<String>,
    connect: Option<String>,
    exchange: Option<&Bound<'_, PyAny>>,
) -> PyResult<Meeting> {
    let failed = |failed: Failed| failed.raise(py);
    let Some(place) = exchange else {
        let endpoint = endpoint(agreement, listen, connect).map_err(failed)?;
        return Ok(Meeting { endpoint, store: None, raised: Raised::default() });
    };
    check_store(agreement, listen.or(connect).is_some()).map_err(failed)?;
    let (shown, store, raised) = store(py, place)?;
    Ok(Meeting { endpoint: Endpoint::Store(shown), store: Some(store), raised })
}

/// The store for a path, a URL or an object: its name for messages, the store, and the exception of
/// the object.
pub(crate) fn store(
    py: Python<'_>,
    place: &Bound<'_, PyAny>,
) -> PyResult<(String, Arc<dyn Store>, Raised)> {
    if !place.is_instance_of::<PyString>() {
        let store = ObjectStore::new(place)?;
        let (shown, raised) = (store.place(), store.raised());
        return Ok((shown, Arc::new(store), raised));
    }
    let place: OsString = place.extract()?;
    let shown = vesica_store_backends::shown(&place);
    match away(py, || vesica_store_backends::open(&place)) {
        Ok(store) => Ok((shown, store, Raised::default())),
        Err(error) => {
            let failed = Failed::of_place(stores::error(&shown, &error, Speech::Python));
            Err(failed.raise(py))
        }
    }
}

/// Refuses a store together with a helper or an address.
fn check_store(agreement: &Agreement, has_address: bool) -> Result<(), Failed> {
    if agreement.helper.is_some() {
        return Err(fault(&ArgumentFault::ExchangeWithHelper));
    }
    if has_address {
        return Err(Failed::new(
            Kind::Settings,
            "`exchange=` and an address are both given",
            "through a store there is no connection: leave out `listen=` and `connect=`",
        ));
    }
    Ok(())
}

/// Tells the other side, if it is waiting, that this one cannot take part because of its data.
#[pyfunction]
pub(crate) fn leave_word(
    py: Python<'_>,
    agreement: &crate::agreement::Agreement,
    identity: &crate::identity::Identity,
    listen: Option<String>,
    connect: Option<String>,
    proxy: Option<String>,
) {
    let (agreement, identity) = (&agreement.0, &identity.0);
    let Ok(endpoint) = endpoint(agreement, listen, connect) else { return };
    let Ok(proxy) = self::proxy(proxy.as_deref(), &endpoint) else { return };
    let link = LinkOptions { endpoint, wait: WORD_WAIT, idle: WORD_WAIT, total: None, proxy };
    let cancel = CancelToken::new();
    away(py, || {
        vesica_engine::leave_word(agreement, identity, &link, StopReason::Input, &cancel);
    });
}

/// The party with this `identity`, which must be the party `asked`, if any; without an identity,
/// the party `asked`.
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
        (None, _) => Err(Failed::here(&Error::from(ConfigFault::not_a_party(agreement, identity)))),
        (Some(is), Some(asked)) if asked != is => {
            let (asked, is) = (asked.to_owned(), is.to_owned());
            Err(fault(&ArgumentFault::OtherParty { asked, is }))
        }
        (Some(is), _) => Ok(Some(is.to_owned())),
    }
}

/// Refuses `restart` if `agreement` has no helper.
pub(crate) fn check_restart(agreement: &Agreement) -> Result<(), Failed> {
    match agreement.helper {
        Some(_) => Ok(()),
        None => Err(fault(&ArgumentFault::NothingToRestart)),
    }
}
