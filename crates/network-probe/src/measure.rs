//! A short measurement of the network between two parties, for the choice of a protocol.
//!
//! ```text
//!   both sides at the same time:
//!        ping (1)       ────────▶
//!        pong (1)       ────────▶   as soon as the other's ping is here
//!        burst          ────────▶   right behind the pong
//!        figures (24)   ────────▶   round trip, rate and duration of the burst received
//! ```
//!
//! A burst that ended within two round trips says little about a path whose congestion window still
//! grows. Then another burst of four times its length follows, within a limit on all bytes. The
//! rate is that of a burst's second half, so that neither the delay of the first byte nor the
//! smallest windows count.

use std::time::Instant;
use vesica_agreement::Network;
use vesica_core::{Misbehaviour, Result, Role};
use vesica_net::Context;

/// Bytes of one message of a burst.
const BLOCK_LEN: usize = 16 << 10;

/// Messages in the first burst, each way; later ones have [`GROWTH`] times as many.
const FIRST_BURST_BLOCKS: usize = 8;
const GROWTH: usize = 4;

/// Most messages in a burst: 2 MiB.
const MAX_BURST_BLOCKS: usize = 128;

/// A burst may take one in this many of the run's least bytes, each way.
const BUDGET_SHARE: u64 = 64;

const FIGURES_LEN: usize = 24;

/// What one side measured.
#[derive(Clone, Copy)]
struct Figures {
    round_trip_ns: u64,
    bytes_per_s: u64,
    burst_ns: u64,
}

impl Figures {
    fn to_bytes(self) -> [u8; FIGURES_LEN] {
        let mut bytes = [0; FIGURES_LEN];
        let numbers = [self.round_trip_ns, self.bytes_per_s, self.burst_ns];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; FIGURES_LEN]) -> Result<Self> {
        let mut numbers = [0; 3];
        for (number, place) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = place.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
        }
        let [round_trip_ns, bytes_per_s, burst_ns] = numbers;
        // Honest clocks never give zero, and the rate is a divisor.
        if numbers.contains(&0) {
            return Err(Misbehaviour::InvalidValue.into());
        }
        Ok(Self { round_trip_ns, bytes_per_s, burst_ns })
    }
}

/// Measures with the peer, which must do this at the same time. `role` is this party's.
/// `run_bytes` is the least number of bytes of the run that follows, equal at both.
///
/// # Errors
/// [`vesica_core::Error::Transport`]; [`Misbehaviour::InvalidValue`] for impossible figures.
pub fn measure(ctx: &mut Context, role: Role, run_bytes: u64) -> Result<Network> {
    let round_trip_ns = ping(ctx)?;
    let mut blocks = FIRST_BURST_BLOCKS;
    loop {
        let (bytes_per_s, burst_ns) = burst(ctx, blocks)?;
        let here = Figures { round_trip_ns, bytes_per_s, burst_ns };
        let there = exchange(ctx, here)?;
        let round_trip_ns = here.round_trip_ns.min(there.round_trip_ns);
        let (sender, receiver) = if role == Role::Sender { (here, there) } else { (there, here) };
        let next = blocks * GROWTH;
        let affordable = (next * BLOCK_LEN) as u64 <= run_bytes / BUDGET_SHARE;
        let telling = here.burst_ns.min(there.burst_ns) >= 2 * round_trip_ns.min(u64::MAX / 2);
        if telling || !affordable || next > MAX_BURST_BLOCKS {
            return Ok(Network {
                round_trip_ns,
                to_receiver_bytes_per_s: receiver.bytes_per_s,
                to_sender_bytes_per_s: sender.bytes_per_s,
            });
        }
        blocks = next;
    }
}

/// The round trip in nanoseconds, at least 1.
fn ping(ctx: &mut Context) -> Result<u64> {
    let channel = ctx.peer()?;
    let start = Instant::now();
    channel.send(&[0])?;
    channel.recv(1)?;
    channel.send(&[1])?;
    channel.recv(1)?;
    Ok(nanos_since(start))
}

