//! Errors of backends.

use std::fmt;
use std::io;
use vesica_labels::ListError;

/// Why an operation failed. No variant holds an address, a password or a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The address is invalid.
    #[error("the backend's address is unusable: {0}")]
    BadUrl(#[from] BadUrl),
    /// The server is unreachable, closed the connection, or accepts no connection now; or the
    /// cluster's folder cannot be read or written. Try again later.
    #[error("the backend cannot be reached ({0})")]
    Unreachable(io::ErrorKind),
    /// The server refuses the login or an operation.
    #[error("the backend refuses: wrong user or password, or a right is missing")]
    Refused,
    /// The server requires a kind of authentication that is not supported.
    #[error("the backend requires the password in a form that reveals it; scram-sha-256 does not")]
    WeakAuthentication,
    /// The server's disk or memory is full.
    #[error("the backend is out of space")]
    OutOfSpace,
    /// The server reports another error.
    #[error("the backend reports {0}")]
    Failed(ServerCode),
    /// The server's answer is invalid.
    #[error("the backend's answer is invalid")]
    Nonsense,
    /// The directory cannot be used.
    #[error("the backend's directory cannot be used ({0})")]
    Directory(io::ErrorKind),
    /// The CPU threads could not be started.
    #[error("CPU threads could not be started")]
    Threads,
    /// A list is malformed: the party that sent it did not follow the format.
    #[error("list {list} is malformed")]
    Malformed {
        /// Its index among the lists.
        list: usize,
    },
    /// A list could not be read.
    #[error("list {list} cannot be read ({kind})")]
    Storage {
        /// Its index among the lists.
        list: usize,
        /// The file system's error.
        kind: io::ErrorKind,
    },
}

impl BackendError {
    /// Whether the same call can succeed later, without a change here.
    pub fn can_pass(&self) -> bool {
        matches!(self, BackendError::Unreachable(_) | BackendError::OutOfSpace)
    }

    pub(crate) fn of_list((list, error): (usize, ListError)) -> Self {
        match error {
            ListError::Io(kind) => BackendError::Storage { list, kind },
            _ => BackendError::Malformed { list },
        }
    }
}

impl From<io::Error> for BackendError {
    fn from(error: io::Error) -> Self {
        BackendError::Unreachable(match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                return BackendError::OutOfSpace;
            }
            // The error of a socket with a time limit on Unix.
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut,
            kind => kind,
        })
    }
}

/// The fault of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadUrl {
    /// Its scheme is unknown.
    #[error(
        "it begins with none of memory:, disk:, redis://, redis+unix://, postgres:// and cluster:"
    )]
    Scheme,
    /// It requires encryption.
    #[error(
        "encrypted connections are not supported; run the server on this machine, or use a tunnel"
    )]
    Encrypted,
    /// The user's name is missing.
    #[error("the user is missing")]
    User,
    /// The host is missing.
    #[error("the host is missing")]
    Host,
    /// The port is not a number from 1 to 65535.
    #[error("the port is not a number from 1 to 65535")]
    Port,
    /// The database is invalid.
    #[error("the database must be one name, for Redis a number")]
    Database,
    /// A directory or socket is missing, or is not allowed.
    #[error("the path is missing or not allowed")]
    Path,
    /// A parameter is unknown.
    #[error("a parameter is unknown")]
    Parameter,
    /// A percent sign is not followed by two hexadecimal digits, or the bytes are not text.
    #[error("a percent sign is not followed by a valid code")]
    Encoding,
}

/// The code of a server's error: letters and digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ServerCode([u8; 12]);

impl ServerCode {
    /// The first word of the server's message, as far as it is capitals and digits, at most 12 of
    /// them.
    pub(crate) fn of(message: &[u8]) -> Self {
        let is_code = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        let mut code = [0; 12];
        let word = message.iter().take_while(|byte| is_code(byte));
        word.zip(&mut code).for_each(|(byte, place)| *place = *byte);
        Self(code)
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        let len = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        std::str::from_utf8(&self.0[..len]).unwrap_or_default()
    }
}

impl fmt::Display for ServerCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            "" => f.write_str("an error without a code"),
            code => write!(f, "error {code}"),
        }
    }
}

impl fmt::Debug for ServerCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerCode({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_only_capitals_and_digits() {
        for (message, code) in [
            ("WRONGTYPE Operation against a key", "WRONGTYPE"),
            ("42P01", "42P01"),
            ("no such thing", ""),
            ("ABCDEFGHIJKLMNOP", "ABCDEFGHIJKL"),
        ] {
            assert_eq!(ServerCode::of(message.as_bytes()).as_str(), code);
        }
        assert_eq!(
            BackendError::Failed(ServerCode::of(b"X1")).to_string(),
            "the backend reports error X1"
        );
    }
}
