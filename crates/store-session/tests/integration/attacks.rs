//! What a store or a peer can do, and what a party can do that has lost its folder.

use crate::runs::program;
use crate::support::{AGREEMENT, Meeting, Scene};
use std::fs;
use std::time::{Duration, Instant};
use vesica_core::StopReason;
use vesica_link::letters::LetterError;
use vesica_link::{CancelToken, Identity};
use vesica_net::{Connection, Context};
use vesica_store_session::{ExchangeError, Options, State};

fn options(scene: &Scene) -> Options {
    Options { wait: Duration::from_millis(40), ..scene.options(&CancelToken::new()) }
}

/// Lets the parties take `count` turns; the error of one that does not only wait.
fn turns(scene: &Scene, count: usize) -> Option<ExchangeError> {
    for turn in 0..count {
        match scene.run(turn % 2, options(scene), None, 1, program) {
            Ok(_) | Err(ExchangeError::NotYet { .. }) => {}
            Err(error) => return Some(error),
        }
    }
    None
}

#[test]
fn an_object_that_was_altered_is_found_out_and_may_be_mended() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 5), None);
    let names = scene.store.names();
    let last = names.iter().rfind(|name| name.starts_with("0-0")).unwrap().clone();
    let mut old = Vec::new();
    scene.store.with(&last, |object| {
        old = object.clone();
        object[3] ^= 1;
    });
    let number = last[2..].parse().unwrap();
    let refused = scene.run(1, options(&scene), None, 1, program).unwrap_err();
    assert_eq!(refused, ExchangeError::WrongObject { number });
    scene.store.with(&last, |object| *object = old);
    assert_eq!(turns(&scene, 30), None);
}

#[test]
fn an_object_that_was_used_cannot_be_exchanged() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 6), None);
    // Swapped for another object of the same party, it does not open, and is not the object seen
    // before.
    let mut other = Vec::new();
    scene.store.with("0-000001", |object| other = object.clone());
    scene.store.with("0-000000", |object| *object = other);
    let refused = scene.run(1, options(&scene), None, 1, program).unwrap_err();
    assert_eq!(refused, ExchangeError::WrongObject { number: 0 });
}

#[test]
fn a_program_that_gives_other_bytes_publishes_nothing() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 6), None);
    let before = scene.store.names();
    let other = |ctx: &mut Context| {
        ctx.peer()?.send(&[0; 10])?;
        ctx.peer()?.recv(10)
    };
    let refused = scene.run(0, options(&scene), None, 1, other).unwrap_err();
    assert_eq!(refused, ExchangeError::OtherBytes);
    assert_eq!(scene.store.names(), before);
}

#[test]
fn an_object_under_our_name_that_we_have_not_written_is_found_out() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 4), None);
    let names = scene.store.names();
    let ours = names.iter().filter(|name| name.starts_with("0-0")).count();
    let run = scene.store.objects.lock().unwrap().keys().next().unwrap().clone();
    let run = run.split_once('/').unwrap().0.to_owned();
    let mut objects = scene.store.objects.lock().unwrap();
    objects.insert(format!("{run}/0-{ours:06}"), vec![0; 99]);
    drop(objects);
    let refused = turns(&scene, 1).unwrap();
    assert_eq!(refused, ExchangeError::ForeignObject { number: ours as u32 });
}

#[test]
fn a_lost_folder_needs_a_new_run_and_the_other_side_hears_of_it() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 4), None);
    fs::remove_dir_all(scene.state(0)).unwrap();
    let refused = scene.run(0, options(&scene), None, 1, program).unwrap_err();
    assert_eq!(refused, ExchangeError::OtherFolder { number: 1 });
    let restart = Options { restart: true, ..options(&scene) };
    let waits = scene.run(0, restart, None, 1, program).unwrap_err();
    assert!(matches!(waits, ExchangeError::NotYet { .. }), "{waits:?}");
    let Meeting { state, .. } = match scene.meet(1, options(&scene)) {
        // It has all objects up to the end of the meeting.
        Ok(met) => met,
        Err(error) => panic!("{error:?}"),
    };
    drop(state);
    let stopped = scene.run(1, options(&scene), None, 1, program).unwrap_err();
    assert_eq!(stopped, ExchangeError::Stopped { reason: StopReason::Cancelled });
    fs::remove_dir_all(scene.state(1)).unwrap();
    assert_eq!(turns(&scene, 30), None);
}

#[test]
fn a_run_that_cannot_come_to_a_result_is_given_up_and_the_next_one_begins() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 4), None);
    let Meeting { conversation, state } = scene.meet(1, options(&scene)).unwrap();
    conversation.give_up(StopReason::Config).unwrap();
    conversation.stop(StopReason::Config);
    state.forget().unwrap();
    drop((conversation, state));
    // It does not wait for an object that will not come.
    let patient = Options { wait: Duration::from_secs(600), ..options(&scene) };
    let start = Instant::now();
    let stopped = scene.run(0, patient, None, 1, program).unwrap_err();
    assert_eq!(stopped, ExchangeError::Stopped { reason: StopReason::Config });
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    // The side that abandoned the run starts a new one unasked; the other side only when asked to.
    let waits = scene.run(1, options(&scene), None, 1, program).unwrap_err();
    assert!(matches!(waits, ExchangeError::NotYet { .. }), "{waits:?}");
    State::open(&scene.state(0), [0; 32]).unwrap().forget().unwrap();
    assert_eq!(turns(&scene, 30), None);
    let objects = scene.store.objects.lock().unwrap();
    let ends_of = |run: &str| objects.keys().filter(|name| name.contains(run)).count();
    assert_eq!([ends_of("-0001/0-end"), ends_of("-0001/1-end")], [0, 0]);
    assert_eq!([ends_of("-0002/0-end"), ends_of("-0002/1-end")], [1, 1]);
}

