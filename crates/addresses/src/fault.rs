//! Why a proxy makes no connection.

use std::io;

/// Why a proxy did not make a connection. Completes the sentence "the proxy …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyFault {
    /// Its host name has no address.
    #[error("has a host name without an address")]
    UnknownHost,
    /// No connection to it.
    #[error("cannot be reached ({0})")]
    Unreachable(io::ErrorKind),
    /// It wants a login, or refuses the given one.
    #[error("does not accept the login")]
    Login,
    /// Its rules do not allow the connection.
    #[error("does not allow the connection")]
    Forbidden,
    /// It could not reach the other side; it may later.
    #[error("could not reach the other side")]
    NoRoute,
    /// It closed the connection before it answered.
    #[error("closed the connection")]
    Closed,
    /// It did not answer in time.
    #[error("did not answer")]
    Silent,
    /// It cannot be asked for that host, which has a character that no host name has.
    #[error("cannot be asked for this host")]
    Host,
    /// It answered something else than a proxy of its kind.
    #[error("is another program")]
    NotAProxy,
}

impl ProxyFault {
    /// Whether another attempt would end the same.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Login | Self::Forbidden | Self::Host | Self::NotAProxy)
    }
}
