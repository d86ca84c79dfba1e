//! Keys, addresses and connections.

use crate::words::duration;
use crate::{Message, Speech, Who, defect, files, no_memory, no_threads};
use std::fmt::Display;
use std::io;
use vesica_link::{Endpoint, IdentityError, LinkError, ProxyFault, PublicIdentity};

/// A key file.
pub fn identity(error: &IdentityError, say: Speech) -> Message {
    match error {
        IdentityError::Missing { path } => Message::here(
            format!("the key file {} does not exist", path.display()),
            format!("check the name, or make a key with `vesica keygen {}`", path.display()),
        ),
        IdentityError::Unreadable { path, kind } => Message::here(
            format!("the key file {} cannot be read: {}", path.display(), files::cause(*kind)),
            files::read_hint(*kind),
        ),
        IdentityError::NotAKeyFile { path } => Message::here(
            format!("{} is not a key file", path.display()),
            "give the file that `vesica keygen` made",
        ),
        IdentityError::BadChecksum { path } => Message::here(
            format!("the key in {} is damaged or cut off", path.display()),
            "restore the key file from your backup; without one, make a new key and a new \
             agreement",
        ),
        IdentityError::IsPublic { path } => Message::here(
            format!("{} holds a public identity, not a secret key", path.display()),
            "give the secret file that `vesica keygen` made",
        ),
        IdentityError::OfAnother { path, owner } => Message::here(
            format!(
                "the key file {} belongs to another user of this machine ({})",
                path.display(),
                user(*owner)
            ),
            format!(
                "run {} as that user, or use a key of your own: the owner of the file can read it \
                 and act as you",
                say.program()
            ),
        ),
        IdentityError::TooOpen { path, mode, owner, can_change } => Message::here(
            format!(
                "other users can access the key file {} (mode {mode:03o}{})",
                path.display(),
                owner.map_or(String::new(), |owner| format!(", owner {}", user(owner)))
            ),
            if *can_change {
                format!(
                    "run `chmod 600 {}`; if others may have read it, make a new key and a new \
                     agreement",
                    path.display()
                )
            } else {
                "mount it with no rights for others: mode 400 or 600 for your own user, or mode \
                 440 for root and a group of this process (in Kubernetes `defaultMode: 0440` and \
                 `fsGroup`)"
                    .to_owned()
            },
        ),
        IdentityError::Exists { path } => Message::here(
            format!("{} already exists", path.display()),
            "choose another name: a key file is never overwritten",
        ),
        IdentityError::Unwritable { path, kind } => Message::here(
            format!("the key file {} cannot be written: {}", path.display(), files::cause(*kind)),
            files::write_hint(*kind),
        ),
        IdentityError::NoRandomness => Message::here(
            "the operating system gave no randomness for a key",
            "try again later, or on another machine",
        ),
        error => Message::here(error.to_string(), "check the key file"),
    }
}

/// A user of this machine, by its number.
fn user(number: u32) -> String {
    if number == 0 { "root".to_owned() } else { format!("user {number}") }
}

fn address(endpoint: Option<&Endpoint>) -> &str {
    match endpoint {
        Some(Endpoint::Listen(address) | Endpoint::Connect(address) | Endpoint::Store(address)) => {
            address
        }
        None => "the address",
    }
}

