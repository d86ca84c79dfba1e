//! A party whose workers return false outcomes.

use super::{NAMES, SMALL, Team, job, never};
use crate::support::Pair;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vesica_core::hash::derive;
use vesica_core::{Learns, Misbehaviour, PsiParams, SessionId};
use vesica_detached::{
    BucketCounts, ParcelRecord, RunSpec, Task, TaskResult, Workers, WorkersFault,
};
use vesica_engine::{Error, Silent};
use vesica_link::CancelToken;
use vesica_net::{Flight, StreamId};
use vesica_store_session::{DetachedKeys, ExchangeError};

/// How a deviating party changes the outcome of one of its tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// The party names an object that is not in the store.
    Missing,
    /// It names the object of another partition.
    OfAnother,
    /// It gives the object a larger size.
    Longer,
    /// It names an object of one byte twice, the second time as one of many bytes.
    Twice,
    /// Its object is not encrypted.
    NotSealed,
    /// Its object has bytes for another partition too.
    ForTwo,
    /// Its object only has bytes of a stream that is never opened.
    ForNobody,
}

struct Liar {
    team: Team,
    lie: Lie,
}

impl Liar {
    /// Changes the outcomes of the first two tasks, which have these `parcels`.
    fn change(&self, orders: &RunSpec, tasks: &[Task], parcels: [&mut Vec<ParcelRecord>; 2]) {
        let [all, second] = parcels;
        let (Some(first), Some(second)) = (all.first_mut(), second.first_mut()) else { return };
        let desk = DetachedKeys::from_bytes(&orders.desk).unwrap();
        let id = other_id(tasks[0].id);
        let put = |streams: &[(u64, u64)]| {
            let pieces = streams
                .iter()
                .map(|(stream, len)| (StreamId::from_u64(*stream), vec![0; *len as usize]));
            let flight = Flight::from_iter(pieces);
            ParcelRecord::from(&desk.put(&*self.team.store, id, id_key(), &flight).unwrap())
        };
        match self.lie {
            Lie::Missing => first.id = id,
            Lie::OfAnother => {
                let streams = std::mem::take(&mut first.streams);
                *first = ParcelRecord { streams, ..second.clone() };
            }
            Lie::Longer => {
                first.streams[0].1 += 1;
                first.len += 1;
            }
            Lie::Twice => {
                let (stream, _) = first.streams[0];
                let short = put(&[(stream, 1)]);
                let streams = vec![(stream, MANY_BYTES)];
                let len = short.len + MANY_BYTES - 1;
                let (key, digest) = ([9; 32], [9; 32]);
                let long = ParcelRecord { streams, len, key, digest, ..short.clone() };
                *all = vec![short, long];
            }
            Lie::NotSealed => {
                // The name of an object is part of the name of the sealed one.
                let folder = fs::read_dir(&self.team.shared).unwrap().next().unwrap().unwrap();
                let hex = |id: [u8; 16]| format!("{:032x}", u128::from_be_bytes(id));
                let files = fs::read_dir(folder.path()).unwrap();
                let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
                let name = names.into_iter().find(|name| name.contains(&hex(first.id))).unwrap();
                let path = folder.path().join(name.replace(&hex(first.id), &hex(id)));
                let object = vec![7; first.len as usize];
                fs::write(path, &object).unwrap();
                first.id = id;
                first.digest = derive("vesica exchange 2026 object v1", &[&object]);
            }
            Lie::ForTwo => {
                let mut streams = first.streams.clone();
                streams.push((tasks[1].roots[0], 4));
                *first = put(&streams);
            }
            Lie::ForNobody => *first = put(&[(77, 4)]),
        }
    }
}

/// More bytes than any message of the first turns has.
const MANY_BYTES: u64 = 1 << 19;

/// What the liar seals its own objects under.
fn id_key() -> [u8; 32] {
    [3; 32]
}

/// Another one.
fn other_id(mut id: [u8; 16]) -> [u8; 16] {
    id[0] ^= 1;
    id
}

impl Workers for Liar {
    fn group(&self, secret: &[u8; 32], buckets: u64) -> Result<BucketCounts, WorkersFault> {
        self.team.group(secret, buckets)
    }

