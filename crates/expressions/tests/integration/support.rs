//! Tables, their shares, and runs of two parties.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use vesica_core::{Role, SessionId};
use vesica_expressions::{Answer, Column, Combine, Engine, Expression, Plan, Reveal, Table};
use vesica_testkit::{BothRun, Runner};

pub(crate) const SESSION: SessionId = SessionId::from_bytes([5; 32]);

/// What one party learns.
pub(crate) type Learned = Option<Vec<Answer>>;

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

pub(crate) fn column(name: &str, bits: u32, signed: bool) -> Column {
    Column { name: name.to_owned(), bits, signed }
}

/// A random value of `column`, often one at an end of its range.
pub(crate) fn value(rng: &mut StdRng, column: &Column) -> i128 {
    let all = (1_i128 << column.bits) - 1;
    let value = match rng.random_range(0..8) {
        0 => 0,
        1 => all,
        2 => all / 2,
        3 => all / 2 + 1,
        _ => i128::from(rng.random::<u64>()) & all,
    };
    if column.signed && value > all / 2 { value - all - 1 } else { value }
}

/// A table with random values, by column.
pub(crate) fn table(
    seed: u64,
    columns: &[Column],
    entries: usize,
    combine: Combine,
) -> (Table, Vec<Vec<i128>>) {
    let rng = &mut rng(seed);
    let values = columns.iter().map(|column| (0..entries).map(|_| value(rng, column)).collect());
    let values = values.collect();
    (Table { columns: columns.to_vec(), entries, combine }, values)
}

/// Both parties' shares of `values`.
pub(crate) fn shares(seed: u64, values: &[Vec<i128>], combine: Combine) -> [Vec<Vec<u64>>; 2] {
    let rng = &mut rng(seed);
    let own: Vec<Vec<u64>> =
        values.iter().map(|column| column.iter().map(|_| rng.random()).collect()).collect();
    let other = values.iter().zip(&own).map(|(values, own)| {
        let shares = values.iter().zip(own).map(|(value, own)| match combine {
            Combine::Xor => *value as u64 ^ own,
            Combine::Sum => (*value as u64).wrapping_sub(*own),
        });
        shares.collect()
    });
    let other = other.collect();
    [own, other]
}

pub(crate) fn plan(text: &str, table: &Table) -> Plan {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Plan::new(&expression, table).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Runs both parties on shares of `values`.
pub(crate) fn run(
    runner: &Runner,
    plan: &Plan,
    engine: Engine,
    to: Reveal,
    shares: &[Vec<Vec<u64>>; 2],
) -> BothRun<Learned, Learned> {
    runner.run_both(
        |ctx| plan.run(ctx, &SESSION, Role::Sender, engine, to, &shares[0]),
        |ctx| plan.run(ctx, &SESSION, Role::Receiver, engine, to, &shares[1]),
    )
}

/// Checks who learns `expected`, and the bytes of the run.
pub(crate) fn check(
    name: &str,
    run: &BothRun<Learned, Learned>,
    plan: &Plan,
    engine: Engine,
    to: Reveal,
    expected: &[Answer],
) {
    for (role, output) in
        [(Role::Sender, &run.sender.output), (Role::Receiver, &run.receiver.output)]
    {
        let learned = to.includes(role).then(|| expected.to_vec());
        assert_eq!(*output, Ok(learned), "{name}: {role:?}, {engine:?}, {to:?}");
    }
    let bytes = plan.bytes(engine, to).unwrap();
    let sent = (run.sender_bytes(), run.receiver_bytes());
    let formula = (bytes.sender_to_receiver, bytes.receiver_to_sender);
    assert_eq!(sent, formula, "{name}: bytes, {engine:?}, {to:?}");
}
