//! Figure 9: g of the intersection, computed on the shares that `gmrss21` gives.

use super::support::{Learned, column, plan, rng, value};
use std::sync::Arc;
use vesica_core::{Item, Learns, PsiParams, Query, Result, Role, SessionId, Values};
use vesica_expressions::{Answer, Column, Combine, Engine, Reveal, Table};
use vesica_net::Context;
use vesica_protocols::{Input, Order, Output, catalogue};
use vesica_testkit::sets::overlapping;
use vesica_testkit::{BothRun, Runner};

/// (sender's size, receiver's size, common).
const SIZES: [(u64, u64, u64); 7] =
    [(0, 5, 0), (5, 0, 0), (1, 1, 1), (40, 60, 0), (64, 64, 64), (90, 20, 13), (7, 300, 5)];

const COLUMNS: usize = 2;
const BITS: u32 = 12;

/// Runs a row of the catalogue and then the expression `text` on its shares, over the same
/// connection. `more` adds columns that one party knows.
struct Pipeline<'a> {
    row: &'static str,
    query: Query,
    combine: Combine,
    columns: &'a [Column],
    text: &'a str,
    engine: Engine,
    to: Reveal,
    x: &'a [Item],
    y: &'a [Item],
    values: &'a [u64],
}

impl Pipeline<'_> {
    fn party(&self, ctx: &mut Context, role: Role) -> Result<Learned> {
        let row = catalogue().iter().find(|row| row.id == self.row).expect("a row");
        let (n_x, n_y) = (self.x.len() as u64, self.y.len() as u64);
        let session = SessionId::from_bytes([1; 32]);
        let params = PsiParams::new(session, n_x, n_y, Learns::Both)?.with_query(self.query);
        let input: Input = match role {
            Role::Sender => {
                let items = Arc::new(self.x.to_vec());
                Input::with_values(items, Arc::new(self.values.to_vec()))
            }
            _ => Arc::new(self.y.to_vec()).into(),
        };
        let output = row.party(role, params, input)?.run(ctx)?;
        let Output::Shares(shares) = output else { panic!("{output:?}") };
        let of_column = |i: usize| shares.values.iter().skip(i).step_by(COLUMNS).copied().collect();
        let mut columns: Vec<Vec<u64>> = (0..COLUMNS).map(of_column).collect();
        if self.columns.len() > COLUMNS {
            // The receiver knows which entries are common; the sender's shares of that are zero.
            columns.push(match &shares.order {
                Order::Common(e) => e.iter().map(|is_common| u64::from(*is_common)).collect(),
                _ => vec![0; shares.len],
            });
            // The sender knows which of its items an entry is.
            columns.push(match &shares.order {
                Order::Items(pi) => pi.iter().map(|position| u64::from(*position)).collect(),
                _ => vec![0; shares.len],
            });
        }
        let (columns_of_table, entries) = (self.columns.to_vec(), shares.len);
        let table = Table { columns: columns_of_table, entries, combine: self.combine };
        let session = SessionId::from_bytes([2; 32]);
        plan(self.text, &table).run(ctx, &session, role, self.engine, self.to, &columns)
    }

    fn run(&self) -> BothRun<Learned, Learned> {
        Runner::default()
            .run_both(|ctx| self.party(ctx, Role::Sender), |ctx| self.party(ctx, Role::Receiver))
    }

    fn check(&self, expected: &[Answer]) {
        let run = self.run();
        let name = format!(
            "{} of {} and {} items, {:?}, {:?}",
            self.row,
            self.x.len(),
            self.y.len(),
            self.engine,
            self.to
        );
        for (role, output) in
            [(Role::Sender, run.sender.output), (Role::Receiver, run.receiver.output)]
        {
            let learned = self.to.includes(role).then(|| expected.to_vec());
            assert_eq!(output, Ok(learned), "{name}: {role:?}");
        }
    }
}

/// Values of `n` items, as numbers and as 64 bits each.
fn values(seed: u64, n: usize) -> (Vec<[i128; COLUMNS]>, Vec<u64>) {
    let (rng, of) = (&mut rng(seed), column("", BITS, true));
    let numbers: Vec<[i128; COLUMNS]> =
        (0..n).map(|_| [value(rng, &of), value(rng, &of)]).collect();
    let bits = numbers.iter().flatten().map(|number| *number as u64).collect();
    (numbers, bits)
}

