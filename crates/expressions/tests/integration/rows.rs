//! Expressions give what plain rows give.

use super::support::{check, column, plan, rng, run, shares, table, value};
use rand::RngExt;
use rand::rngs::StdRng;
use vesica_expressions::{Answer, Column, Combine, Engine, Reveal};
use vesica_testkit::Runner;

const ENGINES: [Engine; 2] = [Engine::Garbled, Engine::Shared];
const REVEALS: [Reveal; 3] = [Reveal::Receiver, Reveal::Sender, Reveal::Both];
const COMBINES: [Combine; 2] = [Combine::Xor, Combine::Sum];

fn columns() -> [Column; 4] {
    [
        column("a", 7, false),
        column("b", 8, true),
        column("wide", 33, true),
        column("is_common", 1, false),
    ]
}

/// One row of these columns.
struct Row {
    a: i128,
    b: i128,
    wide: i128,
    is_common: i128,
}

/// A result, and what it is of plain rows.
type Case = (&'static str, fn(&[Row]) -> Vec<Answer>);

fn sum(rows: &[Row], of: fn(&Row) -> i128) -> i128 {
    rows.iter().map(of).sum()
}

fn sum_where(rows: &[Row], of: fn(&Row) -> i128, filter: impl Fn(&Row) -> bool) -> i128 {
    rows.iter().filter(|row| filter(row)).map(of).sum()
}

fn number(number: i128) -> Vec<Answer> {
    vec![Answer::Number(number)]
}

fn condition(holds: bool) -> Vec<Answer> {
    vec![Answer::Condition(holds)]
}

/// The bucket of `key` for the limits −5, 0 and 20.
fn bucket(key: i128) -> usize {
    [-5, 0, 20].iter().filter(|limit| key >= **limit).count()
}

const CASES: &[Case] = &[
    ("sum(a * b) > 1000", |rows| condition(sum(rows, |r| r.a * r.b) > 1000)),
    ("sum(a*b)", |rows| number(sum(rows, |r| r.a * r.b))),
    ("count() * sum(b * b) - sum(b) * sum(b)", |rows| {
        number(rows.len() as i128 * sum(rows, |r| r.b * r.b) - sum(rows, |r| r.b).pow(2))
    }),
    ("count(is_common = 1) * sum(wide * wide) - sum(wide) * sum(wide)", |rows| {
        let count = sum(rows, |r| r.is_common);
        number(count * sum(rows, |r| r.wide * r.wide) - sum(rows, |r| r.wide).pow(2))
    }),
    ("sum(wide where is_common = 1 and not (a < 20 or b >= a))", |rows| {
        number(sum_where(rows, |r| r.wide, |r| r.is_common == 1 && !(r.a < 20 || r.b >= r.a)))
    }),
    ("count(by b in -5, 0, 20)", |rows| {
        (0..4).flat_map(|i| number(sum_where(rows, |_| 1, |r| bucket(r.b) == i))).collect()
    }),
    ("sum(a + wide where a != 3 by b in -5, 0, 20)", |rows| {
        let of = |i| sum_where(rows, |r| r.a + r.wide, |r| r.a != 3 && bucket(r.b) == i);
        (0..4).flat_map(|i| number(of(i))).collect()
    }),
    ("count()", |rows| number(rows.len() as i128)),
    ("sum(3) + -2", |rows| number(3 * rows.len() as i128 - 2)),
    ("sum(-7 * a + 6 * wide - (b + 1) * 1000)", |rows| {
        number(sum(rows, |r| -7 * r.a + 6 * r.wide - (r.b + 1) * 1000))
    }),
    ("sum(-5 where a > b)", |rows| number(sum_where(rows, |_| -5, |r| r.a > r.b))),
    ("sum(a) = sum(b) or sum(a) <= 2 * sum(b)", |rows| {
        let (a, b) = (sum(rows, |r| r.a), sum(rows, |r| r.b));
        condition(a == b || a <= 2 * b)
    }),
    ("sum(b) >= -100 and sum(b) != 0", |rows| {
        let b = sum(rows, |r| r.b);
        condition(b >= -100 && b != 0)
    }),
    ("count(a <= 127), 1 > 2", |rows| {
        vec![Answer::Number(rows.len() as i128), Answer::Condition(false)]
    }),
];

#[test]
fn expressions_give_what_plain_rows_give() {
    let text: Vec<&str> = CASES.iter().map(|(text, _)| *text).collect();
    let text = text.join(", ");
    let sizes = [0, 1, 2, 3, 63, 64, 65, 200];
    for (i, entries) in sizes.into_iter().enumerate() {
        for (combine, engine) in COMBINES.into_iter().flat_map(|c| ENGINES.map(|e| (c, e))) {
            let seed = entries as u64;
            let (table, values) = table(seed, &columns(), entries, combine);
            let row = |i: usize| Row {
                a: values[0][i],
                b: values[1][i],
                wide: values[2][i],
                is_common: values[3][i],
            };
            let rows: Vec<Row> = (0..entries).map(row).collect();
            let expected: Vec<Answer> = CASES.iter().flat_map(|(_, plain)| plain(&rows)).collect();
            let (plan, to) = (plan(&text, &table), REVEALS[i % REVEALS.len()]);
            let shares = shares(seed, &values, combine);
            let run = run(&Runner::default(), &plan, engine, to, &shares);
            check(&format!("{entries} entries, {combine:?}"), &run, &plan, engine, to, &expected);
        }
    }
}

#[test]
fn each_expression_alone_gives_the_same_to_each_party() {
    for (i, (text, plain)) in CASES.iter().enumerate() {
        let entries = 20;
        let (combine, engine) = (COMBINES[i % 2], ENGINES[i / 2 % 2]);
        let (table, values) = table(i as u64, &columns(), entries, combine);
        let rows: Vec<Row> = (0..entries)
            .map(|i| Row {
                a: values[0][i],
                b: values[1][i],
                wide: values[2][i],
                is_common: values[3][i],
            })
            .collect();
        let plan = plan(text, &table);
        let shares = shares(7, &values, combine);
        for to in REVEALS {
            let run = run(&Runner::default(), &plan, engine, to, &shares);
            check(text, &run, &plan, engine, to, &plain(&rows));
        }
    }
}

#[test]
fn rows_of_several_blocks_are_added_up() {
    // Garbled blocks have 1,024 rows.
    for entries in [1024, 1025, 2500] {
        for (combine, engine) in [(Combine::Sum, Engine::Garbled), (Combine::Xor, Engine::Shared)] {
            let (table, values) = table(3, &columns(), entries, combine);
            let plan = plan("sum(a * b where wide > 0), sum(wide)", &table);
            let shares = shares(4, &values, combine);
            let products = (0..entries).filter(|i| values[2][*i] > 0);
            let products = products.map(|i| values[0][i] * values[1][i]).sum();
            let expected =
                [Answer::Number(products), Answer::Number(values[2].iter().sum::<i128>())];
            let runner = Runner { threads: 2, ..Runner::default() };
            let run = run(&runner, &plan, engine, Reveal::Both, &shares);
            check("blocks", &run, &plan, engine, Reveal::Both, &expected);
        }
    }
}

#[test]
fn values_of_one_and_of_64_bits_are_added_up() {
    for signed in [false, true] {
        let columns = [column("one", 1, signed), column("all", 64, signed)];
        for (combine, engine) in COMBINES.into_iter().zip(ENGINES) {
            let (table, values) = table(9, &columns, 50, combine);
            let plan = plan("sum(one), sum(all), sum(one * all), sum(all) > 0", &table);
            let shares = shares(8, &values, combine);
            let products = (0..50).map(|i| values[0][i] * values[1][i]).sum();
            let sums = [0, 1].map(|column| values[column].iter().sum::<i128>());
            let expected = [
                Answer::Number(sums[0]),
                Answer::Number(sums[1]),
                Answer::Number(products),
                Answer::Condition(sums[1] > 0),
            ];
            let run = run(&Runner::default(), &plan, engine, Reveal::Both, &shares);
            check("widths", &run, &plan, engine, Reveal::Both, &expected);
        }
    }
}

#[test]
fn bits_of_shares_above_a_column_are_ignored() {
    let columns = [column("a", 8, false)];
    for combine in COMBINES {
        let (table, values) = table(2, &columns, 30, combine);
        let plan = plan("sum(a)", &table);
        let mut shares = shares(2, &values, combine);
        shares[0][0].iter_mut().for_each(|share| *share ^= 0xffff_0000_0000_ff00);
        let expected = [Answer::Number(values[0].iter().sum())];
        let run = run(&Runner::default(), &plan, Engine::Garbled, Reveal::Both, &shares);
        check("higher bits", &run, &plan, Engine::Garbled, Reveal::Both, &expected);
    }
}

/// Random expressions together with their values.
struct Random<'a> {
    rng: StdRng,
    columns: &'a [Column],
    values: &'a [Vec<i128>],
    entries: usize,
}

