//! A party that does not stay alive between flights. In each turn its program runs from the start
//! on the bytes that have arrived so far, and stops where it needs more.

use crate::{Context, Meter, Pool, StreamId, StreamPair, StreamReader, StreamWriter, Streams};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use vesica_core::hash::Transcript;
use vesica_core::{Error, Result, Role, Secret, StopReason, TransportError};

const LABEL: &str = "vesica net 2026 what a party has said on a stream v1";

/// Bytes that a party sends or receives, by stream in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    streams: BTreeMap<StreamId, Vec<u8>>,
}

impl Flight {
    /// Adds `bytes` at the end of those of `stream`.
    pub fn push(&mut self, stream: StreamId, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.streams.entry(stream).or_default().extend_from_slice(bytes);
        }
    }

    /// Adds the bytes of the `next` flight at the end of those of the same streams.
    pub fn extend(&mut self, next: &Flight) {
        next.iter().for_each(|(stream, bytes)| self.push(stream, bytes));
    }

    /// The streams that have bytes, each with its bytes.
    pub fn iter(&self) -> impl Iterator<Item = (StreamId, &[u8])> {
        self.streams.iter().map(|(stream, bytes)| (*stream, &bytes[..]))
    }

    /// The bytes of `stream`.
    pub fn of(&self, stream: StreamId) -> &[u8] {
        self.streams.get(&stream).map_or(&[], Vec::as_slice)
    }

    /// The flight as bytes: for each stream its id and its length, 8 bytes each, then its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for (stream, bytes) in self.iter() {
            all.extend_from_slice(&stream.as_u64().to_le_bytes());
            all.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            all.extend_from_slice(bytes);
        }
        all
    }

    /// The flight in [these bytes](Self::to_bytes); `None` if they are malformed.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut flight = Self::default();
        while !bytes.is_empty() {
            let (stream, rest) = bytes.split_first_chunk::<8>()?;
            let (len, rest) = rest.split_first_chunk::<8>()?;
            let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
            let (of_stream, rest) = rest.split_at_checked(len)?;
            flight.push(StreamId::from_u64(u64::from_le_bytes(*stream)), of_stream);
            bytes = rest;
        }
        Some(flight)
    }

    /// The number of bytes of all streams.
    pub fn len(&self) -> u64 {
        self.streams.values().map(|bytes| bytes.len() as u64).sum()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }
}

impl FromIterator<(StreamId, Vec<u8>)> for Flight {
    fn from_iter<I: IntoIterator<Item = (StreamId, Vec<u8>)>>(pieces: I) -> Self {
        let mut flight = Flight::default();
        pieces.into_iter().for_each(|(stream, bytes)| flight.push(stream, &bytes));
        flight
    }
}

/// What a party has sent in all its flights: the length and the digest of each stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentDigests {
    /// How many bytes the stream has, and their digest.
    pub streams: BTreeMap<StreamId, (u64, [u8; 32])>,
}

/// How a turn of a replayed party ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<T> {
    /// The party needs bytes that have not arrived.
    Waits,
    /// The party's program finished with this output.
    Ends(T),
}

/// The outcome of one turn of a replayed party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnOutcome<T> {
    /// How the turn ended.
    pub turn: Turn<T>,
    /// What the party sends now: the bytes that it had not sent in earlier turns.
    pub next: Flight,
    /// All that the party has sent, including the `next` flight.
    pub sent: SentDigests,
    /// The streams that the party has opened, in ascending order.
    pub opened: Vec<StreamId>,
    /// The streams on which parts of the program wait, in ascending order, each with the number of
    /// bytes of the stream that the part needs in all. Another turn is useless until one of the
    /// streams has that many.
    pub needs: Vec<(StreamId, u64)>,
}

/// A party whose program is run again from the start in each turn.
pub struct Replay {
    /// The role of the other party.
    pub peer: Role,
    /// The first stream of the program.
    pub root: StreamId,
    /// The seed of the party's randomness: fresh for each run, and the same in each of its turns.
    pub seed: Secret<[u8; 32]>,
    /// The CPU threads. They may differ from turn to turn.
    pub pool: Pool,
}

