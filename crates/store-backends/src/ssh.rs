//! SFTP over the system's `ssh`.

use crate::error::{SshFault, StoresError};
use openssh_sftp_client::error::Error;
use openssh_sftp_client::file::File;
use openssh_sftp_client::fs::DirEntry;
use openssh_sftp_client::{Sftp, SftpOptions};
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, DuplexStream};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// Names a configuration file for `ssh` to use instead of `~/.ssh/config`.
const CONFIG: &str = "VESICA_SSH_CONFIG";

/// `ssh` never prompts, and detects a lost server within a minute.
const OPTIONS: [&str; 7] = [
    "BatchMode=yes",
    "ConnectTimeout=20",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
];

/// Maximum bytes kept of what `ssh` prints.
const WORDS_MAX_BYTES: usize = 16 << 10;

/// Maximum bytes of a server's first message.
const HELLO_MAX_BYTES: u32 = 4096;

/// The extension for renames that replace a file. The library uses it for every rename if the
/// server offers it.
const REPLACING: &[u8] = b"posix-rename@openssh.com";

/// Bytes that one request reads.
const PART_BYTES: u64 = 128 << 10;

const PIPE_BYTES: usize = 512 << 10;

/// How long `ssh` may take to print why it ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The server and user to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) user: Option<String>,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?
        } else {
            f.write_str(&self.host)?
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// A connection and its `ssh` process, which ends with it.
pub(crate) struct Connection {
    pub(crate) sftp: Sftp,
    _ssh: Child,
}

impl Target {
    /// # Errors
    /// [`StoresError::Ssh`], [`StoresError::SshRefused`].
    pub(crate) async fn connect(&self) -> Result<Connection, StoresError> {
        let mut command = Command::new("ssh");
        if let Some(config) = std::env::var_os(CONFIG) {
            command.arg("-F").arg(config);
        }
        for option in OPTIONS {
            command.args(["-o", option]);
        }
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(user) = &self.user {
            command.args(["-l", user]);
        }
        command.args(["-s", "--", &self.host, "sftp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C goes to all processes of a terminal, but this process is still needed to end the
        // run in order.
        command.process_group(0).kill_on_drop(true);
        let mut ssh = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => StoresError::SshRefused(SshFault::NoProgram),
            kind => StoresError::Ssh(kind),
        })?;
        let broken = StoresError::Ssh(ErrorKind::BrokenPipe);
        let stdin = ssh.stdin.take().ok_or(broken)?;
        let stdout = ssh.stdout.take().ok_or(broken)?;
        let words = Words::of(ssh.stderr.take().ok_or(broken)?);
        let (to, from) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(async move {
            let _ = without_replacing(stdout, to).await;
        });
        let options = SftpOptions::new().flush_interval(Duration::ZERO);
        match Sftp::new(stdin, from, options).await {
            Ok(sftp) => Ok(Connection { sftp, _ssh: ssh }),
            Err(_) => {
                let _ = tokio::time::timeout(LAST_WORDS, ssh.wait()).await;
                Err(words.fault().await)
            }
        }
    }
}

impl Connection {
    /// All entries of `folder`.
    pub(crate) async fn entries(&self, folder: &Path) -> Result<Vec<DirEntry>, Error> {
        let mut reader = Box::pin(self.sftp.fs().open_dir(folder).await?.read_dir());
        let mut entries = Vec::new();
        while let Some(entry) = std::future::poll_fn(|context| {
            futures_core::Stream::poll_next(reader.as_mut(), context)
        })
        .await
        {
            entries.push(entry?);
        }
        Ok(entries)
    }
}

/// Forwards the server's output without its offer of renames that replace.
async fn without_replacing(mut from: ChildStdout, mut to: DuplexStream) -> io::Result<()> {
    let length = from.read_u32().await?;
    if length > HELLO_MAX_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut hello = vec![0; length as usize];
    from.read_exact(&mut hello).await?;
    if let Some(at) = hello.windows(REPLACING.len()).position(|window| window == REPLACING) {
        hello[at] = b'-';
    }
    to.write_u32(length).await?;
    to.write_all(&hello).await?;
    tokio::io::copy(&mut from, &mut to).await.map(drop)
}

/// What `ssh` prints on its standard error.
struct Words {
    printed: Arc<Mutex<Vec<u8>>>,
    reader: tokio::task::JoinHandle<()>,
}

impl Words {
    fn of(mut stderr: ChildStderr) -> Self {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&printed);
        let reader = tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = WORDS_MAX_BYTES.saturating_sub(kept.len());
                kept.extend_from_slice(&buffer[..read.min(room)]);
            }
        });
        Self { printed, reader }
    }

    /// Why there is no connection.
    async fn fault(self) -> StoresError {
        let _ = tokio::time::timeout(LAST_WORDS, self.reader).await;
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        fault(&String::from_utf8_lossy(&printed))
    }
}

