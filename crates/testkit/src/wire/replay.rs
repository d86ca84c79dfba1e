//! One party alone, run again from its seed on what it had received.

use super::WireRun;
use crate::Runner;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use vesica_core::{Role, StopReason, TransportError};
use vesica_net::{Context, Meter, Pool, StreamId, StreamPair, StreamReader, StreamWriter, Streams};
use vesica_party::Protocol;

/// How long two replays must have sent the same, and wait for more, to count as settled.
const SETTLED: Duration = Duration::from_millis(60);

/// How long two replays may send different amounts: one of them may compute for so long.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// Bytes stream by stream.
type Record = BTreeMap<StreamId, Vec<u8>>;

/// The streams of a party whose peer sends what is recorded, and nothing else.
#[derive(Clone)]
struct Recorded {
    inbound: Arc<Record>,
    shared: Arc<(Mutex<Progress>, Condvar)>,
}

#[derive(Default)]
struct Progress {
    sent: Record,
    /// Readers that wait for what is not recorded.
    waiting: usize,
    has_ended: bool,
    is_stopped: bool,
}

impl Recorded {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.shared.1.notify_all();
    }
}

impl Streams for Recorded {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        self.lock().sent.entry(id).or_default();
        let reader = Reader { streams: self.clone(), id, at: 0 };
        Ok((Box::new(reader), Box::new(Writer { streams: self.clone(), id })))
    }

    fn abort(&self, _: StopReason) {}
}

struct Reader {
    streams: Recorded,
    id: StreamId,
    at: usize,
}

impl StreamReader for Reader {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        let inbound = self.streams.inbound.get(&self.id).map_or(&[][..], Vec::as_slice);
        if let Some(bytes) = inbound.get(self.at..self.at + buf.len()) {
            buf.copy_from_slice(bytes);
            self.at += buf.len();
            return Ok(());
        }
        let mut progress = self.streams.lock();
        progress.waiting += 1;
        let changed = &self.streams.shared.1;
        while !progress.is_stopped {
            progress = changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        Err(TransportError::Closed)
    }
}

struct Writer {
    streams: Recorded,
    id: StreamId,
}

impl StreamWriter for Writer {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let mut progress = self.streams.lock();
        if !progress.is_stopped {
            progress.sent.entry(self.id).or_default().extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }
}

impl WireRun {
    /// The law, also in the middle of a run: until the party in `role` waits for more, it has sent the same with one
    /// CPU thread as with three, wherever what it received ends.
    ///
    /// Each stream ends after so many `thirds` of its bytes, one stream at a time, while the others are whole.
    ///
    /// # Panics
    /// If it sends other bytes, or more or fewer of them.
    pub fn sent_so_far_depends_only_on_received(
        &self,
        protocol: &Protocol,
        role: Role,
        thirds: &[usize],
    ) {
        let [sender, receiver] = self.transcripts(protocol, &Runner::default());
        let (own, peer) =
            if role == Role::Sender { (sender, receiver) } else { (receiver, sender) };
        let own: Record = own.streams().into_iter().collect();
        let whole: Record = peer.streams().into_iter().collect();
        for (id, bytes) in &whole {
            for third in thirds {
                let end = third * bytes.len() / 3;
                if end == bytes.len() {
                    continue;
                }
                let mut inbound = whole.clone();
                inbound.insert(*id, bytes[..end].to_vec());
                let case = format!(
                    "{}, {self:?}, the {role}, {end} of {} bytes on {id:?}",
                    protocol.id,
                    bytes.len()
                );
                self.replays_agree(protocol, role, (inbound, &own), &case);
            }
        }
    }

    fn replays_agree(
        &self,
        protocol: &Protocol,
        role: Role,
        (inbound, own): (Record, &Record),
        case: &str,
    ) {
        let inbound = Arc::new(inbound);
        let replays = [1, 3].map(|threads| {
            let streams = Recorded { inbound: Arc::clone(&inbound), shared: Arc::default() };
            (threads, streams)
        });
        let replayed = thread::scope(|scope| {
            for (threads, streams) in &replays {
                scope.spawn(|| self.replay(protocol, role, *threads, streams));
            }
            let mut since = Instant::now();
            let mut last_lens = None;
            let mut same_since = None;
            loop {
                thread::sleep(Duration::from_millis(5));
                let [one, three] = [0, 1].map(|i| replays[i].1.lock());
                let lens = [&one, &three]
                    .map(|progress| progress.sent.values().map(Vec::len).sum::<usize>());
                if last_lens != Some(lens) {
                    (last_lens, since, same_since) = (Some(lens), Instant::now(), None);
                }
                let are_waiting = [&one, &three]
                    .iter()
                    .all(|progress| progress.waiting > 0 || progress.has_ended);
                if are_waiting && one.sent == three.sent {
                    let same_since: &mut Instant = same_since.get_or_insert_with(Instant::now);
                    if same_since.elapsed() > SETTLED {
                        break;
                    }
                } else if since.elapsed() > PATIENCE {
                    break;
                }
            }
            let are_waiting = replays.iter().all(|(_, streams)| streams.lock().waiting > 0);
            replays.iter().for_each(|(_, streams)| streams.stop());
            (are_waiting, [0, 1].map(|i| std::mem::take(&mut replays[i].1.lock().sent)))
        });
        let (are_waiting, sent) = replayed;
        let lens = sent.each_ref().map(|sent| sent.values().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(lens[0], lens[1], "another number of bytes was sent: {case}");
        assert!(sent[0] == sent[1], "other bytes were sent: {case}");
        // Two replays that fail at once would agree as well.
        assert!(are_waiting, "it ended without what it had not received: {case}");
        let is_of_the_run = |(id, sent): (&StreamId, &Vec<u8>)| {
            sent.is_empty() || own.get(id).is_some_and(|own| own.starts_with(sent))
        };
        assert!(sent[0].iter().all(is_of_the_run), "not what the whole run sent: {case}");
    }

    fn replay(&self, protocol: &Protocol, role: Role, threads: usize, streams: &Recorded) {
        let runner = Runner::default();
        let (peer, seed) = match role {
            Role::Sender => (Role::Receiver, runner.seed),
            _ => (Role::Sender, !runner.seed),
        };
        let end = || {
            let threads = NonZeroUsize::new(threads).expect("a party has a thread");
            let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(peer, Arc::new(streams.clone()))];
            let mut ctx = Context::new(peers, [seed; 32], Pool::new(threads)?, Meter::new())?;
            let output = self.party(protocol, role, runner.seed).run(&mut ctx)?;
            ctx.finish()?;
            Ok::<_, vesica_core::Error>(output)
        };
        // It fails once it is stopped, or its part that waits does; what counts is what it sent before.
        let _ = end();
        streams.lock().has_ended = true;
    }
}
