//! Parties that store apart what they say, with each other and with one that does not.

use crate::runs::{both_run, program};
use crate::support::Scene;
use rand::{RngExt, SeedableRng};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use vesica_core::{Result, Role, Secret};
use vesica_exchange::{Conversation, Desk, ExchangeError};
use vesica_link::CancelToken;
use vesica_net::{Connection, Flight, Heard, Pool, Replay, StreamId, Turn};

/// Runs [`program`] in turns, each of which hears all from the start, and says apart what it says.
fn in_turns(scene: &Scene, party: usize, on: &Conversation) -> Result<Vec<u8>> {
    let apart = on.apart().expect("a store outlives a process");
    let desk = Desk::from_bytes(&apart.desk()).unwrap();
    let replay = Replay {
        peer: [Role::Sender, Role::Receiver][party],
        root: StreamId::ROOT,
        seed: Secret::new(on.seed().unwrap()),
        pool: Pool::new(1.try_into().unwrap())?,
    };
    apart.recall()?;
    let (mut heard, mut opened) = (Flight::default(), apart.said(0).1);
    if opened.is_empty() {
        opened.push(StreamId::ROOT);
    }
    loop {
        for next in apart.hear(&opened) {
            match next {
                Heard::Bytes(flight) => heard.extend(&flight),
                Heard::Parcel(parcel, stream) => {
                    let flight = desk.get(&*scene.store, &parcel).unwrap();
                    heard.push(stream, flight.of(stream));
                }
            }
        }
        let turned = replay.turn(&heard, &apart.said(0).0, program)?;
        opened = turned.opened;
        if !turned.next.is_empty() {
            let named = (rand::random(), rand::random());
            let parcel = desk.put(&*scene.store, named, &turned.next).unwrap();
            apart.say(0, &[parcel], &turned.said, &opened)?;
        }
        match turned.turn {
            Turn::Ends(output) => return Ok(output),
            Turn::Waits => {
                let ready = |(stream, len): &(StreamId, u64)| {
                    (heard.of(*stream).len() as u64) < *len && turned.needs.len() < 3
                };
                assert!(turned.needs.iter().any(ready), "{:?}", turned.needs);
                apart.listen(true)?;
            }
        }
    }
}

/// Both parties, each started again until it has its result; `apart` says which of them do their work apart. Each process
/// ends after so many milliseconds.
fn both(apart: [bool; 2], scene: &Scene, millis: impl Fn() -> u64 + Sync) -> ([Vec<u8>; 2], u32) {
    both_run(scene, millis, |party, ctx, on| match apart[party] {
        true => in_turns(scene, party, on),
        false => program(ctx),
    })
}

#[test]
fn parties_meet_whether_they_store_apart_what_they_say_or_not() {
    for apart in [[true, false], [false, true], [true, true]] {
        let scene = Scene::new();
        let ([one, two], attempts) = both(apart, &scene, || 60_000);
        assert_eq!((one.len(), two.len(), attempts), (200_158, 200_158, 2));
        let names = scene.store.names();
        let are_apart = [0, 1].map(|party| {
            names.iter().filter(|name| name.starts_with(&format!("{party}-x"))).count()
        });
        assert_eq!(are_apart.map(|count| count > 0), apart, "{names:?}");
        // The next run removes them.
        both(apart, &scene, || 60_000);
        let store = scene.store.objects.lock().unwrap();
        let old = store.keys().filter(|name| name.contains("-0001/"));
        assert!(old.clone().all(|name| name.ends_with("-end")) && old.count() == 2);
    }
}

#[test]
fn a_run_with_parts_apart_that_is_interrupted_anywhere_goes_on() {
    let mut interrupted = 0;
    for (seed, apart) in
        [[true, false], [true, true], [false, true], [true, true]].iter().enumerate()
    {
        let scene = Scene::new();
        let random = Mutex::new(rand::rngs::StdRng::seed_from_u64(seed as u64));
        let processes = AtomicU64::new(0);
        // More and more, so that it comes to its end on a busy machine too.
        let millis = || {
            let more = 1 + processes.fetch_add(1, Ordering::Relaxed) / 16;
            more * random.lock().unwrap().random_range(5..60)
        };
        let ([one, two], attempts) = both(*apart, &scene, millis);
        assert_eq!((one.len(), two.len()), (200_158, 200_158));
        interrupted += attempts - 2;
    }
    assert!(interrupted > 3, "{interrupted} interruptions");
}

#[test]
fn an_object_apart_that_is_another_one_ends_the_run() {
    for apart in [[true, false], [true, true]] {
        let scene = Scene::new();
        let patient = || {
            let mut options = scene.options(&CancelToken::new());
            options.wait = Duration::from_secs(3);
            options
        };
        let ends = std::thread::scope(|scope| {
            let one = scope.spawn(|| {
                let in_turns = |_: &mut _, on: &Conversation| in_turns(&scene, 0, on);
                scene.run_on(0, patient(), (None, 1), in_turns)
            });
            // Its first message comes with nothing else: it is changed before the other party comes.
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
            let two = match apart[1] {
                true => Ok(scene.meet(1, patient()).unwrap().conversation),
                false => Err(scene.run(1, patient(), (None, 1), program)),
            };
            let ends = match two {
                // The program that takes the task finds out.
                Ok(on) => {
                    let apart = on.apart().unwrap();
                    apart.listen(true).unwrap();
                    let Heard::Parcel(parcel, _) = &apart.hear(&[StreamId::ROOT])[0] else {
                        panic!("it is apart");
                    };
                    let desk = Desk::from_bytes(&apart.desk()).unwrap();
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
