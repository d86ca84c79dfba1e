//! A TCP connection.

use crate::LinkError;
use crate::address::addresses_of;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A socket, and the address at its other end.
pub(super) type Opened = (TcpStream, SocketAddr);

/// A connection to the first address of `host` that answers. Blocks as long as the system likes to
/// resolve the name, and at each address at most `limit`.
pub(super) fn open(host: &str, port: u16, limit: Duration) -> Result<Opened, LinkError> {
    let mut last = LinkError::UnknownHost;
    for address in addresses_of(host, port)? {
        match TcpStream::connect_timeout(&address, limit) {
            // When the system picks the target port as the source port too, a socket connects to
            // itself. No process listens there.
            Ok(socket) if socket.local_addr().is_ok_and(|own| own == address) => {
                last = LinkError::ConnectFailed(io::ErrorKind::ConnectionRefused);
            }
            Ok(socket) => return Ok((socket, address)),
            // The next address would fail for lack of memory too.
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                return Err(LinkError::NoResources(error.kind()));
            }
            Err(error) => last = LinkError::ConnectFailed(error.kind()),
        }
    }
    Err(last)
}
