//! Runs that are interrupted and resumed.

use crate::support::Scene;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vesica_core::Result;
use vesica_link::CancelToken;
use vesica_net::{Connection, Context};
use vesica_store_session::{Conversation, ExchangeError};

/// A program that sends and receives on the first stream, and on two forks at once. What it sends
/// depends on its randomness and on everything that it has received.
pub(crate) fn program(ctx: &mut Context) -> Result<Vec<u8>> {
    let mut received = vec![1];
    let mut turn = |ctx: &mut Context, len: usize| -> Result<()> {
        let seen = received.iter().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
        let next: Vec<u8> = (0..len).map(|_| ctx.rng().random::<u8>() ^ seen).collect();
        ctx.peer()?.send(&next)?;
        received.extend(ctx.peer()?.recv(len)?);
        Ok(())
    };
    (1..6).try_for_each(|len| turn(ctx, 10 * len))?;
    let mut forks = ctx.fork(2)?;
    for fork in &mut forks {
        turn(fork, 100_000)?;
    }
    turn(ctx, 7)?;
    Ok(received)
}

/// Runs both parties, each restarted until it has its result. Each process ends after the given
/// number of milliseconds.
fn both(scene: &Scene, millis: impl Fn() -> u64 + Sync) -> ([Vec<u8>; 2], u32) {
    both_run(scene, millis, |_, ctx, _| program(ctx))
}

pub(crate) fn both_run(
    scene: &Scene,
    millis: impl Fn() -> u64 + Sync,
    program: impl Fn(usize, &mut Context, &Conversation) -> Result<Vec<u8>> + Sync,
) -> ([Vec<u8>; 2], u32) {
    let side = |party: usize| {
        for attempt in 1..2000 {
            let cancel = CancelToken::new();
            let (stop, after) = (cancel.clone(), Duration::from_millis(millis()));
            let timer = std::thread::spawn(move || {
                std::thread::sleep(after);
                stop.cancel();
            });
            let threads = 1 + attempt as usize % 3;
            let program = |ctx: &mut Context, on: &Conversation| program(party, ctx, on);
            let mut options = scene.options(&cancel);
            options.wait = Duration::from_secs(20);
            let done = scene.run_on(party, options, None, threads, program);
            drop(timer);
            match done {
                Ok(received) => return (received, attempt),
                Err(ExchangeError::Cancelled | ExchangeError::NotYet { .. }) => {}
                Err(error) => panic!("party {party}: {error:?}"),
            }
        }
        panic!("party {party} does not come to an end");
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| side(1));
        let (one, attempts) = side(0);
        let (two, more) = other.join().unwrap();
        ([one, two], attempts + more)
    })
}

#[test]
fn the_next_run_leaves_two_words_of_the_last_one() {
    let scene = Scene::new();
    let ([one, two], attempts) = both(&scene, || 60_000);
    assert_eq!((one.len(), two.len(), attempts), (200_158, 200_158, 2));
    assert!(!scene.state(0).exists() && !scene.state(1).exists());
    // The next run is a different one, and removes what the last one has left.
    let ([other, _], _) = both(&scene, || 60_000);
    assert_ne!(one, other);
    let store = scene.store.objects.lock().unwrap();
    let old: Vec<_> = store.keys().filter(|name| name.contains("-0001/")).collect();
    assert!(old.len() == 2 && old.iter().all(|name| name.ends_with("-end")), "{old:?}");
}

#[test]
fn a_run_that_is_interrupted_anywhere_goes_on() {
    for seed in 0..5 {
        let scene = Scene::new();
        let random = std::sync::Mutex::new(rand::rngs::StdRng::seed_from_u64(seed));
        let ([one, two], attempts) = both(&scene, || random.lock().unwrap().random_range(1..25));
        assert_eq!((one.len(), two.len()), (200_158, 200_158));
        assert!(attempts > 2, "no interruption came in time");
    }
}

#[test]
fn processes_that_do_what_is_possible_take_turns() {
    let scene = Scene::new();
    let once = || {
        let mut options = scene.options(&CancelToken::new());
        options.wait = Duration::from_millis(50);
        options
    };
    let mut received = [None, None];
    for turn in 0..40 {
        let party = turn % 2;
        if received[party].is_some() {
            continue;
        }
        match scene.run(party, once(), None, 1, program) {
            Ok(bytes) => received[party] = Some(bytes),
            Err(ExchangeError::NotYet { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(received.iter().all(Option::is_some));
}

#[test]
fn parts_that_are_over_do_not_run_again() {
    const PARTS: u64 = 12;
    let (mut skipped, mut interrupted) = (0, 0);
    for seed in 0..6 {
        let scene = Scene::new();
        let random = std::sync::Mutex::new(rand::rngs::StdRng::seed_from_u64(seed));
        let millis = || random.lock().unwrap().random_range(5..90);
        let kept = std::sync::Mutex::new([0, 1].map(|_| BTreeMap::<u64, Vec<u8>>::new()));
        let skips = AtomicU64::new(0);
        let run = |party: usize, ctx: &mut Context, on: &Conversation| {
            let mut all = Vec::new();
            for part in 0..PARTS {
                let (mut fork, opened) = ctx.fork_detached()?;
                let old = on.kept_part(part)?;
                let known = kept.lock().unwrap()[party].get(&part).cloned();
                let received = match &old {
                    Some(old) => {
                        skips.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(known.as_ref(), Some(old));
                        old.clone()
                    }
                    None => {
                        let received = program(&mut fork)?;
                        fork.finish()?;
                        // A part that had finished but was not kept sends and receives the same
                        // again.
                        assert!(known.is_none_or(|known| known == received));
                        kept.lock().unwrap()[party].insert(part, received.clone());
                        on.keep_part(part, &opened.ids(), &received)?;
                        received
                    }
                };
                all.extend(received);
            }
            all.extend(program(ctx)?);
            Ok(all)
        };
        let ([one, two], attempts) = both_run(&scene, millis, run);
        assert_eq!([one.len(), two.len()], [200_158 * (PARTS as usize + 1); 2]);
        skipped += skips.into_inner();
        interrupted += attempts - 2;
    }
    assert!(
        skipped > 20 && interrupted > 10,
        "{skipped} parts left out, {interrupted} interruptions"
    );
}

#[test]
fn a_part_that_computes_says_its_word_although_another_one_waits() {
    let scene = Scene::new();
    let patient = || {
        let mut options = scene.options(&CancelToken::new());
        options.wait = Duration::from_secs(20);
        options
    };
    std::thread::scope(|scope| {
        scope.spawn(|| scene.meet(1, patient()).unwrap());
        scene.meet(0, patient()).unwrap();
    });
    let program = |ctx: &mut Context| {
        ctx.join(
            ("waiting", |ctx: &mut Context| ctx.peer()?.recv(1)),
            ("computing", |ctx: &mut Context| {
                let (start, mut sum) = (Instant::now(), 0_u64);
                while start.elapsed() < Duration::from_millis(1200) {
                    sum = std::hint::black_box(sum.wrapping_mul(31) + 1);
                }
                ctx.peer()?.send(&[1])
            }),
        )
    };
    let ended = scene.run(0, scene.options(&CancelToken::new()), None, 1, program);
    assert!(matches!(ended, Err(ExchangeError::NotYet { .. })), "{ended:?}");
    assert!(scene.store.names().contains(&"0-000000".to_owned()), "{:?}", scene.store.names());
}
