//! The secret half of an identity, and its file.

use crate::access::{Access, access_to_secret};
use crate::identity::{self, PublicIdentity, SECRET_HRP};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use bech32::Bech32m;
use nix::sys::statvfs::{FsFlags, fstatvfs};
use nix::unistd::geteuid;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_core::Secret;
use zeroize::{Zeroize, Zeroizing};

/// Largest key file that is read. Ours have about 300 bytes.
const MAX_FILE_BYTES: u64 = 4096;

/// An Ed25519 secret key (RFC 8032): anyone who holds it can act as this party.
///
/// Never printed; the seed is wiped when the last clone is dropped.
///
/// ```
/// use vesica_link::{Identity, PublicIdentity};
///
/// let identity = Identity::generate()?;
/// let printed = identity.public().to_string();
/// assert!(printed.starts_with("vesica1"));
/// assert_eq!(printed.parse::<PublicIdentity>()?, identity.public());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Identity {
    seed: Arc<Secret<[u8; 32]>>,
    pair: Arc<Ed25519KeyPair>,
    public: PublicIdentity,
}

/// A key file that cannot be used or written. Holds paths, never key material.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// There is no such file.
    #[error("there is no key file {}", path.display())]
    Missing {
        /// The requested file.
        path: PathBuf,
    },
    /// The operating system refused to read the file.
    #[error("the key file {} cannot be read ({kind})", path.display())]
    Unreadable {
        /// The requested file.
        path: PathBuf,
        /// The operating system's error.
        kind: io::ErrorKind,
    },
    /// The file has another content.
    #[error("{} is not a key file", path.display())]
    NotAKeyFile {
        /// The requested file.
        path: PathBuf,
    },
    /// The key in the file is damaged or cut off.
    #[error("the key in {} is damaged or cut off: its checksum is wrong", path.display())]
    BadChecksum {
        /// The requested file.
        path: PathBuf,
    },
    /// The file holds a public identity in place of a secret key.
    #[error("{} holds a public identity, not a secret key", path.display())]
    IsPublic {
        /// The requested file.
        path: PathBuf,
    },
    /// The file belongs to another user of the machine, who is not the superuser, and neither is
    /// this one.
    #[error("the key file {} belongs to another user ({owner})", path.display())]
    OfAnother {
        /// The requested file.
        path: PathBuf,
        /// The number of the user whom it belongs to.
        owner: u32,
    },
    /// Other users of the machine may read or write the file.
    #[error("other users can get at the key file {} (mode {mode:03o})", path.display())]
    TooOpen {
        /// The requested file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// The number of the user whom it belongs to, unless that is this one.
        owner: Option<u32>,
        /// Whether this user can change the mode: the file is theirs, or they are the superuser,
        /// and the file system can be written.
        can_change: bool,
    },
    /// A file of that name exists; key files are never overwritten.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file to be written.
        path: PathBuf,
    },
    /// The operating system refused to write the file.
    #[error("the key file {} cannot be written ({kind})", path.display())]
    Unwritable {
        /// The file to be written.
        path: PathBuf,
        /// The operating system's error.
        kind: io::ErrorKind,
    },
    /// The operating system provided no randomness.
    #[error("the operating system gave no randomness for a key")]
    NoRandomness,
}

impl Identity {
    /// A new identity from the operating system's randomness.
    ///
    /// # Errors
    /// [`IdentityError::NoRandomness`].
    pub fn generate() -> Result<Self, IdentityError> {
        let mut seed = [0; 32];
        aws_lc_rs::rand::fill(&mut seed).map_err(|_| IdentityError::NoRandomness)?;
        Ok(Self::from_seed(seed))
    }

