//! The order in which matches are revealed.

use super::held::{Scs, Secrets};
use super::shuffle::{Homomorphic, Shuffle, Sorted, Waksman};
use crate::computed::spy::{assert_are_uniform, context, runs, shown};
use crate::computed::{Circuit, Engine, Gmw, Yao, receiver, sender};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;
use vesica_circuit::word;
use vesica_core::{Item, Learns, PsiParams, Role, SessionId};
use vesica_modular::paillier::KeyPair;
use vesica_modular::paillier::shuffle::{Packing, Share, decrypt_unpack, encrypt_masks};
use vesica_modular::rsa::KeySize;
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_party::{Output, Party};

/// Items of each set.
const N: u64 = 24;

/// Runs, in each of which the sender draws again.
const RUNS: u8 = 8;

fn params() -> PsiParams {
    PsiParams::new(SessionId::from_bytes([1; 32]), N, N, Learns::Receiver)
        .and_then(|params| params.with_item_bits(32))
        .unwrap()
}

fn set() -> Vec<Item> {
    (1..=u128::from(N)).map(Item::from_integer).collect()
}

/// Nothing but the sender's draws makes the order, and no place keeps what it has.
#[track_caller]
fn assert_is_random(orders: &[Vec<u128>]) {
    let different: HashSet<&Vec<u128>> = orders.iter().collect();
    assert_eq!(different.len(), orders.len(), "{orders:?}");
    for order in orders {
        assert!(!order.is_sorted() && !order.iter().rev().is_sorted(), "{order:?}");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(1..=u128::from(N)), "all are there: {order:?}");
    }
    for place in 0..N as usize {
        assert!(orders.iter().any(|order| order[place] != orders[0][place]), "place {place}");
    }
}

#[test]
fn the_network_shows_matches_in_an_order_that_the_sender_draws() {
    let order = |seed| {
        let shown = shown::<Scs<Waksman>>(&params(), [&set(), &set()], [seed, 100]);
        word::numbers(&shown).into_iter().filter(|number| *number != 0).collect()
    };
    assert_is_random(&(1..=RUNS).map(order).collect::<Vec<Vec<u128>>>());
}

/// Two pairs of sets of four with three common items: these are the lowest of all, or the highest.
const PAIRS: [[[u128; 4]; 2]; 2] = [[[1, 2, 3, 10], [1, 2, 3, 11]], [[1, 7, 8, 9], [2, 7, 8, 9]]];

/// Orders of three matches among four windows.
const ORDERS: usize = 24;

fn few(learns: Learns) -> PsiParams {
    PsiParams::new(SessionId::from_bytes([1; 32]), 4, 4, learns)
        .and_then(|params| params.with_item_bits(4))
        .unwrap()
}

fn items(numbers: &[u128]) -> Vec<Item> {
    numbers.iter().copied().map(Item::from_integer).collect()
}

/// The common items, ascending.
fn common([x, y]: [&[u128]; 2]) -> Vec<u128> {
    x.iter().copied().filter(|item| y.contains(item)).collect()
}

/// Where each match is, from the lowest to the highest.
#[track_caller]
fn places(shown: &[u128], sets: [&[u128]; 2]) -> Vec<usize> {
    let common = common(sets);
    assert_eq!(shown.iter().filter(|number| **number != 0).count(), common.len());
    common.iter().map(|item| shown.iter().position(|number| number == item).unwrap()).collect()
}

/// The values shown in `N` runs, with randomness of this moment.
fn numbers_shown<S: Shuffle, E: Engine, const N: usize>(
    learns: Learns,
    [x, y]: [&[u128]; 2],
) -> Vec<Vec<u128>> {
    let seeds = [rand::random(), rand::random()];
    let runs = runs::<Scs<S>, E, N>(&few(learns), [&items(x), &items(y)], seeds);
    runs.iter().map(|run| word::numbers(&run.shown)).collect()
}

#[track_caller]
fn assert_leaves_in_any_order<E: Engine, const N: usize>() {
    for [x, y] in &PAIRS {
        let shown = numbers_shown::<Waksman, E, N>(Learns::Receiver, [x, y]);
        assert_are_uniform(shown.iter().map(|shown| places(shown, [x, y])), ORDERS);
    }
}

#[test]
fn matches_leave_the_garbled_network_in_any_order_equally_often() {
    assert_leaves_in_any_order::<Yao, 2000>();
}

#[test]
fn matches_leave_the_network_on_shares_in_any_order_equally_often() {
    assert_leaves_in_any_order::<Gmw, 300>();
}

#[track_caller]
fn assert_leaves_sorted<E: Engine>() {
    for learns in [Learns::Receiver, Learns::Both] {
        for [x, y] in &PAIRS {
            let sorted = [vec![0], common([x, y])].concat();
            let shown = numbers_shown::<Sorted, E, 2>(learns, [x, y]);
            assert!(shown.iter().all(|shown| *shown == sorted), "{shown:?}");
        }
    }
}

/// The order is made by the matches alone.
#[test]
fn matches_leave_the_sort_in_ascending_order_after_the_windows_without_a_match() {
    assert_leaves_sorted::<Yao>();
    assert_leaves_sorted::<Gmw>();
}

#[test]
fn matches_leave_the_homomorphic_shuffle_in_any_order_equally_often() {
    const RUNS: usize = 50;
    for [x, y] in &PAIRS {
        let found = [common([x, y]), vec![0]].concat();
        let seeds: Vec<[u8; 32]> = (0..RUNS).map(|_| rand::random()).collect();
        let shown = returned(&few(Learns::Receiver), &items(x), &found, &seeds);
        assert_are_uniform(shown.iter().map(|shown| places(shown, [x, y])), ORDERS);
    }
}

