//! Placeholders: excluded by the agreement, or found as keys of many rows; and columns of another
//! profile.

use crate::common::{Scratch, hash, key, open, silent};
use std::convert::Infallible;
use vesica_core::Item;
use vesica_records::{
    Extra, KeyColumn, KeyCounts, KeyLimits, PartShape, Refusal, Survey, read_keys, stream_items,
    survey_keys,
};
use vesica_tables::{Place, Source};

/// The counts of both passes, which are the same but for what only one of them sees.
fn counts(source: &Source, columns: &[KeyColumn]) -> KeyCounts {
    let limits = KeyLimits { may_be_empty: true, ..KeyLimits::default() };
    let kept = read_keys(source, columns, &hash(), &limits, &mut silent).unwrap().counts;
    let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
    let streamed =
        stream_items(source, columns, &hash(), &limits, &mut sink, &mut silent).unwrap().counts;
    let KeyCounts { duplicates, distinct, .. } = kept;
    assert_eq!(KeyCounts { duplicates, distinct, ..streamed }, kept);
    kept
}

fn csv(dir: &Scratch, head: &str, rows: impl Iterator<Item = String>) -> Source {
    let text: String = rows.map(|row| row + "\n").collect();
    open(dir.file("a.csv", format!("{head}\n{text}"))).unwrap()
}

#[test]
fn excluded_values_are_refused_with_a_reason_of_their_own() {
    let dir = Scratch::new();
    let rows = ["ann,1", "NULL,2", " NULL ,3", ",4", "null,5", "bob,N/A", "cy,n/a"];
    let source = csv(&dir, "name,id", rows.iter().map(|row| (*row).to_owned()));
    let mut columns = key(&[("name", "trim"), ("id", "lower")]);
    columns[0].never = vec!["NULL".into()];
    columns[1].never = vec!["N/A".into()];
    let counts = counts(&source, &columns);
    assert_eq!((counts.rows, counts.empty, counts.refused, counts.distinct), (7, 1, 4, 2));
    let refused: Vec<_> = counts
        .refused_by
        .iter()
        .map(|row| (row.column.as_str(), row.reason, row.count, row.first[0].clone()))
        .collect();
    let excluded = Refusal::Excluded;
    let expected = [("name", excluded, 2, Place::Line(3)), ("id", excluded, 2, Place::Line(7))];
    assert_eq!(refused, expected);
    assert_eq!(counts.misfits, [], "the agreement excludes them, not the profile");
}

#[test]
fn shapes_count_excluded_values_as_refused() {
    let dir = Scratch::new();
    let source = csv(&dir, "id", ["0000000000", "1", "x"].iter().map(|id| (*id).to_owned()));
    let mut columns = key(&[("id", "digits")]);
    columns[0].never = vec!["000-000-0000".into()];
    let mut survey = Survey::new(columns, 100);
    let limits = KeyLimits::default();
    survey_keys(&source, Extra::default(), &hash(), &limits, &mut survey, &mut silent).unwrap();
    let (_, shapes) = survey.finish();
    assert_eq!(shapes[0].refused, [(Refusal::Excluded, 1), (Refusal::NotDigits, 1)]);
    assert_eq!(shapes[0].normalised, 1);
}

#[test]
fn a_key_of_many_rows_is_given_by_count_place_and_shape() {
    let dir = Scratch::new();
    let row = |i: u64| match i % 20 {
        7 => "Unknown User,000000".to_owned(),
        _ => format!("user {i},{i}"),
    };
    let columns = key(&[("name", "trim"), ("id", "digits")]);
    let source = csv(&dir, "name,id", (0..10_000).map(row));
    let [frequent] = &counts(&source, &columns).frequent[..] else { panic!("one key is frequent") };
    assert_eq!(
        (frequent.count, frequent.is_exact, frequent.first.clone()),
        (500, true, Place::Line(9))
    );
    let part =
        |column: &str, pattern: &str| PartShape { column: column.into(), pattern: pattern.into() };
    assert_eq!(frequent.shapes, [part("name", "Aa+ Aa+"), part("id", "9+")]);
    assert!(!format!("{frequent:?}").contains("Unknown"));

    let source = csv(&dir, "name,id", (0..400).map(row));
    assert_eq!(counts(&source, &columns).frequent, [], "20 rows are few");
}

#[test]
fn a_long_key_of_many_rows_is_given_too() {
    let dir = Scratch::new();
    let long = "n".repeat(200);
    let row = |i: u64| if i % 4 == 1 { long.clone() } else { format!("{i}") };
    let source = csv(&dir, "name", (0..200).map(row));
    let counts = counts(&source, &key(&[("name", "exact")]));
    assert_eq!((counts.frequent[0].count, counts.frequent[0].first.clone()), (50, Place::Line(3)));
    assert_eq!(counts.frequent[0].shapes[0].pattern, "a+");
}

/// The profiles that are named for a column of these cells, if its own refuses many of them.
fn better(profile: &str, cells: &[&str]) -> Option<Vec<String>> {
    let dir = Scratch::new();
    let source = csv(&dir, "c;d", cells.iter().map(|cell| format!("{cell};1")));
    let counts = counts(&source, &key(&[("c", profile)]));
    let misfit = counts.misfits.first()?;
    assert_eq!((misfit.column.as_str(), misfit.profile), ("c", profile.parse().unwrap()));
    Some(misfit.better.iter().map(ToString::to_string).collect())
}

#[test]
fn a_profile_that_refuses_many_values_has_its_sibling_named() {
    let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    for (profile, cells, expected) in [
        ("date", &["31.12.1985", "03.04.1985", "1985-01-02"][..], named(&["date:dmy"])),
        ("date", &["12/31/1985", "03/04/1985", "11/04/1985"], named(&["date:mdy"])),
        // Nothing shows the order, or both stand there.
        ("date", &["05.04.1985", "03.04.1985", "1985-01-02"], named(&["date:dmy", "date:mdy"])),
        ("date", &["31.12.1985", "03/04/1985", "12/31/1985"], named(&["date:dmy", "date:mdy"])),
        ("date", &["yesterday", "today", "1985-01-02"], named(&[])),
        ("integer:8", &["1", "2", "70000"], named(&["integer:64"])),
        ("integer:8", &["1", "2-3", "4"], named(&["digits"])),
        ("integer:8", &["1", "A-3", "4"], named(&["trim"])),
        ("digits", &["1", "A3", "4"], named(&["trim"])),
        // Placeholders, numbers, signs and digests are no codes.
        ("digits", &["1", ".", ".a"], named(&[])),
        ("digits", &["1", "1.2E+11", "4"], named(&[])),
        ("integer:8", &["1", "2-", "-4"], named(&[])),
        ("email", &["a@b.de", "nobody", "c@d.de"], named(&[])),
        ("email", &["a@b.de", "c@d.de"], None),
    ] {
        assert_eq!(better(profile, cells), expected, "{profile} {cells:?}");
    }
}

#[test]
fn three_percent_of_refused_values_are_not_many() {
    let dir = Scratch::new();
    let few = |i: u64| if i % 100 < 3 { "x;1".to_owned() } else { format!("{i};1") };
    let columns = key(&[("id", "digits")]);
    assert_eq!(counts(&csv(&dir, "id;d", (0..1_000).map(few)), &columns).misfits, []);
    let many = |i: u64| if i < 3 { "x;1".to_owned() } else { few(i) };
    let more = (0..999).map(many).chain(["y;1".to_owned()]);
    let counts = counts(&csv(&dir, "id;d", more), &columns);
    assert_eq!((counts.misfits[0].refused, counts.misfits[0].values), (31, 1_000));
}
