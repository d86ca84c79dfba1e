//! Parties that send in detached objects, with each other and with a party that does not.

use crate::runs::{both_run, program};
use crate::support::{Meeting, Scene};
use rand::{RngExt, SeedableRng};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use vesica_core::{Misbehaviour, Result, Role, Secret, TransportError};
use vesica_link::CancelToken;
use vesica_net::{
    Connection, Detached, Flight, Parcel, Pool, Received, Replay, SentDigests, StreamId, Streams,
    Turn,
};
use vesica_store_session::{Conversation, DetachedKeys, ExchangeError};

/// Fetches everything that earlier processes have received.
fn recalled(detached: &dyn Detached) -> std::result::Result<(), TransportError> {
    while detached.recall()? {}
    Ok(())
}

/// Runs [`program`] in turns: each turn receives everything from the start, and sends in a detached
/// object.
fn in_turns(scene: &Scene, party: usize, on: &Conversation) -> Result<Vec<u8>> {
    let detached = on.detached().expect("a store outlives a process");
    let desk = DetachedKeys::from_bytes(&detached.desk()).unwrap();
    let replay = Replay {
        peer: [Role::Sender, Role::Receiver][party],
        root: StreamId::ROOT,
        seed: Secret::new(on.seed().unwrap()),
        pool: Pool::new(1.try_into().unwrap())?,
    };
    recalled(detached)?;
    let (mut received, mut opened) = (Flight::default(), detached.sent(0).1);
    if opened.is_empty() {
        opened.push(StreamId::ROOT);
    }
    loop {
        for next in detached.receive(&opened) {
            match next {
                Received::Bytes(flight) => received.extend(&flight),
                Received::Parcel(parcel, stream) => {
                    let flight = desk.get(&*scene.store, &parcel).unwrap();
                    received.push(stream, flight.of(stream));
                }
            }
        }
        let turned = replay.turn(&received, &detached.sent(0).0, program)?;
        opened = turned.opened;
        if !turned.next.is_empty() {
            let (id, key) = (rand::random(), rand::random());
            let parcel = desk.put(&*scene.store, id, key, &turned.next).unwrap();
            detached.send(0, &[parcel], &turned.sent, &opened)?;
        }
        match turned.turn {
            Turn::Ends(output) => return Ok(output),
            Turn::Waits => {
                let ready = |(stream, len): &(StreamId, u64)| {
                    (received.of(*stream).len() as u64) < *len && turned.needs.len() < 3
                };
                assert!(turned.needs.iter().any(ready), "{:?}", turned.needs);
                detached.listen(true)?;
            }
        }
    }
}

/// Runs both parties, each restarted until it has its result; `detached` says which of them do
/// detached work. Each process ends after the given number of milliseconds.
fn both(
    detached: [bool; 2],
    scene: &Scene,
    millis: impl Fn() -> u64 + Sync,
) -> ([Vec<u8>; 2], u32) {
    both_run(
        scene,
        millis,
        |party, ctx, on| if detached[party] { in_turns(scene, party, on) } else { program(ctx) },
    )
}

#[test]
fn parties_meet_whether_they_store_detached_what_they_say_or_not() {
    for detached in [[true, false], [false, true], [true, true]] {
        let scene = Scene::new();
        let ([one, two], attempts) = both(detached, &scene, || 60_000);
        assert_eq!((one.len(), two.len(), attempts), (200_158, 200_158, 2));
        let names = scene.store.names();
        let are_detached = [0, 1].map(|party| {
            names.iter().filter(|name| name.starts_with(&format!("{party}-x"))).count()
        });
        assert_eq!(are_detached.map(|count| count > 0), detached, "{names:?}");
        // The next run removes the objects of this one.
        both(detached, &scene, || 60_000);
        let store = scene.store.objects.lock().unwrap();
        let old = store.keys().filter(|name| name.contains("-0001/"));
        assert!(old.clone().all(|name| name.ends_with("-end")) && old.count() == 2);
    }
}

#[test]
fn a_run_with_parts_detached_that_is_interrupted_anywhere_goes_on() {
    let mut interrupted = 0;
    for (seed, detached) in
        [[true, false], [true, true], [false, true], [true, true]].iter().enumerate()
    {
        let scene = Scene::new();
        let random = Mutex::new(rand::rngs::StdRng::seed_from_u64(seed as u64));
        let processes = AtomicU64::new(0);
        // Longer and longer, so that the run also finishes on a busy machine.
        let millis = || {
            let more = 1 + processes.fetch_add(1, Ordering::Relaxed) / 16;
            more * random.lock().unwrap().random_range(5..60)
        };
        let ([one, two], attempts) = both(*detached, &scene, millis);
        assert_eq!((one.len(), two.len()), (200_158, 200_158));
        interrupted += attempts - 2;
    }
    assert!(interrupted > 3, "{interrupted} interruptions");
}

