//! Addresses: a host and a port.

use crate::LinkError;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use vesica_addresses::split_address;

/// Checks that `address` has the form `host:port`, with brackets around an IPv6 address. Does not
/// resolve the name.
///
/// # Errors
/// [`LinkError::BadAddress`].
pub fn check_address(address: &str) -> Result<(), LinkError> {
    split_address(address).map(drop).ok_or(LinkError::BadAddress)
}

/// Like [`check_address`], for an address to connect to, whose port is not 0.
///
/// # Errors
/// [`LinkError::BadAddress`].
pub fn check_peer_address(address: &str) -> Result<(), LinkError> {
    match split_address(address).ok_or(LinkError::BadAddress)? {
        (_, 0) => Err(LinkError::BadAddress),
        _ => Ok(()),
    }
}

/// All addresses of `host`, each once. `localhost` has both loopback addresses, regardless of the
/// system's list of hosts (RFC 6761, section 6.3).
pub(crate) fn addresses_of(host: &str, port: u16) -> Result<Vec<SocketAddr>, LinkError> {
    let mut addresses = Vec::new();
    if host.eq_ignore_ascii_case("localhost") {
        addresses.push(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        addresses.push(SocketAddr::from((Ipv6Addr::LOCALHOST, port)));
        return Ok(addresses);
    }
    for address in (host, port).to_socket_addrs().map_err(|_| LinkError::UnknownHost)? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}
