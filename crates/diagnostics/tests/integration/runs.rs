//! The messages of runs, between two parties and with a helper.

use crate::samples::{identity, path};
use std::io::ErrorKind;
use std::time::Duration;
use vesica_agreement::{Agreement, Difference};
use vesica_core::{Misbehaviour, Operation, Refusal, StopReason, TransportError};
use vesica_diagnostics::with_helper::{Aided, AidedFailure};
use vesica_diagnostics::{Message, Speech, engine, with_helper};
use vesica_engine::{ConfigFault, Error, Incompatible, InputFault, Phase, TransportFault};
use vesica_link::letters::LetterError;
use vesica_link::{Endpoint, IdentityError, LinkError};
use vesica_store_session::{ActualKind, ExchangeError, NotAnObject, Repeats, Waiting};

const TIME: Duration = Duration::from_secs(90);

/// The messages of each failure, with each kind of address.
pub(crate) fn all(say: Speech) -> Vec<Message> {
    let mut messages = Vec::new();
    for address in [None, Some("listen"), Some("connect")] {
        let endpoint = address.map(|kind| match kind {
            "listen" => Endpoint::Listen("0.0.0.0:7400".to_owned()),
            _ => Endpoint::Connect("partner.example:7400".to_owned()),
        });
        messages.extend(errors().iter().map(|error| engine::error(error, endpoint.as_ref(), say)));
    }
    for folder in [None, Some(path())] {
        let runs = errors().into_iter().map(AidedFailure::Run);
        let parties = vec!["north".to_owned(), "south".to_owned()];
        let failures = runs.chain([AidedFailure::Absent { parties, wait: TIME }]);
        messages.extend(failures.map(|what| {
            let (helper, address) = ("cloud".to_owned(), "helper.example:7500".to_owned());
            let aided = Aided { what, helper, address, folder: folder.clone() };
            with_helper::error(&aided, say)
        }));
    }
    messages
}

fn errors() -> Vec<Error> {
    let (peer, helper) = ("north".to_owned(), "cloud".to_owned());
    let mut errors = vec![
        Error::Input(InputFault::TooFewKeys { distinct: 3, min: 5 }),
        Error::AlreadyFinished,
        Error::Bug("the test"),
    ];
    errors.extend(config_faults().into_iter().map(Error::Config));
    errors.extend(incompatible().into_iter().map(Error::PeerIncompatible));
    errors.extend(misbehaviours().map(|kind| Error::PeerMisbehaved {
        peer: peer.clone(),
        phase: Phase::Matching,
        kind,
    }));
    errors.extend(transport_faults().into_iter().map(|kind| Error::Transport {
        peer: peer.clone(),
        phase: Phase::Checking,
        kind,
    }));
    errors.extend(refusals().map(|refusal| {
        let (helper, party) = (helper.clone(), Some(peer.clone()));
        Error::Refused { helper, phase: Phase::Meeting, refusal, party }
    }));
    errors.extend(letters().map(|kind| Error::Letter { party: Some(peer.clone()), kind }));
    errors.extend(phases().map(|phase| Error::Interrupted { phase }));
    errors.extend(exchange_errors().map(|kind| {
        let (peer, place) = (peer.clone(), "/mnt/partner".to_owned());
        Error::Exchange { peer, place, folder: path(), kind: Box::new(kind) }
    }));
    errors
}

fn exchange_errors() -> [ExchangeError; 15] {
    let not_yet = |waiting, seconds| {
        let after = Duration::from_secs(seconds);
        ExchangeError::NotYet { waiting, after }
    };
    [
        not_yet(Waiting::Hello, 1),
        not_yet(Waiting::Shares, 90),
        not_yet(Waiting::Object(3), 90),
        ExchangeError::Store(ErrorKind::StorageFull),
        ExchangeError::OtherFolder { number: 3 },
        ExchangeError::TooManyRepeats(Repeats { count: 4, max: 3 }),
        ExchangeError::TooManyRepeats(Repeats { count: 1, max: 0 }),
        ExchangeError::Gone { number: 3 },
        ExchangeError::WrongObject { number: 3 },
        ExchangeError::ForeignObject { number: 3 },
        NotAnObject::new("6a1f0c9d2b7e4f11-0001/0-hello", ActualKind::NotAFile).into(),
        NotAnObject::new("6a1f0c9d2b7e4f11-0001", ActualKind::NotAFolder).into(),
        NotAnObject::new("6a1f0c9d2b7e4f11-0001/0-end", ActualKind::Length { bytes: 1 << 30 })
            .into(),
        ExchangeError::Stopped { reason: StopReason::Cancelled },
        ExchangeError::Stopped { reason: StopReason::Input },
    ]
}