impl Replay {
    /// Runs `program` from the start on all bytes that the peer has sent so far (`received`), until
    /// it ends or all of its parts wait for more.
    ///
    /// This is a pure function: the same arguments give the same result on every machine and with
    /// any number of threads. The program must send only what follows from its seed, its set and
    /// what it has received.
    ///
    /// **One transcript under one seed.** The caller must make sure that `received` begins with
    /// what was received in every earlier turn, and that this is on a disk before it is used: an
    /// attacker that makes a party answer two different messages under the same seed can learn its
    /// secrets.
    ///
    /// # Errors
    /// The errors of `program`; [`Error::Bug`] if the program does not send again the bytes that
    /// `sent` describes. Nothing from a failed turn may be sent.
    pub fn turn<T>(
        &self,
        received: &Flight,
        sent: &SentDigests,
        program: impl FnOnce(&mut Context) -> Result<T>,
    ) -> Result<TurnOutcome<T>> {
        // Copy the bytes of each stream once: readers may live longer than the caller's bytes.
        let received = received.iter().map(|(id, bytes)| (id, Arc::from(bytes))).collect();
        let core = Arc::new(Core {
            received,
            state: Mutex::new(State { working: 1, ..State::default() }),
            changed: Condvar::new(),
        });
        let streams: Arc<dyn Streams> = Arc::new(Replayed(Arc::clone(&core)));
        let peers = vec![(self.peer, streams)];
        let (seed, pool) = (*self.seed.expose(), self.pool.clone());
        let mut ctx = Context::at(self.root, peers, seed, pool, Meter::new())?;
        let output = program(&mut ctx).and_then(|output| ctx.finish().map(|()| output));
        // Once the context is dropped, its writer threads have written everything.
        drop(ctx);
        let state = std::mem::take(&mut *core.lock());
        let turn = match output {
            _ if state.end == Some(End::Waits) => Turn::Waits,
            output => Turn::Ends(output?),
        };
        let (next, sent) = after(state.written, sent)?;
        let (opened, needs) = (Vec::from_iter(state.opened), Vec::from_iter(state.needs));
        Ok(TurnOutcome { turn, next, sent, opened, needs })
    }
}

/// Checks that `written` starts with the bytes sent before, of which `sent` has the digests.
/// Returns the bytes that follow, to be sent now, and the digests of all of `written`.
fn after(
    written: BTreeMap<StreamId, Vec<u8>>,
    sent: &SentDigests,
) -> Result<(Flight, SentDigests)> {
    let (mut next, mut all) = (Flight::default(), SentDigests::default());
    for (stream, bytes) in written {
        let mut transcript = Transcript::new(LABEL, &[]);
        let mut new = &bytes[..];
        if let Some((len, digest)) = sent.streams.get(&stream) {
            let before = usize::try_from(*len).ok().and_then(|len| bytes.split_at_checked(len));
            let (old, rest) = before.ok_or(OTHER)?;
            transcript.update(old);
            if transcript.clone().finish() != *digest {
                return Err(OTHER);
            }
            new = rest;
        }
        transcript.update(new);
        all.streams.insert(stream, (bytes.len() as u64, transcript.finish()));
        next.push(stream, new);
    }
    if sent.streams.keys().all(|stream| all.streams.contains_key(stream)) {
        Ok((next, all))
    } else {
        Err(OTHER)
    }
}

const OTHER: Error = Error::Bug("a party that runs again does not send what it sent before");

struct Core {
    received: BTreeMap<StreamId, Arc<[u8]>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    written: BTreeMap<StreamId, Vec<u8>>,
    opened: BTreeSet<StreamId>,
    /// For each stream on which a part waits: the bytes that the part needs in all.
    needs: BTreeMap<StreamId, u64>,
    /// Parts of the program that do not wait for bytes. Zero also when parallel parts have ended
    /// and the part that started them has not continued yet.
    working: isize,
    /// Parts that wait for bytes that have not arrived.
    waiting: usize,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// All parts wait.
    Waits,
    /// A part has failed.
    Aborted,
}

impl Core {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `more` to the number of working parts. If no part works any more, those that wait would
    /// wait forever, so the turn ends.
    fn work(&self, state: &mut State, more: isize) {
        state.working += more;
        if state.working <= 0 && state.waiting > 0 && state.end.is_none() {
            state.end = Some(End::Waits);
            self.changed.notify_all();
        }
    }
}

struct Replayed(Arc<Core>);

impl Streams for Replayed {
    fn open(&self, id: StreamId) -> std::result::Result<StreamPair, TransportError> {
        let core = || Arc::clone(&self.0);
        self.0.lock().opened.insert(id);
        let received = self.0.received.get(&id).map_or_else(|| Arc::from([]), Arc::clone);
        let reader = Reader { core: core(), id, received, at: 0 };
        Ok((Box::new(reader), Box::new(Writer { core: core(), id })))
    }

    fn abort(&self, _: StopReason) {
        let mut state = self.0.lock();
        state.end.get_or_insert(End::Aborted);
        self.0.changed.notify_all();
    }

    fn parts(&self, more: isize) {
        self.0.work(&mut self.0.lock(), more);
    }
}

struct Reader {
    core: Arc<Core>,
    id: StreamId,
    received: Arc<[u8]>,
    at: usize,
}

