//! Extension with a code: rows of every choice, strings, bytes.

use crate::support::{SESSION, Setting, assert_unbiased, run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_ot::coded::kk13::{self, Choice, NONE, Row};
use vesica_ot::coded::{ReceiverSetup, random, rows};

const LENGTHS: [usize; 7] = [0, 1, 127, 128, 129, 2048, 10_000];

fn choices(len: usize, values: usize, seed: u64) -> Vec<u8> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(0..values) as u8).collect()
}

fn xor(a: &Row, b: &Row) -> Row {
    std::array::from_fn(|k| a[k] ^ b[k])
}

/// Collects the rows of one extension; they must come in order and without gaps.
fn collect<const K: usize>(into: &mut Vec<[Block; K]>) -> impl FnMut(usize, &[[Block; K]]) {
    |first, rows| {
        assert_eq!(first, into.len(), "rows come in order");
        into.extend_from_slice(rows);
    }
}

fn sender_rows(sender: &mut kk13::Sender, ctx: &mut Context, len: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    sender.extend(ctx, len, collect(&mut rows))?;
    Ok(rows)
}

fn receiver_rows(
    receiver: &mut kk13::Receiver,
    ctx: &mut Context,
    choices: &[u8],
) -> Result<Vec<Row>> {
    let choices: Vec<_> = choices.iter().copied().map(Choice::from).collect();
    let mut rows = Vec::new();
    receiver.extend(ctx, &choices, collect(&mut rows))?;
    Ok(rows)
}

#[test]
fn place_j_of_a_codeword_is_the_inner_product_of_the_choice_and_j() {
    for c in 0..=u8::MAX {
        let codeword = kk13::codeword(c);
        for j in 0..=u8::MAX {
            let bit = codeword[usize::from(j / 128)].bit(u32::from(j % 128));
            assert_eq!(bit, (c & j).count_ones() % 2 == 1, "{c}, {j}");
        }
    }
}

#[test]
fn any_two_codewords_differ_in_exactly_128_places() {
    for c in 0..=u8::MAX {
        for d in 0..c {
            let [low, high] = xor(&kk13::codeword(c), &kk13::codeword(d));
            let distance = low.get().count_ones() + high.get().count_ones();
            assert_eq!(distance, 128, "{c} and {d}");
        }
    }
}

#[test]
fn rows_differ_by_the_masked_codeword_of_the_choice() {
    for values in [2, 16, 256] {
        for threads in [1, 3] {
            let setting = Setting { threads, ..Setting::default() };
            let run = setting.run(
                |ctx| {
                    let mut sender = kk13::Sender::setup(ctx, &SESSION)?;
                    let rows = LENGTHS.map(|len| sender_rows(&mut sender, ctx, len));
                    Ok((rows, (0..=u8::MAX).map(|c| sender.masks().get(c)).collect::<Vec<_>>()))
                },
                |ctx| {
                    let mut receiver = kk13::Receiver::setup(ctx, &SESSION)?;
                    Ok(LENGTHS.map(|len| {
                        receiver_rows(&mut receiver, ctx, &choices(len, values, len as u64))
                    }))
                },
            );
            let expected = LENGTHS.map(kk13::extend_bytes).into_iter();
            assert_eq!(run.traffic, expected.fold(kk13::setup_bytes(), |sum, bytes| sum + bytes));
            assert_eq!(run.flights, 3);
            let ((q, masks), t) = run.unwrap();
            for ((q, t), len) in q.into_iter().zip(t).zip(LENGTHS) {
                let (q, t) = (q.unwrap(), t.unwrap());
                assert_eq!((q.len(), t.len()), (len, len));
                let choices = choices(len, values, len as u64);
                for ((q, t), c) in q.iter().zip(&t).zip(&choices) {
                    assert_eq!(xor(q, &masks[usize::from(*c)]), *t, "{len} rows, {values} values");
                }
            }
        }
    }
}

