//! Oblivious switching between two parties in one process.

use crate::support;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use support::tamper::{Change, Tampering};
use support::{Outcomes, SESSION, Setting, Transcript, change_each_message};
use vesica_core::{Block, Error, Misbehaviour, ParameterError, Role, SessionId};
use vesica_switching::oblivious::{self, Form, Rows, Sizes as Shape};

const FORMS: [Form; 2] = [Form::Correlated, Form::TwoCiphertexts];

/// Random rows and a random injection.
fn inputs(shape: &Shape, seed: u64) -> (Rows, Vec<u32>) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let words = (0..shape.inputs * shape.bits.div_ceil(64) as usize).map(|_| rng.next_u64());
    let rows = Rows::from_words(shape.inputs, shape.bits, words.collect());
    let mut injection: Vec<u32> = (0..shape.inputs as u32).collect();
    injection.shuffle(&mut rng);
    injection.truncate(shape.outputs);
    (rows, injection)
}

fn switched(
    setting: &Setting,
    form: Form,
    rows: &Rows,
    injection: &[u32],
    outputs: usize,
) -> Outcomes<Rows, Rows> {
    let shape = Shape { inputs: rows.len(), outputs, bits: rows.bits() };
    setting.run(
        |ctx| oblivious::hold(ctx, &SESSION, form, rows, outputs),
        move |ctx| oblivious::route(ctx, &SESSION, form, injection, &shape),
    )
}

/// Runs both parties, checks what they get and what they send, and gives their shares.
fn check(setting: &Setting, form: Form, rows: &Rows, injection: &[u32]) -> [Rows; 2] {
    let shape = Shape { inputs: rows.len(), outputs: injection.len(), bits: rows.bits() };
    let run = switched(setting, form, rows, injection, injection.len());
    assert_eq!(run.traffic, oblivious::bytes(form, &shape), "bytes of {form:?}, {shape:?}");
    assert_eq!(run.flights, oblivious::flights(form, &shape), "flights of {form:?}, {shape:?}");
    let (a, b) = run.unwrap();
    let mut sum = a.clone();
    sum.xor_with(&b);
    assert!(sum == rows.select(injection), "{form:?}, {shape:?}");
    [a, b]
}

/// The shares of a run, and the messages of the holder and of the router.
fn kept(form: Form, rows: &Rows, injection: &[u32]) -> ([Rows; 2], [Vec<Vec<u8>>; 2]) {
    let transcripts = [Role::Sender, Role::Receiver].map(Transcript::new);
    let setting = Setting { transcripts: transcripts.to_vec(), ..Setting::default() };
    let (a, b) = switched(&setting, form, rows, injection, injection.len()).unwrap();
    ([a, b], transcripts.map(|transcript| transcript.messages()))
}

#[test]
fn every_injection_of_few_rows_is_switched() {
    let setting = Setting::default();
    for inputs in 0..=5_u32 {
        let rows = Rows::from_numbers(&[3, 1, 4, 15, 9][..inputs as usize], 4);
        for outputs in 0..=inputs as usize {
            let mut injections = vec![vec![]];
            for _ in 0..outputs {
                let longer = injections.iter().flat_map(|injection: &Vec<u32>| {
                    let free = (0..inputs).filter(|i| !injection.contains(i));
                    free.map(|i| [injection.as_slice(), &[i]].concat()).collect::<Vec<_>>()
                });
                injections = longer.collect();
            }
            // The form with two ciphertexts goes the same way. One row takes a tree: every source
            // of it is tried.
            let step = if outputs == inputs as usize || outputs == 1 { 1 } else { 7 };
            for injection in injections.iter().step_by(step) {
                check(&setting, Form::Correlated, &rows, injection);
            }
            for injection in injections.iter().step_by(if outputs == 1 { 1 } else { 11 }) {
                check(&setting, Form::TwoCiphertexts, &rows, injection);
            }
        }
    }
}

#[test]
fn one_row_is_switched_from_every_place() {
    let setting = Setting::default();
    for inputs in [6_u32, 7, 37] {
        let numbers: Vec<u64> = (0..u64::from(inputs)).map(|i| i * i + 1).collect();
        let rows = Rows::from_numbers(&numbers, 11);
        for source in 0..inputs {
            check(&setting, Form::Correlated, &rows, &[source]);
            if source % 5 == 0 {
                check(&setting, Form::TwoCiphertexts, &rows, &[source]);
            }
        }
    }
}

