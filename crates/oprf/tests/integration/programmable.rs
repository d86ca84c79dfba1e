//! The programmable OPRF: the values programmed are those received, and all else is random.

use crate::support::{SESSION, Setting, Transcript, wrong_lengths_are_errors};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::HashMap;
use vesica_core::{Block, Error, Item, ParameterError, Role, Runs, SessionId};
use vesica_oprf::programmable::{
    Entry, FUNCTIONS, Hint, MAX_PROGRAMMER_LEN, MAX_RECEIVER_LEN, Oprf, Plan, Received, program,
    receive,
};
use vesica_ot::Traffic;

const FORMS: [(Oprf, Hint); 5] = [
    (Oprf::VoleFast, Hint::Store),
    (Oprf::Vole, Hint::Store),
    (Oprf::Vole, Hint::Polynomial),
    (Oprf::Kkrt, Hint::Store),
    (Oprf::Kkrt, Hint::Polynomial),
];

/// Items of no order that one sees, the same for the same numbers.
fn items(numbers: impl Iterator<Item = u64>) -> Vec<Item> {
    let item = |number: u64| {
        let mut bytes = [0; Item::LEN];
        StdRng::seed_from_u64(number).fill_bytes(&mut bytes);
        Item::from_bytes(bytes)
    };
    numbers.map(item).collect()
}

/// What is programmed: full blocks, of which the plan's bits count.
fn value(entry: Entry) -> Block {
    let Entry { bin, position, function } = entry;
    let seed = u64::from(bin) << 34 | u64::from(position) << 2 | u64::from(function);
    let mut value = [Block::ZERO];
    StdRng::seed_from_u64(seed).fill_bytes(Block::as_bytes_mut(&mut value));
    value[0]
}

fn run(plan: &Plan, x: &[Item], y: &[Item], setting: &Setting) -> Received {
    let run = setting
        .run(|ctx| program(ctx, &SESSION, plan, y, value), |ctx| receive(ctx, &SESSION, plan, x));
    assert_eq!(run.traffic, plan.bytes());
    assert_eq!(run.flights, plan.flights(), "{} and {} items", x.len(), y.len());
    run.unwrap().1
}

/// The law: common items have their values, others none that was programmed, empty bins zero.
fn assert_law(plan: &Plan, x: &[Item], y: &[Item], received: &Received) {
    assert_eq!((received.cuckoo.len(), received.values.len()), (plan.bins(), plan.bins()));
    let positions: HashMap<Item, u32> = y.iter().copied().zip(0..).collect();
    let mask = Block::new(u128::MAX >> (128 - plan.bits()));
    let mut placed_count = 0;
    for (bin, received_value) in received.values.iter().enumerate() {
        assert_eq!(*received_value, *received_value & mask);
        let Some(placed) = received.cuckoo.bin(bin) else {
            assert_eq!(*received_value, Block::ZERO, "an empty bin");
            continue;
        };
        placed_count += 1;
        if let Some(position) = positions.get(&x[placed.position as usize]) {
            let (bin, function) = (bin as u32, placed.function);
            let programmed = value(Entry { bin, position: *position, function }) & mask;
            assert_eq!(*received_value, programmed, "bin {bin}");
        } else if plan.bits() >= 61 {
            assert_ne!(*received_value, Block::ZERO);
            for position in 0..y.len().min(20) as u32 {
                for function in 0..FUNCTIONS as u8 {
                    let other = value(Entry { bin: bin as u32, position, function }) & mask;
                    assert_ne!(*received_value, other, "bin {bin}");
                }
            }
        }
    }
    assert_eq!(placed_count, x.len());
}

#[test]
fn common_items_receive_what_was_programmed_and_others_do_not() {
    // (items of the receiver, of the programmer, common)
    let sizes = [
        (1, 1, 0),
        (1, 1, 1),
        (2, 3, 1),
        (1, 2000, 1),
        (2000, 1, 1),
        (3, 3000, 0),
        (3000, 3, 3),
        (700, 700, 700),
        (700, 700, 0),
        (5000, 6000, 1234),
    ];
    for (oprf, hint) in FORMS {
        for (n_x, n_y, common) in sizes {
            let x = items(0..n_x as u64);
            let y = items((n_x - common) as u64..(n_x - common + n_y) as u64);
            for runs in [Runs::ONE, Runs::MAX] {
                let plan = Plan::new(oprf, hint, n_x, n_y, 61, runs);
                let received = run(&plan, &x, &y, &Setting::default());
                assert_law(&plan, &x, &y, &received);
            }
        }
    }
}

