//! Addresses, keys and names that contradict each other or the agreement.

use crate::words::list;
use crate::{Message, Speech, Who};
use vesica_link::ProxyError;

/// What is wrong with the arguments of a run or a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentFault {
    /// A restart of a run that keeps no state.
    NothingToRestart,
    /// A request to listen, although the agreement has a helper.
    ListenWithHelper,
    /// A store, although the agreement has a helper.
    ExchangeWithHelper,
    /// A request for the runs in a store of an agreement that has a helper.
    NoRunsWithHelper,
    /// A party that must be 0 or 1, since no agreement gives it a name.
    NotANumberOfAParty {
        /// The party that was asked for.
        asked: String,
    },
    /// The address of the helper is missing.
    NoHelperAddress {
        /// The helper's name.
        helper: String,
    },
    /// A run between two parties has neither an address to listen on nor one to connect to.
    NoAddress,
    /// The proxy to connect through cannot be read.
    BadProxy {
        /// The environment variable that names it; `None` if an argument does.
        variable: Option<&'static str>,
        /// Why.
        why: ProxyError,
    },
    /// Connecting to the other side needs a key file.
    NoKey,
    /// The key file belongs to another party than the one asked for.
    OtherParty {
        /// The party that was asked for.
        asked: String,
        /// The party of the key file.
        is: String,
    },
    /// The agreement has no such party.
    NoSuchParty {
        /// The party that was asked for.
        asked: String,
        /// The agreement's parties.
        known: Vec<String>,
    },
}

/// Arguments that cannot be used.
pub fn error(fault: &ArgumentFault, say: Speech) -> Message {
    let helper_address = || {
        format!(
            "give the helper's address, for example {}",
            say.either("--connect helper.example:7500", "`connect=\"helper.example:7500\"`")
        )
    };
    match fault {
        ArgumentFault::NothingToRestart => Message::here(
            format!("{} is only for runs that keep a state, and this one does not", say.restart()),
            format!(
                "leave it out: without {} a run over a connection always starts from the beginning",
                say.state()
            ),
        )
        .by(Who::Caller),
        ArgumentFault::ExchangeWithHelper => Message::here(
            "the agreement has a helper, which carries all messages",
            format!(
                "leave out {}, and give the helper's address with {}",
                say.exchange(),
                say.connect()
            ),
        )
        .by(Who::Caller),
        ArgumentFault::NoRunsWithHelper => Message::here(
            "the agreement has a helper, so its runs are in no folder",
            "give an agreement of two parties without a helper",
        )
        .by(Who::Caller),
        ArgumentFault::NotANumberOfAParty { asked } => Message::here(
            format!("the party is 0 or 1, not {asked:?}"),
            format!("give the agreement with {} to use the names of its parties", say.agreement()),
        )
        .by(Who::Caller),
        ArgumentFault::ListenWithHelper => Message::here(
            format!(
                "{} cannot be used here: the agreement has a helper, and all parties connect to it",
                say.listen()
            ),
            helper_address(),
        )
        .by(Who::Caller),
        ArgumentFault::NoHelperAddress { helper } => Message::here(
            format!("{} is missing: the address of {helper} is not known", say.connect()),
            helper_address(),
        )
        .by(Who::Caller),
        ArgumentFault::NoAddress => Message::here(
            format!("neither {} nor {} is given", say.listen(), say.connect()),
            format!(
                "one side listens, for example {}; the other connects to it, for example {}",
                say.either("--listen 0.0.0.0:7400", "`listen=\"0.0.0.0:7400\"`"),
                say.either("--connect partner.example:7400", "`connect=\"partner.example:7400\"`"),
            ),
        )
        .by(Who::Caller),
        ArgumentFault::BadProxy { variable, why } => Message::here(
            format!("{} is not a proxy: {why}", variable.unwrap_or(say.proxy())),
            format!("correct it, or connect directly with {}", say.no_proxy()),
        )
        .by(Who::Caller),
        ArgumentFault::NoKey => Message::here(
            "connecting to the other side needs your key file",
            format!("add {}, or leave out {} and {}", say.key_file(), say.listen(), say.connect()),
        )
        .by(Who::Caller),
        ArgumentFault::OtherParty { asked, is } => Message::here(
            format!("the key file belongs to {is}, not to {asked}"),
            format!("give the key file of {asked}, or leave out {}", say.party()),
        ),
        ArgumentFault::NoSuchParty { asked, known } => Message::here(
            format!("the agreement has no party {asked:?}"),
            format!("its parties are {}", list(known)),
        ),
    }
}
