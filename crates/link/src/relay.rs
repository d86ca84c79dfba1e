//! An emulated network between two processes on one machine, in user space.

use crate::LinkError;
use crate::sync::{lock, wait};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use vesica_net::{Pacer, Shape};

/// Fewest and most bytes read at once. Small on slow links, so that the first byte of a block does
/// not wait for its last.
const MIN_PIECE_BYTES: u64 = 2 << 10;
const MAX_PIECE_BYTES: u64 = 64 << 10;

/// The time that one piece may take on the wire.
const PIECE_TIME: Duration = Duration::from_micros(200);

/// Bytes the emulated wire holds beyond its bandwidth-delay product.
const SLACK_BYTES: usize = 256 << 10;

/// Bytes on an unlimited wire.
const UNLIMITED_BYTES: usize = 16 << 20;

/// The system's timer cannot serve a shorter wait; the thread yields instead.
const SHORTEST_SLEEP: Duration = Duration::from_micros(20);

/// Pause after an error of the open port.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A TCP relay that forwards bytes like a network of a given [`Shape`].
///
/// For measurements only: it keeps nothing but the bytes in flight. Both directions are limited
/// independently; all connections of one relay share the bandwidth. Bytes leave late by at most a
/// scheduling delay (about 0.1 ms on an idle machine), and a late piece does not delay those after
/// it, so rates are exact. Dropping the relay ends its connections.
pub struct ShapedRelay {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    target: SocketAddr,
    shape: Shape,
    /// One for each direction: to the target, and from it.
    pacers: [Arc<Mutex<Pacer>>; 2],
    stopped: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl ShapedRelay {
    /// Listens on `listen` (port 0 for a free one) and forwards every connection to `target`.
    ///
    /// # Errors
    /// [`LinkError::PortInUse`], [`LinkError::PortForbidden`], [`LinkError::NotOurAddress`],
    /// [`LinkError::ListenFailed`]; [`LinkError::NoResources`] without a thread.
    pub fn start(
        listen: SocketAddr,
        target: SocketAddr,
        shape: Shape,
    ) -> Result<ShapedRelay, LinkError> {
        let listener = TcpListener::bind(listen).map_err(|error| LinkError::listening(&error))?;
        let failed = |error: io::Error| LinkError::ListenFailed(error.kind());
        let address = listener.local_addr().map_err(failed)?;
        let pacer = || Arc::new(Mutex::new(Pacer::new(shape)));
        let shared = Arc::new(Shared {
            target,
            shape,
            pacers: [pacer(), pacer()],
            stopped: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let for_thread = Arc::clone(&shared);
        spawn("vesica-relay", move || accept(&listener, &for_thread))
            .map_err(|error| LinkError::NoResources(error.kind()))?;
        Ok(ShapedRelay { address, shared })
    }

    /// The relay's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ShapedRelay {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        for socket in lock(&self.shared.connections).drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(run).map(drop)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.stopped.load(Ordering::Acquire) {
        let accepted = listener.accept();
        if shared.stopped.load(Ordering::Acquire) {
            return;
        }
        match accepted {
            // To the other side, a target that does not listen yet looks like a peer that does not
            // listen yet.
            Ok((socket, _)) => {
                if let Err(error) = forward(socket, shared) {
                    tracing::debug!(%error, "the relay could not forward a connection");
                }
            }
            Err(_) => std::thread::sleep(ACCEPT_PAUSE),
        }
    }
}

fn forward(socket: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let target = TcpStream::connect(shared.target)?;
    socket.set_nodelay(true)?;
    target.set_nodelay(true)?;
    {
        let mut connections = lock(&shared.connections);
        connections.push(socket.try_clone()?);
        connections.push(target.try_clone()?);
        if shared.stopped.load(Ordering::Acquire) {
            return Ok(());
        }
    }
    let [there, back] = &shared.pacers;
    wire(socket.try_clone()?, target.try_clone()?, there, shared.shape)?;
    wire(target, socket, back, shared.shape)
}

/// One direction: one thread puts bytes on the wire, another takes them off when they are due.
fn wire(from: TcpStream, to: TcpStream, pacer: &Arc<Mutex<Pacer>>, shape: Shape) -> io::Result<()> {
    let wire = Arc::new(Wire { state: Mutex::default(), changed: Condvar::new() });
    let (entry, pacer) = (Arc::clone(&wire), Arc::clone(pacer));
    spawn("vesica-wire-in", move || entry.fill(from, &pacer, shape))?;
    spawn("vesica-wire-out", move || wire.empty(to))
}

struct Wire {
    state: Mutex<OnWire>,
    changed: Condvar,
}

#[derive(Default)]
struct OnWire {
    /// Pieces with their arrival times; an empty piece is the end.
    pieces: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    broken: bool,
}

impl Wire {
    fn fill(&self, mut from: TcpStream, pacer: &Mutex<Pacer>, shape: Shape) {
        let capacity = capacity_bytes(shape);
        let mut buf = vec![0; piece_bytes(shape)];
        loop {
            let len = match from.read(&mut buf) {
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let arrives = lock(pacer).release_at(Instant::now(), len);
            let mut state = lock(&self.state);
            while state.bytes >= capacity && !state.broken {
                state = wait(&self.changed, state);
            }
            if state.broken {
                let _ = from.shutdown(Shutdown::Both);
                return;
            }
            state.bytes += len;
            state.pieces.push_back((arrives, buf[..len].to_vec()));
            drop(state);
            self.changed.notify_all();
            if len == 0 {
                return;
            }
        }
    }

    fn empty(&self, mut to: TcpStream) {
        loop {
            let (arrives, piece) = {
                let mut state = lock(&self.state);
                loop {
                    if let Some(piece) = state.pieces.pop_front() {
                        break piece;
                    }
                    state = wait(&self.changed, state);
                }
            };
            sleep_until(arrives);
            if piece.is_empty() {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            let result = to.write_all(&piece);
            let mut state = lock(&self.state);
            state.bytes -= piece.len();
            state.broken = result.is_err();
            drop(state);
            self.changed.notify_all();
            if result.is_err() {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

/// Capacity of the wire: the bandwidth-delay product, and some slack for the threads.
fn capacity_bytes(shape: Shape) -> usize {
    shape.bits_per_second.map_or(UNLIMITED_BYTES, |rate| {
        let product = u128::from(rate) * shape.one_way_delay.as_nanos() / 8 / 1_000_000_000;
        usize::try_from(product).unwrap_or(usize::MAX).saturating_add(SLACK_BYTES)
    })
}

fn piece_bytes(shape: Shape) -> usize {
    let rate = shape.bits_per_second.unwrap_or(u64::MAX);
    let bytes = u128::from(rate) * PIECE_TIME.as_nanos() / 8 / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX).clamp(MIN_PIECE_BYTES, MAX_PIECE_BYTES) as usize
}

fn sleep_until(at: Instant) {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > SHORTEST_SLEEP {
            std::thread::sleep(left);
        } else {
            std::thread::yield_now();
        }
    }
}
