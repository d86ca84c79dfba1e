//! The connecting side: tries again until the peer listens.

use super::attempt::{Attempt, CANCEL_TICK, HANDSHAKE_LIMIT, Intent, WAITING_EVENT_EVERY};
use super::event::LinkEvent;
use super::handshake::Handshake;
use super::poll::wait_ready;
use super::tcp::{self, Opened};
use crate::LinkError;
use crate::authenticated::Authenticated;
use crate::sync::Deadline;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use vesica_addresses::{Proxy, ProxyFault, ask, split_address};

/// First and longest pause between two attempts.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The connection to the peer at `address`, as soon as there is one.
pub(super) fn connect(attempt: &Attempt<'_>, address: &str) -> Result<Authenticated, LinkError> {
    let (host, port) = split_address(address).ok_or(LinkError::BadAddress)?;
    let mut waiting = Waiting::new(attempt);
    let mut pause = FIRST_PAUSE;
    let mut suspected = None;
    loop {
        let error = match try_once(attempt, &mut waiting, host, port) {
            Ok(authenticated) => return Ok(authenticated),
            // One damaged byte can make the expected peer look like another program. The same error
            // twice is no accident.
            Err(error) if error.may_be_damage() && suspected.as_ref() != Some(&error) => {
                suspected = Some(error.clone());
                error
            }
            Err(error) if error.is_final() && attempt.gives_up_at(&error) => return Err(error),
            Err(error) => error,
        };
        tracing::debug!(%error, "an attempt to connect failed");
        waiting.note(error);
        let again_at = Deadline::after(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
        while !again_at.is_over() {
            waiting.tick()?;
            attempt.caller.cancel.wait(waiting.at_most(again_at.remaining()));
        }
    }
}

/// The time left to wait for the peer, and what to report meanwhile.
struct Waiting<'a, 'b> {
    attempt: &'a Attempt<'b>,
    deadline: Deadline,
    reported_at: Option<Instant>,
    last: Option<LinkError>,
}

impl Attempt<'_> {
    /// Whether an error that the same peer would answer again ends the attempt. A session to mend
    /// may find another program at the address while its peer is away; only a new run of the peer
    /// is final.
    fn gives_up_at(&self, error: &LinkError) -> bool {
        !matches!(self.intent, Intent::Again(_))
            || matches!(error, LinkError::NewRun | LinkError::Cancelled | LinkError::NoPeer { .. })
    }
}

impl<'a, 'b> Waiting<'a, 'b> {
    fn new(attempt: &'a Attempt<'b>) -> Self {
        let deadline = Deadline::after(attempt.options.wait);
        Self { attempt, deadline, reported_at: None, last: None }
    }

    fn note(&mut self, error: LinkError) {
        self.last = Some(error);
    }

    fn at_most(&self, time: Duration) -> Duration {
        time.min(CANCEL_TICK).min(self.deadline.remaining())
    }

    /// Ends the wait when it is cancelled or over; sends an event once a second.
    fn tick(&mut self) -> Result<(), LinkError> {
        self.attempt.caller.check_cancel()?;
        if self.deadline.is_over() {
            return Err(LinkError::NoPeer {
                waited: self.attempt.options.wait,
                last: self.last.clone().map(Box::new),
            });
        }
        if self.reported_at.is_none_or(|at| at.elapsed() >= WAITING_EVENT_EVERY) {
            // A first attempt that succeeds at once is not a wait.
            if self.reported_at.is_some() || self.last.is_some() {
                let (remaining, last) = (self.deadline.remaining(), self.last.clone());
                (self.attempt.caller.on_event)(LinkEvent::Waiting { remaining, last });
            }
            self.reported_at = Some(Instant::now());
        }
        Ok(())
    }
}

fn try_once(
    attempt: &Attempt<'_>,
    waiting: &mut Waiting<'_, '_>,
    host: &str,
    port: u16,
) -> Result<Authenticated, LinkError> {
    let (socket, address) = open_socket(waiting, host, port)?;
    let tls = attempt.tls.connecting(host)?;
    let (idle, intent) = (attempt.options.idle, attempt.intent.clone());
    let mut handshake = Handshake::new(socket, address, tls, idle, intent)
        .map_err(|error| LinkError::ConnectFailed(error.kind()))?
        .with_first_bytes(attempt.first);
    loop {
        match handshake.advance(&attempt.tls) {
            Ok(true) => {
                let is_proxy = attempt.options.proxy.is_some();
                return handshake.into_authenticated().map(|met| Authenticated { is_proxy, ..met });
            }
            Ok(false) if handshake.is_overdue() => return Err(LinkError::Silent(HANDSHAKE_LIMIT)),
            Ok(false) => {}
            Err(error) => {
                handshake.into_closing().finish();
                return Err(error);
            }
        }
        if waiting.deadline.is_over() {
            waiting.note(LinkError::Silent(attempt.options.wait.min(HANDSHAKE_LIMIT)));
        }
        waiting.tick()?;
        wait_ready(&[handshake.interest()], waiting.at_most(CANCEL_TICK));
    }
}

/// A TCP connection to `host`, through the proxy if there is one; then the address is the proxy's.
///
/// Name resolution and connecting block for as long as the system likes, so they run on their own
/// thread. If the wait ends first, the thread ends at its own time limit soon after.
fn open_socket(waiting: &mut Waiting<'_, '_>, host: &str, port: u16) -> Result<Opened, LinkError> {
    let (sender, receiver) = mpsc::channel();
    let (host, proxy) = (host.to_owned(), waiting.attempt.options.proxy.clone());
    std::thread::Builder::new()
        .name("vesica-connect".into())
        .spawn(move || {
            // No thread receives after the end of the wait.
            let _ = sender.send(match proxy {
                Some(proxy) => through(&proxy, &host, port),
                None => tcp::open(&host, port, HANDSHAKE_LIMIT),
            });
        })
        .map_err(|error| LinkError::NoResources(error.kind()))?;
    loop {
        match receiver.recv_timeout(waiting.at_most(CANCEL_TICK)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => waiting.tick()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(LinkError::ConnectFailed(io::ErrorKind::Other));
            }
        }
    }
}

/// A connection to `host` that the proxy makes, and the proxy's address.
fn through(proxy: &Proxy, host: &str, port: u16) -> Result<Opened, LinkError> {
    let (socket, address) =
        tcp::open(proxy.host(), proxy.port(), HANDSHAKE_LIMIT).map_err(|error| match error {
            LinkError::UnknownHost => ProxyFault::UnknownHost.into(),
            LinkError::ConnectFailed(kind) => ProxyFault::Unreachable(kind).into(),
            error => error,
        })?;
    ask(proxy, &socket, host, port, HANDSHAKE_LIMIT)?;
    Ok((socket, address))
}
