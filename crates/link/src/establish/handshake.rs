//! One connection during its handshake; never blocks.

use super::attempt::{HANDSHAKE_LIMIT, Intent};
use super::poll::{Interest, wait_ready};
use crate::authenticated::Authenticated;
use crate::frame::{Frame, MAX_DATA_LEN};
use crate::sync::Deadline;
use crate::tls::{self, Tls};
use crate::{LinkError, PublicIdentity};
use rustls::Connection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;
use vesica_core::{Secret, hash};
use vesica_net::StreamId;

/// First bytes inside TLS, from each side: a magic, the idle limit in milliseconds, the intent, and
/// a proof that the sender is in the session to mend. A side that receives them knows that the
/// other accepted its identity.
const MAGIC: [u8; 8] = *b"vesica/2";
const INTENT_AT: usize = 12;
const PROOF_AT: usize = 13;
const GREETING_LEN: usize = 45;

/// The label of the secret that a new connection of a session takes from TLS.
const EXPORT_AGAIN: &[u8] = b"EXPORTER-vesica-again";

/// The label of the proof that a side is in the session to mend.
const PROOF: &str = "vesica link 2026 proof of a session";

/// A side that rejects a connection keeps reading this long, so that a reset does not discard its
/// alert.
const LINGER: Duration = Duration::from_millis(500);

/// A handshake in progress on a non-blocking socket.
pub(super) struct Handshake {
    socket: TcpStream,
    address: SocketAddr,
    tls: Connection,
    initiator: bool,
    idle: Duration,
    intent: Intent,
    deadline: Deadline,
    peer: Option<PublicIdentity>,
    greeting: [u8; GREETING_LEN],
    greeting_len: usize,
    /// The bytes that this side sends on the first stream without waiting for the other's greeting.
    first: Vec<u8>,
    sent_bytes: u64,
    received_bytes: u64,
}