    fn from_seed(mut bytes: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&bytes)
            .expect("every 32 bytes are an Ed25519 seed");
        let mut public = [0; PublicIdentity::LEN];
        public.copy_from_slice(pair.public_key().as_ref());
        let seed = Arc::new(Secret::new(bytes));
        bytes.zeroize();
        Self { seed, pair: Arc::new(pair), public: PublicIdentity::from_bytes(public) }
    }

    /// The identity to send to the other party.
    pub fn public(&self) -> PublicIdentity {
        self.public
    }

    pub(crate) fn key_pair(&self) -> &Arc<Ed25519KeyPair> {
        &self.pair
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// Any [`IdentityError`] about reading; [`IdentityError::OfAnother`] and
    /// [`IdentityError::TooOpen`] by the rule of [`access_to_secret`](crate::access_to_secret). A
    /// link is followed: what counts is the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, IdentityError> {
        let path = path.as_ref();
        let own_path = || path.to_path_buf();
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => IdentityError::Missing { path: own_path() },
            kind => IdentityError::Unreadable { path: own_path(), kind },
        };
        // Checked before opening: opening a named pipe would block.
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(IdentityError::NotAKeyFile { path: own_path() });
        }
        let file = File::open(path).map_err(unreadable)?;
        let is_read_only = fstatvfs(&file).is_ok_and(|on| on.flags().contains(FsFlags::ST_RDONLY));
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.len() > MAX_FILE_BYTES {
            return Err(IdentityError::NotAKeyFile { path: own_path() });
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES as usize));
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
        let identity = parse(&bytes).map_err(|fault| fault.at(path))?;
        // Checked after the content, so that a public identity is recognised for any owner and
        // mode.
        let owner = metadata.uid();
        match access_to_secret(&metadata) {
            None => Ok(identity),
            Some(Access::Owner) => Err(IdentityError::OfAnother { path: own_path(), owner }),
            Some(Access::Mode { mode }) => {
                let user = geteuid();
                let owner = Some(owner).filter(|owner| *owner != user.as_raw());
                let can_change = !is_read_only && (user.is_root() || owner.is_none());
                Err(IdentityError::TooOpen { path: own_path(), mode, owner, can_change })
            }
        }
    }

    /// Writes a key file with mode 0600. Never overwrites.
    ///
    /// # Errors
    /// [`IdentityError::Exists`], [`IdentityError::Unwritable`]; no partial file is left.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), IdentityError> {
        let path = path.as_ref();
        let unwritable = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityError::Exists { path: path.to_path_buf() },
            kind => IdentityError::Unwritable { path: path.to_path_buf(), kind },
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(unwritable)?;
        let written = file.write_all(self.to_text().as_bytes()).and_then(|()| file.sync_all());
        if let Err(error) = written {
            let _ = fs::remove_file(path);
            return Err(unwritable(error));
        }
        Ok(())
    }

    pub(crate) fn to_text(&self) -> Zeroizing<String> {
        let secret = bech32::encode::<Bech32m>(SECRET_HRP, self.seed.expose())
            .map(Zeroizing::new)
            .expect("32 bytes fit the code");
        // Room for the whole text, so that growing leaves no copy of the key behind.
        let mut text = Zeroizing::new(String::with_capacity(1024));
        text.push_str(
            "# Vesica secret key. Anyone who has this file can act as you: do not share it.\n",
        );
        text.push_str("# The public identity, for the other party, is:\n# ");
        text.push_str(&self.public.to_string());
        text.push('\n');
        text.push_str(&secret);
        text.push('\n');
        text
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("public", &self.public).finish_non_exhaustive()
    }
}

pub(crate) enum Fault {
    NotAKeyFile,
    BadChecksum,
    IsPublic,
}

impl Fault {
    fn at(self, path: &Path) -> IdentityError {
        let path = path.to_path_buf();
        match self {
            Fault::NotAKeyFile => IdentityError::NotAKeyFile { path },
            Fault::BadChecksum => IdentityError::BadChecksum { path },
            Fault::IsPublic => IdentityError::IsPublic { path },
        }
    }
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Identity, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::NotAKeyFile)?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut keys = lines.by_ref().filter(|line| !line.starts_with('#'));
    let Some(key) = keys.next() else {
        // A file cut off before its last line still begins like ours.
        let ours = text.starts_with("# Vesica secret key");
        return Err(if ours { Fault::BadChecksum } else { Fault::NotAKeyFile });
    };
    if keys.next().is_some() {
        return Err(Fault::NotAKeyFile);
    }
    if key.parse::<PublicIdentity>().is_ok() {
        return Err(Fault::IsPublic);
    }
    if !identity::has_prefix(key, SECRET_HRP) {
        let ours = text.starts_with("# Vesica secret key");
        return Err(if ours { Fault::BadChecksum } else { Fault::NotAKeyFile });
    }
    identity::decode(key).map(Identity::from_seed).ok_or(Fault::BadChecksum)
}
