//! Two parties in one process, over a plain, a slow or a tampering connection.
//!
//! The tests of crates below `vesica-testkit` include this folder by its path.

pub mod tamper;
mod tapped;
mod transcript;

pub use transcript::Transcript;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tamper::{Change, Tampering};
use vesica_core::{Result, Role};
use vesica_net::{Context, MessageOrder, Meter, Pool, Shape, Streams, memory};

/// What one party of a run ended with.
#[derive(Debug)]
pub struct PartyRun<T> {
    /// Its output, or why it failed.
    pub output: Result<T>,
    /// Its bytes and time.
    pub meter: Meter,
    /// Its changes between sending and receiving.
    pub direction_changes: u64,
    /// Its messages in their order.
    pub order: MessageOrder,
}

impl<T> PartyRun<T> {
    /// Payload bytes it sent.
    pub fn bytes_sent(&self) -> u64 {
        self.meter.bytes_under("").0
    }

    /// Messages it sent.
    pub fn messages_sent(&self) -> u64 {
        self.meter.report().iter().map(|row| row.messages_sent).sum()
    }
}

/// What both parties of a run ended with.
#[derive(Debug)]
pub struct BothRun<A, B> {
    /// The sender's side.
    pub sender: PartyRun<A>,
    /// The receiver's side.
    pub receiver: PartyRun<B>,
}

impl<A, B> BothRun<A, B> {
    /// Payload bytes the sender sent.
    pub fn sender_bytes(&self) -> u64 {
        self.sender.bytes_sent()
    }

    /// Payload bytes the receiver sent.
    pub fn receiver_bytes(&self) -> u64 {
        self.receiver.bytes_sent()
    }

    /// Each party with the number of messages it sent.
    pub fn messages(&self) -> [(Role, u64); 2] {
        let (sender, receiver) = (self.sender.messages_sent(), self.receiver.messages_sent());
        [(Role::Sender, sender), (Role::Receiver, receiver)]
    }

    /// Flights of the run: the most messages of which each waits for the one before.
    pub fn flights(&self) -> u64 {
        self.sender.order.flights(&self.receiver.order)
    }
}

/// How to run two parties in one process.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The emulated network.
    pub shape: Shape,
    /// Whether messages take different times on each stream.
    pub is_uneven: bool,
    /// CPU threads of each party, at least one.
    pub threads: usize,
    /// CPU threads of the receiver, if others than the sender's.
    pub receiver_threads: Option<usize>,
    /// How long each party waits for the other.
    pub idle: Duration,
    /// Whether both stop as soon as both wait for the other, on a network that takes no time.
    pub in_turns: bool,
    /// A message to change on its way.
    pub tampering: Option<Tampering>,
    /// Transcripts that keep what a party sends.
    pub transcripts: Vec<Transcript>,
    /// The sender's randomness; the receiver's is its complement.
    pub seed: u8,
    /// Whether the sender here has the role of the receiver.
    pub reversed: bool,
}

impl Default for Runner {
    fn default() -> Self {
        Self {
            shape: Shape::LOOPBACK,
            is_uneven: false,
            threads: 1,
            receiver_threads: None,
            idle: memory::DEFAULT_IDLE,
            in_turns: false,
            tampering: None,
            transcripts: Vec::new(),
            seed: 1,
            reversed: false,
        }
    }
}