impl Handshake {
    pub(super) fn new(
        socket: TcpStream,
        address: SocketAddr,
        tls: Connection,
        idle: Duration,
        intent: Intent,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket,
            address,
            initiator: matches!(tls, Connection::Client(_)),
            tls,
            idle,
            intent,
            deadline: Deadline::after(HANDSHAKE_LIMIT),
            peer: None,
            greeting: [0; GREETING_LEN],
            greeting_len: 0,
            first: Vec::new(),
            sent_bytes: 0,
            received_bytes: 0,
        })
    }

    /// Sends `first`, at most [`MAX_DATA_LEN`] bytes, on the first stream right behind the
    /// greeting: then the other side is authenticated, and need not have accepted this one yet.
    pub(super) fn with_first_bytes(self, first: &[u8]) -> Self {
        debug_assert!(first.len() <= MAX_DATA_LEN);
        Self { first: first.to_vec(), ..self }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn interest(&self) -> Interest<'_> {
        Interest { fd: self.socket.as_fd(), write: self.tls.wants_write() }
    }

    /// Whether the other side has sent nothing yet.
    pub(super) fn is_silent(&self) -> bool {
        self.received_bytes == 0
    }

    pub(super) fn is_overdue(&self) -> bool {
        self.deadline.is_over()
    }

    /// Advances as far as the socket allows; `Ok(true)` when the session can start.
    ///
    /// # Errors
    /// Any [`LinkError`] about the other side; the connection is unusable afterwards.
    pub(super) fn advance(&mut self, settings: &Tls) -> Result<bool, LinkError> {
        loop {
            self.write()?;
            if self.peer.is_none() && !self.tls.is_handshaking() {
                // Only after our last flight is sent, so that the other side can check it too.
                if self.tls.wants_write() {
                    return Ok(false);
                }
                self.peer = Some(settings.peer_of(&self.tls)?);
                self.send_greeting()?;
                continue;
            }
            if self.peer.is_some() && self.read_greeting()? {
                self.write()?;
                return Ok(!self.tls.wants_write());
            }
            match self.tls.read_tls(&mut self.socket) {
                Ok(0) => return Err(LinkError::Disconnected),
                Ok(len) => self.received_bytes += len as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(LinkError::Disconnected),
            }
            if let Err(error) = self.tls.process_new_packets() {
                // The alert tells the other side why; a failure to send it changes nothing.
                let _ = self.write();
                return Err(tls::classify(&error));
            }
        }
    }

    pub(super) fn into_authenticated(self) -> Result<Authenticated, LinkError> {
        let peer = self.peer.ok_or(LinkError::OtherProtocol)?;
        let [_, _, _, _, _, _, _, _, a, b, c, d, theirs, ..] = self.greeting;
        let mendable = matches!(self.intent, Intent::Mendable) && theirs == Intent::Mendable.code();
        Ok(Authenticated {
            socket: self.socket,
            address: self.address,
            is_proxy: false,
            tls: self.tls,
            initiator: self.initiator,
            peer,
            peer_idle: Duration::from_millis(u32::from_le_bytes([a, b, c, d]).into()),
            mendable,
            early_bytes: self.first.len(),
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
        })
    }

    /// The rest of a rejected connection, kept until the other side has read our alert.
    pub(super) fn into_closing(self) -> Closing {
        let _ = self.socket.shutdown(Shutdown::Write);
        Closing { socket: self.socket, deadline: Deadline::after(LINGER) }
    }

    fn write(&mut self) -> Result<(), LinkError> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(len) => self.sent_bytes += len as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(LinkError::Disconnected),
            }
        }
        Ok(())
    }

    fn send_greeting(&mut self) -> Result<(), LinkError> {
        let idle_ms = u32::try_from(self.idle.as_millis()).unwrap_or(u32::MAX);
        let mut greeting = [0; GREETING_LEN];
        greeting[..8].copy_from_slice(&MAGIC);
        greeting[8..INTENT_AT].copy_from_slice(&idle_ms.to_le_bytes());
        greeting[INTENT_AT] = self.intent.code();
        if let Intent::Again(root) = &self.intent {
            greeting[PROOF_AT..].copy_from_slice(&self.proof(root, self.initiator)?);
        }
        let mut message = greeting.to_vec();
        if !self.first.is_empty() {
            let (stream, len) = (StreamId::ROOT, self.first.len());
            message.extend_from_slice(&Frame::Data { stream, len }.encode());
            message.extend_from_slice(&self.first);
        }
        self.tls.writer().write_all(&message).map_err(|_| LinkError::Disconnected)
    }

    /// Reads the part of the other side's greeting that has arrived; returns whether it is
    /// complete. What follows it stays inside the TLS connection.
    fn read_greeting(&mut self) -> Result<bool, LinkError> {
        while self.greeting_len < GREETING_LEN {
            match self.tls.reader().read(&mut self.greeting[self.greeting_len..]) {
                Ok(0) => return Err(LinkError::Disconnected),
                Ok(len) => self.greeting_len += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(LinkError::Disconnected),
            }
        }
        if !self.greeting.starts_with(&MAGIC) {
            return Err(LinkError::OtherVersion);
        }
        let theirs_is_again = match self.greeting[INTENT_AT] {
            code if code <= Intent::Mendable.code() => false,
            Intent::AGAIN => true,
            _ => return Err(LinkError::OtherVersion),
        };
        match (&self.intent, theirs_is_again) {
            (Intent::Plain | Intent::Mendable, false) => Ok(true),
            (Intent::Plain | Intent::Mendable, true) => Err(LinkError::EarlierRun),
            (Intent::Again(_), false) => Err(LinkError::NewRun),
            (Intent::Again(root), true) => {
                let expected = self.proof(root, !self.initiator)?;
                // In constant time: the proof of the other side is a secret until it is given.
                let same = aws_lc_rs::constant_time::verify_slices_are_equal(
                    &expected,
                    &self.greeting[PROOF_AT..],
                );
                same.map(|()| true).map_err(|_| LinkError::NewRun)
            }
        }
    }

    /// Proves on this connection that a side knows the session's root secret. The proof is
    /// worthless on another connection, and when it is sent back to its sender.
    fn proof(&self, root: &Secret<[u8; 32]>, initiator: bool) -> Result<[u8; 32], LinkError> {
        let mut exported = Secret::new([0; 32]);
        self.tls
            .export_keying_material(exported.expose_mut(), EXPORT_AGAIN, None)
            .map_err(|_| LinkError::Disconnected)?;
        Ok(hash::derive(PROOF, &[root.expose(), exported.expose(), &[u8::from(initiator)]]))
    }
}

/// A rejected connection that is still read, so that closing it does not reset it.
pub(super) struct Closing {
    socket: TcpStream,
    deadline: Deadline,
}

impl Closing {
    pub(super) fn interest(&self) -> Interest<'_> {
        Interest { fd: self.socket.as_fd(), write: false }
    }

    /// Discards what has arrived; returns whether the connection can be dropped now.
    pub(super) fn is_over(&mut self) -> bool {
        let mut rubbish = [0; 4096];
        loop {
            if self.deadline.is_over() {
                return true;
            }
            match self.socket.read(&mut rubbish) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
        }
    }

    /// Waits until the other side closes or the time limit passes.
    pub(super) fn finish(mut self) {
        while !self.is_over() {
            wait_ready(&[self.interest()], self.deadline.remaining());
        }
    }
}
