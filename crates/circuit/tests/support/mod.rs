//! Two parties of a computation in one process.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use vesica_core::{Error, Result, Role, SessionId};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_ot::Traffic;

/// The session of all tests.
pub const SESSION: SessionId = SessionId::from_bytes([7; 32]);

/// What both parties ended with.
pub struct Run<A, B> {
    pub sender: Result<A>,
    pub receiver: Result<B>,
    pub traffic: Traffic,
    /// Changes of direction of the party that waits least.
    pub flights: u64,
}

/// Runs both parties over a connection that ends when nothing moves for a while.
pub fn run<A: Send, B: Send>(
    sender: impl FnOnce(&mut Context) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Context) -> Result<B> + Send,
) -> Run<A, B> {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(20));
    thread::scope(|scope| {
        let sending = scope.spawn(move || party(Role::Receiver, sender_end, 1, sender));
        let receiving = party(Role::Sender, receiver_end, 2, receiver);
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
    peer: Role,
    streams: Arc<dyn Streams>,
    seed: u8,
    party: impl FnOnce(&mut Context) -> Result<A>,
) -> (Result<A>, u64, u64) {
    let meter = Meter::new();
    let mut flights = 0;
    let output = Pool::new(NonZeroUsize::MIN)
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