/// An address of this side that cannot be used.
pub fn setting(error: &LinkError, endpoint: Option<&Endpoint>, say: Speech) -> Message {
    let address = address(endpoint);
    match error {
        LinkError::BadAddress => Message::here(
            format!("{address:?} is not an address"),
            "an address is HOST:PORT, for example partner.example:7400 or [::1]:7400",
        ),
        LinkError::PortInUse => Message::here(
            format!("the port of {address} is in use by another program"),
            format!(
                "choose another port with {} and tell the other side, or end the other program",
                say.listen()
            ),
        ),
        LinkError::PortForbidden => Message::here(
            format!("this user may not listen on {address}"),
            "choose a port of 1024 or above",
        ),
        LinkError::NotOurAddress => Message::here(
            format!("{address} is not an address of this machine"),
            "use 0.0.0.0:PORT to listen on all addresses of this machine",
        ),
        LinkError::ListenFailed(kind) => Message::here(
            format!("listening on {address} failed: {}", files::cause(*kind)),
            "choose another address or port",
        ),
        LinkError::NoResources(kind) => match kind {
            io::ErrorKind::WouldBlock => no_threads(say),
            io::ErrorKind::OutOfMemory => no_memory(say),
            kind => Message::here(
                format!("this machine has no resources for a connection: {}", files::cause(*kind)),
                "end other programs, or raise the limits on threads and open files",
            ),
        },
        LinkError::Proxy(ProxyFault::Login) => Message::here(
            format!("the proxy on the way to {address} rejects the login, or requires one"),
            format!(
                "give it as {}, where @ : / and % are written %40 %3A %2F and %25",
                say.either(
                    "--proxy http://USER:PASSWORD@HOST:PORT",
                    "`proxy=\"http://USER:PASSWORD@HOST:PORT\"`"
                )
            ),
        ),
        LinkError::Proxy(ProxyFault::NotAProxy) => Message::here(
            format!(
                "what {} or HTTPS_PROXY names on the way to {address} is not a proxy of that kind",
                say.proxy()
            ),
            format!("check its scheme and port, or connect directly with {}", say.no_proxy()),
        ),
        error => Message::here(
            error.to_string(),
            format!("check {} and {}", say.listen(), say.connect()),
        ),
    }
}

/// The other side has the wrong identity, or uses another protocol.
pub fn incompatible(error: &LinkError, endpoint: Option<&Endpoint>, say: Speech) -> Message {
    let at = address(endpoint);
    let message = match error {
        LinkError::WrongIdentity { presented } => Message::here(
            format!(
                "the other side at {at} has another identity than the agreement names: {presented}"
            ),
            "verify first: it may be an impostor. Check the address, and ask your partner over a \
             channel that you trust which key file it uses; the agreement names another identity",
        ),
        LinkError::OwnIdentity => Message::here(
            "the other side uses the same identity as this side",
            format!("use a different key file ({}) on each side", say.key()),
        ),
        LinkError::RefusedByPeer => Message::here(
            format!("the other side at {at} does not accept this side's identity"),
            "its agreement names another identity for this side: compare `vesica agree show` and \
             the key files on both sides",
        ),
        LinkError::OtherVersion => Message::here(
            format!(
                "the program at {at} uses TLS, but not this session protocol: it is another \
                 version of Vesica, or another program"
            ),
            format!(
                "check the address and the port, and install the same version on both sides; {} \
                 shows it",
                say.version()
            ),
        ),
        LinkError::OtherProtocol => Message::here(
            format!("the program at {at} is not Vesica"),
            "check the address and the port; a proxy must pass the bytes through unchanged",
        ),
        error => {
            Message::here(error.to_string(), "compare versions and settings with the other side")
        }
    };
    Message { who: Who::Peers, ..message }
}

/// There is no connection.
pub fn transport(
    error: &LinkError,
    peer: &str,
    endpoint: Option<&Endpoint>,
    say: Speech,
) -> Message {
    let at = address(endpoint);
    let message = match error {
        LinkError::NoPeer { waited, last } => {
            no_peer(peer, &duration(*waited), last.as_deref(), endpoint, say)
        }
        LinkError::UnknownHost => Message::here(
            format!("the host name in {at} cannot be resolved, so {peer} cannot be reached"),
            "check the spelling and the name server",
        ),
        LinkError::EarlierRun => Message::here(
            format!(
                "{peer} at {at} is still in an earlier run, and waits for this side's earlier \
                 process"
            ),
            "start both sides again; the earlier run ends there now, or once it has noticed that \
             its connection is lost",
        ),
        LinkError::Proxy(ProxyFault::Forbidden) => Message::here(
            format!("the proxy does not allow a connection to {peer} at {at}"),
            format!(
                "ask the proxy's operator to allow this address and port, or connect directly \
                 with {}",
                say.no_proxy()
            ),
        ),
        LinkError::Cancelled => Message::here("interrupted while waiting", "run again"),
        LinkError::NoPeerGiven => return defect("no peer was named to the link", say),
        error => Message::here(
            format!("no connection to {peer} at {at}: {}", reason(error)),
            "check the address, and that the other side is running",
        ),
    };
    Message { who: Who::Network, ..message }
}