impl Runner {
    /// Runs both parties, each on its own thread.
    ///
    /// # Panics
    /// When a party panics: that is what the test is for.
    pub fn run_both<A: Send, B: Send>(
        &self,
        sender: impl FnOnce(&mut Context) -> Result<A> + Send,
        receiver: impl FnOnce(&mut Context) -> Result<B> + Send,
    ) -> BothRun<A, B> {
        let (sender_end, receiver_end) = if self.in_turns {
            memory::pair_in_turns(self.idle)
        } else {
            memory::pair_with(self.shape, self.idle)
        };
        let mut ends: [Arc<dyn Streams>; 2] = [sender_end, receiver_end];
        if let Some(tampering) = &self.tampering {
            tampering.wrap(&mut ends);
        }
        if self.is_uneven {
            ends = ends.each_ref().map(tapped::uneven);
        }
        self.transcripts.iter().for_each(|transcript| transcript.wrap(&mut ends));
        let [sender_end, receiver_end] = ends;
        let mut peers = [Role::Receiver, Role::Sender];
        if self.reversed {
            peers.reverse();
        }
        thread::scope(|scope| {
            let (threads, seed) = (self.threads, self.seed);
            let sending =
                scope.spawn(move || self.run_party(sender, peers[0], sender_end, threads, seed));
            let threads = self.receiver_threads.unwrap_or(threads);
            let receiving = self.run_party(receiver, peers[1], receiver_end, threads, !seed);
            let sending = match sending.join() {
                Ok(run) => run,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            BothRun { sender: sending, receiver: receiving }
        })
    }

    fn run_party<T>(
        &self,
        party: impl FnOnce(&mut Context) -> Result<T>,
        peer: Role,
        streams: Arc<dyn Streams>,
        threads: usize,
        seed: u8,
    ) -> PartyRun<T> {
        let meter = Meter::new();
        let (mut direction_changes, mut order) = (0, MessageOrder::default());
        let threads = NonZeroUsize::new(threads).expect("a party has a thread");
        let output = Pool::new(threads)
            .and_then(|pool| {
                let peers = vec![(peer, Arc::clone(&streams))];
                Context::new(peers, [seed; 32], pool, meter.clone())
            })
            .and_then(|mut ctx| {
                ctx.note_order();
                let output = party(&mut ctx)?;
                ctx.finish()?;
                direction_changes = ctx.direction_changes();
                order = ctx.message_order();
                Ok(output)
            });
        if let Err(error) = &output {
            streams.abort(error.stop_reason());
        }
        PartyRun { output, meter, direction_changes, order }
    }

    /// The result of `attempt` with this `change` of the message with number `message` of the party
    /// in role `from`. The first attempts wait only a short time; a longer one follows if a party
    /// stopped before anything was changed.
    ///
    /// # Panics
    /// When no attempt comes to the message, or the attempts take twenty seconds and twenty times
    /// as long as one in which nothing is changed.
    pub fn change_message<R>(
        &self,
        from: Role,
        message: u64,
        change: Change,
        attempt: impl Fn(&Runner) -> R,
    ) -> (Tampering, R) {
        let start = Instant::now();
        for (in_turns, idle_ms) in [(true, 5000), (false, 500), (false, 5000)] {
            let tampering = Tampering::new(from, message, change);
            let run = attempt(&Runner {
                tampering: Some(tampering.clone()),
                idle: Duration::from_millis(idle_ms),
                in_turns,
                ..self.clone()
            });
            self.assert_soon(start.elapsed(), &tampering, &attempt);
            if tampering.happened() {
                return (tampering, run);
            }
        }
        panic!("message {message} of the {from} does not come by")
    }

    /// Fails after twenty seconds, or later where the machine is so busy that an undisturbed run is
    /// slow as well.
    fn assert_soon<R>(
        &self,
        taken: Duration,
        tampering: &Tampering,
        attempt: impl Fn(&Runner) -> R,
    ) {
        const SOON: Duration = Duration::from_secs(20);
        if taken < SOON {
            return;
        }
        let start = Instant::now();
        attempt(self);
        assert!(taken < SOON + 20 * start.elapsed(), "slow end after {taken:?}: {tampering:?}");
    }

    /// [`change_message`](Self::change_message) of each of the first `messages` messages of the
    /// party in role `from` in each way of `changes`; `check` gets every run.
    ///
    /// # Panics
    /// When there is no message, and as [`change_message`](Self::change_message).
    pub fn change_each_message<R>(
        &self,
        (from, messages): (Role, u64),
        changes: &[Change],
        attempt: impl Fn(&Runner) -> R,
        mut check: impl FnMut(&Tampering, R),
    ) {
        assert!(messages > 0, "the {from} sends nothing");
        for change in changes {
            for message in 0..messages {
                let (tampering, run) = self.change_message(from, message, *change, &attempt);
                check(&tampering, run);
            }
        }
    }
}