    fn take(
        &self,
        orders: &RunSpec,
        tasks: &[Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault> {
        let mut taken = self.team.take(orders, tasks, kept)?;
        if let [first, second, ..] = &mut taken[..] {
            self.change(orders, tasks, [&mut first.parcels, &mut second.parcels]);
        }
        Ok(taken)
    }
}

/// The outcome of `one` after the lie of `two`.
fn outcome(pair: &Pair, lie: Lie, has_hands: bool) -> (Error, Option<vesica_core::Error>) {
    let (error, failed, _) = outcome_in_jobs(pair, lie, has_hands);
    (error, failed)
}

/// The same, and how many jobs `one` submitted.
fn outcome_in_jobs(
    pair: &Pair,
    lie: Lie,
    has_hands: bool,
) -> (Error, Option<vesica_core::Error>, usize) {
    fs::remove_dir_all(pair.path("shared")).ok();
    for name in NAMES {
        fs::remove_dir_all(pair.path(&format!("{name}.state"))).ok();
    }
    let agreement = SMALL.agreement(pair, "kkrt16", "all", "");
    let team = |party| Team { twice: false, ..Team::new(pair, &agreement, party, never()) };
    let liar = Arc::new(Liar { team: team(1), lie });
    let honest = has_hands.then(|| Arc::new(team(0)));
    let cancel = CancelToken::new();
    std::thread::scope(|scope| {
        let lying = scope.spawn(|| {
            vesica_engine::run(job(pair, &agreement, 1, Some(liar)), Arc::new(Silent), &cancel)
        });
        let mut job = job(pair, &agreement, 0, honest.clone().map(|team| team as _));
        job.link.wait = Duration::from_secs(3);
        let start = std::time::Instant::now();
        let ended = vesica_engine::run(job, Arc::new(Silent), &CancelToken::new());
        assert!(start.elapsed() < Duration::from_secs(30), "{lie:?}");
        cancel.cancel();
        assert!(lying.join().unwrap().is_err(), "{lie:?}");
        let jobs = honest.as_ref().map_or(0, |team| team.takes.load(Ordering::Relaxed));
        let failed = honest.and_then(|team| team.failed.lock().unwrap().clone());
        (ended.err().unwrap_or_else(|| panic!("{lie:?} went well")), failed, jobs)
    })
}

/// The error says what is wrong, and no party waits longer than agreed.
#[test]
fn a_peer_whose_objects_detached_are_others_is_found_out() {
    let pair = SMALL.write();
    for lie in [Lie::OfAnother, Lie::NotSealed] {
        let (error, _) = outcome(&pair, lie, false);
        let is_it = |kind| kind == Misbehaviour::BrokenFraming;
        let is_it = matches!(&error, Error::PeerMisbehaved { kind, .. } if is_it(*kind));
        assert!(is_it, "{lie:?}: {error:?}");
    }
    // Anyone with write access to the store may have cut the object.
    let (error, _) = outcome(&pair, Lie::Longer, false);
    let is_it = |kind| matches!(kind, ExchangeError::NotAnObject(_));
    let is_it = matches!(&error, Error::Exchange { kind, .. } if is_it(**kind));
    assert!(is_it, "{error:?}");
    for lie in [Lie::OfAnother, Lie::NotSealed, Lie::ForTwo] {
        let (error, failed) = outcome(&pair, lie, true);
        let is_it = |kind| match lie {
            // Each partition receives it as the peer's message, and refuses it.
            Lie::ForTwo => true,
            _ => kind == Misbehaviour::BrokenFraming,
        };
        let is_it = matches!(&error, Error::PeerMisbehaved { kind, .. } if is_it(*kind));
        assert!(is_it && failed.is_none(), "{lie:?}: {error:?}, {failed:?}");
    }
    for (lie, has_hands) in [(Lie::Missing, false), (Lie::ForNobody, false), (Lie::ForNobody, true)]
    {
        let (error, _) = outcome(&pair, lie, has_hands);
        let is_it = |kind| matches!(kind, ExchangeError::NotYet { .. });
        let is_it = matches!(&error, Error::Exchange { kind, .. } if is_it(**kind));
        assert!(is_it, "{lie:?}: {error:?}");
    }
    // The task fails, and can be retried.
    let [missing, longer] = [std::io::ErrorKind::NotFound, std::io::ErrorKind::InvalidData];
    for (lie, kind) in [(Lie::Missing, missing), (Lie::Longer, longer)] {
        let (error, failed) = outcome(&pair, lie, true);
        assert!(matches!(error, Error::Interrupted { .. }), "{error:?}");
        assert_eq!(failed, Some(vesica_core::Error::Storage(kind)), "{lie:?}");
    }
}

/// The second name is ignored: a party that accepted it would submit jobs for as long as the peer
/// likes.
#[test]
fn a_peer_that_names_an_object_twice_gets_no_jobs_of_it() {
    let pair = SMALL.write();
    // One job for each message of the protocol, and the first one, which waits for nothing.
    let params = PsiParams::new(SessionId::from_bytes([1; 32]), 5, 5, Learns::Both).unwrap();
    let flights = (vesica_protocols::find("kkrt16").unwrap().flights)(&params) as usize;
    for has_hands in [false, true] {
        let (error, failed, jobs) = outcome_in_jobs(&pair, Lie::Twice, has_hands);
        let named_twice = Misbehaviour::BrokenFraming;
        let is_it = matches!(&error, Error::PeerMisbehaved { kind, .. } if *kind == named_twice);
        assert!(is_it && failed.is_none(), "has_hands = {has_hands}: {error:?}, {failed:?}");
        assert!(jobs <= flights + 1, "{jobs} jobs");
    }
}