#[test]
fn an_object_detached_that_is_another_one_ends_the_run() {
    for detached in [[true, false], [true, true]] {
        let scene = Scene::new();
        let patient = || {
            let mut options = scene.options(&CancelToken::new());
            options.wait = Duration::from_secs(3);
            options
        };
        let ends = std::thread::scope(|scope| {
            let one = scope.spawn(|| {
                let in_turns = |_: &mut _, on: &Conversation| in_turns(&scene, 0, on);
                scene.run_on(0, patient(), None, 1, in_turns)
            });
            // Its first message is all that it publishes: it is changed before the other party
            // starts.
            while !scene.store.names().iter().any(|name| name == "1-shares") {
                if !scene.store.names().iter().any(|name| name == "1-hello") {
                    let _ = scene.meet(1, scene.options(&CancelToken::new()));
                }
            }
            while !scene.store.names().iter().any(|name| name == "0-000000") {
                std::thread::sleep(Duration::from_millis(1));
            }
            let mut objects = scene.store.objects.lock().unwrap();
            let name = objects.keys().find(|name| name.contains("/0-x")).unwrap().clone();
            objects.get_mut(&name).unwrap()[3] ^= 1;
            drop(objects);
            let two = if detached[1] {
                Ok(scene.meet(1, patient()).unwrap().conversation)
            } else {
                Err(scene.run(1, patient(), None, 1, program))
            };
            let ends = match two {
                // The program that does the task finds out.
                Ok(on) => {
                    let detached = on.detached().unwrap();
                    detached.listen(true).unwrap();
                    let Received::Parcel(parcel, _) = &detached.receive(&[StreamId::ROOT])[0]
                    else {
                        panic!("the object is detached");
                    };
                    let desk = DetachedKeys::from_bytes(&detached.desk()).unwrap();
                    desk.get(&*scene.store, parcel).map(drop)
                }
                Err(ends) => ends.map(drop),
            };
            let _ = one.join().unwrap();
            ends
        });
        assert!(matches!(ends, Err(ExchangeError::WrongObject { .. })), "{ends:?}");
    }
}

/// The two parties after they have met.
fn met(scene: &Scene, wait: Duration) -> [Meeting; 2] {
    let options = || {
        let mut options = scene.options(&CancelToken::new());
        options.wait = wait;
        options
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| scene.meet(1, options()).unwrap());
        [scene.meet(0, options()).unwrap(), other.join().unwrap()]
    })
}

/// Stores an object of `party`'s with one byte for each of these streams; returns its parcel.
fn object(scene: &Scene, on: &Conversation, streams: &[u64]) -> Parcel {
    let flight = streams.iter().map(|id| (StreamId::from_u64(*id), vec![*id as u8])).collect();
    let desk = DetachedKeys::from_bytes(&on.detached().unwrap().desk()).unwrap();
    desk.put(&*scene.store, rand::random(), rand::random(), &flight).unwrap()
}

fn name(on: &Conversation, parcels: &[Parcel]) {
    on.detached().unwrap().send(0, parcels, &SentDigests::default(), &[]).unwrap();
    on.close().unwrap();
}

/// One thread waits for the next numbered object, which does not come, and another for a named
/// object that is not stored: threads whose objects are named and stored continue.
#[test]
fn a_peer_that_names_objects_for_some_parts_does_not_hold_up_these() {
    let scene = Scene::new();
    let [one, two] = met(&scene, Duration::from_secs(30)).map(|met| met.conversation);
    let read = |id: u64| {
        let mut byte = [0];
        let (mut reader, _) = two.open(StreamId::from_u64(id)).unwrap();
        reader.read_exact(&mut byte).map(|()| byte[0])
    };
    std::thread::scope(|scope| {
        two.parts(2);
        let waits = scope.spawn(|| read(9));
        let missing = object(&scene, &one, &[8]);
        let at = stored(&scene, &missing);
        let taken = scene.store.objects.lock().unwrap().remove(&at).unwrap();
        name(&one, &[object(&scene, &one, &[5]), missing.clone()]);
        assert_eq!(read(5), Ok(5));
        // That thread has no object, and this one waits for the next one.
        let late = scope.spawn(|| read(8));
        for id in [6, 7] {
            name(&one, &[object(&scene, &one, &[id])]);
            let start = std::time::Instant::now();
            assert_eq!(read(id), Ok(id as u8));
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        }
        scene.store.objects.lock().unwrap().insert(at, taken);
        assert_eq!(late.join().unwrap(), Ok(8));
        name(&one, &[object(&scene, &one, &[9])]);
        assert_eq!(waits.join().unwrap(), Ok(9));
    });
}

