//! A connection between two programs on this machine with a fault at one byte.

#![allow(unreachable_pub, dead_code, reason = "a module of several tests")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A direction of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the connecting side.
    There,
    /// To the connecting side.
    Back,
}

/// The fault at a byte of the first connection.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Its bits are changed by this mask.
    Damage(u8),
    /// It is lost, and the connection with it.
    Cut,
}

/// The wire. Its threads end with its connections.
pub struct Wire {
    /// The address for the connecting side.
    pub address: SocketAddr,
    passed: Arc<[AtomicU64; 2]>,
    holds: Arc<AtomicBool>,
}

impl Wire {
    /// A wire to `target` with one `fault` at the byte `offset` in the direction `way`; later
    /// connections are whole.
    pub fn to(target: SocketAddr, way: Way, offset: u64, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let passed = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let counts = Arc::clone(&passed);
        let holds = Arc::new(AtomicBool::new(false));
        let held = Arc::clone(&holds);
        std::thread::spawn(move || {
            let mut fault = Some(fault);
            for near in listener.incoming() {
                let Ok(near) = near else { return };
                let Ok(far) = TcpStream::connect(target) else { continue };
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                let first = fault.take();
                for this in [Way::There, Way::Back] {
                    let (Ok(near), Ok(far)) = (near.try_clone(), far.try_clone()) else { return };
                    let (from, into) = if this == Way::There { (near, far) } else { (far, near) };
                    let fault = first.filter(|_| this == way).map(|fault| (offset, fault));
                    let (counts, held) = (Arc::clone(&counts), Arc::clone(&held));
                    std::thread::spawn(move || {
                        carry(from, into, fault, &counts[this as usize], &held);
                    });
                }
            }
        });
        Self { address, passed, holds }
    }

    /// Holds back later bytes, or releases them.
    pub fn hold(&self, holds: bool) {
        self.holds.store(holds, Ordering::SeqCst);
    }

    /// Bytes that passed, summed over all connections: from the connecting side, and to it.
    pub fn passed(&self) -> (u64, u64) {
        let [there, back] = &*self.passed;
        (there.load(Ordering::SeqCst), back.load(Ordering::SeqCst))
    }
}

fn carry(
    mut from: TcpStream,
    mut into: TcpStream,
    fault: Option<(u64, Fault)>,
    passed: &AtomicU64,
    holds: &AtomicBool,
) {
    let mut position = 0;
    let mut buf = vec![0; 64 << 10];
    loop {
        let len = match from.read(&mut buf) {
            Ok(0) | Err(_) => break,
            Ok(len) => len,
        };
        let bytes = &mut buf[..len];
        let here = fault.and_then(|(offset, fault)| {
            let index = usize::try_from(offset.checked_sub(position)?).ok()?;
            (index < len).then_some((index, fault))
        });
        position += len as u64;
        while holds.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let sent = match here {
            Some((index, Fault::Damage(mask))) => {
                bytes[index] ^= mask;
                into.write_all(bytes)
            }
            Some((index, Fault::Cut)) => {
                let _ = into.write_all(&bytes[..index]);
                let _ = (from.shutdown(Shutdown::Both), into.shutdown(Shutdown::Both));
                return;
            }
            None => into.write_all(bytes),
        };
        if sent.is_err() {
            let _ = from.shutdown(Shutdown::Both);
            return;
        }
        passed.fetch_add(len as u64, Ordering::SeqCst);
    }
    let _ = into.shutdown(Shutdown::Write);
}
