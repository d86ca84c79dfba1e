//! Channels and contexts over the in-memory pair.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use vesica_core::{Error, Misbehaviour, Role, StopReason, TransportError};
use vesica_net::memory::{BOTH_WAIT, MemoryStreams, pair, pair_in_turns, pair_with};
use vesica_net::{Context, Meter, Pool, Shape, StreamId, Streams};

fn context(streams: Arc<MemoryStreams>, peer: Role) -> Context {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    Context::new(vec![(peer, streams as Arc<dyn Streams>)], [1; 32], pool, Meter::new()).unwrap()
}

fn contexts_over(ends: (Arc<MemoryStreams>, Arc<MemoryStreams>)) -> (Context, Context) {
    (context(ends.0, Role::Receiver), context(ends.1, Role::Sender))
}

fn contexts() -> (Context, Context) {
    contexts_over(pair())
}

/// Runs both parties and returns what they return.
fn both<A: Send, B: Send>(
    (mut a, mut b): (Context, Context),
    run_a: impl FnOnce(&mut Context) -> A + Send,
    run_b: impl FnOnce(&mut Context) -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(move || run_b(&mut b));
        let one = run_a(&mut a);
        drop(a);
        (one, other.join().unwrap())
    })
}

#[test]
fn messages_arrive_whole_and_in_order() {
    both(
        contexts(),
        |ctx| {
            for len in [0usize, 1, 5, 128 << 10, 3 << 20] {
                ctx.peer().unwrap().send(&vec![len as u8; len]).unwrap();
            }
        },
        |ctx| {
            for len in [0usize, 1, 5, 128 << 10, 3 << 20] {
                assert_eq!(ctx.peer().unwrap().recv(len).unwrap(), vec![len as u8; len]);
            }
        },
    );
}

#[test]
fn a_receive_flushes_what_was_sent_before() {
    both(
        contexts(),
        |ctx| {
            ctx.peer().unwrap().send(b"ping").unwrap();
            assert_eq!(ctx.peer().unwrap().recv(4).unwrap(), b"pong");
        },
        |ctx| {
            assert_eq!(ctx.peer().unwrap().recv(4).unwrap(), b"ping");
            ctx.peer().unwrap().send(b"pong").unwrap();
        },
    );
}

#[test]
fn two_parties_that_both_write_first_do_not_deadlock() {
    let talk = |ctx: &mut Context| {
        let block = vec![7u8; 1 << 20];
        for _ in 0..32 {
            ctx.peer().unwrap().send(&block).unwrap();
        }
        for _ in 0..32 {
            assert_eq!(ctx.peer().unwrap().recv(1 << 20).unwrap(), block);
        }
    };
    both(contexts(), talk, talk);
}

#[test]
fn a_wrong_length_is_a_named_misbehaviour_and_closes_the_channel() {
    both(
        contexts(),
        |ctx| ctx.peer().unwrap().send(&[0; 10]).unwrap(),
        |ctx| {
            let wrong = Misbehaviour::WrongMessageLen { expected: 11, actual: 10 };
            assert_eq!(ctx.peer().unwrap().recv(11), Err(wrong.into()));
            let closed = Err(TransportError::Poisoned.into());
            assert_eq!(ctx.peer().unwrap().recv(10), closed);
            assert_eq!(ctx.peer().unwrap().send(&[1]), Err(TransportError::Poisoned.into()));
        },
    );
}

#[test]
fn messages_above_the_limit_are_refused_on_both_sides() {
    let (mut ctx, _other) = contexts();
    assert!(matches!(ctx.peer().unwrap().send(&vec![0; (64 << 20) + 1]), Err(Error::Bug(_))));
    let (mut ctx, _other) = contexts();
    assert!(matches!(ctx.peer().unwrap().recv((64 << 20) + 1), Err(Error::Bug(_))));
}