fn settings() -> impl Iterator<Item = (Engine, Reveal)> + Clone {
    let reveals = [Reveal::Receiver, Reveal::Sender, Reveal::Both];
    let engines = [Engine::Garbled, Engine::Shared];
    engines.into_iter().flat_map(move |engine| reveals.map(|to| (engine, to)))
}

#[test]
fn a_function_of_the_intersection_is_computed_on_its_shares() {
    let text = "sum(a * b) > 1000, count() * sum(a * a) - sum(a) * sum(a), \
                sum(b by a in -1000, 0, 1000), count(a > b)";
    let columns = [column("a", BITS, true), column("b", BITS, true)];
    let query = Query::Shares(Some(
        Values::new(Role::Sender, BITS).and_then(|v| v.with_columns(2)).unwrap().signed(),
    ));
    for ((n_x, n_y, common), (engine, to)) in SIZES.into_iter().zip(settings().cycle()) {
        let (x, y) = overlapping(n_x, n_y, common);
        let (numbers, bits) = values(n_x, x.len());
        let rows: Vec<[i128; 2]> =
            x.iter().zip(&numbers).filter(|(item, _)| y.contains(item)).map(|(_, n)| *n).collect();
        assert_eq!(rows.len() as u64, common);
        let sum = |of: &dyn Fn(i128, i128) -> i128| rows.iter().map(|[a, b]| of(*a, *b)).sum();
        let bucket = |a: i128| [-1000, 0, 1000].iter().filter(|limit| a >= **limit).count();
        let (squares, total): (i128, i128) = (sum(&|a, _| a * a), sum(&|a, _| a));
        let products: i128 = sum(&|a, b| a * b);
        let mut expected = vec![
            Answer::Condition(products > 1000),
            Answer::Number(rows.len() as i128 * squares - total * total),
        ];
        expected.extend(
            (0..4).map(|i| Answer::Number(sum(&|a, b| if bucket(a) == i { b } else { 0 }))),
        );
        expected.push(Answer::Number(sum(&|a, b| i128::from(a > b))));
        let row = "gmrss21_secret_shared_intersection";
        let (columns, values, x, y) = (&columns[..], &bits[..], &x[..], &y[..]);
        let combine = Combine::Xor;
        Pipeline { row, query, combine, columns, text, engine, to, x, y, values }.check(&expected);
    }
}

#[test]
fn a_function_of_shared_values_may_use_what_one_party_knows() {
    let text = "sum(a where is_common = 1 and position < 10), count(is_common = 1), \
                count(is_common = 1) * sum(b * b where is_common = 1) > 3000";
    let columns = [
        column("a", BITS, true),
        column("b", BITS, true),
        column("is_common", 1, false),
        column("position", 16, false),
    ];
    let query = Query::SharedValues {
        values: Values::new(Role::Sender, BITS).and_then(|v| v.with_columns(2)).unwrap().signed(),
        default: 7,
    };
    for ((n_x, n_y, common), (engine, to)) in SIZES.into_iter().zip(settings().cycle().skip(3)) {
        let (x, y) = overlapping(n_x, n_y, common);
        let (numbers, bits) = values(n_x, x.len());
        let rows: Vec<(usize, [i128; 2])> = (0..x.len())
            .filter(|position| y.contains(&x[*position]))
            .map(|position| (position, numbers[position]))
            .collect();
        let of_first: i128 =
            rows.iter().filter(|(position, _)| *position < 10).map(|(_, [a, _])| a).sum();
        let squares: i128 = rows.iter().map(|(_, [_, b])| b * b).sum();
        let expected = [
            Answer::Number(of_first),
            Answer::Number(rows.len() as i128),
            Answer::Condition(rows.len() as i128 * squares > 3000),
        ];
        let row = "gmrss21_values";
        let (columns, values, x, y) = (&columns[..], &bits[..], &x[..], &y[..]);
        let combine = Combine::Sum;
        Pipeline { row, query, combine, columns, text, engine, to, x, y, values }.check(&expected);
    }
}
