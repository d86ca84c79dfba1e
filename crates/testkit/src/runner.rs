use crate::tamper::{Change, Tampering};
use crate::transcript::Transcript;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use vesica_core::{Result, Role};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_protocols::{Output, Party};

/// The result of one party of a run.
#[derive(Debug)]
pub struct PartyRun {
    /// Its output or its error.
    pub output: Result<Output>,
    /// Its bytes and time.
    pub meter: Meter,
    /// Its number of changes between sending and receiving.
    pub direction_changes: u64,
}

/// The results of both parties of a run.
#[derive(Debug)]
pub struct Run {
    /// The sender's side.
    pub sender: PartyRun,
    /// The receiver's side.
    pub receiver: PartyRun,
}

impl Run {
    /// Payload bytes the sender sent.
    pub fn sender_bytes(&self) -> u64 {
        self.sender.meter.bytes_under("").0
    }

    /// Payload bytes the receiver sent.
    pub fn receiver_bytes(&self) -> u64 {
        self.receiver.meter.bytes_under("").0
    }

    /// Flights of the run. A party that answers a stream block by block changes direction more often
    /// than the other waits, so the lower of the two counts applies.
    pub fn flights(&self) -> u64 {
        self.receiver.direction_changes.min(self.sender.direction_changes)
    }
}

/// Runs `sender` and `receiver` in one process over an unshaped in-memory connection.
pub fn run(sender: Box<dyn Party>, receiver: Box<dyn Party>) -> Run {
    Runner::default().run(sender, receiver)
}

/// How to run two parties in one process.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The emulated network.
    pub shape: Shape,
    /// CPU threads of each party.
    pub threads: NonZeroUsize,
    /// How long a party waits for the other before it fails.
    pub idle: Duration,
    /// Whether both fail as soon as both seem to wait, over a network without a shape. A party that
    /// reads in one thread while it computes in another may seem to wait.
    pub in_turns: bool,
    /// The change of one message.
    pub tampering: Option<Tampering>,
    /// Records messages.
    pub transcript: Option<Transcript>,
    /// Seed of both parties' randomness.
    pub seed: u8,
}

impl Default for Runner {
    fn default() -> Self {
        Self {
            shape: Shape::LOOPBACK,
            threads: NonZeroUsize::MIN,
            idle: memory::DEFAULT_IDLE,
            in_turns: false,
            tampering: None,
            transcript: None,
            seed: 1,
        }
    }
}

impl Runner {
    /// Runs `sender` and `receiver`, each on its own thread.
    ///
    /// # Panics
    /// If a party panics, as the test expects.
    pub fn run(&self, sender: Box<dyn Party>, receiver: Box<dyn Party>) -> Run {
        let (sender_end, receiver_end) = match self.in_turns {
            true => memory::pair_in_turns(self.idle),
            false => memory::pair_with(self.shape, self.idle),
        };
        let (sender_end, receiver_end): (Arc<dyn Streams>, Arc<dyn Streams>) = match &self.tampering
        {
            Some(tampering) => tampering.wrap(sender_end, receiver_end),
            None => (sender_end, receiver_end),
        };
        let (sender_end, receiver_end) = match &self.transcript {
            Some(transcript) => transcript.wrap(sender_end, receiver_end),
            None => (sender_end, receiver_end),
        };
        thread::scope(|scope| {
            let sending =
                scope.spawn(|| self.run_party(sender, Role::Receiver, sender_end, self.seed));
            let receiving = self.run_party(receiver, Role::Sender, receiver_end, !self.seed);
            let sending = match sending.join() {
                Ok(run) => run,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Run { sender: sending, receiver: receiving }
        })
    }

    fn run_party(
        &self,
        party: Box<dyn Party>,
        peer: Role,
        streams: Arc<dyn Streams>,
        seed: u8,
    ) -> PartyRun {
        let meter = Meter::new();
        let mut direction_changes = 0;
        let output = Pool::new(self.threads)
            .and_then(|pool| {
                let peers = vec![(peer, Arc::clone(&streams))];
                Context::new(peers, [seed; 32], pool, meter.clone())
            })
            .and_then(|mut ctx| {
                let output = party.run(&mut ctx)?;
                ctx.finish()?;
                direction_changes = ctx.direction_changes();
                output.checked()
            });
        if let Err(error) = &output {
            streams.abort(error.stop_reason());
        }
        PartyRun { output, meter, direction_changes }
    }
}

/// The result of `attempt` with one change of a message, and whether there was such a message. The
/// first attempt has a short time limit; a second has a longer one if a party failed before anything
/// was changed.
pub(crate) fn tampered(
    (from, message, change): (Role, u64, Change),
    attempt: impl Fn(&Runner) -> Run,
) -> (Run, bool) {
    let with = |in_turns, idle| {
        let tampering = Tampering::new(from, message, change);
        let runner =
            Runner { tampering: Some(tampering.clone()), idle, in_turns, ..Runner::default() };
        (attempt(&runner), tampering.happened())
    };
    let is_the_end = |(run, happened): &(Run, bool)| {
        *happened || run.sender.output.is_ok() && run.receiver.output.is_ok()
    };
    let first = with(true, Duration::from_secs(5));
    if is_the_end(&first) {
        return first;
    }
    let second = with(false, Duration::from_millis(500));
    if is_the_end(&second) { second } else { with(false, Duration::from_secs(5)) }
}
