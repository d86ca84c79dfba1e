//! Running both parties in one process.

use crate::memory::{self, MemoryStreams};
use crate::{Context, Meter, Pool, Streams};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use vesica_core::{Error, Result, Role};

/// Runs a sender and a receiver over an in-memory connection, one thread each, and returns both
/// outputs. For examples and tests: the randomness is fixed.
///
/// ```
/// let send = |ctx: &mut vesica_net::Context| ctx.peer()?.send(b"hello");
/// let (_, received) = vesica_net::run_both(send, |ctx| ctx.peer()?.recv(5))?;
/// assert_eq!(&received[..], b"hello");
/// # Ok::<(), vesica_core::Error>(())
/// ```
///
/// # Errors
/// The sender's error, or else the receiver's. A party that fails stops the other.
pub fn run_both<A: Send, B>(
    sender: impl FnOnce(&mut Context) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Context) -> Result<B>,
) -> Result<(A, B)> {
    let (sender_end, receiver_end) = memory::pair();
    let (sent, received) = thread::scope(|scope| {
        let sending = scope.spawn(|| run_party(sender_end, Role::Receiver, 1, sender));
        let received = run_party(receiver_end, Role::Sender, 2, receiver);
        (sending.join().unwrap_or_else(|panic| resume_unwind(panic)), received)
    });
    Ok((sent?, received?))
}

fn run_party<T>(
    streams: Arc<MemoryStreams>,
    peer: Role,
    seed: u8,
    party: impl FnOnce(&mut Context) -> Result<T>,
) -> Result<T> {
    let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(peer, Arc::clone(&streams) as _)];
    let output = Pool::new(NonZeroUsize::MIN)
        .and_then(|pool| Context::new(peers, [seed; 32], pool, Meter::new()))
        .and_then(|mut ctx| {
            let output = party(&mut ctx)?;
            ctx.finish()?;
            Ok(output)
        });
    output.inspect_err(|error| streams.abort(Error::stop_reason(error)))
}