fn phases() -> [Phase; 10] {
    [
        Phase::Preparing,
        Phase::Reading,
        Phase::Connecting,
        Phase::Agreeing,
        Phase::Meeting,
        Phase::Sizes,
        Phase::Choosing,
        Phase::Matching,
        Phase::Checking,
        Phase::Writing,
    ]
}

fn link_errors() -> Vec<LinkError> {
    let waited = TIME;
    let mut errors = vec![
        LinkError::BadAddress,
        LinkError::UnknownHost,
        LinkError::PortInUse,
        LinkError::PortForbidden,
        LinkError::NotOurAddress,
        LinkError::ListenFailed(ErrorKind::Other),
        LinkError::ConnectFailed(ErrorKind::ConnectionRefused),
        LinkError::ConnectFailed(ErrorKind::TimedOut),
        LinkError::NoPeerGiven,
        LinkError::WrongIdentity { presented: identity() },
        LinkError::OwnIdentity,
        LinkError::RefusedByPeer,
        LinkError::EarlierRun,
        LinkError::NewRun,
        LinkError::OtherVersion,
        LinkError::OtherProtocol,
        LinkError::Silent(TIME),
        LinkError::Disconnected,
        LinkError::Crowded,
        LinkError::Cancelled,
        LinkError::NoResources(ErrorKind::WouldBlock),
        LinkError::NoResources(ErrorKind::OutOfMemory),
        LinkError::NoResources(ErrorKind::Other),
    ];
    let last = errors.iter().cloned().map(|last| Some(Box::new(last)));
    let no_peer: Vec<_> =
        last.chain([None]).map(|last| LinkError::NoPeer { waited, last }).collect();
    errors.extend(no_peer);
    errors
}

fn config_faults() -> Vec<ConfigFault> {
    let (folder, party) = (path(), "north".to_owned());
    let mut faults = vec![
        ConfigFault::Agreement(Agreement::parse("").expect_err("an empty agreement")),
        ConfigFault::Identity(IdentityError::OfAnother { path: path(), owner: 1000 }),
        ConfigFault::NotAParty {
            identity: identity(),
            parties: vec![(party.clone(), identity()), ("south".to_owned(), identity())],
            helper: None,
        },
        ConfigFault::NotAParty {
            identity: identity(),
            parties: Vec::new(),
            helper: Some("cloud".to_owned()),
        },
        ConfigFault::Expired { on: "2027-06-30".parse().unwrap() },
        ConfigFault::Insecure { protocol: "naive_hashing" },
        ConfigFault::OutOfMemory { items: 1 << 40 },
        ConfigFault::NoMemory,
        ConfigFault::NoThreads,
        ConfigFault::SetTooLarge { items: 1 << 30, max: 1 << 20 },
        ConfigFault::HashingFailed,
        ConfigFault::Scratch { folder: folder.clone(), kind: ErrorKind::InvalidData },
        ConfigFault::Scratch { folder: folder.clone(), kind: ErrorKind::StorageFull },
        ConfigFault::StateInUse { folder: folder.clone() },
        ConfigFault::StateReplaceable { folder: folder.clone() },
        ConfigFault::StateNotOurs { folder: folder.clone() },
        ConfigFault::StateOfAnotherUser { folder: folder.clone() },
        ConfigFault::StateTooOpen { folder: folder.clone(), mode: 0o755 },
        ConfigFault::StateOfAnother { folder },
        ConfigFault::OutputMissing { party: party.clone() },
        ConfigFault::OutputNotLearned { party: party.clone() },
        ConfigFault::MarkNotLearned { party: party.clone() },
        ConfigFault::NoMark { operation: Operation::Cardinality },
        ConfigFault::NoOrder { operation: Operation::Union },
        ConfigFault::UnknownKey { given: "mail".to_owned(), known: vec!["email".to_owned()] },
    ];
    faults.extend(link_errors().into_iter().map(ConfigFault::Link));
    faults
}

