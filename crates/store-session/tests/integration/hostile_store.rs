//! A party that runs while a shared folder serves something else in place of each object: it stops
//! in time, with an error that names the object or the peer, and reads no more than the object may
//! have.

use crate::hostile::{
    PROGRAMS, Program, RUN, SPARSE_BYTES, STAGES, Scene, Stage, THINGS, Thing, Watched, place,
    read_bytes, write_objects,
};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vesica_core::Misbehaviour;
use vesica_link::letters::LetterError;
use vesica_store_session::{ActualKind, ExchangeError, NotAnObject, Store, Waiting};

const WAIT: Duration = Duration::from_secs(2);

/// In addition to its wait, on a busy machine.
const SOON: Duration = Duration::from_secs(10);

/// More than a run reads of its objects and its state, which are about 7 kB.
const READ_BYTES: u64 = 64 << 10;

const THREADS: usize = 8;

/// The objects that party 0 waits for.
const NAMES: [&str; 5] =
    ["1-hello", "1-shares", "1-000000", "1-x01010101010101010101010101010101", "1-given-up"];

/// Whether `thing` in the place of the object `name` of `len` bytes must end the run as `ended`.
fn is_expected(
    name: &str,
    len: u64,
    other_len: u64,
    thing: Thing,
    ended: &Result<(), ExchangeError>,
) -> bool {
    let fault = |is| Err(NotAnObject::new(&format!("{RUN}/{name}"), is).into());
    let length = |bytes| *ended == fault(ActualKind::Length { bytes });
    let is_wrong = || matches!(ended, Err(ExchangeError::WrongObject { number: 0 }));
    match (thing, name) {
        (Thing::Original, _) | (Thing::Nothing, "1-given-up") => ended.is_ok(),
        (Thing::Nothing, _) => {
            let Err(ExchangeError::NotYet { waiting, after }) = ended else {
                // A detached program fetches what was named.
                return name.starts_with("1-x") && *ended == Err(ExchangeError::Gone { number: 0 });
            };
            let expected = match name {
                "1-hello" => Waiting::Hello,
                "1-shares" => Waiting::Shares,
                _ => Waiting::Object(0),
            };
            *waiting == expected && *after >= WAIT
        }
        (
            Thing::Pipe
            | Thing::Link
            | Thing::Device
            | Thing::Dangling
            | Thing::Circle
            | Thing::Folder,
            _,
        ) => *ended == fault(ActualKind::NotAFile),
        (Thing::Sparse, _) => length(SPARSE_BYTES),
        (Thing::Empty | Thing::Shorter | Thing::Longer, "1-000000") => is_wrong(),
        (Thing::Empty | Thing::Shorter | Thing::Longer, "1-given-up") => {
            matches!(ended, Err(ExchangeError::Stopped { .. }))
        }
        (Thing::Empty, _) => length(0),
        (Thing::Shorter, _) => length(len - 1),
        (Thing::Longer, _) => length(len + 1),
        (Thing::Other, "1-hello" | "1-shares") => matches!(ended, Err(ExchangeError::Letter(_))),
        (Thing::Other, "1-000000") => is_wrong(),
        (Thing::Other, _) => length(other_len),
    }
}

/// Each kind of file in the place of each object, put there while the party waits for the object.
#[test]
fn every_thing_in_the_place_of_every_object_ends_a_running_party_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::new(folder.path());
    let mut cases = VecDeque::new();
    for name in NAMES {
        for thing in THINGS {
            cases.extend([false, true].map(|detached| (name, thing, detached)));
        }
    }
    let cases = Mutex::new(cases);
    let one = |at: usize, (name, thing, detached): (&str, Thing, bool)| {
        let shared = folder.path().join(format!("shared-{at}"));
        let state = folder.path().join(format!("state-{at}"));
        let all = scene.objects(Program::Honest);
        let mut before = scene.objects_at(Program::Honest, Stage::Started);
        before.remove(name);
        // While it waits for a hello it checks whether the peer has abandoned the run.
        if name == "1-given-up" {
            before.remove("1-hello");
        }
        write_objects(&shared, &before);
        // A detached program asks once for what was named, and does not wait.
        let is_there = detached && name.starts_with("1-x");
        if is_there {
            place(&shared, all, name, thing);
        }
        let store = Arc::new(Watched::open(&shared));
        let start = Instant::now();
        let (ended, read) = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let before = read_bytes();
                let store = Arc::clone(&store) as Arc<dyn Store>;
                let ended = scene.run(Stage::Started, &state, store, WAIT, detached);
                (ended, read_bytes().zip(before).map(|(after, before)| after - before))
            });
            if !is_there {
                while store.asked(name) == 0 {
                    assert!(!running.is_finished(), "it does not wait for {name}");
                    std::thread::sleep(Duration::from_millis(1));
                }
                place(&shared, all, name, thing);
            }
            if name == "1-given-up" && matches!(thing, Thing::Original | Thing::Nothing) {
                place(&shared, all, "1-hello", Thing::Original);
            }
            running.join().unwrap()
        });
        let case = format!("{thing:?} as {name}, detached: {detached}: {ended:?}");
        assert!(start.elapsed() < WAIT + SOON, "{case} after {:?}", start.elapsed());
        let given = store.given_bytes.load(Ordering::Relaxed);
        assert!(
            given < READ_BYTES && read.is_none_or(|read| read < READ_BYTES),
            "{case}: {read:?}"
        );
        let len = |name: &str| all.get(name).map_or(99, |object| object.len() as u64);
        assert!(is_expected(name, len(name), 99, thing, &ended), "{case}");
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cases, one) = (&cases, &one);
            scope.spawn(move || {
                for at in (thread..).step_by(THREADS) {
                    let Some(case) = cases.lock().unwrap().pop_front() else { return };
                    one(at, case);
                }
            });
        }
    });
    assert!(cases.into_inner().unwrap().is_empty());
}

/// A peer that deviates in what it seals: both kinds of party end with the same error at each
/// stage.
#[test]
fn both_kinds_of_a_party_say_the_same_of_a_peer_that_deviates() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::new(folder.path());
    let (shared, state) = (folder.path().join("shared"), folder.path().join("state"));
    let broken = Err(ExchangeError::PeerMisbehaved(Misbehaviour::BrokenFraming));
    let flood = Err(ExchangeError::PeerMisbehaved(Misbehaviour::Flood));
    for program in PROGRAMS {
        let expected = match program {
            Program::Honest | Program::OneByte => Ok(()),
            Program::Twice | Program::TwiceLonger | Program::OneMore => broken,
            Program::ManyStreams => flood,
        };
        for stage in STAGES {
            let expected = match stage {
                // The peer's coins are for another hello.
                Stage::New => Err(LetterError::NotSealedForUs { party: 1 }.into()),
                // It has used another object.
                Stage::Used if program != Program::Honest => {
                    Err(ExchangeError::WrongObject { number: 0 })
                }
                _ => expected,
            };
            for detached in [false, true] {
                write_objects(&shared, &scene.objects_at(program, stage));
                let store = Arc::new(Watched::open(&shared));
                let ended = scene.run(stage, &state, store, WAIT, detached);
                let case = format!("{program:?}, {stage:?}, detached: {detached}");
                assert_eq!(ended, expected, "{case}");
                std::fs::remove_dir_all(&shared).unwrap();
            }
        }
    }
}