#[test]
fn a_closed_peer_is_detected() {
    let (mut ctx, other) = contexts();
    drop(other);
    assert_eq!(ctx.peer().unwrap().recv(1), Err(TransportError::Closed.into()));
}

#[test]
fn a_silent_peer_is_detected_within_the_idle_limit() {
    let idle = Duration::from_millis(50);
    let (mut ctx, _other) = contexts_over(pair_with(Shape::LOOPBACK, idle));
    let start = Instant::now();
    assert_eq!(ctx.peer().unwrap().recv(1), Err(TransportError::Idle(idle).into()));
    assert!(start.elapsed() >= idle && start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_deadlock_is_detected_and_a_working_party_is_not_one() {
    let idle = Duration::from_secs(60);
    let start = Instant::now();
    let in_vain = |ctx: &mut Context| {
        // Data in flight, or work at one side, does not count as waiting.
        ctx.peer().unwrap().send(&[1; 10]).unwrap();
        ctx.peer().unwrap().recv(10).unwrap();
        ctx.peer().unwrap().recv(1).map(drop)
    };
    let ends = both(
        contexts_over(pair_in_turns(idle)),
        |ctx| {
            std::thread::sleep(4 * BOTH_WAIT);
            in_vain(ctx)
        },
        in_vain,
    );
    let given_up =
        [Err(TransportError::Idle(BOTH_WAIT).into()), Err(TransportError::Closed.into())];
    assert!(given_up.contains(&ends.0) && given_up.contains(&ends.1), "{ends:?}");
    assert!(start.elapsed() >= 5 * BOTH_WAIT && start.elapsed() < Duration::from_secs(5));
}

#[test]
fn bytes_messages_and_flights_are_counted_by_label() {
    let (sent, received) = both(
        contexts(),
        |ctx| {
            ctx.child("outer", |ctx| {
                ctx.peer().unwrap().send(&[0; 100]).unwrap();
                ctx.child("inner", |ctx| {
                    ctx.peer().unwrap().send(&[0; 20]).unwrap();
                    ctx.peer().unwrap().recv(3).unwrap();
                });
            });
            assert_eq!(ctx.direction_changes(), 2);
            ctx.meter().report()
        },
        |ctx| {
            ctx.child("all", |ctx| {
                ctx.peer().unwrap().recv(100).unwrap();
                ctx.peer().unwrap().recv(20).unwrap();
                ctx.peer().unwrap().send(&[0; 3]).unwrap();
            });
            ctx.meter().report()
        },
    );
    let row = |rows: &[vesica_net::SpanReport], label: &str| {
        let row = rows.iter().find(|row| row.label == label).unwrap().clone();
        (row.bytes_sent, row.bytes_received, row.messages_sent, row.messages_received, row.flights)
    };
    assert_eq!(row(&sent, "outer"), (100, 0, 1, 0, 1));
    assert_eq!(row(&sent, "outer/inner"), (20, 3, 1, 1, 1));
    assert_eq!(row(&received, "all"), (3, 120, 1, 2, 2));
}

#[test]
fn forks_are_independent_and_meet_in_order() {
    both(
        contexts(),
        |ctx| {
            let mut forks = ctx.fork(3).unwrap();
            for (i, fork) in forks.iter_mut().enumerate().rev() {
                fork.peer().unwrap().send(&[i as u8]).unwrap();
                let mut below = fork.fork(1).unwrap();
                below[0].peer().unwrap().send(&[10 + i as u8]).unwrap();
            }
        },
        |ctx| {
            let mut forks = ctx.fork(3).unwrap();
            for (i, fork) in forks.iter_mut().enumerate() {
                assert_eq!(fork.peer().unwrap().recv(1).unwrap(), [i as u8]);
                let mut below = fork.fork(1).unwrap();
                assert_eq!(below[0].peer().unwrap().recv(1).unwrap(), [10 + i as u8]);
            }
        },
    );
}

#[test]
fn joined_parts_run_side_by_side() {
    // Each part waits for the other party's opposite part, so one after the other they would hang.
    let talk = |ctx: &mut Context| {
        ctx.join(
            ("a", |ctx: &mut Context| {
                ctx.peer()?.send(&[1])?;
                ctx.peer()?.recv(1)
            }),
            ("b", |ctx: &mut Context| {
                let got = ctx.peer()?.recv(1)?;
                ctx.peer()?.send(&got)?;
                Ok(got)
            }),
        )
    };
    let reversed = |ctx: &mut Context| {
        ctx.join(
            ("a", |ctx: &mut Context| {
                let got = ctx.peer()?.recv(1)?;
                ctx.peer()?.send(&got)?;
                Ok(got)
            }),
            ("b", |ctx: &mut Context| {
                ctx.peer()?.send(&[2])?;
                ctx.peer()?.recv(1)
            }),
        )
    };
    let (one, two) = both(contexts(), talk, reversed);
    assert_eq!(one, Ok((vec![1], vec![2])));
    assert_eq!(two, Ok((vec![1], vec![2])));
}

#[test]
fn a_failed_part_ends_its_sibling_and_tells_the_peer() {
    let failing = |ctx: &mut Context| {
        ctx.join(
            ("a", |_: &mut Context| -> vesica_core::Result<()> {
                Err(Misbehaviour::InvalidValue.into())
            }),
            ("b", |ctx: &mut Context| ctx.peer()?.recv(1)),
        )
    };
    let waiting = |ctx: &mut Context| {
        ctx.join(
            ("a", |ctx: &mut Context| ctx.peer()?.recv(1)),
            ("b", |ctx: &mut Context| ctx.peer()?.recv(1)),
        )
    };
    let start = Instant::now();
    let (one, two) = both(contexts(), failing, waiting);
    assert_eq!(one, Err(Misbehaviour::InvalidValue.into()));
    let told = TransportError::PeerStopped(StopReason::Misbehaviour);
    assert!(two == Err(told.into()) || two == Err(TransportError::Closed.into()), "{two:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_panicking_part_ends_its_sibling() {
    let (one, two) = contexts();
    let start = Instant::now();
    let panicked = thread::scope(|scope| {
        let mut ctx = one;
        scope
            .spawn(move || {
                ctx.join(
                    ("a", |_: &mut Context| -> vesica_core::Result<()> { panic!("on purpose") }),
                    ("b", |ctx: &mut Context| ctx.peer()?.recv(1)),
                )
            })
            .join()
            .is_err()
    });
    drop(two);
    assert!(panicked && start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_shaped_pair_takes_the_time_of_its_network() {
    let shape =
        Shape { bits_per_second: Some(80_000_000), one_way_delay: Duration::from_millis(30) };
    let start = Instant::now();
    both(
        contexts_over(pair_with(shape, Duration::from_secs(20))),
        |ctx| {
            // 1 MB at 10 MB/s is 100 ms, plus 30 ms in each direction.
            ctx.peer().unwrap().send(&vec![0; 1_000_000]).unwrap();
            ctx.peer().unwrap().recv(1).unwrap();
        },
        |ctx| {
            ctx.peer().unwrap().recv(1_000_000).unwrap();
            ctx.peer().unwrap().send(&[0]).unwrap();
        },
    );
    let elapsed = start.elapsed();
    assert!(elapsed >= Duration::from_millis(160), "{elapsed:?}");
    assert!(elapsed < Duration::from_millis(1500), "{elapsed:?}");
}

#[test]
fn an_aborted_pair_refuses_new_streams() {
    let (one, two) = pair();
    one.abort(StopReason::Input);
    let error = one.open(StreamId::ROOT).err();
    assert_eq!(error, Some(TransportError::CancelledHere));
    let error = two.open(StreamId::ROOT).err();
    assert_eq!(error, Some(TransportError::PeerStopped(StopReason::Input)));
}
