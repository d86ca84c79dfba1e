use super::*;
use crate::metered::run_under;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use vesica_core::{Role, StopReason, TransportError};
use vesica_net::memory::{MemoryStreams, pair};
use vesica_net::{Pool, StreamId, StreamPair, Streams};
use vesica_partitions::FinishedAddends;

const LABEL: &str = "walking";
const FIRST_KEPT: u64 = 100;
const PARTITIONS: u64 = 6;

type Kept = BTreeMap<u64, (Vec<StreamId>, Vec<u8>)>;

/// A connection that keeps the outcomes of partitions.
struct Keeping {
    streams: Arc<MemoryStreams>,
    seed: Option<[u8; 32]>,
    kept: Mutex<Kept>,
}

impl Streams for Keeping {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        self.streams.open(id)
    }

    fn abort(&self, reason: StopReason) {
        self.streams.abort(reason);
    }
}

impl Connection for Keeping {
    fn export(&self, _: &str, _: &[u8]) -> [u8; 32] {
        [0; 32]
    }

    fn seed(&self) -> Option<[u8; 32]> {
        self.seed
    }

    fn ended(&self) -> Option<TransportError> {
        None
    }

    fn stop(&self, _: StopReason) {}

    fn close(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn wire_bytes(&self) -> (u64, u64) {
        (0, 0)
    }

    fn kept_part(&self, part: u64) -> Result<Option<Vec<u8>>, TransportError> {
        Ok(self.kept.lock().unwrap().get(&part).map(|(_, bytes)| bytes.clone()))
    }

    fn keep_part(
        &self,
        part: u64,
        streams: &[StreamId],
        result: &[u8],
    ) -> Result<(), TransportError> {
        let kept = (streams.to_vec(), result.to_vec());
        assert!(self.kept.lock().unwrap().insert(part, kept).is_none(), "{part} is kept twice");
        Ok(())
    }
}

/// Partition i enters i and gives a random number; it sends i bytes and one more.
#[derive(Default)]
struct Numbers {
    ran: Mutex<Vec<u64>>,
    added: Mutex<BTreeMap<u64, u64>>,
}

impl PartitionWork for Numbers {
    type Entered = u64;
    type Outcome = u64;

    fn entered(&self, index: u64) -> Result<u64> {
        Ok(index)
    }

    fn run(&self, ctx: &mut Context, index: u64, entered: u64) -> Result<u64> {
        assert_eq!(index, entered);
        self.ran.lock().unwrap().push(index);
        run_under(ctx, LABEL, |ctx| ctx.peer()?.send(&vec![1; 1 + index as usize]))?;
        Ok(rand::Rng::next_u64(ctx.rng()))
    }

    fn keep(&self, outcome: &u64, cost: Cost) -> Result<Vec<u8>> {
        Ok(FinishedAddends { count: *outcome, sums: Vec::new(), cost }.to_bytes())
    }

    fn recall(&self, index: u64, entered: u64, bytes: &[u8]) -> Option<(u64, Cost)> {
        assert_eq!(index, entered);
        FinishedAddends::from_bytes(bytes, 0).map(|over| (over.count, over.cost))
    }

    fn add(&self, index: u64, outcome: u64) -> Result<()> {
        assert_eq!(self.added.lock().unwrap().insert(index, outcome), None);
        Ok(())
    }
}

/// What a walk left behind.
#[derive(Debug, PartialEq)]
struct Walked {
    changes: u64,
    /// Payload bytes sent and received.
    payload: (u64, u64),
    added: BTreeMap<u64, u64>,
    kept: Kept,
}

/// A process that walks, where earlier ones have `kept` this. Also returns which partitions ran.
fn process(pace: Pace, seed: Option<[u8; 32]>, kept: Kept) -> Result<(Walked, Vec<u64>)> {
    let (streams, _peer) = pair();
    let kept = Mutex::new(kept);
    let session = Arc::new(Keeping { streams, seed, kept });
    let pool = Pool::new(NonZeroUsize::MIN)?;
    let peers = vec![(Role::Receiver, Arc::clone(&session) as Arc<dyn Streams>)];
    let mut ctx = Context::new(peers, [7; 32], pool, Meter::new())?;
    let (numbers, most_done) = (Numbers::default(), AtomicU64::new(0));
    let walk = Walk {
        session: &*session,
        partitions: PARTITIONS,
        pace,
        first_kept: FIRST_KEPT,
        label: LABEL,
        progress: &|done| {
            most_done.fetch_max(done, Ordering::Relaxed);
        },
    };
    let changes = walk.run(&mut ctx, &numbers)?;
    assert_eq!(most_done.into_inner(), PARTITIONS);
    let mut ran = numbers.ran.into_inner().unwrap();
    ran.sort_unstable();
    let (payload, added) = (ctx.meter().bytes_under(LABEL), numbers.added.into_inner().unwrap());
    let kept = session.kept.lock().unwrap().clone();
    Ok((Walked { changes, payload, added, kept }, ran))
}

fn paces() -> [Pace; 2] {
    [Pace::InTurn, Pace::InFlight(NonZeroUsize::new(3).unwrap())]
}

#[test]
fn a_kept_partition_is_recalled_and_all_else_stays_as_if_it_had_run() {
    let seed = Some([1; 32]);
    for (first, second) in paces().into_iter().flat_map(|one| paces().map(|two| (one, two))) {
        let (whole, ran) = process(first, seed, Kept::new()).unwrap();
        assert_eq!((whole.changes, whole.payload), (1, (21, 0)));
        assert!(whole.added.keys().copied().eq(0..PARTITIONS), "{:?}", whole.added);
        assert!(whole.kept.keys().copied().eq(FIRST_KEPT..FIRST_KEPT + PARTITIONS));
        assert!(ran.into_iter().eq(0..PARTITIONS));
        let mut some = whole.kept.clone();
        some.retain(|number, _| ![2, 4].contains(&(number - FIRST_KEPT)));
        // Also the streams and the random numbers of partitions 2 and 4.
        assert_eq!(process(second, seed, some).unwrap(), (whole, vec![2, 4]));
    }
}

#[test]
fn stored_bytes_of_another_run_are_refused() {
    for pace in paces() {
        let kept = Kept::from([(FIRST_KEPT + 1, (Vec::new(), vec![0; 31]))]);
        assert_eq!(process(pace, Some([1; 32]), kept).unwrap_err(), DAMAGED);
    }
}

#[test]
fn a_run_that_no_process_can_continue_keeps_nothing() {
    for pace in paces() {
        assert!(process(pace, None, Kept::new()).unwrap().0.kept.is_empty());
    }
}
