//! A folder on a server with SFTP as a store.
//!
//! The system's `ssh` makes the connection, so the user's configuration, agent and list of known
//! hosts apply. It never prompts.

use crate::error::StoresError;
use crate::runtime::Runtime;
use crate::ssh::{self, Connection, Target};
use openssh_sftp_client::error::{Error, SftpErrorKind};
use openssh_sftp_client::file::{File, TokioCompatFile};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use vesica_store_session::{ActualKind, Lengths, Listed, NotAnObject, Store};

/// The start of the names of incomplete files.
const UNFINISHED: &str = ".unfinished-";

/// For a request with a small body: longer than `ssh` takes to detect that the server is gone.
const SHORT: Duration = Duration::from_secs(90);

/// The lowest speed that the time for an object allows for.
const SLOWEST_BYTES_PER_SECOND: u64 = 64 << 10;

/// How many reads of one file are under way at once: a single one would wait for a round trip for
/// each part of the file.
const READS: usize = 16;

/// Objects are files. An object appears as a hard link to a complete file, or by a rename that
/// replaces nothing, so no reader sees a part of one. Files and folders have the mode that the
/// server gives them.
pub(crate) struct Sftp {
    target: Target,
    root: PathBuf,
    place: String,
    /// The connection, until it is lost. Dropped before the runtime on which it lives.
    connection: Mutex<Option<Arc<Connection>>>,
    runtime: Runtime,
}

/// How long a request that moves this many bytes may take.
fn limit(bytes: u64) -> Duration {
    SHORT + Duration::from_secs(bytes / SLOWEST_BYTES_PER_SECOND)
}

