//! Two parties that differ, and parties without shares.

use super::support::{SESSION, column, plan, run, shares, table};
use vesica_core::{Error, Misbehaviour, Role};
use vesica_expressions::{Combine, Engine, Reveal, Table};
use vesica_testkit::Runner;
use vesica_testkit::tamper::Change;

#[test]
fn parties_that_compute_different_things_stop_before_they_use_a_share() {
    let columns = [column("a", 8, false)];
    let (table, values) = table(1, &columns, 10, Combine::Xor);
    let [own, other] = shares(1, &values, Combine::Xor);
    let (engine, to) = (Engine::Garbled, Reveal::Receiver);
    let renamed = Table { columns: vec![column("a", 8, true)], ..table.clone() };
    let added = Table { combine: Combine::Sum, ..table.clone() };
    let shorter = Table { entries: 9, ..table.clone() };
    let one_less = vec![other[0][..9].to_vec()];
    let own_plan = plan("sum(a) > 5", &table);
    for (name, theirs, their_engine, their_to, their_shares) in [
        ("expression", plan("sum(a) > 6", &table), engine, to, &other),
        ("sign", plan("sum(a) > 5", &renamed), engine, to, &other),
        ("combine", plan("sum(a) > 5", &added), engine, to, &other),
        ("entries", plan("sum(a) > 5", &shorter), engine, to, &one_less),
        ("engine", own_plan.clone(), Engine::Shared, to, &other),
        ("who learns", own_plan.clone(), engine, Reveal::Both, &other),
    ] {
        let run = Runner::default().run_both(
            |ctx| own_plan.run(ctx, &SESSION, Role::Sender, engine, to, &own),
            |ctx| theirs.run(ctx, &SESSION, Role::Receiver, their_engine, their_to, their_shares),
        );
        let error = Error::PeerMisbehaved(Misbehaviour::InvalidValue);
        assert_eq!(run.sender.output, Err(error.clone()), "{name}");
        assert_eq!(run.receiver.output, Err(error), "{name}");
        assert_eq!(run.sender_bytes(), 32, "{name}");
    }
}

#[test]
fn shares_of_another_table_are_refused_before_anything_is_sent() {
    let columns = [column("a", 8, false), column("b", 8, false)];
    let (table, values) = table(1, &columns, 10, Combine::Xor);
    let [own, other] = shares(1, &values, Combine::Xor);
    let plan = plan("sum(a)", &table);
    let (engine, to) = (Engine::Shared, Reveal::Receiver);
    for wrong in [&own[..1], &[own[0].clone(), own[1][..9].to_vec()]] {
        let run = Runner::default().run_both(
            |ctx| plan.run(ctx, &SESSION, Role::Sender, engine, to, wrong),
            |ctx| plan.run(ctx, &SESSION, Role::Receiver, engine, to, &other),
        );
        assert!(matches!(run.sender.output, Err(Error::Bug(_))), "{:?}", run.sender.output);
        assert_eq!(run.sender_bytes(), 0);
        assert!(run.receiver.output.is_err());
    }
}

#[test]
fn what_is_known_in_advance_takes_no_circuit() {
    let columns = [column("a", 8, false)];
    for (text, entries) in [("sum(a), count(a > 3), sum(a) > 1", 0), ("count(), a_is_small", 7)] {
        let text = text.replace("a_is_small", "count(a < 256)");
        let (table, values) = table(1, &columns, entries, Combine::Xor);
        let plan = plan(&text, &table);
        let shares = shares(1, &values, Combine::Xor);
        let run = run(&Runner::default(), &plan, Engine::Garbled, Reveal::Both, &shares);
        assert_eq!(run.sender.output, run.receiver.output);
        assert!(run.sender.output.as_ref().is_ok_and(Option::is_some), "{:?}", run.sender.output);
        assert_eq!((run.sender_bytes(), run.receiver_bytes()), (32, 32));
    }
}

/// The traffic depends on the plan, not on the values.
#[test]
fn as_many_bytes_are_sent_for_any_values() {
    let columns = [column("a", 8, false)];
    let (table, values) = table(1, &columns, 40, Combine::Sum);
    let plan = plan("sum(a * a where a > 9) > 77", &table);
    for engine in [Engine::Garbled, Engine::Shared] {
        let sent = |values: &[Vec<i128>]| {
            let shares = shares(1, values, Combine::Sum);
            let run = run(&Runner::default(), &plan, engine, Reveal::Both, &shares);
            assert!(run.sender.output.is_ok());
            (run.messages(), run.sender_bytes(), run.receiver_bytes())
        };
        assert_eq!(sent(&values), sent(&[vec![0; 40]]), "{engine:?}");
    }
}

#[test]
fn a_changed_message_gives_a_result_or_an_error_that_names_who_must_act() {
    let columns = [column("a", 2, false)];
    let (table, values) = table(1, &columns, 3, Combine::Xor);
    let plan = plan("sum(a), count(a > 1)", &table);
    let shares = shares(1, &values, Combine::Xor);
    // On shares there is a message for each layer of gates.
    let some = [Change::Flip, Change::Grow];
    for (engine, changes) in [(Engine::Garbled, Change::ALL), (Engine::Shared, &some)] {
        let attempt = |runner: &Runner| run(runner, &plan, engine, Reveal::Both, &shares);
        for sent in attempt(&Runner::default()).messages() {
            let runner = Runner::default();
            runner.change_each_message(sent, changes, attempt, |tampering, run| {
                let outputs = [run.sender.output, run.receiver.output];
                for output in &outputs {
                    assert!(!matches!(output, Err(Error::Bug(_))), "{tampering:?}: {output:?}");
                }
                let is_refused = outputs.iter().any(Result::is_err);
                assert!(is_refused || !tampering.change.is_of_length(), "{tampering:?}");
            });
        }
    }
}

#[test]
fn the_document_has_the_bytes_of_the_formula() {
    let document = include_str!("../../../../docs/circuits.md");
    let columns = vec![column("a", 32, true), column("b", 32, true)];
    let table = Table { columns, entries: 1 << 14, combine: Combine::Xor };
    for text in [
        "sum(a)",
        "sum(b by a in 0, 10, 20)",
        "count() * sum(a * a) - sum(a) * sum(a)",
        "sum(a * b) > 1000",
    ] {
        let megabytes = [Engine::Garbled, Engine::Shared].map(|engine| {
            let bytes = plan(text, &table).bytes(engine, Reveal::Receiver).unwrap();
            let all = bytes.sender_to_receiver + bytes.receiver_to_sender;
            format!("{:.1} MB", all as f64 / 1e6)
        });
        let row = format!("| `{text}` | {} | {} |", megabytes[0], megabytes[1]);
        assert!(document.contains(&row), "{row}");
    }
}
