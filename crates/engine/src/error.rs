use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use vesica_agreement::{Agreement, AgreementError, Difference};
use vesica_core::{
    Excess, Misbehaviour, Operation, ParameterError, Refusal, StopReason, TransportError,
};
use vesica_helper_client::FolderError;
use vesica_link::letters::LetterError;
use vesica_link::{IdentityError, LinkError, ProxyFault, PublicIdentity};
use vesica_store_session::ExchangeError;
use vesica_tables::{InputError, OutputError, WriteError};

/// The part of a run in which something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Looking at the settings.
    Preparing,
    /// Reading the keys from the file.
    Reading,
    /// Waiting for the peer.
    Connecting,
    /// Comparing the agreements.
    Agreeing,
    /// Waiting for the other parties of a run with a helper, and tossing coins with them.
    Meeting,
    /// Waiting for the peer to read its data.
    Sizes,
    /// Measuring the network and choosing the protocol.
    Choosing,
    /// Running the protocol.
    Matching,
    /// Checking the result and closing the session.
    Checking,
    /// Writing the matching rows.
    Writing,
}

impl Phase {
    /// The name in reports and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Preparing => "preparing",
            Phase::Reading => "reading",
            Phase::Connecting => "connecting",
            Phase::Agreeing => "agreeing",
            Phase::Meeting => "meeting",
            Phase::Sizes => "sizes",
            Phase::Choosing => "choosing",
            Phase::Matching => "matching",
            Phase::Checking => "checking",
            Phase::Writing => "writing",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a job ended without a result. The variant says who must act.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Your data.
    #[error(transparent)]
    Input(#[from] InputFault),
    /// Your settings.
    #[error(transparent)]
    Config(#[from] ConfigFault),
    /// The two sides' settings differ.
    #[error(transparent)]
    PeerIncompatible(#[from] Incompatible),
    /// A check on what the peer sent failed. Never retried.
    #[error("{peer} broke the protocol while {phase}: {kind}")]
    PeerMisbehaved {
        /// The peer's name in the agreement.
        peer: String,
        /// When.
        phase: Phase,
        /// What it did.
        kind: Misbehaviour,
    },
    /// The connection could not be made, failed, or was ended.
    #[error("while {phase} with {peer}: {kind}")]
    Transport {
        /// The peer's name in the agreement.
        peer: String,
        /// When.
        phase: Phase,
        /// What failed.
        kind: TransportFault,
    },
    /// The helper refused, or cannot continue.
    #[error("{helper} refused while {phase}: {refusal}")]
    Refused {
        /// The helper's name in the agreement.
        helper: String,
        /// When.
        phase: Phase,
        /// Why.
        refusal: Refusal,
        /// The party that caused it, if one did.
        party: Option<String>,
    },
    /// A message between parties, through the helper, is wrong: a party made it so, or the helper
    /// changed it.
    #[error("while meeting: {kind}")]
    Letter {
        /// The party that should have sent it, if it is known.
        party: Option<String>,
        /// What is wrong.
        kind: LetterError,
    },
    /// A run through a store has stopped. It may be able to continue later.
    #[error("with {peer} through {place}: {kind}")]
    Exchange {
        /// The peer's name in the agreement.
        peer: String,
        /// The store.
        place: String,
        /// The folder of the run.
        folder: PathBuf,
        /// Why.
        kind: Box<ExchangeError>,
    },
    /// The interrupted run with a helper was already finished: a result is in place.
    #[error("the run was finished before")]
    AlreadyFinished,
    /// The caller asked to stop.
    #[error("interrupted while {phase}")]
    Interrupted {
        /// When.
        phase: Phase,
    },
    /// A defect of Vesica.
    #[error("internal error: {0}")]
    Bug(&'static str),
}

/// What is wrong with this side's data or with the place for the result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputFault {
    /// The file.
    #[error(transparent)]
    Data(#[from] InputError),
    /// The result file.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Fewer different keys than the agreement asks for.
    #[error("{distinct} different keys where the agreement asks for at least {min}")]
    TooFewKeys {
        /// Different keys in the file.
        distinct: u64,
        /// `min_rows` of this party.
        min: u64,
    },
    /// Fewer different keys than the agreement requires, although there were enough rows. The
    /// number of keys is not known.
    #[error("fewer different keys than the {min} that the agreement asks for at least")]
    TooFewDifferent {
        /// `min_rows` of this party.
        min: u64,
    },
    /// The interrupted run was started with other rows.
    #[error("the run in {} was started with other rows", state.display())]
    OtherRows {
        /// The folder of the run.
        state: PathBuf,
    },
}

/// What is wrong with this side's settings.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFault {
    /// The agreement file.
    #[error(transparent)]
    Agreement(#[from] AgreementError),
    /// The key file.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The address, or the right to use it.
    #[error(transparent)]
    Link(LinkError),
    /// The agreement names no party with this identity.
    #[error("{identity} is not a party of the agreement")]
    NotAParty {
        /// The identity of the key file.
        identity: PublicIdentity,
        /// The parties by name.
        parties: Vec<(String, PublicIdentity)>,
        /// The helper's name, if the key file is the helper's.
        helper: Option<String>,
    },
    /// The agreement is past its last day.
    #[error("the agreement expired on {on}")]
    Expired {
        /// Its last day.
        on: jiff::civil::Date,
    },
    /// The agreement names an insecure protocol and the caller did not insist.
    #[error("the agreed protocol {protocol} is insecure")]
    Insecure {
        /// Its id in the catalogue.
        protocol: &'static str,
    },
    /// The machine has no room for a set of the agreed size.
    #[error("a set of {items} items does not fit in memory")]
    OutOfMemory {
        /// Items of the set, padding included.
        items: u64,
    },
    /// The system refused memory to a protocol or a connection.
    #[error("the system gives this process no more memory")]
    NoMemory,
    /// The system refused a thread.
    #[error("the system gives this process no more threads")]
    NoThreads,
    /// The agreed protocol does not accept a set of that size.
    #[error("a set of {items} items is larger than the {max} that the protocol takes")]
    SetTooLarge {
        /// Items of the set, self-check items and padding included.
        items: u64,
        /// Most that it takes.
        max: u64,
    },
    /// The items did not fit into a hash table. The probability is below 2^-40, unless the keys
    /// were chosen to cause it, or the protocol is `ot_phasing_paper` between sets of very
    /// different sizes. The error does not name the items.
    #[error("the keys found no place in the protocol's hash table")]
    HashingFailed,
    /// Intermediate data cannot be stored.
    #[error("intermediate data cannot be kept in {} ({kind})", folder.display())]
    Scratch {
        /// The folder for it.
        folder: PathBuf,
        /// What the operating system said.
        kind: std::io::ErrorKind,
    },
    /// A store cannot be used.
    #[error("the store {place} cannot be used ({kind})")]
    Store {
        /// The store.
        place: String,
        /// What the operating system said.
        kind: std::io::ErrorKind,
    },
    /// There is too little disk space for intermediate data.
    #[error("{} has {free} bytes free, and {needed} are needed", folder.display())]
    ScratchTooSmall {
        /// The folder for it.
        folder: PathBuf,
        /// About how many bytes of disk space the run needs for intermediate data.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A run in partitions needs more memory than its limit.
    #[error("{given} bytes of memory are too little for the run, which takes {least}")]
    MemoryTooSmall {
        /// The least with which it works.
        least: u64,
        /// The limit.
        given: u64,
    },
    /// Another process runs with the same folder.
    #[error("another process uses {}", folder.display())]
    StateInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder for intermediate data contains something else.
    #[error("{} has something else in it", folder.display())]
    StateNotOurs {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder for intermediate data belongs to another user of the machine.
    #[error("{} belongs to another user", folder.display())]
    StateOfAnotherUser {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds an unfinished run, and other users of the machine can enter it.
    #[error("other users can enter {} (mode {mode:03o})", folder.display())]
    StateTooOpen {
        /// The folder.
        folder: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Other users of the machine can replace this folder by another one.
    #[error("other users can replace {}", folder.display())]
    StateReplaceable {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds an unfinished run of another agreement, or of another party.
    #[error("{} is of another run", folder.display())]
    StateOfAnother {
        /// The folder.
        folder: PathBuf,
    },
    /// This party learns the result but named no file for it.
    #[error("{party} receives the result and names no file for it")]
    OutputMissing {
        /// This party's name.
        party: String,
    },
    /// This party learns nothing but named a file for a result.
    #[error("{party} does not receive the result and names a file for it")]
    OutputNotLearned {
        /// This party's name.
        party: String,
    },
    /// This party learns nothing but named a column for the marks of a result.
    #[error("{party} does not receive the result and names a column for its marks")]
    MarkNotLearned {
        /// This party's name.
        party: String,
    },
    /// A column is named for marks of rows, but the result says nothing of rows.
    #[error("a result of {} marks no rows", operation.name())]
    NoMark {
        /// What is computed.
        operation: Operation,
    },
    /// A file is named for the order of shares, but the result is not shares.
    #[error("a result of {} has no order", operation.name())]
    NoOrder {
        /// What is computed.
        operation: Operation,
    },
    /// A column was given for a key the agreement does not have.
    #[error("the agreement has no key {given}")]
    UnknownKey {
        /// The name given.
        given: String,
        /// The keys of the agreement.
        known: Vec<String>,
    },
}

/// How the two sides' settings differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Incompatible {
    /// The agreements differ, field by field.
    #[error("the two sides' agreements differ in {} fields", .0.len())]
    Agreement(Vec<Difference>),
    /// The sides speak different versions of Vesica's session.
    #[error("session version {here} here, {there} at the peer")]
    Version {
        /// Ours.
        here: u16,
        /// The peer's.
        there: u16,
    },
    /// One side runs the match, the other only checks the connection.
    #[error("one side runs the match, the other only checks the connection")]
    Purpose {
        /// Whether this side is the one that only checks the connection.
        only_checking_here: bool,
    },
    /// Only one side keeps a state of the run. Both must, or neither.
    #[error("one side keeps a state of the run, the other does not")]
    State {
        /// Whether this side is the one that keeps a state.
        only_here: bool,
    },
    /// The agreement leaves the protocol open, and the two sides' software would choose from
    /// different candidates or judge them by different figures.
    #[error("the two sides' software does not know the same protocols")]
    Candidates,
    /// The other side is not who the agreement names, or does not speak our protocol.
    #[error(transparent)]
    Link(LinkError),
}

/// What failed between the parties.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportFault {
    /// Before the session was established.
    #[error(transparent)]
    Link(LinkError),
    /// Within the session.
    #[error(transparent)]
    Stream(#[from] TransportError),
}

impl ConfigFault {
    /// The key file of `identity` belongs to no party of `agreement`.
    pub fn not_a_party(agreement: &Agreement, identity: PublicIdentity) -> Self {
        let parties = agreement.parties.iter().map(|party| (party.name.clone(), party.identity));
        let helper = agreement.helper.as_ref().filter(|helper| helper.identity == identity);
        let helper = helper.map(|helper| helper.name.clone());
        Self::NotAParty { identity, parties: parties.collect(), helper }
    }

    /// Intermediate data cannot be kept in `folder`.
    pub(crate) fn scratch(folder: &Path, kind: io::ErrorKind) -> Error {
        Self::Scratch { folder: folder.to_path_buf(), kind }.into()
    }

    /// The folder of a run cannot be used.
    pub(crate) fn of_folder(folder: &Path, error: FolderError) -> Error {
        let folder = folder.to_path_buf();
        match error {
            FolderError::InUse => Self::StateInUse { folder }.into(),
            FolderError::NotOurs => Self::StateNotOurs { folder }.into(),
            FolderError::OfAnotherUser => Self::StateOfAnotherUser { folder }.into(),
            FolderError::TooOpen { mode } => Self::StateTooOpen { folder, mode }.into(),
            FolderError::Replaceable => Self::StateReplaceable { folder }.into(),
            FolderError::Io(kind) => Self::scratch(&folder, kind),
        }
    }
}

impl Error {
    /// The reason that this side sends to the peer if this error ends the session.
    pub(crate) fn stop_reason(&self) -> StopReason {
        match self {
            Error::Input(InputFault::Output(_)) => StopReason::Config,
            Error::Input(_) => StopReason::Input,
            Error::Config(ConfigFault::NoThreads) => StopReason::Internal,
            Error::Config(_) => StopReason::Config,
            Error::PeerIncompatible(_) => StopReason::Incompatible,
            Error::PeerMisbehaved { .. } => StopReason::Misbehaviour,
            Error::Transport { kind: TransportFault::Stream(kind), .. } => {
                vesica_core::Error::from(*kind).stop_reason()
            }
            Error::Interrupted { .. } => StopReason::Cancelled,
            Error::Letter { .. } => StopReason::Misbehaviour,
            Error::Exchange { kind, .. } => match **kind {
                ExchangeError::WrongObject { .. } => StopReason::Misbehaviour,
                ExchangeError::Stopped { .. } | ExchangeError::NotYet { .. } => {
                    StopReason::Cancelled
                }
                _ => StopReason::Config,
            },
            Error::Refused { .. }
            | Error::AlreadyFinished
            | Error::Transport { .. }
            | Error::Bug(_) => StopReason::Internal,
        }
    }

    /// The error of `phase` of a run with a helper; `parties` are the names of all parties,
    /// `folder` is where intermediate data goes.
    pub fn from_helper(
        error: vesica_core::Error,
        phase: Phase,
        helper: &str,
        parties: &[&str],
        folder: &Path,
    ) -> Self {
        match error {
            vesica_core::Error::Refused(refusal) => {
                let party = match refusal {
                    Refusal::Malformed { party }
                    | Refusal::OpenedOther { party }
                    | Refusal::TooFew { party }
                    | Refusal::Revoked { party }
                    | Refusal::Ended { party }
                    | Refusal::OverLimit(Excess { party: Some(party), .. }) => {
                        parties.get(usize::from(party))
                    }
                    _ => None,
                };
                let party = party.map(|party| (*party).to_owned());
                Error::Refused { helper: helper.to_owned(), phase, refusal, party }
            }
            vesica_core::Error::Storage(kind) => ConfigFault::scratch(folder, kind),
            error => Self::from_run(error, phase, helper),
        }
    }

    /// The error of `phase` with `peer` that a protocol or channel reported.
    pub fn from_run(error: vesica_core::Error, phase: Phase, peer: &str) -> Self {
        let peer = peer.to_owned();
        match error {
            vesica_core::Error::PeerMisbehaved(kind) => Error::PeerMisbehaved { peer, phase, kind },
            vesica_core::Error::Transport(TransportError::CancelledHere) => {
                Error::Interrupted { phase }
            }
            vesica_core::Error::Transport(TransportError::PeerFlood) => {
                Error::PeerMisbehaved { peer, phase, kind: Misbehaviour::Flood }
            }
            vesica_core::Error::Transport(TransportError::PeerBrokeFraming) => {
                Error::PeerMisbehaved { peer, phase, kind: Misbehaviour::BrokenFraming }
            }
            vesica_core::Error::Parameter(ParameterError::OutOfMemory)
            | vesica_core::Error::Transport(TransportError::Io(io::ErrorKind::OutOfMemory)) => {
                ConfigFault::NoMemory.into()
            }
            vesica_core::Error::Transport(kind) => {
                Error::Transport { peer, phase, kind: kind.into() }
            }
            vesica_core::Error::Parameter(ParameterError::SetTooLarge { len, max }) => {
                ConfigFault::SetTooLarge { items: len, max }.into()
            }
            vesica_core::Error::Parameter(ParameterError::HashingFailed) => {
                ConfigFault::HashingFailed.into()
            }
            vesica_core::Error::Parameter(ParameterError::NoThreads) => {
                ConfigFault::NoThreads.into()
            }
            vesica_core::Error::Bug(what) => Error::Bug(what),
            _ => Error::Bug("a protocol refused the parameters of the engine"),
        }
    }

    /// The error of a session with `peer` that was not established.
    pub fn from_link(error: LinkError, peer: &str) -> Self {
        match error {
            LinkError::BadAddress
            | LinkError::PortInUse
            | LinkError::PortForbidden
            | LinkError::NotOurAddress
            | LinkError::ListenFailed(_)
            | LinkError::Proxy(ProxyFault::Login | ProxyFault::NotAProxy)
            | LinkError::NoResources(_) => ConfigFault::Link(error).into(),
            LinkError::WrongIdentity { .. }
            | LinkError::OwnIdentity
            | LinkError::RefusedByPeer
            | LinkError::OtherVersion
            | LinkError::OtherProtocol => Incompatible::Link(error).into(),
            LinkError::Cancelled => Error::Interrupted { phase: Phase::Connecting },
            LinkError::NoPeerGiven => Error::Bug("no peer was named to the link"),
            _ => Error::Transport {
                peer: peer.to_owned(),
                phase: Phase::Connecting,
                kind: TransportFault::Link(error),
            },
        }
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Interrupted => Error::Interrupted { phase: Phase::Reading },
            error => InputFault::Data(error).into(),
        }
    }
}

impl From<OutputError> for Error {
    fn from(error: OutputError) -> Self {
        InputFault::Output(error).into()
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Input(InputError::Interrupted) => {
                Error::Interrupted { phase: Phase::Writing }
            }
            WriteError::Input(error) => error.into(),
            WriteError::Output(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_protocol_cannot_take_is_told_to_those_who_agreed_on_it() {
        let of = |error: ParameterError| Error::from_run(error.into(), Phase::Matching, "two");
        let too_large = of(ParameterError::SetTooLarge { len: 9, max: 8 });
        assert!(matches!(too_large, Error::Config(ConfigFault::SetTooLarge { items: 9, max: 8 })));
        let failed = of(ParameterError::HashingFailed);
        assert!(matches!(failed, Error::Config(ConfigFault::HashingFailed)));
        assert!(matches!(of(ParameterError::NoThreads), Error::Config(ConfigFault::NoThreads)));
        assert!(matches!(of(ParameterError::OutOfMemory), Error::Config(ConfigFault::NoMemory)));
        assert!(matches!(of(ParameterError::ItemTooLong { bits: 3 }), Error::Bug(_)));
    }

    #[test]
    fn what_this_machine_lacks_is_no_fault_of_the_peer() {
        for kind in [io::ErrorKind::OutOfMemory, io::ErrorKind::WouldBlock] {
            let error = Error::from_link(LinkError::NoResources(kind), "two");
            assert!(matches!(error, Error::Config(ConfigFault::Link(LinkError::NoResources(_)))));
        }
        let lost = TransportError::Io(io::ErrorKind::OutOfMemory).into();
        let error = Error::from_run(lost, Phase::Matching, "two");
        assert!(matches!(error, Error::Config(ConfigFault::NoMemory)));
    }
}
