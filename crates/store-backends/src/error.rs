//! Why a place cannot be used.

use std::io;

/// The service that keeps the objects of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Amazon S3, or a service with its protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

/// What is wrong with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlFault {
    /// It names no bucket or no host.
    NoName,
    /// It names no folder.
    NoPath,
    /// It holds a password or a key.
    Secret,
    /// It has a part that its scheme does not have: a user, a port, a query.
    Extra,
    /// The name of a host, user, bucket or folder in it has a character, or a form, that such names
    /// do not have.
    Name,
    /// The port is not a number from 1 to 65535.
    Port,
}

/// Why `ssh` cannot connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SshFault {
    /// The program is not installed.
    NoProgram,
    /// The server's key is unknown, or differs from the known one.
    HostKey,
    /// The server accepts none of the user's keys.
    Login,
    /// The host's name cannot be resolved.
    UnknownHost,
    /// The server does not offer SFTP.
    NoSftp,
    /// The settings of `ssh` are wrong.
    Settings,
}

/// Why the store at a URL, or in a folder, cannot be used. The error never holds the URL, which may
/// contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoresError {
    /// The folder cannot be used.
    #[error("the folder cannot be used ({0})")]
    Folder(io::ErrorKind),
    /// The URL's scheme is not one of [`SCHEMES`](crate::SCHEMES).
    #[error("no store has this scheme")]
    UnknownScheme,
    /// The URL does not name a place.
    #[error("the URL is wrong ({0:?})")]
    Url(UrlFault),
    /// Neither the environment nor the machine has credentials for the service.
    #[error("no credentials for {0:?}")]
    NoCredentials(Service),
    /// An environment variable for the service has a value that cannot be used.
    #[error("the settings for {0:?} cannot be used")]
    Settings(Service),
    /// The bucket is in another region.
    #[error("the bucket is in another region")]
    OtherRegion,
    /// There is no such bucket.
    #[error("{0:?} has no such bucket")]
    NoBucket(Service),
    /// The service refuses the credentials, or they do not permit the request.
    #[error("{0:?} refuses access")]
    Refused(Service),
    /// The service failed in another way.
    #[error("{service:?} cannot be used ({kind})")]
    Service {
        /// The service.
        service: Service,
        /// How it failed.
        kind: io::ErrorKind,
    },
    /// `ssh` could not connect, for a reason that it gave.
    #[error("ssh does not connect ({0:?})")]
    SshRefused(SshFault),
    /// `ssh` could not connect, or the connection failed.
    #[error("ssh does not connect ({0})")]
    Ssh(io::ErrorKind),
    /// Threads for transfers could not be started.
    #[error("no threads for transfers ({0})")]
    Runtime(io::ErrorKind),
}

impl StoresError {
    /// The system error kind for this error, for a store in use.
    pub(crate) fn kind(self) -> io::ErrorKind {
        match self {
            Self::Folder(kind)
            | Self::Service { kind, .. }
            | Self::Ssh(kind)
            | Self::Runtime(kind) => kind,
            Self::SshRefused(SshFault::HostKey | SshFault::Login) | Self::Refused(_) => {
                io::ErrorKind::PermissionDenied
            }
            Self::SshRefused(SshFault::UnknownHost) => io::ErrorKind::HostUnreachable,
            Self::NoBucket(_) => io::ErrorKind::NotFound,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}
