//! Honest runs.

use crate::kmrs14::board::{Helper, Way, meet, run_all, run_party, spec};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vesica_core::{Error, Item, Refusal, TransportError};
use vesica_protocols::kmrs14::{Check, Kind, Outcome, Slot, Variant};

pub(crate) fn item(value: u64) -> Item {
    Item::from_integer(
        u128::from(value).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) | 1,
    )
}

const NO_KEY: Item = Item::from_integer(0);

pub(crate) fn items(values: impl IntoIterator<Item = u64>) -> Vec<Item> {
    values.into_iter().map(item).collect()
}

/// The rows of `set` whose item is in all of `sets`.
pub(crate) fn expected(set: &[Item], sets: &[Vec<Item>]) -> (Vec<u64>, u64) {
    let sets: Vec<BTreeSet<Item>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
    let mut rows = vec![0; set.len().div_ceil(64)];
    let mut common = BTreeSet::new();
    for (row, item) in set.iter().enumerate() {
        if *item != NO_KEY && sets.iter().all(|set| set.contains(item)) {
            rows[row / 64] |= 1_u64 << (row % 64);
            common.insert(*item);
        }
    }
    (rows, common.len() as u64)
}

pub(crate) fn assert_plain(outcomes: Vec<vesica_core::Result<Outcome>>, sets: &[Vec<Item>]) {
    for (outcome, set) in outcomes.into_iter().zip(sets) {
        let matched = outcome.unwrap().matched.unwrap();
        assert_eq!((matched.rows, matched.items), expected(set, sets));
    }
}

pub(crate) const SMALL: Check = Check { copies: 3, dummies: 5 };
pub(crate) const TWO_PARTIES: [Variant; 4] =
    [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding];

#[test]
fn two_parties_learn_the_plain_intersection() {
    let shapes: [(u64, u64, u64); 8] = [
        (0, 0, 0),
        (0, 5, 0),
        (1, 1, 1),
        (1, 1, 0),
        (1, 3000, 1),
        (500, 500, 500),
        (700, 900, 0),
        (40_000, 30_000, 9_000),
    ];
    for variant in TWO_PARTIES {
        for (one, two, common) in shapes {
            let sets = [
                items((0..common).chain(1 << 20..(1 << 20) + one - common)),
                items((0..common).rev().chain(1 << 21..(1 << 21) + two - common)),
            ];
            let check = if variant == Variant::SemiHonest {
                Check { copies: 1, dummies: 8 }
            } else {
                SMALL
            };
            let helper = Helper::new(spec(variant, &[one, two], check));
            let (outcomes, _) = run_all(helper, &sets, 1);
            assert_plain(outcomes, &sets);
        }
    }
}

#[test]
fn values_are_compared_for_equality() {
    for (one, two) in [(3, 3), (3, 4)] {
        let sets = [items([one]), items([two])];
        let check = Check::cheapest(1);
        let (outcomes, _) = run_all(Helper::new(spec(Variant::Pet, &[1, 1], check)), &sets, 1);
        assert_plain(outcomes, &sets);
    }
}

#[test]
fn many_parties_learn_what_all_of_them_have() {
    for parties in [3, 5, 16_u64] {
        let sets: Vec<Vec<Item>> = (0..parties)
            .map(|party| {
                items(
                    (0..300)
                        .filter(|i| i % 17 != party)
                        .chain(1000 * (party + 1)..1000 * (party + 1) + 70 * party),
                )
            })
            .collect();
        let rows: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
        let helper =
            Helper::new(spec(Variant::SemiHonest, &rows, Check { copies: 1, dummies: 16 }));
        let (outcomes, _) = run_all(helper, &sets, 1);
        assert_plain(outcomes, &sets);
    }
}

#[test]
fn every_row_of_a_repeated_key_matches_and_rows_without_a_key_never_do() {
    for variant in TWO_PARTIES {
        let mut one = items([5, 6, 5, 7, 7, 7]);
        one.insert(2, NO_KEY);
        one.push(NO_KEY);
        let sets = [one, vec![item(7), NO_KEY, item(5), item(5)]];
        let helper = Helper::new(spec(variant, &[8, 4], SMALL));
        let (outcomes, _) = run_all(helper, &sets, 1);
        assert_plain(outcomes, &sets);
    }
}

#[test]
fn lanes_threads_and_memory_change_nothing_that_is_sent() {
    let sets = [items(0..80_000), items(40_000..125_000)];
    for variant in [Variant::SemiHonest, Variant::Fair, Variant::SizeHiding] {
        let runs: Vec<_> = [1, 4]
            .into_iter()
            .map(|lanes| {
                let helper =
                    Helper::new(spec(variant, &[80_000, 85_000], Check { copies: 2, dummies: 9 }));
                let (outcomes, helper) = run_all(helper, &sets, lanes);
                assert_plain(outcomes, &sets);
                helper.slots()
            })
            .collect();
        assert!(runs[0] == runs[1]);
    }
}