/// Both sides of the homomorphic shuffle share its work over threads.
#[test]
fn a_homomorphic_shuffle_on_two_threads_finds_what_is_common() {
    let params = params();
    let others: Vec<Item> = (13..13 + u128::from(N)).map(Item::from_integer).collect();
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let run = |peer: Role, streams, party: Box<dyn Party>| {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap()).unwrap();
        let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(peer, streams)];
        party.run(&mut Context::new(peers, rand::random(), pool, Meter::new()).unwrap()).unwrap()
    };
    let sender = sender::<Scs<Homomorphic<false>>, Yao>(params, Arc::new(others).into()).unwrap();
    let receiver =
        receiver::<Scs<Homomorphic<false>>, Yao>(params, Arc::new(set()).into()).unwrap();
    let found = std::thread::scope(|scope| {
        scope.spawn(|| run(Role::Receiver, sender_end, sender));
        run(Role::Sender, receiver_end, receiver)
    });
    assert_eq!(found, Output::Positions((12..N as usize).collect()));
}

#[test]
fn ciphertexts_come_back_in_an_order_that_the_sender_draws() {
    let found: Vec<u128> = (1..=u128::from(N)).collect();
    let seeds: Vec<[u8; 32]> = (1..=RUNS).map(|seed| [seed; 32]).collect();
    assert_is_random(&returned(&params(), &set(), &found, &seeds));
}

/// What a sender with this set sends back where the circuit finds `found`: once for each seed of
/// its randomness, under one key.
fn returned(
    params: &PsiParams,
    set: &[Item],
    found: &[u128],
    seeds: &[[u8; 32]],
) -> Vec<Vec<u128>> {
    const SIZE: KeySize = KeySize::Bits2048;
    let (end, _other) = memory::pair();
    let mut keys = context(Role::Sender, end, [100; 32]);
    let key = KeyPair::generate(SIZE, keys.rng());
    let zero = Share::default();
    let masks: Vec<_> = found.iter().map(|_| (&zero, key.noise(keys.rng()))).collect();
    let masks = encrypt_masks(&key, &masks);
    let packing = Packing::new(SIZE, params.item_bits());
    let once = |seed: &[u8; 32]| {
        let (sender_end, receiver_end) =
            memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let mut ctx = context(Role::Receiver, sender_end, *seed);
                let input = Arc::new(set.to_vec()).into();
                let scs: Scs<Homomorphic<false>> =
                    Scs::private(&mut ctx, params, Role::Sender, input).unwrap();
                // What the circuit would have shown: the items under masks that are zero here.
                let Some(Secrets::Masked(_, shares)) = scs.own.as_ref().map(|own| &own.secret)
                else {
                    panic!("the sender permutes");
                };
                let masked = found.iter().map(|item| {
                    let mut share = Share::default();
                    share[0] = *item as u64;
                    share
                });
                *shares.lock().unwrap_or_else(PoisonError::into_inner) = masked.collect();
                Homomorphic::finish(&mut ctx, &scs, Output::Nothing).unwrap();
                ctx.finish().unwrap();
            });
            let mut ctx = context(Role::Sender, receiver_end, [100; 32]);
            ctx.peer().unwrap().send(&key.public().encode()).unwrap();
            ctx.peer().unwrap().send(&masks).unwrap();
            let bytes = ctx.peer().unwrap().recv(packing.packed_len(found.len())).unwrap();
            let items = decrypt_unpack(&key, &packing, &bytes, found.len()).unwrap();
            ctx.finish().unwrap();
            sending.join().unwrap();
            items
        })
    };
    seeds.iter().map(once).collect()
}

#[test]
fn one_item_among_many_takes_a_comparator_and_half_a_window_for_each_and_no_shuffle() {
    const BITS: u64 = 32;
    for k in [0, 1, 5, 12_u32] {
        let n = 1 << k;
        for [n_x, n_y] in [[1, n], [n, 1]] {
            let params = PsiParams::new(SessionId::from_bytes([1; 32]), n_x, n_y, Learns::Receiver)
                .and_then(|params| params.with_item_bits(BITS as u32))
                .unwrap();
            let mut counting = Yao::counting();
            Scs::<Waksman>::public(&params).evaluate(&mut counting).unwrap();
            let count = counting.cost().count;
            // The last window of an even number of lanes has no lane after it.
            let windows = n.div_ceil(2) * (3 * BITS - 1) - if n == 1 { BITS } else { 0 };
            assert_eq!(count.ands, 2 * BITS * n + windows, "{n_x} and {n_y}");
            assert_eq!(count.one_sided, 0);
        }
    }
}

#[test]
fn a_set_of_one_item_is_found_in_any_place_of_the_other() {
    fn assert_is_found<S: Shuffle, E: Engine>() {
        let params = PsiParams::new(SessionId::from_bytes([1; 32]), 1, 6, Learns::Receiver)
            .and_then(|params| params.with_item_bits(4))
            .unwrap();
        let others = items(&[2, 4, 6, 8, 10, 12]);
        for item in 1..14 {
            let seeds = [rand::random(), rand::random()];
            let runs = runs::<Scs<S>, E, 1>(&params, [&items(&[item]), &others], seeds);
            let shown = word::numbers(&runs[0].shown);
            assert_eq!(shown, [if item % 2 == 0 && item < 13 { item } else { 0 }]);
        }
    }
    assert_is_found::<Waksman, Yao>();
    assert_is_found::<Sorted, Gmw>();
}