impl Random<'_> {
    /// A number of each row, below 2^(bits of a column · 2^depth).
    fn number(&mut self, depth: u32) -> (String, Vec<i128>) {
        if depth == 0 || self.rng.random_range(0..4) == 0 {
            let which = self.rng.random_range(0..=self.columns.len());
            if let Some(column) = self.columns.get(which) {
                return (column.name.clone(), self.values[which].clone());
            }
            let number = value(&mut self.rng, &column("", 6, true));
            return (format!("({number})"), vec![number; self.entries]);
        }
        let ((a, x), (b, y)) = (self.number(depth - 1), self.number(depth - 1));
        let (sign, of): (_, fn(i128, i128) -> i128) = match self.rng.random_range(0..4) {
            0 => ("+", |x, y| x + y),
            1 => ("-", |x, y| x - y),
            _ => ("*", |x, y| x * y),
        };
        let values = x.iter().zip(&y).map(|(x, y)| of(*x, *y)).collect();
        (format!("({a} {sign} {b})"), values)
    }

    /// A condition of each row.
    fn condition(&mut self, depth: u32) -> (String, Vec<bool>) {
        if depth > 0 && self.rng.random_range(0..2) == 0 {
            let ((a, x), (b, y)) = (self.condition(depth - 1), self.condition(depth - 1));
            let (word, of): (_, fn(bool, bool) -> bool) = match self.rng.random_range(0..3) {
                0 => ("and", |x, y| x && y),
                1 => ("or", |x, y| x || y),
                _ => ("and not", |x, y| x && !y),
            };
            let values = x.iter().zip(&y).map(|(x, y)| of(*x, *y)).collect();
            return (format!("({a} {word} ({b}))"), values);
        }
        let ((a, x), (b, y)) = (self.number(1), self.number(1));
        let (sign, of): (_, fn(&i128, &i128) -> bool) = match self.rng.random_range(0..6) {
            0 => ("<", |x, y| x < y),
            1 => ("<=", |x, y| x <= y),
            2 => (">", |x, y| x > y),
            3 => (">=", |x, y| x >= y),
            4 => ("=", |x, y| x == y),
            _ => ("!=", |x, y| x != y),
        };
        let values = x.iter().zip(&y).map(|(x, y)| of(x, y)).collect();
        (format!("{a} {sign} {b}"), values)
    }

    fn total(&mut self) -> (String, i128) {
        let ((of, x), (filter, y)) = (self.number(2), self.condition(2));
        let sum = x.iter().zip(&y).map(|(x, holds)| if *holds { *x } else { 0 }).sum();
        (format!("sum({of} where {filter})"), sum)
    }
}

#[test]
fn random_expressions_give_what_plain_rows_give() {
    let columns = [column("a", 5, false), column("b", 6, true), column("c", 1, false)];
    for seed in 0..16 {
        let entries = 1 + seed as usize * 5;
        let (combine, engine) = (COMBINES[seed as usize % 2], ENGINES[seed as usize / 2 % 2]);
        let (table, values) = table(seed, &columns, entries, combine);
        let mut random = Random { rng: rng(seed), columns: &columns, values: &values, entries };
        let (texts, sums): (Vec<_>, Vec<_>) = (0..12).map(|_| random.total()).unzip();
        let expected: Vec<Answer> = sums.into_iter().map(Answer::Number).collect();
        for some in [0..4, 4..8, 8..12] {
            let text = texts[some.clone()].join(", ");
            let plan = plan(&text, &table);
            let shares = shares(seed, &values, combine);
            let run = run(&Runner::default(), &plan, engine, Reveal::Receiver, &shares);
            check(&text, &run, &plan, engine, Reveal::Receiver, &expected[some]);
        }
    }
}