#[test]
fn a_hello_of_somebody_else_is_refused() {
    let (scene, mut other) = (Scene::new(), Scene::new());
    other.identities[0] = scene.identities[0].clone();
    other.identities[1] = Identity::generate().unwrap();
    other.store = scene.store.clone();
    assert_eq!(turns(&scene, 1), None);
    // A party with another key writes what party 1 should write.
    assert!(other.run(1, options(&other), None, 1, program).is_err());
    let refused = scene.run(0, options(&scene), None, 1, program).unwrap_err();
    assert_eq!(refused, ExchangeError::Letter(LetterError::BadSignature { party: 1 }));
    // Nothing of it was kept: once its objects are gone, the run continues.
    scene.store.objects.lock().unwrap().retain(|name, _| !name.contains("/1-"));
    assert_eq!(turns(&scene, 30), None);
}

#[test]
fn a_folder_that_was_set_back_is_found_out_where_the_store_has_more() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 3), None);
    let copy = scene.state(0).join("objects");
    let old = fs::read(&copy).unwrap();
    assert_eq!(turns(&scene, 4), None);
    fs::write(&copy, old).unwrap();
    // The same program writes the same bytes, perhaps in different objects.
    let ended = turns(&scene, 30);
    assert!(matches!(ended, None | Some(ExchangeError::ForeignObject { .. })), "{ended:?}");
}

#[test]
fn an_object_of_ours_that_is_gone_is_missed_before_the_other_side_waits_for_it() {
    let scene = Scene::new();
    let is_there = || {
        let objects = scene.store.objects.lock().unwrap();
        objects.keys().any(|name| name.ends_with("/0-000000"))
    };
    // On a busy machine a turn may end before it has written anything.
    for _ in 0..20 {
        assert_eq!(turns(&scene, 5), None);
        if is_there() {
            break;
        }
    }
    let (mut name, mut object) = (String::new(), Vec::new());
    scene.store.objects.lock().unwrap().retain(|there, bytes| {
        let is_it = there.ends_with("/0-000000");
        if is_it {
            (name, object) = (there.clone(), bytes.clone());
        }
        !is_it
    });
    let refused = scene.run(0, options(&scene), None, 1, program).unwrap_err();
    assert_eq!(refused, ExchangeError::Gone { number: 0 });
    scene.store.objects.lock().unwrap().insert(name, object);
    assert_eq!(turns(&scene, 30), None);
}

#[test]
fn folders_that_are_no_runs_are_passed_over() {
    let scene = Scene::new();
    assert_eq!(turns(&scene, 30), None);
    let name = scene.store.objects.lock().unwrap().keys().next().unwrap().clone();
    let prefix = name.split_once("-0001/").unwrap().0.to_owned();
    for number in ["4294967295", "+0007", "7", "x", "2000000000"] {
        let name = format!("{prefix}-{number}/0-end");
        scene.store.objects.lock().unwrap().insert(name, Vec::new());
    }
    assert_eq!(turns(&scene, 30), None);
    let objects = scene.store.objects.lock().unwrap();
    assert!(objects.keys().any(|name| name.contains("-0002/")), "{:?}", objects.keys());
}

/// Lets the parties take turns until both have finished a run.
fn one_run(scene: &Scene) {
    let mut is_over = [false; 2];
    for party in (0..60).map(|turn| turn % 2) {
        if is_over[party] {
            continue;
        }
        match scene.run(party, options(scene), None, 1, program) {
            Ok(_) => is_over[party] = true,
            Err(ExchangeError::NotYet { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(is_over, [true; 2]);
}

/// Whether party 0 has finished the run with this number.
fn has_run(scene: &Scene, number: u32) -> bool {
    let objects = scene.store.objects.lock().unwrap();
    objects.keys().any(|name| name.ends_with(&format!("-{number:04}/0-end")))
}

#[test]
fn made_up_runs_with_large_numbers_do_not_count() {
    let scene = Scene::new();
    let prefix: String = AGREEMENT[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let plant = |number: u32| {
        let mut objects = scene.store.objects.lock().unwrap();
        for name in ["0-end", "1-end", "0-given-up", "1-given-up", "0-hello", "1-hello"] {
            objects.insert(format!("{prefix}-{number:04}/{name}"), vec![0]);
        }
    };
    for number in [999_999_999, 999_999_998, 500_000_000, 1_002] {
        plant(number);
    }
    for number in 1..=2 {
        one_run(&scene);
        assert!(has_run(&scene, number));
        // The number is near enough from here on.
        scene.store.objects.lock().unwrap().retain(|name, _| !name.contains("-1002/"));
    }
    // A gap that runs may have left after their marks were removed.
    plant(700);
    one_run(&scene);
    assert!(has_run(&scene, 701) && !has_run(&scene, 3));
}