/// The name under which the object of this parcel, of party 0, is stored.
fn stored(scene: &Scene, parcel: &Parcel) -> String {
    let objects = scene.store.objects.lock().unwrap();
    let folder = objects.keys().next().unwrap().split_once('/').unwrap().0.to_owned();
    format!("{folder}/0-x{:032x}", u128::from_be_bytes(parcel.id))
}

/// What no party sends: each ends the run with an error that names the peer, for a party that reads
/// the streams itself and for one whose work is detached, also when it is started again.
#[test]
fn what_no_party_sends_ends_the_run() {
    type Attack = fn(&Scene, &Conversation);
    let twice: Attack = |scene, on| {
        let parcel = object(scene, on, &[5]);
        name(on, &[parcel.clone(), parcel]);
    };
    let twice_longer: Attack = |scene, on| {
        let parcel = object(scene, on, &[5]);
        name(on, std::slice::from_ref(&parcel));
        let streams = vec![(StreamId::from_u64(5), 1 << 19)];
        let len = parcel.len + (1 << 19) - 1;
        name(on, &[Parcel { streams, len, key: [9; 32], digest: [9; 32], ..parcel }]);
    };
    let more_bytes: Attack = |scene, on| {
        let mut parcel = object(scene, on, &[5]);
        parcel.streams[0].1 += 1;
        name(on, &[parcel]);
    };
    let more_streams: Attack = |scene, on| {
        let mut parcel = object(scene, on, &[5]);
        parcel.streams.push((StreamId::from_u64(6), 1));
        name(on, &[parcel]);
    };
    let many_streams: Attack = |scene, on| name(on, &[object(scene, on, &Vec::from_iter(1..40))]);
    let unopened: Attack = |_, on| {
        for id in 0..40_000 {
            let (_, mut writer) = on.open(StreamId::from_u64(1000 + id)).unwrap();
            writer.write_all(&[1]).unwrap();
        }
        on.close().unwrap();
    };
    let flood: Attack = |_, on| {
        let (_, mut writer) = on.open(StreamId::from_u64(1000)).unwrap();
        (0..40).for_each(|_| writer.write_all(&vec![1; 8 << 20]).unwrap());
        on.close().unwrap();
    };
    let broken = ExchangeError::PeerMisbehaved(Misbehaviour::BrokenFraming);
    let too_much = ExchangeError::PeerMisbehaved(Misbehaviour::Flood);
    for (case, (attack, expected)) in [
        (twice, broken),
        (twice_longer, broken),
        (more_bytes, broken),
        (more_streams, broken),
        (many_streams, broken),
        (unopened, too_much),
        (flood, too_much),
    ]
    .into_iter()
    .enumerate()
    {
        for is_detached in [false, true] {
            let scene = Scene::new();
            let [one, mut two] = met(&scene, Duration::from_secs(3));
            attack(&scene, &one.conversation);
            for _ in 0..2 {
                let on = &two.conversation;
                let error = if is_detached {
                    loop {
                        let detached = on.detached().unwrap();
                        if let Err(error) = recalled(detached).and_then(|()| detached.listen(true))
                        {
                            break error;
                        }
                        detached.receive(&[StreamId::from_u64(5)]);
                    }
                } else {
                    let (mut reader, _) = on.open(StreamId::from_u64(5)).unwrap();
                    reader.read_exact(&mut [0; 100]).unwrap_err()
                };
                assert_eq!(
                    on.fault(),
                    Some(expected),
                    "attack {case}, detached: {is_detached}, {error}"
                );
                // A new process resumes the run.
                drop(two);
                let mut options = scene.options(&CancelToken::new());
                options.wait = Duration::from_secs(3);
                two = scene.meet(1, options).unwrap();
            }
        }
    }
}

/// The peer has named an object of another run, which does not open in this one.
#[test]
fn an_object_of_another_run_is_not_opened() {
    let (scene, other) = (Scene::new(), Scene::new());
    let [one, two] = met(&scene, Duration::from_secs(3)).map(|met| met.conversation);
    let [foreign, _] = met(&other, Duration::from_secs(3)).map(|met| met.conversation);
    let parcel = object(&other, &foreign, &[5]);
    let (from, to) = (stored(&other, &parcel), stored(&scene, &parcel));
    let bytes = other.store.objects.lock().unwrap()[&from].clone();
    scene.store.objects.lock().unwrap().insert(to, bytes);
    name(&one, &[parcel]);
    let (mut reader, _) = two.open(StreamId::from_u64(5)).unwrap();
    assert!(reader.read_exact(&mut [0]).is_err());
    let broken = ExchangeError::PeerMisbehaved(Misbehaviour::BrokenFraming);
    assert_eq!(two.fault(), Some(broken));
}