#[test]
fn numbers_in_a_row_are_items_too() {
    let x: Vec<Item> = (0..1000).map(Item::from_integer).collect();
    let y: Vec<Item> = (500..1500).map(Item::from_integer).collect();
    for (oprf, hint) in FORMS {
        let plan = Plan::new(oprf, hint, x.len(), y.len(), 61, Runs::ONE);
        assert_law(&plan, &x, &y, &run(&plan, &x, &y, &Setting::default()));
    }
}

#[test]
fn values_have_any_number_of_bits() {
    let (x, y) = (items(0..300), items(200..600));
    for (oprf, hint) in FORMS {
        for bits in [1, 7, 8, 40, 64, 65, 127, 128] {
            let plan = Plan::new(oprf, hint, x.len(), y.len(), bits, Runs::ONE);
            assert_law(&plan, &x, &y, &run(&plan, &x, &y, &Setting::default()));
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_law() {
    let (x, y) = (items(0..20_000), items(9_000..31_000));
    let setting = Setting { threads: 3, ..Setting::default() };
    for (oprf, hint) in FORMS {
        let plan = Plan::new(oprf, hint, x.len(), y.len(), 61, Runs::ONE);
        assert_law(&plan, &x, &y, &run(&plan, &x, &y, &setting));
    }
}

#[test]
fn a_hint_of_several_clusters_is_sent_part_by_part() {
    let (x, y) = (items(0..3_000), items(2_000..302_000));
    let plan = Plan::new(Oprf::Vole, Hint::Store, x.len(), y.len(), 61, Runs::ONE);
    assert_law(&plan, &x, &y, &run(&plan, &x, &y, &Setting::default()));
}

#[test]
fn empty_sets_send_nothing() {
    for (oprf, hint) in FORMS {
        for (n_x, n_y) in [(0, 0), (0, 5), (5, 0)] {
            let plan = Plan::new(oprf, hint, n_x, n_y, 61, Runs::ONE);
            let (x, y) = (items(0..n_x as u64), items(0..n_y as u64));
            assert_eq!(plan.bytes(), Traffic::default());
            assert_law(&plan, &x, &y, &run(&plan, &x, &y, &Setting::default()));
        }
    }
}

/// Values of items that are not common, over many sets of the programmer: each bit, and each of the
/// sum of two bins, is one about half of the time, within six standard deviations. A programmer's
/// items that are alike, random, or the receiver's own neighbours make no difference.
#[test]
fn values_of_other_items_are_unbiased_whatever_the_programmer_has() {
    let n = 6000;
    let x: Vec<Item> = (0..n).map(|i| Item::from_integer(2 * i)).collect();
    let alike: Vec<Item> = (0..n).map(|i| Item::from_integer(2 * i + 1)).collect();
    let neighbours: Vec<Item> =
        x.iter().map(|item| Item::from_integer(item.integer() | 1 << 127)).collect();
    for (oprf, hint) in FORMS {
        for y in [&items(0..6000), &alike, &neighbours] {
            let plan = Plan::new(oprf, hint, x.len(), y.len(), 61, Runs::ONE);
            let run = Setting::default().run(
                |ctx| program(ctx, &SESSION, &plan, y, |_| Block::ZERO),
                |ctx| receive(ctx, &SESSION, &plan, &x),
            );
            let received = run.unwrap().1;
            let values = (0..plan.bins()).filter(|bin| received.cuckoo.bin(*bin).is_some());
            let values: Vec<Block> = values.map(|bin| received.values[bin]).collect();
            let bound = 6.0 * (values.len() as f64).sqrt() / 2.0;
            for bit in 0..61 {
                let ones = values.iter().filter(|value| value.bit(bit)).count() as f64;
                assert!((ones - values.len() as f64 / 2.0).abs() <= bound, "bit {bit}");
                let pairs = values.iter().zip(&values[1..]);
                let ones = pairs.filter(|(a, b)| (**a ^ **b).bit(bit)).count() as f64;
                assert!((ones - values.len() as f64 / 2.0).abs() <= bound, "bit {bit} of sums");
            }
        }
    }
}

/// What the receiver gets for given items of the programmer: messages of the same lengths, and a
/// hint whose bits are ones about half of the time at every place of a byte, within six standard
/// deviations.
#[test]
fn the_receivers_messages_have_equal_lengths_and_an_unbiased_hint_whatever_the_programmer_has() {
    let x = items(0..4000);
    let common = x[..3000].to_vec();
    let in_a_row: Vec<Item> = (0..3000).map(Item::from_integer).collect();
    for (oprf, hint) in FORMS {
        let plan = Plan::new(oprf, hint, x.len(), 3000, 61, Runs::ONE);
        let mut lengths = None;
        for y in [&common, &in_a_row, &items(5000..8000)] {
            let transcript = Transcript::new(Role::Sender);
            let setting = Setting { transcripts: vec![transcript.clone()], ..Setting::default() };
            let run = setting.run(
                |ctx| program(ctx, &SESSION, &plan, y, |_| Block::ZERO),
                |ctx| receive(ctx, &SESSION, &plan, &x),
            );
            run.unwrap();
            let messages = transcript.messages();
            let lens: Vec<usize> = messages.iter().map(Vec::len).collect();
            let start = 1 + lens.iter().rposition(|len| *len == 32).expect("the hint's seed");
            assert_eq!(lengths.get_or_insert(lens.clone()), &lens);
            let hint = messages[start..].concat();
            assert!(hint.len() > 60_000);
            let bound = 6.0 * (hint.len() as f64).sqrt() / 2.0;
            for bit in 0..8 {
                let ones = hint.iter().filter(|byte| **byte >> bit & 1 == 1).count() as f64;
                assert!((ones - hint.len() as f64 / 2.0).abs() <= bound, "bit {bit}");
            }
        }
    }
}

#[test]
fn runs_in_one_session_and_with_roles_exchanged_do_not_disturb_each_other() {
    let (x, y) = (items(0..100), items(50..200));
    let (there, back) = (SessionId::from_bytes([1; 32]), SessionId::from_bytes([2; 32]));
    let forth = Plan::new(Oprf::Vole, Hint::Store, x.len(), y.len(), 61, Runs::ONE);
    let other = Plan::new(Oprf::Vole, Hint::Store, y.len(), x.len(), 61, Runs::ONE);
    let run = Setting::default().run(
        |ctx| {
            program(ctx, &there, &forth, &y, value)?;
            receive(ctx, &back, &other, &y)
        },
        |ctx| {
            let received = receive(ctx, &there, &forth, &x)?;
            program(ctx, &back, &other, &x, value)?;
            Ok(received)
        },
    );
    let (of_y, of_x) = run.unwrap();
    assert_law(&forth, &x, &y, &of_x);
    assert_law(&other, &y, &x, &of_y);
}

#[test]
fn sets_that_are_not_those_of_the_plan_are_refused() {
    let plan = Plan::new(Oprf::Vole, Hint::Store, 2, 3, 61, Runs::ONE);
    let x = items(0..3);
    let run = Setting::default().run(
        |ctx| Ok(program(ctx, &SESSION, &plan, &x[..2], value).err()),
        |ctx| Ok(receive(ctx, &SESSION, &plan, &x).err()),
    );
    let mismatch =
        |expected, actual| Some(ParameterError::SetLenMismatch { expected, actual }.into());
    assert_eq!(run.unwrap(), (mismatch(3, 2), mismatch(2, 3)));
    for (n_x, n_y) in
        [(MAX_RECEIVER_LEN + 1, 1), (1, MAX_PROGRAMMER_LEN + 1), (usize::MAX, usize::MAX)]
    {
        for (oprf, hint) in [(Oprf::Kkrt, Hint::Store), (Oprf::Vole, Hint::Store)] {
            let plan = Plan::new(oprf, hint, n_x, n_y, 61, Runs::ONE);
            assert!(plan.bytes().total() > 0);
            let run = Setting::default().run(
                |ctx| Ok(program(ctx, &SESSION, &plan, &[], value).err()),
                |ctx| Ok(receive(ctx, &SESSION, &plan, &[]).err()),
            );
            let too_large =
                |error| matches!(error, Some(Error::Parameter(ParameterError::SetTooLarge { .. })));
            let (programmer, receiver) = run.unwrap();
            assert!(too_large(programmer) && too_large(receiver));
        }
    }
}

#[test]
fn an_item_given_twice_is_refused() {
    let (x, mut y) = (items(0..50), items(0..50));
    y[49] = y[3];
    for (oprf, hint) in FORMS {
        let plan = Plan::new(oprf, hint, x.len(), y.len(), 61, Runs::ONE);
        let run = Setting::default().run(
            |ctx| program(ctx, &SESSION, &plan, &y, value),
            |ctx| receive(ctx, &SESSION, &plan, &x),
        );
        assert_eq!(run.sender.err(), Some(ParameterError::DuplicateItem.into()));
        assert!(run.receiver.is_err());
    }
}

/// Wrong lengths of messages end in an error of the party that gets them, and other contents in an
/// error or other values; nothing panics and nothing hangs.
#[test]
fn no_message_that_is_changed_makes_a_party_panic() {
    let (x, y) = (items(0..40), items(20..70));
    for (oprf, hint) in FORMS {
        let plan = Plan::new(oprf, hint, x.len(), y.len(), 61, Runs::ONE);
        let attempt = |setting: &Setting| {
            setting.run(
                |ctx| program(ctx, &SESSION, &plan, &y, value),
                |ctx| receive(ctx, &SESSION, &plan, &x),
            )
        };
        wrong_lengths_are_errors(attempt);
    }
}
