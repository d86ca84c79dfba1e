//! Connections to servers.

use crate::BackendError;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// How long to wait for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How long a server may be silent: a hundred times its time for the largest piece of work.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl Endpoint {
    pub(crate) fn connect(&self) -> Result<Socket, BackendError> {
        match self {
            Endpoint::Tcp { host, port } => {
                let mut last = io::ErrorKind::AddrNotAvailable.into();
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, CONNECT_LIMIT) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            stream.set_read_timeout(Some(SILENCE_LIMIT))?;
                            stream.set_write_timeout(Some(SILENCE_LIMIT))?;
                            return Ok(Socket::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last.into())
            }
            Endpoint::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(SILENCE_LIMIT))?;
                stream.set_write_timeout(Some(SILENCE_LIMIT))?;
                Ok(Socket::Unix(stream))
            }
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Another handle of the connection, for another thread.
    pub(crate) fn again(&self) -> io::Result<Self> {
        match self {
            Socket::Tcp(stream) => stream.try_clone().map(Socket::Tcp),
            Socket::Unix(stream) => stream.try_clone().map(Socket::Unix),
        }
    }

    /// Closes the connection for all threads that use it.
    pub(crate) fn end(&self) {
        // An already closed one is not an error here.
        let _ = match self {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.flush(),
            Socket::Unix(stream) => stream.flush(),
        }
    }
}