/// Sends and receives a burst; bytes a second received, and how long it took to come in.
fn burst(ctx: &mut Context, blocks: usize) -> Result<(u64, u64)> {
    let mut block = vec![0; BLOCK_LEN];
    let channel = ctx.peer()?;
    for _ in 0..blocks {
        channel.send(&block)?;
        channel.flush()?;
    }
    channel.recv_into(&mut block)?;
    let first = Instant::now();
    let mut half = first;
    for i in 1..blocks {
        channel.recv_into(&mut block)?;
        if i == blocks / 2 {
            half = Instant::now();
        }
    }
    let bytes = (blocks - 1 - blocks / 2) * BLOCK_LEN;
    let rate = bytes as u128 * 1_000_000_000 / u128::from(nanos_since(half));
    Ok((u64::try_from(rate).unwrap_or(u64::MAX).max(1), nanos_since(first)))
}

fn exchange(ctx: &mut Context, here: Figures) -> Result<Figures> {
    let channel = ctx.peer()?;
    channel.send(&here.to_bytes())?;
    let mut there = [0; FIGURES_LEN];
    channel.recv_into(&mut there)?;
    Figures::from_bytes(&there)
}

fn nanos_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Duration;
    use vesica_net::{Meter, Pool, Shape, Streams, memory};

    /// What both ends measure over `shape`, and how long it took.
    fn both(shape: Shape, run_bytes: u64) -> ([Network; 2], Duration) {
        let (one, two) = memory::pair_with(shape, memory::DEFAULT_IDLE);
        let start = Instant::now();
        let measured = std::thread::scope(|scope| {
            let run = |role: Role, streams: Arc<dyn Streams>| {
                let peers = vec![(role.other().unwrap(), streams)];
                let pool = Pool::new(NonZeroUsize::MIN).unwrap();
                let mut ctx = Context::new(peers, [1; 32], pool, Meter::new()).unwrap();
                measure(&mut ctx, role, run_bytes).unwrap()
            };
            let sending = scope.spawn(move || run(Role::Sender, one));
            let receiving = run(Role::Receiver, two);
            [sending.join().unwrap(), receiving]
        });
        (measured, start.elapsed())
    }

    /// Whether a measurement of `shape` is near it. Schedulers add to times; a busy machine makes a
    /// network look slower.
    fn is_near(shape: Shape, measured: Network) -> bool {
        let rate = shape.bits_per_second.unwrap() / 8;
        let round_trip = 2 * shape.one_way_delay.as_nanos() as u64;
        [measured.to_receiver_bytes_per_s, measured.to_sender_bytes_per_s]
            .iter()
            .all(|measured| (rate / 8..3 * rate).contains(measured))
            && (round_trip..4 * round_trip + 10_000_000).contains(&measured.round_trip_ns)
    }

    /// A measurement is spoilt if a thread waits for the processor while a whole burst arrives, as
    /// on a busy machine. So the test repeats it until two are near the network; a wrong one never
    /// is.
    #[test]
    fn both_sides_measure_the_same_and_it_is_the_network() {
        for shape in [Shape::GIGABIT, Shape::WAN] {
            let (mut measured, mut near) = (Vec::new(), 0);
            while near < 2 {
                assert!(measured.len() < 50, "{shape:?}: {measured:?}");
                let ([one, two], _) = both(shape, 20 << 20);
                assert_eq!(one, two);
                near += usize::from(is_near(shape, one));
                measured.push(one);
            }
        }
    }

    #[test]
    fn a_longer_run_is_measured_longer_and_never_without_end() {
        let ([short, _], _) = both(Shape::LOOPBACK, 0);
        let ([long, _], took) = both(Shape::LOOPBACK, u64::MAX);
        assert!(short.to_sender_bytes_per_s > 0 && long.to_sender_bytes_per_s > 0);
        assert!(took < Duration::from_secs(5), "{took:?}");
    }

    #[test]
    fn figures_that_cannot_be_are_misbehaviour() {
        let figures = Figures { round_trip_ns: 1, bytes_per_s: 2, burst_ns: 3 };
        let bytes = figures.to_bytes();
        assert_eq!(Figures::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        for i in 0..3 {
            let mut zero = bytes;
            zero[8 * i] = 0;
            let refused = Figures::from_bytes(&zero).err();
            assert_eq!(refused, Some(Misbehaviour::InvalidValue.into()));
        }
    }
}