impl StreamReader for Reader {
    fn read_exact(&mut self, buf: &mut [u8]) -> std::result::Result<(), TransportError> {
        if let Some(bytes) = self.received.get(self.at..self.at + buf.len()) {
            buf.copy_from_slice(bytes);
            self.at += buf.len();
            return Ok(());
        }
        let mut state = self.core.lock();
        state.waiting += 1;
        state.needs.insert(self.id, (self.at + buf.len()) as u64);
        self.core.work(&mut state, -1);
        while state.end.is_none() {
            state = self.core.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        state.working += 1;
        Err(TransportError::Closed)
    }
}

struct Writer {
    core: Arc<Core>,
    id: StreamId,
}

impl StreamWriter for Writer {
    /// Accepts bytes after the turn's end too: what a part sent before it waited may still be in
    /// its channel's queue.
    fn write_all(&mut self, bytes: &[u8]) -> std::result::Result<(), TransportError> {
        if !bytes.is_empty() {
            self.core.lock().written.entry(self.id).or_default().extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> std::result::Result<(), TransportError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::num::NonZeroUsize;
    use vesica_core::Misbehaviour;

    /// A replayed party with its seed in [`crate::run_both`].
    fn replay(peer: Role, threads: usize) -> Replay {
        let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
        let seed = if peer == Role::Receiver { 1 } else { 2 };
        Replay { peer, root: StreamId::ROOT, seed: Secret::new([seed; 32]), pool }
    }

    /// Sends a number, and adds the peer's numbers to its answers, in two parallel parts.
    fn program(ctx: &mut Context) -> Result<u64> {
        fn part(ctx: &mut Context, rounds: u64) -> Result<u64> {
            let mut sum = 0;
            for _ in 0..rounds {
                let own = ctx.rng().next_u64() >> 32;
                ctx.peer()?.send(&(own + sum).to_le_bytes())?;
                let received = ctx.peer()?.recv(8)?;
                sum += received.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            }
            Ok(sum)
        }
        let (a, b) = ctx.join(("a", |ctx| part(ctx, 3)), ("b", |ctx| part(ctx, 5)))?;
        ctx.peer()?.send(&[1; 4])?;
        ctx.peer()?.recv(4)?;
        Ok(a + b)
    }

    #[test]
    fn two_parties_that_take_turns_come_to_the_end() {
        let mut received = [Flight::default(), Flight::default()];
        let mut sent = [SentDigests::default(), SentDigests::default()];
        let mut outputs = [None, None];
        let mut turns = 0;
        while outputs.contains(&None) {
            let own = turns % 2;
            let replay = replay([Role::Sender, Role::Receiver][own], 1 + turns % 3);
            let turned = replay.turn(&received[own], &sent[own], program).unwrap();
            assert_eq!(replay.turn(&received[own], &sent[own], program).unwrap(), turned);
            // A turn on the same bytes sends nothing new.
            let again = replay.turn(&received[own], &turned.sent, program).unwrap();
            assert!(again.next.is_empty());
            received[1 - own].extend(&turned.next);
            sent[own] = turned.sent;
            if let Turn::Ends(output) = turned.turn {
                outputs[own] = Some(output);
            }
            turns += 1;
        }
        // Both parties send first, so each turn answers one message and sends the next, of six.
        assert_eq!(turns, 8);

        let live = crate::run_both(program, program).unwrap();
        assert_eq!([Some(live.1), Some(live.0)], outputs);
    }

    #[test]
    fn a_flight_reads_back() {
        let pieces = [(7, vec![1, 2, 3]), (9, vec![4])];
        let flight: Flight =
            pieces.map(|(id, bytes)| (StreamId::from_u64(id), bytes)).into_iter().collect();
        let bytes = flight.to_bytes();
        assert_eq!(Flight::from_bytes(&bytes), Some(flight));
        assert_eq!(Flight::from_bytes(&[]), Some(Flight::default()));
        for cut in [1, 8, 15, bytes.len() - 1] {
            assert_eq!(Flight::from_bytes(&bytes[..cut]), None);
        }
    }

    #[test]
    fn a_part_that_fails_ends_the_turn_while_others_wait() {
        let program = |ctx: &mut Context| {
            ctx.join(
                ("waits", |ctx: &mut Context| ctx.peer()?.recv(1).map(drop)),
                ("fails", |_: &mut Context| Err::<(), _>(Misbehaviour::InvalidValue.into())),
            )
        };
        let failed =
            replay(Role::Sender, 1).turn(&Flight::default(), &SentDigests::default(), program);
        assert_eq!(failed.unwrap_err(), Misbehaviour::InvalidValue.into());
    }

    #[test]
    fn what_was_sent_must_be_sent_again() {
        let send = |bytes: &'static [u8]| move |ctx: &mut Context| ctx.peer()?.send(bytes);
        let replay = replay(Role::Sender, 1);
        let turned =
            replay.turn(&Flight::default(), &SentDigests::default(), send(b"one")).unwrap();
        assert_eq!(turned.next.of(StreamId::ROOT), b"\x03\0\0\0one");
        let again = |bytes| replay.turn(&Flight::default(), &turned.sent, send(bytes));
        assert!(again(b"one").unwrap().next.is_empty());
        for other in [&b"two"[..], b"on", b"one more"] {
            assert_eq!(again(other).unwrap_err(), OTHER);
        }
        let nothing = |_: &mut Context| Ok(());
        assert_eq!(replay.turn(&Flight::default(), &turned.sent, nothing).unwrap_err(), OTHER);
    }
}