impl Sftp {
    /// The store in the folder `root`, which must exist.
    ///
    /// # Errors
    /// [`StoresError`].
    pub(crate) fn open(target: Target, root: &str) -> Result<Self, StoresError> {
        let place = format!("sftp://{target}{root}");
        // As in other programs, `/~/` is the user's home.
        let root = root.strip_prefix("/~/").or((root == "/~").then_some(".")).unwrap_or(root);
        let runtime = Runtime::new().map_err(|error| StoresError::Runtime(error.kind()))?;
        let connection = Mutex::new(None);
        let store = Self { target, root: PathBuf::from(root), place, connection, runtime };
        let connected = store
            .runtime
            .wait(SHORT, async { Ok(store.target.connect().await) })
            .map_err(|error| StoresError::Ssh(error.kind()))??;
        *store.lock() = Some(Arc::new(connected));
        let root = store.run(limit(0), async |connection: &Connection| {
            connection.sftp.fs().metadata(&store.root).await
        });
        match root {
            Ok(found) if found.file_type().is_some_and(|kind| kind.is_dir()) => Ok(store),
            Ok(_) => Err(StoresError::Folder(ErrorKind::NotADirectory)),
            Err(error) => Err(StoresError::Folder(error.kind())),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Connection>>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `steps` over the connection, and retries them once over a new one if it is lost.
    fn run<T, S>(&self, limit: Duration, steps: S) -> io::Result<T>
    where
        S: AsyncFn(&Connection) -> Result<T, Error>,
    {
        self.runtime.wait(limit, async {
            let kept = self.lock().clone();
            let (connection, is_new) = match kept {
                Some(connection) => (connection, false),
                None => (self.connect().await?, true),
            };
            match steps(&connection).await {
                Err(error) if ssh::is_lost(&error) => self.forget(&connection),
                result => return result.map_err(|error| failed(&error)),
            }
            if is_new {
                return Err(ErrorKind::ConnectionReset.into());
            }
            let connection = self.connect().await?;
            let result = steps(&connection).await;
            if result.as_ref().is_err_and(ssh::is_lost) {
                self.forget(&connection);
            }
            result.map_err(|error| failed(&error))
        })
    }

    async fn connect(&self) -> io::Result<Arc<Connection>> {
        let connection = Arc::new(self.target.connect().await.map_err(|error| error.kind())?);
        *self.lock() = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn forget(&self, lost: &Arc<Connection>) {
        let mut kept = self.lock();
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, lost)) {
            *kept = None;
        }
    }

    /// The entries of `folder`: its folders if `of_folders`, else its files.
    fn entries(&self, folder: &Path, of_folders: bool) -> io::Result<Vec<Listed>> {
        self.run(limit(0), async |connection: &Connection| {
            let entries = match connection.entries(folder).await {
                Err(error) if is_missing(&error) => return Ok(Vec::new()),
                entries => entries?,
            };
            let listed = entries.into_iter().filter_map(|entry| {
                let name = entry.filename().to_str().filter(|name| !name.starts_with('.'))?;
                let metadata = entry.metadata();
                let is_folder = metadata.file_type().is_some_and(|kind| kind.is_dir());
                let written = metadata.modified().map(|time| time.as_system_time());
                (is_folder == of_folders).then(|| Listed {
                    name: name.to_owned(),
                    bytes: metadata.len().unwrap_or_default(),
                    written,
                })
            });
            Ok(listed.collect())
        })
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::SftpError(SftpErrorKind::NoSuchFile, _))
}

/// The system error for an error of the server.
fn failed(error: &Error) -> io::Error {
    let kind = match error {
        error if ssh::is_lost(error) => ErrorKind::ConnectionReset,
        Error::SftpError(SftpErrorKind::NoSuchFile, _) => ErrorKind::NotFound,
        Error::SftpError(SftpErrorKind::PermDenied, _) => ErrorKind::PermissionDenied,
        Error::SftpError(SftpErrorKind::OpUnsupported, _) | Error::UnsupportedExtension(_) => {
            ErrorKind::Unsupported
        }
        Error::IOError(error) => error.kind(),
        Error::SftpError(..) => ErrorKind::Other,
        _ => ErrorKind::InvalidData,
    };
    kind.into()
}

/// Writes a file under a name that is free, and syncs it to the disk.
async fn write_new(connection: &Connection, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let file = connection.sftp.options().write(true).create_new(true).open(path).await?;
    let mut file = Box::pin(TokioCompatFile::new(file));
    file.write_all(bytes).await?;
    file.flush().await?;
    if connection.sftp.support_fsync() {
        file.as_mut().as_mut_file().sync_all().await?;
    }
    Ok(())
}

/// Gives a complete file its name, unless the name is taken.
async fn name_new(connection: &Connection, from: &Path, to: &Path) -> Result<bool, Error> {
    let mut fs = connection.sftp.fs();
    if connection.sftp.support_hardlink() {
        match fs.hard_link(from, to).await {
            Ok(()) => return Ok(true),
            Err(error) if ssh::is_lost(&error) => return Err(error),
            // The server does not say why: its file system may have no links.
            Err(_) if fs.symlink_metadata(to).await.is_ok() => return Ok(false),
            Err(_) => {}
        }
    }
    match fs.rename(from, to).await {
        Ok(()) => Ok(true),
        Err(error) if ssh::is_lost(&error) => Err(error),
        Err(_) if fs.symlink_metadata(to).await.is_ok() => Ok(false),
        Err(error) => Err(error),
    }
}

/// What has the name of an object.
enum Looked {
    Nothing,
    ActualKind(ActualKind),
    File(File, u64),
}

impl Store for Sftp {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let path = self.root.join(name);
        let folder = path.parent().unwrap_or(&self.root);
        let mut suffix = [0; 8];
        rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, &mut suffix)
            .map_err(|_| ErrorKind::Other)?;
        let unfinished = folder.join(format!("{UNFINISHED}{:016x}", u64::from_le_bytes(suffix)));
        let written = self.run(limit(bytes.len() as u64), async |connection: &Connection| {
            let mut fs = connection.sftp.fs();
            // The folder may exist. If it cannot be created, the file cannot either.
            match fs.create_dir(folder).await {
                Err(error) if ssh::is_lost(&error) => return Err(error),
                _ => {}
            }
            // A link would be followed.
            if *folder != self.root
                && !fs.symlink_metadata(folder).await?.file_type().is_some_and(|kind| kind.is_dir())
            {
                return Ok(None);
            }
            // Left by an attempt over a connection that was lost.
            let _ = fs.remove_file(&unfinished).await;
            let written = match write_new(connection, &unfinished, bytes).await {
                Ok(()) => name_new(connection, &unfinished, &path).await,
                Err(error) => Err(error),
            };
            let _ = fs.remove_file(&unfinished).await;
            written.map(Some)
        });
        let folder = name.split('/').next().unwrap_or_default();
        written?.ok_or_else(|| NotAnObject::new(folder, ActualKind::NotAFolder).into())
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        let path = self.root.join(name);
        let mut is_again = false;
        loop {
            // Find out the length first; a short time limit is enough until then.
            let opened = self.run(limit(0), async |connection: &Connection| {
                // The protocol cannot open a file only if it is not a link, so both names are
                // checked first: a server that opens a pipe no longer answers.
                let mut fs = connection.sftp.fs();
                if let Some(folder) = path.parent().filter(|folder| *folder != self.root) {
                    match fs.symlink_metadata(folder).await {
                        Err(error) if is_missing(&error) => return Ok(Looked::Nothing),
                        Ok(found) if !found.file_type().is_some_and(|kind| kind.is_dir()) => {
                            return Ok(Looked::ActualKind(ActualKind::NotAFolder));
                        }
                        found => {
                            found?;
                        }
                    }
                }
                let bytes = match fs.symlink_metadata(&path).await {
                    Err(error) if is_missing(&error) => return Ok(Looked::Nothing),
                    Ok(found) if !found.file_type().is_some_and(|kind| kind.is_file()) => {
                        return Ok(Looked::ActualKind(ActualKind::NotAFile));
                    }
                    found => found?.len().unwrap_or_default(),
                };
                if lengths.check(name, bytes).is_err() {
                    return Ok(Looked::ActualKind(ActualKind::Length { bytes }));
                }
                let mut file = match connection.sftp.open(&path).await {
                    Err(error) if is_missing(&error) => return Ok(Looked::Nothing),
                    file => file?,
                };
                let bytes = file.metadata().await?.len().unwrap_or_default();
                Ok(Looked::File(file, bytes))
            })?;
            let (file, bytes) = match opened {
                Looked::Nothing => return Ok(None),
                Looked::ActualKind(is @ ActualKind::NotAFolder) => {
                    let folder = name.split('/').next().unwrap_or_default();
                    return Err(NotAnObject::new(folder, is).into());
                }
                Looked::ActualKind(is) => return Err(NotAnObject::new(name, is).into()),
                Looked::File(file, bytes) => (file, bytes),
            };
            // Check the length again: the server may have opened another file than the one whose
            // length was checked.
            lengths.check(name, bytes)?;
            let read = self
                .runtime
                .wait(limit(bytes), async move { Ok(ssh::read(&file, bytes, READS).await) })?;
            match read {
                // The next check finds the connection lost, and makes another one.
                Err(error) if ssh::is_lost(&error) && !is_again => is_again = true,
                read => return read.map(Some).map_err(|error| failed(&error)),
            }
        }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.entries(&self.root.join(folder), false)
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let folders = self.entries(&self.root, true)?;
        Ok(folders.into_iter().map(|folder| folder.name).collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.root.join(name);
        self.run(limit(0), async |connection: &Connection| {
            let mut fs = connection.sftp.fs();
            match fs.remove_file(&path).await {
                Err(error) if !is_missing(&error) => return Err(error),
                _ => {}
            }
            // The folder of the run is removed with its last object.
            if let Some(folder) = path.parent().filter(|folder| *folder != self.root) {
                let _ = fs.remove_dir(folder).await;
            }
            Ok(())
        })
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}
