//! Two parties in one process, over a plain or a tampering in-memory connection.

#![allow(dead_code, unreachable_pub, reason = "a part of each test file, and each uses a part")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use vesica_core::{Block, Error, Result, Role, SessionId};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_ot::Traffic;

pub mod tamper;

/// The session of all tests.
pub const SESSION: SessionId = SessionId::from_bytes([7; 32]);

/// What both parties of a run ended with.
pub struct Run<A, B> {
    pub sender: Result<A>,
    pub receiver: Result<B>,
    pub traffic: Traffic,
    /// Changes of direction of the party that waits least.
    pub flights: u64,
}

impl<A, B> Run<A, B> {
    /// Both results of a run that nobody disturbed.
    pub fn unwrap(self) -> (A, B) {
        match (self.sender, self.receiver) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => panic!("sender: {:?}, receiver: {:?}", a.err(), b.err()),
        }
    }
}

/// How to run two parties.
#[derive(Clone)]
pub struct Setting {
    pub threads: usize,
    pub seed: u8,
    pub idle: Duration,
    pub tampering: Option<tamper::Tampering>,
    /// Whether the sender of transfers is the protocol's receiver.
    pub reversed: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            threads: 1,
            seed: 1,
            idle: Duration::from_secs(60),
            tampering: None,
            reversed: false,
        }
    }
}

impl Setting {
    pub fn run<A: Send, B: Send>(
        &self,
        sender: impl FnOnce(&mut Context) -> Result<A> + Send,
        receiver: impl FnOnce(&mut Context) -> Result<B> + Send,
    ) -> Run<A, B> {
        let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, self.idle);
        let (mut sender_end, mut receiver_end): (Arc<dyn Streams>, Arc<dyn Streams>) =
            (sender_end, receiver_end);
        if let Some(tampering) = &self.tampering {
            match tampering.from {
                Role::Sender => sender_end = tampering.wrap(sender_end),
                _ => receiver_end = tampering.wrap(receiver_end),
            }
        }
        thread::scope(|scope| {
            let mut peers = [Role::Receiver, Role::Sender];
            if self.reversed {
                peers.reverse();
            }
            let sending = scope.spawn(move || self.party(peers[0], sender_end, self.seed, sender));
            let receiving = self.party(peers[1], receiver_end, !self.seed, receiver);
            let sending = match sending.join() {
                Ok(run) => run,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Run {
                sender: sending.0,
                receiver: receiving.0,
                traffic: Traffic { sender_to_receiver: sending.1, receiver_to_sender: receiving.1 },
                flights: sending.2.min(receiving.2),
            }
        })
    }

    fn party<A>(
        &self,
        peer: Role,
        streams: Arc<dyn Streams>,
        seed: u8,
        party: impl FnOnce(&mut Context) -> Result<A>,
    ) -> (Result<A>, u64, u64) {
        let meter = Meter::new();
        let mut flights = 0;
        let threads = NonZeroUsize::new(self.threads).expect("a thread");
        let output = Pool::new(threads)
            .and_then(|pool| {
                Context::new(vec![(peer, Arc::clone(&streams))], [seed; 32], pool, meter.clone())
            })
            .and_then(|mut ctx| {
                let output = party(&mut ctx)?;
                ctx.finish()?;
                flights = ctx.direction_changes();
                Ok(output)
            });
        if let Err(error) = &output {
            streams.abort(Error::stop_reason(error));
        }
        (output, meter.bytes_under("").0, flights)
    }
}

/// Runs two parties without disturbance.
pub fn run<A: Send, B: Send>(
    sender: impl FnOnce(&mut Context) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Context) -> Result<B> + Send,
) -> Run<A, B> {
    Setting::default().run(sender, receiver)
}

/// Every bit position of the blocks is one about half of the time, and every two positions are
/// equal about half of the time: within six standard deviations.
pub fn assert_unbiased(name: &str, blocks: &[Block]) {
    let n = blocks.len();
    let bound = 6.0 * (n as f64).sqrt() / 2.0;
    // Row i: bit i of all blocks, as a bit vector.
    let rows: Vec<Vec<u64>> = (0..128)
        .map(|i| {
            let bits = blocks.chunks(64);
            bits.map(|c| c.iter().enumerate().fold(0, |w, (j, b)| w | u64::from(b.bit(i)) << j))
                .collect()
        })
        .collect();
    let near_half = |ones: u32| (f64::from(ones) - n as f64 / 2.0).abs() <= bound;
    for (i, row) in rows.iter().enumerate() {
        let ones = row.iter().map(|w| w.count_ones()).sum();
        assert!(near_half(ones), "{name}: bit {i} is one {ones} times of {n}");
        for (j, other) in rows.iter().enumerate().skip(i + 1) {
            let differ = row.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert!(near_half(differ), "{name}: bits {i} and {j} differ {differ} times of {n}");
        }
    }
}
