mod adaptive;

use super::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use vesica_detached::{Pace, PartitionWork, Walk};
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, establish};
use vesica_net::Meter;
use vesica_partitions::Cost;
use vesica_scratch::MemoryScratch;

/// Rows in two partitions, and an empty outcome.
fn rows(items: &[Item]) -> (Pieces, Found) {
    let splitter = Splitter::new(&[1; 32]);
    let mut prefixes = Vec::new();
    splitter.prefixes(items, &mut prefixes);
    let mut buckets = Buckets::new(2, 1 << 20, &MemoryScratch);
    buckets.push(items, &prefixes).unwrap();
    let grouped = buckets.finish(2).unwrap();
    let bits = PartitionBits::new(&grouped);
    let found = Found { bits, matched: None, refused: None };
    (Pieces { grouped, has_repeats: true }, found)
}

/// Adds the outcome of each partition: which of its own items are common, after `change`, and why
/// it is refused.
fn found(change: impl Fn(u64, &mut Vec<bool>) -> Option<Misbehaviour>) -> Result<Option<RowSet>> {
    let items: Vec<Item> = (0..60).map(|i| Item::from_integer(i % 40)).collect();
    let (pieces, found) = rows(&items);
    let found = Mutex::new(found);
    for index in 0..2 {
        let items = pieces.distinct(index).unwrap();
        let mut own = vec![true; items.len()];
        let refused = change(index, &mut own);
        let given = PartitionOutput { own: Some(own), refused };
        add(&found, &pieces, index, Some(&items), &given).unwrap();
    }
    found.into_inner().unwrap().rows(pieces, 40, &RowEntries::default())
}

#[test]
fn all_rows_of_a_repeated_key_get_its_bit() {
    let rows = found(|_, _| None).unwrap().unwrap();
    assert_eq!((rows.len(), rows.keys(), rows.words()), (60, 40, &[(1 << 60) - 1][..]));
    // Without the first key of each partition, which is in one row or in two.
    let without = |_, own: &mut Vec<bool>| {
        own[0] = false;
        None
    };
    let rows = found(without).unwrap().unwrap();
    assert_eq!(rows.keys(), 38);
    assert!((56..=58).contains(&rows.words()[0].count_ones()));
}

#[test]
fn one_wrong_partition_refuses_the_result() {
    let why = Misbehaviour::SelfCheckFailed;
    let refused = found(|index, _| (index == 1).then_some(why));
    assert_eq!(refused.err(), Some(Error::PeerMisbehaved(why)));
}

#[test]
fn a_party_that_learns_nothing_has_no_rows() {
    let (pieces, mut found) = rows(&[Item::from_integer(1)]);
    found.add(&PartitionOutput { own: None, refused: None });
    assert_eq!(found.told(Learns::Both), Told::Nothing);
    assert_eq!(found.rows(pieces, 1, &RowEntries::default()), Ok(None));
}

#[test]
fn more_common_keys_than_either_set_has_are_refused() {
    let (pieces, mut found) = rows(&[Item::from_integer(1)]);
    found.add(&PartitionOutput { own: Some(vec![true]), refused: None });
    assert_eq!(found.told(Learns::Both), Told::Number(1));
    assert_eq!(found.told(Learns::Receiver), Told::Nothing);
    assert!(found.rows(pieces, 0, &RowEntries::default()).is_err());
}

/// Both ends of a session call `work` with each number, this many in parallel.
fn both(
    at_once: [usize; 2],
    work: impl Fn(usize, u64, &mut Context) -> Result<()> + Sync,
) -> [Result<()>; 2] {
    sides([Role::Sender, Role::Receiver], |own, session, ctx| {
        let number = usize::from(own == Role::Receiver);
        let at_once = NonZeroUsize::new(at_once[number]).unwrap();
        walk(ctx, session, 20, at_once, |index, ctx| work(number, index, ctx))
    })
}

/// A program in each partition that enters and gives nothing.
struct Each<F>(F);

impl<F: Fn(u64, &mut Context) -> Result<()> + Sync> PartitionWork for Each<F> {
    type Entered = ();
    type Outcome = ();

    fn entered(&self, _: u64) -> Result<()> {
        Ok(())
    }

    fn run(&self, ctx: &mut Context, index: u64, (): ()) -> Result<()> {
        (self.0)(index, ctx)
    }

    fn keep(&self, (): &(), _: Cost) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn recall(&self, _: u64, (): (), _: &[u8]) -> Option<((), Cost)> {
        None
    }

    fn add(&self, _: u64, (): ()) -> Result<()> {
        Ok(())
    }
}