#[test]
fn rows_of_any_length_are_switched() {
    for form in FORMS {
        for bits in [1, 7, 61, 64, 65, 128, 129, 200, 1000] {
            for (inputs_len, outputs) in
                [(1, 0), (1, 1), (2, 1), (3, 2), (64, 64), (133, 100), (300, 3)]
            {
                let shape = Shape { inputs: inputs_len, outputs, bits };
                let (rows, injection) = inputs(&shape, u64::from(bits));
                check(&Setting::default(), form, &rows, &injection);
            }
        }
    }
}

#[test]
fn silent_transfers_of_many_pieces_are_used_in_order_by_any_number_of_threads() {
    for (inputs_len, outputs, bits, threads) in
        [(60_000, 45_000, 61, 1), (60_000, 45_000, 61, 4), (33_000, 33_000, 128, 3)]
    {
        let shape = Shape { inputs: inputs_len, outputs, bits };
        assert!(shape.switches() > 1 << 18, "more than one message of choices");
        let (rows, injection) = inputs(&shape, 5);
        let setting = Setting { threads, ..Setting::default() };
        let shares = check(&setting, Form::Correlated, &rows, &injection);
        let more_threads = Setting { threads: threads + 1, ..Setting::default() };
        assert!(shares == check(&more_threads, Form::Correlated, &rows, &injection));
    }
    let shape = Shape { inputs: 20_000, outputs: 20_000, bits: 61 };
    let (rows, injection) = inputs(&shape, 6);
    check(&Setting::default(), Form::TwoCiphertexts, &rows, &injection);
}

#[test]
fn the_router_of_two_ciphertexts_says_its_choices_window_by_window() {
    let shape = Shape { inputs: 20_000, outputs: 20_000, bits: 8 };
    assert!(shape.switches() > 3 << 16, "more than three windows");
    let (rows, injection) = inputs(&shape, 6);
    check(&Setting::default(), Form::TwoCiphertexts, &rows, &injection);
}