fn incompatible() -> Vec<Incompatible> {
    let difference =
        Difference { field: "protocol".to_owned(), here: Some("auto".to_owned()), there: None };
    let mut all = vec![
        Incompatible::Agreement(vec![difference; 50]),
        Incompatible::Version { here: 3, there: 2 },
        Incompatible::Purpose { only_checking_here: true },
        Incompatible::Purpose { only_checking_here: false },
        Incompatible::State { only_here: true },
        Incompatible::State { only_here: false },
        Incompatible::Candidates,
    ];
    all.extend(link_errors().into_iter().map(Incompatible::Link));
    all
}

fn misbehaviours() -> [Misbehaviour; 17] {
    [
        Misbehaviour::WrongMessageLen { expected: 16, actual: 17 },
        Misbehaviour::InvalidPoint { index: 3 },
        Misbehaviour::InvalidPublicKey,
        Misbehaviour::InvalidValue,
        Misbehaviour::SelfCheckFailed,
        Misbehaviour::SharedNotProved,
        Misbehaviour::SetRefused,
        Misbehaviour::SizeOutsideAgreement { len: 9, min: 1, max: 5 },
        Misbehaviour::CorrelationCheckFailed,
        Misbehaviour::CutAndChooseFailed,
        Misbehaviour::CommitmentBroken,
        Misbehaviour::CommonMissing,
        Misbehaviour::OwnFound,
        Misbehaviour::CopiesDiffer,
        Misbehaviour::CountsDiffer,
        Misbehaviour::BrokenFraming,
        Misbehaviour::Flood,
    ]
}

fn transport_faults() -> Vec<TransportFault> {
    let mut streams = vec![
        TransportError::Closed,
        TransportError::CancelledHere,
        TransportError::Idle(TIME),
        TransportError::Deadline(TIME),
        TransportError::Io(ErrorKind::ConnectionReset),
        TransportError::Tls,
        TransportError::PeerBrokeFraming,
        TransportError::PeerFlood,
        TransportError::PeerRestarted,
        TransportError::AlreadyOpen,
        TransportError::Poisoned,
    ];
    let reasons = [
        StopReason::Cancelled,
        StopReason::Input,
        StopReason::Config,
        StopReason::Incompatible,
        StopReason::Misbehaviour,
        StopReason::Timeout,
        StopReason::Internal,
    ];
    streams.extend(reasons.map(TransportError::PeerStopped));
    let links = link_errors().into_iter().map(TransportFault::Link);
    links.chain(streams.into_iter().map(TransportFault::Stream)).collect()
}

/// All refusals that have a code, and one for a code that none has.
fn refusals() -> impl Iterator<Item = Refusal> {
    (1..=64).map(|code| Refusal::from_code([code, 0]))
}

fn letters() -> [LetterError; 7] {
    [
        LetterError::WrongParties,
        LetterError::Malformed { party: 1 },
        LetterError::BadSignature { party: 1 },
        LetterError::NotOurHello,
        LetterError::NotSealedForUs { party: 1 },
        LetterError::NotTheCommitment { party: 1 },
        LetterError::NoRandomness,
    ]
}

#[test]
fn a_full_disk_is_reported_with_the_option_that_gives_another_folder() {
    let fault = |kind| Error::Config(ConfigFault::Scratch { folder: path(), kind });
    for (kind, hint) in [
        (ErrorKind::StorageFull, "free some space, or choose a folder on another disk with"),
        (ErrorKind::PermissionDenied, "choose a folder that you may write to with"),
        (ErrorKind::NotADirectory, "choose another folder with"),
    ] {
        let message = engine::error(&fault(kind), None, Speech::Command);
        assert_eq!(message.hint, format!("{hint} --scratch"));
        let message = engine::error(&fault(kind), None, Speech::Python);
        assert_eq!(message.hint, format!("{hint} `scratch=`"));
        for (folder, option) in [(path(), "--state"), (path().join("other"), "--scratch")] {
            let what = AidedFailure::Run(fault(kind));
            let (helper, address) = ("cloud".to_owned(), "helper.example:7500".to_owned());
            let aided = Aided { what, helper, address, folder: Some(folder) };
            let message = with_helper::error(&aided, Speech::Command);
            assert_eq!(message.hint, format!("{hint} {option}"));
        }
    }
}