/// Rows with and without a value in one extension. Without a value, the receiver's row differs from
/// that of every value by at least 128 bits of s.
#[test]
fn a_row_of_no_value_is_far_from_the_row_of_every_value() {
    const LEN: usize = 3000;
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let choices: Vec<Choice> =
        (0..LEN).map(|_| if rng.random() { NONE } else { rng.random_range(0..NONE) }).collect();
    let ((q, masks), t) = run(
        |ctx| {
            let mut sender = kk13::Sender::setup(ctx, &SESSION)?;
            Ok((sender_rows(&mut sender, ctx, LEN)?, sender.masks()))
        },
        |ctx| {
            let mut receiver = kk13::Receiver::setup(ctx, &SESSION)?;
            let mut rows = Vec::new();
            receiver.extend(ctx, &choices, collect(&mut rows))?;
            Ok(rows)
        },
    )
    .unwrap();

    let ones = Block::new(u128::MAX);
    for c in 0..=u8::MAX {
        let [low, high] = xor(&[ones; 2], &kk13::codeword(c));
        let distance = low.get().count_ones() + high.get().count_ones();
        assert!([128, 256].contains(&distance), "{c}: {distance}");
    }
    // All of s but place 0, which is zero in every codeword.
    let s = (0..8).map(|b| masks.get(1 << b)).fold([Block::ZERO; 2], |s, mask| {
        std::array::from_fn(|k| Block::new(s[k].get() | mask[k].get()))
    });
    for ((q, t), choice) in q.iter().zip(&t).zip(&choices) {
        let difference = xor(q, t);
        match u8::try_from(*choice) {
            Ok(c) => assert_eq!(difference, masks.get(c), "{c}"),
            Err(_) => {
                let without_place_0 = Block::new(difference[0].get() & !1);
                assert_eq!([without_place_0, difference[1]], s);
            }
        }
    }
}

/// Neither the number of threads on either side nor earlier rows change the rows.
#[test]
fn thread_counts_give_equal_rows() {
    let rows = |threads| {
        let setting = Setting { threads, ..Setting::default() };
        let run = setting.run(
            |ctx| {
                let mut sender = kk13::Sender::setup(ctx, &SESSION)?;
                sender_rows(&mut sender, ctx, 9000)
            },
            |ctx| {
                let mut receiver = kk13::Receiver::setup(ctx, &SESSION)?;
                receiver_rows(&mut receiver, ctx, &choices(9000, 256, 1))
            },
        );
        run.unwrap()
    };
    let (one, three) = (rows(1), rows(3));
    assert!(one == three);
}

#[test]
fn strings_match_the_choice_and_no_other_value() {
    const LEN: usize = 5000;
    for threads in [1, 3] {
        let choices = choices(LEN, 256, 3);
        let setting = Setting { threads, ..Setting::default() };
        let run = setting.run(
            |ctx| {
                let mut sender = random::Sender::setup(ctx, &SESSION)?;
                let mut all = Vec::new();
                for _ in 0..2 {
                    let mut of_extension = Vec::new();
                    sender.extend(ctx, LEN, |first, strings| {
                        assert_eq!(256 * first, of_extension.len(), "rows come in order");
                        let rows = 0..strings.len() as u32;
                        let wanted: Vec<(u32, u8)> =
                            rows.flat_map(|row| (0..=u8::MAX).map(move |c| (row, c))).collect();
                        let mut out = vec![Block::ZERO; wanted.len()];
                        strings.compute(&wanted, &mut out);
                        of_extension.extend_from_slice(&out);
                    })?;
                    all.push(of_extension);
                }
                Ok(all)
            },
            |ctx| {
                let mut receiver = random::Receiver::setup(ctx, &SESSION)?;
                let mut all = Vec::new();
                for _ in 0..2 {
                    let mut of_extension = Vec::new();
                    receiver.extend(ctx, &choices, |first, strings| {
                        assert_eq!(first, of_extension.len(), "rows come in order");
                        of_extension.extend_from_slice(strings);
                    })?;
                    all.push(of_extension);
                }
                Ok(all)
            },
        );
        let (sent, received) = run.unwrap();
        for (sent, received) in sent.iter().zip(&received) {
            assert_eq!((sent.len(), received.len()), (256 * LEN, LEN));
            for (i, (strings, string)) in sent.chunks(256).zip(received).enumerate() {
                let equal: Vec<usize> = (0..256).filter(|c| strings[*c] == *string).collect();
                assert_eq!(equal, [usize::from(choices[i])], "row {i}");
            }
            assert_unbiased("strings", &sent[..100_000]);
        }
        // Equal choices in rows with equal indices, but different strings.
        assert!(received[0].iter().zip(&received[1]).all(|(a, b)| a != b));
        assert_unbiased("strings of the choices", &received.concat());
    }
}

