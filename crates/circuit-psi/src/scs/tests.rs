//! The order in which matches are revealed.

use super::Scs;
use super::shuffle::{Homomorphic, Secrets, Shuffle, Waksman};
use crate::computed::Circuit;
use crate::computed::spy::{context, shown};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;
use vesica_circuit::word;
use vesica_core::{Item, Learns, PsiParams, Role, SessionId};
use vesica_modular::paillier::KeyPair;
use vesica_modular::paillier::shuffle::{Packing, Share, decrypt_unpack, encrypt_masks};
use vesica_modular::rsa::KeySize;
use vesica_net::{Shape, memory};
use vesica_party::Output;

/// Items of each set.
const N: u64 = 24;

/// Runs in which the sender draws anew.
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

#[test]
fn ciphertexts_come_back_in_an_order_that_the_sender_draws() {
    const SIZE: KeySize = KeySize::Bits2048;
    let order = |seed| {
        let params = params();
        let (sender_end, receiver_end) =
            memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
        std::thread::scope(|scope| {
            let sending = scope.spawn(move || {
                let mut ctx = context(Role::Receiver, sender_end, seed);
                let input = Arc::new(set()).into();
                let scs: Scs<Homomorphic<false>> =
                    Scs::private(&mut ctx, &params, Role::Sender, input).unwrap();
                // What the circuit would have shown: the items under masks that are zero here.
                let Some(Secrets::Masked(_, shares)) = scs.own.as_ref().map(|own| &own.secret)
                else {
                    panic!("the sender permutes");
                };
                let masked = (1..=N).map(|item| {
                    let mut share = Share::default();
                    share[0] = item;
                    share
                });
                *shares.lock().unwrap_or_else(PoisonError::into_inner) = masked.collect();
                Homomorphic::finish(&mut ctx, &scs, Output::Nothing).unwrap();
                ctx.finish().unwrap();
            });
            let mut ctx = context(Role::Sender, receiver_end, 100);
            let key = KeyPair::generate(SIZE, ctx.rng());
            ctx.peer().unwrap().send(&key.public().encode()).unwrap();
            let masks = encrypt_masks(&key, &[Share::default(); N as usize], ctx.rng());
            ctx.peer().unwrap().send(&masks).unwrap();
            let packing = Packing::new(SIZE, 32);
            let bytes = ctx.peer().unwrap().recv(packing.packed_len(N as usize)).unwrap();
            let items = decrypt_unpack(&key, &packing, &bytes, N as usize).unwrap();
            ctx.finish().unwrap();
            sending.join().unwrap();
            items
        })
    };
    assert_is_random(&(1..=RUNS).map(order).collect::<Vec<Vec<u128>>>());
}
