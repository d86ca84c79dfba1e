//! The items of rows under rules.

use crate::common::{Scratch, hash_of_rules, key, open, silent};
use std::convert::Infallible;
use vesica_core::Item;
use vesica_records::{
    KeyItems, KeyLimits, KeyRule, NO_ITEM, PartShape, RuleColumn, RuleCounts, Streamed,
    stream_items,
};
use vesica_tables::{Place, Source};

/// Named by its first column.
fn rule(columns: &[(usize, &str)], most: usize) -> KeyRule {
    let column = |(key, transforms): &(usize, &str)| {
        let names = transforms.split(' ').filter(|name| !name.is_empty());
        RuleColumn { key: *key, transforms: names.map(|name| name.parse().unwrap()).collect() }
    };
    let name = columns[0].0.to_string();
    KeyRule { name, columns: columns.iter().map(column).collect(), most }
}

fn streamed(source: &Source, hash: &KeyItems) -> (Vec<Item>, Streamed) {
    let columns = key(&[("born", "date"), ("name", "lower")]);
    let mut items = Vec::new();
    let mut sink = |batch: &[Item]| {
        items.extend_from_slice(batch);
        Ok::<_, Infallible>(())
    };
    let limits = KeyLimits { may_be_empty: true, ..KeyLimits::default() };
    let streamed = stream_items(source, &columns, hash, &limits, &mut sink, &mut silent).unwrap();
    (items, streamed)
}

#[test]
fn a_row_has_as_many_entries_as_keys_under_all_rules() {
    let dir = Scratch::new();
    let text = "name,born\nAnn,1980-01-02\nann,\n,1980-01-02\nBob,soon\n,\nElizabeth,1980-01-02\n";
    let source = open(dir.file("a.csv", text)).unwrap();
    let rules = vec![
        rule(&[(1, "")], 1),
        rule(&[(0, "year"), (1, "first(1)")], 1),
        rule(&[(1, "delete-one")], 4),
    ];
    let hash = hash_of_rules(rules);
    assert_eq!(hash.items_per_row(), 6);
    let (items, streamed) = streamed(&source, &hash);
    assert_eq!((items.len(), streamed.rows, streamed.keyed, streamed.items), (36, 6, 4, 16));
    let rows: Vec<&[Item]> = items.chunks(6).collect();
    let has = |row: usize| rows[row].iter().map(|item| *item != NO_ITEM).collect::<Vec<_>>();
    // "ann" without one letter is "nn" or "an".
    assert_eq!(has(0), [true, true, true, true, true, false]);
    assert_eq!(has(1), [true, false, true, true, true, false]);
    assert_eq!((has(2), has(4)), (vec![false; 6], vec![false; 6]));
    assert_eq!(has(3), [true, false, true, true, true, true]);
    // Nine letters leave more than four texts: all of them are left out.
    assert_eq!(has(5), [true, true, false, false, false, false]);
    assert_eq!((rows[0][0], &rows[0][2..]), (rows[1][0], &rows[1][2..]));
    // The same text under two rules gives two items.
    assert_ne!(rows[0][0], rows[0][2]);
    let counts = streamed.counts;
    assert_eq!((counts.rows, counts.empty, counts.refused), (6, 2, 0));
    let of_rule = |rule: &RuleCounts| (rule.rows, rule.too_many, rule.not_taken);
    let found: Vec<_> = counts.by_rule.iter().map(of_rule).collect();
    assert_eq!(found, [(4, 0, 0), (2, 0, 0), (3, 1, 0)]);
}

#[test]
fn a_row_without_any_key_is_refused_if_one_of_its_columns_is() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "name,born\n,soon\nann,soon\n\u{e4},\n")).unwrap();
    let hash = hash_of_rules(vec![rule(&[(0, "")], 1), rule(&[(1, "soundex")], 1)]);
    let (_, streamed) = streamed(&source, &hash);
    let counts = &streamed.counts;
    assert_eq!((streamed.keyed, counts.empty, counts.refused), (1, 1, 1));
    // The second row has a key, and a refused cell as well.
    assert_eq!((&*counts.refused_by[0].column, counts.refused_by[0].count), ("born", 2));
    let expected = RuleCounts { name: "1".to_owned(), rows: 1, too_many: 0, not_taken: 1 };
    assert_eq!(counts.by_rule[1], expected);
}

#[test]
fn a_column_with_few_values_is_a_misfit_by_those() {
    let dir = Scratch::new();
    // Of 1,000 rows 40 have a date of birth, ten of which are none.
    let born = |row: u32| match row % 100 {
        0..3 => "1980-02-03",
        3 => "soon",
        _ => "",
    };
    let rows: String = (0..1000).map(|row| format!("n{row},{}\n", born(row))).collect();
    let source = open(dir.file("a.csv", format!("name,born\n{rows}"))).unwrap();
    let hash = hash_of_rules(vec![rule(&[(0, "")], 1), rule(&[(1, "")], 1)]);
    let counts = streamed(&source, &hash).1.counts;
    let [misfit] = &counts.misfits[..] else { panic!("{:?}", counts.misfits) };
    assert_eq!((&*misfit.column, misfit.refused, misfit.values), ("born", 10, 40));
}

#[test]
fn a_frequent_key_under_a_rule_has_the_shapes_of_its_columns() {
    let dir = Scratch::new();
    let rows: String = (0..400).map(|i| format!("n{i},{}\n", 1000 + i % 2 * i)).collect();
    let source = open(dir.file("a.csv", format!("name,born\n{rows}"))).unwrap();
    let columns = key(&[("born", "trim"), ("name", "lower")]);
    let hash = hash_of_rules(vec![rule(&[(1, "")], 1), rule(&[(0, "")], 1)]);
    let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
    let limits = KeyLimits::default();
    let streamed = stream_items(&source, &columns, &hash, &limits, &mut sink, &mut silent).unwrap();
    let [frequent] = &streamed.counts.frequent[..] else { panic!("{:?}", streamed.counts) };
    assert_eq!((frequent.count, &frequent.first), (200, &Place::Line(2)));
    assert_eq!(frequent.shapes, [PartShape { column: "born".into(), pattern: "9+".into() }]);
}