#[test]
fn a_party_that_is_cut_off_at_any_put_goes_on_where_it_was() {
    for variant in TWO_PARTIES {
        let sets = [items(0..2000), items(1000..2600)];
        let check =
            if variant == Variant::SemiHonest { Check { copies: 1, dummies: 8 } } else { SMALL };
        let (_, whole) = run_all(Helper::new(spec(variant, &[2000, 1600], check)), &sets, 1);
        let whole = whole.slots();
        for victim in [0, 1_u8] {
            for cut in 0.. {
                let helper = Arc::new(Helper::new(spec(variant, &[2000, 1600], check)));
                let scales = meet(&helper, &[2000, 1600]);
                let way = |party| Way { helper: Arc::clone(&helper), party, lanes: 1 };
                let cut_off = std::thread::scope(|scope| {
                    let other = 1 - victim;
                    let (ways, scales, sets) = ([way(0), way(1)], &scales, &sets);
                    let [first, second] = ways;
                    let (own, others) = if victim == 0 { (first, second) } else { (second, first) };
                    *helper.puts_left.lock().unwrap() = Some(cut);
                    // The victim runs alone first, as far as it gets, with a deadline by its puts.
                    let early = scope.spawn(move || {
                        run_party(&own, scales, 7, &sets[usize::from(victim)], 1 << 14)
                            .map(|_| own.party)
                    });
                    std::thread::sleep(std::time::Duration::from_millis(15));
                    let was_cut = helper.puts_left.lock().unwrap().take() == Some(0);
                    let again = way(victim);
                    let rest = scope.spawn(move || {
                        run_party(&others, scales, 7, &sets[usize::from(other)], 1 << 14)
                    });
                    let back = scope.spawn(move || {
                        run_party(&again, scales, 7, &sets[usize::from(victim)], 1 << 14)
                    });
                    let outcomes = [back.join().unwrap(), rest.join().unwrap()];
                    let first_try = early.join().unwrap();
                    assert!(
                        matches!(first_try, Ok(_) | Err(Error::Transport(TransportError::Closed))),
                        "{first_try:?}"
                    );
                    for (outcome, party) in outcomes.into_iter().zip([victim, other]) {
                        let set = &sets[usize::from(party)];
                        let matched = outcome.unwrap().matched.unwrap();
                        assert_eq!((matched.rows, matched.items), expected(set, sets));
                    }
                    was_cut && first_try.is_err()
                });
                assert!(helper.slots() == whole, "{variant:?}, party {victim}, cut at {cut}");
                if !cut_off {
                    break;
                }
            }
        }
    }
}

/// Of a list nothing is sent but its labels: exactly the bytes of the formula, and as many back.
#[test]
fn bytes_are_those_of_the_formula_and_depend_on_sizes_only() {
    for variant in TWO_PARTIES {
        let traffic: Vec<BTreeMap<u8, (u64, u64)>> = [(0, 1), (5_000, 2), (9_999, 3)]
            .into_iter()
            .map(|(common, seed)| {
                let own = |party: u64| (seed * 1_000_000 * party..).take(10_000 - common as usize);
                let sets = [items((0..common).chain(own(1))), items((0..common).chain(own(7)))];
                let helper = Helper::new(spec(variant, &[10_000, 10_000], SMALL));
                let (outcomes, helper) = run_all(helper, &sets, 1);
                assert_plain(outcomes, &sets);
                let traffic = helper.traffic.lock().unwrap().clone();
                let lens = [10_000, 10_000];
                let scales: Vec<u32> = lens.iter().map(|len| helper.spec.scale(*len)).collect();
                let formula = helper.spec.bytes(&scales, &lens);
                let hello = 1;
                let counted: Vec<(u64, u64)> =
                    traffic.values().map(|(put, got)| (put - hello, *got)).collect();
                assert_eq!(counted, formula, "{variant:?}");
                traffic
            })
            .collect();
        assert!(traffic.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn a_party_that_returns_to_a_run_with_other_data_is_refused() {
    let helper = Arc::new(Helper::new(spec(
        Variant::SemiHonest,
        &[10, 10],
        Check { copies: 1, dummies: 8 },
    )));
    let scales = meet(&helper, &[10, 10]);
    let way = |party| Way { helper: Arc::clone(&helper), party, lanes: 1 };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| run_party(&way(0), &scales, 7, &items(0..10), 1 << 14));
        while !vesica_protocols::kmrs14::helper::HelperStore::is_filled(
            &*helper,
            Slot::new(Kind::Size, 0),
        ) {
            std::thread::yield_now();
        }
        let twice = run_party(&way(0), &scales, 7, &items(5..14), 1 << 14);
        let expected = [Refusal::AlreadyThere, Refusal::Malformed { party: 0 }];
        assert!(
            matches!(twice, Err(Error::Refused(found)) if expected.contains(&found)),
            "{twice:?}"
        );
        helper.fail(Refusal::Ended { party: 1 });
        assert_eq!(first.join().unwrap().unwrap_err(), Error::Refused(Refusal::Ended { party: 1 }));
    });
}