/// The receiver's codeword of a row, here without any structure.
fn codeword(row: usize) -> [Block; 4] {
    let mut rng = ChaCha20Rng::seed_from_u64(row as u64);
    std::array::from_fn(|_| Block::new(rng.random()))
}

#[test]
fn rows_of_any_code_differ_by_its_masked_codewords() {
    for (bytes, threads) in [(1, 1), (53, 1), (56, 2), (64, 1)] {
        let width = rows::Width::<4>::from_bytes(bytes);
        let setting = Setting { threads, ..Setting::default() };
        let run = setting.run(
            |ctx| {
                let mut sender = rows::Sender::setup(ctx, &SESSION, width)?;
                let mut all = Vec::new();
                for len in LENGTHS {
                    let mut rows = Vec::new();
                    sender.extend(ctx, len, collect(&mut rows))?;
                    all.push(rows);
                }
                Ok((all, sender.s()))
            },
            |ctx| {
                let setup = ReceiverSetup::send(ctx, &SESSION)?;
                let mut receiver = rows::Receiver::new(ctx, setup, width)?;
                let mut all = Vec::new();
                for len in LENGTHS {
                    let codewords = |first, out: &mut [[Block; 4]]| {
                        (first..).zip(out).for_each(|(row, out)| *out = codeword(row));
                    };
                    let mut rows = Vec::new();
                    receiver.extend(ctx, len, codewords, collect(&mut rows))?;
                    all.push(rows);
                }
                Ok(all)
            },
        );
        let expected = LENGTHS.into_iter().map(|len| width.extend_bytes(len));
        assert_eq!(run.traffic, expected.fold(width.setup_bytes(), |sum, bytes| sum + bytes));
        assert_eq!(run.flights, 3);
        let ((sent, s), received) = run.unwrap();
        let ones: u32 = s.iter().map(|s| s.get().count_ones()).sum();
        assert!(ones as usize > bytes && (ones as usize) < 7 * bytes, "{ones} of s are ones");
        for (q, t) in sent.iter().zip(&received) {
            for (row, (q, t)) in q.iter().zip(t).enumerate() {
                let c = codeword(row);
                let expected: [Block; 4] = std::array::from_fn(|k| q[k] ^ (c[k] & s[k]));
                assert_eq!(expected, *t, "row {row}, {bytes} bytes");
                let beyond = Block::as_bytes(t)[bytes..].iter().any(|byte| *byte != 0);
                assert!(!beyond, "row {row} ends after {bytes} bytes");
            }
        }
        let blocks: Vec<Block> = received.concat().iter().map(|row| row[0]).collect();
        if bytes >= 16 {
            assert_unbiased("rows", &blocks);
        }
    }
}

#[test]
fn rows_are_unbiased_whatever_the_choices() {
    let rows = |value: u8| {
        let run = run(
            |ctx| {
                let mut sender = kk13::Sender::setup(ctx, &SESSION)?;
                sender_rows(&mut sender, ctx, 40_000)
            },
            |ctx| {
                let mut receiver = kk13::Receiver::setup(ctx, &SESSION)?;
                receiver_rows(&mut receiver, ctx, &vec![value; 40_000])
            },
        );
        run.unwrap()
    };
    for value in [0, 1, 255] {
        let (q, t) = rows(value);
        for (name, rows) in [("q", q), ("t", t)] {
            for k in 0..2 {
                let blocks: Vec<Block> = rows.iter().map(|row| row[k]).collect();
                assert_unbiased(name, &blocks);
            }
        }
    }
}