/// Runs `program` in each of the `partitions`, this many at a time.
fn walk(
    ctx: &mut Context,
    session: &dyn Connection,
    partitions: u64,
    at_once: NonZeroUsize,
    program: impl Fn(u64, &mut Context) -> Result<()> + Sync,
) -> Result<()> {
    let pace = Pace::InFlight(at_once);
    let walk = Walk { session, partitions, pace, first_kept: 0, label: "", progress: &|_| {} };
    walk.run(ctx, &Each(program)).map(drop)
}

/// Both ends of a session, in these roles, run `program`.
fn sides(
    roles: [Role; 2],
    program: impl Fn(Role, &dyn Connection, &mut Context) -> Result<()> + Sync,
) -> [Result<()>; 2] {
    let identities = [Identity::generate().unwrap(), Identity::generate().unwrap()];
    let (told, address) = std::sync::mpsc::channel();
    let second = std::time::Duration::from_secs(1);
    let side = |number: usize, endpoint, on_event: &dyn Fn(LinkEvent)| {
        let link = LinkOptions {
            endpoint,
            wait: 10 * second,
            idle: 10 * second,
            total: None,
            proxy: None,
        };
        let peer = identities[1 - number].public();
        let cancel = CancelToken::new();
        let session = establish(&identities[number], &[peer], &link, on_event, &cancel);
        let session: Arc<dyn Connection> = Arc::new(session.unwrap());
        let one = NonZeroUsize::MIN;
        let role = roles[number];
        let mut ctx = crate::participants::context(&session, role, "", one, &Meter::new()).unwrap();
        let done = program(role, &*session, &mut ctx);
        drop(ctx);
        if done.is_ok() {
            session.close().unwrap();
        }
        done
    };
    std::thread::scope(|scope| {
        let listening = scope.spawn(|| {
            let on_event = |event| {
                if let LinkEvent::Listening { address } = event {
                    told.send(address.to_string()).unwrap();
                }
            };
            side(0, Endpoint::Listen("127.0.0.1:0".into()), &on_event)
        });
        let address = address.recv_timeout(10 * second).unwrap();
        let connecting = side(1, Endpoint::Connect(address), &|_| ());
        [listening.join().unwrap(), connecting]
    })
}

#[test]
fn sides_with_different_numbers_in_flight_meet_in_each_partition() {
    for at_once in [[1, 1], [1, 5], [4, 2]] {
        let seen = Mutex::new(BTreeSet::new());
        let done = both(at_once, |number, index, ctx| {
            let channel = ctx.peer()?;
            channel.send(&index.to_le_bytes())?;
            assert_eq!(channel.recv(8)?, index.to_le_bytes());
            ctx.finish()?;
            seen.lock().unwrap().insert((number, index));
            Ok(())
        });
        assert_eq!(done, [Ok(()), Ok(())], "{at_once:?}");
        assert_eq!(seen.into_inner().unwrap().len(), 40);
    }
}

/// A side that only sends stays close to a peer that reads one partition after the other.
#[test]
fn no_partition_starts_far_ahead_of_those_that_are_not_done() {
    const COUNT: u64 = 100;
    let ahead = AtomicU64::new(0);
    let [sending, reading] = sides([Role::Sender, Role::Receiver], |own, session, ctx| {
        let done = Mutex::new(BTreeSet::new());
        let at_once = NonZeroUsize::new(if own == Role::Sender { 100 } else { 1 }).unwrap();
        walk(ctx, session, COUNT, at_once, |index, ctx| {
            if own == Role::Receiver {
                ctx.peer()?.recv(1)?;
                return Ok(());
            }
            let first = {
                let done = done.lock().unwrap();
                (0..COUNT).find(|index| !done.contains(index)).unwrap()
            };
            ahead.fetch_max(index - first, Ordering::Relaxed);
            if index % 10 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            ctx.peer()?.send(&[1])?;
            ctx.finish()?;
            done.lock().unwrap().insert(index);
            Ok(())
        })
    });
    assert_eq!([sending, reading], [Ok(()), Ok(())]);
    let ahead = ahead.into_inner();
    assert!((2..split::PARTITIONS_AHEAD).contains(&ahead), "{ahead}");
}

#[test]
#[should_panic]
fn a_panic_in_one_partition_ends_all_of_them() {
    let _ = both([1, 1], |number, index, ctx| {
        assert!((number, index) != (0, 3), "a defect");
        ctx.peer()?.send(&[1])?;
        ctx.peer()?.recv(1)?;
        ctx.finish()
    });
}

#[test]
fn an_error_in_one_partition_ends_all_of_them_on_both_sides() {
    let [one, two] = both([3, 3], |number, index, ctx| {
        if (number, index) == (0, 7) {
            return Err(Error::Storage(io::ErrorKind::StorageFull));
        }
        ctx.peer()?.send(&[1])?;
        ctx.peer()?.recv(1)?;
        ctx.finish()
    });
    assert_eq!(one, Err(Error::Storage(io::ErrorKind::StorageFull)));
    assert!(matches!(two, Err(Error::Transport(_))), "{two:?}");
}