fn no_peer(
    peer: &str,
    waited: &str,
    last: Option<&LinkError>,
    endpoint: Option<&Endpoint>,
    say: Speech,
) -> Message {
    let at = address(endpoint);
    let why = last.map_or(String::new(), |last| format!(": {}", reason(last)));
    match (endpoint, last) {
        (_, Some(LinkError::Proxy(fault))) if *fault != ProxyFault::NoRoute => Message::here(
            format!("{peer} could not be reached at {at} within {waited}{why}"),
            format!(
                "check {} or HTTPS_PROXY, or connect directly with {}",
                say.proxy(),
                say.no_proxy()
            ),
        ),
        (Some(Endpoint::Listen(_)), Some(LinkError::WrongIdentity { .. })) => Message::here(
            format!("{peer} did not connect to {at} within {waited}; another program did{why}"),
            "verify first: it may be an impostor. Ask your partner over a channel that you trust \
             which key file it uses",
        ),
        (Some(Endpoint::Listen(_)), _) => Message::here(
            format!("{peer} did not connect to {at} within {waited}{why}"),
            format!(
                "is the other side running with {} and this address? is the port open in the \
                 firewall? to wait longer, add for example {}",
                say.connect(),
                say.wait_longer()
            ),
        ),
        _ => Message::here(
            format!("{peer} could not be reached at {at} within {waited}{why}"),
            format!(
                "is the other side running with {}? are host and port right? to wait longer, add \
                 for example {}",
                say.listen(),
                say.wait_longer()
            ),
        ),
    }
}

/// There is a connection to `peer`, or to the proxy before it.
pub fn connected(
    peer: &str,
    identity: &PublicIdentity,
    address: impl Display,
    is_proxy: bool,
) -> String {
    let place = if is_proxy { "through the proxy at" } else { "at" };
    format!("connected to {peer} ({}) {place} {address}", identity.fingerprint())
}

/// Why a connection was not established, in a few words.
pub fn reason(error: &LinkError) -> String {
    match error {
        LinkError::UnknownHost => "the host name cannot be resolved".to_owned(),
        LinkError::ConnectFailed(kind) => match kind {
            std::io::ErrorKind::ConnectionRefused => "no program listens there yet".to_owned(),
            kind => files::cause(*kind),
        },
        LinkError::Proxy(fault) => proxy_reason(*fault),
        LinkError::WrongIdentity { presented } => {
            format!("its identity {presented} is not the one in the agreement")
        }
        LinkError::OwnIdentity => "it uses the same identity as this side".to_owned(),
        LinkError::RefusedByPeer => "it does not accept this side's identity".to_owned(),
        LinkError::EarlierRun => {
            "it is still in an earlier run, and must be started again".to_owned()
        }
        LinkError::OtherVersion => {
            "it uses TLS, but not this version of the session protocol".to_owned()
        }
        LinkError::OtherProtocol => "it does not use Vesica's session protocol".to_owned(),
        LinkError::Silent(time) => format!("it sent nothing for {}", duration(*time)),
        LinkError::Disconnected => {
            "it closed the connection before the session was established".to_owned()
        }
        LinkError::Crowded => "too many connections at once".to_owned(),
        error => error.to_string(),
    }
}

fn proxy_reason(fault: ProxyFault) -> String {
    match fault {
        ProxyFault::Unreachable(io::ErrorKind::ConnectionRefused) => {
            "no program listens at the proxy's address".to_owned()
        }
        ProxyFault::Unreachable(kind) => {
            format!("the proxy cannot be reached: {}", files::cause(kind))
        }
        fault => format!("the proxy {fault}"),
    }
}
