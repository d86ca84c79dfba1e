//! Base transfers: the relation, the bytes, and invalid points.

use crate::support;
use support::{SESSION, run};
use vesica_core::{Misbehaviour, SessionId};
use vesica_ot::base;

fn choice(i: usize) -> bool {
    i.is_multiple_of(3) || i % 7 == 1
}

#[test]
fn the_receiver_gets_the_key_it_chose() {
    for count in [0, 1, 2, 7, 8, 9, 128, 300] {
        let run = run(
            |ctx| base::send(ctx, &SESSION, count),
            |ctx| base::Receiver::send(ctx, &SESSION, (0..count).map(choice))?.receive(ctx),
        );
        assert_eq!(run.traffic, base::bytes(count));
        assert_eq!(run.flights, 2);
        let (sent, received) = run.unwrap();
        assert_eq!(sent.transcript, received.transcript);
        assert_eq!(sent.keys.len(), count);
        assert_eq!(received.keys.len(), count);
        for (i, (pair, key)) in sent.keys.iter().zip(received.keys.iter()).enumerate() {
            assert_eq!(pair[usize::from(choice(i))], *key, "transfer {i} of {count}");
            assert_ne!(pair[usize::from(!choice(i))], *key, "transfer {i} of {count}");
        }
        let mut all: Vec<_> = sent.keys.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * count, "keys repeat");
    }
}

#[test]
fn different_sessions_have_no_common_key() {
    let other = SessionId::from_bytes([8; 32]);
    let run = run(
        |ctx| base::send(ctx, &SESSION, 4),
        |ctx| base::Receiver::send(ctx, &other, (0..4).map(choice))?.receive(ctx),
    );
    let (sent, received) = run.unwrap();
    assert_ne!(sent.transcript, received.transcript);
    assert!(received.keys.iter().all(|key| !sent.keys.as_flattened().contains(key)));
}

/// A's message as a receiver towards B is not B's receiver message towards A.
#[test]
fn transfers_in_the_two_directions_have_nothing_in_common() {
    let seeded = |reversed: bool| {
        let setting = support::Setting { reversed, ..support::Setting::default() };
        let run = setting.run(
            |ctx| base::send(ctx, &SESSION, 4),
            |ctx| base::Receiver::send(ctx, &SESSION, (0..4).map(choice))?.receive(ctx),
        );
        run.unwrap().0
    };
    let (one, other) = (seeded(false), seeded(true));
    assert_ne!(one.transcript, other.transcript);
    assert!(one.keys.iter().flatten().all(|key| !other.keys.as_flattened().contains(key)));
}

/// Identity, non-canonical (p and all ones), negative, not on the curve.
fn bad_points() -> Vec<[u8; 32]> {
    let mut p = [0xff; 32];
    (p[0], p[31]) = (0xed, 0x7f);
    let mut negative = [0; 32];
    negative[0] = 1;
    // RFC 9496, Appendix A.3: x² is not a square.
    let hex = b"26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371";
    let digit = |c: u8| (c as char).to_digit(16).expect("a digit") as u8;
    let off_curve = std::array::from_fn(|i| digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    vec![[0; 32], p, [0xff; 32], negative, off_curve]
}

#[test]
fn a_receiver_that_sends_an_invalid_point_is_named() {
    for point in bad_points() {
        for place in [0, 5, 15] {
            let run = run(
                |ctx| base::send(ctx, &SESSION, 8),
                |ctx| {
                    // The points of an honest receiver, with one replaced.
                    let mut message = [0; 8 * 64];
                    let ks: Vec<_> = (1..17).map(scalar).collect();
                    let mut points = [[0; 32]; 16];
                    vesica_simd::ristretto::base_mul(&ks, &mut points);
                    points[place] = point;
                    message.copy_from_slice(points.as_flattened());
                    ctx.peer()?.send(&message)?;
                    ctx.peer()?.recv(32)?;
                    // Waits until the sender has found it and closes the connection.
                    ctx.peer()?.recv(1)
                },
            );
            let expected = Misbehaviour::InvalidPoint { index: place as u64 };
            assert_eq!(run.sender.err(), Some(expected.into()), "place {place}");
        }
    }
}

#[test]
fn a_sender_that_sends_an_invalid_point_is_named() {
    for point in bad_points() {
        let run = run(
            |ctx| {
                ctx.peer()?.recv(8 * 64)?;
                ctx.peer()?.send(&point)
            },
            |ctx| base::Receiver::send(ctx, &SESSION, (0..8).map(choice))?.receive(ctx),
        );
        assert_eq!(run.receiver.err(), Some(Misbehaviour::InvalidPoint { index: 0 }.into()));
    }
}

fn scalar(value: u8) -> vesica_simd::ristretto::Scalar {
    let mut bytes = [0; 64];
    bytes[0] = value;
    vesica_simd::ristretto::Scalar::from_uniform_bytes(&bytes).expect("not zero")
}