/// What the output of `ssh` means.
fn fault(printed: &str) -> StoresError {
    let has = |words: &[&str]| words.iter().any(|word| printed.contains(word));
    if has(&["Host key verification failed", "IDENTIFICATION HAS CHANGED"]) {
        StoresError::SshRefused(SshFault::HostKey)
    } else if has(&["Permission denied", "Too many authentication failures"]) {
        StoresError::SshRefused(SshFault::Login)
    } else if has(&["Could not resolve hostname"]) {
        StoresError::SshRefused(SshFault::UnknownHost)
    } else if has(&["subsystem request failed"]) {
        StoresError::SshRefused(SshFault::NoSftp)
    } else if has(&["Connection refused"]) {
        StoresError::Ssh(ErrorKind::ConnectionRefused)
    } else if has(&["timed out"]) {
        StoresError::Ssh(ErrorKind::TimedOut)
    } else if has(&["No route to host", "Network is unreachable"]) {
        StoresError::Ssh(ErrorKind::HostUnreachable)
    } else if has(&["onfiguration option", "Can't open user config file"]) {
        StoresError::SshRefused(SshFault::Settings)
    } else {
        StoresError::Ssh(ErrorKind::ConnectionReset)
    }
}

/// Whether an error means that the connection is lost.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::SftpError(..) | Error::UnsupportedExtension(_) => false,
        Error::IOError(error) => !matches!(error.kind(), ErrorKind::InvalidInput),
        _ => true,
    }
}

/// The first `bytes` of `file`, or as many as it has; up to `reads` requests are under way at once.
pub(crate) async fn read(file: &File, bytes: u64, reads: usize) -> Result<Vec<u8>, Error> {
    let parts = bytes.div_ceil(PART_BYTES);
    let mut whole = Vec::new();
    let mut on_the_way = std::collections::VecDeque::new();
    for part in 0..parts {
        let (from, to) = (part * PART_BYTES, bytes.min((part + 1) * PART_BYTES));
        let file = file.clone();
        on_the_way.push_back(tokio::spawn(read_part(file, from, (to - from) as u32)));
        if on_the_way.len() == reads || part + 1 == parts {
            let wanted = if part + 1 == parts { 0 } else { reads - 1 };
            while on_the_way.len() > wanted {
                let Some(next) = on_the_way.pop_front() else { break };
                whole.extend_from_slice(&next.await??);
            }
        }
    }
    Ok(whole)
}

async fn read_part(mut file: File, from: u64, bytes: u32) -> Result<Vec<u8>, Error> {
    let mut part = Vec::with_capacity(bytes as usize);
    while part.len() < bytes as usize {
        // The library advances by what it asked for, not by what it got.
        file.seek(io::SeekFrom::Start(from + part.len() as u64)).await?;
        match file.read(bytes - part.len() as u32, bytes::BytesMut::new()).await? {
            Some(read) => part.extend_from_slice(&read),
            None => break,
        }
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_is_understood() {
        for (printed, expected) in [
            ("a@b: Permission denied (publickey).", StoresError::SshRefused(SshFault::Login)),
            ("Host key verification failed.", StoresError::SshRefused(SshFault::HostKey)),
            (
                "ssh: Could not resolve hostname a: Name or service not known",
                StoresError::SshRefused(SshFault::UnknownHost),
            ),
            (
                "ssh: connect to host a port 22: Connection refused",
                StoresError::Ssh(ErrorKind::ConnectionRefused),
            ),
            (
                "ssh: connect to host a port 22: Connection timed out",
                StoresError::Ssh(ErrorKind::TimedOut),
            ),
            ("subsystem request failed on channel 0", StoresError::SshRefused(SshFault::NoSftp)),
            ("x: line 1: Bad configuration option: y", StoresError::SshRefused(SshFault::Settings)),
            ("", StoresError::Ssh(ErrorKind::ConnectionReset)),
        ] {
            assert_eq!(fault(printed), expected, "{printed}");
        }
    }
}