#[test]
fn the_holder_hears_all_choices_before_it_sends_a_correction() {
    let shape = Shape { inputs: 60_000, outputs: 60_000, bits: 8 };
    assert!(shape.switches() > 3 << 18, "more than three messages of choices");
    let (rows, injection) = inputs(&shape, 6);
    // Each message that it received after a correction would add two changes of direction.
    let run = switched(&Setting::default(), Form::Correlated, &rows, &injection, injection.len());
    assert_eq!(run.direction_changes, [oblivious::flights(Form::Correlated, &shape); 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_shapes_are_switched(
        inputs_len in 0..400_usize,
        dropped in 0..400_usize,
        bits in prop_oneof![Just(1), Just(7), Just(61), Just(64), Just(65), Just(128), Just(200)],
        seed: u64,
        two_ciphertexts: bool,
        threads in 1..=4_usize,
    ) {
        let form = FORMS[usize::from(two_ciphertexts)];
        let shape = Shape { inputs: inputs_len, outputs: inputs_len.saturating_sub(dropped), bits };
        let (rows, injection) = inputs(&shape, seed);
        check(&Setting { threads, ..Setting::default() }, form, &rows, &injection);
    }
}

#[test]
fn what_is_received_has_the_same_lengths_whatever_rows_and_order() {
    for form in FORMS {
        let shape = Shape { inputs: 300, outputs: 200, bits: 61 };
        let (random, injection) = inputs(&shape, 1);
        let zeros = Rows::zeros(300, 61);
        let identity: Vec<u32> = (0..200).collect();
        let lengths = |rows: &Rows, injection: &[u32]| {
            let (_, messages) = kept(form, rows, injection);
            messages.map(|messages| messages.iter().map(Vec::len).collect::<Vec<_>>())
        };
        let expected = lengths(&random, &injection);
        assert!(expected.iter().all(|sent| !sent.is_empty()));
        assert_eq!(lengths(&zeros, &injection), expected);
        assert_eq!(lengths(&random, &identity), expected);
        assert_eq!(lengths(&zeros, &identity), expected);
    }
}

/// Every column of the rows is one about half of the time, and so is each row.
fn assert_unbiased(name: &str, runs: &[Rows]) {
    let first = &runs[0];
    let bound = |n: usize| 6.0 * (n as f64).sqrt() / 2.0;
    for i in 0..first.len() {
        for bit in 0..first.bits() as usize {
            let of = |rows: &Rows| (rows.row(i)[bit / 64] >> (bit % 64) & 1) as usize;
            let ones: usize = runs.iter().map(of).sum();
            let half = runs.len() as f64 / 2.0;
            assert!(
                (ones as f64 - half).abs() <= bound(runs.len()),
                "{name}: bit {bit} of row {i}"
            );
        }
    }
    // The sum of all rows: what adding the same to two lanes would leave as it is.
    let n = runs.len() * first.bits() as usize;
    let mut ones = 0;
    for rows in runs {
        let mut sum = vec![0; rows.words_per_row()];
        for i in 0..rows.len() {
            sum.iter_mut().zip(rows.row(i)).for_each(|(sum, word)| *sum ^= word);
        }
        ones += sum.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    }
    assert!((ones as f64 - n as f64 / 2.0).abs() <= bound(n), "{name}: the sum of all rows");
}

#[test]
fn shares_look_random_over_many_runs_of_the_same_rows_and_order() {
    for form in FORMS {
        for (rows, injection) in [
            (Rows::zeros(1, 16), vec![0]),
            (Rows::zeros(2, 16), vec![1, 0]),
            (Rows::from_numbers(&[0, 1, 2, 3, 0xffff], 16), vec![4, 3, 1]),
            (Rows::from_numbers(&[7; 6], 16), vec![0, 1, 2, 3, 4, 5]),
        ] {
            let (mut of_holder, mut of_router) = (Vec::new(), Vec::new());
            for seed in 0..100 {
                let setting = Setting { seed, ..Setting::default() };
                let [a, b] = check(&setting, form, &rows, &injection);
                of_holder.push(a);
                of_router.push(b);
            }
            assert_unbiased("holder", &of_holder);
            assert_unbiased("router", &of_router);
        }
    }
}

#[test]
fn shares_and_messages_look_random_over_many_equal_rows() {
    for form in FORMS {
        let rows = Rows::zeros(8_192, 128);
        let identity: Vec<u32> = (0..8_192).collect();
        let (shares, messages) = kept(form, &rows, &identity);
        for (name, rows) in ["holder", "router"].iter().zip(&shares) {
            let blocks: Vec<Block> = (0..rows.len()).map(|i| rows.block(i)).collect();
            support::assert_unbiased(name, &blocks);
        }
        let [from_holder, from_router] = messages;
        // Past the setup and the trees: the corrections of switches come last.
        let shape = Shape { inputs: 8_192, outputs: 8_192, bits: 128 };
        let bytes = shape.switches() as usize * if form == Form::Correlated { 16 } else { 64 };
        let sent: Vec<u8> = from_holder.concat();
        support::assert_unbiased("corrections", &blocks(&sent[sent.len() - bytes..]));
        let choices = shape.switches() as usize / 8;
        let sent: Vec<u8> = match form {
            Form::Correlated => from_router.concat(),
            // Between them lie the corrections of IKNP, which are longer.
            Form::TwoCiphertexts => {
                from_router.into_iter().filter(|message| message.len() == 512).flatten().collect()
            }
        };
        let choices = choices.min(sent.len());
        support::assert_unbiased("choices", &blocks(&sent[sent.len() - choices..]));
    }
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.as_chunks::<16>().0.iter().map(|bytes| Block::from_le_bytes(*bytes)).collect()
}

#[test]
fn other_sessions_and_other_randomness_give_other_shares() {
    let shape = Shape { inputs: 40, outputs: 40, bits: 64 };
    let (rows, injection) = inputs(&shape, 2);
    for form in FORMS {
        let with = |session: u8, seed| {
            let session = SessionId::from_bytes([session; 32]);
            let setting = Setting { seed, ..Setting::default() };
            let run = setting.run(
                |ctx| oblivious::hold(ctx, &session, form, &rows, 40),
                |ctx| oblivious::route(ctx, &session, form, &injection, &shape),
            );
            run.unwrap().1
        };
        let first = with(1, 1);
        assert!(first == with(1, 1), "the same coins give the same shares");
        // With two ciphertexts the shares are the holder's coins alone.
        assert!(form == Form::TwoCiphertexts || first != with(2, 1));
        assert!(first != with(1, 2));
    }
}

#[test]
fn what_cannot_be_switched_is_refused() {
    let refused = |injection: &[u32], shape: Shape| {
        let rows = Rows::zeros(shape.inputs, shape.bits);
        let run = Setting::default().run(
            |ctx| oblivious::hold(ctx, &SESSION, Form::Correlated, &rows, shape.outputs),
            |ctx| oblivious::route(ctx, &SESSION, Form::Correlated, injection, &shape),
        );
        run.receiver.unwrap_err()
    };
    let shape = Shape { inputs: 5, outputs: 3, bits: 8 };
    for injection in [[1, 2, 1], [1, 2, 5], [u32::MAX, 0, 1]] {
        assert_eq!(refused(&injection, shape), ParameterError::NotAnInjection.into());
    }
    let mismatch = ParameterError::SetLenMismatch { expected: 3, actual: 2 };
    assert_eq!(refused(&[1, 2], shape), mismatch.into());
    let counts = ParameterError::RowCounts { inputs: 5, outputs: 6 };
    assert_eq!(refused(&[0; 6], Shape { outputs: 6, ..shape }), counts.into());
    for bits in [0, Shape::MAX_BITS + 1] {
        let refusal = ParameterError::RowBits { bits };
        assert_eq!(refused(&[0, 1, 2], Shape { bits, ..shape }), refusal.into());
    }
    let (rows, other) = (Rows::zeros(5, 9), Rows::zeros(4, 8));
    for (rows, refusal) in [
        (rows, ParameterError::RowBits { bits: 9 }),
        (other, ParameterError::SetLenMismatch { expected: 5, actual: 4 }),
    ] {
        let run = Setting::default().run(
            |ctx| {
                oblivious::Holder::setup(ctx, &SESSION, Form::Correlated, &shape)?.run(ctx, &rows)
            },
            |ctx| oblivious::route(ctx, &SESSION, Form::Correlated, &[0, 1, 2], &shape),
        );
        assert_eq!(run.sender.unwrap_err(), Error::from(refusal));
    }
}

#[test]
fn a_message_that_was_changed_ends_in_an_error_or_in_wrong_shares() {
    let shape = Shape { inputs: 100, outputs: 70, bits: 61 };
    let (rows, injection) = inputs(&shape, 4);
    let contents = [Change::FlipBit(3), Change::Fill, Change::Zero];
    let lengths = [Change::Truncate, Change::Grow, Change::Announce, Change::Drop, Change::Repeat];
    let changes = [&contents[..], &lengths].concat();
    let mut harmless = Vec::new();
    for form in FORMS {
        let attempt = |setting: &Setting| switched(setting, form, &rows, &injection, 70);
        let undisturbed = change_each_message(&changes, attempt, |tampering, run| {
            let Tampering { from, message, change, .. } = *tampering;
            if change.is_of_length() {
                let refusals = [run.sender.as_ref().err(), run.receiver.as_ref().err()];
                let is_refusal = |error: &Error| {
                    matches!(error, Error::PeerMisbehaved(Misbehaviour::WrongMessageLen { .. }))
                };
                assert!(refusals.into_iter().flatten().any(is_refusal), "{change:?}");
            } else if contents.contains(&change)
                && let (Ok(mut sum), Ok(b)) = (run.sender, run.receiver)
            {
                sum.xor_with(&b);
                if sum == rows.select(&injection) {
                    harmless.push((form, from, message, change));
                }
            }
        });
        let sent = undisturbed.messages;
        assert!(sent.iter().all(|(_, messages)| *messages >= 2), "{sent:?} in {form:?}");
    }
    // A message that is changed throughout always does harm. A single bit does none where no party
    // reads it: in the correction of the first switch, which never exchanges, and in what the
    // trees' transfers offer, of which the holder opens one of two.
    let unread = [(Role::Sender, 2), (Role::Receiver, 1)]
        .map(|(from, message)| (Form::Correlated, from, message, Change::FlipBit(3)));
    assert_eq!(harmless, unread);
}
