//! How many times a run may be restarted.

use crate::runs::program;
use crate::support::Scene;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_link::CancelToken;
use vesica_store_session::{Event, ExchangeError, Options, Repeats, State};

const MAX: u32 = 3;

fn options(scene: &Scene) -> Options {
    Options { wait: Duration::from_millis(40), ..scene.options(&CancelToken::new()) }
}

/// Starts a new run as a party with the folder that it has, until it waits for the other one.
fn restart(scene: &Scene, party: usize) -> ExchangeError {
    if scene.state(party).exists() {
        let state = State::open(&scene.state(party), [party as u8; 32]).unwrap();
        if state.has_started() {
            state.forget().unwrap();
        }
    }
    let restart = Options { restart: true, ..options(scene) };
    scene.run(party, restart, None, 1, program).unwrap_err()
}

fn lose(scene: &Scene, party: usize) {
    fs::remove_dir_all(scene.state(party)).unwrap();
}

/// The parties resume in turn; the error of one that does not only wait.
fn turns(scene: &Scene, count: usize) -> Result<(), ExchangeError> {
    for turn in 0..count {
        match scene.run(turn % 2, options(scene), None, 1, program) {
            Ok(_) | Err(ExchangeError::NotYet { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How many abandoned runs each party counts.
fn repeats(scene: &Scene) -> [u32; 2] {
    // The first party needs the coins of the second.
    for party in [0, 1] {
        let waits = scene.meet(party, options(scene)).map(drop);
        assert!(matches!(waits, Ok(()) | Err(ExchangeError::NotYet { .. })), "{waits:?}");
    }
    [0, 1].map(|party| scene.meet(party, options(scene)).unwrap().conversation.repeats())
}

fn is_waiting(error: ExchangeError) -> bool {
    matches!(error, ExchangeError::NotYet { .. })
}

fn refused(count: u32, max: u32) -> ExchangeError {
    ExchangeError::TooManyRepeats(Repeats { count, max })
}

/// Both parties start a new run, so that one more is abandoned.
fn give_up(scene: &Scene, before: impl Fn()) {
    assert_eq!(turns(scene, 5), Ok(()));
    before();
    assert!(is_waiting(restart(scene, 0)));
    assert!(is_waiting(restart(scene, 1)));
}

#[test]
fn both_sides_count_and_refuse_one_run_too_many() {
    let scene = Scene::new();
    assert_eq!(repeats(&scene), [0, 0]);
    for count in 1..=MAX {
        give_up(&scene, || ());
        assert_eq!(repeats(&scene), [count; 2]);
    }
    let sayings = |scene: &Scene| {
        let names = scene.store.names();
        names.iter().filter(|name| name.ends_with("-shares")).count()
    };
    assert_eq!(turns(&scene, 5), Ok(()));
    let before = sayings(&scene);
    // Neither waits for the other one to refuse, and calling again changes nothing.
    for _ in 0..2 {
        for party in [0, 1] {
            assert_eq!(restart(&scene, party), refused(MAX + 1, MAX));
            let again = scene.run(party, options(&scene), None, 1, program).unwrap_err();
            assert_eq!(again, refused(MAX + 1, MAX));
        }
    }
    assert_eq!(sayings(&scene), before, "coins were tossed in a run that was refused");
}

#[test]
fn a_side_that_loses_its_state_again_and_again_hears_the_number_from_the_other_one() {
    for loser in [0, 1] {
        // The store shows nothing of earlier runs.
        let forget_store = |scene: &Scene| scene.store.objects.lock().unwrap().clear();
        let scene = Scene::new();
        for count in 1..=MAX {
            give_up(&scene, || {
                lose(&scene, loser);
                forget_store(&scene);
            });
            assert_eq!(repeats(&scene), [count; 2]);
        }
        lose(&scene, loser);
        forget_store(&scene);
        // Only this party does not know the count.
        assert!(is_waiting(restart(&scene, loser)));
        assert_eq!(restart(&scene, 1 - loser), refused(MAX + 1, MAX));
        let told = scene.run(loser, options(&scene), None, 1, program).unwrap_err();
        assert_eq!(told, refused(MAX + 1, MAX));
        // It has kept the count that it was sent.
        forget_store(&scene);
        assert_eq!(restart(&scene, loser), refused(MAX + 1, MAX));
    }
}

#[test]
fn where_both_lose_their_states_the_store_shows_the_number() {
    let scene = Scene::new();
    for count in 1..=MAX {
        give_up(&scene, || [0, 1].iter().for_each(|party| lose(&scene, *party)));
        assert_eq!(repeats(&scene), [count; 2]);
    }
    [0, 1].iter().for_each(|party| lose(&scene, *party));
    assert_eq!([0, 1].map(|party| restart(&scene, party)), [refused(MAX + 1, MAX); 2]);
    // Without both states and the store no party knows the count.
    [0, 1].iter().for_each(|party| lose(&scene, *party));
    scene.store.objects.lock().unwrap().clear();
    assert_eq!(repeats(&scene), [0; 2]);
}

#[test]
fn a_run_with_a_result_ends_the_counting() {
    let scene = Scene::new();
    for _ in 0..MAX {
        give_up(&scene, || ());
    }
    assert_eq!(turns(&scene, 30), Ok(()));
    // They have finished that run and started others, so the last one may be under way.
    for party in [0, 1] {
        if scene.state(party).exists() {
            lose(&scene, party);
        }
    }
    scene.store.objects.lock().unwrap().retain(|name, _| name.ends_with("-end"));
    assert_eq!(repeats(&scene), [0; 2]);
}

#[test]
fn no_repeat_may_be_agreed() {
    let scene = Scene::new();
    let none = |options: Options| Options { max_repeats: 0, ..options };
    let begin = |party, options| scene.run(party, none(options), None, 1, program).unwrap_err();
    assert!(is_waiting(begin(0, options(&scene))));
    lose(&scene, 0);
    let restart = Options { restart: true, ..options(&scene) };
    assert_eq!(begin(0, restart), refused(1, 0));
    // The other side had not started the first run.
    assert_eq!(begin(1, options(&scene)), refused(1, 0));
}

#[test]
fn whoever_knows_less_is_told_and_tells() {
    let scene = Scene::new();
    give_up(&scene, || ());
    assert_eq!(repeats(&scene), [1; 2]);
    lose(&scene, 1);
    scene.store.objects.lock().unwrap().clear();
    assert!(is_waiting(restart(&scene, 0)));
    let seen: Arc<Mutex<Vec<(u32, bool)>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let on_event = Arc::new(move |event| {
        let mut seen = sink.lock().unwrap();
        match event {
            Event::Run { repeats, .. } => seen.push((repeats.count, false)),
            Event::Repeats { repeats, .. } => seen.push((repeats.count, true)),
            _ => {}
        }
    });
    let _ = scene.meet(1, Options { on_event, ..options(&scene) });
    assert_eq!(*seen.lock().unwrap(), [(0, false), (2, true)]);
}

#[test]
fn a_number_that_was_changed_on_the_way_is_refused() {
    let scene = Scene::new();
    give_up(&scene, || ());
    scene.store.objects.lock().unwrap().retain(|name, _| !name.contains("/1-"));
    lose(&scene, 1);
    // The number is at the start of a hello.
    scene.store.with("-0002/0-hello", |hello| hello[0] = 0);
    let restart = Options { restart: true, ..options(&scene) };
    let refused = scene.run(1, restart, None, 1, program).unwrap_err();
    assert!(matches!(refused, ExchangeError::Letter(_)), "{refused:?}");
}
