//! What can go wrong.

use std::fmt;
use std::io;
use vesica_labels::ListError;

/// Why something could not be done. No variant holds an address, a password or a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The address is none.
    #[error("the backend's address is unusable: {0}")]
    BadUrl(#[from] BadUrl),
    /// The server is not there, went away, or takes nobody now. Try again later.
    #[error("the backend cannot be reached ({0})")]
    Unreachable(io::ErrorKind),
    /// The server does not let us in, or not do what is needed.
    #[error("the backend refuses: wrong user or password, or a right is missing")]
    Refused,
    /// The server wants a proof of who we are that is not offered here.
    #[error(
        "the backend asks for a password in a way that would give it away; scram-sha-256 does not"
    )]
    WeakAuthentication,
    /// The server's disk or memory is full.
    #[error("the backend is out of space")]
    OutOfSpace,
    /// The server reports another error.
    #[error("the backend reports {0}")]
    Failed(ServerCode),
    /// The server's answer is not what it can be.
    #[error("the backend's answer makes no sense")]
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
        /// Its place among the lists.
        list: usize,
    },
    /// A list could not be read.
    #[error("list {list} cannot be read ({kind})")]
    Storage {
        /// Its place among the lists.
        list: usize,
        /// What the file system says.
        kind: io::ErrorKind,
    },
}

impl BackendError {
    /// Whether the same call can succeed later, with nothing changed here.
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
            // What a socket with a time limit says on Unix.
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut,
            kind => kind,
        })
    }
}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadUrl {
    /// It does not begin as one.
    #[error("it begins with none of memory:, disk:, redis://, redis+unix:// and postgres://")]
    Scheme,
    /// It wants encryption.
    #[error(
        "encrypted connections are not supported; have the server on this machine, or tunnel to it"
    )]
    Encrypted,
    /// The user's name is missing.
    #[error("the user is missing")]
    User,
    /// The host is missing.
    #[error("the host is missing")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("the port is no number from 1 to 65535")]
    Port,
    /// The database is none.
    #[error("the database is not one name, or of Redis not a number")]
    Database,
    /// A directory or socket is missing, or is where none belongs.
    #[error("the path is missing, or is where none belongs")]
    Path,
    /// A parameter is unknown.
    #[error("a parameter is unknown")]
    Parameter,
    /// A percent sign is followed by no two hexadecimal digits, or they make no text.
    #[error("a percent sign stands for no character")]
    Encoding,
}

/// The code of a server's error: letters and digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ServerCode([u8; 12]);

impl ServerCode {
    /// The first word of what the server says, as far as it is capitals and digits, 12 of them at most.
    pub(crate) fn of(said: &[u8]) -> Self {
        let is_code = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        let mut code = [0; 12];
        let word = said.iter().take_while(|byte| is_code(byte));
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
    fn a_code_holds_nothing_but_capitals_and_digits() {
        for (said, code) in [
            ("WRONGTYPE Operation against a key", "WRONGTYPE"),
            ("42P01", "42P01"),
            ("no such thing", ""),
            ("ABCDEFGHIJKLMNOP", "ABCDEFGHIJKL"),
        ] {
            assert_eq!(ServerCode::of(said.as_bytes()).as_str(), code);
        }
        assert_eq!(
            BackendError::Failed(ServerCode::of(b"X1")).to_string(),
            "the backend reports error X1"
        );
    }
}
